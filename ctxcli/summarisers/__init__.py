"""The shelf of summarisers: ways to fill the four slots."""

from ctxcli.shelf import shelf
from ctxcli.summarisers import extractive

SUMMARISERS = shelf(extractive.SUMMARISER)
