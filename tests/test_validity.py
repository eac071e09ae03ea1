"""What providers accept: laws over profiles, the smallest input that breaks each rule, and a near miss of each."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.change import applied
from ctxcli.compact.context import start_of
from ctxcli.model import MAIN, EventKind, Message, Part, PartKind, Role, Transcript
from ctxcli.replay import replay
from ctxcli.rules import VALIDITY
from ctxcli.slots import SYNTHETIC
from ctxcli.validity import PROFILES, check, profile_of
from support import ABSENT, chat, fixture_files, name_of, needs_shared, read, shared_files, tool_call, tool_result

ALL = tuple(PROFILES)
STRICT = tuple(name for name in PROFILES if name != "lenient")
SUMMARY = Message(Role.USER, (Part(PartKind.SUMMARY, "Done so far: nothing."),), harness=True)
ASK, SAY = ("user", "do it"), ("assistant", "done")


def broken(profile: str, *said: tuple[str, str] | Message, before: tuple[Message, ...] | None = None) -> list[str]:
    return [one.rule for one in check(chat(*said).messages, profile, before=before)]


def parts(role: Role, *each: Part) -> Message:
    return Message(role, each)


def call(ref: str, arguments: str = "{}", name: str = "read") -> Part:
    return Part(PartKind.TOOL_CALL, arguments, name=name, ref=ref)


def result(ref: str, said: str = "ok") -> Part:
    return Part(PartKind.TOOL_RESULT, said, ref=ref)


def text(said: str) -> Part:
    return Part(PartKind.TEXT, said)


def thought(said: str, *, signed: bool = True) -> Part:
    return Part(PartKind.THINKING, said, signed=signed)


def told(one: Message) -> Message:
    """Under the user's name, by the client."""
    return replace(one, harness=True)


A, RESULT_A = tool_call("read", "{}", "A"), tool_result("ok", "A")
B, RESULT_B = tool_call("read", "{}", "B"), tool_result("ok", "B")
BOTH = parts(Role.ASSISTANT, call("A"), call("B"))
REMINDER = told(parts(Role.USER, text("the clock struck")))

EXPECTED = {
    "anthropic/request.json": ["CTX202"],
    "claude-code/compaction.jsonl": ["CTX217"],
    "claude-code/torn.jsonl": ["CTX213"],
    "openai-chat/array.json": ["CTX202", "CTX201"],
    "openai-chat/conversations.jsonl": ["CTX201"],
}
"""Fixtures that were written to be faulty: an unanswered call, an empty summary, half an emoji, results under a name
or under nothing instead of an id."""


# -- laws


@pytest.mark.parametrize("file", fixture_files(), ids=name_of)
def test_a_context_that_nothing_was_done_to_is_valid(file: object) -> None:
    found = []
    for transcript in read(str(file)):
        messages = applied(transcript, start_of(transcript))
        found += [one.rule for one in check(messages, profile_of(transcript), before=messages)]
    assert found == EXPECTED.get(name_of(file), [])  # type: ignore[arg-type]


@needs_shared
@pytest.mark.parametrize("file", shared_files("claude-code", "codex") or [ABSENT], ids=name_of)
def test_real_sessions_are_valid(file: object) -> None:
    for transcript in read(str(file)):
        messages = applied(transcript, start_of(transcript))
        assert not check(messages, profile_of(transcript), before=messages)


@needs_shared
@pytest.mark.parametrize("file", shared_files("claude-code", "codex") or [ABSENT], ids=name_of)
def test_what_a_provider_answered_is_valid(file: object) -> None:
    """The context at every seventh call: each was sent, and accepted."""
    for transcript in read(str(file)):
        found = {one.rule for sent in contexts(transcript) for one in check(sent, profile_of(transcript))}
        assert not found


def contexts(transcript: Transcript) -> Iterator[list[Message]]:
    """What was sent with every seventh call of the main lane."""
    inside: dict[int, None] = {}
    stripped: set[tuple[int, int]] = set()
    for number, frame in enumerate(one for one in replay(transcript) if one.call.lane == MAIN):
        for index in frame.left:
            inside.pop(index, None)
        inside |= dict.fromkeys(frame.entered)
        stripped |= {at for event in frame.events if event.kind is EventKind.STRIP for at in event.clears}
        if number % 7 == 0:
            yield [message for index in inside if (message := without(transcript, index, stripped)).parts]


def without(transcript: Transcript, index: int, stripped: set[tuple[int, int]]) -> Message:
    message = transcript.messages[index]
    return replace(message, parts=tuple(part for at, part in enumerate(message.parts) if (index, at) not in stripped))


