"""The Test tab: which runs are offered, and which page is told of the one that is chosen."""

from pathlib import Path
from typing import Any

import pytest

from netwright.app.analysis.compare_page import NO_OTHER, ComparePage
from netwright.app.analysis.evaluation_tab import NO_RUNS, NONE_ENDED, TestTab
from netwright.app.analysis.predict_page import NO_NETWORK, PredictPage
from netwright.app.analysis.scores_page import NOT_YET, ScoresPage
from netwright.app.history.run_history import GONE, READING
from netwright.app.window import MainWindow
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import RunSummary


@pytest.fixture
def tab(window: MainWindow) -> TestTab:
    window.show_tab("test")
    page = window.tabs.page("test")
    assert isinstance(page, TestTab)
    page.history.close()
    return page


@pytest.fixture
def with_run(tab: TestTab, monkeypatch: pytest.MonkeyPatch) -> TestTab:
    monkeypatch.setattr(tab.history, "is_of_project", lambda run: True)
    for number, ended in ((1, True), (2, True), (3, False)):
        path = Path(f"/runs/{number}")
        tab.history.runs[path] = summary(path, number, {"state": "finished"} if ended else None)
    tab.history.changed.emit()
    return tab


def summary(path: Path, number: int, ended: dict[str, Any] | None) -> RunSummary:
    state = "finished" if ended is not None else "running"
    return RunSummary(
        path=path,
        name="pets",
        state=state,
        created=float(number),
        run_number=number,
        result=ended,
        so_far={},
        options={},
    )


def test_runs_that_are_not_read_yet_are_not_said_to_be_missing(tab: TestTab) -> None:
    predict, compare = tab.page(PredictPage), tab.page(ComparePage)
    assert isinstance(predict, PredictPage)
    assert isinstance(compare, ComparePage)
    assert not tab.history.is_read
    assert (tab.message.text(), tab.train_button.isVisible()) == (READING, False)
    assert predict.message.text() == compare.message.text() == READING
    tab.show_trial(Path("/experiments/1/runs/5"), "Trial 5")
    assert compare.message.text() == READING, "the runs beside the trial are not known yet"
    tab.history.is_read = True
    tab.history.changed.emit()
    assert compare.message.text() == NO_OTHER


def test_why_the_runs_cannot_be_read_stands_in_their_place(with_run: TestTab, tab: TestTab) -> None:
    tab.history.refused.emit(GONE)
    assert (tab.message.text(), tab.message.property("role")) == (GONE, "error")


def test_a_first_run_that_is_under_way_is_not_said_to_be_missing(tab: TestTab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab.history, "is_of_project", lambda run: True)
    tab.history.runs[Path("/runs/1")] = summary(Path("/runs/1"), 1, None)
    tab.history.is_read = True
    tab.history.changed.emit()
    assert (tab.message.text(), tab.train_button.isVisible()) == (NONE_ENDED, False)


def test_without_runs_it_says_what_to_do_first(tab: TestTab, qtbot) -> None:
    tab.history.is_read = True
    tab.history.changed.emit()
    predict = tab.page(PredictPage)
    assert isinstance(predict, PredictPage)
    assert predict.message.text() == NO_NETWORK
    assert tab.message.text() == NO_RUNS
    assert tab.stack.currentIndex() == 0
    with qtbot.waitSignal(tab.train_requested):
        tab.train_button.click()


def test_runs_that_have_ended_are_offered_the_newest_first(with_run: TestTab) -> None:
    assert [with_run.runs.itemData(at) for at in range(with_run.runs.count())] == [Path("/runs/2"), Path("/runs/1")]
    page = with_run.page(ScoresPage)
    assert with_run.stack.currentWidget() is page
    assert page.run == Path("/runs/2")


def test_another_run_is_told_to_the_pages_and_looking_for_runs_is_not(with_run: TestTab) -> None:
    page = with_run.page(ScoresPage)
    assert isinstance(page, ScoresPage)
    page.message.setText("pets has changed since the run.")
    with_run.history.changed.emit()
    assert page.message.text() == "pets has changed since the run."
    with_run.runs.setCurrentIndex(1)
    with_run.runs.activated.emit(1)
    assert page.run == Path("/runs/1")
    assert page.message.text() == NOT_YET


def test_the_run_of_the_train_tab_is_chosen_once_it_is_listed(window: MainWindow, with_run: TestTab) -> None:
    late = Path("/runs/4")
    window.training.test_requested.emit(RunFolder(late))
    assert with_run.run == Path("/runs/2"), "it is not listed yet"
    with_run.history.runs[late] = summary(late, 0, {"state": "finished"})
    with_run.history.changed.emit()
    assert with_run.run == with_run.page(ScoresPage).run == late
    with_run.runs.setCurrentIndex(0)
    with_run.history.changed.emit()
    assert with_run.run == Path("/runs/2"), "what is chosen by hand stays"


def test_the_run_of_a_trial_is_evaluated_and_stays_beside_those_of_the_project(
    with_run: TestTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[Path | None] = []
    monkeypatch.setattr(ScoresPage, "evaluate", lambda self: evaluated.append(self.run))
    trial = Path("/experiments/1/runs/5")
    with_run.show_trial(trial, "Trial 5 · adam")
    assert evaluated == [trial]
    with_run.history.changed.emit()
    assert with_run.run == trial
    assert with_run.runs.itemText(0) == "Trial 5 · adam"
    assert with_run.runs.count() == 3
