"""Identifiers: strings that a later step has to match character for character, found in text."""

from ctxcli.identifiers.extract import KINDS, Extractor, extract
from ctxcli.identifiers.hit import Hit, Kind, Line

__all__ = ["KINDS", "Extractor", "Hit", "Kind", "Line", "extract"]
