from dataclasses import replace

import pytest

from designer.scene.edges import size_text
from engine.core.types import Symbol, image, sequence
from engine.network.analysis import LayerShapes
from engine.network.table import short_count


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (584, "584"),
        (9_216, "9,216"),
        (15_690, "15.7 k"),
        (99_960, "100 k"),
        (999_960, "1.0 M"),
        (1_234_567, "1.2 M"),
        (123_456_789, "123 M"),
        (7_000_000_000, "7.0 G"),
    ],
)
def test_counts_are_short(number, shown):
    assert short_count(number) == shown


def test_sizes_are_those_of_the_port_as_far_as_they_are_known():
    facts = LayerShapes((), (sequence(Symbol("T"), 4), image(8, 28, 28)), {}, 0, 0, ("out", "scores"))
    assert size_text(facts, "out") == "T × 4"
    assert size_text(facts, "scores") == "8 × 28 × 28"
    assert size_text(replace(facts, ports=()), "out") == "T × 4"
    assert size_text(None, "out") == ""
