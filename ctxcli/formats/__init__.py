"""The shelf of transcript formats, and the conversion to messages that a chat API takes."""

from ctxcli.formats import (
    ai_sdk,
    aider,
    anthropic,
    atif,
    claude_code,
    claude_stream_json,
    claude_web,
    cline,
    cline_legacy,
    codex,
    codex_exec,
    copilot_cli,
    gemini,
    goose,
    inspect_ai,
    langchain,
    langsmith,
    mini_swe_agent,
    openai_chat,
    opencode,
    openhands,
    otel_genai,
    pi,
    sharegpt,
    swe_agent,
)
from ctxcli.formats.targets import TARGETS, conversation_of, convert
from ctxcli.shelf import shelf

__all__ = ["FORMATS", "TARGETS", "conversation_of", "convert"]

FORMATS = shelf(
    claude_code.FORMAT,
    codex.FORMAT,
    openai_chat.FORMAT,
    anthropic.FORMAT,
    cline.FORMAT,
    cline_legacy.FORMAT,
    goose.FORMAT,
    swe_agent.FORMAT,
    mini_swe_agent.FORMAT,
    langchain.FORMAT,
    opencode.FORMAT,
    pi.FORMAT,
    gemini.FORMAT,
    sharegpt.FORMAT,
    langsmith.FORMAT,
    atif.FORMAT,
    aider.FORMAT,
    claude_web.FORMAT,
    otel_genai.FORMAT,
    claude_stream_json.FORMAT,
    openhands.FORMAT,
    codex_exec.FORMAT,
    copilot_cli.FORMAT,
    ai_sdk.FORMAT,
    inspect_ai.FORMAT,
)
"""In the order in which help and tables list them; detection asks all of them."""
