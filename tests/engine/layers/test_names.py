"""The other names of a layer type."""

import pytest

from engine.layers.catalog import built_in, layer_type
from engine.layers.names import matlab_name, search_words, torch_names


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("conv2d", "convolution2dLayer"),
        ("max_pool1d", "maxPooling1dLayer"),
        ("batch_norm", "batchNormalizationLayer"),
        ("fully_connected", "fullyConnectedLayer"),
        ("select_step", "indexing1dLayer"),
        ("adaptive_max_pool1d", "adaptiveMaxPooling1dLayer"),  # not in MATLAB; what its rule would make of it
    ],
)
def test_matlab_names(key: str, name: str) -> None:
    assert matlab_name(layer_type(key)) == name
    assert name.lower() in search_words(layer_type(key))


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("conv2d", ("torch.nn.Conv2d",)),
        ("batch_norm", ("torch.nn.BatchNorm1d", "torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d")),
        ("fully_connected", ("torch.nn.Linear",)),
        ("addition", ("torch.add",)),
        ("flatten", ("torch.Tensor.flatten",)),
        ("image_input", ()),
        ("self_attention", ()),
    ],
)
def test_torch_names_follow_from_the_calls(key: str, names: tuple[str, ...]) -> None:
    assert torch_names(layer_type(key)) == names


def test_no_two_layer_types_have_one_matlab_name() -> None:
    named = [type.matlab for type in built_in().values() if type.matlab]
    assert len(named) == len(set(named))


def test_american_spelling_is_found() -> None:
    assert "normalization" in search_words(layer_type("layer_norm"))
    assert "normalizes" in search_words(layer_type("layer_norm"))
