"""`ctx probe`: a scripted model that reads what it is shown, and the one fact that a compaction changed."""

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from ctxcli.ask import Estimate, Reply, Request, Spent
from ctxcli.contract import problems
from ctxcli.errors import LimitReached, SettingError
from ctxcli.files.text import text_as_transcript
from ctxcli.probe.conclude import report_of, score_of
from ctxcli.probe.questions import Question, given, made_of
from ctxcli.probe.run import How, Probe
from ctxcli.probe.sides import Pair, pair_of, recorded_pairs
from ctxcli.reports.probe import ProbeReport
from ctxcli.sweep.grading import normal, stands
from ctxcli.tokens import counter
from provider_support import Asked, Fault, provider
from support import FIXTURES, SHARED, chat, ctx, formats_of, needs_shared, read, tool_call, tool_result

REFUNDS, KEPT = FIXTURES / "guard" / "refunds.json", FIXTURES / "guard" / "refunds-kept.md"
QUESTIONS = FIXTURES / "probe" / "questions.jsonl"
WEIGH = counter("o200k_base")


def pair(after: str = KEPT.read_text("utf-8")) -> Pair:
    return pair_of(read(REFUNDS)[0], text_as_transcript(after))


@dataclass
class Reader:
    """A model that knows the questions and gives the answer where it stands in what it is shown, else says unknown."""

    questions: list[Question]
    most: int = 10_000
    knows: tuple[str, ...] = ()
    """Questions that it answers whatever it is shown."""
    wavers: tuple[str, ...] = ()
    """Questions that it gets wrong at every second repeat."""
    asked: list[Request] = field(default_factory=list)
    name: str = "test:reader"

    @property
    def spent(self) -> Spent:
        return Spent(calls=len(self.asked))

    def body(self, request: Request) -> dict[str, Any]:
        return {"text": request.text}

    def estimate(self, _: Request) -> Estimate:
        return Estimate(1, 1, None)

    def ask(self, request: Request) -> Reply:
        if len(self.asked) >= self.most:
            raise LimitReached("no more")
        self.asked.append(request)
        if "You check answers" in request.text:
            return Reply(
                "yes" if request.text.split("- ")[1].split("\n")[0] in request.text.split("GIVEN")[1] else "no"
            )
        one = next(one for one in self.questions if request.text.endswith(f"Question: {one.question}"))
        if one.id in self.wavers and request.repeat % 2:
            return Reply("unknown")
        shown = normal(request.prefix.replace("\\n", "\n").replace('\\"', '"'))
        held = one.id in self.knows or (request.prefix and any(stands(shown, answer) for answer in one.answers))
        return Reply(f"It is `{one.answers[0]}`." if held else "Unknown.")


def probed(
    after: str, questions: list[Question] | None = None, *, repeats: int = 3, **how: Any
) -> tuple[ProbeReport, Reader]:
    both = pair(after)
    asked = questions or [one for one in made_of(both, WEIGH, 40) if one.grading == "exact"]
    reader, probe = Reader(asked, **how), Probe(both, asked, How(repeats, concurrency=2))
    probe.run(reader, reader, lambda: None)
    report = report_of(probe, reader, reader, WEIGH, None)
    assert problems("probe", json.loads(json.dumps(report, default=vars_of))) == []
    return report, reader


def vars_of(value: Any) -> Any:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def verdicts(report: ProbeReport) -> dict[str, str]:
    return {row.id: row.verdict for row in report.questions}


def test_exactly_the_fact_that_the_compaction_changed_is_found() -> None:
    """A hand-over that quotes the whole conversation changes nothing; with one value changed, only that one."""
    whole = pair().before.text
    report, _ = probed(f"A summary.\n{whole}")
    assert report.ok
    assert set(verdicts(report).values()) == {"kept"}
    assert len(report.questions) > 8
    for row in report.questions:
        after = re.sub(rf"(?<![\w/.]){re.escape(row.answers[0])}", "something-else", f"A summary.\n{whole}")
        changed, _ = probed(after, [*asked_of(report)])
        found = {id_ for id_, verdict in verdicts(changed).items() if verdict == "changed"}
        assert row.id in found
        assert all(
            row.answers[0] in other.answers[0] or row.answers[0] in other.question
            for other in changed.questions
            if other.id in found
        )
        assert not changed.ok
        assert next(other for other in changed.questions if other.id == row.id).certain


