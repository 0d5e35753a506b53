"""Where a network flows stays with its file, also inside blocks."""

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import Layout
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project
from tests.builders import classifier


def test_a_network_that_flows_to_the_right_is_written_and_read() -> None:
    network = classifier()
    project = Project(network, arrange(network, flow="right"))
    text = dumps(project)
    assert '"flow": "right"' in text
    assert loads(text).project.layout == project.layout


def test_down_is_understood_and_not_written() -> None:
    network = classifier()
    assert '"flow"' not in dumps(Project(network, arrange(network)))


def test_another_way_is_refused_in_words() -> None:
    network = classifier()
    text = dumps(Project(network, arrange(network, flow="right"))).replace('"right"', '"sideways"')
    with pytest.raises(UserError, match="expected down or right, received"):
        loads(text)


def test_what_is_taken_out_of_a_layout_flows_as_it_did() -> None:
    assert Layout({"a": (0.0, 0.0)}, flow="right").part({"a"}).flow == "right"
