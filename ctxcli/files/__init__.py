"""The only room that opens files: find, decompress, cut into JSON values, and say what could not be read."""

from ctxcli.files.find import Found, find
from ctxcli.files.load import Loaded, load

__all__ = ["Found", "Loaded", "find", "load"]
