"""Questions about what became of files: which one was written last, which one was deleted."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ctxcli.guard.forms import path_form
from ctxcli.model import PartKind
from ctxcli.shelf import Material
from ctxcli.summarisers.extractive.said import Said, parts
from ctxcli.summarisers.extractive.state import CREATED, DELETED, EDITED, touched
from ctxcli.sweep.located import is_file, is_scratch, whole

_WRITES = re.compile(
    r">|\b(?:tee|mv|cp|ln|touch|patch|unzip|tar|rsync|sed\s+-i|perl\s+-\w*i|git\s+(?:checkout|restore|apply|stash|reset|rm"
    r"|mv|merge|pull|rebase|revert|clean)|\w*(?:fmt|format|prettier)\b|--(?:fix|write))"
)
"""A command that may write files of which nobody knows the names."""
_REMOVES = re.compile(r"(?:^|[\s;&|(])(?:rm|unlink|git\s+rm|git\s+clean|find\b.*-delete)\b")
_ONE_OPERAND = re.compile(r"(?:^|[;&|(])\s*(?:git\s+)?rm\s+(?:-\w+\s+)*[\w./@~+-]+\s*(?:$|[;&|)])")
_LAST, _DELETED = "Which file was written or edited last?", "Which file was deleted?"


def states(material: Material) -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
    """(name, line, question, answers): each only where the calls leave one answer, its forms from the whole path on."""
    folders = material.transcript.folders
    every = [(said, path_form(path, folders), path, what) for said, path, what in touched(material) if is_file(path)]
    raw = {path: given for _, path, given, _ in every}  # of two forms of a path, the last one
    written = [(said, path) for said, path, _, what in every if what in (CREATED, EDITED)]
    deleted = {path: said for said, path, _, what in every if what == DELETED}
    alive = {path for said, path in written if path not in deleted or said.at > deleted[path].at}
    commands = [said for said in parts(material, PartKind.TOOL_CALL) if _is_command(said)]
    if written:
        said, path = written[-1]
        later = [one for one in commands if one.at > said.at]
        if path in alive and not is_scratch(path) and not any(_WRITES.search(one.part.text) for one in later):
            yield "written", said.line, _LAST, _forms(path, raw[path], raw.keys(), folders)
    gone = [path for path in deleted if path not in alive]
    removing = [one for one in commands if _REMOVES.search(one.part.address or one.part.text)]
    if len(gone) == 1 and all(_ONE_OPERAND.search(one.part.address) for one in removing) and not is_scratch(gone[0]):
        yield "deleted", deleted[gone[0]].line, _DELETED, _forms(gone[0], raw[gone[0]], raw.keys(), folders)


def _is_command(said: Said) -> bool:
    return '"command"' in said.part.text or '"cmd"' in said.part.text or "shell" in said.part.name.lower()


def _forms(path: str, raw: str, others: Iterable[str], folders: Sequence[str]) -> tuple[str, ...]:
    """The path as it was given, then what it ends with, down to its name, without what another file ends with too."""
    pieces = [piece for piece in raw.replace("\\", "/").split("/") if piece not in ("", ".")]
    ends = ["/".join(pieces[start:]) for start in range(1, len(pieces))]
    other = [one.replace("\\", "/") for one in others if one != path]
    sure = (end for end in ends if not any(f"/{one}".endswith(f"/{end}") for one in other))
    return tuple(dict.fromkeys((raw, path, *whole(raw, folders), *sure)))
