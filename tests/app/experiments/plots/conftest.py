import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from netwright.app.experiments.plots.chart import Findings
from netwright.app.experiments.plots.panel import PlotsPanel
from tests.app.fake_server import FakeServer
from tests.trials import ACCURACY, OPTIONS, sample_trials


@pytest.fixture
def findings() -> Findings:
    return Findings(None, OPTIONS, sample_trials(), (ACCURACY,), frozenset({5}))


@pytest.fixture
def panel(qtbot: QtBot, server: FakeServer, findings: Findings) -> PlotsPanel:
    panel = PlotsPanel(QWidget(), "Progress", server)
    qtbot.addWidget(panel)
    panel.resize(900, 420)
    panel.show()
    panel.show_findings(findings)
    return panel
