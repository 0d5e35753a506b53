"""What holds for every layer type: it describes itself, and refuses in no other way than in words."""

import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.core.types import Kind, Size, Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import Call, LayerType
from netwright.engine.network.catalog import catalog, layer_type
from tests.strategies import as_indices, records

SIZES: st.SearchStrategy[Size] = st.one_of(st.integers(0, 9), st.sampled_from([1, 2**31, Symbol("T"), Symbol("S")]))
AXES = st.sampled_from(["C", "CHW", "CDHW", "TC", "T", "H", "CTHW", "WHC"])
COMMON = [
    features(4),
    image(4, 9, 9),
    image(4, 8, 8),
    volume(4, 9, 9, 9),
    sequence(64, 4),
    sequence(Symbol("T"), 4),
    sequence(Symbol("T"), 8),
    tokens(8),
    TensorType(("C",), (4,), "complex"),
    image(4, 60, 9),
    image(4, 65, 16),
    volume(4, 16, 16, 16),
]


@st.composite
def types(draw: st.DrawFn) -> TensorType:
    """Any type, whether a layer gives it or not."""
    axes = tuple(draw(AXES))
    kinds: tuple[Kind, ...] = ("real", "real", "real", "index", "complex")
    return TensorType(axes, tuple(draw(SIZES) for _ in axes), draw(st.sampled_from(kinds)))


def answer(layer: LayerType, x: Sequence[TensorType]) -> TensorType | ShapeError:
    """What leaves the layer, or what does not fit."""
    try:
        return layer.output(*x)
    except ShapeError as error:
        return error


@pytest.mark.parametrize("key", catalog())
def test_nothing_but_a_shape_error_leaves_the_rules(key):
    @settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
    @given(records(catalog()[key]), st.data())
    def check(record, data):
        if record is None:
            return
        ports = record.input_ports()
        one = data.draw(st.one_of(st.sampled_from(COMMON), types()))
        x = [data.draw(st.one_of(st.just(one), types())) for _ in ports]
        assert isinstance(record.short_value(), str)
        output = answer(record, x)
        if isinstance(output, ShapeError):
            assert output.field is None or output.field in record.fields
            assert output.port is None or output.port in ports
            assert str(output).endswith(".")
            return
        assert len(output.axes) == len(output.sizes)
        assert 0 not in output.sizes or any(0 in type.sizes for type in x)
        assert all(isinstance(size, int) and size > 0 for sizes in record.weights(*x).values() for size in sizes)
        assert record.flops(*x) >= 0
        if key != "block":  # its plan is that of the network inside
            assert isinstance(record.lower(*x), (Call, tuple))

    check()


@pytest.mark.parametrize("key", catalog())
def test_a_layer_type_describes_itself(key):
    type = catalog()[key]
    assert type.key == key
    assert key == key.lower()
    assert type.summary().endswith((".", ")"))
    assert len(type.summary()) <= 120
    for field in type.fields.values():
        assert field.help, f"{key}.{field.name} has no help"
        assert not field.help.endswith(".")
    assert type().write() == {}
    assert type.read({}, "fields") == type()


def test_labels_are_unique():
    labels = [type.label for type in catalog().values()]
    assert len(labels) == len(set(labels))


def test_a_default_layer_takes_some_common_input():
    for key, type in catalog().items():
        if type().is_measured or key == "block_input":
            continue  # code of the user's is no matter of rules; a block says what enters it
        ports = type().input_ports()
        given = [[as_indices(x) if port == "indices" else x for port in ports] for x in COMMON]
        answers = [answer(type(), x) for x in given]
        assert any(isinstance(found, TensorType) for found in answers), key


def test_a_name_that_is_nearly_right():
    with pytest.raises(UserError, match=r"There is no layer type 'conv2'\. Did you mean 'conv2d'"):
        layer_type("conv2")


def test_the_catalog_needs_the_standard_library_only():
    code = (
        "import sys; from netwright.engine.network.catalog import catalog; catalog(); "
        "print(sorted({n.partition('.')[0] for n in sys.modules} & {'torch', 'numpy', 'PySide6'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_order_of_the_catalog_is_not_that_of_the_imports() -> None:
    """The palette, the schema and docs/layers.md follow it; a process that imports one layer type first has it too."""
    code = "import netwright.engine.layers.utility; "
    code += "from netwright.engine.network.catalog import catalog; print(*catalog())"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert printed == list(catalog())
