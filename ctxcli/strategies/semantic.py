"""Keep the turns that mean what the newest request means, by static word embeddings; the extra `semantic`."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ctxcli.change import Change
from ctxcli.errors import SettingError
from ctxcli.shelf import Strategy
from ctxcli.strategies.pieces import keep_best
from ctxcli.task import Task

_CHUNK = 1_000
"""Characters that are embedded as one: the mean over a long text says little about any part of it."""
_MOST_CHUNKS = 40


def is_available() -> bool:
    """Whether the extra is installed."""
    return find_spec("wordllama") is not None


def shorten(task: Task, change: Change) -> Change:
    """Take out the units that are furthest from the newest request, until the target is met; of equals the oldest.

    Raises SettingError where the extra is not installed.
    """
    return keep_best(task, change, _scores)


def _scores(texts: Sequence[str], request: str) -> list[float]:
    """The cosine of the request and the part of each text that is nearest to it."""
    if not is_available():
        raise SettingError("the strategy semantic wants an extra: pip install 'ctx-transcripts[semantic]'")
    import wordllama  # noqa: PLC0415 - half a second, only where it is used

    # Its tokenizer ships in a folder that it looks for only below the cache folder; nothing is downloaded.
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    pieces = [(at, piece) for at, text in enumerate(texts) for piece in _chunks(text)]
    said = [_clean(request) or " ", *(_clean(piece) or " " for _, piece in pieces)]
    vectors = model.embed(said, norm=True)
    scores = [-1.0] * len(texts)
    for (at, _), likeness in zip(pieces, vectors[1:] @ vectors[0], strict=True):
        scores[at] = max(scores[at], round(float(likeness), 6))
    return scores


def _chunks(text: str) -> list[str]:
    return [text[at : at + _CHUNK] for at in range(0, max(1, len(text)), _CHUNK)][:_MOST_CHUNKS]


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


STRATEGY = Strategy("semantic", "the turns that mean what the newest request means (extra: semantic)", shorten)
