"""Faults that were found: good summaries that were refused, and bad ones that passed."""

import pytest

from guard_support import compare
from support import chat

GOOD = [
    ("请修改src/a/b.py文件，版本3.11.4的PAY-4821任务", "src/a/b.py, 3.11.4, PAY-4821"),
    ("Please look at PAY-4821 now", "PAY-4821를 수정"),
    ("Please look at PAY-4821 now", "请修改PAY-4821文件"),
    ("See https://github.com/acme/shop/issues/42 now", "see https://github.com/acme/shop/issues/42|done|"),
    ("See https://github.com/acme/shop/issues/42 now", "see https://github.com/acme/shop/issues/42—done"),
    ("See https://github.com/acme/shop/issues/42 now", "see https://github.com/acme/shop/issues/42→done"),
    ("See https://github.com/acme/shop/issues/42 now", "see https://github.com/acme/shop/issues/42->done"),
    ("See https://github.com/acme/shop/issues/42 now", "see https://github.com/acme/shop/issues/42✅"),
    ("See https://github.com/acme/shop/issues/42 now", "see https://github.com/acme/shop/issues/42[1]"),
    ("See https://github.com/acme/shop/issues/42 now", "see https://github.com/acme/shop/issues/42\u200b"),
    ("See https://x.com/a?b=1&c=2 now", "see https://x.com/a?b=1&amp;c=2"),
    ("See https://x.com/a now", "see _https://x.com/a_"),
    ("See https://x.com/a now", "see https://x.com/a#"),
    ("Edit src/shop/refunds.py", "_src/shop/refunds.py_"),
    ("Edit src/shop/refunds.py", "~~src/shop/refunds.py~~"),
    ("Edit src/a.py", "&lt;src/a.py&gt;"),
    ("Edit src/a.py", "src/a.py&nbsp;"),
    ("Edit src/a.py", "src/a.py<br/>x"),
    ("Use click==8.1.7", "**click==8.1.7**"),
    ("use left-pad@1.3.0", "left-pad@1.3.0->done"),
    ("Fix PAY-4821 and PAY-4822", "Fixed PAY-4821/PAY-4822."),
    ("Edit src/shop/a.py", "Edit a.py in src/shop/"),
    ("Edit src/shop/a.py and src/shop/b.py", "In `src/shop/`: `a.py`, `b.py`"),
    ("order #W2702727 it is", "order W2702727"),
    ("use v1.2.3 now", "1.2.3"),
    ("use 1.2.3 now", "v1.2.3"),
    ("commit a41c9d0b8e7f60a1b2c3d4e5f60718293a4b5c6d is it", "commit a41c9d0"),
    ("at 0x1004E2FC0 now", "0x1004e2fc0"),
    ("see CVE-2024-12345", "cve-2024-12345"),
    ("use left-pad@1.3.0 now", "left-pad 1.3.0"),
    ("got builtins.TypeError now", "TypeError"),
    ("exit code 3 came", "exit status 3"),
    ("HTTP 429 came", "429 Too Many Requests"),
    ("Edit /srv/app/a.py", "/srv//app/a.py"),
    ("Edit /srv/app/a.py", "/srv/./app/a.py"),
    ("Edit ~/proj/a.py", "/home/ana/proj/a.py"),
    ("Edit src/shop/a.py", "Edited /repo/src/shop/a.py"),
    ("See https://github.com/acme/shop/issues/42", "acme/shop#42"),
    ("See https://github.com/acme/shop/pull/42", "PR #42"),
    ("do PAY-4821", "https://jira.example.com/browse/PAY-4821"),
    (
        "Edit src/a/b.py",
        "priority #1, Step #2: src/a/b.py in plan v2, API v2, Q3-2024, FY-25, GPL-3, TODO-1, client/server, HTTP 404, exit code 1, KeyError, README.md, .gitignore",
    ),
    (r"look at C:\Users\ana\a.txt now", r"C:\Users\ana\a.txt"),
]

BAD = [
    ("use 13.11.42 and src/a.py", "13.11.42 3.11.4 src/a.py"),
    ("use 13.11.42", "13.11.42 and 3.11.42"),
    ("use click==8.1.7", "click==8.1.7 click==8.1"),
    ("Edit src/a/b.py", "src/a/b.py, src/a/some-evil.py"),
    ("Edit src/a/b.py", "src/a/b.py tmp/refunds.py"),
    ("host db.internal.example.com:5432 it is", "db.internal.example.com:5433"),
    ("go to 10.0.0.12 now", "10.0.0.21"),
    ("Edit ~/.ssh/id_rsa", "/.ssh/id_rsa"),
]

