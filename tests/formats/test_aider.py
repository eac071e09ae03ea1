"""aider's chat history: each pitfall of a log without ids, with the value that is right."""

import re
from pathlib import Path

import pytest

from ctxcli.formats.aider import FORMAT, usage_of
from ctxcli.model import EventKind, Record, Role, Transcript
from ctxcli.replay import live
from support import FIXTURES, ctx, read

HISTORY = FIXTURES / "aider" / "starts-within-a-session.md"


def of(tmp_path: Path, body: str) -> list[Transcript]:
    """A history; ␣␣ at the end of a line stands for the two blanks that aider writes there."""
    file = tmp_path / "history.md"
    file.write_text(body.replace("␣", " "), "utf-8")
    return read(file)


def said(transcript: Transcript) -> list[tuple[Role, str]]:
    return [(message.role, "".join(part.text for part in message.parts)) for message in transcript.messages]


HEAD = "# aider chat started at 2026-09-21 10:00:00\n\n> Aider v0.90.0␣␣\n> Model: gpt-5.2 with diff edit format␣␣\n\n"


@pytest.mark.parametrize(
    ("line", "prompt", "output", "read_", "write"),
    [
        ("> Tokens: 5,244 sent, 604 received. Cost: $0.02 request, $0.02 session.", 5244, 604, None, None),
        ("> Tokens: 12k sent, 1.2k received.", 12_000, 1_200, None, None),
        ("> Tokens: 1.5M sent, 3 received.", 1_500_000, 3, None, None),
        ("> Tokens: 12k sent, 4.5k cache write, 6k cache hit, 80 received.", 12_000, 80, 6_000, 4_500),
        ("> Tokens: 900 sent, 8k cache hit, 80 received.", 8_900, 80, 8_000, 0),
    ],
)
def test_figures_with_commas_and_suffixes(
    line: str, prompt: int, output: int, read_: int | None, write: int | None
) -> None:
    usage = usage_of(line)
    assert usage is not None
    assert (usage.prompt, usage.output, usage.cache_read, usage.cache_write) == (prompt, output, read_, write)
    if read_ is not None:
        assert usage.uncached is not None
        assert usage.uncached + read_ + (write or 0) == prompt


@pytest.mark.parametrize(
    "line", ["> Tokens: many sent, few received.", "> Tokens: , sent, . received", "Tokens: 5 sent, 3 received", ""]
)
def test_what_is_no_figure_is_no_usage(line: str) -> None:
    assert usage_of(line) is None


def test_all_that_was_reported_is_counted_once() -> None:
    lines = re.findall(r"> Tokens: .*", HISTORY.read_text("utf-8"))
    usages = [call.usage for transcript in read(HISTORY) for call in transcript.calls if call.usage]
    assert len(usages) == len(lines) == 5
    assert [usage.output for usage in usages] == [88, 17, 1050, 120, 30]


def test_a_file_that_starts_within_a_session_is_known_and_its_beginning_is_a_conversation_too() -> None:
    found = read(HISTORY)
    assert [transcript.id for transcript in found] == ["1", "2026-09-21 10:00:30"]
    assert said(found[0])[0] == (Role.ASSISTANT, "the shipping table.")


def test_sessions_in_which_nothing_was_said_are_no_conversations_and_their_lines_are_accounted_for() -> None:
    found = read(HISTORY)
    assert sum(transcript.records for transcript in found) == len(HISTORY.read_text("utf-8").splitlines())
    assert dict(found[1].bookkeeping)["heading"] == 3


def test_only_empty_sessions_are_no_transcript(tmp_path: Path) -> None:
    file = tmp_path / ".aider.chat.history.md"
    file.write_text(HEAD.replace("␣", " ") + "#### /exit  \n", "utf-8")
    run = ctx("audit", file)
    assert run.returncode != 0
    assert b"it holds no message" in run.stderr


def test_a_prompt_of_several_lines_is_one_message_and_two_prompts_are_two(tmp_path: Path) -> None:
    (found,) = of(tmp_path, HEAD + "#### one␣␣\n####␣␣\n#### two␣␣\n\n#### three␣␣\n\nYes.\n")
    assert said(found) == [(Role.USER, "one\n\ntwo"), (Role.USER, "three"), (Role.ASSISTANT, "Yes.")]


