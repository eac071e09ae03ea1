"""Identifiers: strings that a later step has to match character for character, found in text."""

from ctxcli.identifiers.extract import KINDS, extract
from ctxcli.identifiers.hit import Hit, Kind, Line

__all__ = ["KINDS", "Hit", "Kind", "Line", "extract"]
