"""Typed fields of records, with default, limits, unit, label, help text and visibility."""

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from netwright.engine.core.choice_words import words_of
from netwright.engine.core.errors import FieldError, did_you_mean

if TYPE_CHECKING:
    from netwright.engine.core.records import Record


QUOTE_LIMIT = 60


def quoted(value: object) -> str:
    """Format a value for an error message: at most `QUOTE_LIMIT` characters, without control characters."""
    text = printable(json.dumps(_excerpt(value, 3), default=str, ensure_ascii=False))
    return text if len(text) <= QUOTE_LIMIT else text[: QUOTE_LIMIT - 3] + "..."


def _excerpt(value: object, depth: int) -> object:
    """Truncate a value that may be huge, or nested too deep for `json`."""
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
    """Return whether a text can be encoded as UTF-8. False with lone surrogates, as in file names with invalid
    bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """Escape characters of a text that are not printable (control, bidirectional and others), as in JSON."""
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def path_part(name: str) -> str:
    """Format a key from a file for the path in a message: unchanged, or quoted if it is long or not printable."""
    return name if len(name) <= QUOTE_LIMIT and name.isprintable() else quoted(name)


_PADDED_NUMBER = re.compile(r"^\s*(?:\+|(-))?0*(?=\d)")
_END_OF_CLAUSE = re.compile(r"\. |; ")

T = TypeVar("T")
JSON = Any
Visible = Callable[[Any], bool]


def first_clause(text: str) -> str:
    """Return a help text or a note up to its first full stop or semicolon."""
    return _END_OF_CLAUSE.split(text, maxsplit=1)[0]


class Field(Generic[T]):
    """Declared field of a `Record`.

    `default` may be a function of the record, for defaults that depend on another field (the rate on the solver).
    `matlab` and `torch` name the counterpart there, `none` if there is none, and are empty if nothing is said.
    `check` converts a value from JSON or a form, or raises `FieldError`.
    """

    name: str = ""
    expects: str = "a value"
    is_number: ClassVar[bool] = False

    def __init__(
        self,
        default: T | Callable[[Any], T],
        *,
        label: str = "",
        help: str = "",
        matlab: str = "",
        torch: str = "",
        unit: str = "",
        group: str = "",
        visible_when: Visible | None = None,
    ) -> None:
        self.default = default
        self.label = label
        self.description = help
        self.matlab = matlab
        self.torch = torch
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

    @property
    def help(self) -> str:
        """The description, followed by the counterparts in MATLAB and torch."""
        pairs = (("MATLAB", self.matlab), ("torch", self.torch))
        names = "; ".join(f"{whose}: {name}" for whose, name in pairs if name and name != "none")
        return ". ".join(part for part in (self.description, names) if part)

    @property
    def effect(self) -> str:
        """The first clause of the help: what the field does, for one line."""
        return first_clause(self.help)

    def default_for(self, record: Any) -> T:
        """Return the default, which may depend on the other values of the record."""
        default = self.default
        return default(record) if callable(default) else default

    def refuse(self, received: object, expects: str = "") -> FieldError:
        """Return the error for an invalid value. `expects` overrides the description of valid values."""
        return FieldError(self.name, f"expected {expects or self.expects}, received {quoted(received)}.")

    def check(self, value: object) -> T:
        """Convert a value from JSON or a form to the type of the field. Raises `FieldError`."""
        raise NotImplementedError

    def write(self, value: T) -> JSON:
        """Return the value as JSON for the project file."""
        return value

    def parse(self, text: str) -> T:
        """Parse typed text, from the command line or a form. Numbers may have leading zeros and a plus sign, which JSON
        does not allow. Raises `FieldError`."""
        try:
            return self.check(json.loads(_PADDED_NUMBER.sub(r"\1", text) if self.is_number else text))
        except (ValueError, RecursionError):
            return self.check(text)

    def show(self, value: T) -> str:
        """Format the value as the user would type it."""
        return str(value)

    def schema(self) -> dict[str, JSON]:
        """Return the JSON Schema of the field."""
        described: dict[str, JSON] = {"title": self.label, **self.limits_schema()}
        if self.help:
            described["description"] = self.help
        if not callable(self.default):
            described["default"] = self.write(self.default)
        return described

    def limits_schema(self) -> dict[str, JSON]:
        """Return type and limits for the JSON Schema."""
        return {}


_LONG = 1e8
NO_LIMIT = 2**31 - 1
"""Default upper limit. It appears only in the error for a larger number."""


class Int(Field[int]):
    """Integer within limits, both inclusive. `zero` is a word that stands for 0, such as auto or never; `purpose` ends
    what is expected, such as `for width and height`."""

    is_number = True

    def __init__(
        self,
        default: int | Callable[[Any], int],
        *,
        low: int = 0,
        high: int = NO_LIMIT,
        zero: str = "",
        purpose: str = "",
        **described: Any,
    ) -> None:
        super().__init__(default, **described)
        self.low = low
        self.high = high
        self.zero = zero
        self.purpose = purpose

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the limits
        number = self._number_from(max(1, self.low)) if self.zero else self._number_from(self.low)
        return " ".join(filter(None, [f"{self.zero}, or" if self.zero else "", number, self.purpose]))

    def _number_from(self, low: int) -> str:
        if self.high == NO_LIMIT:
            return f"a whole number of at least {low:,}"
        return f"a whole number from {low:,} to {self.high:,}"

    def check(self, value: object) -> int:
        if self.zero and isinstance(value, str) and value.strip().lower() == self.zero:
            return 0
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if not isinstance(number, int) or isinstance(number, bool) or not self.low <= number <= self.high:
            raise self.refuse(value, f"a whole number of at most {self.high:,}" if _is_above(number, self.high) else "")
        return number

    def show(self, value: int) -> str:
        return self.zero if self.zero and value == 0 else str(value)

    def limits_schema(self) -> dict[str, JSON]:
        number: dict[str, JSON] = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return {"anyOf": [number, {"const": self.zero}]} if self.zero else number


def _is_above(number: object, high: int) -> bool:
    return isinstance(number, int) and number > high == NO_LIMIT


class Float(Field[float]):
    """Real number within limits; `above` is an exclusive lower limit. Infinity is accepted only if `infinite`."""

    is_number = True

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
        if abs(value) >= _LONG:  # long rows of zeros are hard to read
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


class Bool(Field[bool]):
    """Boolean value."""

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
    """Choice of one option. `notes` describes the options, `words` is what a form shows in place of those for which
    `words_of` has no good words. `offered`
    returns the options that are compatible with the other values of a record: the form disables the others, and
    `problems` of the record gives the reason. `removed` maps options of older versions to a hint about the
    replacement."""

    def __init__(
        self,
        default: str,
        *,
        options: Sequence[str],
        notes: Mapping[str, str] | None = None,
        words: Mapping[str, str] | None = None,
        offered: Callable[[Any], Collection[str]] | None = None,
        removed: Mapping[str, str] | None = None,
        **described: Any,
    ) -> None:
        super().__init__(default, **described)
        self.options = tuple(options)
        self.notes = dict(notes or {})
        self.words = dict(words or {})
        self.removed = dict(removed or {})
        self.offered = offered

    def word(self, option: str) -> str:
        """Return the text of an option in a form."""
        return self.words.get(option) or words_of(option)

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the options
        return "one of " + ", ".join(self.options)

    def check(self, value: object) -> str:
        if isinstance(value, str) and value in self.removed:
            raise FieldError(self.name, f"{quoted(value)} is not offered any more. {self.removed[value]}")
        if not isinstance(value, str) or value not in self.options:
            hint = did_you_mean(value, self.options) if isinstance(value, str) else ""
            raise FieldError(self.name, f"expected {self.expects}, received {quoted(value)}.", hint=hint)
        return value

    def parse(self, text: str) -> str:
        return self.check(text)

    def limits_schema(self) -> dict[str, JSON]:
        return {"enum": list(self.options)}


class Text(Field[str]):
    """Text of a single line."""

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


class ColumnNames(Text):
    """One or several names of columns of the data, separated by commas."""


class FilePath(Text):
    """Path of a file or a folder. Relative paths are resolved against the folder of the project."""

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
