"""Images and files that stand in a transcript as base64 or as a link: their size, never their bytes."""

import base64
import binascii
import io
import re
from typing import Any

from ctxcli.formats.blocks.values import dump
from ctxcli.model import Media, Part, PartKind

_DATA_URL = "data:"
_LEAST_BASE64 = 1_000
_BASE64 = re.compile(r"[A-Za-z0-9+/_\s-]+={0,2}\s*")
_TYPES = ("media_type", "mime_type", "mimeType", "mime")


def media_part(data: str, type_: str, line: int, *, ref: str = "", name: str = "") -> Part:
    """A media part from base64 data, a `data:` URL or a link; width and height where the header tells."""
    link = ""
    if data.startswith(_DATA_URL):
        head, _, data = data.partition(",")
        type_ = head[len(_DATA_URL) :].split(";", 1)[0] or type_
    elif "://" in data[:16]:
        link, data = data, ""
    width, height = _dimensions(data) if type_.startswith("image") else (None, None)
    media = Media(type_, width, height, len(data) * 3 // 4)
    return Part(PartKind.MEDIA, "", line, name=name, ref=ref, address=link, media=media)


def _dimensions(data: str) -> tuple[int | None, int | None]:
    import imagesize  # noqa: PLC0415 - only where a transcript holds an image

    try:
        width, height = imagesize.get(io.BytesIO(base64.b64decode(data)))
    except (binascii.Error, ValueError, TypeError, IndexError, KeyError, OSError):
        return None, None
    return (int(width), int(height)) if width > 0 and height > 0 else (None, None)


def readable(value: Any, line: int, *, ref: str = "") -> tuple[str, list[Part]]:
    """The text of a value of unknown shape, and the media in it: no base64 and no encrypted field is text."""
    found: list[Part] = []
    rest = _without_bytes(value, line, ref, found)
    return (rest if isinstance(rest, str) else "" if rest is None else dump(rest)), found


def _without_bytes(value: Any, line: int, ref: str, found: list[Part], type_: str = "") -> Any:
    if isinstance(value, dict):
        type_ = next((str(value[key]) for key in _TYPES if value.get(key)), type_)
        return {
            key: _without_bytes(item, line, ref, found, type_)
            for key, item in value.items()
            if not str(key).startswith("encrypted") and key != "signature"
        }
    if isinstance(value, list):
        return [_without_bytes(item, line, ref, found, type_) for item in value]
    if isinstance(value, str) and _is_bytes(value):
        found.append(media_part(value, type_ or "application/octet-stream", line, ref=ref))
        return f"[{found[-1].media.type if found[-1].media else type_}]"
    return value


def _is_bytes(text: str) -> bool:
    """Whether a string is a `data:` URL or a long run of base64: no blanks but line ends, letters of both cases."""
    if text.startswith(_DATA_URL) and ";base64," in text[:200]:
        return True
    if len(text) < _LEAST_BASE64 or " " in text[:_LEAST_BASE64] or "\\" in text[:_LEAST_BASE64]:
        return False
    head = text[:_LEAST_BASE64]
    mixed = any(sign.isupper() for sign in head) and any(sign.islower() for sign in head)
    return mixed and any(sign.isdigit() for sign in head) and _BASE64.fullmatch(text) is not None
