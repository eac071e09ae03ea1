"""Situations of bug reports in which a call and its results came apart: each built anew, with the right outcome."""

import json
import re

import pytest

from ctxcli.model import PartKind
from ctxcli.strategies import STRATEGIES
from ctxcli.task import Results
from situation_support import (
    ANTHROPIC,
    LONG,
    OPENAI,
    SHAPES,
    Json,
    call,
    document,
    errors,
    read_document,
    result,
    said,
    says,
    shortened,
    user,
)

STRATEGY_NAMES = [name for name in STRATEGIES if name != "semantic"]

each_shape = pytest.mark.parametrize("shape", SHAPES)
each_strategy = pytest.mark.parametrize("strategy", STRATEGY_NAMES)


def session(*more: Json) -> tuple[Json, ...]:
    """Two turns with results, and what a test adds."""
    return (
        user("Find out why src/app.py is slow."),
        says("I read it.", call("c1", path="src/app.py")),
        result("c1"),
        says("It recomputes every value. Next the caller.", call("c2", path="src/main.py")),
        result("c2"),
        says("The caller runs it twice."),
        *more,
    )


@each_shape
@each_strategy
@pytest.mark.parametrize("keep_last", range(8))
def test_wherever_the_tail_begins_a_call_and_its_result_stay_or_go_together(
    shape: str, strategy: str, keep_last: int
) -> None:
    """openclaw#8525, langchain#33245 and #38352, gemini-cli#4105, Roo-Code#11029, Bamboo-agent#422."""
    turns = session(user("And what about src/db.py?"), says("", call("c3", path="src/db.py")), result("c3"))
    one = shortened(shape, *turns, strategies=(strategy,), target=0.2, keep_last=keep_last)
    calls, results = one.refs
    assert calls == results
    assert one.rows[0]["role"] == "user"
    if keep_last:
        assert "c3" in calls


@each_shape
@each_strategy
@pytest.mark.parametrize("target", [0.1, 0.4, 0.8])
def test_a_pass_over_an_orphan_in_the_middle_takes_the_orphan_alone(shape: str, strategy: str, target: float) -> None:
    """ag2#2793 (the window is clean at both ends), openclaw#4739 (a synthetic result whose call was pruned)."""
    turns = session(user("Go on."), result("pruned", "[missing result]"), says("I go on."), user("Please do."))
    one = shortened(shape, *turns, strategies=(strategy,), target=target)
    assert "pruned" not in json.dumps(one.document)
    assert "missing result" not in one.text
    assert one.rows[-1]["content"] == "Please do."


def test_of_a_message_with_a_pair_and_an_orphan_only_the_orphan_goes() -> None:
    """openclaw#15691: the whole message went, and left the other call without its result."""
    both = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "b1", "content": "src/app.py: 12 lines"},
            {"type": "tool_result", "tool_use_id": "gone", "content": "[interrupted]"},
        ],
    }
    turns = (user("How long is src/app.py?"), says("", call("b1", path="src/app.py")), {"raw": both}, says("Twelve."))
    for more, target in ((turns, 1.0), (session(*turns), 0.3)):
        one = shortened(ANTHROPIC, *more, user("Good."), target=target, keep_last=5)
        assert one.rows[-3]["content"] == [both["content"][0]]
        assert one.rows[-4]["content"][0]["id"] == "b1"
        assert len(one.outcome.mended.repairs) == 1


@each_shape
def test_a_result_behind_another_turn_of_the_user_leaves_and_the_users_words_stay(shape: str) -> None:
    """openclaw#29103 (PR 29306): call, user, result; the result was taken for its neighbour's."""
    displaced = (says("I ask.", call("late", path="src/late.py")), user("Use UTC everywhere."), result("late", "ok"))
    one = shortened(shape, *session(user("Look at the clock."), *displaced, says("Done."), user("And?")), target=0.3)
    assert "late" not in {ref for refs in one.refs for ref in refs}
    assert "Use UTC everywhere." in one.text


@each_shape
@each_strategy
def test_a_call_that_waits_for_its_result_stays_so_that_the_result_can_come(shape: str, strategy: str) -> None:
    """learn-claude-code#500 (the call of the compaction tool itself), openclaw#51262 (pending ids from before it)."""
    turns = session(user("Compact now."), says("", call("pending", "compact", focus="src/app.py")))
    one = shortened(shape, *turns, strategies=(strategy,), target=0.1)
    assert one.refs[0][-1:] == ["pending"]
    answered = document(shape, result("pending", "compacted"))["messages"]
    assert not errors(read_document({**one.document, "messages": one.rows + answered}, shape).messages, shape)


def test_a_summary_between_a_call_and_its_result_does_not_stay_there() -> None:
    """pi#8667: the marker was appended while the tool ran, and rendered inside the pair later."""
    inside = user("[Compacted by ctx: a record of the conversation so far, not the user's words.]\n\n## CONSTRAINTS\n- Never touch migrations/.\n\n## DECISIONS\n- none\n\n## IDENTIFIERS\n- none\n\n## OPEN\n- none")  # fmt: skip
    turns = (
        user("Read it."),
        says("", call("c0", path="src/x.py")),
        inside,
        result("c0", "x"),
        *session(user("Next?")),
    )
    for strategy in STRATEGY_NAMES:
        one = shortened(OPENAI, *turns, strategies=(strategy,), target=0.3)
        assert "Never touch migrations/." in one.text
        assert one.refs[0] == one.refs[1]


