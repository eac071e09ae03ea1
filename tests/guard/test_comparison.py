"""Cases: whole tokens, places, sources, what is required and what is not, secrets, inventions."""

from dataclasses import replace

import pytest

from ctxcli.guard.near import distance, slip
from ctxcli.identifiers.secrets import mask, secrets_in
from ctxcli.model import Message, Part, PartKind, Role
from guard_support import compare, finding, status
from support import chat, plain_text, tool_call, tool_result


@pytest.mark.parametrize(
    ("value", "after", "expected"),
    [
        ("https://git.example.com/issues/42", "see https://git.example.com/issues/420", "mutated"),
        ("https://git.example.com/issues/42", "see https://git.example.com/issues/42/files", "mutated"),
        ("https://git.example.com/issues/42", "see https://git.example.com/issues/42?view=1", "mutated"),
        ("https://git.example.com/issues/42", "(see https://git.example.com/issues/42).", "kept"),
        ("/api/issues/42", "GET /api/issues/420", "mutated"),
        ("3.11.4", "Python 3.11", "mutated"),
        ("src/a.py", "src/a.pyc", "mutated"),
        ("src/a.py", "old_src/a.py", "lost"),
        ("src/a.py:12", "in src/a.py:12 and on", "kept"),
        ("src/auth/login.ts", "login.ts", "moved"),
        ("src/auth/login.ts", "auth/login.ts", "moved"),
        ("src/auth/login.ts", "src/auth/logout.ts", "lost"),
        ("a1b2c3d4e5f60718293a4b5c6d7e8f9001122334", "commit a1b2c3d", "moved"),
    ],
)
def test_whole_tokens_only(value: str, after: str, expected: str) -> None:
    assert status(compare(chat(("user", f"use {value} here")), after), value) == expected


@pytest.mark.parametrize(
    ("said", "after", "expected"),
    [
        ("Growth must not fall below -5%.", "Growth must not fall below 5%.", "mutated"),
        ("Growth must not fall below 5%.", "Growth must not fall below -5%.", "mutated"),
        ("A refund must stay below $500.", "A refund must stay below $5000.", "mutated"),
        ("It must stay below 200 ms.", "It must stay below 200ms.", "kept"),
        ("It must stay below 200 ms.", "It must stay below 1200 ms.", "mutated"),
    ],
)
def test_signed_and_unit_bearing_numbers_never_match_a_part(said: str, after: str, expected: str) -> None:
    value = next(word for word in ("-5%", "5%", "$500", "200 ms") if word in said)
    report = compare(chat(("user", said)), after)
    assert status(report, value) == expected
    assert report.verdict == ("pass" if expected == "kept" else "loss")


def test_numbers_outside_a_boundary_are_not_required() -> None:
    report = compare(chat(("user", "It took 200 ms and metric=0.123456789 was odd.")), "It was slow.")
    assert report.verdict == "pass"
    assert not any("123456789" in one.value for one in report.findings)


def test_the_file_names_of_a_folder_are_not_the_folder() -> None:
    before = chat(("user", "Look at lib/cart/ and lib/cart/total.py now"))
    report = compare(before, "- lib/cart/total.py")
    assert status(report, "lib/cart/") == "moved"
    assert report.verdict == "pass"


def test_a_shorter_name_for_a_required_path_is_not_required_by_itself() -> None:
    before = chat(("user", "Look at lib/cart/total.py"), ("assistant", "I read total.py."))
    report = compare(before, "nothing")
    assert [one.value for one in report.findings if one.required] == ["lib/cart/total.py"]
    assert finding(report, "total.py").why == "the end of a longer path that is required"


