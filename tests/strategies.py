"""Generated values: fields of a record, and layers with inputs that they accept. Simplest are the defaults."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

from hypothesis import strategies as st

from netwright.engine.core.errors import FieldErrors, ShapeError
from netwright.engine.core.fields import Bool, Choice, Field, Float, Int
from netwright.engine.core.list_fields import Choices, Floats, Ints, Padding, Pairs, Range, Texts
from netwright.engine.core.records import Record
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.recurrent import RecurrentLayer
from netwright.engine.network import edits
from netwright.engine.network.catalog import catalog
from netwright.engine.network.network import Network, Port
from tests.builders import add, layer

SMALL = 6
MOST_STACKED = 3
"""Stacked recurrent layers: further ones are like the second and third, and each loop takes seconds to export."""
STEPS = Symbol("T")
CANDIDATES = (
    features(5),
    image(4, 9, 7),
    sequence(8, 4),
    sequence(STEPS, 6),
    tokens(6),
    volume(2, 6, 7, 5),
    image(1, 12, 12),
    image(6, 5, 8),
    tokens(STEPS),
    features(12),
    sequence(12, 2),
    volume(4, 5, 5, 5),
    TensorType(("C",), (6,), "complex"),
    TensorType(("C", "H", "W"), (3, 5, 4), "complex"),
    TensorType(("T", "C"), (STEPS, 4), "complex"),
)


def field_values(field: Field[Any], default: Any) -> st.SearchStrategy[Any]:
    """Values that a field takes: its default, or others kept small so that networks stay small."""
    return st.one_of(st.just(default), _others(field))


def _others(field: Field[Any]) -> st.SearchStrategy[Any]:
    match field:
        case Int():
            least = max(field.low, -SMALL)
            return st.integers(least, min(field.high, SMALL + max(0, least)))
        case Choices():
            return st.lists(st.sampled_from(field.options), min_size=1).map(lambda words: tuple(dict.fromkeys(words)))
        case Float():
            low = max(field.low, -2.0 if field.above is None else field.above)
            high = min(field.high, max(2.0, low))
            steps = st.integers(0 if field.above is None else 1, 20)
            return steps.map(lambda step: low + (high - low) * step / 20)
        case Bool():
            return st.booleans()
        case Choice():
            return st.sampled_from(field.options)
        case Padding():
            return st.one_of(st.sampled_from(field.words), _others(field.sizes))
        case Range():
            both = st.lists(st.integers(0, 20), min_size=2, max_size=2).map(sorted)
            return both.map(lambda ends: tuple(field.low + (field.high - field.low) * end / 20 for end in ends))
        case Floats():
            return st.integers(1, 20).map(lambda number: (number / 4,))
        case Ints() if field.length:
            one = st.integers(field.low, min(field.high, field.low + 3))
            return st.lists(one, min_size=field.length, max_size=field.length)
        case Ints():
            orders = [list(order) for count in (1, 2, 3, 4) for order in permutations(range(1, count + 1))]
            sizes = st.lists(st.integers(max(1, field.low), 8), min_size=1, max_size=4)
            return st.one_of(sizes, st.sampled_from(orders), st.sampled_from([[35], [-1], [-1, 4], [7, -1]]))
        case Pairs():
            return st.dictionaries(st.sampled_from(["a.weight", "b"]), st.sampled_from(["", "c.bias"]))
        case Texts():
            return st.lists(st.sampled_from(["a.png", "b/c, d.png", "e;f"]), max_size=3, unique=True)
    return st.just(field.default)


@cache  # a strategy is checked when it is drawn from for the first time, which takes longer than the drawing
def _values_of(kind: type[Record]) -> dict[str, tuple[Any, st.SearchStrategy[Any]]]:
    """The default of each field of a record, and values that the field takes."""
    plain = kind()
    return {name: (getattr(plain, name), field_values(f, getattr(plain, name))) for name, f in kind.fields.items()}


@st.composite
def records(draw: st.DrawFn, kind: type[Record]) -> Record | None:
    """A record with generated values, or None where they do not go together."""
    values: dict[str, Any] = {}
    for name, (default, strategy) in _values_of(kind).items():  # type: ignore[arg-type]
        value = draw(strategy)
        if not callable(kind.fields[name].default) or value != default:
            values[name] = value
    try:
        record = kind(**values)
    except FieldErrors:
        return None
    return None if record.problems() else record


@dataclass(frozen=True)
class Case:
    """One layer with values, and types that its input ports accept."""

    type: LayerType
    inputs: tuple[TensorType, ...]

    @property
    def output(self) -> TensorType:
        """What the layer declares."""
        return self.type.output(*self.inputs)

    @property
    def outputs(self) -> tuple[TensorType, ...]:
        """What the network of the case gives: what leaves each port that is no side port."""
        named = zip(self.type.output_ports(), self.type.output_types(*self.inputs), strict=True)
        return tuple(type for name, type in named if name not in self.type.side_ports())

    def with_steps(self, steps: int) -> "Case | None":
        """The case with a length for sequences of any length, or None where the layer does not take that length."""
        sizes = [tuple(s if isinstance(s, int) else steps for s in x.sizes) for x in self.inputs]
        known = tuple(TensorType(x.axes, size, x.kind) for x, size in zip(self.inputs, sizes, strict=True))
        return Case(self.type, known) if accepts(self.type, known) else None

    def network(self) -> Network:
        """The layer behind an input layer for each of its ports. The layer is the last one, called `layer_1`."""
        network = Network.empty()
        feeds = []
        for number, type in enumerate(self.inputs, 1):
            network, added = add(network, input_for(type), name=f"input_{number}")
            feeds.append(added)
        return add(network, self.type, *feeds, name="layer_1")[0]


def lifelike(case: Case) -> Network:
    """The case as a network that could be a user's: complex numbers and places of maxima come from layers that make
    them, and what a layer gives whatever enters is added to a further input."""
    network = Network.empty()
    if case.type.key == "max_unpool2d":
        network, start = add(network, input_for(image(4, 8, 6)), name="input_1")
        network, pool = add(network, layer("max_pool2d", indices=True), start)
        network, last = edits.add_layer(network, case.type, "layer_1")
        for place, (source, port) in enumerate(((pool, "out"), (pool, "indices"), (start, "out"))):
            network = edits.connect(network, Port(source.id, port), Port(last.id, case.type.input_ports()[place]))
        return network
    feeds = []
    for number, type in enumerate(case.inputs, 1):
        is_complex = type.kind == "complex"
        entering = TensorType(type.axes, type.with_sizes(C=2 * type["C"]).sizes) if is_complex else type  # type: ignore[operator]
        network, feed = add(network, input_for(entering), name=f"input_{number}")
        if is_complex:
            network, feed = add(network, layer("real_to_complex"), feed)
        feeds.append(feed)
    network, last = add(network, case.type, *feeds, name="layer_1")
    if case.type.key in ("constant", "learned_parameter"):
        network, other = add(network, input_for(case.output), name="input_2")
        network, _ = add(network, layer("addition", inputs=2), other, last)
    return network


def accepts(type: LayerType, inputs: tuple[TensorType, ...]) -> bool:
    """Whether the layer takes these."""
    try:
        type.output(*inputs)
    except ShapeError:
        return False
    return True


def input_for(type: TensorType) -> LayerType:
    """An input layer that gives this type, without a normalisation."""
    match type.layout if type.kind == "real" or type.axes == ("T",) else "":
        case "image":
            return layer("image_input", channels=type["C"], size=type.sizes[1:], normalization="none")
        case "features":
            return layer("feature_input", channels=type["C"], normalization="none")
        case "tokens":
            return layer("sequence_input", content="indices", length=_length(type))
        case "sequence":
            return layer("sequence_input", channels=type["C"], length=_length(type), normalization="none")
    return AnyInput(type)


def _length(type: TensorType) -> int:
    return steps if isinstance(steps := type["T"], int) else 0


class AnyInput(LayerType):
    """An input of a type that no layer of the library gives."""

    is_input = True

    def __init__(self, type: TensorType) -> None:
        super().__init__()
        self.given = type
        self._key = (AnyInput, (("given", type),))
        self._hash = hash(self._key)

    def output(self, *x: TensorType) -> TensorType:
        return self.given

    def lower(self, *x: TensorType) -> tuple[()]:
        return ()


def as_indices(type: TensorType) -> TensorType:
    """The type with whole numbers in place of real ones, for a port that is called `indices`."""
    return TensorType(type.axes, type.sizes, "index")


@st.composite
def cases(draw: st.DrawFn, key: str, candidates: Sequence[TensorType] = CANDIDATES) -> Case:
    """A layer of this type with generated values, and the first inputs that it accepts, from a drawn one on.

    Of several inputs one may differ from the others along one axis, where the layer accepts that.
    """
    type = draw(records(catalog()[key]).filter(lambda record: record is not None))
    assert isinstance(type, LayerType)
    if key == "transformer":  # twelve layers, which are alike, take long to export
        type = type.replace(encoder_layers=2, decoder_layers=1)
    if isinstance(type, RecurrentLayer) and type.stacked > MOST_STACKED:
        type = type.replace(layers=MOST_STACKED)
    if type.is_input:
        return Case(type, ())
    start = draw(st.integers(0, len(candidates) - 1))
    names = type.input_ports()
    ports = len(names)
    port, place, size = draw(st.integers(0, ports - 1)), draw(st.integers(0, 3)), draw(st.sampled_from([0, 1, 3]))
    for offset in range(len(candidates)):
        candidate = candidates[(start + offset) % len(candidates)]
        inputs = [candidate] * ports
        if size and ports > 1 and isinstance(candidate.sizes[place % candidate.rank], int):
            inputs[port] = candidate.with_sizes(**{candidate.axes[place % candidate.rank]: size})
        inputs = [as_indices(x) if name == "indices" else x for name, x in zip(names, inputs, strict=True)]
        if isinstance(type, RecurrentLayer):
            inputs = [features(type.state_size) if name in type.state_names else candidate for name in names]
        if accepts(type, tuple(inputs)):
            return Case(type, tuple(inputs))
    return draw(st.nothing())