def asked_of(report: ProbeReport) -> list[Question]:
    return [
        Question(row.id, row.slot, row.question, row.answers, grading=row.grading, line=row.line)
        for row in report.questions
    ]


def test_questions_stand_in_the_context_before_and_do_not_give_themselves_away() -> None:
    both = pair("Nothing of note.")
    before = normal(both.before.text)
    made = made_of(both, WEIGH, 40)
    assert made == made_of(both, WEIGH, 40)
    assert {one.slot for one in made} >= {"path", "fact", "decision", "constraint", "open"}
    assert {"$500", "200 ms", "PAY-1432"} <= {answer for one in made for answer in one.answers}
    for one in made:
        assert one.line in both.leaving
        if one.grading == "exact":
            assert any(stands(before, answer) for answer in one.answers)
            assert not any(stands(normal(one.question), answer) for answer in one.answers)
    few = made_of(both, WEIGH, 5)
    assert len(few) == 5
    assert {one.id for one in few} <= {one.id for one in made}
    assert len({one.slot for one in few}) == 5


def written(*calls: tuple[str, str]) -> dict[str, tuple[str, ...]]:
    """The questions about files of a session that was taken out whole; calls are (tool, address)."""
    turns = [
        turn
        for number, (name, address) in enumerate(calls)
        for turn in (
            tool_call(
                name, json.dumps({"command" if name == "Bash" else "path": address}), ref=f"t{number}", address=address
            ),
            tool_result("done", ref=f"t{number}"),
        )
    ]
    before = replace(chat(("user", "Go on."), *turns), folders=("/home/mira/shop",))
    both = pair_of(before, text_as_transcript("Nothing."))
    return {one.id: one.answers for one in made_of(both, WEIGH, 40) if one.slot == "file"}


def test_what_became_of_files() -> None:
    edits = (("Edit", "src/shop/a.py"), ("Write", "src/api/a.py"), ("Bash", "ls"))
    assert written(*edits) == {"file-written": ("src/api/a.py", "/home/mira/shop/src/api/a.py", "api/a.py")}
    formatted = ("Bash", "ruff format .")
    assert written(*edits, formatted) == {}, "nobody knows what that wrote"
    removed = ("Bash", "rm src/old.py")
    assert written(*edits[:1], removed) == {
        "file-written": ("src/shop/a.py", "/home/mira/shop/src/shop/a.py", "shop/a.py", "a.py"),
        "file-deleted": ("src/old.py", "/home/mira/shop/src/old.py", "old.py"),
    }  # fmt: skip
    several = ("Bash", "rm src/old.py src/new.py")
    assert "file-deleted" not in written(*edits[:1], several)
    assert "file-deleted" not in written(removed, ("Write", "src/old.py"))
    assert "file-deleted" not in written(removed, ("Write", "/home/mira/shop/src/old.py"))
    assert written(("Edit", "/home/mira/shop/a.py"))["file-written"][:2] == ("/home/mira/shop/a.py", "a.py")


def test_what_stayed_word_for_word_is_not_asked() -> None:
    both = pair_of(read(REFUNDS)[0], read(REFUNDS)[0])
    assert both.leaving == frozenset()
    assert made_of(both, WEIGH, 40) == []


def test_secrets_are_shown_to_nobody() -> None:
    raw = json.loads(REFUNDS.read_text("utf-8"))
    both = pair()
    assert both.before.secrets
    assert not any(secret in both.before.text for secret in both.before.secrets)
    assert any(secret in json.dumps(raw) for secret in both.before.secrets)


