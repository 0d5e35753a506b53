import pytest
from PySide6.QtGui import QColor, QImage

from netwright.app.plots.rate_plot import STAND_IN, RatePlot
from netwright.designer import theme
from netwright.engine.project.schedules import rate_at
from netwright.engine.project.training import TrainingOptions


@pytest.fixture
def plot(qtbot) -> RatePlot:
    made = RatePlot()
    qtbot.addWidget(made)
    made.resize(640, made.height())
    return made


def test_it_draws_the_rate_of_every_step(plot: RatePlot) -> None:
    options = TrainingOptions(schedule="cosine", warmup_iterations=3, mini_batch_size=100, max_epochs=4)
    plot.show_options(options, 250)
    assert (plot.length.steps_per_epoch, plot.length.total_steps) == (3, 12)
    points = list(plot.points(1000))
    assert [rate for _, rate in points] == [rate_at(options, step, 3, 12) for step in range(12)]
    assert (points[0][0], points[-1][0]) == (0.0, 1.0)
    assert len(list(plot.points(5))) == 5
    plot.show_options(options.replace(last_batch="discard"), 250)
    assert plot.length.steps_per_epoch == 2


def test_without_data_it_says_what_it_assumes(plot: RatePlot) -> None:
    plot.show_options(TrainingOptions(max_epochs=1), None)
    assert plot.length.total_steps == STAND_IN
    assert plot.caption == "Learn rate over 1 epoch, 100 iterations: 100 per epoch are assumed, as there is no data yet"
    plot.show_options(TrainingOptions(schedule="plateau"), 1280)
    assert plot.caption == "Learn rate over 30 epochs, 300 iterations, as long as validations get better"
    plot.show_options(TrainingOptions(solver="lbfgs", max_iterations=40), None)
    assert plot.caption == "Learn rate over 40 iterations, each of all samples"


def test_it_tells_those_who_do_not_see_it(qtbot, plot: RatePlot) -> None:
    plot.show_options(TrainingOptions(schedule="warmup", warmup_iterations=4, initial_learn_rate=1e-5), 1280)
    words = "From 2.5e-6 to 1e-5, at most 1e-5."
    qtbot.waitUntil(lambda: plot.accessibleDescription().endswith(words), timeout=60_000)


@pytest.mark.parametrize("samples", [None, 0, 1, 10**9])
@pytest.mark.parametrize("schedule", TrainingOptions.schedule.options)
def test_any_run_can_be_drawn(plot: RatePlot, schedule: str, samples: int | None) -> None:
    for epochs in (1, 1_000_000):
        plot.show_options(TrainingOptions(schedule=schedule, max_epochs=epochs, mini_batch_size=1), samples)
        picture = plot.grab().toImage()
        assert has(picture, theme.current().accent)


def has(picture: QImage, colour: QColor) -> bool:
    """Whether some pixel is nearly of the curve's colour; its edges are smooth."""
    places = ((x, y) for x in range(60, picture.width(), 3) for y in range(20, picture.height()))
    seen = (picture.pixelColor(*place) for place in places)
    return any(
        max(abs(c.red() - colour.red()), abs(c.green() - colour.green()), abs(c.blue() - colour.blue())) < 60
        for c in seen
    )
