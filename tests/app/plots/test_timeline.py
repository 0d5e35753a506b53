"""What events say of steps: where they are in time, which marks of what was asked for are kept, and what those say."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from netwright.app.plots.curve_card import CurveCard
from netwright.app.plots.run_plot import MAX_NAMED, RunPlot
from netwright.app.plots.timeline import MOST_TICKS, EventTicks, Timeline
from netwright.engine.runs.events import Checkpointed, Event, Message, Requested, Resumed
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


def marks(*events: Event) -> EventTicks:
    found = EventTicks()
    for event in events:
        found.take(event)
    return found


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Requested(what="pause", iteration=5), "paused"),
        (Requested(what="rate", iteration=5, value=0.00123456), "learn rate 0.001235"),
        (Requested(what="epochs", iteration=5, value=1200), "1,200 epochs"),
        (Resumed(iteration=5, after=3, reason="resumed on request"), "resumed: resumed on request"),
        (Resumed(iteration=5, after=3, reason="x" * 100), "resumed: " + "x" * 38 + "…"),
        (Checkpointed(iteration=5, epoch=1, seconds=0.1), "checkpoint"),
    ],
)
def test_a_mark_says_what_was_done(event: Event, words: str) -> None:
    assert marks(event).between(5, 5) == [(5, words)]


def test_other_events_leave_no_mark() -> None:
    assert len(marks(Message(severity="note", text="x"), Requested(what="unheard of", iteration=1))) == 0


def test_where_a_run_went_on_what_came_after_is_forgotten() -> None:
    found = marks(
        Requested(what="validate", iteration=2),
        Checkpointed(iteration=4, epoch=1, seconds=0.1),
        Requested(what="pause", iteration=6),
        Resumed(iteration=4, after=9, reason="it was lost"),
    )
    assert found.between(0, 10) == [(2, "validated"), (4, "resumed: it was lost"), (4, "checkpoint")]
    assert found.between(3, 10) == [(4, "resumed: it was lost"), (4, "checkpoint")]


def test_marks_are_drawn_and_named_under_the_pointer(qtbot: QtBot) -> None:
    card = CurveCard("Loss")
    qtbot.addWidget(card)
    card.resize(640, 320)
    card.append("training", 1, 1, [1.0] * 100)
    card.set_expected_steps(100)
    card.show()
    before = card.grab().toImage()
    plot, data = card.plot, card.data
    assert isinstance(plot, RunPlot)
    data.x_axis.event_ticks.take(Requested(what="pause", iteration=50))
    for step in range(60, 70):
        data.x_axis.event_ticks.take(Checkpointed(iteration=step, epoch=1, seconds=0.1))
    card.flush()
    after = card.grab().toImage()
    assert before != after
    assert plot.marks_near(50) == [("at 50", "paused")]
    assert plot.marks_near(3) == []
    for _ in range(10):
        data.x_axis.event_ticks.take(Requested(what="validate", iteration=50))
    assert plot.marks_near(50)[MAX_NAMED:] == [("", "and 7 more")]
    card.shutdown()


def test_a_long_run_keeps_few_marks_of_its_checkpoints() -> None:
    count = 10 * MOST_TICKS
    ticks = marks(*(Checkpointed(iteration=step, epoch=1, seconds=0.1) for step in range(count)))
    assert len(ticks) <= MOST_TICKS
    assert ticks.checkpoints(count - MOST_TICKS // 4, count).tolist() == [*range(count - MOST_TICKS // 4, count)]
    steps = ticks.checkpoints(0, count)
    assert len(steps) == len(ticks) > MOST_TICKS // 2
    assert (steps[1:] > steps[:-1]).all()
    assert steps[0] == 0
    ticks.take(Resumed(iteration=count // 2, after=1, reason=""))
    assert ticks.checkpoints(count // 2 + 1, count).tolist() == []