class TestSources:
    def test_stated_touched_and_seen(self) -> None:
        before = chat(
            ("user", "Fix PAY-7 please"),
            tool_call("read", '{"path": "lib/tax.py"}', address="lib/tax.py"),
            tool_result("see lib/vat.py, PAY-9 and https://wiki.example.com/vat"),
        )
        report = compare(before, "nothing")
        assert {one.value for one in report.findings if one.fails} == {"PAY-7", "lib/tax.py"}
        assert finding(report, "PAY-9").source == "seen"
        assert {name: row.found for name, row in report.by_source.items()} == {"stated": 1, "touched": 1, "seen": 3}

    def test_a_call_that_merely_failed_requires_nothing(self) -> None:
        before = chat(
            ("user", "Fix it"),
            tool_call("read", '{"path": "lib/taxes.py"}', "t1", "lib/taxes.py"),
            tool_result("no such file", "t1", failed=True),
            tool_call("read", '{"path": "lib/tax.py"}', "t2", "lib/tax.py"),
            tool_result("RATE = 1", "t2"),
        )
        report = compare(before, "nothing")
        assert [one.value for one in report.findings if one.fails] == ["lib/tax.py"]
        assert finding(report, "lib/taxes.py").why == "only in calls that failed"

    def test_the_text_of_a_written_file_requires_nothing(self) -> None:
        content = '{"path": "lib/tax.py", "content": "# see PAY-99\\nURL = \\"https://a.example.com/x\\"\\n"}'
        before = chat(("user", "Fix it"), tool_call("write", content, address="lib/tax.py"), tool_result("written"))
        assert [one.value for one in compare(before, "nothing").findings if one.fails] == ["lib/tax.py"]

    def test_an_example_in_a_block_of_the_assistant_requires_nothing(self) -> None:
        before = chat(("user", "How?"), ("assistant", "So:\n```\ncat lib/example.py\n```\nand then lib/tax.py"))
        assert [one.value for one in compare(before, "nothing").findings if one.fails] == ["lib/tax.py"]

    @pytest.mark.parametrize("path", ["/tmp/out.log", "/dev/null", "scratch.py", "build/tmp/x.o", "$TMPDIR/a.txt"])
    def test_throw_aways_are_not_required(self, path: str) -> None:
        before = chat(("user", "Go"), tool_call("shell", f'{{"command": "make > {path}"}}', address=f"make > {path}"))
        assert compare(before, "nothing").verdict == "pass"

    def test_the_last_error_is_required_although_only_a_tool_said_it(self) -> None:
        before = chat(
            ("user", "Run it"),
            tool_call("shell", '{"command": "make all"}', address="make all"),
            tool_result("lib/tax.py:3: error E4021 rate missing", failed=True),
        )
        report = compare(before, "nothing")
        assert {one.value for one in report.findings if one.fails} == {"lib/tax.py", "E4021"}
        went_on = replace(before, messages=(*before.messages, tool_call("shell", "{}", "t2"), tool_result("ok", "t2")))
        assert compare(went_on, "nothing").verdict == "pass"


class TestPlaces:
    def test_only_in_the_kept_messages_is_at_risk(self) -> None:
        before = chat(("user", "Fix PAY-7"), ("assistant", "Done, see lib/tax.py"), ("user", "Go on with PAY-7"))
        summary = Message(Role.USER, (Part(PartKind.SUMMARY, "Fixed it in lib/tax.py", line=1),))
        after = replace(before, messages=(summary, before.messages[2]))
        report = compare(before, after)
        assert report.verdict == "pass"
        assert status(report, "PAY-7") == "at_risk"
        assert status(report, "lib/tax.py") == "kept"
        assert report.counts.at_risk == 1

    def test_what_stands_before_the_gap_is_pinned(self) -> None:
        before = chat(("user", "Fix PAY-7"), ("assistant", "Done"), ("user", "thanks"))
        after = replace(before, messages=(before.messages[0], before.messages[2]))
        assert status(compare(before, after), "PAY-7") == "kept"

    def test_an_invention_is_looked_for_in_what_the_compaction_wrote(self) -> None:
        before = chat(("user", "Fix PAY-7"), ("assistant", "Done"))
        summary = Message(Role.USER, (Part(PartKind.SUMMARY, "Fixed PAY-7 for customer RF-2026-00817", line=1),))
        later = Message(Role.USER, (Part(PartKind.TEXT, "Now do PAY-1000 in lib/new.py", line=2),))
        report = compare(before, replace(before, messages=(summary, later)))
        assert [(one.rule, one.value) for one in report.findings if one.fails] == [("CTX103", "RF-2026-00817")]

    def test_names_put_together_from_what_was_known_are_no_invention(self) -> None:
        before = chat(
            ("user", "Fix it"),
            tool_call("shell", '{"command": "cd lib/cart && python total.py"}', address="cd lib/cart"),
            tool_result("opened https://git.example.com/shop/pull/136 from lib/cart"),
        )
        after = "PR #136 changes lib/cart/total.py, below lib/; see https://git.example.com/shop"
        assert not [one for one in compare(before, after).findings if one.status == "invented"]


