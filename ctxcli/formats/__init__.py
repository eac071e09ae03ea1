"""The shelf of transcript formats."""

from ctxcli.formats import anthropic, claude_code, codex, openai_chat
from ctxcli.shelf import shelf

FORMATS = shelf(claude_code.FORMAT, codex.FORMAT, openai_chat.FORMAT, anthropic.FORMAT)
"""In the order in which help and tables list them; detection asks all of them."""
