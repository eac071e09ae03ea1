"""A model behind a server: its answers in neutral form, its faults, its limits, its cache, and the key nowhere."""

import json
import logging
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ctxcli.ask import Reply, Request, Stop
from ctxcli.errors import LimitReached, ModelError, SettingError
from ctxcli.prices import Prices, rates_of
from ctxcli.providers import Endpoint, Limits, Model, Replies, checked_url
from ctxcli.providers.dialect import Tries, hooks
from provider_support import KEY, SILENT, Answer, Asked, Fault, Provider, calls_a_tool, cut_off, provider, refused

KINDS = pytest.mark.parametrize("kind", ["openai", "anthropic"])
DEAR = Prices(rates_of({"test-model": {"input": 1_000, "output": 10_000}}, "prices.toml"), library=False)
"""A thousandth of a dollar for a token sent, a hundredth for one that comes back."""


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def model(server: Provider, *, key: str = KEY, timeout: float = 30.0, retries: int = 2, limits: Limits | None = None,
          prices: Prices | None = None, replies: Replies | None = None) -> Model:  # fmt: skip
    endpoint = Endpoint(server.kind, "test-model", server.url, key, "THE_KEY", timeout, retries)
    return Model(endpoint, limits=limits or Limits(), prices=prices or Prices(library=False), replies=replies)


@KINDS
def test_an_answer_in_neutral_form(kind: str) -> None:
    with provider([Answer("four", prompt=1_000, output=7, cache_read=600)], kind) as server:
        one = model(server)
        reply = one.ask(Request("2 + 2?", system="Count.", temperature=0.5, max_output=50))
    assert (reply.text, reply.stop, reply.model, reply.stored) == ("four", Stop.END, "test-model-1", False)
    assert (reply.prompt, reply.cache_read, reply.output, reply.cost) == (1_000, 600, 7, None)
    assert (one.name, one.spent.calls, one.spent.prompt, one.spent.output) == (f"{kind}:test-model", 1, 1_000, 7)
    (asked,) = server.requests
    assert asked.text == "2 + 2?"
    assert asked.body["temperature"] == 0.5
    assert asked.body["max_tokens"] == 50
    assert "tools" not in asked.body
    assert "Count." in json.dumps(asked.body.get("system", asked.body["messages"][0]))
    assert asked.body == one.body(Request("2 + 2?", system="Count.", temperature=0.5, max_output=50))


@KINDS
@pytest.mark.parametrize(
    ("answer", "stop", "text"),
    [
        (refused("no"), Stop.REFUSED, "no"),
        (calls_a_tool(), Stop.TOOLS, "Let me look."),
        (cut_off("half a"), Stop.LENGTH, "half a"),
        (Answer(""), Stop.END, ""),
        (Answer(None), Stop.END, ""),
    ],
)
def test_how_an_answer_ends(kind: str, answer: Answer, stop: Stop, text: str) -> None:
    with provider([answer], kind) as server:
        reply = model(server).ask(Request("?"))
    assert (reply.stop, reply.text) == (stop, text)


@KINDS
@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_fault_is_tried_again_as_often_as_said(kind: str, status: int) -> None:
    with provider([Fault(status), Fault(status), "well"], kind) as server:
        one = model(server, retries=2)
        assert one.ask(Request("?")).text == "well"
        assert (len(server.requests), one.spent.calls) == (3, 1)
    with provider([Fault(status)], kind) as server:
        with pytest.raises(ModelError, match=rf"answers {status} \(2 attempts\): it does not work"):
            model(server, retries=1).ask(Request("?"))
        assert len(server.requests) == 2


@KINDS
@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_cannot_get_better_is_asked_once(kind: str, status: int) -> None:
    with provider([Fault(status)], kind) as server:
        with pytest.raises(ModelError, match=f"answers {status}: it does not work"):
            model(server).ask(Request("?"))
        assert len(server.requests) == 1


@KINDS
def test_a_provider_that_asks_for_an_hour_is_not_waited_for(kind: str) -> None:
    with provider([Fault(429, headers={"retry-after": "3600"})], kind) as server:
        with pytest.raises(ModelError, match="answers 429: it does not work"):
            model(server).ask(Request("?"))
        assert len(server.requests) == 1