def test_each_card_of_a_rule_names_the_profiles_that_apply_it() -> None:
    for card in VALIDITY.values():
        named = card.why.rpartition("Applies to: ")[2].rstrip(".").split(", ")
        assert named == [name for name, one in PROFILES.items() if card.name in one.rules], card.name


def test_the_profiles_have_the_names_that_are_promised() -> None:
    assert ALL == ("anthropic", "openai-chat", "openai-responses", "gemini", "lenient")
    with pytest.raises(KeyError):
        check((), "none")


@pytest.mark.parametrize("profile", ALL)
def test_an_ordinary_conversation_breaks_nothing(profile: str) -> None:
    pair = parts(Role.ASSISTANT, call("C"), call("D"))
    ordinary = (("system", "be kind"), ASK, A, RESULT_A, pair, tool_result("ok", "C"), tool_result("ok", "D"))
    assert not broken(profile, *ordinary, SAY, ASK)
    assert not broken(profile, *ordinary[:-2])


MESSAGES = st.lists(
    st.builds(
        lambda role, own: Message(role, tuple(own)),
        st.sampled_from(Role),
        st.lists(
            st.builds(
                lambda kind, said, ref: Part(kind, said, name="t", ref=ref),
                st.sampled_from(PartKind), st.sampled_from(["", " ", "{}", "x", "\ud83d"]), st.sampled_from(["", "A", "B"]),
            ),
            max_size=3,
        ),
    ),
    max_size=6,
)  # fmt: skip


@given(MESSAGES, st.sampled_from(ALL))
def test_any_list_of_messages_is_judged_the_same_twice_and_points_into_it(
    messages: list[Message], profile: str
) -> None:
    found = check(messages, profile)
    assert found == check(tuple(messages), profile)
    rules = PROFILES[profile].rules
    for one in found:
        assert one.rule in rules
        assert one.why
        assert 0 <= one.message < max(1, len(messages))
        assert one.part is None or 0 <= one.part < len(messages[one.message].parts)


@given(MESSAGES)
def test_what_is_lenient_is_refused_by_everybody(messages: list[Message]) -> None:
    for one in check(messages, "lenient"):
        if one.rule != "CTX208":
            assert all(any(found.message == one.message for found in check(messages, name)) for name in STRICT)


# -- each rule: what breaks it, and what nearly does


@pytest.mark.parametrize("profile", ALL)
@pytest.mark.parametrize(
    ("rule", "faulty", "sound"),
    [
        ("CTX201", (ASK, RESULT_A, ASK), (ASK, A, RESULT_A, ASK)),
        ("CTX202", (ASK, A, ASK), (ASK, A)),
        ("CTX202", (ASK, BOTH, RESULT_A, SAY), (ASK, BOTH, RESULT_A)),
        ("CTX203", (ASK, A, RESULT_A, RESULT_A), (ASK, A, RESULT_A)),
        ("CTX213", (("user", "\ud83d"), SAY), (("user", "\U0001f4e5"), SAY)),
        ("CTX213", (ASK, tool_call("read", "{}", "\udce5")), (ASK, A)),
        ("CTX208", (), (ASK,)),
    ],
    ids=str,
)
def test_what_nobody_accepts(profile: str, rule: str, faulty: tuple[Message, ...], sound: tuple[Message, ...]) -> None:
    assert rule in broken(profile, *faulty)
    assert rule not in broken(profile, *sound)


def only(*profiles: str) -> tuple[str, ...]:
    return profiles


