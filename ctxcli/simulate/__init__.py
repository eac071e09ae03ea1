"""`ctx simulate`: a transcript replayed under other policies of compaction, and what each of them costs."""

from ctxcli.simulate.policy import Policy
from ctxcli.simulate.run import Settings, simulate

__all__ = ["Policy", "Settings", "simulate"]
