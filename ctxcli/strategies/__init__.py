"""The shelf of strategies: ways to make a context shorter."""

from ctxcli.shelf import shelf
from ctxcli.strategies import (
    clear_stale,
    clear_tool_results,
    contract,
    drop_oldest,
    relevant,
    rolling,
    semantic,
    summarise_middle,
)

STRATEGIES = shelf(
    contract.strategy(clear_stale.STRATEGY, clear_tool_results.STRATEGY, rolling.STRATEGY),
    clear_stale.STRATEGY,
    clear_tool_results.STRATEGY,
    drop_oldest.STRATEGY,
    relevant.STRATEGY,
    rolling.STRATEGY,
    semantic.STRATEGY,
    summarise_middle.STRATEGY,
)
"""The default first."""
