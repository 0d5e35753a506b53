"""The page Runs in a real window: the rail, choosing, finding, comparing, and what can be done with a run."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QPushButton, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.dialogs.compare_projects import CompareDialog
from netwright.app.exchange.export_dialog import ExportDialog
from netwright.app.history.rail_model import ROW, RailRow
from netwright.app.history.run_comparison import ComparePage
from netwright.app.history.run_history import READING
from netwright.app.history.runs_page import FIRST, RunsPage
from netwright.app.plots.traces import Curve
from netwright.app.runs.monitor import NO_RESULT, UNDER_WAY
from netwright.app.runs.segments import RunPage
from netwright.app.window import MainWindow
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps, load, save
from netwright.engine.project.project import Project
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, create_experiment, hold
from netwright.engine.runs.folder import RunFolder, take_lock, update_info
from netwright.engine.runs.notes import Notes, read_notes
from netwright.engine.runs.trial_log import TrialLog
from tests.app.history.sample_runs import log_curves, made
from tests.app.main_windows import Modal
from tests.app.test_accessible import nameless
from tests.builders import classifier

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "one.netwright"
    save(Project(classifier()), path)
    return path


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    good = {"validation": {"loss": 0.2, "accuracy": 0.9}, "epochs": 3, "seconds": 70.0}
    bad = {"validation": {"loss": 0.7, "rmse": 4.0}, "epochs": 1, "seconds": 5.0}
    folders = [
        made(tmp_path, "a", 1, result=good),
        made(tmp_path, "b", 2, result=bad, state="failed", max_epochs=60),
        made(tmp_path, "c", 3, max_epochs=60, solver="adam"),
        made(tmp_path, "other", 4, of="two"),
    ]
    for number, folder in enumerate(folders, 1):
        update_info(folder, number=number)
    return folders


@pytest.fixture
def experiment(tmp_path: Path) -> ExperimentFolder:
    info = ExperimentInfo(name="one", project_path=str(tmp_path / "one.netwright"), objectives=("validation.accuracy",))
    options = ExperimentOptions(parameters=["training.momentum=0.1,0.2,0.3,0.5,0.9", "training.mini_batch_size=8"])
    text = dumps(Project(classifier(), experiment=options))
    folder = create_experiment(tmp_path / "one.netwright", "one", text, info)
    log = TrialLog(folder.trials)
    for number, score in enumerate((0.7, 0.95, 0.8, 0.6, 0.91), 1):
        log.append(number, values={"training.momentum": number / 10, "training.mini_batch_size": 8})
        log.append(number, run=str(number), state="finished", scores={"validation.accuracy": score}, seconds=1.0)
        log.append(number, state="finished")
    log.close()
    folder.update_info(state="finished", created=2.5)
    return folder


@pytest.fixture
def page(qtbot: QtBot, window: MainWindow, project: Path, runs: list[RunFolder]) -> RunsPage:
    window.open_path(project)
    return shown(qtbot, window)


def shown(qtbot: QtBot, window: MainWindow) -> RunsPage:
    window.show_tab("runs")
    page = window.tabs.page("runs")
    assert isinstance(page, RunsPage)
    qtbot.waitUntil(lambda: page.history.is_read)
    return page


def rows(page: RunsPage) -> list[RailRow]:
    return page.rail.model.rows


def titles(page: RunsPage) -> list[str]:
    return [row.title for row in rows(page)]


def click(page: RunsPage, title: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    view = page.rail.list
    index = view.model().index(titles(page).index(title), 0)
    view.scrollTo(index)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, keys, view.visualRect(index).center())


def selected(page: RunsPage) -> list[str]:
    return [row.title for row in page.rail.list.selected]


def run_name(window: MainWindow) -> str:
    folder = window.training.run_folder
    return folder.path.name if folder is not None else ""


def press(text: str) -> Callable[[QWidget], None]:
    def work(box: QWidget) -> None:
        assert isinstance(box, QMessageBox)
        next(button for button in box.findChildren(QPushButton) if button.text() == text).click()

    return work


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


# ---- notes, names, the trash ----


def test_a_note_and_tags_are_kept(qtbot: QtBot, page: RunsPage, runs: list[RunFolder]) -> None:
    click(page, "Run 1")
    page.monitor.segments.choose("options")
    notes = page.monitor.options.notes
    notes.tags.setText("paper, again")
    qtbot.keyClicks(notes.note, "the best so far")
    click(page, "Run 2")  # what was typed is kept without being asked to
    qtbot.waitUntil(lambda: read_notes(runs[0]).note == "the best so far")
    click(page, "Run 1")
    qtbot.waitUntil(lambda: notes.tags.text() == "again, paper")
    assert notes.note.toPlainText() == "the best so far"


def test_what_is_typed_outlives_news_of_the_run(page: RunsPage) -> None:
    page.history.rest()
    notes = page.monitor.options.notes
    before = next(run for run in page.rail.model.runs if run.path.name == "c")
    notes.noted.disconnect()
    notes.note.setPlainText("half a sen")
    notes.keep()
    page.monitor.show_summary(replace(before, state="lost"))
    assert notes.note.toPlainText() == "half a sen"
    page.monitor.show_summary(replace(before, notes=Notes("half a sen")))
    page.monitor.show_summary(replace(before, notes=Notes("another window's")))
    assert notes.note.toPlainText() == "another window's"


def is_titled(page: RunsPage, title: str) -> bool:
    return titles(page)[0] == title


def test_a_run_is_renamed_in_place_and_given_its_number_back(
    qtbot: QtBot, page: RunsPage, runs: list[RunFolder]
) -> None:
    view = page.rail.list
    click(page, "Run 3")
    for typed, title in (("with dropout", "with dropout"), ("", "Run 3")):
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_F2)
        (field,) = view.viewport().findChildren(QLineEdit)
        field.setText(typed)
        QTest.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(partial(is_titled, page, title))
        QApplication.sendPostedEvents(None, 52)  # deferred deletes: of the field
    page.commands.actions["rename"].trigger()
    (field,) = view.viewport().findChildren(QLineEdit)
    field.setText("no")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert read_notes(runs[2]) == Notes()


def test_runs_go_to_the_trash_after_a_question(qtbot: QtBot, page: RunsPage, runs: list[RunFolder]) -> None:
    click(page, "Run 1")
    click(page, "Run 2", CONTROL)
    with Modal(press("Cancel")):
        page.commands.actions["delete"].trigger()
    page.rail.list.setFocus()
    with Modal(press("Move to trash")):
        QTest.keyClick(page.rail.list, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: titles(page) == ["Run 3"])
    assert not runs[0].path.exists()


def test_the_commands_of_a_run(page: RunsPage) -> None:
    click(page, "Run 2")
    texts = [action.text() for action in page.commands.menu.actions() if action.text()]
    assert [text for text in texts if text not in ("Export network…", "Export report…")] == [
        *("Resume", "Start from its weights…", "Rename…", "Open project", "Reuse options", "Open folder"),
        "Move to trash…",
    ]
    assert page.commands.actions["resume"].isEnabled()
    click(page, "Run 1", CONTROL)
    enabled = [key for key, action in page.commands.actions.items() if action.isEnabled()]
    assert enabled == ["delete"]


def test_options_of_a_run_are_used_as_one_step(window: MainWindow, page: RunsPage) -> None:
    before = window.editor.project
    click(page, "Run 3")
    page.commands.actions["options"].trigger()
    assert (window.editor.project.training.max_epochs, window.editor.project.training.solver) == (60, "adam")
    assert window.editor.project.network == before.network
    window.editor.undo()
    assert window.editor.project == before


def test_the_project_of_a_run_opens_as_a_copy(window: MainWindow, page: RunsPage, project: Path) -> None:
    click(page, "Run 2")
    page.commands.actions["project"].trigger()
    assert window.editor.project.training.max_epochs == 60
    assert (window.documents.path, window.documents.base) == (None, project.parent)
    assert load(project).project.training.max_epochs == 30


def test_the_folder_is_opened(page: RunsPage, runs: list[RunFolder], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    click(page, "Run 1")
    page.commands.actions["folder"].trigger()
    assert [Path(url.toLocalFile()) for url in opened] == [runs[0].path]


def test_the_network_of_the_chosen_run_is_exported(page: RunsPage, runs: list[RunFolder]) -> None:
    for name in ("best", "last"):
        (runs[0].path / name).mkdir()
    click(page, "Run 1")
    offered: list[str] = []

    def look(dialog: QWidget) -> None:
        assert isinstance(dialog, ExportDialog)
        offered.extend(button.text() for button in dialog.weights.group.buttons() if button.isVisible())
        assert dialog.weights.run == runs[0]
        assert dialog.file.text().endswith("one.onnx")
        dialog.reject()

    with Modal(look):
        page.commands.actions["export"].trigger()
    assert offered == ["Best", "Last", "Untrained"]


def test_the_rows_leave_as_csv(page: RunsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.rail.search.setText("state:failed")
    target = tmp_path / "runs"
    monkeypatch.setattr("netwright.app.history.run_commands.QFileDialog.getSaveFileName", lambda *_: (str(target), ""))
    page.rail.export_requested.emit()
    header, line = target.with_suffix(".csv").read_text().splitlines()
    assert "validation.rmse" in header
    assert line.startswith("b,one,failed,")
    page.rail.list.setFocus()
    QTest.keyClick(page.rail.list, Qt.Key.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text().splitlines()[1].startswith("b,one,failed,")


# ---- comparing ----


@pytest.fixture
def compared(qtbot: QtBot, page: RunsPage, runs: list[RunFolder]) -> ComparePage:
    """Two runs side by side, chosen in the rail."""
    log_curves(runs[0], epochs=3, steps_per_epoch=4, seconds=30)
    log_curves(runs[1], epochs=2, steps_per_epoch=8, seconds=10)
    click(page, "Run 2")
    click(page, "Run 1", CONTROL)
    comparison = page.pages.currentWidget()
    assert isinstance(comparison, ComparePage)
    qtbot.waitUntil(lambda: comparison.traces.is_read)
    return comparison


def cells(table: QTableWidget, at: int) -> list[str]:
    found = [table.item(row, at) for row in range(table.rowCount())]
    return [item.text() for item in found if item is not None]


def test_compared_runs_differ_in_some_rows(compared: ComparePage) -> None:
    assert compared.title.text() == "Run 2 · sgdm, 0.01 and Run 1 · sgdm, 0.01"
    labels = cells(compared.table, 0)
    assert {"State", "Validation loss", "Max epochs"} <= set(labels)
    assert "Environment" not in labels
    row = labels.index("Max epochs")
    assert [cells(compared.table, at)[row] for at in (1, 2)] == ["60", "30"]
    compared.only_different.setChecked(False)
    assert "Environment" in cells(compared.table, 0)
    assert sorted(set(nameless(compared))) == []


def test_only_the_best_value_of_a_comparison_is_marked(compared: ComparePage) -> None:
    bold = []
    for row in range(compared.table.rowCount()):
        for at in range(1, compared.table.columnCount()):
            item = compared.table.item(row, at)
            if item is not None and item.font().bold():
                bold.append((cells(compared.table, 0)[row], item.text()))
    assert bold == [("Validation loss", "0.200")], "accuracy and rmse have one value each"


def test_any_number_of_runs_is_compared_with_curves_of_the_first(compared: ComparePage) -> None:
    compared.show_runs([compared.runs[0]] * 11)
    assert compared.title.text() == "11 runs compared, curves of the first 8"
    assert (compared.table.columnCount(), len(compared.traces.traces)) == (12, 8)


def test_compared_runs_show_the_quantity_and_the_axis_that_are_chosen(compared: ComparePage) -> None:
    page = compared
    page.traces.traces[0].curves |= {"recall": Curve(), "f-score": Curve()}
    page.quantity.showPopup()
    before = page.quantity.count()
    page.traces.changed.emit()
    assert page.quantity.count() == before, "entries do not move under the pointer"
    page.quantity.hidePopup()
    page.traces.changed.emit()
    listed = [page.quantity.itemData(at) for at in range(page.quantity.count())]
    assert listed == sorted(listed)
    assert "recall" in listed
    page.quantity.setCurrentIndex(page.quantity.findData("accuracy"))
    page.along.setCurrentIndex(page.along.findData("time"))
    QApplication.processEvents()
    assert page.loss_curves.along == "time"
    assert [number for number, _, _ in page.plots[1].readings(5.0)] == [0, 1]
    assert page.whole.isHidden()
    page.x_axis.part = (1.0, 5.0)
    page.plots[0].part_changed.emit()
    assert not page.whole.isHidden(), "both plots show the part"
    page.whole.click()
    assert page.x_axis.part is None


def test_compared_curves_are_exported(
    compared: ComparePage, runs: list[RunFolder], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page, target = compared, tmp_path / "exported"
    target.mkdir()
    page.quantity.setCurrentIndex(page.quantity.findData("accuracy"))
    choose = "netwright.app.plots.curve_export.QFileDialog.getSaveFileName"
    for kind in ("png", "svg"):
        monkeypatch.setattr(choose, lambda *_, k=kind: (str(target / f"c.{k}"), ""))
        page.export.export_pictures(kind)
    monkeypatch.setattr(choose, lambda *_: (str(target / "c.csv"), ""))
    page.export.export_csv()
    names = ["c-accuracy.png", "c-accuracy.svg", "c-loss.png", "c-loss.svg", "c.csv"]
    assert sorted(file.name for file in target.iterdir()) == names
    lines = (target / "c.csv").read_text().splitlines()
    assert lines[0] == "run,curve,split,step,value,epoch,elapsed_s"
    assert {tuple(line.split(",")[:3]) for line in lines[1:]} == {
        (run.path.name, curve, split)
        for run in runs[:2]
        for curve in ("loss", "accuracy")
        for split in ("training", "validation")
    }


def test_networks_of_compared_runs_open_beside_each_other_and_escape_leads_back(
    window: MainWindow, page: RunsPage, compared: ComparePage
) -> None:
    def read(dialog: QWidget) -> None:
        assert isinstance(dialog, CompareDialog)
        assert "equal" not in dialog.summary.text()

    with Modal(read):
        compared.networks.click()
    compared.back.click()
    assert page.pages.currentWidget() is page.monitor
    assert selected(page) == ["Run 2"], "the run that was shown"


def test_a_run_offers_the_comparison_with_the_one_before(page: RunsPage) -> None:
    click(page, "Run 2")
    compare = page.monitor.buttons.compare
    assert (compare.text(), compare.isVisible()) == ("Compare with Run 1", True)
    compare.click()
    assert isinstance(page.pages.currentWidget(), ComparePage)
    assert selected(page) == ["Run 2", "Run 1"]


def test_the_arrow_of_an_experiment_folds_it(qtbot: QtBot, page: RunsPage, experiment: ExperimentFolder) -> None:
    qtbot.waitUntil(lambda: len(rows(page)) == 4)
    view = page.rail.list
    at = view.visualRect(view.model().index(1, 0)).topLeft() + QPoint(18, 14)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert len(rows(page)) == 8
    assert page.pages.currentWidget() is page.monitor, "nothing else is chosen"
    row: Any = view.model().index(1, 0).data(ROW)
    assert row.is_open
