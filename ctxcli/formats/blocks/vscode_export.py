"""VS Code's "Chat: Export": one request for each prompt of the user, with the rounds of tool calls that answered it.

`response[]` is what the screen showed; the context is `result.metadata`: the prompt as it was rendered, the rounds and
the results of their calls. Source: src/vs/workbench/contrib/chat/common/model/chatModel.ts,
https://github.com/microsoft/vscode, and SummarizedConversationHistory in src/extension/prompts/node/agent,
https://github.com/microsoft/vscode-copilot-chat.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ctxcli.formats.blocks.agents import provider_of
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.exchange import line_of
from ctxcli.formats.blocks.moments import from_milliseconds
from ctxcli.formats.blocks.values import mapping, sequence, text
from ctxcli.formats.blocks.vscode_parts import (
    call_parts,
    prompt_pieces,
    raw_parts,
    result_parts,
    thinking_parts,
)
from ctxcli.model import COMPACTION, MAIN, EventKind, Part, PartKind, Record, Role, Transcript

_NOTE = "A chat export has no usage, no system prompt and no tools: the context was larger than what it shows."


class ExportReader:
    """Reads one exported chat into a draft."""

    def __init__(self) -> None:
        self.draft = Draft("vscode-copilot-chat", agent="vscode-copilot-chat")
        self._shared: int | None = None
        """The message of what all prompts have in common."""
        self._model = ""
        self._time = ""

    def read(self, record: Record) -> Transcript:
        """The conversation that a document holds."""
        self.draft.saw(record)
        value = mapping(record.value)
        self.draft.id = text(value.get("sessionId")) or None
        for number, request in enumerate(sequence(value.get("requests"))):
            line = line_of(record, ("requests", number))
            if isinstance(request, dict) and ("message" in request or "requestId" in request):
                self._request(request, line)
            elif isinstance(request, dict):
                self.draft.unknown(f"request/{text(request.get('kind'))}", line)
            else:
                self.draft.not_a_record(Record(line, request))
        self.draft.notes.append(_NOTE)
        return self.draft.finish()

    def _request(self, request: Mapping[str, Any], line: int) -> None:
        metadata = mapping(mapping(request.get("result")).get("metadata"))
        self._model = text(request.get("modelId")).removeprefix("copilot/") or self._model
        self._time = from_milliseconds(request.get("timestamp"))
        self.draft.provider = self.draft.provider or provider_of(self._model)
        self.draft.id = self.draft.id or text(metadata.get("sessionId")) or None
        self._share(metadata.get("renderedGlobalContext"), line)
        self._prompt(request, metadata, line)
        rounds = [one for one in sequence(metadata.get("toolCallRounds")) if isinstance(one, dict)]
        results = mapping(metadata.get("toolCallResults"))
        summaries = _summaries(metadata)
        for one in rounds:
            self._round(one, results, line)
            summary = text(one.get("summary")) or summaries.get(text(one.get("id")), "")
            if summary.strip():
                self._summarised(summary, line)
        asked = {text(mapping(call).get("id")) for one in rounds for call in sequence(one.get("toolCalls"))}
        for _ in results.keys() - asked:
            self.draft.bookkeep("result of no call")
        if not rounds:
            self._shown(request, line)

    def _share(self, content: Any, line: int) -> None:
        """What the client tells of itself and of the workspace once, until it changes."""
        parts = list(raw_parts(content, line))
        known = self.draft.messages[self._shared].parts if self._shared is not None else []
        if not parts or [part.text for part in parts] == [part.text for part in known]:
            return
        if self._shared in self.draft.live[MAIN]:
            self.draft.event(EventKind.RENEW, line, drops=[self._shared], trigger="client")
        self._shared = self._add(Role.USER, parts, line, harness=True)

    def _prompt(self, request: Mapping[str, Any], metadata: Mapping[str, Any], line: int) -> None:
        message = request.get("message")
        typed = message if isinstance(message, str) else text(mapping(message).get("text"))
        sent = metadata.get("renderedUserMessage")
        for ours, parts in prompt_pieces(sent or typed, line, typed):
            self._add(Role.USER, parts, line, harness=ours)

    def _round(self, one: Mapping[str, Any], results: Mapping[str, Any], line: int) -> None:
        """One call of the model, and what its tools gave back."""
        time = from_milliseconds(one.get("timestamp")) or self._time
        parts = list(thinking_parts(one.get("thinking"), line))
        if said := text(one.get("response")):
            parts.append(Part(PartKind.TEXT, said, line))
        parts += call_parts(one.get("toolCalls"), line)
        sealed = bool(mapping(one.get("compaction")))
        if sealed:
            event = self.draft.event(EventKind.SUMMARY, line, drops=self._said(), trigger="provider", opaque=True)
            self.draft.amend(event, summary=len(self.draft.messages))
            parts.insert(0, Part(PartKind.OPAQUE, "", line, name=COMPACTION))
        at = self._add(Role.ASSISTANT, parts, line, name=text(one.get("id")), time=time)
        self.draft.call(at, line, id=text(one.get("id")), time=time, model=self._model)
        for part in parts:
            if part.kind is PartKind.TOOL_CALL and part.ref in results:
                self._add(Role.TOOL, result_parts(results[part.ref], line, part.ref), line, time=time)
        if hook := text(one.get("hookContext")):
            self._add(Role.USER, [Part(PartKind.TEXT, hook, line)], line, harness=True, time=time)

    def _summarised(self, summary: str, line: int) -> None:
        """A summary on a round stands for all up to that round."""
        event = self.draft.event(EventKind.SUMMARY, line, drops=self._said(), trigger="auto")
        self.draft.amend(event, summary=len(self.draft.messages))
        self._add(Role.USER, [Part(PartKind.SUMMARY, summary, line)], line, harness=True)

    def _said(self) -> list[int]:
        """What is in the context but for what all prompts share."""
        return [index for index in self.draft.live[MAIN] if index != self._shared]

    def _shown(self, request: Mapping[str, Any], line: int) -> None:
        """Without rounds what the screen showed is all that is left of the answer."""
        pieces = []
        for item in sequence(request.get("response")):
            shown = mapping(item)
            if text(shown.get("kind")) in ("", "markdownContent"):
                content = shown.get("value", shown.get("content"))
                pieces.append(text(mapping(content).get("value", "")) if isinstance(content, dict) else text(content))
        if said := "".join(pieces).strip():
            at = self._add(Role.ASSISTANT, [Part(PartKind.TEXT, said, line)], line)
            self.draft.call(at, line, id=text(request.get("responseId")), time=self._time, model=self._model)

    def _add(
        self, role: Role, parts: Iterable[Part], line: int, *, harness: bool = False, name: str = "", time: str = ""
    ) -> int:
        return self.draft.add(role, parts, line, id=name, time=time or self._time, harness=harness)


def _summaries(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Summaries that stand beside the rounds, by the round that they reach up to."""
    found = [mapping(one) for one in (metadata.get("summary"), *sequence(metadata.get("summaries")))]
    return {text(one.get("toolCallRoundId")): text(one.get("text")) for one in found if one}
