"""The default: the four slots out of what was said, without a model, in the words that said it."""

from ctxcli.shelf import Summariser
from ctxcli.summarisers.extractive.fill import summarise

SUMMARISER = Summariser("extractive", "what was said, in the words that said it; no model", summarise)
