"""Paths as items: files of which a transcript names one path, so that their name has one answer."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ctxcli.guard.forms import ends_with, file_name, home_form, path_form
from ctxcli.identifiers.words import FILE_ENDINGS
from ctxcli.model import PartKind, Transcript
from ctxcli.shelf import Material
from ctxcli.sweep.item import Item
from ctxcli.sweep.places import Place, first, is_sample, item_at

_FILE = re.compile(r"\.?[\w+@~-]+(?:\.[\w+-]+)*\.[A-Za-z][\w+-]*")
_FOLDER = re.compile(r"(?:^|/)[^/]*[^/.~][^/]*/")
_SCRATCH = re.compile(r"^/(?:tmp|var/folders|dev|proc)/|(?:^|/)(?:node_modules|__pycache__|\.git)/")
_LISTED = re.compile(
    r"^[ \t]*(?:\d+[ \t→]+|[\w?!+>-]{1,12}:?[ \t]+)?((?:[^\s:/]*/)*[^\s:/]+)(?=[ \t]*$|[:-]\d+[:-]|::)", re.MULTILINE
)
"""A path that a line of a listing, a hit of a search or a failed test begins with, or one word and a path."""
_SIDES = ("a/", "b/")
"""What a diff puts before a path."""
_ENOUGH = 3
"""Paths that somebody spoke of, from which on those in listings are left out."""


def paths(material: Material, places: Sequence[Place]) -> Iterator[Item]:
    """Files of which one path is named, be it in forms that are the end of one another; rather those spoken of.

    What is only spoken of in code, as a sample or a fixture is, counts for no file: a path in a result has to stand in
    a listing, or be what a tool was called with.
    """
    names = _by_name(material)
    listed, at_root = _listed(places)
    listed.update(word for message in material.transcript.messages for part in message.parts
                  if part.kind is PartKind.TOOL_CALL for word in part.address.split())  # fmt: skip
    found: list[tuple[Place, Item]] = []
    for name, forms in names.items():
        longest = max(forms, key=len)
        inside = sorted({path for path in forms if _is_located(path)}, key=lambda path: (-len(path), path))
        one = all(path == longest or ends_with(longest, path) for path in forms)
        if not inside or not one or name in at_root:
            continue
        place = first(places, inside[-1])
        if place is not None and (place.spoken or listed.intersection(inside)):
            question = f"What is the path of the file `{name}`, with its folders?"
            found.append((place, item_at("path", question, place, _answers(inside, material.transcript))))
    spoken = [item for place, item in found if place.spoken]
    yield from spoken if len(spoken) >= _ENOUGH else (item for _, item in found)


def is_file(path: str) -> bool:
    """Whether the last segment of a path is the name of a file."""
    return _FILE.fullmatch(file_name(path)) is not None


def whole(path: str, folders: Sequence[str]) -> Iterator[str]:
    """A relative path from the root on, in each of the working folders."""
    if path[:1] not in ("/", "~", "$", "\\") and path[1:2] != ":" and not path.startswith(".."):
        yield from (f"{folder.rstrip('/')}/{path.removeprefix('./')}" for folder in folders)


def is_scratch(path: str) -> bool:
    """Whether a path is one that nobody has to know: temporary, or what others installed."""
    return _SCRATCH.search(path.replace("\\", "/")) is not None


def _by_name(material: Material) -> Mapping[str, list[str]]:
    """The paths by the name of the file; what is also the name of a folder is none."""
    every = [one.value for one in material.identifiers if one.kind == "path"]
    folders = {folder for path in every for folder in path.replace("\\", "/").split("/")[:-1]}
    names: dict[str, list[str]] = {}
    for path in every:
        name = file_name(path)
        if is_file(path) and name not in folders and not is_sample(path):
            names.setdefault(name, []).append(path)
    return {
        name: [path for path in forms if not (path[:2] in _SIDES and path[2:] in forms)]
        for name, forms in names.items()
    }


def _is_located(path: str) -> bool:
    """Whether a path names a folder, all of its folders are some, and it is worth to be known."""
    slashed = path.replace("\\", "/")
    folders = slashed.split("/")[:-1]
    joined = any(folder.rpartition(".")[0] and folder.rpartition(".")[2] in FILE_ENDINGS for folder in folders)
    return bool(_FOLDER.search(slashed)) and not joined and not is_scratch(path)


def _listed(places: Sequence[Place]) -> tuple[set[str], set[str]]:
    """The paths in listings, and the names that stand among them without a folder: those are files of their own."""
    listed: set[str] = set()
    at_root: set[str] = set()
    for place in places:
        if not place.spoken:
            lines = set(_LISTED.findall(place.text))
            inside = {line for line in lines if "/" in line}
            listed |= inside
            at_root |= lines - inside if inside else set()
    return listed, at_root


def _answers(inside: Sequence[str], transcript: Transcript) -> tuple[str, ...]:
    """The forms that the transcript holds, then those from its working folders, and from the home."""
    longest, folders = inside[0], transcript.folders
    more = (path_form(longest, folders), home_form(longest.replace("\\", "/")), *whole(longest, folders))
    return tuple(dict.fromkeys((*inside, *(path for path in more if _FOLDER.search(path)))))
