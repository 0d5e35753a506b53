"""The page Runs in a real window: the rail, choosing, finding, experiments."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.history.rail_model import ROW
from netwright.app.history.run_history import READING
from netwright.app.history.runs_page import FIRST, RunsPage
from netwright.app.runs.monitor import NO_RESULT, UNDER_WAY
from netwright.app.runs.segments import RunPage
from netwright.app.window import MainWindow
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.experiments import ExperimentFolder, hold
from netwright.engine.runs.folder import RunFolder, take_lock
from netwright.engine.runs.trial_log import TrialLog
from tests.app.fake_server import FakeServer
from tests.app.history.runs_pages import click, rows, run_name, selected, shown, titles
from tests.app.history.sample_runs import log_curves, made
from tests.app.main_windows import Modal
from tests.app.test_accessible import nameless
from tests.builders import classifier

CONTROL = Qt.KeyboardModifier.ControlModifier


# ---- the rows ----


def test_runs_are_rows_with_what_differs_and_what_they_reached(page: RunsPage) -> None:
    assert titles(page) == ["Run 3", "Run 2", "Run 1"]
    assert [row.figure for row in rows(page)] == ["–", "4.00", "90.0 %"]
    assert [row.state for row in rows(page)] == ["finished", "failed", "finished"]
    assert [row.about.partition(" · ")[0] for row in rows(page)] == [
        *("adam, 0.001", "sgdm, 0.01"),
        "sgdm, 0.01, max epochs 30",
    ]
    assert "failed at epoch 1" in rows(page)[1].about
    assert rows(page)[2].words(rows(page)[2].created + 120).endswith("· 2 min ago")
    assert page.rail.count.text() == "3 runs, newest first"
    page.rail._toggle_others(True)
    assert titles(page)[0] == "Run 4"


def test_a_row_is_told_whole_to_screen_readers(page: RunsPage) -> None:
    index = page.rail.model.index(2, 0)
    spoken = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    assert spoken.startswith("Run 1, finished, sgdm, 0.01")
    assert spoken.endswith("90.0 %")
    assert sorted(set(nameless(page))) == []


def test_a_name_that_no_run_has_is_said_under_the_search(page: RunsPage) -> None:
    rail = page.rail
    assert rail.refusal.isHidden()
    rail.search.setText("state:failed acuracy > 0.5")
    assert (rail.refusal.refused.text(), rail.refusal.suggested.text()) == ("No run has 'acuracy'.", "Use accuracy>0.5")
    rail.refusal.suggested.click()
    assert rail.search.text() == "state:failed accuracy>0.5"
    assert rail.refusal.isHidden()


def test_finding_and_sorting(page: RunsPage) -> None:
    rail = page.rail
    rail.search.setText("accuracy > 85")
    assert (titles(page), rail.count.text()) == (["Run 1"], "1 run, newest first")
    rail.search.setText("nowhere")
    assert (titles(page), rail.message.text()) == ([], "No run matches.")
    rail.clear.click()
    assert titles(page) == ["Run 3", "Run 2", "Run 1"]
    rail.order.menu().aboutToShow.emit()
    by_text = {action.text(): action for action in rail.order.menu().actions()}
    by_text["Longest first"].trigger()
    assert titles(page) == ["Run 1", "Run 2", "Run 3"]
    by_text["Validation loss"].trigger()
    assert [row.figure for row in rows(page)] == ["0.200", "0.700", "–"]
    by_text["Best first"].trigger()
    assert titles(page) == ["Run 1", "Run 2", "Run 3"]
    assert rail.order.text() == "Validation loss"


def test_a_project_without_runs_says_what_to_do(qtbot: QtBot, window: MainWindow, project: Path) -> None:
    window.open_path(project)
    window.show_tab("runs")
    page = window.tabs.page("runs")
    assert isinstance(page, RunsPage)
    monitor = page.monitor
    assert (page.rail.message.text(), monitor.empty.message.text()) == (READING, READING), "not known yet is not none"
    assert not monitor.empty.button.isVisible()
    monitor.segments.choose("options" if "scores" not in monitor.segments.pages else "scores")
    qtbot.waitUntil(lambda: page.history.is_read)
    monitor.segments.choose("curves")
    assert (monitor.empty.message.text(), monitor.empty.button.isVisible()) == (FIRST, True)
    monitor.empty.button.click()
    assert window.tabs.current == "data"  # there is none to learn from


def test_another_project_has_other_runs(qtbot: QtBot, window: MainWindow, page: RunsPage, tmp_path: Path) -> None:
    other = tmp_path / "two.netwright"
    save(Project(classifier()), other)
    window.open_path(other)
    window.show_tab("runs")
    qtbot.waitUntil(lambda: titles(page) == ["Run 4"])
    assert run_name(window) == "other"


def test_a_run_under_way_shows_how_far_it_is(qtbot: QtBot, window: MainWindow, project: Path, tmp_path: Path) -> None:
    run = made(tmp_path, "live", 1, state="running", max_epochs=12)
    lock = take_lock(run)
    log_curves(run, epochs=4, steps_per_epoch=5, seconds=10)
    lines = run.events.read_bytes().splitlines(keepends=True)[:-1]
    text = (
        b"".join(lines)
        .replace(b'"iterations":20', b'"iterations":60')
        .replace(b'"remaining_s":0.0', b'"remaining_s":20.0')
    )
    run.events.write_bytes(text)
    window.open_path(project)
    page = shown(qtbot, window)
    qtbot.waitUntil(lambda: rows(page)[0].share > 0)
    assert rows(page)[0].figure == "33 %"
    assert "epoch 5 of 12 · 20 s left" in rows(page)[0].about
    page.rail.list.grab()
    with Modal(lambda box: None):
        page.commands.actions["delete"].trigger()
    os.close(lock)
    assert run.path.is_dir(), "one at work is not deleted"


# ---- choosing ----


def test_a_run_is_chosen_once_for_all_pages(window: MainWindow, page: RunsPage, runs: list[RunFolder]) -> None:
    assert run_name(window) == "c", "the newest"
    assert selected(page) == ["Run 3"]
    click(page, "Run 1")
    assert run_name(window) == "a"
    head = page.monitor.facts.head
    assert (head.name.text(), head.figures[0][0].text()) == ("Run 1 · sgdm, 0.01", "90.0 %")
    assert "3 epochs in 1 m 10 s" in head.about.text()
    for part in page.monitor.segments.pages.values():
        if isinstance(part, RunPage):
            assert part.run == runs[0].path
    assert dict(_options(page))["Max epochs"] == "30"
    window.training.follow(runs[1])
    assert selected(page) == ["Run 2"], "also where another part shows a run"


def _options(page: RunsPage) -> list[tuple[str, str]]:
    return [(label.text(), value.text()) for label, value in page.monitor.options.options._rows]


def test_a_run_without_a_result_says_so_on_its_pages(
    qtbot: QtBot, window: MainWindow, page: RunsPage, tmp_path: Path
) -> None:
    segments = page.monitor.segments
    key = next((key for key, part in segments.pages.items() if isinstance(part, RunPage)), "")
    click(page, "Run 3")
    if key:
        segments.choose(key)
        assert segments.message.message.text() == NO_RESULT
        run = made(tmp_path, "live", 9, state="running")
        lock = take_lock(run)
        page.show_run(run.path)
        assert segments.message.message.text() == UNDER_WAY
        os.close(lock)


def test_selection_stays_with_its_run(page: RunsPage) -> None:
    click(page, "Run 1")
    page.rail.model.sort_by("title")
    assert titles(page) == ["Run 1", "Run 2", "Run 3"]
    assert selected(page) == ["Run 1"]


def test_the_rail_is_worked_by_the_keyboard(
    qtbot: QtBot, window: MainWindow, page: RunsPage, experiment: ExperimentFolder
) -> None:
    qtbot.waitUntil(lambda: "Momentum × mini-batch size" in titles(page))
    view = page.rail.list
    view.setFocus()
    click(page, "Run 3")
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert page.pages.currentWidget() is page.experiment
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert titles(page)[2:6] == ["2", "5", "3", "2 more trials"]
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert run_name(window) == "2"
    QTest.keyClick(view, Qt.Key.Key_Left)
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert titles(page) == ["Run 3", "Momentum × mini-batch size", "Run 2", "Run 1"]


# ---- experiments ----


def test_an_experiment_is_a_folder_of_its_best_trials(
    qtbot: QtBot, window: MainWindow, page: RunsPage, experiment: ExperimentFolder, tmp_path: Path
) -> None:
    qtbot.waitUntil(lambda: len(rows(page)) == 4)
    folder = rows(page)[1]
    assert (folder.kind, folder.title, folder.about) == ("folder", "Momentum × mini-batch size", "5 trials")
    assert folder.figure == "95.0 %"
    page.rail.model.toggle(experiment.path)
    best = rows(page)[2]
    assert (best.title, best.is_best, best.about, best.figure) == ("2", True, "0.2 · 8", "95.0 %")
    assert [row.kind for row in rows(page)[2:6]] == ["trial", "trial", "trial", "more"]
    click(page, "2 more trials")
    assert page.pages.currentWidget() is page.experiment
    assert selected(page) == ["Momentum × mini-batch size"]
    page.rail.search.setText("momentum")
    assert titles(page)[0] == "Momentum × mini-batch size"


def test_an_experiment_under_way_is_open_with_its_progress(
    qtbot: QtBot, window: MainWindow, page: RunsPage, experiment: ExperimentFolder
) -> None:
    lock = hold(experiment)
    experiment.update_info(state="running")
    log = TrialLog(experiment.trials)
    log.append(6, values={"training.momentum": 0.6, "training.mini_batch_size": 8})
    log.close()
    qtbot.waitUntil(lambda: any(row.kind == "folder" and row.is_alive for row in rows(page)))
    (folder,) = (row for row in rows(page) if row.kind == "folder")
    assert (folder.about, folder.is_open) == ("5 of 5 trials", True)
    os.close(lock)


def test_many_runs_and_trials_are_rows_without_widgets(page: RunsPage) -> None:
    before = len(page.rail.findChildren(QWidget))
    run = page.rail.model.runs[-1]
    many = [
        replace(run, path=Path(f"/runs/{number}"), created=float(number), run_number=number) for number in range(5000)
    ]
    page.rail.model.show(many, (), {})
    page.rail.list.grab()
    assert len(rows(page)) == 5000
    assert len(page.rail.findChildren(QWidget)) == before
    seen: list[object] = []
    page.rail.model.modelReset.connect(lambda: seen.append("all"))
    page.rail.model.dataChanged.connect(lambda first, last: seen.append((first.row(), last.row())))
    page.rail.model.show([*many[:7], replace(many[7], state="failed"), *many[8:]], (), {})
    assert seen == [(4992, 4992)], "one row is painted again"


def test_the_arrow_of_an_experiment_folds_it(qtbot: QtBot, page: RunsPage, experiment: ExperimentFolder) -> None:
    qtbot.waitUntil(lambda: len(rows(page)) == 4)
    view = page.rail.list
    at = view.visualRect(view.model().index(1, 0)).topLeft() + QPoint(18, 14)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert len(rows(page)) == 8
    assert page.pages.currentWidget() is page.monitor, "nothing else is chosen"
    row: Any = view.model().index(1, 0).data(ROW)
    assert row.is_open


def test_the_menu_key_offers_what_can_be_done_with_an_experiment(
    qtbot: QtBot, page: RunsPage, experiment: ExperimentFolder
) -> None:
    """A keyboard and a screen reader have no arrow to click on: the menu of a row folds it and shows its trials."""
    qtbot.waitUntil(lambda: len(rows(page)) == 4)
    view = page.rail.list
    view.setCurrentIndex(view.model().index(1, 0))
    press = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), QPoint(5, 5))

    def choose(text: str) -> None:
        QApplication.sendEvent(view, press)
        (menu,) = [menu for menu in view.findChildren(QMenu) if menu.isVisible()]
        next(action for action in menu.actions() if action.text() == text).trigger()
        menu.close()

    choose("Unfold the experiment")
    assert len(rows(page)) == 8
    choose("Show all trials")
    assert page.pages.currentWidget() is page.experiment


# ---- training from here ----


NAME = "Momentum × mini-batch size"
"""The experiment in the rail."""


@pytest.mark.parametrize("front", ["experiment", "comparison", "run"])
def test_train_shows_its_run_whatever_was_chosen(
    qtbot: QtBot, window: MainWindow, server: FakeServer, page: RunsPage, experiment: ExperimentFolder, front: str
) -> None:
    """And why it was refused; the run that was shown before can be chosen again."""
    window.editor.apply("Data", replace(window.editor.project, data=DataOptions(source="digits")))
    qtbot.waitUntil(lambda: NAME in titles(page))
    click(page, NAME if front == "experiment" else "Run 1")
    if front == "comparison":
        click(page, "Run 2", CONTROL)
    window.training.start()
    assert (page.pages.currentWidget(), selected(page)) == (page.monitor, [])
    server.refuse("train", "This machine has no GPU.")
    head = page.monitor.facts.head
    assert (head.reason.isVisible(), head.reason.text()) == (True, "This machine has no GPU.")
    click(page, "Run 1")
    assert (head.reason.text(), head.name.text()[:5]) == ("All epochs are done", "Run 1")


def test_a_refusal_is_told_to_one_who_has_gone_on_to_an_experiment(
    qtbot: QtBot, window: MainWindow, server: FakeServer, page: RunsPage, experiment: ExperimentFolder, errors: list
) -> None:
    window.editor.apply("Data", replace(window.editor.project, data=DataOptions(source="digits")))
    qtbot.waitUntil(lambda: NAME in titles(page))
    window.training.start()
    click(page, NAME)
    server.refuse("train", "This machine has no GPU.")
    assert errors == [("The run cannot begin", "This machine has no GPU.")]
