"""Fields of one number."""

import math
from collections.abc import Callable
from typing import Any

from engine.field_kinds.field import JSON, Field

_LONG = 1e8
NO_LIMIT = 2**31 - 1
"""The highest number where no other is said; it is told only to those who go beyond."""


class Int(Field[int]):
    """A whole number within limits."""

    def __init__(
        self, default: int | Callable[[Any], int], *, low: int = 0, high: int = NO_LIMIT, **described: Any
    ) -> None:
        super().__init__(default, **described)
        self.low = low
        self.high = high

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the limits
        if self.high == NO_LIMIT:
            return f"a whole number of at least {self.low:,}"
        return f"a whole number from {self.low:,} to {self.high:,}"

    def check(self, value: object) -> int:
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if not isinstance(number, int) or isinstance(number, bool) or not self.low <= number <= self.high:
            raise self.refuse(value, f"a whole number of at most {self.high:,}" if _is_above(number, self.high) else "")
        return number

    def limits_schema(self) -> dict[str, JSON]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


def _is_above(number: object, high: int) -> bool:
    return isinstance(number, int) and number > high == NO_LIMIT


class Float(Field[float]):
    """A real number within limits; `above` excludes its end. Infinity is taken only where `infinite` says so."""

    def __init__(
        self,
        default: float | Callable[[Any], float],
        *,
        low: float = -math.inf,
        high: float = math.inf,
        above: float | None = None,
        infinite: bool = False,
        **described: Any,
    ) -> None:
        super().__init__(default, **described)
        self.low = low
        self.high = high
        self.above = above
        self.infinite = infinite

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the limits
        parts = []
        if self.above is not None:
            parts.append(f"above {self.above:g}")
        elif self.low > -math.inf:
            parts.append(f"of at least {self.low:g}")
        if self.high < math.inf:
            parts.append(f"up to {self.high:g}")
        return " ".join(["a number", " and ".join(parts)]).strip() + (", or Infinity" if self.infinite else "")

    def check(self, value: object) -> float:
        if isinstance(value, str) and value.strip().lower() in ("inf", "infinity", "+inf"):
            value = math.inf
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise self.refuse(value)
        try:
            number = float(value)
        except OverflowError:
            raise self.refuse(value) from None
        in_range = self.low <= number <= self.high and (self.above is None or number > self.above)
        if not (self.infinite and number > 0 if math.isinf(number) else in_range):
            raise self.refuse(value)
        return number

    def write(self, value: float) -> JSON:
        return "Infinity" if math.isinf(value) else value

    def show(self, value: float) -> str:
        if math.isinf(value):
            return "Inf"
        short = f"{value:.12g}"
        if abs(value) >= _LONG:  # zeros in a row are hard to count
            digits, _, power = f"{value:.11e}".partition("e")
            short = min(short, f"{digits.rstrip('0').rstrip('.')}e{int(power)}", key=len)
        return short if float(short) == value else repr(value)

    def limits_schema(self) -> dict[str, JSON]:
        number: dict[str, JSON] = {"type": "number"}
        if self.above is not None:
            number["exclusiveMinimum"] = self.above
        elif self.low > -math.inf:
            number["minimum"] = self.low
        if self.high < math.inf:
            number["maximum"] = self.high
        return {"anyOf": [number, {"const": "Infinity"}]} if self.infinite else number
