"""Typed fields that describe themselves: default, limits, unit, label, help, and when they apply.

A `Record` is an immutable value with declared fields. Forms, the project file, its JSON Schema and `--set` are all made
from the declarations, so a new option or layer field is one line in one class. No code is generated at import: records
are plain objects and fields plain descriptors, because the window imports all of them before it shows itself.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, overload

from engine.errors import FieldError, FieldErrors, UserError, did_you_mean

T = TypeVar("T")
JSON = Any
Visible = Callable[[Any], bool]


QUOTE_LIMIT = 60
MOST_ERRORS = 20


def quoted(value: object) -> str:
    """A received value, short enough for a message, and without characters that would disturb a terminal."""
    text = printable(json.dumps(_excerpt(value, 3), default=str, ensure_ascii=False))
    return text if len(text) <= QUOTE_LIMIT else text[: QUOTE_LIMIT - 3] + "..."


def _excerpt(value: object, depth: int) -> object:
    """The beginning of a value that may be huge, or nested deeper than `json` can follow."""
    match value:
        case str():
            return value[: 2 * QUOTE_LIMIT]
        case dict() if depth:
            return {str(key)[:QUOTE_LIMIT]: _excerpt(value[key], depth - 1) for key in islice(value, 8)}
        case list() | tuple() if depth:
            return [_excerpt(item, depth - 1) for item in value[:32]]
        case dict() | list() | tuple():
            return "..."
        case int() if abs(value) > 10**100:
            return 10**100 if value > 0 else -(10**100)  # more digits are not shown, and are slow to write
    return value


def is_unicode(text: str) -> bool:
    """Whether the text can be written as UTF-8: file names with foreign bytes, and halves of pairs, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """The text with control characters, reversed writing and the like as escapes, as JSON has them."""
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def path_part(name: str) -> str:
    """A key from a file as a part of the path in a message: as it is, unless it is long or not printable."""
    return name if len(name) <= QUOTE_LIMIT and name.isprintable() else quoted(name)


class Field(Generic[T]):
    """One declared value of a `Record`.

    `default` may be a function of the record, for defaults that follow another field (a rate that follows the solver).
    `check` takes what JSON or a form gives and returns the value, or raises `FieldError` in words.
    """

    name: str = ""
    expects: str = "a value"

    def __init__(
        self,
        default: T | Callable[[Any], T],
        *,
        label: str = "",
        help: str = "",
        unit: str = "",
        group: str = "",
        visible_when: Visible | None = None,
    ) -> None:
        self.default = default
        self.label = label
        self.help = help
        self.unit = unit
        self.group = group
        self.visible_when = visible_when

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.label = self.label or name.replace("_", " ").capitalize()

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: "Record", owner: type) -> T: ...
    def __get__(self, instance: "Record | None", owner: type) -> "Self | T":
        if instance is None:
            return self
        try:
            value: T = instance._values[self.name]
            return value
        except KeyError:
            return self.default_for(instance)

    def __set__(self, instance: "Record", value: T) -> None:
        raise AttributeError(f"{type(instance).__name__} is a value: use replace({self.name}=...).")

    def default_for(self, record: Any) -> T:
        """The default, given the other values of the record."""
        default = self.default
        return default(record) if callable(default) else default

    def refuse(self, received: object) -> FieldError:
        """The error for a value that this field does not take."""
        return FieldError(self.name, f"expected {self.expects}, received {quoted(received)}.")

    def check(self, value: object) -> T:
        """The value, as JSON or a form gave it, in this field's own type."""
        raise NotImplementedError

    def write(self, value: T) -> JSON:
        """The value as it stands in the project file."""
        return value

    def parse(self, text: str) -> T:
        """The value from text as a person types it, on the command line or in a form."""
        try:
            return self.check(json.loads(text))
        except (ValueError, RecursionError):
            return self.check(text)

    def show(self, value: T) -> str:
        """The value as a person would type it."""
        return str(value)

    def schema(self) -> dict[str, JSON]:
        """JSON Schema of this field."""
        described: dict[str, JSON] = {"title": self.label, **self.limits_schema()}
        if self.help:
            described["description"] = self.help
        if not callable(self.default):
            described["default"] = self.write(self.default)
        return described

    def limits_schema(self) -> dict[str, JSON]:
        """Type and limits for the JSON Schema."""
        return {}


