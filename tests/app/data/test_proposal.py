"""The card of the proposed network: its rows, its figures, and the way to it."""

from typing import Any

import pytest

from netwright.app.data.proposal import MOST_STAGES, ProposalCard, StageRows, stages
from netwright.engine.core.types import image
from netwright.engine.network.analysis import analyse
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.project import Project
from netwright.engine.project.starter import starter

INFO = DatasetInfo((InputInfo("image", image(3, 48, 48)),), {"training": 700}, classes_of("a", "b", "c"))


@pytest.fixture
def card(qtbot: Any) -> ProposalCard:
    card = ProposalCard()
    qtbot.addWidget(card)
    return card


def test_layers_that_follow_each_other_share_a_row(card: ProposalCard) -> None:
    fix = starter(INFO)
    assert fix is not None
    network = fix.edit(Project()).network
    rows = stages(network, analyse(network))
    assert [(row.text, row.sizes) for row in rows[:2]] == [
        ("Image input", "3 × 48 × 48"),
        ("Convolution, norm, ReLU", "16 × 24 × 24"),
    ]
    assert (rows[-1].text, rows[-1].sizes) == ("Fully connected, softmax", "3")


def test_an_empty_project_is_offered_one_and_a_full_one_shows_its_own(card: ProposalCard) -> None:
    fix = starter(INFO)
    assert fix is not None
    card.show_project(Project(), fix, analyse(Project().network))
    assert not card.make.isHidden()
    assert "layers" in card.figures.text()
    assert card.other.text() == "Start empty"
    made = fix.edit(Project())
    card.show_project(made, None, analyse(made.network))
    assert card.make.isHidden()
    assert (card.title.text(), card.other.text()) == ("Network", "Show the network")
    card.show_project(Project(), None, analyse(Project().network))
    assert card.make.isHidden()
    assert "No network is proposed" in card.figures.text()


def test_the_middle_of_a_long_network_is_left_out(qtbot: Any) -> None:
    fix = starter(INFO)
    assert fix is not None
    network = fix.edit(Project()).network
    rows = StageRows(stages(network, analyse(network)) * 4)
    qtbot.addWidget(rows)
    assert f"{4 * len(stages(network, analyse(network))) - MOST_STAGES + 1} more rows" in rows.accessibleName()
    rows.resize(240, 300)
    assert not rows.grab().isNull()
