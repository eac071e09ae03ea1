"""The blocks of each report, imported when one is drawn: a command draws one report, and there are many."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from ctxcli.renderers.view import Block

Blocks = Callable[..., Iterable[Block]]


def _late(module: str, name: str) -> Callable[..., Any]:
    """A function of a module beside this one, which is imported when it is first called."""

    def call(*given: Any, **named: Any) -> Any:
        return getattr(import_module(f"ctxcli.renderers.{module}"), name)(*given, **named)

    return call


audit_blocks: Blocks = _late("audit_view", "audit_blocks")
summary_blocks: Blocks = _late("audit_lists", "summary_blocks")
in_full_or_rows: Callable[..., Iterable[Any]] = _late("audit_lists", "in_full_or_rows")
bench_blocks: Blocks = _late("bench_view", "bench_blocks")
budget_blocks: Blocks = _late("budget_view", "budget_blocks")
notes_of: Callable[..., Iterator[str]] = _late("budget_view", "notes_of")
check_blocks: Blocks = _late("check_view", "check_blocks")
compact_pages: Callable[..., Iterable[Iterable[Block]]] = _late("compact_view", "compact_pages")
finding_blocks: Blocks = _late("finding_view", "finding_blocks")
formats_blocks: Blocks = _late("formats_view", "formats_blocks")
guard_blocks: Blocks = _late("guard_view", "guard_blocks")
identifiers_blocks: Blocks = _late("identifiers_view", "identifiers_blocks")
notes_blocks: Blocks = _late("notes_view", "notes_blocks")
probe_blocks: Blocks = _late("probe_view", "probe_blocks")
simulate_blocks: Blocks = _late("simulate_view", "simulate_blocks")
sweep_blocks: Blocks = _late("sweep_view", "sweep_blocks")
