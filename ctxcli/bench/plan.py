"""What a bench compares, and where."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxcli.bench.outside import Outside

BUDGETS = (0.02, 0.05, 0.10, 0.15, 0.25)
"""Shares of what can be compacted that are left: coding agents leave 2 to 25 % of a full window."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides what is computed; two runs with the same plan compute the same."""

    strategies: tuple[str, ...]
    outside: tuple[Outside, ...] = ()
    budgets: tuple[float, ...] = BUDGETS
    cuts: int = 3
    """Places in each transcript, beside its recorded compactions."""
    least: int = 16_000
    """Tokens of a context below which nothing is compared."""
    generations: int = 5
    """Compactions one after the other; 0 for none."""
    generation_budget: float = 0.10
    plant: int = 0
    """Facts of each slot that are planted at each place."""
    seed: int = 1
    tokenizer: str | None = None
    cache: bool = True
    """Whether counts of known texts are kept on disk."""
    kinds: Mapping[str, Any] = field(default_factory=dict)
    """The user's own kinds of identifiers, as the settings have them."""
