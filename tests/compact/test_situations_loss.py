"""Situations of bug reports in which something was gone, or was another thing, after a compaction."""

import re

import pytest

from ctxcli.errors import SummaryError
from ctxcli.model import Role
from ctxcli.strategies import STRATEGIES
from situation_support import ANTHROPIC, SHAPES, after_work, call, result, says, shortened, user, work

STRATEGY_NAMES = [name for name in STRATEGIES if name != "semantic"]
SUMMING = [name for name in STRATEGY_NAMES if STRATEGIES[name].summarises]
each_shape = pytest.mark.parametrize("shape", SHAPES)
each_strategy = pytest.mark.parametrize("strategy", STRATEGY_NAMES)
summing = pytest.mark.parametrize("strategy", SUMMING)


@each_shape
@each_strategy
def test_the_system_prompt_with_the_rules_of_the_project_is_what_it_was(shape: str, strategy: str) -> None:
    """claude-code#4017, #6354, #9796, #19471, #24572, #44166, opencode PR 16959: the project's rules were gone."""
    rules = "You code.\n# CLAUDE.md\nNever commit to main. Use tabs."
    one = after_work(shape, user("Start."), strategy=strategy, system=rules)
    assert one.after.messages[0].role is Role.SYSTEM
    assert one.after.messages[0].parts[0].text == rules


@each_shape
@summing
def test_rules_that_the_user_gave_on_the_way_stand_word_for_word(shape: str, strategy: str) -> None:
    """claude-code#4017 and its like, codex#2927, #5772: paraphrased, or gone."""
    rule = "Never push to origin/release without asking me first."
    one = after_work(shape, user("Start."), says("Yes?"), user(f"{rule} And be quick."), strategy=strategy)
    assert f"- {rule}" in one.summary
    assert one.guard.verdict == "pass"


@each_shape
@summing
def test_a_boundary_in_passing_stands_in_the_words_of_the_user(shape: str, strategy: str) -> None:
    """openai/codex#18720: "without changing the concept" was lost on a fix of 17 lines."""
    one = after_work(
        shape, user("Look."), says("Yes?"), user("Fix it without changing the concept."), strategy=strategy
    )
    assert "Fix it without changing the concept." in one.text


def test_a_boundary_that_is_gone_fails_the_guard_whatever_else_speaks_of_answers() -> None:
    """openai/codex#18720 once more: the guard has to see it where a strategy without a summary takes the turn out."""
    turns = (
        user("The search answers too slowly."),
        says("Yes?"),
        user("No, do not cache answers: stock levels change."),
    )
    one = after_work(ANTHROPIC, *turns, strategy="drop-oldest")
    assert "do not cache answers" not in one.text
    assert "No, do not cache answers: stock levels change." in {row.text for row in one.guard.constraints if row.fails}


@each_shape
@summing
def test_a_text_in_quotes_that_the_user_approved_is_the_same_text(shape: str, strategy: str) -> None:
    """agent-coordination#56: an approved headline gave way to one that sounded as good."""
    approved = "Refunds, but in minutes"
    one = after_work(shape, user("We need a headline."), says(f'How about "{approved}"?'), user(f'Approved: "{approved}".'), strategy=strategy)  # fmt: skip
    assert approved in one.text
    assert one.guard.verdict == "pass"


@each_shape
@each_strategy
def test_the_task_is_what_it_was(shape: str, strategy: str) -> None:
    """RA.Aid#80: `pop(0)` took the task; codex#31659: recent prompts took the place of the goal."""
    task = "Move the invoices from SOAP to REST, release by release."
    one = after_work(shape, user(task), says("Yes."), user("First fix the typo in README.md."), strategy=strategy)
    assert one.rows[0]["content"] == task


@each_shape
@each_strategy
def test_the_newest_request_is_the_last_word_and_an_older_one_does_not_follow_it(shape: str, strategy: str) -> None:
    """codex#25686 and #28874 (X was done, Y was asked for, X was done again), #11054, cline#5790."""
    one = after_work(shape, user("Rename Shop to Corner."), says("Renamed, 14 files."), strategy=strategy, last="Now write the changelog.")  # fmt: skip
    assert one.rows[-1]["content"] == "Now write the changelog."
    assert "latest request: Rename" not in one.text
    spoken = [message for message in one.after.messages if message.role is Role.USER and not message.harness]
    assert [message.parts[0].text for message in spoken] == ["Rename Shop to Corner.", "Now write the changelog."]


@each_shape
@summing
def test_files_that_were_edited_are_known_as_edited(shape: str, strategy: str) -> None:
    """codex#5957: it forgot that it had edited files, and denied it."""
    edits = (
        says("", call("e1", "edit_file", path="src/pay/refund.py", old="a", new="b")), result("e1", "ok"),
        says("", call("e2", "write_file", path="tests/test_refund.py", content="x")), result("e2", "ok"),
        says("", call("e3", path="src/pay/refund.py")), result("e3", "b"),
    )  # fmt: skip
    one = after_work(shape, user("Fix the bug."), *edits, strategy=strategy)
    assert "path, edited: src/pay/refund.py" in one.summary
    assert "path, created: tests/test_refund.py" in one.summary
    assert one.guard.verdict == "pass"


@each_shape
def test_a_file_that_is_gone_is_not_listed_as_one_to_read(shape: str) -> None:
    """pi discussion #5070: the lists kept files that had been deleted, and the agent read them."""
    gone = (
        says("", call("r1", path="src/old.py")), result("r1", "x"),
        says("", call("r2", "shell", command="git rm src/old.py")), result("r2", "rm 'src/old.py'"),
    )  # fmt: skip
    one = after_work(shape, user("Clean up."), *gone)
    assert "path, deleted: src/old.py" in one.summary
    assert not re.search(r"path, read:.*src/old\.py", one.summary)


