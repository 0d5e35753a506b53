"""Fields that hold several values: sizes, weights, ranges, padding, and choices of several options."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from netwright.engine.core.choice_words import words_of
from netwright.engine.core.errors import FieldError, did_you_mean
from netwright.engine.core.fields import JSON, Field, Float, Int, Text, quoted


class Ints(Field[tuple[int, ...]]):
    """List of integers, such as the sizes of an array. With a fixed `length`, a single number sets all elements."""

    def __init__(
        self,
        default: Sequence[int] | int,
        *,
        length: int | None = None,
        low: int = 0,
        high: int = 2**31 - 1,
        separator: str = ", ",
        **described: Any,
    ) -> None:
        self.length = length
        self.low = low
        self.high = high
        self.separator = separator
        super().__init__(self._spread(default), **described)

    def _spread(self, value: Sequence[int] | int) -> tuple[int, ...]:
        return (value,) * (self.length or 1) if isinstance(value, int) else tuple(value)

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the limits
        count = f"{self.length} " if self.length else "at most 16 "
        top = "" if self.high == 2**31 - 1 else f" and at most {self.high:,}"
        return f"{count}whole number{'' if self.length == 1 else 's'} of at least {self.low:,}{top}"

    def check(self, value: object) -> tuple[int, ...]:
        if isinstance(value, str):
            value = self._numbers(value)
        if isinstance(value, int) and not isinstance(value, bool):
            value = self._spread(value)
        if not isinstance(value, (list, tuple)) or len(value) != (self.length or len(value)) or len(value) > 16:
            raise self.refuse(value)
        element = Int(0, low=self.low, high=self.high)
        try:
            return tuple(element.check(item) for item in value)
        except FieldError:
            raise self.refuse(value) from None

    def _numbers(self, text: str) -> list[int] | int:
        """Parse typed text such as `3 × 3` or `0, 1`. Raises `FieldError`."""
        parts = text.lower().replace("×", " ").replace("x", " ").replace(",", " ").strip("[]() ").split()
        if len(parts) > 16 or not all(re.fullmatch(r"-?\d{1,12}", part) for part in parts):
            raise self.refuse(text)
        numbers = [int(part) for part in parts]
        return numbers[0] if len(numbers) == 1 else numbers

    def write(self, value: tuple[int, ...]) -> JSON:
        return value[0] if self.length and len(set(value)) == 1 else list(value)

    def show(self, value: tuple[int, ...]) -> str:
        return self.separator.join(map(str, value))

    def limits_schema(self) -> dict[str, JSON]:
        number = {"type": "integer", "minimum": self.low, "maximum": self.high}
        many: dict[str, JSON] = {"type": "array", "items": number, "maxItems": self.length or 16}
        if self.length is None:
            return many
        return {"anyOf": [number, {**many, "minItems": self.length}]}


class Floats(Field[tuple[float, ...]]):
    """List of real numbers, such as class weights, shown as `1, 2.5`."""

    MOST: Final = 10_000

    def __init__(self, default: Sequence[float] = (), *, low: float = -math.inf, **described: Any) -> None:
        self.low = low
        super().__init__(tuple(default), **described)

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the limits
        return "numbers separated by commas" + (f", each at least {self.low:g}" if self.low > -math.inf else "")

    def check(self, value: object) -> tuple[float, ...]:
        if isinstance(value, str):
            value = value.replace(",", " ").strip("[]() ").split()
        elif isinstance(value, (int, float)):
            value = [value]
        if not isinstance(value, (list, tuple)) or len(value) > self.MOST:
            raise self.refuse(value)
        element = Float(0.0, low=self.low)
        try:
            return tuple(element.check(float(item) if isinstance(item, str) else item) for item in value)
        except (ValueError, FieldError):
            raise self.refuse(value) from None

    def write(self, value: tuple[float, ...]) -> JSON:
        return list(value)

    def show(self, value: tuple[float, ...]) -> str:
        return ", ".join(map(Float(0.0).show, value))

    def limits_schema(self) -> dict[str, JSON]:
        items = Float(0.0, low=self.low).limits_schema()
        return {"anyOf": [items, {"type": "array", "items": items, "maxItems": self.MOST}]}


class Range(Floats):
    """Lower and upper limit of a range, shown as `-20, 20`. With `is_symmetric`, a single number n means (-|n|,
    |n|)."""

    def __init__(
        self, default: tuple[float, float], *, low: float, high: float, is_symmetric: bool = False, **described: Any
    ) -> None:
        super().__init__(default, low=low, **described)
        self.high = high
        self.is_symmetric = is_symmetric

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the limits
        alternative = ", or one number for both sides" if self.is_symmetric else ""
        return f"two numbers from {self.low:g} to {self.high:g}, the lower one first{alternative}"

    def check(self, value: object) -> tuple[float, ...]:
        try:
            ends = super().check(value)
        except FieldError:
            raise self.refuse(value) from None
        if len(ends) == 1 and self.is_symmetric:
            ends = (-abs(ends[0]), abs(ends[0]))
        if len(ends) != 2 or not self.low <= ends[0] <= ends[1] <= self.high:
            raise self.refuse(value)
        return tuple(end + 0.0 for end in ends)  # turns -0.0 into 0.0

    def limits_schema(self) -> dict[str, JSON]:
        end = {"type": "number", "minimum": self.low, "maximum": self.high}
        both: dict[str, JSON] = {"type": "array", "items": end, "minItems": 2, "maxItems": 2}
        return {"anyOf": [end, both]} if self.is_symmetric else both


class Texts(Field[tuple[str, ...]]):
    """List of texts, such as names of files, shown as `a.png; b.png`."""

    MOST: Final = 100_000
    expects = "texts separated by semicolons"

    def __init__(self, default: Sequence[str] = (), **described: Any) -> None:
        super().__init__(tuple(default), **described)

    def check(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = [part.strip() for part in value.split(";") if part.strip()]
        if not isinstance(value, (list, tuple)) or len(value) > self.MOST:
            raise self.refuse(value)
        element = Text("")
        try:
            return tuple(dict.fromkeys(element.check(item) for item in value))
        except FieldError:
            raise self.refuse(value) from None

    def write(self, value: tuple[str, ...]) -> JSON:
        return list(value)

    def show(self, value: tuple[str, ...]) -> str:
        return "; ".join(value)

    def limits_schema(self) -> dict[str, JSON]:
        items = Text("").limits_schema()
        return {"anyOf": [items, {"type": "array", "items": items, "maxItems": self.MOST}]}


class Pairs(Field[tuple[tuple[str, str], ...]]):
    """Texts by text, such as names by name: an object in the file, typed and shown as `a=b; c=d`."""

    MOST: Final = 20_000
    expects = "pairs such as name=other, separated by semicolons"

    def __init__(self, default: Sequence[tuple[str, str]] = (), **described: Any) -> None:
        super().__init__(tuple(default), **described)

    def check(self, value: object) -> tuple[tuple[str, str], ...]:
        if isinstance(value, str):
            parts = [part.partition("=") for part in value.split(";") if part.strip()]
            if not all(equals and name.strip() for name, equals, _ in parts):
                raise self.refuse(value)
            value = {name.strip(): other.strip() for name, _, other in parts}
        if isinstance(value, dict):
            value = tuple(value.items())
        if not isinstance(value, tuple) or len(value) > self.MOST:
            raise self.refuse(value)
        element = Text("")
        try:
            pairs = {element.check(name): element.check(other) for name, other in value}
        except (FieldError, TypeError, ValueError):
            raise self.refuse(value) from None
        if "" in pairs:
            raise self.refuse(value)
        return tuple(pairs.items())

    def write(self, value: tuple[tuple[str, str], ...]) -> JSON:
        return dict(value)

    def show(self, value: tuple[tuple[str, str], ...]) -> str:
        return "; ".join(f"{name}={other}" for name, other in value)

    def limits_schema(self) -> dict[str, JSON]:
        text = Text("").limits_schema()
        return {"anyOf": [text, {"type": "object", "additionalProperties": text}]}


class Size(Ints):
    """Sizes along the spatial axes, shown as `3 × 3`."""

    def __init__(self, default: Sequence[int] | int, *, length: int, low: int = 1, **described: Any) -> None:
        super().__init__(default, length=length, low=low, separator=" × ", **described)


PaddingValue = str | tuple[int, ...]


class Padding(Field[PaddingValue]):
    """Padding of a convolution or pooling: a mode (`same`, for some layers `causal`) or a size per axis, for both
    sides."""

    def __init__(
        self, default: PaddingValue | int, *, length: int, words: Sequence[str] = ("same",), **described: Any
    ) -> None:
        self.sizes = Size(0, length=length, low=0)
        self.words = tuple(words)
        super().__init__((default,) * length if isinstance(default, int) else default, **described)

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the words
        return " or ".join([*(f'"{word}"' for word in self.words), self.sizes.expects])

    def check(self, value: object) -> PaddingValue:
        if isinstance(value, str) and value in self.words:
            return value
        try:
            return self.sizes.check(value)
        except FieldError:
            raise self.refuse(value) from None

    def write(self, value: PaddingValue) -> JSON:
        return value if isinstance(value, str) else self.sizes.write(value)

    def show(self, value: PaddingValue) -> str:
        return value if isinstance(value, str) else self.sizes.show(value)

    def limits_schema(self) -> dict[str, JSON]:
        return {"anyOf": [{"enum": list(self.words)}, *self.sizes.limits_schema()["anyOf"]]}


class Choices(Field[tuple[str, ...]]):
    """Choice of one or more options, ordered, without duplicates. `notes` describes the options."""

    def __init__(
        self,
        default: Sequence[str],
        *,
        options: Sequence[str],
        notes: Mapping[str, str] | None = None,
        **described: Any,
    ) -> None:
        super().__init__(tuple(default), **described)
        self.options = tuple(options)
        self.notes = dict(notes or {})

    def word(self, option: str) -> str:
        """Return the text of an option in a form."""
        return words_of(option)

    def option(self, text: str) -> str:
        """Return the option for the text of it in a form, or as it is typed."""
        return next((option for option in self.options if self.word(option).casefold() == text.casefold()), text)

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the options
        return "one or more of " + ", ".join(self.options)

    def check(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = value.replace(",", " ").strip("[]() ").split()
        if not isinstance(value, (list, tuple)) or not value or not all(isinstance(word, str) for word in value):
            raise self.refuse(value)
        unknown = next((word for word in value if word not in self.options), None)
        if unknown is not None:
            hint = did_you_mean(unknown, self.options)
            raise FieldError(self.name, f"expected {self.expects}, received {quoted(unknown)}.", hint=hint)
        return tuple(dict.fromkeys(value))

    def write(self, value: tuple[str, ...]) -> JSON:
        return list(value)

    def show(self, value: tuple[str, ...]) -> str:
        return ", ".join(value)

    def limits_schema(self) -> dict[str, JSON]:
        word = {"enum": list(self.options)}
        return {"type": "array", "items": word, "minItems": 1, "uniqueItems": True}