class Int(Field[int]):
    """A whole number within limits."""

    def __init__(self, default: int, *, low: int = 0, high: int = 2**31 - 1, **described: Any) -> None:
        super().__init__(default, **described)
        self.low = low
        self.high = high

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the limits
        if self.high == 2**31 - 1:
            return f"a whole number of at least {self.low:,}"
        return f"a whole number from {self.low:,} to {self.high:,}"

    def check(self, value: object) -> int:
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if not isinstance(number, int) or isinstance(number, bool) or not self.low <= number <= self.high:
            raise self.refuse(value)
        return number

    def limits_schema(self) -> dict[str, JSON]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


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
        if not in_range or (math.isinf(number) and not (self.infinite and number > 0)):
            raise self.refuse(value)
        return number

    def write(self, value: float) -> JSON:
        return "Infinity" if math.isinf(value) else value

    def show(self, value: float) -> str:
        if math.isinf(value):
            return "Inf"
        short = f"{value:.12g}"
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


class Bool(Field[bool]):
    """Yes or no."""

    expects = "true or false"

    def check(self, value: object) -> bool:
        if isinstance(value, str) and value.lower() in ("true", "false", "yes", "no", "on", "off"):
            value = value.lower() in ("true", "yes", "on")
        if not isinstance(value, bool):
            raise self.refuse(value)
        return value

    def show(self, value: bool) -> str:
        return "true" if value else "false"

    def limits_schema(self) -> dict[str, JSON]:
        return {"type": "boolean"}