SYSTEM_LATE = ("system", "now be brief")
CASES = [
    ("CTX204", only("anthropic", "openai-responses"), (ASK, A, RESULT_A, A, RESULT_A)),
    ("CTX204", only("anthropic", "openai-chat", "openai-responses"), (ASK, parts(Role.ASSISTANT, call("A"), call("A")), RESULT_A)),
    ("CTX204", (), (ASK, A, RESULT_A, B, RESULT_B)),
    ("CTX205", only("anthropic", "openai-chat", "gemini"), (ASK, A, ASK, RESULT_A)),
    ("CTX205", only("openai-chat"), (ASK, A, SAY, RESULT_A)),
    ("CTX205", only("anthropic", "openai-chat", "gemini"), (ASK, BOTH, RESULT_A, ASK, RESULT_B)),
    ("CTX205", only("anthropic", "gemini"), (ASK, A, parts(Role.USER, text("wait"), result("A")))),
    ("CTX205", (), (ASK, A, parts(Role.USER, result("A"), text("wait")))),
    ("CTX205", (), (ASK, A, REMINDER, RESULT_A)),
    ("CTX205", (), (ASK, BOTH, RESULT_A, REMINDER, RESULT_B)),
    ("CTX205", (), (ASK, BOTH, parts(Role.TOOL, result("A"), Part(PartKind.MEDIA, ref="A")), RESULT_B)),
    ("CTX206", STRICT, (ASK, A, SUMMARY, RESULT_A)),
    ("CTX206", (), (ASK, A, RESULT_A, SUMMARY)),
    ("CTX206", (), (SUMMARY, A, RESULT_A)),
    ("CTX207", only("anthropic", "gemini"), (("system", "be kind"), SAY, ASK)),
    ("CTX207", (), (("system", "be kind"), SUMMARY, SAY, ASK)),
    ("CTX207", (), (parts(Role.ASSISTANT, Part(PartKind.SUMMARY, "so far"), text("yes")), ASK)),
    ("CTX208", only("anthropic", "gemini"), (("system", "be kind"),)),
    ("CTX208", only("anthropic", "gemini"), (("system", "be kind"), parts(Role.ASSISTANT))),
    ("CTX209", only("gemini"), (ASK, SAY)),
    ("CTX209", only("anthropic", "gemini"), (ASK, ("assistant", "so: "))),
    ("CTX209", only("anthropic", "gemini"), (ASK, parts(Role.ASSISTANT, thought("hm")))),
    ("CTX209", (), (ASK, ("assistant", "so: "), ASK)),
    ("CTX209", (), (ASK, A)),
    ("CTX210", only("anthropic", "gemini"), (ASK, parts(Role.ASSISTANT, text(""), call("A")), RESULT_A)),
    ("CTX210", only("anthropic"), (("user", " \n"), SAY, ASK)),
    ("CTX210", (), (ASK, parts(Role.ASSISTANT, text("\n\n"), call("A")), RESULT_A)),
    ("CTX210", (), (ASK, A, tool_result("", "A"))),
    ("CTX211", only("anthropic", "gemini"), (ASK, SAY, parts(Role.USER), ASK)),
    ("CTX211", only("gemini"), (ASK, parts(Role.ASSISTANT), ASK)),
    ("CTX212", only("anthropic"), (ASK, parts(Role.ASSISTANT, thought("hm", signed=False), text("yes")), ASK)),
    ("CTX212", (), (ASK, parts(Role.ASSISTANT, text("well"), thought("hm"), text("yes")), ASK)),
    ("CTX214", only("anthropic", "gemini"), (ASK, tool_call("read", '{"path": "src', "A"), RESULT_A)),
    ("CTX214", only("anthropic", "gemini"), (ASK, tool_call("read", "[]", "A"), RESULT_A)),
    ("CTX214", (), (ASK, tool_call("read", ' {"path": "src"}', "A"), RESULT_A)),
    ("CTX215", only("gemini"), (ASK, ASK)),
    ("CTX215", only("gemini"), (ASK, SAY, SAY, ASK)),
    ("CTX215", (), (ASK, REMINDER, BOTH, RESULT_A, RESULT_B, SAY, ASK)),
    ("CTX216", only("anthropic", "gemini"), (ASK, SAY, SYSTEM_LATE, ASK)),
    ("CTX216", only("gemini"), (ASK, SYSTEM_LATE, SAY, ASK)),
    ("CTX216", only("anthropic", "gemini"), (ASK, A, SYSTEM_LATE, RESULT_A)),
    ("CTX216", (), (("system", "be kind"), ("system", "be brief"), ASK, SAY)),
    ("CTX217", STRICT, (parts(Role.USER, Part(PartKind.SUMMARY, " ")), ASK)),
    ("CTX217", STRICT, (told(parts(Role.USER, Part(PartKind.OPAQUE))), ASK)),
    ("CTX217", (), (told(parts(Role.USER, Part(PartKind.OPAQUE, name="compaction"))), ASK)),
    ("CTX218", STRICT, (("user", f"{SYNTHETIC} of 30 messages"), ASK)),
    ("CTX218", (), (told(parts(Role.USER, text(f"{SYNTHETIC} of 30 messages"))), ASK)),
    ("CTX219", only("anthropic"), (ASK, tool_call("read", "{}", "call:1"), tool_result("ok", "call:1"))),
    ("CTX219", STRICT, (ASK, tool_call("read file", "{}", "A"), RESULT_A)),
    ("CTX219", only("openai-chat"), (ASK, tool_call("r" * 65, "{}", "A"), RESULT_A)),
    ("CTX219", only("anthropic", "openai-chat", "openai-responses"), (ASK, tool_call("fs.read", "{}", "A"), RESULT_A)),
    ("CTX221", only("gemini"), (ASK, parts(Role.ASSISTANT, call(""), call("")), parts(Role.USER, result("")), SAY, ASK)),
    ("CTX221", (), (ASK, parts(Role.ASSISTANT, call(""), call("")), parts(Role.USER, result(""), result("")), SAY, ASK)),
    ("CTX221", only("gemini"), (parts(Role.USER, result("")), SAY, ASK)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "profiles", "said"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_each_rule_breaks_where_it_applies_and_nowhere_else(
    rule: str, profiles: tuple[str, ...], said: tuple[Message, ...]
) -> None:
    assert [name for name in PROFILES if rule in broken(name, *said)] == list(profiles)


def test_every_rule_has_an_input_that_breaks_it_and_one_that_nearly_does() -> None:
    elsewhere = {"CTX201", "CTX202", "CTX203", "CTX213", "CTX220"}
    assert {rule for rule, profiles, _ in CASES if profiles} | elsewhere == set(VALIDITY)
    assert all(
        any(rule == one and "lenient" not in profiles for one, profiles, _ in CASES)
        for rule in VALIDITY
        if rule not in elsewhere
    )


# -- a context before


def test_thinking_is_as_it_was_or_gone() -> None:
    answer = parts(Role.ASSISTANT, thought("first this, then that"), text("yes"))
    before = chat(ASK, answer, ASK).messages
    cut = parts(Role.ASSISTANT, thought("first this"), text("yes"))
    assert broken("anthropic", ASK, cut, ASK, before=before) == ["CTX212"]
    assert not broken("anthropic", ASK, answer, ASK, before=before)
    assert not broken("anthropic", ASK, ("assistant", "yes"), ASK, before=before)
    assert not broken("openai-chat", ASK, cut, ASK, before=before)


def test_the_last_answer_keeps_its_thinking_while_its_results_go_back() -> None:
    answer = parts(Role.ASSISTANT, thought("I read it"), call("A"))
    before = chat(ASK, answer, RESULT_A).messages
    bare = replace(before[1], parts=(call("A"),))
    assert [one.rule for one in check((before[0], bare, before[2]), "anthropic", before=before)] == ["CTX212"]
    assert not check(before, "anthropic", before=before)
    older = (*before, *chat(SAY, ASK).messages)
    assert not check((older[0], bare, *older[2:]), "anthropic", before=older)


@pytest.mark.parametrize("profile", STRICT)
def test_the_system_prompt_is_the_one_before(profile: str) -> None:
    before = chat(("system", "never push"), ASK, SAY, ASK).messages
    assert broken(profile, ("system", "push"), ASK, before=before) == ["CTX220"]
    assert broken(profile, ASK, before=before) == ["CTX220"]
    assert broken(profile, ("system", "never push"), ("system", "more"), ASK, before=before) == ["CTX220"]
    assert not broken(profile, ("system", "never push"), ASK, before=before)
    assert not broken(profile, ("system", "push"), ASK)


def test_a_context_that_ended_on_an_answer_may_end_on_it_again() -> None:
    before = chat(ASK, SAY, ASK, SAY).messages
    assert not broken("gemini", ASK, SAY, before=before)
    assert broken("gemini", ASK, SAY, before=before[:3]) == ["CTX209"]


# -- what a violation points at


def test_a_violation_names_message_part_and_line() -> None:
    torn = parts(Role.USER, text("fine"), replace(text("\ud83d"), line=7))
    (one,) = check(chat(ASK, SAY, torn).messages, "anthropic")
    assert (one.rule, one.message, one.part, one.line) == ("CTX213", 2, 1, 7)
    (two,) = check(chat(ASK, SAY, parts(Role.USER), ASK).messages, "anthropic")
    assert (two.rule, two.message, two.part, two.line) == ("CTX211", 2, None, 3)


def test_calls_that_the_provider_runs_need_no_turn_of_their_own() -> None:
    search = parts(Role.ASSISTANT, call("srvtoolu_1"), result("srvtoolu_1"), text("found"))
    assert not broken("anthropic", ASK, search, ASK)
    assert not broken("anthropic", ASK, parts(Role.ASSISTANT, call("srvtoolu_1"), text("found")), ASK)
    assert not broken("openai-responses", ASK, parts(Role.ASSISTANT, call("ws_1"), call("")), SAY, ASK)


def test_time_is_linear_in_the_messages() -> None:
    many = [
        one
        for number in range(4_000)
        for one in (tool_call("read", "{}", f"c{number}"), tool_result("ok", f"c{number}"))
    ]
    assert not check(chat(ASK, *many, ASK).messages, "anthropic")


# -- the situations of bug reports, by the report


SITUATIONS = {
    "openclaw#8525: the cut behind the call leaves its result": ((RESULT_A, ASK, SAY, ASK), {"CTX201"}),
    "openclaw#4739: a synthetic result for a call that was pruned": ((ASK, SAY, tool_result("missing", "gone"), ASK), {"CTX201"}),
    "openclaw#15691: a sound pair and an orphan in one message": (
        (ASK, A, parts(Role.USER, result("A"), result("gone")), SAY, ASK), {"CTX201"}),
    "openclaw PR 29306: the result behind another turn of the user": ((ASK, A, ASK, RESULT_A, SAY, ASK), {"CTX205"}),
    "openclaw PR 51262: results of before the compaction flushed behind it": ((SUMMARY, ASK, RESULT_A, ASK), {"CTX201"}),
    "pi#8667: a summary inside the pair": ((ASK, A, SUMMARY, RESULT_A, ASK), {"CTX205", "CTX206"}),
    "Codewhale#6119: text and a result whose call is gone in one message": (
        (ASK, SAY, parts(Role.USER, text("and now"), result("gone")), SAY, ASK), {"CTX201"}),
    "learn-claude-code#500: the result of the compaction call itself": ((SUMMARY, tool_result("compacted", "compact_1"), ASK), {"CTX201"}),
    "maki PR 641: the call is gone, its output stays": ((ASK, RESULT_A, SAY, ASK), {"CTX201"}),
    "langchain#34282: keep six of ten parallel results": (
        (tool_result("5", "p5"), tool_result("6", "p6"), SAY, ASK), {"CTX201"}),
    "langchain#33245: it begins with a tool message": ((("system", "be kind"), RESULT_A, SAY, ASK), {"CTX201"}),
    "letta#2605: system, summary, tool": ((("system", "be kind"), SUMMARY, RESULT_A, ASK), {"CTX201"}),
    "semantic-kernel PR 13608: a tool message of text alone": ((ASK, A, parts(Role.TOOL, text("ok")), SAY, ASK), {"CTX202"}),
    "ag2#2793: the orphan stands in the middle": ((ASK, SAY, ASK, RESULT_A, SAY, ASK), {"CTX201"}),
    "Bamboo-agent#422: only the system prompt is left": ((("system", "be kind"),), {"CTX208"}),
    "zeroclaw PR 5257: it begins with the assistant": ((("system", "be kind"), SAY, ASK), {"CTX207"}),
    "forgecode PR 1196: reasoning of another model, without its signature": (
        (ASK, parts(Role.ASSISTANT, thought("hm", signed=False), text("yes")), ASK), {"CTX212"}),
    "claude-code#863: an empty text": ((ASK, parts(Role.ASSISTANT, text("")), ASK), {"CTX210"}),
    "claude-code#23440: nothing but whitespace": ((("user", "\n"), SAY, ASK), {"CTX210"}),
    "nao#950: the failed compaction stored as an empty summary": ((told(parts(Role.USER, Part(PartKind.SUMMARY, ""))), ASK), {"CTX217"}),
    "eve#3062: cut inside a surrogate pair": ((ASK, A, tool_result("x" * 1999 + "\ud83d", "A"), ASK), {"CTX213"}),
}  # fmt: skip


@pytest.mark.parametrize("name", SITUATIONS)
def test_situations_of_bug_reports(name: str) -> None:
    said, rules = SITUATIONS[name]
    assert set(broken("anthropic", *said)) == rules


def test_situations_of_gemini() -> None:
    """gemini-cli#4568 one response for two calls, #11814 begins with a call, #26956 a second response message."""
    assert set(broken("gemini", ASK, BOTH, RESULT_A, SAY, ASK)) == {"CTX202", "CTX221"}
    assert "CTX207" in broken("gemini", A, RESULT_A, SAY, ASK)
    assert "CTX201" in broken("gemini", ASK, A, RESULT_A, tool_result("ok", "B"), SAY, ASK)
    assert broken("gemini", ASK, SAY) == ["CTX209"]
    assert broken("gemini", ASK, ASK) == ["CTX215"]


@pytest.mark.parametrize("keep", range(1, 12))
def test_every_cut_into_ten_parallel_results_is_found(keep: int) -> None:
    """langchain#34282: keep the last so many of one answer and its ten results."""
    refs = [f"p{number}" for number in range(10)]
    whole = (parts(Role.ASSISTANT, *map(call, refs)), *(tool_result("ok", ref) for ref in refs))
    for profile in ALL:
        orphans = [rule for rule in broken(profile, SUMMARY, *whole[-keep:], SAY, ASK) if rule == "CTX201"]
        assert len(orphans) == (keep if keep <= 10 else 0)
