"""What Cline and Roo write into plain text: tool calls as XML, their results under a heading, the client's own words.

Source of the shapes: https://github.com/cline/cline and https://github.com/RooCodeInc/Roo-Code, there
src/core/assistant-message and src/core/prompts/responses.ts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxcli.formats.blocks.values import address_of
from ctxcli.model import Part, PartKind

_TOOLS = (
    "execute_command", "read_file", "write_to_file", "replace_in_file", "search_files", "list_files",
    "list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question",
    "attempt_completion", "plan_mode_respond", "act_mode_respond", "new_task", "condense", "summarize_task",
    "report_bug", "load_mcp_documentation", "web_fetch", "web_search", "new_rule", "use_skill", "use_subagents",
    "apply_diff", "apply_patch", "insert_content", "search_and_replace", "search_replace", "edit_file", "switch_mode",
    "fetch_instructions", "codebase_search", "update_todo_list", "run_slash_command", "generate_image", "skill",
)  # fmt: skip
_CALL = re.compile(rf"<({'|'.join(_TOOLS)})>(.*?)</\1>", re.DOTALL)
_ARGUMENT = re.compile(r"<(path|file_path|command|url|uri|regex|query|tool_name|server_name)>([^<]*)</\1>")
_HEADING = re.compile(r"\[([a-z]\w*)(?: [^\n].{0,2000}?)?\] Result:", re.DOTALL)
_FAILED = re.compile(r'\s*(?:The tool execution failed|<error>|\{"status":\s*"error")')
_ENVIRONMENT = "<environment_details>"
_USERS = ("<task>", "<feedback>", "<user_message>", "<answer>", "<user_feedback>", "<new_task")
_CLIENTS = (
    _ENVIRONMENT, "[ERROR]", "[TASK RESUMPTION]", "[TASK COMPLETED]", "[Response interrupted", "[NOTE]", "<notice>",
    "# TODO LIST", "# task_progress", "<explicit_instructions", "<hook_context", "[Sliding window truncation",
)  # fmt: skip
_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((.+)\) Files", re.MULTILINE)
_MODEL = re.compile(r"<model>([^<\n]+)</model>")
CLIENT, HUMAN, TOOL = "client", "human", "tool"


def calls_in(said: str, line: int, name: str) -> Iterator[Part]:
    """An answer's text, and the tool calls in it; the model wrote the XML, so that is their text.

    `name` begins the ids by which results are told what they answer; there are none in the text.
    """
    at = 0
    for number, match in enumerate(_CALL.finditer(said)):
        if before := said[at : match.start()].strip():
            yield Part(PartKind.TEXT, before, line)
        named = {key.replace("regex", "pattern"): value for key, value in reversed(_ARGUMENT.findall(match[2]))}
        ref = f"{name}.{number}"
        yield Part(PartKind.TOOL_CALL, match[0], line, name=match[1], ref=ref, address=address_of(named))
        at = match.end()
    if rest := said[at:].strip() if at else said:
        yield Part(PartKind.TEXT, rest, line)


def failed(said: str) -> bool:
    """Whether a tool's answer is the client's report of a failure."""
    heading = _HEADING.match(said)
    return _FAILED.match(said, heading.end() if heading else 0) is not None


def facts_of(said: str) -> tuple[str, str]:
    """The working folder and the model that the client names among its details; empty where it does not."""
    if _ENVIRONMENT not in said:
        return "", ""
    folder, model = _FOLDER.search(said), _MODEL.search(said)
    return folder[1] if folder else "", model[1] if model else ""


@dataclass(slots=True)
class Turn:
    """A message under the user's name, taken apart: what tools gave back, what the user said, what the client said."""

    line: int
    open_calls: list[Part]
    """The calls in text that nothing has answered yet; those answered are taken out."""
    said: list[tuple[str, list[Part]]] = field(default_factory=list)
    """(who, the parts), in order."""
    _result: Part | None = None

    def text(self, said: str) -> None:
        """A piece of text; it may be all of these in a row."""
        before, mark, after = said.partition(_ENVIRONMENT)
        if mark and before.strip():
            self.text(before.rstrip())
            said = mark + after
        heading = _HEADING.match(said)
        if heading is not None:
            self._open(heading[1], said)
        elif said.startswith(_CLIENTS):
            self.put(CLIENT, Part(PartKind.TEXT, said, self.line))
        elif self._result is not None and not said.startswith(_USERS):
            self._grow(said)
        else:
            self.put(HUMAN, Part(PartKind.TEXT, said, self.line))

    def put(self, who: str, *parts: Part) -> None:
        """Parts as they are; a result in text ends here."""
        self._result = None
        self._add(who, list(parts))

    def media(self, part: Part) -> None:
        """An image belongs to the result before it, else to the user."""
        if self._result is not None:
            self.said[-1][1].append(Part(part.kind, "", part.line, ref=self._result.ref, media=part.media))
        else:
            self.put(HUMAN, part)

    def _open(self, name: str, said: str) -> None:
        call = next((one for one in self.open_calls if one.name == name), None)
        if call is not None:
            self.open_calls.remove(call)
        self._result = Part(
            PartKind.TOOL_RESULT, said, self.line, name=name, ref=call.ref if call else "", failed=failed(said)
        )
        self._add(TOOL, [self._result])

    def _grow(self, said: str) -> None:
        if self._result is None:
            return
        whole = f"{self._result.text}\n{said}"
        parts = self.said[-1][1]
        place = max(at for at, part in enumerate(parts) if part.kind is PartKind.TOOL_RESULT)
        old = self._result
        self._result = parts[place] = Part(old.kind, whole, old.line, name=old.name, ref=old.ref, failed=failed(whole))

    def _add(self, who: str, parts: list[Part]) -> None:
        if self.said and self.said[-1][0] == who:
            self.said[-1][1].extend(parts)
        else:
            self.said.append((who, parts))
