"""`ctx audit`: call by call, where the tokens of a transcript went."""

from ctxcli.audit.run import Settings, audit

__all__ = ["Settings", "audit"]
