"""Small JSON documents that ctx itself wrote."""

from pathlib import Path
from typing import Any

import orjson

from ctxcli.errors import UnreadableError


def read_document(path: str) -> Any:
    """The value of a JSON file; raises UnreadableError with the place where it breaks off."""
    try:
        return orjson.loads(Path(path).read_bytes())
    except orjson.JSONDecodeError as error:
        raise UnreadableError(f"{path}: line {error.lineno}: is not valid JSON: {error.msg}") from None
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read: {error.strerror or error}") from None


def is_there(path: str) -> bool:
    """Whether a file of that name exists."""
    return Path(path).is_file()
