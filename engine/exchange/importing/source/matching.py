"""Find the layer that becomes given calls: the inverse of `LayerType.lower`, by search over its fields.

Values that stand in the calls are tried in the fields until the layer lowers to exactly these calls. So a layer type
needs no rule for the way back, and what is found is right by construction: it prints as the file has it.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import Bool, Choice, Float, Int, Text
from netwright.engine.core.list_fields import Floats, Ints, Padding
from netwright.engine.core.types import Symbol, TensorType
from netwright.engine.layers.base import Call, LayerType, as_chain
from netwright.engine.layers.inputs import FeatureInput, ImageInput, SequenceInput, VolumeInput
from netwright.engine.layers.weighted import GROUP
from netwright.engine.lowering.module import resolve
from netwright.engine.network.block import Block
from netwright.engine.network.catalog import catalog

MOST_TRIES = 6000
MOST_VALUES = 40
"""Most values of a field that are tried together with those of another."""
SIZES = ("kernel_size", "stride", "padding", "dilation", "output_padding", "output_size")
"""Arguments in which one number stands for the same along every axis."""
RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
NOT_SEARCHED = {"custom", "function", "block_input", "block_output"}
GENERIC = {"permute", "flatten", "unflatten", "transpose", "long", "float", "unsqueeze", "select"}
"""Methods that many layers use around their own call."""
_FAILURES = (UserError, ArithmeticError, ValueError, TypeError, LookupError, NotImplementedError, StopIteration)


@dataclass(frozen=True)
class Plain:
    """A call without what makes no difference: names, defaults, the spelling of sizes."""

    target: str
    kind: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    call_kwargs: tuple[tuple[str, Any], ...]
    as_list: bool
    pick: int | None
    tensors: int

    @classmethod
    def of(cls, call: Call, inputs: int = 1) -> "Plain":
        """Return a call of a layer, or of a file, in its plain form. `inputs` is the number of tensors that enter."""
        kwargs = _bound(call) if call.kind == "module" else dict(call.kwargs)
        values = {name: _value(name, value) for name, value in kwargs.items()}
        args = tuple(_value("", value) for value in call.args) if call.kind != "module" else ()
        called = tuple(sorted((name, _value("", value)) for name, value in call.call_kwargs.items()))
        rest = (call.as_list, call.pick, inputs * call.repeat)
        return cls(call.target, call.kind, args, tuple(sorted(values.items())), called, *rest)


def _value(name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        items = tuple(_value("", item) for item in value)
        return items[0] if name in SIZES and items and len(set(items)) == 1 else items
    return value


def _bound(call: Call) -> dict[str, Any]:
    """Return the arguments of a constructor by name, with its defaults. Those that do not fit stay as they are."""
    names = _parameters(call.target)
    if len(call.args) > len(names):
        return {**call.kwargs, "*": call.args}
    given = dict(zip(names, call.args, strict=False)) | dict(call.kwargs)
    return {**{name: default for name, default in names.items() if default is not inspect.Parameter.empty}, **given}


@cache
def _parameters(target: str) -> Mapping[str, Any]:
    """Return the parameters of a constructor with their defaults; `empty` where there is none."""
    if target in ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"):
        return dict.fromkeys(RECURRENT, inspect.Parameter.empty)
    try:
        found = inspect.signature(resolve(target)).parameters.values()
    except (TypeError, ValueError, AttributeError, ImportError, UserError):
        return {}
    usual = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {one.name: one.default for one in found if one.kind in usual}


@lru_cache(maxsize=20_000)
def layer_of(calls: tuple[Plain, ...], inputs: tuple[TensorType, ...]) -> LayerType | None:
    """Return the layer that becomes these calls for inputs of these types, or None."""
    tried = []
    for type in (*_candidates(calls, inputs), *_named(calls)):
        if type in tried:
            continue
        tried.append(type)
        found = _Search(type, calls, inputs).run()
        if found is not None:
            return found
    return None


def is_known(calls: Sequence[Plain], inputs: Sequence[TensorType]) -> bool:
    """Return whether a layer type uses the first call in any way, so that only its arguments may not fit."""
    return any(True for _ in _candidates(tuple(calls[:1]), tuple(inputs)))


def _candidates(calls: tuple[Plain, ...], inputs: tuple[TensorType, ...]) -> Iterator[type[LayerType]]:
    """Yield the layer types that may become these calls, the likeliest first."""
    wanted = {call.target for call in calls}
    own = wanted - GENERIC or wanted
    layouts = tuple((one.axes, one.kind, one.is_open) for one in inputs)
    ranked = []
    for place, (key, type) in enumerate(catalog().items()):
        if key in NOT_SEARCHED or type.is_input or issubclass(type, Block):
            continue
        targets = _targets(key, layouts)
        if own & targets:
            ranked.append((len(own - targets), len(targets - wanted) > 8, place, type))
    yield from (type for *_, type in sorted(ranked, key=lambda one: one[:3]))


def _named(calls: tuple[Plain, ...]) -> Iterator[type[LayerType]]:
    """Yield the layer types in whose rules the calls are named: those that need other fields for what enters."""
    words = {call.target.rpartition(".")[2] for call in calls}
    words = words - GENERIC or words
    for key, type in catalog().items():
        if key not in NOT_SEARCHED and not type.is_input and not issubclass(type, Block):
            text = _text(key)
            if any(f'"{word}"' in text or f".{word}" in text or f"{word}(" in text for word in words):
                yield type


@cache
def _text(key: str) -> str:
    """Return the source of the rules of a layer type."""
    own = [
        one
        for one in catalog()[key].__mro__
        if one.__module__.startswith("netwright.engine.layers") and one is not LayerType
    ]
    return "".join(inspect.getsource(one) for one in own)


def input_layer_of(calls: tuple[Plain, ...], type: type[LayerType], fields: Mapping[str, Any]) -> LayerType | None:
    """Return the input layer of a type with these fields that becomes these calls, or None. Numbers that stand in the
    source are those of a zscore: the other ways of normalising differ from it by how numbers are called."""
    given = dict(calls[0].kwargs)
    if given.get("scale") and "statistics" in type.fields:
        numbers = {"mean": given["shift"], "deviation": tuple(map(_inverse, given["scale"]))}
        fields = {**fields, "normalization": "zscore", "statistics": "given", **numbers}
    return _Search(type, calls, (), fields).run()


def _inverse(scale: float) -> float:
    """Return the number whose inverse this is, the shortest of those that differ by rounding."""
    return next((x for digits in range(1, 17) if 1.0 / (x := float(f"{1.0 / scale:.{digits}g}")) == scale), 1.0 / scale)


@cache
def _targets(key: str, layouts: tuple[tuple[Any, ...], ...]) -> frozenset[str]:
    """Return the targets of all calls that a layer type can become for inputs of these layouts, as far as one field
    decides."""
    usual = {"C": 8, "H": 16, "W": 16, "D": 16, "T": 16}
    inputs = tuple(
        TensorType(axes, tuple(Symbol("T") if a == "T" and is_open else usual[a] for a in axes), kind)
        for axes, kind, is_open in layouts
    )
    type, found = catalog()[key], set[str]()
    for values in _variants(type, len(inputs)):
        for given in (inputs, inputs[:1]):
            try:
                layer = type(**values)
                if len(layer.input_ports()) == len(given):
                    layer.output_types(*given)
                    found |= {call.target for call in as_chain(layer.lower(*given))}
            except _FAILURES:
                continue
    return frozenset(found)


def _variants(type: type[LayerType], count: int) -> Iterator[dict[str, Any]]:
    base = {"inputs": count} if "inputs" in type.fields and count > 1 else {}
    yield base
    for name, field in type.fields.items():
        if field.group == GROUP:
            continue
        if isinstance(field, Choice):
            yield from ({**base, name: option} for option in field.options)
        elif isinstance(field, Bool):
            yield from ({**base, name: value} for value in (True, False))
        elif isinstance(field, Padding):
            yield from ({**base, name: word} for word in field.words)
        elif isinstance(field, Float):
            yield {**base, name: 2.0}
        elif isinstance(field, Int) and name in ("groups", "layers", "window", "outputs", "key_channels"):
            yield from ({**base, name: value} for value in (1, 2))


class _Search:
    """Looks for the fields of one layer type, from its defaults, one or two at a time."""

    def __init__(
        self,
        type: type[LayerType],
        wanted: tuple[Plain, ...],
        inputs: tuple[TensorType, ...],
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        self.type, self.wanted, self.inputs = type, wanted, inputs
        self.fixed = dict(fixed or {})
        self.tries = 0
        self.values = _Values(wanted, len(inputs))

    def run(self) -> LayerType | None:
        """Return the layer, or None."""
        count = len(self.inputs)
        start = dict(self.fixed)
        if "inputs" in self.type.fields and count > 1:
            start["inputs"] = count
        elif "state_inputs" in self.type.fields and count > 1:
            start["state_inputs"] = True
        best, score = start, self.score(start)
        while score > 0 and self.tries < MOST_TRIES:
            found, lowest = self._single(best, score)
            if lowest >= score:
                found, lowest = self._pair(best, score)
            if lowest >= score:
                return None
            best, score = found, lowest
        return self._shortest(best) if score == 0 else None

    def _single(self, fields: dict[str, Any], score: float) -> tuple[dict[str, Any], float]:
        """Return the fields after the best change of each in turn, and their score."""
        best, lowest = fields, score
        for name, options in self.options().items():
            chosen = best
            for value in options:
                changed = {**best, name: value}
                if (new := self.score(changed)) < lowest:
                    chosen, lowest = changed, new
                if lowest == 0:
                    return chosen, lowest
            best = chosen
        return best, lowest

    def _pair(self, fields: dict[str, Any], score: float) -> tuple[dict[str, Any], float]:
        """Return the fields after the first change of two at once that helps."""
        options = self.options()
        for name, values in options.items():
            if not isinstance(self.type.fields[name], (Choice, Bool, Padding)) and len(values) > MOST_VALUES:
                continue
            for value in values:
                for other, others in options.items():
                    if other == name or self.tries > MOST_TRIES:
                        continue
                    for second in others:
                        changed = {**fields, name: value, other: second}
                        if (new := self.score(changed)) < score:
                            return changed, new
        return fields, score

    def _shortest(self, fields: dict[str, Any]) -> LayerType:
        """Return the layer without the changes that make no difference."""
        for name in list(fields):
            fewer = {key: value for key, value in fields.items() if key != name}
            if name not in self.fixed and self.score(fewer) == 0:
                fields = fewer
        return self.type(**fields)

    def options(self) -> dict[str, list[Any]]:
        """Return the values to try in each field."""
        found = {}
        for name, field in self.type.fields.items():
            if field.group != GROUP and name not in self.fixed:
                found[name] = list(dict.fromkeys(self.values.options(field)))
        return found

    def score(self, fields: Mapping[str, Any]) -> float:
        """Return how far the layer with these fields is from the wanted calls; 0: it becomes them."""
        self.tries += 1
        try:
            layer = self.type(**fields)
            if len(layer.input_ports()) != len(self.inputs) or layer.problems():
                return float("inf")
            layer.output_types(*self.inputs)
            calls = as_chain(layer.lower(*self.inputs))
        except _FAILURES:
            return float("inf")
        return distance(plain_chain(calls, len(self.inputs) or 1), self.wanted)


def plain_chain(calls: Sequence[Call], inputs: int) -> list[Plain]:
    """Return a chain in its plain form: the inputs enter the first call, each further one takes what leaves the one
    before."""
    return [Plain.of(call, inputs if number == 0 else 1) for number, call in enumerate(calls)]


def distance(found: Sequence[Plain], wanted: Sequence[Plain]) -> float:
    """Return the number of differences between two chains of calls, those of the calls themselves weighted."""
    total = 100.0 * abs(len(found) - len(wanted))
    for a, b in zip(found, wanted, strict=False):
        if a == b:
            continue
        if (a.target, a.kind) != (b.target, b.kind):
            shared = dict(a.kwargs).keys() & dict(b.kwargs).keys()
            total += 50 + sum(_apart(dict(a.kwargs)[name], dict(b.kwargs)[name]) for name in shared) - len(shared)
            continue
        total += _differences(dict(a.kwargs), dict(b.kwargs)) + _differences(dict(a.call_kwargs), dict(b.call_kwargs))
        total += (
            2 * (a.as_list != b.as_list)
            + (a.pick != b.pick)
            + (a.tensors != b.tensors)
            + 2 * abs(len(a.args) - len(b.args))
        )
        total += sum(_apart(x, y) for x, y in zip(a.args, b.args, strict=False))
    return total


def _differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> float:
    missing = a.keys() ^ b.keys()
    return len(missing) + sum(_apart(a[name], b[name]) for name in a.keys() & b.keys())


def _apart(a: Any, b: Any) -> float:
    """Return 0 for equal values, up to 1 for others: tuples may agree in part."""
    if a == b and isinstance(a, bool) == isinstance(b, bool):
        return 0.0
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return sum(_apart(x, y) for x, y in zip(a, b, strict=True)) / max(1, len(a))
    if isinstance(a, float) and isinstance(b, (int, float)) and not isinstance(b, bool):
        return 0.0 if abs(a - b) <= 1e-9 * max(abs(a), abs(b)) else 1.0
    return 1.0


class _Values:
    """The values in a chain of calls, and what follows from them."""

    def __init__(self, calls: Sequence[Plain], count: int) -> None:
        leaves = [leaf for call in calls for leaf in _leaves([call.args, dict(call.kwargs), dict(call.call_kwargs)])]
        numbers = [one for one in leaves if isinstance(one, int) and not isinstance(one, bool)]
        lengths = (one.bit_length() for one in numbers)  # of an integer format, from its smallest and largest number
        base = dict.fromkeys([*numbers, 0, 1, count])
        quotients = (a // b for a in base for b in base if b > 1 and a % b == 0 and a > 0)
        mirrored = (turned for one in base for turned in (-one, -1 - one))
        self.ints = list(dict.fromkeys([*base, *quotients, *mirrored, *lengths]))
        floats = [float(one) for one in leaves if isinstance(one, (int, float)) and not isinstance(one, bool)]
        inverse = [1 / one for one in floats if one]
        self.floats = list(dict.fromkeys([*floats, *inverse, *(-one for one in floats)]))
        self.texts = [one for one in leaves if isinstance(one, str)]
        self.tuples = list(dict.fromkeys(_tuples(calls)))

    def options(self, field: Any) -> Iterable[Any]:
        """Return the values to try in a field."""
        match field:
            case Bool():
                return (True, False)
            case Choice():
                return tuple(field.options)
            case Padding():
                length = len(field.sizes.default) if isinstance(field.sizes.default, tuple) else 1
                borders = [_turned(one)[::2] for one in self.tuples if len(one) == 2 * length]
                return [*field.words, *self._of_length(length), *borders]
            case Floats():
                rows = [tuple(map(float, one)) for one in self.tuples if all(isinstance(x, (int, float)) for x in one)]
                inverse = [tuple(1 / x for x in row) for row in rows if all(row)]
                return [*rows, *inverse, *((one,) for one in self.floats)]
            case Ints():
                whole = [one for one in self.tuples if all(isinstance(x, int) for x in one)]
                length = len(field.default) if isinstance(field.default, tuple) and len(field.default) else 1
                return [*self._of_length(length), *whole, *(one[1:] for one in whole), *map(_turned, whole)]
            case Int():
                return self.ints
            case Float():
                return self.floats
            case Text():
                return self.texts
        return ()

    def _of_length(self, length: int) -> list[tuple[int, ...]]:
        whole = [one for one in self.tuples if len(one) >= length and all(isinstance(x, int) for x in one)]
        parts = [one[start : start + length] for one in whole for start in range(len(one) - length + 1)]
        return [*dict.fromkeys(parts), *((one,) * length for one in self.ints if one >= 0)]


def _turned(one: tuple[int, ...]) -> tuple[int, ...]:
    """Return borders in the order of the axes: torch has the last axis first."""
    pairs = [one[n : n + 2] for n in range(0, len(one), 2)]
    return tuple(size for pair in reversed(pairs) for size in pair)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    else:
        yield value


def _tuples(calls: Sequence[Plain]) -> Iterator[tuple[Any, ...]]:
    """Yield the tuples in calls; the arguments of a call are one too."""
    for call in calls:
        if len(call.args) > 1:
            yield call.args
        waiting: list[Any] = [*call.args, *(value for _, value in (*call.kwargs, *call.call_kwargs))]
        while waiting:
            value = waiting.pop(0)
            if isinstance(value, tuple):
                yield value
                waiting += value


def input_fields(type: TensorType) -> tuple[type[LayerType], dict[str, Any]]:
    """Return the class of an input layer for a type, and its fields."""
    sizes = {axis: size if isinstance(size, int) else 0 for axis, size in zip(type.axes, type.sizes, strict=True)}
    match type.axes:
        case ("C",):
            return FeatureInput, {"channels": sizes["C"]}
        case ("C", "H", "W"):
            return ImageInput, {"channels": sizes["C"], "size": (sizes["H"], sizes["W"])}
        case ("C", "D", "H", "W"):
            return VolumeInput, {"channels": sizes["C"], "size": (sizes["D"], sizes["H"], sizes["W"])}
        case ("T", "C"):
            return SequenceInput, {"channels": sizes["C"], "length": sizes["T"]}
    return SequenceInput, {"content": "indices", "length": sizes["T"]}