BOUNDARIES = [
    ("Never push to the main branch without asking me.", "Push to the main branch without asking the user.", "bad"),
    ("Do not merge without approval from Ana.", "Merge without approval from Ana.", "bad"),
    ("Do not merge without approval from Ana.", "Do not merge with approval from Ana.", "bad"),
    ("Never commit the file; never log the token.", "Never commit the file; log the token.", "bad"),
    ("Do not use eval, and never log passwords.", "Do not use eval, and log passwords.", "bad"),
    ("Always run the tests before you commit.", "Run the tests after you commit.", "bad"),
    ("Never push to main.", 'The rule "never push to main" was dropped by the user.', "unj"),
    ("Use at most 3 retries.", "Use at least 3 retries.", "bad"),
    ("Use at most 3 retries.", "Use 3 retries.", "bad"),
    ("Use at most 3 retries.", "Retries: 5 max.", "bad"),
    ("It must take no more than 30 seconds.", "It must take no less than 30 seconds.", "bad"),
    ("Under no circumstances deploy on Friday.", "Deploy on Friday.", "bad"),
    ("Refrain from using GPL libraries.", "Use GPL libraries.", "bad"),
    ("Never push to main.", "```\nNever push to main.\n```", "kept"),
    ("Never push to main.", "// Never push to main.", "kept"),
    ("Never push to main.", "main is off-limits for pushes", "kept"),
    ("Don't touch the vendor/ folder.", "Do not modify vendor/.", "ok"),
    ("Use at most 3 retries.", "at most three retries", "kept"),
    ("Use at most 3 retries.", "Retry limit: 3 (max)", "ok"),
    ("Keep the response under 200 ms.", "Response time budget: < 200ms", "ok"),
    ("Keep the response under 200 ms.", "The response must stay below 200 milliseconds", "kept"),
    ("It must not exceed $5,000.", "It must not exceed $5000.", "kept"),
    ("A refund must stay below $500.", "Refunds must stay below $500.00", "kept"),
    ("Only change the parser module.", "Change nothing but the parser module.", "kept"),
    ("Do not touch the public schema.", "The public schema was touched up.", "bad"),
    ("Never push to main.", "We pushed to main.", "bad"),
    ("Only change files under lib/.", "Files under lib/ only may be changed.", "kept"),
    ("Latency must stay below 200 ms.", "Latency should stay below 200 ms.", "bad"),
    (
        "Never touch legacy/, and keep as_money() as it is: it is public.",
        "Never touch legacy/; keep as_money() as it is.",
        "kept",
    ),
    ("Keep the feature flag NEW_VAT_RULES off.", "Keep the feature flag NEW_VAT_RULES on.", "bad"),
    (
        "Please don't touch the db/migrations folder, and use Postgres 15.4 and not 16.",
        "- Do not touch the `db/migrations` folder.\n- Postgres 15.4, not 16.",
        "kept",
    ),
    ("Never push to main directly.", "Push to main when done.", "bad"),
    ("It is not allowed to use curl.", "Use curl.", "bad"),
    (
        "Do not change src/api/v1/users.py or the public signatures.",
        "src/api/v1/users.py and the public signatures must stay untouched.",
        "kept",
    ),
    (
        "Never store the full card number of a customer in the application logs.",
        "Card numbers of customers stay out of our logs.",
        "unj",
    ),
    ("Listen on port 9443 only.", "Listen on port 8443 only.", "bad"),
    ("No more than 3 retries.", "Up to 5 retries.", "bad"),
    ("Deploys have to finish within 10 minutes.", "Deploys have to finish within 20 minutes.", "bad"),
]


@pytest.mark.parametrize(("said", "after"), GOOD)
def test_the_same_thing_in_other_words_is_no_loss(said: str, after: str) -> None:
    report = compare(chat(("user", said)), after)
    assert report.counts.required
    assert report.verdict == "pass", [one for one in report.findings if one.fails]


@pytest.mark.parametrize(("said", "after"), BAD)
def test_another_thing_is_never_a_pass(said: str, after: str) -> None:
    assert compare(chat(("user", said)), after).verdict == "loss"


@pytest.mark.parametrize(("said", "after", "expected"), BOUNDARIES)
def test_boundaries(said: str, after: str, expected: str) -> None:
    (row,) = compare(chat(("user", said)), after).constraints
    fates = {"bad": ("lost", "weakened"), "kept": ("kept",), "unj": ("unjudged",), "ok": ("kept", "unjudged")}
    assert row.status in fates[expected], row
    assert row.fails == (row.status in ("lost", "weakened"))


def test_many_names_that_are_all_alike_take_no_quadratic_time() -> None:
    names = [f"src/m{number}/f{number}.py" for number in range(600)]
    report = compare(chat(("user", "\n".join(names))), "\n".join(name.replace("/f", "/g") for name in names))
    assert report.counts.required == 600
    assert report.counts.lost + report.counts.mutated == 600


def test_an_argument_that_nobody_gave_is_an_invention() -> None:
    from support import tool_call

    before = chat(("user", "Fix src/a/b.py for PAY-4821"), tool_call("edit", '{"path": "src/a/b.py"}'))
    after = chat(("user", "Fix src/a/b.py for PAY-4821"), tool_call("edit", '{"path": "src/other/evil.py"}'))
    assert [(one.status, one.value) for one in compare(before, after).findings if one.fails] == [
        ("invented", "src/other/evil.py")
    ]


def test_a_waiver_and_a_baseline_cover_a_loss_and_no_wrong_value() -> None:
    from ctxcli.guard import Waiver
    from ctxcli.guard.baseline import baseline_of

    before = chat(("user", "Ticket BILL-2291 it is."))
    waived = {"waivers": (Waiver("BILL-2291", "closed"),)}
    assert compare(before, "nothing", **waived).verdict == "pass"
    assert compare(before, "Ticket BILL-2219.", **waived).verdict == "loss"
    known = frozenset(entry.fingerprint for entry in baseline_of([compare(before, "Ticket BILL-2219.")]).findings)
    assert compare(before, "Ticket BILL-2219.", baseline=known).verdict == "pass"
    assert compare(before, "Ticket BILL-2292.", baseline=known).verdict == "loss"


def test_none_only_reports() -> None:
    before = chat(("user", "Fix PAY-7. Never spend more than $5 on it."))
    report = compare(before, "Spend at least $50 on RF-2026-00817.", sources=frozenset())
    assert report.verdict == "pass"
    assert any(one.status == "invented" for one in report.findings)
