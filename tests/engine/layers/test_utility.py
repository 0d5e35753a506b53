import pytest
import torch

from netwright.engine.core.errors import FieldErrors, ShapeError
from netwright.engine.core.types import Symbol, features, image, sequence, tokens, volume
from netwright.engine.network.catalog import catalog
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run

ANY = [features(6), sequence(Symbol("T"), 6), image(6, 5, 4), volume(6, 2, 3, 4)]


@pytest.mark.parametrize("key", ["dropout", "spatial_dropout", "identity"])
@pytest.mark.parametrize("x", ANY, ids=str)
def test_nothing_changes_outside_training(key, x):
    if key == "spatial_dropout" and x.rank == 1:
        with pytest.raises(ShapeError, match="Expected an image"):
            layer(key).output(x)
        return
    assert layer(key).output(x) == x
    assert_as_declared(layer(key), x)
    data = torch.rand(2, *(size if isinstance(size, int) else 7 for size in x.sizes))
    assert torch.equal(run(layer(key), data, x=[x]), data)


def test_dropout_zeroes_and_scales_in_training():
    torch.manual_seed(0)
    result = Lowered(layer("dropout", probability=0.75), features(4000)).train()(torch.ones(1, 4000))
    assert sorted(result.unique().tolist()) == [0, 4]
    assert 0.7 < (result == 0).float().mean() < 0.8


@pytest.mark.parametrize("x", [sequence(5, 300), image(300, 2, 3), volume(300, 2, 2, 2)], ids=str)
def test_spatial_dropout_zeroes_whole_channels(x):
    torch.manual_seed(0)
    result = Lowered(layer("spatial_dropout"), x).train()(torch.ones(1, *x.sizes)).movedim(x.dim("C"), 0).flatten(1)
    assert torch.equal(result.amin(1), result.amax(1))
    assert sorted(result.unique().tolist()) == [0, 2]


def test_the_types_that_use_random_numbers():
    assert {key for key, type in catalog().items() if type.random} >= {"dropout", "spatial_dropout"}
    assert not catalog()["identity"].random


def test_dropout_takes_no_indices_and_identity_takes_anything():
    with pytest.raises(ShapeError, match="Expected real numbers, received tokens"):
        layer("dropout").output(tokens(4))
    assert layer("identity").output(tokens(4)) == tokens(4)


def test_everything_cannot_be_dropped():
    with pytest.raises(FieldErrors, match=r"probability: expected a number of at least 0 and up to 0\.999, received 1"):
        layer("dropout", probability=1)
    assert layer("dropout", probability=0.2).short_value() == "0.2"


@pytest.mark.parametrize("key", ["alpha_dropout", "drop_path", "gaussian_noise", "stop_gradient"])
@pytest.mark.parametrize("x", ANY, ids=str)
def test_nothing_else_changes_outside_training(key, x):
    assert layer(key).output(x) == x
    assert_as_declared(layer(key), x)
    data = torch.rand(2, *(size if isinstance(size, int) else 7 for size in x.sizes))
    assert torch.equal(run(layer(key), data, x=[x]), data)
    assert catalog()[key].random == (key != "stop_gradient")


def test_alpha_dropout_keeps_mean_and_variance():
    torch.manual_seed(0)
    result = Lowered(layer("alpha_dropout", probability=0.2), features(20000)).train()(torch.randn(1, 20000))
    assert abs(result.mean()) < 0.03
    assert abs(result.var() - 1) < 0.05


@pytest.mark.parametrize("x", [sequence(5, 30), image(30, 2, 3), volume(30, 2, 2, 2)], ids=str)
def test_feature_alpha_dropout_drops_whole_channels(x):
    torch.manual_seed(0)
    layer_type = layer("feature_alpha_dropout")
    assert layer_type.output(x) == x
    result = Lowered(layer_type, x).train()(torch.ones(1, *x.sizes)).movedim(x.dim("C"), 0).flatten(1)
    assert torch.equal(result.amin(1), result.amax(1))
    assert len(result.unique()) == 2


def test_drop_path_leaves_whole_samples_out():
    torch.manual_seed(0)
    result = Lowered(layer("drop_path", probability=0.75), image(2, 3, 3)).train()(torch.ones(4000, 2, 3, 3)).flatten(1)
    assert torch.equal(result.amin(1), result.amax(1))
    assert sorted(result.unique().tolist()) == [0, 4]
    assert 0.7 < (result[:, 0] == 0).float().mean() < 0.8


def test_noise_has_the_deviation():
    torch.manual_seed(0)
    result = Lowered(layer("gaussian_noise", deviation=0.5), features(20000)).train()(torch.ones(1, 20000))
    assert abs(result.mean() - 1) < 0.02
    assert abs(result.std() - 0.5) < 0.02


def test_no_gradient_passes_a_stop():
    x = torch.rand(2, 3, requires_grad=True)
    assert not Lowered(layer("stop_gradient"), features(3))(x).requires_grad


def test_fake_quantisation_is_that_of_torch():
    type = layer("fake_quantization", scale=0.05, zero_point=3, bits=8, signed=False)
    x = (torch.randn(50, 3) * 8).requires_grad_()
    ours = Lowered(type, features(3))(x)
    theirs = torch.fake_quantize_per_tensor_affine(x, 0.05, 3, 0, 255)
    assert torch.allclose(ours, theirs, atol=1e-5)
    torch.testing.assert_close(*(torch.autograd.grad(one.sum(), x)[0] for one in (ours, theirs)))
    assert layer("fake_quantization", bits=4).short_value() == "4 bits, 0.1"