def test_text_beside_an_orphan_stays_and_the_orphan_goes() -> None:
    """Codewhale#6119: text in a message made its result stay, whose call was gone."""
    mixed = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "gone", "content": LONG},
            {"type": "text", "text": "Only read, never write."},
        ],
    }
    for strategy in STRATEGY_NAMES:
        turns = (user("Look at it."), says("I look."), {"raw": mixed}, says("I only read."), *session(user("And now?")))
        one = shortened(ANTHROPIC, *turns, strategies=(strategy,), target=0.7, keep_last=10)
        assert "gone" not in json.dumps(one.document)
        assert "Only read, never write." in one.text


@each_shape
def test_a_pair_goes_as_one_so_that_no_rule_stands_in_the_way(shape: str) -> None:
    """atomic#1300: a guard refused every compaction, since each call that went would orphan its result."""
    one = shortened(shape, *session(user("Thanks.")), strategies=("drop-oldest",), target=0.1)
    assert one.refs == ([], [])
    assert one.outcome.steps
    assert not one.outcome.mended.repairs


@each_shape
@pytest.mark.parametrize("keep_last", [1, 3, 6, 9, 10, 11])
def test_a_tail_that_begins_among_parallel_results_begins_at_their_call(shape: str, keep_last: int) -> None:
    """langchain#34282: of ten parallel results the last six were kept."""
    refs = [f"p{number}" for number in range(10)]
    many = (says("", *(call(ref, path=f"src/{ref}.py") for ref in refs)), *(result(ref, f"{ref} = 1") for ref in refs))
    one = shortened(shape, *session(user("Read all ten."), *many), strategies=("drop-oldest",), target=0.2, keep_last=keep_last)  # fmt: skip
    assert one.refs[0] == one.refs[1]
    assert one.refs[0][-10:] == refs
    assert keep_last > 3 or len(one.refs[0]) == 10


@each_shape
def test_an_orphan_is_not_made_the_users_words(shape: str) -> None:
    """deepagents#270: orphaned results were turned into messages of the user."""
    turns = session(
        user("Go on."), result("gone", "rm -rf is what the page says to run"), says("I go on."), user("Yes.")
    )
    one = shortened(shape, *turns, target=0.3)
    spoken = [message for message in one.after.messages if message.role == "user" and not message.harness]
    assert "rm -rf" not in said(tuple(spoken))


@each_shape
def test_parallel_results_at_the_end_that_outweigh_the_target_shrink_once_they_were_answered(shape: str) -> None:
    """deepagents#3405: the trailing results alone exceed what may stay."""
    refs = [f"p{number}" for number in range(6)]
    many = (
        says("", *(call(ref, path=f"src/{ref}.py") for ref in refs)),
        *(result(ref, f"{ref}\n{LONG}") for ref in refs),
    )
    unseen = shortened(shape, *session(user("Read all six."), *many), target=1500)
    assert all(unseen.results()[ref].endswith("58)") for ref in refs)
    assert unseen.tokens > unseen.target
    seen = shortened(shape, *session(user("Read all six."), *many, says("Read.")), target=1500, keep_last=4)
    assert seen.tokens <= seen.target
    assert seen.results()["p5"].endswith("58)")
    assert seen.results()["p0"] == "[cleared by ctx: an old result; again with: src/p0.py]"


def test_a_summary_and_then_a_result_without_a_call() -> None:
    """letta#2605: [system, summary, tool] was sent for ever."""
    summary = user("[Compacted by ctx: a record of the conversation so far, not the user's words.]\n\n## CONSTRAINTS\n- Never push.\n\n## DECISIONS\n- none\n\n## IDENTIFIERS\n- none\n\n## OPEN\n- none")  # fmt: skip
    one = shortened(
        OPENAI, summary, result("gone", "left over"), *session(user("Next?")), system="You code.", target=0.4
    )
    assert [row["role"] for row in one.rows[:2]] == ["system", "user"]
    assert "Never push." in one.text
    assert "left over" not in one.text


@each_shape
@pytest.mark.parametrize("profile", ["gemini", None])
def test_two_calls_and_one_result(shape: str, profile: str | None) -> None:
    """gemini-cli#4568 and #3709: as many results as calls are wanted."""
    half = (
        says("Both.", call("left", path="src/left.py"), call("right", path="src/right.py")),
        result("left", "l = 1"),
    )
    one = shortened(shape, *session(user("Both."), *half, says("One came."), user("Go on.")), target=0.5, keep_last=5, profile=profile)  # fmt: skip
    assert one.refs[0][-1] == one.refs[1][-1] == "left"
    assert "right" not in one.refs[0]


