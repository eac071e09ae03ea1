"""The shelf of transcript formats, and the conversion to messages that a chat API takes."""

from ctxcli.formats import (
    aider,
    anthropic,
    atif,
    claude_code,
    claude_web,
    cline,
    codex,
    langchain,
    langsmith,
    mini_swe_agent,
    openai_chat,
    opencode,
    pi,
    sharegpt,
    swe_agent,
)
from ctxcli.formats.blocks.convert import TARGETS, convert
from ctxcli.shelf import shelf

__all__ = ["FORMATS", "TARGETS", "convert"]

FORMATS = shelf(
    claude_code.FORMAT,
    codex.FORMAT,
    openai_chat.FORMAT,
    anthropic.FORMAT,
    cline.FORMAT,
    swe_agent.FORMAT,
    mini_swe_agent.FORMAT,
    langchain.FORMAT,
    opencode.FORMAT,
    pi.FORMAT,
    sharegpt.FORMAT,
    langsmith.FORMAT,
    atif.FORMAT,
    aider.FORMAT,
    claude_web.FORMAT,
)
"""In the order in which help and tables list them; detection asks all of them."""
