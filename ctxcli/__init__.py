"""Audit and compact the transcripts of LLM agents: where the tokens went, what a compaction lost."""

__version__ = "0.1.0"
