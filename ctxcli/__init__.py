"""Audit the transcripts of LLM agents: where the tokens went, call by call and layer by layer."""

__version__ = "0.1.0"
