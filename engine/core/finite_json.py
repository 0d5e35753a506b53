"""Numbers that JSON has no form for, as strings: `NaN`, `Infinity`, `-Infinity`."""

import math
from collections.abc import Mapping
from typing import Any

_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(value: Any) -> Any:
    """Return a value with non-finite numbers replaced by strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        is_curve = set(map(type, value)) == {float} and math.isfinite(sum(value))  # the points of thousands of steps
        return list(value) if is_curve else [to_json(item) for item in value]
    return value


def from_json(value: Any) -> Any:
    """Return a value with the strings of `to_json` converted back to numbers."""
    if isinstance(value, str):
        return _NON_FINITE.get(value, value)
    if isinstance(value, dict):
        return {key: from_json(item) for key, item in value.items()}
    if isinstance(value, list):
        is_curve = set(map(type, value)) <= {float, int}
        return value if is_curve else [from_json(item) for item in value]
    return value