class Choice(Field[str]):
    """One of a list of words. `notes` says what each word means, in the same order or by word."""

    def __init__(
        self,
        default: str,
        *,
        options: Sequence[str],
        notes: Mapping[str, str] | None = None,
        **described: Any,
    ) -> None:
        super().__init__(default, **described)
        self.options = tuple(options)
        self.notes = dict(notes or {})

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the options
        return "one of " + ", ".join(self.options)

    def check(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.options:
            hint = did_you_mean(value, self.options) if isinstance(value, str) else ""
            raise FieldError(self.name, f"expected {self.expects}, received {quoted(value)}.{hint}")
        return value

    def parse(self, text: str) -> str:
        return self.check(text)

    def limits_schema(self) -> dict[str, JSON]:
        return {"enum": list(self.options)}


class Text(Field[str]):
    """Free text of one line."""

    expects = "a text of at most 4,096 characters without line breaks"

    def check(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > 4096 or any(c in value for c in "\0\n\r"):
            raise self.refuse(value)
        if not is_unicode(value):
            raise FieldError(self.name, f"{quoted(value)} has characters that are not Unicode and cannot be saved.")
        return value

    def parse(self, text: str) -> str:
        return self.check(text)

    def limits_schema(self) -> dict[str, JSON]:
        return {"type": "string", "maxLength": 4096}


class FilePath(Text):
    """Where something lies: a file or a folder. Relative paths start at the project's folder."""

    def __init__(
        self,
        default: str = "",
        *,
        folder: bool = False,
        pattern: str = "",
        folder_when: Visible | None = None,
        pattern_for: Callable[[Any], str] | None = None,
        **described: Any,
    ) -> None:
        super().__init__(default, **described)
        self.folder = folder
        self.pattern = pattern
        self.folder_when = folder_when
        self.pattern_for = pattern_for

    def check(self, value: object) -> str:
        return super().check(str(value) if isinstance(value, PurePath) else value)


class Ints(Field[tuple[int, ...]]):
    """A list of whole numbers, such as the sizes of an array. A fixed `length` accepts one number for all places."""

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
        one = Int(0, low=self.low, high=self.high)
        try:
            return tuple(one.check(item) for item in value)
        except FieldError:
            raise self.refuse(value) from None

    def _numbers(self, text: str) -> list[int] | int:
        """The numbers of a typed text such as `3 × 3` or `0, 1`."""
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
    """A list of real numbers, such as a weight for each class, shown as `1, 2.5`."""

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
        one = Float(0.0, low=self.low)
        try:
            return tuple(one.check(float(item) if isinstance(item, str) else item) for item in value)
        except (ValueError, FieldError):
            raise self.refuse(value) from None

    def write(self, value: tuple[float, ...]) -> JSON:
        return list(value)

    def show(self, value: tuple[float, ...]) -> str:
        return ", ".join(map(Float(0.0).show, value))

    def limits_schema(self) -> dict[str, JSON]:
        items = Float(0.0, low=self.low).limits_schema()
        return {"anyOf": [items, {"type": "array", "items": items, "maxItems": self.MOST}]}


class Size(Ints):
    """Sizes along the spatial axes, shown as `3 × 3`."""

    def __init__(self, default: Sequence[int] | int, *, length: int, low: int = 1, **described: Any) -> None:
        super().__init__(default, length=length, low=low, separator=" × ", **described)


PaddingValue = str | tuple[int, ...]


class Padding(Field[PaddingValue]):
    """Border before a sliding window: a word (`same`, perhaps `causal`) or so many on both sides of each axis."""

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


class Record:
    """An immutable value with declared fields. Values equal to their default are not stored, nor written.

    Subclasses declare fields as class attributes; `fields` maps their names in the order of declaration, inherited ones
    first, in the order of the bases, and those without a group before those with one. Two records are equal if they
    have the same type and the same values.
    """

    fields: ClassVar[Mapping[str, Field[Any]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherited = dict.fromkeys(name for base in cls.__bases__ for name in getattr(base, "fields", {}))
        declared: dict[str, Field[Any]] = {name: getattr(cls, name) for name in inherited}
        declared |= {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        # A field without a group would seem, in a form, to belong to the group before it.
        cls.fields = dict(sorted(declared.items(), key=lambda item: bool(item[1].group)))

    def __init__(self, /, **values: object) -> None:
        errors: list[FieldError] = []
        self._values: dict[str, Any] = {}
        self._unknown: Mapping[str, JSON] = {}
        for name, value in values.items():
            field = self.fields.get(name)
            if len(errors) == MOST_ERRORS:
                errors.append(FieldError("", "... and perhaps more: the rest was not read."))
                break
            if field is None:
                hint = did_you_mean(name, self.fields)
                errors.append(FieldError(path_part(name), f"there is no such field.{hint}"))
                continue
            try:
                self._values[name] = field.check(value)
            except FieldError as error:
                errors.append(error)
        if errors:
            raise FieldErrors(errors)
        for name in list(self._values):
            if self._values[name] == self.fields[name].default_for(self):
                del self._values[name]
        self._key = (type(self), tuple(sorted(self._values.items())))
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Record) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._values.items())})"

    def replace(self, /, **values: object) -> Self:
        """The same record with other values. Raises `FieldErrors`."""
        new = type(self)(**{**self._values, **values})
        new._unknown = self._unknown
        return new

    def changed(self) -> dict[str, Any]:
        """The values that differ from their defaults."""
        return {name: self._values[name] for name in self.fields if name in self._values}

    def is_visible(self, name: str) -> bool:
        """Whether the field applies, given the other values."""
        rule = self.fields[name].visible_when
        return rule is None or rule(self)

    def problems(self) -> list[FieldError]:
        """What does not go together across fields. Each limit of one field is the field's own business."""
        return []

    @classmethod
    def read(cls, data: object, where: str, *, keep_unknown: bool = False) -> Self:
        """The record from JSON. `where` begins the path in errors; unknown keys are an error or are kept."""
        if not isinstance(data, dict):
            raise FieldErrors([FieldError(where, f"expected an object, received {quoted(data)}.")])
        unknown = {name: value for name, value in data.items() if name not in cls.fields}
        try:
            if unknown and not keep_unknown:
                cls(**data)  # words the errors, all of them at once
            record = cls(**{name: value for name, value in data.items() if name in cls.fields})
        except FieldErrors as refused:
            raise FieldErrors(
                FieldError(f"{where}.{e.path}" if e.path else "", e.message) for e in refused.errors
            ) from None
        record._unknown = unknown
        return record

    def write(self) -> dict[str, JSON]:
        """The record as JSON: what differs from the defaults, in the order of declaration, then what was not known."""
        known = {name: self.fields[name].write(value) for name, value in self.changed().items()}
        return {**known, **self._unknown}

    @classmethod
    def schema(cls) -> dict[str, JSON]:
        """JSON Schema of the record."""
        properties = {name: field.schema() for name, field in cls.fields.items()}
        return {"type": "object", "properties": properties, "additionalProperties": False}


def set_by_text(record: Record, name: str, text: str, where: str) -> Any:
    """The record with one field set from typed text, for `--set`. Raises `UserError` that names the path."""
    field = record.fields.get(name)
    if field is None:
        hint = did_you_mean(name, record.fields)
        known = ", ".join(record.fields)
        raise UserError(f"{where}.{name}: there is no such option.{hint} The options of '{where}' are: {known}.")
    try:
        return record.replace(**{name: field.parse(text)})
    except FieldError as error:
        raise FieldError(f"{where}.{error.path}", error.message) from None


def all_problems(records: Iterable[tuple[str, Record]]) -> list[FieldError]:
    """The cross-field problems of several records, with the section's name before each path."""
    return [FieldError(f"{where}.{e.path}", e.message) for where, record in records for e in record.problems()]


FIELD_KINDS: Final = (Int, Float, Bool, Choice, Text, FilePath, Ints, Floats, Size, Padding)
