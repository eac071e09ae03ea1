"""`ctx bench`: where it cuts, what a score says, what is planted, who wins, and which floors are reached."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.bench.case import Case, Means, Score
from ctxcli.bench.cells import RECORDED, Cell, cells_of
from ctxcli.bench.cuts import Cut, cuts_of, upto
from ctxcli.bench.fit import fitted
from ctxcli.bench.floors import Floor
from ctxcli.bench.lives import COPY, RAW, Life, lives_of
from ctxcli.bench.outside import Outside, OutsideError, run_outside
from ctxcli.bench.plan import Plan
from ctxcli.bench.plant import planted
from ctxcli.bench.report import report_of
from ctxcli.bench.results import Job, Piece, line_of, pieces_in
from ctxcli.compact.settings import Settings
from ctxcli.files.text import text_as_transcript
from ctxcli.guard.judging import Judge
from ctxcli.identifiers import Extractor
from ctxcli.model import MAIN, PartKind
from ctxcli.tokens import count_parts, counter
from support import ABSENT, FIXTURES, name_of, needs_shared, read, shared_files

SESSION = FIXTURES / "claude-code" / "session.jsonl"
SEARCH = FIXTURES / "compaction" / "search-index.json"
PLAN = Plan(("contract", "drop-oldest"), cuts=2, least=1_000, generations=3, cache=False)
MEANS = Means(counter("o200k_base"), Extractor((), remembers=1 << 16))


def case_of(path: Path = SEARCH, number: int = 0) -> Case:
    transcript = read(path)[0]
    cuts = cuts_of(transcript, count_parts(transcript, MEANS.weigh), 3, 500)
    return Case(transcript, cuts[number], MEANS)


@pytest.mark.parametrize("path", [SESSION, SEARCH], ids=name_of)
def test_a_cut_holds_what_was_there_and_nothing_later(path: Path) -> None:
    transcript = read(path)[0]
    weights = count_parts(transcript, MEANS.weigh)
    cuts = cuts_of(transcript, weights, 3, 500)
    assert [cut.at for cut in cuts] == sorted(cut.at for cut in cuts)
    assert len({(cut.at, cut.event) for cut in cuts}) == len(cuts)
    for cut in cuts:
        before = upto(transcript, cut)
        assert before.messages == transcript.messages[: cut.at]
        assert all(call.at < cut.at for call in before.calls)
        assert all(event.at <= cut.at for event in before.events)
        if cut.event is not None:
            assert transcript.events[cut.event] not in before.events


def test_recorded_compactions_are_cuts_of_their_own() -> None:
    transcript = read(SESSION)[0]
    cuts = cuts_of(transcript, count_parts(transcript, MEANS.weigh), 1, 10**9)
    assert [transcript.events[cut.event].kind.value for cut in cuts if cut.event is not None] == ["summary"]
    assert all(cut.event is not None for cut in cuts)  # no context is that large


def test_a_result_that_is_the_context_itself_holds_everything() -> None:
    case = case_of()
    after = replace(case.before, messages=case.session.messages, events=(), calls=())
    score = case.score(after)
    assert score.tokens == case.tokens
    assert (score.required, score.used) == (len(case.required), len(case.used))
    assert score.required_held == score.required > 0
    assert score.used_held == score.used > 0
    assert score.constraints_held == score.constraints > 0
    assert score.decisions_held == score.decisions > 0
    assert (score.mutated, score.invented, score.broken) == (0, 0, 0)
    assert sum(many for many, _ in score.kinds.values()) == score.required


def test_a_text_that_says_nothing_holds_nothing_and_one_that_says_it_all_holds_it() -> None:
    case = case_of()
    nothing = case.score(text_as_transcript("The work went on."))
    assert (nothing.required_held, nothing.used_held, nothing.constraints_held) == (0, 0, 0)
    words = "\n".join(case.session.before.known[key].value for key in sorted(case.required | case.used))
    everything = case.score(text_as_transcript(words))
    assert everything.required_held == everything.required
    assert everything.used_held == everything.used


def test_what_was_used_later_is_what_the_later_turns_say() -> None:
    case = case_of()
    later = "\n".join(
        part.text
        for message in case.transcript.messages[case.cut.at :]
        if message.lane == MAIN
        for part in message.parts
        if part.kind is not PartKind.TOOL_RESULT
    )
    assert case.used
    for key in case.used:
        assert any(spelling.rsplit("/", 1)[-1] in later for spelling in case.session.before.known[key].spellings)


@pytest.mark.parametrize("budget", [0.1, 0.3, 0.8])
@pytest.mark.parametrize("strategy", ["contract", "rolling", "summarise-middle", "drop-oldest"])
def test_a_strategy_stays_within_a_budget_that_has_room(strategy: str, budget: float) -> None:
    case = case_of(number=-1)
    target = case.target(budget)
    assert case.floor < target < case.tokens
    change = fitted(case.session, Settings((strategy,), target))
    assert case.session.weight(change) <= target


def test_a_budget_is_a_share_of_what_can_go() -> None:
    case = case_of(number=-1)
    assert case.target(0.0) == case.floor
    assert case.target(1.0) == case.tokens


def python(code: str) -> str:
    return f'"{sys.executable}" -c "{code}"'


def test_an_outside_compactor_reads_a_file_and_writes_one_or_prints() -> None:
    case = case_of()
    transcript, messages = case.session.transcript, case.session.messages
    keep = "import json,sys;d=json.load(open(sys.argv[1]));d['messages']=d['messages'][-3:];"
    wrote = Outside("w", python(keep + "json.dump(d,open(sys.argv[2],'w'))") + " {in} {out}")
    printed = Outside("p", python(keep + "print(json.dumps(d))") + " {in}")
    one, other = (run_outside(each, transcript, messages, 99) for each in (wrote, printed))
    assert [m.parts for m in one.messages] == [m.parts for m in other.messages]
    assert len(one.messages) == 3
    text = run_outside(
        Outside("t", python("import sys;print('left:', sys.argv[2])") + " {in} {budget}"), transcript, messages, 99
    )
    assert text.messages[0].parts[0].text.strip() == "left: 99"


@pytest.mark.parametrize(
    ("code", "why"),
    [("import sys;sys.exit('no such model')", "no such model"), ("pass", "wrote nothing"),
     ("import sys;sys.stdout.buffer.write(bytes([0,1]))", "its result: is")],
)  # fmt: skip
def test_what_an_outside_compactor_does_wrong_is_said_in_its_name(code: str, why: str) -> None:
    case = case_of()
    with pytest.raises(OutsideError, match=why) as caught:
        run_outside(Outside("mine", python(code) + " {in}"), case.session.transcript, case.session.messages, 99)
    assert str(caught.value).startswith("mine: ")
    assert "ctx-bench-" not in str(caught.value)


def test_planted_facts_stand_where_they_should_and_never_inside_a_pair() -> None:
    transcript = read(SEARCH)[0]
    end = len(transcript.messages)
    garden = planted(transcript, end, 2, "seed")
    assert garden == planted(transcript, end, 2, "seed") != planted(transcript, end, 2, "another")
    assert len(garden.facts) == 2 * 4 * 3
    assert len(garden.transcript.messages) == end + len(garden.facts)
    text = "\n".join(part.text for message in garden.transcript.messages for part in message.parts)
    judge, before = Judge(text), "\n".join(part.text for message in transcript.messages for part in message.parts)
    for fact in garden.facts:
        assert fact.stands_in(text, judge)
        assert not fact.stands_in(before, Judge(before))
    waiting: set[str] = set()
    for message in garden.transcript.messages:
        if message.parts and message.parts[0].text in {fact.text for fact in garden.facts}:
            assert not waiting
        for part in message.parts:
            waiting ^= {part.ref} if part.kind in (PartKind.TOOL_CALL, PartKind.TOOL_RESULT) and part.ref else set()


def test_a_boundary_whose_polarity_turned_is_not_held() -> None:
    fact = next(one for one in planted(read(SEARCH)[0], 20, 4, "s").facts if one.text.startswith("Never write"))
    turned = fact.text.replace("Never write", "Always write")
    assert fact.stands_in(fact.text, Judge(fact.text))
    assert not fact.stands_in(turned, Judge(turned))


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_what_is_planted_as_a_boundary_is_held_whatever_was_planted(seed: int) -> None:
    plan = Plan(("contract",), least=1_000, generations=2, plant=1, seed=seed)
    for life in lives_of(read(SEARCH)[0], MEANS, plan, ("a", None)):
        assert {name: found for name, found in life.facts.items() if name.startswith("constraints")} == {
            f"constraints, {place}": (1, 1) for place in ("head", "middle", "tail")
        }


def test_generations_from_raw_turns_hold_no_less_than_copies_of_copies() -> None:
    lives = list(lives_of(read(SEARCH)[0], MEANS, replace(PLAN, plant=1, generation_budget=0.4), ("s", None)))
    assert [one.generation for one in lives if (one.compactor, one.form) == ("contract", RAW)] == [1, 2, 3]
    last = {(one.compactor, one.form): one for one in lives if one.generation == 3}
    assert last["contract", RAW].held >= last["contract", COPY].held > last["drop-oldest", COPY].held
    boundaries = [pair for name, pair in last["contract", RAW].facts.items() if name.startswith("constraints")]
    assert boundaries
    assert all(held == many for many, held in boundaries)


# -- the report, of cells whose figures are known


def cell(compactor: str, file: int, held: int, *, tokens: int = 90, budget: float | None = 0.1) -> Cell:
    score = Score(tokens, 10, held, 10, held, 0, 0, 2, 1, 0, 0, 0, {"path": (10, held)})
    against = None if budget is not None else RECORDED
    return Cell(f"f{file % 5}", None, file, compactor, budget, against, 1_000, 100, score, 0.5)


def pieces(*cells: Cell) -> list[Piece]:
    return [Piece(Job("f", 1, Cut(number + 1, number)), (one,)) for number, one in enumerate(cells)]


def test_a_difference_inside_the_spread_is_no_win() -> None:
    apart = [cell(name, file, held) for file in range(20) for name, held in (("contract", 9), ("drop-oldest", 3))]
    near = [
        cell(name, file, held)
        for file in range(20)
        for name, held in (("contract", 6 + 3 * (file % 2)), ("drop-oldest", 8 - 2 * (file % 2)))
    ]
    clear = report_of(PLAN, pieces(*apart), (), with_cells=False)
    assert [(one.best, one.other, one.won, one.difference) for one in clear.comparisons] == [
        ("contract", "drop-oldest", True, 0.6)
    ]
    assert "ahead of drop-oldest by more than the spread" in clear.notes[0]
    level = report_of(PLAN, pieces(*near), (), with_cells=False)
    assert [one.won for one in level.comparisons] == [False]
    assert "not to be told apart from drop-oldest" in level.notes[0]


def test_figures_of_a_row_are_means_of_what_fits() -> None:
    report = report_of(
        PLAN, pieces(cell("contract", 0, 8), cell("contract", 1, 4), cell("contract", 2, 0, tokens=150)), (),
        with_cells=True,
    )  # fmt: skip
    (row,) = report.rows
    assert (row.results, row.fitting, row.failed) == (3, 2, 0)
    assert row.recall is not None
    assert row.recall.mean == pytest.approx(0.6)
    assert (row.left, row.tokens, row.constraints, row.decisions) == (0.09, 90, 0.5, None)
    assert (row.by_kind["path"].required, row.by_kind["path"].held) == (20, 12)
    assert [one.fits for one in report.cells] == [True, True, False]


def test_the_order_of_the_pieces_changes_nothing() -> None:
    found = pieces(*(cell(name, file, file % 9) for file in range(9) for name in ("contract", "drop-oldest")))
    assert report_of(PLAN, found, (), with_cells=True) == report_of(PLAN, found[::-1], (), with_cells=True)


def test_floors_hold_for_the_users_own_compactor_or_the_one_that_is_named() -> None:
    mine = Outside("mine", "{in}")
    plan = replace(PLAN, outside=(mine,))
    some = pieces(cell("mine", 0, 5), cell("contract", 0, 9))
    floors = (Floor("recall", 0.6), Floor("recall", 0.6, "contract"), Floor("invented", 0), Floor("required", 0.5))
    report = report_of(plan, some, floors, with_cells=False)
    assert [(one.compactor, one.measure, one.ok) for one in report.floors] == [
        ("mine", "recall", False), ("contract", "recall", True), ("mine", "invented", True), ("mine", "required", True),
    ]  # fmt: skip
    assert not report.ok
    failed = replace(cell("mine", 0, 5), score=None, error="mine: wrote nothing")
    report = report_of(plan, pieces(failed), (Floor("invented", 0),), with_cells=False)
    assert not report.ok
    assert "mine: wrote nothing" in report.notes


def test_the_cliff_is_the_first_generation_that_holds_less_than_half() -> None:
    def life(generation: int, held: int) -> Life:
        return Life("f", None, "contract", COPY, generation, 100, 10, 10, held)

    piece = Piece(Job("f", 1, None), lives=(life(1, 9), life(2, 5), life(3, 4)))
    (found,) = report_of(PLAN, [piece], (), with_cells=False).generations
    assert [row.held.mean for row in found.generations] == [0.9, 0.5, 0.4]
    assert found.cliff == 3


def test_pieces_are_read_again_as_they_were_written_and_torn_lines_are_passed_over() -> None:
    life = Life("f", "id", "contract", RAW, 1, 100, 10, 10, 9, {"open, head": (1, 1)})
    piece = Piece(
        Job("f", 1, Cut(1, 0)), (cell("contract", 0, 8), replace(cell("x", 1, 1), score=None, error="no")), (life,)
    )
    line = line_of("k", piece).encode()
    assert pieces_in([line, line[:-9], b"{}", b"\xff", b"[1]"], {"k": piece.job}) == {piece.job: piece}
    assert pieces_in([line], {"other": piece.job}) == {}


def test_a_context_too_small_or_without_a_later_use_gives_no_cells() -> None:
    case = case_of()
    assert list(cells_of(case, replace(PLAN, least=10**6), ("s", None))) == []


@needs_shared
@pytest.mark.parametrize("path", shared_files("pi") or [ABSENT], ids=name_of)
def test_contract_holds_more_of_what_a_real_session_used_later_than_turns_do(path: Path) -> None:
    transcript = read(path)[0]
    cut = cuts_of(transcript, count_parts(transcript, MEANS.weigh), 1, 16_000)[0]
    plan = replace(PLAN, budgets=(0.05,))
    scores = {one.compactor: one.score for one in cells_of(Case(transcript, cut, MEANS), plan, ("pi", None))}
    ours, turns = scores["contract"], scores["drop-oldest"]
    assert ours is not None
    assert turns is not None
    assert ours.required_held == ours.required
    assert ours.used_held / ours.used > 0.9 > turns.used_held / turns.used + 0.3
