"""Where steps are in time: between reports, beyond them, and after a run went on from a checkpoint."""

import numpy as np
import pytest

from app.plots.timeline import Timeline
from engine.runs.events import Resumed
from tests.app.runs.test_facts_panel import STARTED, progress


def test_steps_between_and_beyond_reports_take_equal_times() -> None:
    timeline = Timeline()
    timeline.take(STARTED)
    timeline.take(progress(100))
    assert timeline.places(np.array([0.0, 50.0, 100.0, 200.0]), "time").tolist() == [0, 30.5, 61, 122]
    assert [timeline.step_at(place, "time") for place in (30.5, 122.0)] == pytest.approx([50, 200])
    assert timeline.place(25, "epochs") == 2.5
    assert timeline.step_at(2.5, "epochs") == 25


def test_before_the_first_report_nothing_has_taken_time() -> None:
    assert Timeline().place(10, "time") == 0
    assert Timeline().step_at(10, "time") == 0


def test_a_run_that_goes_on_forgets_the_time_it_lost() -> None:
    timeline = Timeline()
    for step in (10, 20, 30):
        timeline.take(progress(step))
    timeline.take(Resumed(iteration=12, after=1, reason="restarted"))
    timeline.take(progress(14))
    assert timeline.place(14, "time") == 61
    assert timeline.place(28, "time") == 122
