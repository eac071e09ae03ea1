"""The vocabularies that ship with ctx, and the encodings built from them without a download."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ctxcli.errors import VocabularyError

if TYPE_CHECKING:
    import tiktoken

# The split patterns of tiktoken_ext/openai_public.py (MIT, OpenAI): facts of each encoding.
_O200K = "|".join(
    (
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""",
        r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
        r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""",
        r"""\s+""",
    )
)
_CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
PATTERNS = {"o200k_base": _O200K, "cl100k_base": _CL100K}
"""The encodings whose vocabulary ships with ctx."""

DEFAULT = "o200k_base"


def ranks(name: str) -> dict[bytes, int]:
    """The vocabulary of a shipped encoding: token to rank. See scripts/pack_vocab.py."""
    packed = (files("ctxcli.tokens") / "vocab" / f"{name}.bin").read_bytes()
    tokens = [packed[at : at + 1] for at in range(256)]
    tokens += packed[256:].split(b"\xff")
    return {token: rank for rank, token in enumerate(tokens)}


@cache
def encoding(name: str) -> "tiktoken.Encoding":
    """The encoding of that name; raises VocabularyError where its vocabulary is not on this machine.

    Shipped ones are built directly: a tiktoken plug-in that redefines a built-in name would break
    every lookup by name. Others come from tiktoken, and only out of its cache.
    """
    import tiktoken  # noqa: PLC0415 - nothing loads it that does not count

    if name == "o200k_harmony":
        name = "o200k_base"  # ordinary text is counted alike; only the special tokens differ
    if name in PATTERNS:
        return tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks(name), special_tokens={})
    return _from_tiktoken(name)


def _from_tiktoken(name: str) -> "tiktoken.Encoding":
    import tiktoken  # noqa: PLC0415
    from tiktoken import load  # noqa: PLC0415

    fetch = load.read_file

    def refuse(blobpath: str) -> bytes:
        if "://" in blobpath:
            raise VocabularyError(
                f"the vocabulary of {name} is not in tiktoken's cache, and ctx downloads nothing. "
                f"Fill the cache once with: python -c \"import tiktoken; tiktoken.get_encoding('{name}')\""
            )
        return fetch(blobpath)

    load.read_file = refuse
    try:
        return tiktoken.get_encoding(name)
    except ValueError as error:
        known = ", ".join([*PATTERNS, *sorted(set(tiktoken.list_encoding_names()) - set(PATTERNS))])
        raise VocabularyError(f"no encoding is called {name!r}; tiktoken knows {known}") from error
    finally:
        load.read_file = fetch


def encoding_of_model(model: str) -> str | None:
    """The encoding that OpenAI names for a model; None for every other model."""
    from tiktoken.model import encoding_name_for_model  # noqa: PLC0415

    bare = model.rsplit("/", 1)[-1]
    try:
        return encoding_name_for_model(bare)
    except KeyError:
        return None
