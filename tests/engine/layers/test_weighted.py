"""What layers say about their weights: which fields they have, when these apply, and what they say by default."""

from pathlib import Path

import pytest

from netwright.engine.core.errors import FieldErrors, ShapeError
from netwright.engine.core.types import image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.weighted import GROUP, ParameterOptions, Weighted
from netwright.engine.network.catalog import catalog
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from tests.builders import chain, layer

INPUTS = [image(4, 9, 9), volume(4, 9, 9, 9), sequence(64, 4), tokens(8)]


def names_of_weights(type: LayerType) -> set[str]:
    """The learnables of a layer, with some common input that it takes."""
    for x in INPUTS:
        given = [x] * len(type.input_ports())
        try:
            type.output(*given)
        except ShapeError:
            continue
        return set(type.weights(*given))
    return set()


def said(type: LayerType, name: str) -> ParameterOptions:
    assert isinstance(type, Weighted)
    return type.parameter_options(name)


@pytest.mark.parametrize("key", catalog())
def test_a_layer_with_weights_says_how_they_start_and_learn(key: str) -> None:
    type = layer(key)
    names = names_of_weights(type)
    if not names:
        return
    assert isinstance(type, Weighted), f"{key} has weights: it needs a base of engine/layers/weighted.py"
    for name in names:
        role = type.role(name)
        assert {f"{role}_learn_rate_factor", f"{role}_l2_factor"} <= set(type.fields), f"{key}: {name} is a {role}"


@pytest.mark.parametrize("key", [key for key, type in catalog().items() if issubclass(type, Weighted)])
def test_the_group_stands_behind_all_other_fields(key: str) -> None:
    groups = [field.group for field in catalog()[key].fields.values()]
    assert groups == sorted(groups)
    assert groups.count(GROUP) >= 3


def test_what_is_said_by_default() -> None:
    assert said(layer("conv2d"), "weight") == ParameterOptions("glorot", 1.0, 1.0)
    assert said(layer("conv2d"), "bias") == ParameterOptions("zeros", 1.0, 0.0)
    assert said(layer("batch_norm"), "weight") == ParameterOptions("ones", 1.0, 0.0)
    assert said(layer("batch_norm"), "bias") == ParameterOptions("zeros", 1.0, 0.0)
    assert said(layer("bilstm"), "weight_ih_l0_reverse") == ParameterOptions("glorot", 1.0, 1.0)
    assert said(layer("lstm"), "weight_hh_l1") == ParameterOptions("orthogonal", 1.0, 1.0)
    assert said(layer("lstm"), "bias_ih_l0") == ParameterOptions("unit-forget-gate", 1.0, 0.0)
    assert said(layer("gru"), "bias_hh_l0") == ParameterOptions("zeros", 1.0, 0.0)
    assert said(layer("embedding"), "weight") == ParameterOptions("narrow-normal", 1.0, 1.0)
    assert said(layer("position_embedding"), "table.weight") == ParameterOptions("narrow-normal", 1.0, 1.0)
    assert said(layer("self_attention"), "query.bias") == ParameterOptions("zeros", 1.0, 0.0)
    assert said(layer("prelu"), "weight") == ParameterOptions("", 1.0, 0.0)


def test_each_kind_of_parameter_has_fields_of_its_own() -> None:
    lstm = layer("lstm", input_weights_initializer="he", recurrent_weights_learn_rate_factor=3, bias_l2_factor=0.5)
    assert said(lstm, "weight_ih_l0") == ParameterOptions("he", 1.0, 1.0)
    assert said(lstm, "weight_hh_l0") == ParameterOptions("orthogonal", 3.0, 1.0)
    assert said(lstm, "bias_hh_l0") == ParameterOptions("unit-forget-gate", 1.0, 0.5)
    norm = layer("layer_norm", scale_l2_factor=2, offset_learn_rate_factor=0)
    assert said(norm, "weight") == ParameterOptions("ones", 1.0, 2.0)
    assert said(norm, "bias") == ParameterOptions("zeros", 0.0, 0.0)


def test_what_does_not_apply_is_not_shown() -> None:
    def shown(type: LayerType) -> set[str]:
        return {name for name in type.fields if type.fields[name].group == GROUP and type.is_visible(name)}

    everything = shown(layer("conv2d"))
    assert len(everything) == 7
    assert shown(layer("conv2d", bias=False)) == {n for n in everything if "bias" not in n}
    assert shown(layer("conv2d", frozen=True)) == {"frozen", "weights_initializer", "bias_initializer"}
    assert shown(layer("layer_norm", affine=False)) == set()
    assert shown(layer("batch_norm", affine=False)) == {"frozen"}, "it has statistics that move"


def test_a_factor_below_zero_and_an_initialiser_for_something_else_are_refused() -> None:
    with pytest.raises(FieldErrors, match="weight_l2_factor: expected a number of at least 0"):
        layer("conv2d", weight_l2_factor=-1)
    with pytest.raises(FieldErrors, match="bias_initializer: expected one of zeros, ones, narrow-normal"):
        layer("gru", bias_initializer="unit-forget-gate")


def test_only_what_is_changed_stands_in_the_file(tmp_path: Path) -> None:
    changed = layer("conv2d", filters=4, weights_initializer="he", bias_learn_rate_factor=2.0, frozen=True)
    project = Project(chain(layer("image_input", size=8), changed, layer("batch_norm", scale_l2_factor=1)))
    save(project, tmp_path / "a.netwright")
    text = (tmp_path / "a.netwright").read_text()
    assert text.count("_factor") == 2
    assert text.count("_initializer") == 1
    assert load(tmp_path / "a.netwright").project.network == project.network
