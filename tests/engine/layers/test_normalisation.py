import pytest
import torch

from engine.errors import MisfitError
from engine.layers.base import LayerType
from engine.layers.types import Symbol, TensorType, features, image, sequence, tokens, volume
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run, sizes_of

T = Symbol("T")
ANY = [features(6), sequence(5, 6), sequence(T, 6), image(6, 5, 4), volume(6, 3, 4, 5)]


def refusal(type: LayerType, x: TensorType) -> MisfitError:
    with pytest.raises(MisfitError) as caught:
        type.output(x)
    return caught.value


@pytest.mark.parametrize("key", ["batch_norm", "layer_norm", "group_norm", "instance_norm"])
@pytest.mark.parametrize("values", [{}, {"affine": False}, {"epsilon": 0.5}])
@pytest.mark.parametrize("x", ANY, ids=str)
def test_sizes_stay_and_learnables_are_torchs(key, values, x):
    if key == "instance_norm" and x.rank == 1:
        assert "Expected a sequence (T × C), an image" in str(refusal(layer(key), x))
        return
    norm = layer(key, **values)
    assert norm.output(x) == x
    assert norm.weights(x) == ({} if "affine" in values else {"weight": (6,), "bias": (6,)})
    assert_as_declared(norm, x)


def axes_of_mean(norm: LayerType, x: TensorType) -> set[int]:
    """The dimensions over which the mean of the result is zero for any input."""
    module = Lowered(norm, x).train()
    data = torch.randn(4, *sizes_of(x)) * 3 + torch.randn(4, *(1,) * x.rank)
    for axis in range(1, x.rank + 1):
        data = data + torch.randn([n if d == axis else 1 for d, n in enumerate(data.shape)])
    with torch.no_grad():
        result = module(data)
    sets = [(0, *(d for d in range(1, x.rank + 1) if d != x.dim("C"))), (x.dim("C"),), tuple(range(1, x.rank + 1))]
    sets.append(tuple(d for d in range(1, x.rank + 1) if d != x.dim("C")))
    zero = [dims for dims in sets if dims and result.mean(dims).abs().max() < 1e-5]
    return min((set(dims) for dims in zero), key=len)


@pytest.mark.parametrize(
    ("key", "values", "x", "dims"),
    [
        ("batch_norm", {}, features(6), {0}),
        ("batch_norm", {}, sequence(5, 6), {0, 1}),
        ("batch_norm", {}, image(6, 5, 4), {0, 2, 3}),
        ("layer_norm", {}, features(6), {1}),
        ("layer_norm", {}, sequence(5, 6), {2}),
        ("layer_norm", {"over": "batch-excluded"}, sequence(5, 6), {1, 2}),
        ("layer_norm", {}, image(6, 5, 4), {1, 2, 3}),
        ("layer_norm", {"over": "channel-only"}, image(6, 5, 4), {1}),
        ("layer_norm", {"over": "channel-only"}, volume(6, 2, 3, 4), {1}),
        ("group_norm", {}, sequence(5, 6), {1, 2}),
        ("group_norm", {"groups": 0}, sequence(5, 6), {1}),
        ("instance_norm", {}, sequence(5, 6), {1}),
        ("instance_norm", {}, image(6, 5, 4), {2, 3}),
    ],
)
def test_what_the_mean_is_taken_over(key, values, x, dims):
    assert axes_of_mean(layer(key, **values), x) == dims


def test_scale_and_shift_follow_the_channels_of_an_image():
    norm = Lowered(layer("layer_norm", over="channel-only"), image(2, 3, 3))
    with torch.no_grad():
        norm.made[0].weight.zero_()
        norm.made[0].bias.copy_(torch.tensor([1.0, 2.0]))
        result = norm(torch.rand(1, 2, 3, 3))
    assert result[0, 0].unique().tolist() == [1]
    assert result[0, 1].unique().tolist() == [2]


def test_decay_moves_the_running_mean():
    norm = Lowered(layer("batch_norm", momentum=0.25), features(1)).train()
    norm(torch.tensor([[4.0], [8.0]]))
    assert norm.made[0].running_mean.item() == pytest.approx(0.25 * 6)
    assert norm.made[0].running_var.item() == pytest.approx(0.75 + 0.25 * 8)


def test_epsilon_by_hand():
    x = torch.tensor([[1.0, 3.0]])
    result = run(layer("layer_norm", epsilon=1.0), x, x=[features(2)])
    assert result.flatten().tolist() == pytest.approx([-(0.5**0.5), 0.5**0.5])


def test_what_normalisation_refuses():
    assert "Expected features (C)" in str(refusal(layer("batch_norm"), tokens(4)))
    error = refusal(layer("group_norm", groups=4), image(6, 2, 2))
    assert error.field == "groups"
    assert "6 channels of the input cannot be divided into 4 equal groups" in str(error)
    error = refusal(layer("group_norm", groups=6), features(6))
    assert error.field == "groups"
    assert "one number only" in str(error)
    assert refusal(layer("instance_norm"), image(6, 1, 1)).port == "in"
    assert "decides the size" in str(refusal(layer("layer_norm"), features(Symbol("C"))))
