"""Parameters of an experiment: values that differ between its trials, as JSON and as typed text."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from netwright.engine.core.errors import FieldError, UserError
from netwright.engine.core.fields import JSON, Field, quoted
from netwright.engine.core.formula import Formula
from netwright.engine.core.text import format_number

MOST_PARAMETERS = 100
MOST_VALUES = 10_000
MOST_TRIALS = 100_000
DEFAULT_STEPS = 5
"""Points of a range in a grid, where the parameter gives no number."""
_LIMIT = 1e300


@dataclass(frozen=True)
class Parameter:
    """A value that differs between trials: one of `values`, or a number from `low` to `high`.

    `path` is the key of an option, `training.momentum`, a field of a layer, `network.conv_1.filters` (inside blocks
    `network.block_1/conv.filters`), or `network`: then the values are project files, whose network each trial takes.
    `steps` is the number of points of a range in a grid; 0: `DEFAULT_STEPS`. `when` is a condition: where it does not
    hold, the value of the project stays.
    """

    path: str
    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    is_log: bool = False
    steps: int = 0
    when: str = ""

    @property
    def is_range(self) -> bool:
        """True if the value is a number between two ends."""
        return not self.values

    @classmethod
    def read(cls, data: object) -> Self:
        """Return the parameter of a JSON object, or of text as `--vary` takes it. Raises `UserError`."""
        if isinstance(data, cls):
            return data
        if isinstance(data, str):
            data = _from_text(data)
        if not isinstance(data, dict) or not isinstance(data.get("path"), str) or not data["path"].strip():
            raise UserError(f"a parameter needs a path such as training.momentum; received {quoted(data)}.")
        path = data["path"].strip()
        unknown = data.keys() - {"path", "values", "low", "high", "log", "steps", "when"}
        if unknown:
            raise UserError(f"{path}: there is no {quoted(min(unknown))} in a parameter.")
        if ("values" in data) == ("low" in data or "high" in data):
            raise UserError(f"{path}: expected either values, or low and high.")
        when = str(data.get("when", ""))
        if when:
            Formula(when)
        if "values" in data:
            return cls(path, _values(path, data["values"]), when=when)
        low, high = (_number(path, data.get(end)) for end in ("low", "high"))
        is_log, steps = data.get("log", False), data.get("steps", 0)
        if low >= high:
            raise UserError(f"{path}: low should be below high; received {low:g} and {high:g}.")
        if is_log and low <= 0:
            raise UserError(f"{path}: a logarithmic range begins above 0; received {low:g}.")
        if not isinstance(is_log, bool) or type(steps) is not int or not 0 <= steps <= MOST_VALUES or steps == 1:
            raise UserError(f"{path}: log is true or false, and steps a whole number from 2 to {MOST_VALUES:,}.")
        return cls(path, (), low, high, is_log, steps, when)

    def write(self) -> dict[str, JSON]:
        """Return the parameter as JSON."""
        data: dict[str, JSON] = {"path": self.path}
        if self.values:
            data["values"] = _lists(self.values)
        else:
            data |= {"low": self.low, "high": self.high}
            data |= {"log": True} if self.is_log else {}
            data |= {"steps": self.steps} if self.steps else {}
        return data | ({"when": self.when} if self.when else {})

    def show(self) -> str:
        """Return the parameter as `--vary` takes it, without its condition."""
        if self.values:
            return f"{self.path}={','.join(_text(value) for value in self.values)}"
        steps = f":{self.steps}" if self.steps else ""
        return f"{self.path}={'log ' if self.is_log else ''}{self.low:g}..{self.high:g}{steps}"

    def points(self, *, is_whole: bool) -> tuple[Any, ...]:
        """Return the values in a grid: all of them, or the points of the range, evenly apart or by an even factor."""
        if self.values:
            return self.values
        count = self.steps or DEFAULT_STEPS
        numbers = [self.at(step / (count - 1), is_whole=is_whole) for step in range(count)]
        return tuple(dict.fromkeys(numbers))

    def at(self, share: float, *, is_whole: bool) -> Any:
        """Return the value at a share of the way, from 0 to 1, through the range or the list of values."""
        if self.values:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        if share in (0.0, 1.0):
            number = self.high if share else self.low  # exactly, without the rounding of logarithms
        elif self.is_log:
            number = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            number = self.low + share * (self.high - self.low)
        if is_whole:
            return max(math.ceil(self.low), min(math.floor(self.high), round(number)))
        return min(max(float(f"{number:.6g}"), self.low), self.high)


_RANGE = re.compile(r"(log\s+)?([-+.\deE]+?)\s*\.\.\s*([-+.\deE]+?)(?::(\d+))?")


def _from_text(text: str) -> dict[str, Any]:
    """Return the JSON of `PATH=a,b,c`, `PATH=low..high`, `PATH=log low..high`, or with `:N` points of a grid."""
    path, equals, values_text = text.partition("=")
    if not equals or not values_text.strip():
        raise UserError(
            f"{quoted(text)}: expected PATH=VALUE,VALUE or PATH=LOW..HIGH, such as training.momentum=0.8,0.9 or "
            "training.initial_learn_rate=log 0.0001..0.1."
        )
    if match := _RANGE.fullmatch(values_text.strip()):
        log, low, high, steps = match.groups()
        data: dict[str, Any] = {"path": path, "low": _typed(low), "high": _typed(high)}
        return data | ({"log": True} if log else {}) | ({"steps": int(steps)} if steps else {})
    try:
        values = json.loads(f"[{values_text}]")
    except ValueError:
        values = [_typed(part.strip()) for part in values_text.split(",") if part.strip()]
    return {"path": path, "values": values}


def _typed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        with_point = re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text)
        return float(text) if with_point else text


def _number(path: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LIMIT:
        raise UserError(f"{path}: expected a number for low and for high; received {quoted(value)}.")
    return value


def _values(path: str, values: object) -> tuple[Any, ...]:
    if not isinstance(values, list | tuple) or not 1 <= len(values) <= MOST_VALUES:
        raise UserError(f"{path}: expected 1 to {MOST_VALUES:,} values; received {quoted(values)}.")
    items = tuple(_hashable(path, value) for value in values)
    # 1 and True, and 1 and 1.0, are equal in Python and are different values in a project.
    return tuple({json.dumps(_lists(value)): value for value in items}.values())


def _hashable(path: str, value: object) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int() | float() if abs(value) < _LIMIT:
            return value
        case list() | tuple() if len(value) <= MOST_VALUES:
            return tuple(_hashable(path, item) for item in value)
    raise UserError(f"{path}: {quoted(value)} is no value of an option.")


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) and _is_plain(value) else json.dumps(_lists(value))


@lru_cache(maxsize=256)
def _is_plain(text: str) -> bool:
    return not re.search(r'[,"\[\]]|^\s|\s$|^$', text)


class Parameters(Field[tuple[Parameter, ...]]):
    """List of parameters, typed and shown as `PATH=a,b; PATH=log 0.001..0.1`."""

    expects = "parameters such as training.momentum=0.8,0.9 or training.initial_learn_rate=log 0.0001..0.1"

    def check(self, value: object) -> tuple[Parameter, ...]:
        if isinstance(value, str):
            value = [part for part in value.split(";") if part.strip()]
        if not isinstance(value, list | tuple) or len(value) > MOST_PARAMETERS:
            raise self.refuse(value, f"at most {MOST_PARAMETERS} parameters")
        try:
            parameters = tuple(Parameter.read(item) for item in value)
        except UserError as error:
            raise FieldError(self.name, str(error)) from None
        paths = [parameter.path for parameter in parameters]
        for path in paths:
            if paths.count(path) > 1:
                raise FieldError(self.name, f"{path} stands twice among the parameters.")
        return parameters

    def write(self, value: tuple[Parameter, ...]) -> JSON:
        return [parameter.write() for parameter in value]

    def show(self, value: tuple[Parameter, ...]) -> str:
        return "; ".join(parameter.show() for parameter in value)

    def limits_schema(self) -> dict[str, JSON]:
        number = {"type": "number"}
        properties = {
            "path": {"type": "string"},
            "values": {"type": "array", "minItems": 1, "maxItems": MOST_VALUES},
            "low": number,
            "high": number,
            "log": {"type": "boolean"},
            "steps": {"type": "integer", "minimum": 2, "maximum": MOST_VALUES},
            "when": {"type": "string"},
        }
        item = {"type": "object", "properties": properties, "required": ["path"], "additionalProperties": False}
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": item, "maxItems": MOST_PARAMETERS}]}


class Rows(Field[tuple[tuple[tuple[str, Any], ...], ...]]):
    """Table of trials: a row per trial, with a value by path."""

    expects = 'a list of rows such as {"training.momentum": 0.9}'

    def check(self, value: object) -> tuple[tuple[tuple[str, Any], ...], ...]:
        if not isinstance(value, list | tuple) or len(value) > MOST_TRIALS:
            raise self.refuse(value)
        try:
            return tuple(_row(row) for row in value)
        except UserError as error:
            raise FieldError(self.name, str(error)) from None

    def write(self, value: tuple[tuple[tuple[str, Any], ...], ...]) -> JSON:
        return [{path: _lists(item) for path, item in row} for row in value]

    def show(self, value: tuple[tuple[tuple[str, Any], ...], ...]) -> str:
        return json.dumps(self.write(value))

    def limits_schema(self) -> dict[str, JSON]:
        return {"type": "array", "items": {"type": "object"}, "maxItems": MOST_TRIALS}


def _row(row: object) -> tuple[tuple[str, Any], ...]:
    pairs = list(row.items()) if isinstance(row, dict) else row
    if not isinstance(pairs, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise UserError(f"expected a row such as {{'training.momentum': 0.9}}; received {quoted(row)}.")
    return tuple((str(path), _hashable(str(path), value)) for path, value in pairs)


def lists_of(values: Mapping[str, Any]) -> dict[str, JSON]:
    """Return values by path as JSON, with lists for tuples."""
    return {path: _lists(value) for path, value in values.items()}


def value_text(value: Any) -> str:
    """Return a value as a person types it."""
    return format_number(value, 6) if isinstance(value, float) else _text(value)


def texts_of(values: Mapping[str, Any], most: int = 0) -> Iterator[str]:
    """Yield `momentum 0.9` for each value, the last part of its path and the value; at most `most`, 0 for all."""
    for path, value in list(values.items())[: most or None]:
        yield f"{path.rpartition('.')[2]} {value_text(value)}"
