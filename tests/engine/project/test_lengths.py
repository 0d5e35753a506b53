"""What the length of the data's sequences rules out, where the network leaves the length open."""

import pytest

from engine.data.facts import DataFacts, InputFacts
from engine.layers.base import LayerType
from engine.layers.types import sequence
from engine.project.check import check
from engine.project.project import Project
from tests.builders import chain, layer

DATA = DataFacts((InputFacts("x", sequence(30, 2)),), {"training": 200}, "classes", ("a", "b", "c"))


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
