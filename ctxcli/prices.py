"""The only door to `genai-prices`, a library that ships the providers' price lists: what a call costs.

Nothing is fetched: the data is that of the installed version. A table of the user's goes before it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ctxcli.caching import READ, WRITE_1H, WRITE_5M, moment
from ctxcli.errors import SettingError
from ctxcli.model import Call
from ctxcli.reports.calls import Cache

LIBRARY = "genai-prices"
_NEWEST = datetime(9999, 1, 1, tzinfo=UTC)
"""Asked for where a call's time is not recorded: the newest price in the list, whatever the clock says."""
_MILLION = 1_000_000
_OF_INPUT = {"cache_read": READ, "cache_write": WRITE_5M, "cache_write_1h": WRITE_1H}
"""What the cache costs where a table does not say, in the price of an input token."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of one model, in dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float
    """For entries that live an hour."""


@dataclass(slots=True)
class Prices:
    """What calls cost, by model: the user's table first, then the library."""

    own: Mapping[str, Rates] = field(default_factory=dict)
    origin: str = ""
    """The file of the user's table; empty for none."""
    library: bool = True
    unknown: set[str] = field(default_factory=set)
    """Models that were asked for and have no price."""

    @property
    def version(self) -> str | None:
        """The version of the library's data; None where it is not installed."""
        try:
            return version(LIBRARY) if self.library else None
        except PackageNotFoundError:
            return None

    def cost(self, call: Call, cache: Cache, output: int) -> float | None:
        """Dollars for what a call sent and got, at the prices of its time; None where those are not known."""
        return self.paid(call.model, cache, output, time=call.time)

    def paid(self, model: str, cache: Cache, output: int, *, time: str = "") -> float | None:
        """The same for a model by name; without a time at the newest prices."""
        rates = self.own.get(model)
        if rates is not None:
            written = (cache.write - cache.write_1h) * rates.cache_write + cache.write_1h * rates.cache_write_1h
            sent = cache.uncached * rates.input + cache.read * rates.cache_read + written
            return (sent + output * rates.output) / _MILLION
        found = self._by_library(model, cache, output, time) if self.version is not None else None
        if found is None:
            self.unknown.add(model)
        return found

    def _by_library(self, model: str, cache: Cache, output: int, time: str) -> float | None:
        if not model:
            return None
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - only where cost is asked for

        usage = Usage(
            input_tokens=cache.read + cache.write + cache.uncached, cache_read_tokens=cache.read,
            cache_write_tokens=cache.write, cache_write_1h_tokens=cache.write_1h, output_tokens=output,
        )  # fmt: skip
        try:
            when = moment(time) or _NEWEST
            return float(calc_price(usage, model.rsplit("/", 1)[-1], genai_request_timestamp=when).total_price)
        except (LookupError, ValueError):
            return None


def rates_of(values: Mapping[str, Any], path: str) -> dict[str, Rates]:
    """A table of prices: for each model input, output and what the cache costs, in dollars per million tokens.

    Raises SettingError for anything else. Without those of the cache they are 0.1, 1.25 and 2 of the input.
    """
    return {model: _rates(model, row, path) for model, row in values.items()}


def _rates(model: str, row: Any, path: str) -> Rates:
    known = ("input", "output", *_OF_INPUT)
    if not isinstance(row, dict) or not {"input", "output"} <= row.keys() <= set(known):
        raise SettingError(f"{path}: {model!r} wants input and output, and may have {', '.join(_OF_INPUT)}")
    for key, value in row.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _MILLION:
            raise SettingError(f"{path}: {model}.{key}: {value!r} is no price per million tokens")
    given = {key: share * row["input"] for key, share in _OF_INPUT.items()} | row
    return Rates(**{key: float(given[key]) for key in known})
