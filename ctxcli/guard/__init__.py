"""The guard: what a compaction no longer says, and whether that matters."""

from ctxcli.guard.policy import Policy, Waiver
from ctxcli.guard.run import guard, guard_recorded

__all__ = ["Policy", "Waiver", "guard", "guard_recorded"]
