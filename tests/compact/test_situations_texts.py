"""Situations of bug reports about what stands in a message after a compaction: thinking, empty and torn texts,
summaries that hold nothing."""

import json
from dataclasses import replace

import pytest

from compact_support import WEIGH
from ctxcli.change import summary_message
from ctxcli.compact.asking import answered
from ctxcli.compact.session import Session
from ctxcli.compact.window import in_use
from ctxcli.errors import SummaryError
from ctxcli.formats import conversation_of, convert
from ctxcli.guard import Policy
from ctxcli.model import Call, PartKind, Usage
from ctxcli.slots import SYNTHETIC, parse
from ctxcli.strategies import STRATEGIES
from ctxcli.validity import check
from situation_support import ANTHROPIC, LONG, OPENAI, SHAPES, Json, call, read_document, result, says, shortened, user

STRATEGY_NAMES = [name for name in STRATEGIES if name != "semantic"]
each_shape = pytest.mark.parametrize("shape", SHAPES)
each_strategy = pytest.mark.parametrize("strategy", STRATEGY_NAMES)
EMPTY_SLOTS = "## CONSTRAINTS\n- none\n## DECISIONS\n- none\n## IDENTIFIERS\n- none\n## OPEN\n- none"


def thinking_session(*more: Json) -> tuple[Json, ...]:
    return (
        user("Why is src/app.py slow?"),
        says("", call("c1", path="src/app.py"), thinking="I should read the file first.\n" + LONG),
        result("c1"),
        says("It recomputes.", thinking="Everything is computed twice."),
        user("And src/db.py?"),
        says("I look.", call("c2", path="src/db.py"), thinking="The other file, then."),
        result("c2", "db = 1"),
        *more,
    )


def blocks(rows: list[Json]) -> list[Json]:
    return [block for row in rows if isinstance(row["content"], list) for block in row["content"]]


@each_strategy
@pytest.mark.parametrize("target", [0.1, 0.5, 0.9])
def test_thinking_stays_whole_with_its_signature_or_goes_whole(strategy: str, target: float) -> None:
    """openclaw#97645: thinking was cut, its signature stayed; refused for ever."""
    one = shortened(ANTHROPIC, *thinking_session(user("Go on.")), strategies=(strategy,), target=target)
    before = [block for block in blocks(one.before["messages"]) if block["type"] == "thinking"]
    assert all(block in before for block in blocks(one.rows) if block["type"] == "thinking")
    assert one.outcome.steps or strategy.startswith("clear")


@each_strategy
def test_the_thinking_of_the_last_answer_is_untouched_while_its_result_goes_back(strategy: str) -> None:
    """claude-code#12316, #12362, #13094, #13298, #13479, #13589, #13692, #13923."""
    one = shortened(ANTHROPIC, *thinking_session(), strategies=(strategy,), target=0.05)
    assert one.rows[-2:] == one.before["messages"][-2:]
    assert one.rows[-2]["content"][0]["thinking"] == "The other file, then."


def test_thinking_does_not_go_to_the_model_of_another_provider() -> None:
    """forgecode PR 1196 and 2357, opencode PR 25194: the reasoning of one model was sent to another."""
    one = shortened(ANTHROPIC, *thinking_session(user("Go on.")), target=0.9)
    text, lost = convert(conversation_of(one.after, one.after.messages), OPENAI)
    assert b"The other file, then." not in text
    assert lost


@each_strategy
def test_reasoning_beside_an_openai_answer_goes_with_its_answer(strategy: str) -> None:
    """openai-agents-python#2727 and PR 3941: the answer was kept and its reasoning item was dropped, and mixed."""
    rows = [
        {"role": "assistant", "content": f"Answer {number}.", "reasoning_content": f"Thought {number}. {LONG}"}
        for number in range(3)
    ]
    turns = [turn for number, row in enumerate(rows) for turn in (user(f"Question {number}?"), {"raw": row})]
    one = shortened(OPENAI, *turns, user("Next?"), strategies=(strategy,), target=0.5)
    assert all(row in rows for row in one.rows if row["role"] == "assistant")


@each_shape
@each_strategy
@pytest.mark.parametrize("nothing", ["", " \n"])
def test_an_empty_text_in_an_old_message_breaks_nothing(shape: str, strategy: str, nothing: str) -> None:
    """claude-code#863 and #23440, kimi-cli PR 2395."""
    old = {"raw": {"role": "user", "content": [{"type": "text", "text": nothing}]}}
    spoken = {
        "raw": {"role": "assistant", "content": [{"type": "text", "text": nothing}, {"type": "text", "text": "Yes."}]}
    }
    turns = (user("Hello."), spoken, old, *thinking_session(user("Go on.")))
    for target in (0.1, 1.0):
        one = shortened(shape, *turns, strategies=(strategy,), target=target, profile="anthropic")
        assert one.rows[-1]["content"] == "Go on."


@each_shape
def test_no_placeholder_and_no_summary_is_ever_empty(shape: str) -> None:
    """vercel/ai#13335: a block of a compaction with null content was sent back."""
    one = shortened(shape, *thinking_session(user("Go on.")), target=0.1)
    assert all(row.get("content") or row.get("tool_calls") for row in one.rows)
    assert all(text.strip() for text in one.results().values())


def with_block(content: str | None) -> tuple[Json, ...]:
    block = [{"type": "compaction", "content": content}, {"type": "text", "text": "Where were we?"}]
    return (
        user("Rename the shop to Corner."),
        {"raw": {"role": "assistant", "content": block}},
        *thinking_session(user("Go on.")),
    )