def test_what_is_guessed_or_not_answered_before_is_set_aside_and_asked_no_further() -> None:
    asked = [
        Question("known", "own", "What is two and two?", ("$500",)),
        Question("absent", "own", "Who is she?", ("Mira Holm",)),
        Question("limit", "own", "Above which amount?", ("$500",)),
    ]
    report, reader = probed("$5000", asked, knows=("known",))
    assert verdicts(report) == {"known": "guessable", "absent": "unanswerable", "limit": "changed"}
    assert (report.totals.before.right, report.totals.after.right, report.totals.kept_share) == (3, 0, 0.0)
    times = {one.id: sum(one.question in request.text for request in reader.asked) for one in asked}
    assert times == {"known": 3, "absent": 6, "limit": 9}
    assert [request.prefix for request in reader.asked if "two and two" in request.text] == [""] * 3


def test_the_majority_decides_and_the_interval_says_how_sure_that_is() -> None:
    asked = [Question("limit", "own", "Above which amount?", ("$500",))]
    once, _ = probed("nothing", asked, repeats=1)
    assert (once.questions[0].verdict, once.questions[0].certain) == ("changed", False)
    assert any("cannot be told" in note for note in once.notes)
    wavering, _ = probed("It was $500.", asked, wavers=("limit",))
    assert wavering.questions[0].verdict == "kept"
    assert (wavering.questions[0].after.right, wavering.questions[0].after.asked) == (2, 3)
    even, _ = probed("It was $500.", asked, repeats=2, wavers=("limit",))
    assert even.questions[0].verdict == "unanswerable"
    assert not even.ok
    assert score_of([True, True, None]).asked == 2


def test_a_limit_leaves_what_is_missing_open() -> None:
    report, reader = probed("nothing", most=12)
    assert len(reader.asked) == 12
    assert report.totals.unasked == report.totals.questions
    assert not report.ok


def test_a_judge_is_asked_only_where_an_answer_says_something() -> None:
    asked = [
        Question("why", "decision", "Why a guard?", ("the trigger cannot see the customer's tier",), grading="judged")
    ]
    report, reader = probed("It cannot see that.", asked)
    judged = [request for request in reader.asked if "You check answers" in request.text]
    assert verdicts(report) == {"why": "changed"}
    assert len(judged) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"question": "Who?"}, "answer"),
        ({"answer": "x"}, "question"),
        ({"question": "Is it x or y?", "answer": "x"}, "holds its own answer"),
        ({"question": "Who?", "answer": "x", "regex": "x"}, "regex"),
        ({"question": "Who?", "regex": "("}, "regex"),
        ({"question": "Who?", "answer": "x", "grading": "vague"}, "vague"),
        ({"question": "Who?", "answer": "x", "colour": "red"}, "colour"),
        ({"question": "Who?", "answer": 3}, "answer"),
    ],
    ids=str,
)
def test_a_question_at_fault_is_named_with_its_line(line: dict[str, object], said: str) -> None:
    with pytest.raises(SettingError, match=r"q\.jsonl: line 7: .*") as raised:
        given([(3, {"question": "Where?", "answer": "here"}), (7, line)], "q.jsonl")
    assert said in str(raised.value)


# -- as a user runs it


def reads(asked: Asked) -> str:
    """A model that reads: by a pattern for each question, in the context that it is shown."""
    turns = asked.body["messages"]
    context = turns[0]["content"] if len(turns) > 1 else ""
    shown = context if isinstance(context, str) else context[0]["text"]
    patterns = {
        "Above which amount": r"above (\$\d+)",
        "Below how many": r"below (\d+ ms)",
        "Which ticket": r"(PAY-\d+)",
    }
    if "capital" in asked.text:
        return "Paris"
    pattern = next((pattern for start, pattern in patterns.items() if start in asked.text), "")
    found = re.search(pattern, shown) if pattern else None
    return found[1] if found else "unknown"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_the_one_changed_fact_is_detected(kind: str, tmp_path: Path) -> None:
    after = tmp_path / "after.md"
    after.write_text(KEPT.read_text("utf-8").replace("$500", "$5000"), "utf-8")
    with provider(reads, kind) as server:
        done = ctx("probe", REFUNDS, after, "--questions", QUESTIONS, "--json", *server.flags, **server.env)
        same = ctx("probe", REFUNDS, KEPT, "--questions", QUESTIONS, "--json", *server.flags, **server.env)
        lenient = ctx(
            "probe", REFUNDS, after, "--questions", QUESTIONS, "--min-score", "60%", *server.flags, **server.env
        )
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert problems("probe", report) == []
    rows = {row["id"]: row for row in report["questions"]}
    assert {id_: row["verdict"] for id_, row in rows.items()} == {
        "limit": "changed", "latency": "kept", "ticket": "kept", "capital": "guessable", "weather": "unanswerable",
    }  # fmt: skip
    assert (rows["limit"]["said_before"], rows["limit"]["said_after"]) == ("$500", "$5000")
    assert rows["limit"]["certain"] is True
    assert report["totals"]["kept_share"] == pytest.approx(2 / 3)
    assert same.returncode == 0
    assert lenient.returncode == 0


