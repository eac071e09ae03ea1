"""The shelf of transcript formats, and of those that a conversation can be written in."""

from ctxcli.formats.targets import TARGETS, conversation_of, convert
from ctxcli.shelf import Format, LateShelf

__all__ = ["FORMATS", "TARGETS", "TEXTS", "conversation_of", "convert"]

_NAMES = (
    "claude-code", "codex", "gemini", "qwen", "pi", "opencode", "cline", "cline-legacy", "goose", "amp", "copilot-cli",
    "vscode-copilot-chat", "aider", "claude-stream-json", "claude-web", "codex-exec", "openhands", "swe-agent",
    "mini-swe-agent", "inspect-ai", "atif", "langchain", "langsmith", "otel-genai", "ai-sdk", "adk", "sharegpt",
    "openai-responses", "openai-chat", "anthropic",
)  # fmt: skip
FORMATS: LateShelf[Format] = LateShelf("FORMAT", {name: f"ctxcli.formats.{name.replace('-', '_')}" for name in _NAMES})
"""In the order in which help and tables list them and detection asks them: the general ones come last."""
TEXTS = ("aider",)
"""Those that are read line by line as text, so that a text is not shown to all."""