def test_a_block_of_a_compaction_that_failed_took_nothing_out() -> None:
    """vercel/ai#13335 (PR 13382, 13831, 19990): null content means that it failed; the provider ignores the block."""
    one = shortened(ANTHROPIC, *with_block(None), target=0.5)
    assert one.rows[0]["content"] == "Rename the shop to Corner."


def test_a_block_of_a_compaction_with_empty_text_is_not_sent_back() -> None:
    """vercel/ai#13335: the provider refuses a block whose content is an empty string."""
    one = shortened(ANTHROPIC, *with_block(""), target=0.5, keep_last=30)
    assert not [block for block in blocks(one.rows) if block["type"] == "compaction"]


def test_an_empty_summary_is_a_fault_and_is_never_made() -> None:
    """nao#950: a compaction failed, was stored as a summary of "", and was taken for one later."""
    broken = [one.rule for one in check((summary_message(""),), "anthropic")]
    assert broken == ["CTX217"]
    with pytest.raises(SummaryError, match="CONSTRAINTS"):
        shortened(OPENAI, *thinking_session(user("Go on.")), target=0.1, ask=lambda _: "")


@each_shape
def test_half_a_character_becomes_a_whole_one(shape: str) -> None:
    """eve#3062, llumiverse PR 462, acp-kernel#304: a text was cut inside a surrogate pair; refused for ever."""
    torn = "x" * 1999 + "\ud83d"
    turns = (
        user("Read the mail."),
        says("", call("m1", path="mail.txt")),
        result("m1", torn),
        says("I read it \ud83d."),
    )
    for target in (0.1, 0.6, 1.0):
        one = shortened(shape, *turns, *thinking_session(user("Go on.")), target=target)
        written = json.dumps(one.document, ensure_ascii=False)
        written.encode("utf-8")


@each_shape
def test_nothing_is_cut_inside_a_character(shape: str) -> None:
    """The same reports: `"x" * 1999 + "📥"`, for each length around a limit."""
    for length in range(1990, 2003):
        text = "x" * length + "📥" * 3
        first = (user(f"{text} is the name."), says("", call("m1", path="mail.txt")), result("m1", text), says("Read."))
        one = shortened(shape, user("Go."), says("Yes?"), *first, *thinking_session(user("Go on.")), target=0.1)
        json.dumps(one.document, ensure_ascii=False).encode("utf-8")
        assert "\ufffd" not in one.text


# -- answers of a model


def slots_of(answer: str) -> str:
    found = answered(lambda _: answer, "span", lambda _: [])
    return repr(found.slots)


def test_thoughts_around_an_answer_leave_and_nothing_of_the_answer_does() -> None:
    """qwen-code#11969, PR 11988: reasoning tags inside the snapshot; stripping them took the rest along."""
    body = "## CONSTRAINTS\n- Never push.\n## DECISIONS\n- chosen: sqlite | because: no server\n## IDENTIFIERS\n- path: src/a.py\n## OPEN\n- Is it done?"  # fmt: skip
    plain = parse(body).slots
    assert parse(f"<think>## OPEN\n- secret plan</think>\n{body}").slots == plain
    assert parse(body.replace("## DECISIONS", "<think>hm\n## OPEN\n- no</think>\n## DECISIONS")).slots == plain
    assert parse(f"```markdown\n{body}\n```").slots == plain
    mentioned = body.replace("Never push.", "Never print <think> in an answer.")
    found = parse(mentioned).slots
    assert found.constraints[0].text == "Never print <think> in an answer."
    assert found.open == plain.open
    assert found.identifiers == plain.identifiers


def test_a_thought_that_never_ends_leaves_no_half_of_an_answer() -> None:
    """qwen-code#11969: success was reported for a snapshot that had been cut."""
    torn = "<think>I wonder.\n## CONSTRAINTS\n- none\n## DECISIONS\n- none"
    with pytest.raises(SummaryError, match="IDENTIFIERS"):
        slots_of(torn)


@pytest.mark.parametrize(
    "answer", ["", " \n", "Error: 429 rate limit exceeded, retry later", "I cannot help with that.", "{}"]
)
def test_what_is_no_summary_does_not_become_one(answer: str) -> None:
    """langchain#38867 and #39261: the text of the error, or a placeholder, became the summary."""
    with pytest.raises(SummaryError, match="the section CONSTRAINTS"):
        slots_of(answer)


def test_an_answer_that_copies_the_head_of_a_summary_does_not_become_two() -> None:
    """hindsight PR 3383: what marks a summary has to mark one."""
    answer = EMPTY_SLOTS.replace("## CONSTRAINTS\n- none", f"{SYNTHETIC}: a record]\n## CONSTRAINTS\n- none")
    one = shortened(OPENAI, *thinking_session(user("Go on.")), target=0.6, ask=lambda _: answer + "\n- src/app.py")
    assert one.summary.count(SYNTHETIC) <= 1


# -- what is measured


def test_reasoning_that_only_the_provider_counts_is_counted() -> None:
    """inspect_ai PR 3809: encrypted reasoning went back in and was not counted, so that the threshold never fired."""
    hidden = {"raw": {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "A" * 900}, {"type": "text", "text": "Yes."}]}}  # fmt: skip
    transcript = read_document(
        {"model": "claude", "messages": [user_row("Hi."), hidden["raw"], user_row("Go on.")]}, ANTHROPIC
    )
    said = next(index for index, one in enumerate(transcript.messages) if one.role == "assistant" and one.parts)
    measured = replace(transcript, calls=(Call(said, usage=Usage(prompt=50_000, output=4_000)),))
    session = Session(measured, Policy(), WEIGH)
    assert (in_use(session) or 0) >= 54_000 > session.tokens
    assert PartKind.OPAQUE in {part.kind for part in transcript.messages[said].parts} or session.tokens > 100


def user_row(text: str) -> Json:
    return {"role": "user", "content": text}
