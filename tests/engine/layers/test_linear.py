import pytest

from engine.errors import MisfitError
from engine.layers.types import Symbol, features, image, sequence, tokens
from tests.builders import layer
from tests.lowered import assert_as_declared

T = Symbol("T")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (features(7), features(3)),
        (image(2, 4, 5), features(3)),
        (sequence(6, 7), sequence(6, 3)),
        (sequence(T, 7), sequence(T, 3)),
    ],
)
def test_sizes_learnables_and_work(x, expected, bias):
    type = layer("fully_connected", outputs=3, bias=bias)
    assert type.output(x) == expected
    assert_as_declared(type, x)


def test_what_is_refused():
    for x, words in [
        (tokens(4), "Expected real numbers, received tokens of 4"),
        (image(0, 4, 4), "at least one number along each axis"),
        (image(3, Symbol("H"), 4), "Every size must be known to flatten the input"),
        (features(Symbol("C")), "decides the size of the weights"),
    ]:
        with pytest.raises(MisfitError, match=words):
            layer("fully_connected").output(x)