@KINDS
def test_a_client_that_is_not_installed_is_told_and_nothing_is_counted(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    with provider(["x"], kind) as server:
        one = model(server)
        with pytest.raises(ModelError, match=rf"pip install 'ctx-transcripts\[{kind}\]'"):
            one.ask(Request("?"))
    assert one.spent.calls == 0


@KINDS
def test_silence_is_given_up(kind: str) -> None:
    with provider([SILENT], kind) as server, pytest.raises(ModelError, match=r"gave no answer within 0\.2 s; raise"):
        model(server, timeout=0.2, retries=0).ask(Request("?"))


@KINDS
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('{"choices": [', "is not valid JSON"),
        ("<html>", "is not valid JSON"),
        ("[]", "is no JSON object"),
        ("{}", "has no"),
        ('{"choices": [null], "content": 3}', "has no"),
        ('{"error": {"message": "quota"}}', "is an error: quota"),
        ("[" * 100_000, "nothing is made of it"),
    ],
)
def test_what_is_no_answer_is_told(kind: str, body: str, why: str) -> None:
    with provider([Fault(200, body)], kind) as server, pytest.raises(ModelError, match=why):
        model(server).ask(Request("?"))


def test_a_server_that_is_not_there_is_told() -> None:
    with provider(["x"]) as server:
        pass
    one = model(server, retries=0, prices=DEAR)
    with pytest.raises(ModelError, match=r"cannot be reached: .* \(is the base URL right, and does the server run\?"):
        one.ask(Request("?"))
    assert one.spent.doubtful == 0


@KINDS
def test_usage_in_no_known_form_spoils_no_answer(kind: str) -> None:
    said = {"content": [{"type": "text", "text": "four"}], "choices": [{"message": {"content": "four"}}]}
    for usage in ([], "many", {"prompt_tokens": "many", "prompt_tokens_details": [], "iterations": [3]}):
        with provider([Fault(200, json.dumps({**said, "usage": usage}))], kind) as server:
            assert model(server).ask(Request("?")) == Reply("four")
    with provider([Fault(200, '{"content": null, "choices": [{"message": {"content": null}}]}')], kind) as server:
        assert model(server).ask(Request("?")).text == ""