@each_shape
def test_a_list_of_paths_does_not_outgrow_what_it_stands_for(shape: str) -> None:
    """pi#9945: of a summary of 528,000 characters 510,000 were paths."""
    listed = "\n".join(f"build/out/{number:04}/module_{number}.o" for number in range(800))
    turns = (user("Build it."), says("", call("b1", "shell", command="find build")), result("b1", listed))
    one = after_work(shape, *turns)
    assert one.tokens <= one.target
    assert one.summary.count("build/out/") < 200


@each_shape
@summing
def test_ids_that_calls_named_stand_character_for_character(shape: str, strategy: str) -> None:
    """openclaw#79588 (PR 25553, 19250): UUIDs, hashes and session keys drifted or were gone; phantom#152."""
    ids = ("550e8400-e29b-41d4-a716-446655440000", "9fceb02d0ae598e95dc970b74767f19372d61af8", "sess_9f8e7d6c5b")
    turn = says("", call("i1", "resume", run=ids[0], commit=ids[1], session=ids[2], ticket="PAY-4821"))
    one = after_work(shape, user("Resume the run."), turn, result("i1", "resumed"), strategy=strategy)
    assert all(value in one.text for value in (*ids, "PAY-4821"))
    assert one.guard.verdict == "pass"


@each_shape
@pytest.mark.parametrize("number", ["metric=0.123456789", "loss 1.234567e+12345678", "in 2026, 42 rows on 17 pages", "took 3.14159 s"])  # fmt: skip
def test_a_number_blocks_no_compaction(shape: str, number: str) -> None:
    """openclaw#126016 (PR 126178, 126858): digits of a decimal became an id that no summary could hold; PR 19291."""
    turns = (user("Train it."), says("", call("n1", "shell", command="make train")), result("n1", number))
    one = after_work(shape, *turns)
    assert one.outcome.steps
    assert one.guard.verdict == "pass"
    assert "123456789" not in {finding.value for finding in one.guard.findings}


@each_shape
def test_a_secret_in_a_call_is_not_asked_for_and_does_not_reach_the_model(shape: str) -> None:
    """openclaw PR 75336: a credential in the arguments of a call was forced back into the summary."""
    secret = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        files = ", ".join(f"src/w{at}.py" for at in range(5))
        return f"## CONSTRAINTS\n- none\n## DECISIONS\n- none\n## IDENTIFIERS\n- path: {files}\n## OPEN\n- none"

    turns = (user("Charge it."), says("", call("k1", "shell", command=f"curl -u {secret}: https://api.shop.example/v1/charges")), result("k1", "ok"))  # fmt: skip
    assert secret not in after_work(shape, *turns).text
    with pytest.raises(SummaryError) as refused:
        after_work(shape, *turns, ask=ask)
    assert secret not in "".join(asked) + str(refused.value)
    assert "https://api.shop.example/v1/charges" in str(refused.value)


@each_shape
@summing
def test_what_is_to_do_stands_as_it_was_written_and_what_is_done_does_not(shape: str, strategy: str) -> None:
    """maki#493, kimi-code PR 319, sudocode PR 676: the list was lost, or told in other words."""
    listed = [
        {"content": "Add the prefix index", "status": "completed"},
        {"content": "Warm the cache before the deploy, not after", "status": "in_progress"},
        {"content": "Tell Ops about port 8443", "status": "pending"},
    ]
    one = after_work(shape, user("Do it."), says("", call("t1", "TodoWrite", todos=listed)), result("t1", "ok"), strategy=strategy)  # fmt: skip
    assert "Warm the cache before the deploy, not after" in one.text
    assert "to do (pending): Tell Ops about port 8443" in one.text
    assert "to do (completed)" not in one.text


@each_shape
@each_strategy
def test_the_newest_turns_stay_word_for_word(shape: str, strategy: str) -> None:
    """claude-code#8296: the last half hour was lost."""
    newest = (user("The build is red: E0308 in src/lib.rs:42."), says("", call("n1", path="src/lib.rs")), result("n1", "let x: u8 = y;"))  # fmt: skip
    turns = (user("Start."), *work(5), says("All read."), *newest)
    one = shortened(shape, *turns, strategies=(strategy,), target=0.2, keep_last=3)
    assert one.rows[-3:] == one.before["messages"][-3:]


def test_a_failure_that_nothing_solved_is_not_told_as_done() -> None:
    """claude-code#11483: the work was said to be done."""
    failing = (says("", call("x1", "shell", command="pytest -q")), result("x1", "FAILED tests/test_a.py::test_b - KeyError: 'sku'", failed=True))  # fmt: skip
    one = after_work(ANTHROPIC, user("Make the tests pass."), *failing)
    assert "command, failed: pytest -q" in one.summary
    turns = (user("Make the tests pass."), says("Yes."), user("Go."), *work(4), *failing, says("Hm."))
    one = shortened(ANTHROPIC, *turns, target=0.2, keep_last=1)
    assert "FAILED tests/test_a.py::test_b" in one.text


@each_shape
def test_a_command_that_worked_is_known_with_its_folder(shape: str) -> None:
    """claude-code#10960 and #10232: after a compaction the exact command and folder were gone, the intent was kept."""
    command = "cd /srv/shop && PYTHONPATH=src python -m shop.rebuild --shard 7"
    turns = (user("Rebuild."), says("", call("m1", "shell", command=command)), result("m1", "ok"))
    one = after_work(shape, *turns, summary_tokens=500)
    assert f"command, passed: {command}" in one.summary
