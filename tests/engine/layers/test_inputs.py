import pytest
import torch

from netwright.engine.core.errors import FieldErrors
from netwright.engine.core.types import Symbol, features, image, sequence, tokens, volume
from netwright.engine.layers.inputs import InputLayer
from tests.builders import layer
from tests.lowered import Lowered


@pytest.mark.parametrize(
    ("key", "values", "expected", "told"),
    [
        ("image_input", {}, image(1, 28, 28), "1 × 28 × 28"),
        ("image_input", {"channels": 3, "size": [8, 9]}, image(3, 8, 9), "3 × 8 × 9"),
        ("volume_input", {"channels": 2, "size": [7, 8, 9]}, volume(2, 7, 8, 9), "2 × 7 × 8 × 9"),
        ("sequence_input", {"channels": 3}, sequence(Symbol("T"), 3), "3 channels"),
        ("sequence_input", {"channels": 1, "length": 9}, sequence(9, 1), "1 channel"),
        ("sequence_input", {"content": "indices"}, tokens(Symbol("T")), "indices"),
        ("sequence_input", {"content": "indices", "length": 9}, tokens(9), "indices"),
        ("feature_input", {"channels": 1200}, features(1200), "1,200 features"),
    ],
)
def test_what_is_declared_is_what_enters(key, values, expected, told):
    type = layer(key, **values)
    assert type.output() == expected
    assert type.short_value() == told
    assert type.is_input
    assert type.input_ports() == ()


@pytest.mark.parametrize("key", ["image_input", "volume_input", "sequence_input", "feature_input"])
def test_normalisation_shifts_and_scales_each_channel(key):
    type = layer(key, channels=2)
    module = Lowered(type)
    module.made[0].shift.copy_(torch.tensor([1.0, 2.0]))
    module.made[0].scale.copy_(torch.tensor([10.0, 100.0]))
    out = type.output()
    sizes = [3 if axis != "C" else 2 for axis in out.axes]
    result = module(torch.full((1, *sizes), 3.0)).movedim(out.dim("C"), 0)
    assert result[0].unique().tolist() == [20]
    assert result[1].unique().tolist() == [100]
    assert layer(key, normalization="none").lower() == ()


def test_indices_are_not_normalised():
    type = layer("sequence_input", content="indices")
    assert type.lower() == ()
    assert not type.is_visible("normalization")
    assert not type.is_visible("channels")


def test_limits_of_fields():
    with pytest.raises(FieldErrors, match="channels: expected a whole number from 1 to 65,536, received 0"):
        layer("image_input", channels=0)
    with pytest.raises(FieldErrors, match=r"size: expected 2 whole numbers of at least 1, received \[8, 0\]"):
        layer("image_input", size=[8, 0])


@pytest.mark.parametrize(
    ("key", "values", "sizes"),
    [
        ("image_input", {"channels": 2, "size": [3, 4], "normalization_dimension": "element"}, [2, 3, 4]),
        ("image_input", {"channels": 2, "size": [3, 4], "normalization_dimension": "all"}, [1, 1, 1]),
        ("volume_input", {"size": [2, 3, 4], "normalization_dimension": "element"}, [1, 2, 3, 4]),
        ("sequence_input", {"channels": 2, "length": 5, "normalization_dimension": "element"}, [5, 2]),
        ("sequence_input", {"channels": 2, "normalization_dimension": "all"}, [1, 1]),
        ("feature_input", {"channels": 3, "normalization_dimension": "all"}, [1]),
    ],
)
def test_normalisation_per_element_and_for_all(key, values, sizes):
    type = layer(key, **values)
    assert type.problems() == []
    module = Lowered(type)
    count = torch.Size(sizes).numel()
    module.made[0].shift.copy_(torch.arange(float(count)))
    x = (
        torch.arange(float(count))
        .reshape(1, *sizes)
        .expand(2, *(s if isinstance(s, int) else 5 for s in type.output().sizes))
    )
    assert module(x).unique().tolist() == [0]


@pytest.mark.parametrize(
    ("method", "given", "expected"),
    [
        ("zscore", {"mean": [1, 2], "deviation": [4]}, [[0.0, 0.25], [0.0, 0.25]]),
        ("zerocenter", {"mean": 1}, [[0, 1], [1, 2]]),
        ("rescale-zero-one", {"minimum": [1, 0], "maximum": [3, 4]}, [[0, 0.5], [0.5, 0.75]]),
        ("rescale-symmetric", {"minimum": 1, "maximum": 3}, [[-1, 0], [0, 1]]),
    ],
)
def test_given_statistics_need_no_fit(method, given, expected):
    type = layer("feature_input", channels=2, normalization=method, statistics="given", **given)
    assert type.problems() == []
    assert isinstance(type, InputLayer)
    assert not type.is_fitted
    x = torch.tensor([[1.0, 2.0], [2.0, 3.0]])
    assert Lowered(type)(x).T.tolist() == expected


@pytest.mark.parametrize(
    ("key", "values", "field", "message"),
    [
        ("sequence_input", {"normalization_dimension": "element"}, "normalization_dimension", "no fixed number"),
        ("image_input", {"statistics": "given"}, "mean", "expected 1 number, received 0"),
        ("image_input", {"statistics": "given", "channels": 3, "mean": [1, 2]}, "mean", "expected 1 or 3 numbers"),
        ("image_input", {"statistics": "given", "mean": 1, "deviation": 0}, "deviation", "expected numbers above 0"),
        (
            "feature_input",
            {"statistics": "given", "normalization": "rescale-zero-one", "minimum": 1, "maximum": 1},
            "maximum",
            "expected more than the minimum",
        ),
    ],
)
def test_statistics_that_do_not_fit_are_named(key, values, field, message):
    (problem,) = layer(key, **values).problems()
    assert problem.path == field
    assert message in problem.message
