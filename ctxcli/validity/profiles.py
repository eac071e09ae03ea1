"""The profiles: which rules the API of a provider applies.

Each rule stands where the API answers 400. What that rests on: the error texts in the trackers of clients.

anthropic: anthropics/claude-code#8210 (a call without its result), trycua/cua#524 (ids), Zoo-Code-Org/Zoo-Code#1705
(results first, then text and images), experientiallabs/experiential#804 (empty texts and messages, measured),
pydantic/pydantic-ai#5706 (where a system message may stand, from Claude Opus 4.8 on).
openai: QwenLM/qwen-code#606 (tool messages right behind their call), continuedev/continue#10092 and
NousResearch/hermes-agent#111443 (ids that recur across turns: Responses refuses them, Chat Completions does not).
gemini: google-gemini/gemini-cli#3814 and #26486 (as many results as calls, after a turn of the user),
pipecat-ai/pipecat#5821 (a last turn of the model), google/generative-ai-docs#209 (alternation).
"""

from ctxcli.model import Transcript
from ctxcli.rules import (
    ALTERNATION,
    BAD_ARGUMENTS,
    BAD_NAME,
    BROKEN_THINKING,
    CALL_ID_TWICE,
    DISPLACED_RESULT,
    EMPTY_MESSAGE,
    EMPTY_SUMMARY,
    EMPTY_TEXT,
    ENDS_ON_ASSISTANT,
    FIRST_NOT_USER,
    LATE_SYSTEM,
    LONE_SURROGATE,
    NO_MESSAGES,
    ORPHAN_RESULT,
    RESULT_COUNT,
    SPLIT_PAIR,
    SUMMARY_AS_USER,
    SYSTEM_CHANGED,
    TWO_RESULTS,
    UNANSWERED_CALL,
)
from ctxcli.shelf import Profile, Rule, shelf

_NOBODY = (ORPHAN_RESULT, UNANSWERED_CALL, TWO_RESULTS, NO_MESSAGES, LONE_SURROGATE)
_COMPACTED = (SPLIT_PAIR, EMPTY_SUMMARY, SUMMARY_AS_USER, SYSTEM_CHANGED)


def _names(*rules: Rule) -> tuple[str, ...]:
    return tuple(sorted(rule.name for rule in rules))


PROFILES = shelf(
    Profile(
        "anthropic", "Anthropic Messages",
        _names(*_NOBODY, *_COMPACTED, CALL_ID_TWICE, DISPLACED_RESULT, FIRST_NOT_USER, ENDS_ON_ASSISTANT, EMPTY_TEXT,
               EMPTY_MESSAGE, BROKEN_THINKING, BAD_ARGUMENTS, LATE_SYSTEM, BAD_NAME),
        results="turn", ids=r"[a-zA-Z0-9_-]+", names=r"[a-zA-Z0-9_-]{1,128}",
        empty_answers=True, late_system=True,
    ),
    Profile(
        "openai-chat", "OpenAI Chat Completions",
        _names(*_NOBODY, *_COMPACTED, CALL_ID_TWICE, DISPLACED_RESULT, BAD_NAME),
        results="message", unique_in="message", ids=r".+", names=r"[a-zA-Z0-9_-]{1,64}", blank=True, system_alone=True,
    ),
    Profile(
        "openai-responses", "OpenAI Responses",
        _names(*_NOBODY, *_COMPACTED, CALL_ID_TWICE, BAD_NAME),
        names=r"[a-zA-Z0-9_-]{1,128}", blank=True, system_alone=True,
    ),
    Profile(
        "gemini", "Gemini generateContent",
        _names(*_NOBODY, *_COMPACTED, DISPLACED_RESULT, RESULT_COUNT, FIRST_NOT_USER, ENDS_ON_ASSISTANT, EMPTY_TEXT,
               EMPTY_MESSAGE, BAD_ARGUMENTS, ALTERNATION, LATE_SYSTEM, BAD_NAME),
        results="turn", names=r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", blank=True,
    ),
    Profile("lenient", "what no provider accepts", _names(*_NOBODY), blank=True, system_alone=True),
)  # fmt: skip
"""By name."""

_OF_FORMAT = {"claude-code": "anthropic", "codex": "openai-responses", "openai-chat": "openai-chat"}
_OF_PROVIDER = {"anthropic": "anthropic", "google": "gemini"}


def profile_of(transcript: Transcript) -> str:
    """The name of the profile that a transcript is held to unless another is asked for."""
    known = _OF_FORMAT.get(transcript.format) or _OF_PROVIDER.get(transcript.provider)
    return known or "lenient"
