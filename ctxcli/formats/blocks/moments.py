"""Times as people read them: ISO 8601 in UTC, out of the numbers that clients write."""

import math
from datetime import UTC, datetime
from typing import Any

_LATEST = 253_402_300_799
"""The last second of the year 9999."""


def from_milliseconds(value: Any) -> str:
    """The moment so many milliseconds after 1970; a text stays as it is, and anything else is empty."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value / 1000 <= _LATEST:
        return ""
    moment = datetime.fromtimestamp(int(value) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def number(value: Any) -> float:
    """A time as a number that can be compared; 0 where there is none."""
    return 0.0 if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value) else float(value)
