"""Audit the transcripts of LLM agents, and guard what their compactions keep."""

__version__ = "0.1.0"