def test_every_format_and_the_exit_code() -> None:
    with provider(["unknown"]) as server:
        for format_ in formats_of("probe"):
            done = ctx(
                "probe", REFUNDS, KEPT, "--questions", QUESTIONS, "--format", format_, *server.flags, **server.env
            )
            assert done.returncode == 3
            assert done.stdout


def test_a_run_that_was_stopped_goes_on_without_asking_twice(tmp_path: Path) -> None:
    with provider(reads) as server:
        flags = [flag for flag in server.flags if flag != "--no-reply-cache"]
        env = {**server.env, "CTX_CACHE_DIR": str(tmp_path)}
        first = ctx("probe", REFUNDS, KEPT, "--questions", QUESTIONS, "--max-calls", "10", *flags, **env)
        assert first.returncode == 2
        assert len(server.requests) == 10
        second = ctx("probe", REFUNDS, KEPT, "--questions", QUESTIONS, "--json", *flags, **env)
        asked = [json.dumps(one.body, sort_keys=True) for one in server.requests]
        third = ctx("probe", REFUNDS, KEPT, "--questions", QUESTIONS, "--json", *flags, **env)
        assert len(server.requests) == len(asked)
    assert second.returncode == third.returncode == 0
    report = json.loads(third.stdout)
    assert report["spent"]["calls"] == 0
    assert report["questions"] == json.loads(second.stdout)["questions"]
    assert max(map(asked.count, asked)) == 3, "each prompt once a repeat"
    assert len(asked) == report["spent"]["stored"]


def test_the_judge_and_the_model_share_one_limit(tmp_path: Path) -> None:
    asked = tmp_path / "q.jsonl"
    asked.write_text('{"question": "Why a guard?", "answer": "it is slow", "grading": "judged"}\n', "utf-8")
    with provider(lambda one: "no" if "You check answers" in one.text else f"It is slow, {one.text[-9:]}.") as server:
        done = ctx(
            "probe", REFUNDS, KEPT, "--questions", asked, "--judge", "openai:other", "--max-calls", "4", *server.flags,
            **server.env,
        )  # fmt: skip
    assert done.returncode == 2
    assert len(server.requests) == 4
    assert b"together" in done.stderr
    assert b"goes on from here" not in done.stderr


def test_a_model_that_is_out_of_reach_is_exit_2_and_a_dry_run_asks_nothing(tmp_path: Path) -> None:
    with provider([Fault(400)]) as server:
        done = ctx("probe", REFUNDS, KEPT, *server.flags, **server.env)
        assert done.returncode == 2
        assert b"Traceback" not in done.stderr
        asked = len(server.requests)
        plan = ctx("probe", REFUNDS, KEPT, "--dry-run", *server.flags, **server.env)
        full = ctx("probe", REFUNDS, KEPT, "--dry-run", "--json", "--repeats", "2", *server.flags, **server.env)
        written = ctx("probe", REFUNDS, KEPT, "--emit-questions", tmp_path / "q.jsonl")
        assert len(server.requests) == asked
    assert plan.returncode == full.returncode == written.returncode == 0
    assert b"nothing was sent" in plan.stdout
    made = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text("utf-8").splitlines()]
    assert all(problems("probe-question", one) == [] for one in made)
    assert json.loads(full.stdout)["total"]["requests"] == len(made) * 2 * 3
    with provider(["unknown"]) as server:
        again = ctx(
            "probe", REFUNDS, KEPT, "--questions", tmp_path / "q.jsonl", "--json", "--repeats", "1", *server.flags,
            **server.env,
        )  # fmt: skip
    rows = json.loads(again.stdout)["questions"]
    assert [(row["id"], row["line"]) for row in rows] == [(one["id"], one["line"]) for one in made]


