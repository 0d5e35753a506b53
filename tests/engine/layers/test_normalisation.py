import pytest
import torch

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run, sizes_of

T = Symbol("T")
ANY = [features(6), sequence(5, 6), sequence(T, 6), image(6, 5, 4), volume(6, 3, 4, 5)]


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
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


@pytest.mark.parametrize("x", ANY, ids=str)
def test_rms_by_the_definition(x):
    norm = layer("rms_norm", epsilon=0.25)
    assert_as_declared(norm, x)
    assert norm.weights(x) == {"weight": (6,)}
    assert layer("rms_norm", affine=False).weights(x) == {}
    module, given = Lowered(norm, x), torch.randn(2, *sizes_of(x))
    scale = torch.arange(1.0, 7.0)
    with torch.no_grad():
        module.made[0].weight.copy_(scale)
        last = given.movedim(x.dim("C"), -1)
        expected = last / (last.square().mean(-1, keepdim=True) + 0.25).sqrt() * scale
        torch.testing.assert_close(module(given), expected.movedim(-1, x.dim("C")))


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("x", [sequence(5, 6), image(6, 3, 4), volume(6, 2, 3, 2)], ids=str)
def test_neighbouring_channels_by_the_definition(window, x):
    """MATLAB's window, which for an even size reaches further to the channels behind."""
    norm = layer("cross_channel_norm", window=window, alpha=0.7, beta=0.6, k=1.5)
    given = torch.randn(2, *sizes_of(x))
    channels = given.movedim(x.dim("C"), 0)
    expected = torch.empty_like(channels)
    for c in range(6):
        around = [i for i in range(c - (window - 1) // 2, c + window // 2 + 1) if 0 <= i < 6]
        squares = sum((channels[i].square() for i in around), torch.zeros(()))
        expected[c] = channels[c] / (1.5 + 0.7 / window * squares) ** 0.6
    torch.testing.assert_close(run(norm, given, x=[x]), expected.movedim(0, x.dim("C")))
    assert_as_declared(norm, x)


def test_constants_of_cross_channel_normalisation_are_matlabs():
    norm = layer("cross_channel_norm")
    x = torch.full((1, 7, 1, 1), 100.0)
    expected = 100 / (2 + 1e-4 * 100**2) ** 0.75
    assert run(norm, x, x=[image(7, 1, 1)])[0, 3].item() == pytest.approx(expected)
    assert norm.short_value() == "5 channels"


@pytest.mark.parametrize(
    ("over", "x", "dims"),
    [
        ("spatial-channel", image(6, 5, 4), {1, 2, 3}),
        ("spatial-channel", volume(6, 2, 3, 4), {1, 2, 3, 4}),
        ("spatial-channel", sequence(5, 6), {2}),
    ],
)
def test_places_and_channels_without_the_steps(over, x, dims):
    assert axes_of_mean(layer("layer_norm", over=over), x) == dims


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"mean": 10, "deviation": 2}, [8, 10, 13]),
        ({"kind": "zerocenter", "mean": 10}, [9, 10, 11.5]),
        ({"kind": "rescale-zero-one", "minimum": 4, "maximum": 6}, [2, 4, 7]),
        ({"kind": "rescale-symmetric", "minimum": 4, "maximum": 6}, [4, 5, 6.5]),
    ],
)
def test_normalised_numbers_get_their_units_back(values, expected):
    norm = layer("inverse_norm", **values)
    assert run(norm, torch.tensor([[-1.0, 0.0, 1.5]]), x=[features(3)]).flatten().tolist() == expected
    assert not norm.problems()


def test_limits_of_an_inverse_must_be_in_order():
    assert layer("inverse_norm", kind="rescale-symmetric", minimum=4, maximum=4).problems()[0].path == "maximum"
    assert not layer("inverse_norm", minimum=4, maximum=4).problems()
    assert "real numbers" in str(refusal(layer("inverse_norm"), tokens(4)))


@pytest.mark.parametrize("x", [features(3), sequence(T, 3), image(3, 4, 5)])
def test_fitted_numbers_of_an_inverse_are_one_a_channel(x):
    norm = layer("inverse_norm", numbers="fitted")
    assert norm.output(x) == x
    assert_as_declared(norm, x)
    module = Lowered(norm, x)
    module.made[0].load_state_dict({"shift": torch.tensor([1.0, 2.0, 3.0]), "scale": torch.tensor([1.0, 10.0, 100.0])})
    y = module(torch.ones(1, *(size if isinstance(size, int) else 2 for size in x.sizes)))
    assert y.movedim(x.dim("C"), 0).flatten(1)[:, 0].tolist() == [2.0, 12.0, 103.0]
    assert not norm.is_visible("mean")
    assert norm.is_visible("kind")
