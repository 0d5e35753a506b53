import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run, sizes_of

T = Symbol("T")
INPUTS = {1: sequence(9, 4), 2: image(4, 9, 8), 3: volume(4, 9, 8, 7)}


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        type.output(x)
    return caught.value


@pytest.mark.parametrize("key", ["max_pool2d", "average_pool2d"])
@pytest.mark.parametrize(
    ("values", "size"),
    [
        ({}, (4, 4)),
        ({"kernel": 3}, (4, 3)),
        ({"kernel": 3, "padding": 1}, (5, 4)),
        ({"kernel": [3, 2], "stride": [1, 3]}, (7, 3)),
        ({"padding": "same"}, (5, 4)),
        ({"padding": "same", "stride": 1}, (9, 8)),
        ({"padding": "same", "kernel": 5, "stride": 3}, (3, 3)),
        ({"padding": "same", "kernel": 1, "stride": 3}, (3, 3)),
    ],
)
def test_sizes_of_pooling(key, values, size):
    pool = layer(key, **values)
    assert pool.output(image(2, 9, 8)) == image(2, *size)
    assert_as_declared(pool, image(2, 9, 8))


@pytest.mark.parametrize("key", ["max_pool", "average_pool"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("values", [{}, {"kernel": 3, "padding": 1}, {"padding": "same"}, {"kernel": 4, "stride": 3}])
def test_all_dimensions_are_as_torch_has_them(key, dims, values):
    assert_as_declared(layer(f"{key}{dims}d", **values), INPUTS[dims])


@pytest.mark.parametrize(
    ("key", "values", "expected"),
    [
        ("max_pool1d", {"padding": "same"}, [-1, -3, -5]),
        ("max_pool1d", {"kernel": 3, "stride": 2, "padding": 1}, [-1, -2, -4]),
        ("average_pool1d", {"padding": "same"}, [-1.5, -3.5, -2.5]),
        ("average_pool1d", {"padding": "same", "padding_value": "mean"}, [-1.5, -3.5, -5]),
        ("average_pool1d", {"kernel": 3, "stride": 2, "padding": 1}, [-1, -3, -3]),
        ("average_pool1d", {"kernel": 3, "stride": 2, "padding": 1, "padding_value": "mean"}, [-1.5, -3, -4.5]),
        ("average_pool1d", {"stride": 1, "padding": "same", "padding_value": "mean"}, [-1.5, -2.5, -3.5, -4.5, -5]),
    ],
)
def test_padded_places_by_hand(key, values, expected):
    x = -torch.arange(1.0, 6.0).view(1, 5, 1)
    result = run(layer(key, **values), x, x=[sequence(5, 1)])
    assert result.flatten().tolist() == pytest.approx(expected)


@pytest.mark.parametrize("dims", [2, 3])
def test_padded_places_left_out_in_more_dimensions(dims):
    pool = layer(f"average_pool{dims}d", padding="same", padding_value="mean", kernel=3, stride=2)
    x = INPUTS[dims]
    result = run(pool, torch.ones(2, *sizes_of(x)), x=[x])
    torch.testing.assert_close(result, torch.ones_like(result))


def test_what_pooling_refuses():
    assert "Expected an image" in str(refusal(layer("max_pool2d"), features(4)))
    error = refusal(layer("max_pool2d", kernel=[4, 3], padding=2), image(1, 9, 9))
    assert error.field == "padding"
    assert "at most half the kernel, 1 along axis W; received 2" in str(error)
    error = refusal(layer("average_pool2d", kernel=5), image(1, 4, 4))
    assert error.field == "kernel"
    assert "covers 5 along axis H, and the input has 4" in str(error)
    error = refusal(layer("max_pool1d", padding="same"), sequence(T, 2))
    assert error.field == "padding"


def test_any_length_flows_through():
    assert layer("max_pool1d").output(sequence(T, 2)) == sequence(Symbol("T'"), 2)
    for key in ("max_pool1d", "average_pool1d"):
        assert_as_declared(layer(key, stride=1, padding="same"), sequence(T, 2))
    assert layer("global_average_pool").output(sequence(T, 2)) == features(2)
    assert layer("adaptive_max_pool1d", size=4).output(sequence(T, 2)) == sequence(4, 2)
    assert_as_declared(layer("adaptive_max_pool1d", size=4), sequence(T, 2))


@pytest.mark.parametrize("key", ["global_average_pool", "global_max_pool"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_global_pooling_leaves_features(key, dims):
    assert layer(key).output(INPUTS[dims]) == features(4)
    assert_as_declared(layer(key), INPUTS[dims])


@pytest.mark.parametrize("key", ["global_average_pool", "global_max_pool"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_global_pooling_may_keep_the_axes(key, dims):
    x = INPUTS[dims]
    pool, given = layer(key, keep_axes=True), torch.rand(2, *sizes_of(x))
    assert pool.output(x) == x.with_sizes(**dict.fromkeys(x.spatial, 1))
    assert_as_declared(pool, x)
    assert torch.equal(run(pool, given, x=[x]).flatten(1), run(layer(key), given, x=[x]))


def test_global_pooling_by_hand():
    x = torch.tensor([[[1.0, 10.0], [3.0, 20.0]]])
    assert run(layer("global_average_pool"), x, x=[sequence(2, 2)]).tolist() == [[2, 15]]
    assert run(layer("global_max_pool"), x, x=[sequence(2, 2)]).tolist() == [[3, 20]]
    error = refusal(layer("global_max_pool"), tokens(3))
    assert str(error).startswith("Expected an image (C × H × W), a volume (C × D × H × W) or a sequence (T × C), rec")


@pytest.mark.parametrize("key", ["adaptive_average_pool", "adaptive_max_pool"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 4, 12])
def test_adaptive_pooling(key, dims, size):
    pool = layer(f"{key}{dims}d", size=size)
    out = pool.output(INPUTS[dims])
    assert [out[axis] for axis in out.spatial] == [size] * dims
    assert out["C"] == 4
    assert_as_declared(pool, INPUTS[dims])


def test_adaptive_cells_by_hand():
    x = torch.arange(1.0, 6.0).view(1, 5, 1)
    assert run(layer("adaptive_average_pool1d", size=2), x, x=[sequence(5, 1)]).flatten().tolist() == [2, 4]
    assert run(layer("adaptive_max_pool1d", size=2), x, x=[sequence(5, 1)]).flatten().tolist() == [3, 5]


def test_what_is_told_on_the_canvas():
    assert layer("max_pool2d", kernel=[2, 3]).short_value() == "2 × 3"
    assert layer("adaptive_max_pool2d", size=[2, 3]).short_value() == "2 × 3"


@pytest.mark.parametrize("values", [{}, {"kernel": 3, "padding": 1}, {"kernel": 2, "stride": 1, "padding": "same"}])
@pytest.mark.parametrize("key", ["max_pool1d", "average_pool1d"])
def test_the_length_of_a_sequence_stays_open_in_an_export(key, values):
    module = Lowered(layer(key, **values), sequence(T, 2)).eval()
    free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    exported = torch.export.export(module, (torch.rand(3, 7, 2),), dynamic_shapes=((free,),)).module()
    x = torch.rand(2, 12, 2)
    assert torch.equal(exported(x), module(x))
