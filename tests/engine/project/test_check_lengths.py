"""What the length of the data's sequences rules out, where the network leaves the length open."""

from dataclasses import replace

import pytest

from netwright.engine.core.types import Symbol, sequence
from netwright.engine.layers.base import LayerType
from netwright.engine.project.check import check
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.project import Project
from tests.blocks import row
from tests.builders import add, chain, layer

DATA = DatasetInfo((InputInfo("x", sequence(30, 2)),), {"training": 200}, classes_of("a", "b", "c"))


def said(*between: LayerType, length: int = 0) -> list[tuple[str, str, str]]:
    """The errors of a classifier of sequences with these layers."""
    network = chain(
        layer("sequence_input", channels=2, length=length),
        *between,
        layer("global_average_pool"),
        layer("fully_connected", outputs=3),
    )
    return [(p.name, p.field, p.message) for p in check(Project(network), DATA).errors]


@pytest.mark.parametrize(
    ("type", "field"),
    [
        (layer("position_embedding", positions=10), "positions"),
        (layer("conv1d", kernel=50, padding=0), "kernel"),
    ],
)
def test_what_does_not_fit_the_length_of_the_data_is_found_before_training(type, field):
    (problem,) = said(type)
    assert problem[1] == field
    assert "30" in problem[2]


@pytest.mark.parametrize("type", [layer("position_embedding", positions=30), layer("conv1d", kernel=30, padding=0)])
def test_what_just_fits_is_left_alone(type):
    assert said(type) == []


def test_an_error_is_said_once():
    assert len(said(layer("position_embedding", positions=10), length=30)) == 1


UNEQUAL = replace(DATA, inputs=(InputInfo("x", sequence(Symbol("T"), 2), lengths=(4, 30)),))


def unequal(*between: LayerType, length: int = 0) -> list[tuple[str, str]]:
    """The errors where the sequences have 4 to 30 steps: layer and words."""
    network = chain(layer("sequence_input", channels=2, length=length), *between, layer("global_average_pool"))
    network = add(network, layer("fully_connected", outputs=3), list(network.layers.values())[-1])[0]
    return [(p.name, p.message) for p in check(Project(network), UNEQUAL).errors]


def test_the_shortest_and_the_longest_sequence_must_fit() -> None:
    ((_, words),) = unequal(layer("conv1d", kernel=5, padding=0))
    assert "the input has 4" in words
    ((_, told),) = unequal(layer("position_embedding", positions=29))
    assert "30 steps" in told
    assert unequal(layer("conv1d", kernel=4, padding=0), layer("batch_norm")) == []


def test_a_network_of_one_length_refuses_sequences_of_several() -> None:
    ((_, words),) = unequal(length=30)
    assert words == "The layer takes a sequence of 30 × 2 (T × C); the sequences of the data have 4 to 30 steps."
    result = check(Project(chain(layer("sequence_input", channels=2, length=30))), UNEQUAL)
    (problem,) = [p for p in result.errors if p.field == "length"]
    assert problem.fix is not None


def test_a_layer_that_cannot_tell_padding_is_named_in_blocks_too() -> None:
    permuted = layer("permute", order=(2, 1)), layer("permute", order=(2, 1))
    names = [name for name, words in unequal(*permuted) if "cannot be padded here" in words]
    assert names
    assert [words for _, words in unequal(row(*permuted)) if "cannot be padded here" in words]
