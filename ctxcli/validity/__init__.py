"""What providers accept of a list of messages, a profile each; what each one refuses is a rule."""

from ctxcli.validity.habits import Answer, Setting, habits
from ctxcli.validity.profiles import PROFILES, profile_of
from ctxcli.validity.report import check_report
from ctxcli.validity.run import check
from ctxcli.validity.wire import Violation

__all__ = ["PROFILES", "Answer", "Setting", "Violation", "check", "check_report", "habits", "profile_of"]
