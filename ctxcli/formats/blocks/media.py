"""Images and files that stand in a transcript as base64 or as a link: their size, never their bytes."""

import base64
import binascii
import io

from ctxcli.model import Media, Part, PartKind

_DATA_URL = "data:"


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
