"""The plot of what trials reach, with the best so far."""

import numpy as np
from pytestqt.qtbot import QtBot

from netwright.app.experiments.trial_plot import TrialPlot
from tests.trials import trial

SCORES = (3.0, 1.0, 2.0, 0.5)


def test_the_best_so_far_changes_at_a_trial_and_not_before_it(qtbot: QtBot) -> None:
    plot = TrialPlot()
    qtbot.addWidget(plot)
    plot.show_trials([trial(number, {}, loss=score) for number, score in enumerate(SCORES)], "validation.loss", set())
    plot.resize(600, 300)
    plot.show()
    path = plot._best.getPath()
    points = np.array([(path.elementAt(n).x, path.elementAt(n).y) for n in range(path.elementCount())])
    assert np.isclose(np.diff(points, axis=0), 0).any(axis=1).all(), "each piece is level or upright"
    values = dict(points[::-1].tolist())  # of several points at a place the first one
    assert values[1.0] == 3.0
    assert values[3.0] == 1.0
    assert points[-1].tolist() == [3.0, 0.5]


def test_two_trials_are_counted_in_whole_numbers(qtbot: QtBot) -> None:
    plot = TrialPlot()
    qtbot.addWidget(plot)
    plot.resize(600, 300)
    plot.show()
    plot.show_trials([trial(number, {}, loss=1.0) for number in (1, 2)], "validation.loss", set())
    assert [tick for tick in plot.x.ticks if tick % 1] == []
    assert {1, 2} <= set(plot.x.ticks)
