from collections.abc import Callable

import pytest

from netwright.engine.network import edits
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from tests.builders import chain, classifier, layer
from tests.designer.mouse import Hand


@pytest.fixture
def hand(qtbot) -> Hand:
    """A canvas with image_1 - fc_1 - relu_1 - fc_2 - softmax_1, one below the other."""
    network = classifier()
    return Hand(qtbot, Project(network, arrange(network)))


@pytest.fixture
def loose_hand(qtbot) -> Hand:
    """A canvas with image_1, relu_1 and addition_1 side by side, not connected."""
    network = chain(layer("image_input"))
    for key in ("relu", "addition"):
        network, _ = edits.add_layer(network, layer(key))
    places = {id: (220.0 * index, 120.0 * index) for index, id in enumerate(network.layers)}
    return Hand(qtbot, Project(network, Layout(places)))


@pytest.fixture
def make_hand(qtbot) -> Callable[[Network], Hand]:
    """A canvas with a network of the test's own, arranged."""
    return lambda network: Hand(qtbot, Project(network, arrange(network)))