@each_shape
def test_a_history_that_begins_with_a_call(shape: str) -> None:
    """gemini-cli#11814: a history whose first message is a call; #26956: two messages of results in a row."""
    cut = (says("", call("c0", path="src/x.py")), result("c0", "x = 1"), result("second", "y = 2"), says("x is 1."))
    for strategy in STRATEGY_NAMES:
        one = shortened(shape, *cut, *session(user("Next?")), strategies=(strategy,), target=0.3, profile="gemini")
        assert one.rows[0]["role"] == "user"
        assert "second" not in {ref for refs in one.refs for ref in refs}


def test_a_tool_message_that_holds_only_text() -> None:
    """semantic-kernel#12708 and PR 13608: a message of the role tool without the id of a call."""
    loose = {"raw": {"role": "tool", "content": "the tool says hello"}}
    for target in (0.2, 0.6):
        one = shortened(
            OPENAI, *session(user("Hello?"), loose, says("It says hello."), user("Good."))[-6:], target=target
        )
        assert [row["role"] for row in one.rows].count("tool") == len(one.refs[0])


@each_shape
def test_a_message_at_a_time_never_orphans_on_a_later_turn(shape: str) -> None:
    """spring-ai#6029: what one pass leaves is what the next one begins with."""
    rows: list[Json] = []
    for turn in range(6):
        ref = f"t{turn}"
        more = (user(f"Step {turn}: read src/{ref}.py."), says("", call(ref, path=f"src/{ref}.py")), result(ref, LONG[:900]), says(f"Read {ref}."))  # fmt: skip
        rows += document(shape, *more)["messages"]
        one = shortened(shape, *({"raw": row} for row in rows), strategies=("drop-oldest",), target=500, keep_last=3)
        rows = one.rows
    assert rows[0]["content"] == "Step 0: read src/t0.py."
    assert one.refs == (["t5"], ["t5"])


@each_shape
def test_a_tail_without_any_user_and_system(shape: str) -> None:
    """ai-agent-book#190: `[-6:]` starts on a result, and there is nobody's message to put before it."""
    refs = [f"c{number}" for number in range(6)]
    turns = [turn for ref in refs for turn in (says("", call(ref, path=f"src/{ref}.py")), result(ref))]
    for strategy in STRATEGY_NAMES:
        one = shortened(shape, *turns[1:], strategies=(strategy,), target=0.4, keep_last=6, profile="gemini")
        assert one.refs[0] == one.refs[1] != []
        assert one.rows[0]["role"] == "user"


@each_shape
def test_two_turns_of_the_user_in_a_row_block_no_later_pass(shape: str) -> None:
    """neuron-ai#372 and PR 611: an answer that never came bricked the session where speakers have to alternate."""
    turns = session(user("Are you there?"), user("Hello?"), says("Yes."), user("Go on."))
    for strategy in STRATEGY_NAMES:
        one = shortened(shape, *turns, strategies=(strategy,), target=0.3, profile="gemini")
        assert one.outcome.steps or strategy.startswith("clear")
        assert one.rows[-1]["content"] == "Go on."


@each_shape
@each_strategy
def test_it_ends_on_what_the_input_ended_on(shape: str, strategy: str) -> None:
    """crewAI#6973, CLIProxyAPI#5358: a compacted history ended on the model, which is refused."""
    one = shortened(shape, *session(user("Which one is slower?")), strategies=(strategy,), target=0.05)
    assert one.rows[-1] == one.before["messages"][-1]
    waiting = session(user("Which?"), says("", call("c9", path="src/z.py")), result("c9", "z = 1"))
    one = shortened(shape, *waiting, strategies=(strategy,), target=0.05)
    assert one.rows[-1] == one.before["messages"][-1]


@each_shape
def test_the_model_that_sums_up_sees_each_call_before_its_result_and_nothing_cut(shape: str) -> None:
    """maki PR 641 (a retry dropped the call and kept its output), software-agent-sdk#2744 (events cut for display)."""
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "## CONSTRAINTS\n- none\n## DECISIONS\n- none\n## IDENTIFIERS\n- path: src/main.py\n## OPEN\n- none"

    shortened(shape, *session(user("Thanks.")), target=0.1, ask=ask, results=Results(keep=9))
    for path in ("src/app.py", "src/main.py"):
        assert re.search(
            rf'calls read_file:\n\{{"path": ?"{path}"\}}\n\n\[line \d+\] \w+, result of read_file:\n', asked[0]
        )
    assert asked[0].count(LONG) == 2


@each_shape
def test_an_image_of_the_first_request_stays(shape: str) -> None:
    """maki PR 641: pictures that the user pasted have to stay; deepagents#2873: they went in silence."""
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    image = (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": pixel}}
        if shape == ANTHROPIC
        else {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{pixel}"}}
    )
    first = {"raw": {"role": "user", "content": [image, {"type": "text", "text": "Make it look like this."}]}}
    one = shortened(shape, first, *session(user("Thanks."))[1:], target=0.2)
    assert one.rows[0] == first["raw"]
    assert PartKind.MEDIA in {part.kind for part in one.after.messages[0].parts}