@KINDS
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTP_PROXY", "nothing://me:secret@host"),
        ("HTTP_PROXY", "http://me:secret@host:port"),
        ("SSL_CERT_FILE", "/none"),
    ],
)
def test_a_client_that_cannot_be_set_up_says_what_to_look_at(
    kind: str, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with (
        provider(["x"], kind) as server,
        pytest.raises(ModelError, match=r"cannot be set up: .*SSL_CERT_FILE") as raised,
    ):
        model(server).ask(Request("?"))
    assert "secret" not in str(raised.value)


def test_openai_has_a_limit_of_its_own_for_an_answer() -> None:
    """openai-python#1724, OpenHands/software-agent-sdk#1083: its models refuse the old one, at Azure too."""
    for url, limit in (
        ("", "max_completion_tokens"), ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://me.openai.azure.com/openai/v1", "max_completion_tokens"), ("http://127.0.0.1:8080/v1", "max_tokens"),
        ("https://api.openai.com.example.org/v1", "max_tokens"),
    ):  # fmt: skip
        one = Model(Endpoint("openai", "m", url), limits=Limits(), prices=Prices(library=False), replies=None)
        assert one.body(Request("?", max_output=9))[limit] == 9


def test_iterations_are_added_up_once() -> None:
    """Facts, section 2: with compaction on the server the figures beside the iterations leave those out."""
    steps = ({"input_tokens": 100, "output_tokens": 10}, {"input_tokens": 30, "output_tokens": 5})
    with provider([Answer("x", prompt=30, output=5, iterations=steps)], "anthropic") as server:
        reply = model(server).ask(Request("?"))
    assert (reply.prompt, reply.output) == (130, 15)


# -- a prefix


TOOLS = [{"name": "read_file", "input_schema": {"type": "object"}}]
SAID = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read_file", "input": {}}]}
MARK = {"cache_control": {"type": "ephemeral"}}


def asked_behind(kind: str, **before: object) -> dict[str, Any]:
    with provider(["x"], kind) as server:
        model(server).ask(Request("Sum up.", prefix=json.dumps(before)))
    return server.requests[0].body


def test_a_prefix_goes_first_as_it_is() -> None:
    marked = [SAID[0], {"role": "assistant", "content": [{"type": "text", "text": "hi", **MARK}]}]
    for messages in (SAID, marked):
        body = asked_behind("anthropic", system="You help.", messages=messages)
        turn = {"role": "user", "content": [{"type": "text", "text": "Sum up."}]}
        assert body["messages"] == [*marked, turn]
        assert body["system"] == "You help."
        assert "tools" not in body
    body = asked_behind("openai", messages=SAID)
    assert body["messages"] == [*SAID, {"role": "user", "content": "Sum up."}]
    assert "tools" not in body


def test_the_tools_of_a_prefix_cannot_be_called() -> None:
    """A conversation that calls tools is refused without definitions (anthropic-sdk-python#494)."""
    body = asked_behind("openai", tools=TOOLS, messages=SAID)
    assert (body["tools"], body["tool_choice"]) == (TOOLS, "none")
    body = asked_behind("anthropic", system="You help.", tools=TOOLS, messages=SAID)
    assert (body["tools"], body["tool_choice"]) == (TOOLS, {"type": "none"})
    assert body["system"] == [{"type": "text", "text": "You help.", **MARK}]
    assert body["messages"][:2] == SAID
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
    body = asked_behind("anthropic", system="You help.", messages=[SAID[0], USE, result])
    assert (body["tools"], body["tool_choice"]) == (TOOLS, {"type": "none"})
    assert "cache_control" not in json.dumps(body), "nothing that was sent before began like this"
    body = asked_behind("anthropic", tools=TOOLS, messages=SAID)
    assert body["tools"] == [{**TOOLS[0], **MARK}]


def test_what_the_cache_can_serve_of_a_prefix() -> None:
    def share(kind: str, **before: object) -> float:
        with provider([], kind) as server:
            found = model(server, prices=DEAR).estimate(Request("?", prefix=json.dumps(before), max_output=1))
        assert found.cost is not None
        assert found.cached_cost is not None
        written = 0.00125 if kind == "anthropic" else 0.001
        assert found.cost - found.cached_cost == pytest.approx((written - 0.0001) * found.cacheable)
        return found.cacheable / found.prompt

    long = [{"role": "user", "content": "one two three " * 300}]
    assert share("openai", tools=TOOLS, messages=long) > 0.9
    assert share("anthropic", messages=long) > 0.9
    assert 0 < share("anthropic", tools=TOOLS, messages=long) < 0.1
    assert share("anthropic", messages=[*long, USE]) == 0


def test_what_is_written_to_a_cache_unasked_is_reckoned_with() -> None:
    """GPT-5.6 and later: https://developers.openai.com/api/docs/guides/prompt-caching."""
    rates = {name: {"input": 1_000, "output": 10_000} for name in ("gpt-5.5", "gpt-5.6")}
    costs = []
    for name in rates:
        prices = Prices(rates_of(rates, "prices.toml"), library=False)
        one = Model(Endpoint("openai", name), limits=Limits(), prices=prices, replies=None)
        found = one.estimate(Request("one two three " * 300, max_output=1))
        assert found.cost is not None
        costs.append((found.cost - 0.01) / found.prompt)
    assert costs == [pytest.approx(0.001), pytest.approx(0.00125)]


# -- limits


def test_no_more_questions_than_said_and_retries_are_none() -> None:
    with provider([Fault(429), "one", "two", "three"]) as server:
        one = model(server, limits=Limits(calls=2))
        assert [one.ask(Request(text)).text for text in "ab"] == ["one", "two"]
        with pytest.raises(LimitReached, match="2 questions were sent, and no more may be"):
            one.ask(Request("c"))
        assert len(server.requests) == 3


def test_a_question_is_sent_only_where_its_costliest_answer_fits() -> None:
    with provider([Answer("x", prompt=20, output=10)]) as server:
        one = model(server, limits=Limits(cost=2.0), prices=DEAR)
        each = one.estimate(Request("a", max_output=100)).cost
        assert each is not None
        assert 1.0 < each < 1.1
        assert one.ask(Request("a", max_output=100)).cost == pytest.approx(0.12)
        one.ask(Request("b", max_output=100))
        assert one.spent.cost == pytest.approx(0.24)
        with pytest.raises(LimitReached, match=r"of 2 dollars 0\.2400 are spent, and the next question may cost up to"):
            one.ask(Request("c", max_output=200))
        one.ask(Request("d", max_output=100))
        assert len(server.requests) == 3


def test_what_may_have_been_billed_counts_and_leaves_no_room_for_a_retry() -> None:
    with provider([SILENT]) as server:
        one = model(server, timeout=0.2, retries=2, limits=Limits(cost=1.5), prices=DEAR)
        with pytest.raises(ModelError, match="gave no answer"):
            one.ask(Request("a", max_output=100))
        assert len(server.requests) == 1
        with pytest.raises(LimitReached, match="for attempts without an answer that may be billed"):
            one.ask(Request("a", max_output=100))


@KINDS
@pytest.mark.parametrize(
    ("fault", "why", "doubtful"),
    [
        (Fault(200, '{"choices": [', {"content-length": "5000"}), "breaks off", True),
        (Fault(200, "<html>"), r"is not valid JSON; nothing is made of it \(is the base URL right\? http", True),
        (Fault(504, headers={"x-should-retry": "false"}), "answers 504", True),
        (Fault(500), "answers 500", False),
        (Fault(302, "", {"location": "/elsewhere"}), "redirections are not followed", False),
    ],
)
def test_what_may_have_been_billed_without_an_answer(kind: str, fault: Fault, why: str, doubtful: bool) -> None:
    with provider([fault], kind) as server:
        one, free = model(server, retries=0, prices=DEAR), model(server, retries=0)
        for asker in (one, free):
            with pytest.raises(ModelError, match=why):
                asker.ask(Request("a", max_output=100))
    assert one.spent.doubtful == pytest.approx(one.estimate(Request("a", max_output=100)).cost if doubtful else 0)
    assert (one.spent.cost, free.spent.cost) == (0, None if doubtful else 0)


def test_many_threads_leave_nothing_on_its_way() -> None:
    """The sum of what was held back left a rest, as sums of floats do; whoever waited for it waited for ever."""
    together = threading.Barrier(9)

    def all_at_once(asked: Asked) -> Answer:
        if asked.text != "last":
            together.wait(30)
        return Answer("x", prompt=20, output=1)

    with provider(all_at_once) as server:
        one = model(server, limits=Limits(cost=20.0), prices=DEAR, retries=0)
        asking = [threading.Thread(target=one.ask, args=(Request("q" * at, max_output=7 * at),)) for at in range(1, 10)]
        told: list[str] = []

        def last() -> None:
            try:
                one.ask(Request("last", max_output=5_000))
            except LimitReached as error:
                told.append(str(error))

        asking.append(threading.Thread(target=last, daemon=True))
        for thread in asking[:-1]:
            thread.start()
        for thread in asking[:-1]:
            thread.join()
        asking[-1].start()
        asking[-1].join(30)
    assert told


def test_an_answer_that_counts_nothing_is_taken_at_its_costliest() -> None:
    with provider([Answer("x", usage=False)]) as server:
        one = model(server, limits=Limits(cost=9.0), prices=DEAR)
        reply = one.ask(Request("a", max_output=100))
    assert reply.prompt is None
    assert one.spent.cost == pytest.approx(one.estimate(Request("a", max_output=100)).cost)


def test_a_limit_in_dollars_wants_a_price() -> None:
    with provider(["x"]) as server, pytest.raises(SettingError, match="no price is known for test-model"):
        model(server, limits=Limits(cost=1.0))


def test_many_threads_never_go_over_a_limit() -> None:
    with provider([Answer("x", prompt=20, output=10)]) as server:
        one = model(server, limits=Limits(cost=2.0), prices=DEAR)
        refusals = []

        def ask(name: str) -> None:
            try:
                one.ask(Request(name, max_output=90))
            except LimitReached:
                refusals.append(name)

        threads = [threading.Thread(target=ask, args=(str(at),)) for at in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    cost = one.spent.cost
    assert cost is not None
    assert cost <= 2.0
    assert one.spent.calls == len(server.requests) == 16 - len(refusals)
    assert cost == pytest.approx(0.12 * one.spent.calls)
    assert one.spent.calls >= 8


# -- the cache


@KINDS
def test_the_same_question_costs_nothing_the_second_time(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "replies.sqlite"
    with provider(["one", "two", "three", "four"], kind) as server:
        first = model(server, replies=Replies(path)).ask(Request("?"))
        again = model(server, key="", replies=Replies(path))
        assert asdict(again.ask(Request("?"))) == {**asdict(first), "stored": True, "cost": 0.0}
        assert (again.spent.calls, again.spent.stored, len(server.requests)) == (0, 1, 1)
        for other in (Request("? "), Request("?", repeat=1), Request("?", temperature=0.0)):
            assert not again.ask(other).stored
    assert path.stat().st_mode & 0o077 == 0 or os.name == "nt"


def test_what_may_be_otherwise_the_next_time_is_not_kept(tmp_path: Path) -> None:
    replies = Replies(tmp_path / "replies.sqlite")
    with provider([refused(), calls_a_tool(), Answer(""), Fault(400), "well"]) as server:
        one = model(server, replies=replies)
        for _ in range(3):
            one.ask(Request("?"))
        with pytest.raises(ModelError):
            one.ask(Request("?"))
        assert one.ask(Request("?")).text == "well"
        assert len(server.requests) == 5


def test_a_cache_that_cannot_be_used_knows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    path.write_bytes(b"no database")
    with provider(["one"]) as server:
        one = model(server, replies=Replies(path))
        assert [one.ask(Request("?")).stored for _ in range(2)] == [False, False]


# -- the key


@KINDS
@pytest.mark.parametrize("echo", [KEY, f"Incorrect key: {KEY[:11]}********{KEY[-7:]}.", json.dumps({"k": [KEY]})])
def test_the_key_is_in_no_error_log_or_file(
    kind: str, echo: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    fault = Fault(401, json.dumps({"error": {"message": echo, "type": echo}}), {"x-echo": KEY})
    told: list[str] = []
    with provider([fault, Fault(200, echo), Answer(f"Your key is {KEY}."), fault], kind) as server:
        one = model(server, replies=Replies(tmp_path / "replies.sqlite"))
        for _ in range(2):
            with pytest.raises(ModelError) as raised:
                one.ask(Request("?"))
            told += [str(raised.value), repr(raised.value), str(raised.value.__context__ and raised.value.__cause__)]
        told += [str(one.ask(Request("?"))), repr(one.endpoint), json.dumps(one.body(Request("?")))]
        assert KEY in server.requests[0].headers.get("x-api-key", server.requests[0].headers.get("authorization", ""))
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    everything = "\n".join([*told, caplog.text, *capfd.readouterr(), stored.decode("utf-8", "replace")])
    assert "Your key is ***." in everything
    for piece in (KEY, KEY[:11], KEY[-7:]):
        assert piece not in everything.replace("x-echo", "")


def test_a_token_that_nobody_named_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older clients (0.60) add ANTHROPIC_AUTH_TOKEN to the key, for whatever server."""
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-another-server")
    with provider(["x"], "anthropic") as server:
        model(server).ask(Request("?"))
    assert "token-of-another-server" not in json.dumps(server.requests[0].headers)
    (made,) = hooks(Tries())["request"]
    for given, left in (("Bearer token-of-another-server", None), ("Bearer mine", "Bearer mine")):
        request = SimpleNamespace(headers={"x-api-key": KEY, "authorization": given}, extensions={})
        made(request)
        assert request.headers.get("authorization") == left


@KINDS
def test_no_redirection_takes_the_key_or_the_text_elsewhere(kind: str) -> None:
    with provider(["never"], kind) as other:
        moved = Fault(307, "{}", {"location": f"{other.url}/v1/messages"})
        with provider([moved], kind) as server, pytest.raises(ModelError, match="307"):
            model(server, retries=0).ask(Request("?"))
        assert other.requests == []


def test_without_a_key_the_vendor_is_not_asked_and_another_server_is() -> None:
    bare = Model(Endpoint("openai", "m", key_name="OPENAI_API_KEY"), limits=Limits(), prices=Prices(), replies=None)
    with pytest.raises(ModelError, match="there is no key; set OPENAI_API_KEY"):
        bare.ask(Request("?"))
    with provider(["x"]) as server:
        assert model(server, key="").ask(Request("?")).text == "x"


@pytest.mark.parametrize(
    "url",
    [
        "file:///x",
        "127.0.0.1:80",
        "https://me:secret@host/v1",
        "ftp://me:secret@host",
        "http://[me",
        "https://host/v1?key=1",
        "https://host/v1#secret",
        "me:secret@host/v1",
        "http://host:port/v1",
        "http://my host/v1",
    ],
)
def test_addresses_that_are_none_or_hold_a_password(url: str) -> None:
    with pytest.raises(SettingError) as raised:
        checked_url(url)
    assert "secret" not in str(raised.value)