@pytest.mark.parametrize(
    "arguments",
    [
        [REFUNDS],
        [REFUNDS, KEPT, "--recorded"],
        [REFUNDS, "--recorded", "--strategy", "contract"],
        [REFUNDS, "--strategy", "wishful"],
        [REFUNDS, "--strategy", "contract", "--target", "100%"],
        [REFUNDS, "--recorded"],
        ["-", "-"],
        [REFUNDS, "nowhere.md"],
    ],
    ids=str,
)
def test_what_cannot_be_done_is_exit_2_in_a_sentence(arguments: list[object]) -> None:
    done = ctx("probe", *arguments, "--model", "openai:none", "--base-url", "http://127.0.0.1:9/v1", OPENAI_API_KEY="x")
    assert done.returncode == 2
    assert done.stderr
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr


def test_no_model_is_a_fault_of_usage() -> None:
    done = ctx("probe", REFUNDS, KEPT)
    assert done.returncode == 2
    assert b"--model" in done.stderr


def test_recorded_compactions_and_strategies_are_probed() -> None:
    session = FIXTURES / "claude-code" / "session.jsonl"
    both = list(recorded_pairs(read(session)[0]))
    assert [one.compaction.line for one in both if one.compaction] == [37, 44]
    made = ctx("probe", session, "--recorded", "--compaction", "2", "--emit-questions", "-")
    assert made.returncode == 0, made.stderr
    assert made.stdout
    cleared = ctx("probe", session, "--recorded", "--compaction", "1", "--emit-questions", "-")
    assert cleared.returncode == 3
    assert b"line 37" in cleared.stderr
    assert ctx("probe", session, "--recorded", "--emit-questions", "-").stdout == made.stdout.replace(
        b'"id":"', b'"id":"2-'
    )
    index = FIXTURES / "compaction" / "search-index.json"
    made = ctx("probe", index, "--strategy", "drop-oldest", "--target", "15%", "--emit-questions", "-")
    slots = {json.loads(line)["slot"] for line in made.stdout.splitlines()}
    assert {"path", "decision", "fact"} <= slots


def test_a_report_that_may_not_be_written_costs_nothing() -> None:
    with provider(reads) as server:
        done = ctx("probe", REFUNDS, KEPT, "-o", KEPT, *server.flags, **server.env)
        assert not server.requests
    assert done.returncode == 2
    assert b"is an input" in done.stderr


def test_nothing_taken_out_is_nothing_told() -> None:
    with provider(reads) as server:
        done = ctx("probe", REFUNDS, REFUNDS, *server.flags, **server.env)
        assert not server.requests
    assert done.returncode == 3
    assert b"--questions" in done.stderr


@needs_shared
def test_questions_of_a_real_compaction_are_answered_by_its_context() -> None:
    transcript = read(SHARED / "claude-code" / "three-compactions.jsonl")[0]
    for both in recorded_pairs(transcript):
        made = made_of(both, WEIGH, 20)
        before = normal(both.before.text)
        assert len(made) >= 8
        exact = [one for one in made if one.grading == "exact"]
        assert all(any(stands(before, answer) for answer in one.answers) for one in exact)


def test_no_answer_is_a_secret() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    chat = [
        {"role": "user", "content": f"The deploy token is {token}. The staging host is db-7.shop.example today."},
        {"role": "assistant", "content": "Noted."},
    ]
    before = tmp_transcript(chat)
    made = made_of(pair_of(before, text_as_transcript("Nothing.")), WEIGH, 40)
    assert any("db-7.shop.example" in one.answers for one in made)
    assert not any(token in json.dumps(one.row()) for one in made)
    assert not any("token" in one.question.lower() for one in made if one.slot != "open")


def tmp_transcript(chat: list[dict[str, str]]) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.json"
        path.write_text(json.dumps(chat), "utf-8")
        return read(path)[0]
