"""Events of OpenHands up to 0.x (V0): actions and observations, in a list, a folder, or the history of an instance.

An action that a model chose carries the whole response (`tool_call_metadata.model_response`), once for each of its
calls; `message` is a text for the screen. `llm_metrics` are sums since the beginning. Source of the shape:
openhands/events of https://github.com/All-Hands-AI/OpenHands up to 0.62.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ctxcli.formats.blocks.agents import provider_of
from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.media import media_part
from ctxcli.formats.blocks.openai import message_pieces, plain
from ctxcli.formats.blocks.openai import usage_of as response_usage
from ctxcli.formats.blocks.openhands_usage import Sums
from ctxcli.formats.blocks.values import address_of, count, dump, mapping, sequence, text
from ctxcli.model import MAIN, EventKind, Lane, Part, PartKind, Role, Usage

_BOOKS = frozenset(
    {"change_agent_state", "agent_state_changed", "null", "condensation_request", "recall", "pause", "resume", "stop",
     "start", "loop_recall", "server_ready", "status_update", "user_rejected_request"}
)  # fmt: skip
_ACTIONS = frozenset(
    {"run", "read", "write", "edit", "run_ipython", "browse", "browse_interactive", "finish", "reject", "delegate",
     "think", "call_tool_mcp", "mcp", "task_tracking", "message", "send_pr", "push", "kill", "add_task", "modify_task"}
)  # fmt: skip
_OBSERVATIONS = frozenset(
    {"run", "read", "write", "edit", "run_ipython", "browse", "delegate", "error", "success", "think", "mcp", "chat",
     "task_tracking", "user_rejected", "agent_think"}
)  # fmt: skip
_ARGUMENTS_ASIDE = frozenset({"thought", "is_input", "hidden", "confirmation_state", "security_risk", "blocking"})


class V0:
    """Reads the events of one conversation into one draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._lanes = [MAIN]
        """The agent that acts now stands last: a delegate works between its action and the observation of it."""
        self._answers: dict[str, int] = {}
        self._messages: dict[int, int] = {}
        self._refs: dict[int, str] = {}
        """The id of the call by the id of its action."""
        self._summary: dict[str, int] = {}
        self._sums = Sums()

    def read(self, value: Mapping[str, Any], line: int) -> None:
        """One action or observation."""
        action, observation = value.get("action"), value.get("observation")
        kind, args = text(action) or text(observation), mapping(value.get("args"))
        if isinstance(action, str) and action:
            self._act(action, value, args, line)
        elif kind == "recall":
            self._recalled(value, line)
        elif kind in _OBSERVATIONS:
            self._observe(kind, value, line)
        elif kind in _BOOKS:
            self.draft.bookkeep(kind)
        else:
            self.draft.unknown(f"observation/{kind}", line)

    def _act(self, kind: str, value: Mapping[str, Any], args: Mapping[str, Any], line: int) -> None:
        if kind == "system":
            tools = [
                Part(PartKind.TOOLS, dump(tool), line, name=text(mapping(mapping(tool).get("function")).get("name")))
                for tool in sequence(args.get("tools"))
            ]
            self._add(value, Role.SYSTEM, [*tools, *_said(args.get("content"), line)], line)
        elif kind == "condensation":
            self._condensed(value, args, line)
        elif kind == "message" and value.get("source") != "agent":
            images = [media_part(text(url), "image", line) for url in sequence(args.get("image_urls"))]
            harness = value.get("source") != "user" or len(self._lanes) > 1
            self._add(value, Role.USER, [*_said(args.get("content"), line), *images], line, harness=harness)
        elif kind in _ACTIONS:
            self._answer(kind, value, args, line)
        elif kind in _BOOKS:
            self.draft.bookkeep(kind)
        else:
            self.draft.unknown(f"action/{kind}", line)

    def _answer(self, kind: str, value: Mapping[str, Any], args: Mapping[str, Any], line: int) -> None:
        """What the agent did: the response of the model once, however many actions it chose."""
        given = mapping(value.get("tool_call_metadata"))
        response = mapping(given.get("model_response"))
        id_, number = text(response.get("id")), count(value.get("id"))
        if number is not None:
            self._refs[number] = text(given.get("tool_call_id")) or f"action-{number}"
        known = self._answers.get(id_) if id_ else None
        if known is not None:
            self.draft.extend(known, (), line)
            self._mark(value, known)
        elif value.get("source") == "user":
            self._add(value, Role.USER, _action(kind, args, line, f"action-{number}"), line, harness=True)
        else:
            choices = sequence(response.get("choices"))
            message = mapping(mapping(choices[0]).get("message")) if choices else {}
            pieces = [part for _, parts in message_pieces({**message, "role": "assistant"}, line) for part in parts]
            at = self._add(value, Role.ASSISTANT, pieces or _action(kind, args, line, f"action-{number}"), line)
            self._answers[id_ or f"event {number}"] = at
            model = text(response.get("model"))
            self.draft.provider = self.draft.provider or provider_of(model)
            usage = self._usage(response, value)
            self.draft.call(at, line, id=id_, time=text(value.get("timestamp")), model=model, usage=usage)
        if kind == "delegate":
            self._lanes.append(f"delegate {number}")
            title, ref = text(args.get("agent")), self._refs.get(number, "") if number is not None else ""
            self.draft.lanes[self._lanes[-1]] = Lane(self._lanes[-1], title, ref)

    def _usage(self, response: Mapping[str, Any], value: Mapping[str, Any]) -> Usage | None:
        """The usage of the response, else what the sums grew by."""
        grown = mapping(mapping(value.get("llm_metrics")).get("accumulated_token_usage"))
        since = self._sums.since("", grown) if grown else None
        return response_usage(response.get("usage")) or since

    def _observe(self, kind: str, value: Mapping[str, Any], line: int) -> None:
        if kind == "delegate" and len(self._lanes) > 1:
            self._lanes.pop()
        cause = count(value.get("cause"))
        given = text(mapping(value.get("tool_call_metadata")).get("tool_call_id"))
        ref = given or (self._refs.get(cause, "") if cause is not None else "")
        extras = mapping(value.get("extras"))
        code = mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
        failed = kind == "error" or (count(code) is not None and code != 0)
        body = plain(value.get("content"))
        if ref:
            self._add(value, Role.TOOL, [Part(PartKind.TOOL_RESULT, body, line, ref=ref, failed=failed)], line)
        else:
            self._add(value, Role.USER, [Part(PartKind.DOCUMENT, body, line)], line, harness=True)

    def _recalled(self, value: Mapping[str, Any], line: int) -> None:
        """Knowledge that the client put into the prompt: it stands beside the content, which is for the screen."""
        extras = mapping(value.get("extras"))
        known = [text(mapping(one).get("content")) for one in sequence(extras.get("microagent_knowledge"))]
        keys = ("repo_instructions", "additional_agent_instructions", "conversation_instructions")
        body = "\n".join(said for said in [*(text(extras.get(key)) for key in keys), *known] if said)
        if body:
            self._add(value, Role.USER, [Part(PartKind.TEXT, body, line)], line, harness=True)
        else:
            self.draft.bookkeep("recall")

    def _condensed(self, value: Mapping[str, Any], args: Mapping[str, Any], line: int) -> None:
        """Events that are forgotten, by their ids or from one to another, and the summary in their place."""
        lane = self._lanes[-1]
        first, last = count(args.get("forgotten_events_start_id")), count(args.get("forgotten_events_end_id"))
        ids = {count(id_) for id_ in sequence(args.get("forgotten_event_ids"))} - {None}
        gone = {
            at
            for id_, at in self._messages.items()
            if id_ in ids or (first is not None and last is not None and first <= id_ <= last)
        }
        summary = text(args.get("summary"))
        if summary and lane in self._summary:
            gone.add(self._summary[lane])
        drops = gone & set(self.draft.live[lane])
        kind = EventKind.SUMMARY if summary else EventKind.TRIM
        event = self.draft.event(kind, line, lane=lane, drops=drops, trigger="condenser")
        self.draft.bookkeep("condensation")
        if summary:
            at = self._add(value, Role.USER, [Part(PartKind.SUMMARY, summary, line)], line, harness=True)
            self._summary[lane] = at
            self.draft.amend(event, summary=at)

    def _add(self, value: Mapping[str, Any], role: Role, parts: list[Part], line: int, *, harness: bool = False) -> int:
        id_, time = text(value.get("id")), text(value.get("timestamp"))
        at = self.draft.add(role, parts, line, lane=self._lanes[-1], id=id_, time=time, harness=harness)
        self._mark(value, at)
        return at

    def _mark(self, value: Mapping[str, Any], at: int) -> None:
        number = count(value.get("id"))
        if number is not None:
            self._messages[number] = at


def _said(content: Any, line: int) -> Iterator[Part]:
    if said := plain(content):
        yield Part(PartKind.TEXT, said, line)


def _action(kind: str, args: Mapping[str, Any], line: int, ref: str) -> list[Part]:
    """An action without the response that chose it: the thought, and the rest as the arguments of a call."""
    if kind == "message":
        return [*_said(args.get("content"), line)]
    rest = {key: item for key, item in args.items() if key not in _ARGUMENTS_ASIDE}
    call = Part(PartKind.TOOL_CALL, dump(rest), line, name=kind, ref=ref, address=address_of(rest))
    return [*_said(args.get("thought"), line), call]