class TestSecrets:
    KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"

    def test_a_key_in_a_tool_argument_is_masked_and_not_required(self) -> None:
        before = chat(
            ("user", "Go"), tool_call("shell", f'{{"command": "STRIPE={self.KEY} ./pay --to ana"}}', address="./pay")
        )
        report = compare(before, "nothing", everything=True)
        assert report.counts.masked >= 1
        assert self.KEY not in str(report)
        (masked,) = [one for one in report.findings if one.masked]
        assert not masked.required
        assert masked.value.startswith("sk_t…[masked ")

    def test_what_masks_a_key_is_nothing_that_was_invented(self) -> None:
        """A boundary that names a token made every compaction fail: the digest in its mask looked like a hash."""
        key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        masked = mask(key, [key])
        report = compare(chat(("user", f"Never print the token {key} to a log.")), f"Never print the token {masked} to a log.")  # fmt: skip
        assert "masked 3543c50b" in masked
        assert report.verdict == "pass"
        assert [one.status for one in report.constraints] == ["kept"]
        assert compare(chat(("user", f"Use {key}.")), f"Use {masked} at 3543c50c.").verdict == "loss"

    @pytest.mark.parametrize(
        ("text", "secret"),
        [
            ("export AWS=AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
            ("token ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            ('{"password": "hunter2hunter2"}', "hunter2hunter2"),
            ("postgres://app:s3cr3tpw@db.example.com/shop", "s3cr3tpw"),
            ("Authorization: Bearer abc123def456ghi789", "abc123def456ghi789"),
        ],
    )
    def test_shapes(self, text: str, secret: str) -> None:
        assert secrets_in(text) == {secret}
        assert secret not in mask(text, secrets_in(text))

    @pytest.mark.parametrize(
        "text",
        [
            "commit 9f3c2ab81d5e7f60a1b2c3d4e5f60718293a4b5c",
            "tokens: 12345678 in all",
            "password=$DB_PASSWORD",
            "the secret is in lib/secret_store.py",
            "sk-learn-extension",
            "api_key = os.environ['KEY_1234']",
        ],
    )
    def test_what_is_no_secret(self, text: str) -> None:
        assert not secrets_in(text)


class TestSlips:
    @pytest.mark.parametrize(
        ("one", "two", "edits"),
        [
            ("", "", 0),
            ("abc", "abd", 1),
            ("abc", "acb", 1),
            ("8443", "8433", 1),
            ("kitten", "sitting", 3),
            ("ab", "", 2),
        ],
    )
    def test_distance(self, one: str, two: str, edits: int) -> None:
        assert distance(one, two, 3) == distance(two, one, 3) == edits
        assert not edits or distance(one, two, edits - 1) is None

    def test_a_file_in_another_folder_is_a_slip_and_its_bare_name_is_none(self) -> None:
        assert slip("path", "src/a/x.py", "src/b/x.py") is not None
        assert slip("path", "src/a/x.py", "x.py") is None
        assert slip("path", "src/manual_hooks.py", "hooks.py") is None

    def test_one_slip_is_counted_once(self) -> None:
        before = chat(("user", "stripe==7.4.0 and not stripe==7.1.2 please"))
        report = compare(before, "stripe==7.4.1")
        assert status(report, "stripe==7.4.0") == "mutated"
        assert status(report, "stripe==7.1.2") == "lost"


def test_text_against_text() -> None:
    report = compare(plain_text("Fix PAY-7 in lib/tax.py", "before.md"), "Fix PAY-7")
    assert [one.value for one in report.findings if one.fails] == ["lib/tax.py"]
    assert report.before.lines == (1, 1)