def test_headings_and_quotations_of_the_model_are_its_own_words(tmp_path: Path) -> None:
    body = "Look:\n\n#### A heading\n> a quotation\n> of two lines\n\n# aider is fine"
    (found,) = of(tmp_path, HEAD + f"#### hi␣␣\n\n{body}\n\n> Tokens: 10 sent, 5 received.␣␣\n")
    assert said(found) == [(Role.USER, "hi"), (Role.ASSISTANT, body)]


def test_without_the_blanks_at_the_ends_of_lines_the_marks_alone_decide(tmp_path: Path) -> None:
    (found,) = of(tmp_path, (HEAD + "#### hi\n\nHello.\n> Tokens: 10 sent, 5 received.\n").replace("␣", ""))
    assert said(found) == [(Role.USER, "hi"), (Role.ASSISTANT, "Hello.")]
    assert found.calls[0].usage is not None


def test_what_aider_prints_over_several_lines_is_not_said_by_the_model(tmp_path: Path) -> None:
    (found,) = of(
        tmp_path, HEAD + "> Here are summaries\nof some files.\n\nshop/cart.py:\n⋮...␣␣\n\n#### hi␣␣\n\nHello.\n"
    )
    assert said(found) == [(Role.USER, "hi"), (Role.ASSISTANT, "Hello.")]


def test_commands_are_not_sent_but_for_those_that_ask(tmp_path: Path) -> None:
    (found,) = of(tmp_path, HEAD + "#### /add a.py␣␣\n\n#### !ls␣␣\n\n#### /ask why?␣␣\n\nBecause.\n")
    assert said(found) == [(Role.USER, "why?"), (Role.ASSISTANT, "Because.")]
    assert dict(found.bookkeeping)["command"] == 2


def test_an_answer_of_nothing_but_edits_is_a_call_and_one_that_was_broken_off_has_no_figures() -> None:
    found = read(HISTORY)[1]
    assert [bool(found.messages[call.at].parts) for call in found.calls] == [True, False, True, True]
    assert [call.usage is None for call in found.calls] == [False, False, True, False]


def test_the_model_is_the_one_that_was_named_last() -> None:
    assert [call.model for call in read(HISTORY)[1].calls] == ["claude-sonnet-4-5"] * 3 + ["gpt-5.2"]


def test_a_clear_empties_the_context() -> None:
    found = read(HISTORY)[1]
    (reset,) = found.events
    assert reset.kind is EventKind.RESET
    assert [found.messages[index].parts[0].text for index in live(found)[0]] == [
        "Start with the tests.", "The first test is test_total.",
    ]  # fmt: skip


def test_what_aider_asks_on_its_own_is_not_the_users_word() -> None:
    harness = [message for message in read(HISTORY)[1].messages if message.harness]
    assert [message.parts[0].text.splitlines()[0] for message in harness] == ["# Fix any errors below, if possible."]


def test_the_reader_says_that_most_of_the_context_is_not_in_the_file() -> None:
    assert "the context is much larger than what the file shows" in read(HISTORY)[0].notes[0]


@pytest.mark.parametrize(
    "body",
    [
        "# Notes\n\n#### Decisions\n\n> quoted\n\nWe keep it.\n",
        "#### one line  \n> and one  \n",
        "Tokens: 5 sent, 3 received\n",
        "",
    ],
)
def test_other_markdown_is_not_claimed(body: str) -> None:
    assert not FORMAT.claims([Record(number, line) for number, line in enumerate(body.split("\n"), 1)])


def test_odd_values_among_the_lines_raise_nothing() -> None:
    values = [None, 7, [], {}, "#### hi  ", {"a": 1}, "Hello.", 3.5]
    records = [Record(number, value) for number, value in enumerate(values, 1)]
    assert not FORMAT.claims(records)
    (found,) = FORMAT.read(records)
    assert len(found.skips) == 6
    assert len(found.messages) == 2


def test_a_long_history_keeps_all_of_its_sessions(tmp_path: Path) -> None:
    file = tmp_path / "long.md"
    file.write_text(HISTORY.read_text("utf-8") * 50, "utf-8")
    assert len(read(file)) == 100
