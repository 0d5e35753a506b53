"""The Experiments tab in a real window: the list, finding, notes, and what can be done with a run."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QPushButton, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.dialogs.compare_projects import CompareDialog
from netwright.app.exchange.export_dialog import ExportDialog
from netwright.app.history.run_comparison import ComparePage
from netwright.app.history.runs_tab import RunsTab
from netwright.app.plots.traces import Curve
from netwright.app.window import MainWindow
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder, take_lock, update_info
from netwright.engine.runs.notes import Notes, read_notes
from tests.app.fake_server import FakeServer
from tests.app.history.sample_runs import log_curves, made
from tests.app.main_windows import Modal
from tests.app.test_accessible import nameless
from tests.builders import classifier


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "one.netwright"
    save(Project(classifier()), path)
    return path


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    good = {"validation": {"loss": 0.2, "accuracy": 0.9}, "epochs": 3, "seconds": 70.0}
    bad = {"validation": {"loss": 0.7, "rmse": 4.0}, "epochs": 1, "seconds": 5.0}
    return [
        made(tmp_path, "a", 1, result=good),
        made(tmp_path, "b", 2, result=bad, state="failed", max_epochs=60),
        made(tmp_path, "c", 3, max_epochs=60, solver="adam"),
        made(tmp_path, "other", 4, of="two"),
    ]


@pytest.fixture
def tab(qtbot: QtBot, window: MainWindow, project: Path, runs: list[RunFolder]) -> RunsTab:
    window.open_path(project)
    return shown(qtbot, window)


def shown(qtbot: QtBot, window: MainWindow) -> RunsTab:
    window.show_tab("experiments")
    tab = window.tabs.page("experiments")
    assert isinstance(tab, RunsTab)
    qtbot.waitUntil(lambda: tab.history.is_read)
    return tab


def names(tab: RunsTab) -> list[str]:
    return [run.path.name for run in tab.model.rows]


def column(tab: RunsTab, key: str) -> list[str]:
    at = tab.model.columns.index(key)
    return [str(tab.model.index(row, at).data()) for row in range(tab.model.rowCount())]


def cells(table: QTableWidget, at: int) -> list[str]:
    found = [table.item(row, at) for row in range(table.rowCount())]
    return [item.text() for item in found if item is not None]


def press(text: str) -> Callable[[QWidget], None]:
    def work(box: QWidget) -> None:
        assert isinstance(box, QMessageBox)
        next(button for button in box.findChildren(QPushButton) if button.text() == text).click()

    return work


def test_runs_are_listed_with_what_they_reached_and_changed(tab: RunsTab) -> None:
    assert names(tab) == ["c", "b", "a"]
    assert column(tab, "state") == ["✓ Finished", "✕ Failed", "✓ Finished"]
    assert column(tab, "validation.loss") == ["", "0.700", "0.200"]
    assert column(tab, "validation.accuracy") == ["", "", "90.0 %"]
    assert column(tab, "changes") == ["solver: sgdm → adam", "max_epochs: 30 → 60", ""]
    assert column(tab, "seconds") == ["", "5.0 s", "1 m 10 s"]
    assert tab.count.text() == "3 runs"
    tab.only_project.setChecked(False)
    assert names(tab) == ["other", "c", "b", "a"]


def test_a_name_that_no_run_has_is_said_under_the_search(tab: RunsTab) -> None:
    assert tab.refusal.isHidden()
    tab.search.setText("state:failed acuracy>0.5")
    assert (tab.refusal.refused.text(), tab.refusal.suggested.text()) == ("No run has 'acuracy'.", "Use accuracy>0.5")
    tab.refusal.suggested.click()
    assert tab.search.text() == "state:failed accuracy>0.5"
    assert tab.refusal.isHidden()
    tab.search.setText("state:bogus")
    assert (tab.refusal.refused.text(), tab.refusal.suggested.isHidden()) == ("There is no state 'bogus'.", True)


def test_finding_sorting_and_nothing_found(tab: RunsTab) -> None:
    tab.search.setText("accuracy>0.5")
    assert (names(tab), tab.count.text()) == (["a"], "1 of 3 runs")
    tab.search.clear()
    tab.state.setCurrentIndex(tab.state.findData("failed"))
    assert names(tab) == ["b"]
    tab.search.setText("nowhere")
    assert (names(tab), tab.title.text()) == ([], "No matching runs")
    tab.way_out.click()
    assert names(tab) == ["c", "b", "a"]
    tab.table.sortByColumn(tab.model.columns.index("validation.loss"), Qt.SortOrder.AscendingOrder)
    assert names(tab) == ["a", "b", "c"]
    tab.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert names(tab) == ["c", "b", "a"]


def test_selection_stays_with_its_runs(tab: RunsTab) -> None:
    tab.table.selectRow(2)
    tab.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert [run.path.name for run in tab.table.selected] == ["a"]
    assert tab.details.name.text() == "a"


def test_columns_are_hidden_and_stay_so(tab: RunsTab) -> None:
    menu = QMenu()
    tab.table.fill_columns_menu(menu)
    next(action for action in menu.actions() if action.text() == "Epochs").setChecked(False)
    assert tab.table.isColumnHidden(tab.model.columns.index("epochs"))
    tab.search.setText("accuracy>0.5")
    tab.search.clear()
    assert tab.table.isColumnHidden(tab.model.columns.index("epochs"))
    menu.deleteLater()


def test_a_note_and_tags_are_kept(qtbot: QtBot, tab: RunsTab, runs: list[RunFolder]) -> None:
    tab.table.selectRow(2)
    tab.details.notes.tags.setText("paper, again")
    qtbot.keyClicks(tab.details.notes.note, "the best so far")
    tab.table.selectRow(1)  # what was typed is kept without being asked to
    qtbot.waitUntil(lambda: read_notes(runs[0]).note == "the best so far")
    qtbot.waitUntil(lambda: column(tab, "tags") == ["", "", "again, paper"])
    tab.table.selectRow(2)
    assert (tab.details.notes.tags.text(), tab.details.notes.note.toPlainText()) == ("again, paper", "the best so far")


def test_what_is_typed_outlives_news_of_the_run(qtbot: QtBot, tab: RunsTab, runs: list[RunFolder]) -> None:
    tab.table.selectRow(2)
    tab.details.notes.note.setPlainText("half a sen")
    runs[0].result.write_text('{"state": "finished", "epochs": 5}')
    qtbot.waitUntil(lambda: column(tab, "epochs")[2] == "5")
    assert tab.details.notes.note.toPlainText() == "half a sen"


def test_news_from_before_a_note_was_kept_do_not_take_it_away(tab: RunsTab) -> None:
    tab.history.rest()
    details, before = tab.details, tab.model.rows[2]
    details.noted.disconnect()
    details.show_runs([before])
    details.notes.note.setPlainText("half a sen")
    details.keep()
    details.show_runs([replace(before, state="lost")])
    assert details.notes.note.toPlainText() == "half a sen"
    details.show_runs([replace(before, notes=Notes("half a sen"))])
    details.show_runs([replace(before, notes=Notes("another window's"))])
    assert details.notes.note.toPlainText() == "another window's"


def test_options_of_a_run_are_used_as_one_step(window: MainWindow, tab: RunsTab) -> None:
    before = window.editor.project
    tab.table.selectRow(0)
    tab.row_actions["options"].trigger()
    assert (window.editor.project.training.max_epochs, window.editor.project.training.solver) == (60, "adam")
    assert window.editor.project.network == before.network
    window.editor.undo()
    assert window.editor.project == before


def test_the_project_of_a_run_opens_as_a_copy(window: MainWindow, tab: RunsTab, project: Path) -> None:
    tab.table.selectRow(1)
    tab.row_actions["project"].trigger()
    assert window.editor.project.training.max_epochs == 60
    assert (window.documents.path, window.documents.base) == (None, project.parent)
    assert load(project).project.training.max_epochs == 30


def test_curves_of_a_run_are_shown_in_the_train_tab(window: MainWindow, tab: RunsTab) -> None:
    tab.table.selectRow(1)
    tab.table.setFocus()
    tab.table.opened.emit()
    assert window.training.run_folder is not None
    assert window.training.run_folder.path.name == "b"
    assert window.tabs.current == "train"


def test_the_folder_is_opened(tab: RunsTab, runs: list[RunFolder], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    tab.table.selectRow(2)
    tab.row_actions["folder"].trigger()
    assert [Path(url.toLocalFile()) for url in opened] == [runs[0].path]


def test_the_network_of_any_run_is_exported(tab: RunsTab, runs: list[RunFolder]) -> None:
    tab.table.selectRow(2)
    with Modal(press("OK")):
        tab.row_actions["export"].trigger()  # it has no weights, and the message says so
    for name in ("best", "last"):
        (runs[0].path / name).mkdir()
    offered: list[str] = []

    def look(dialog: QWidget) -> None:
        assert isinstance(dialog, ExportDialog)
        offered.extend(button.text() for button in dialog.weights.group.buttons() if button.isVisible())
        assert dialog.file.text().endswith("one.onnx")
        dialog.reject()

    with Modal(look):
        tab.row_actions["export"].trigger()
    assert offered == ["Best", "Last"]


def test_runs_go_to_the_trash_after_a_question(qtbot: QtBot, tab: RunsTab, runs: list[RunFolder]) -> None:
    tab.table.select([runs[0].path, runs[1].path])
    with Modal(press("Cancel")):
        tab.row_actions["delete"].trigger()
    with Modal(press("Move to trash")):
        tab.row_actions["delete"].trigger()
    qtbot.waitUntil(lambda: names(tab) == ["c"])
    assert not runs[0].path.exists()


def test_a_run_at_work_is_not_deleted(qtbot: QtBot, window: MainWindow, project: Path, tmp_path: Path) -> None:
    run = made(tmp_path, "live", 1, state="running")
    lock = take_lock(run)
    window.open_path(project)
    tab = shown(qtbot, window)
    assert column(tab, "state") == ["● Training"]
    tab.table.selectRow(0)

    def read(box: QWidget) -> None:
        assert isinstance(box, QMessageBox)
        assert box.text() == "A run in progress cannot be deleted"

    with Modal(read):
        tab.row_actions["delete"].trigger()
    os.close(lock)
    assert run.path.is_dir()


def test_a_project_without_runs_says_what_to_do(qtbot: QtBot, window: MainWindow, project: Path) -> None:
    window.open_path(project)
    tab = shown(qtbot, window)
    assert (tab.title.text(), tab.way_out.text()) == ("No runs yet", "Train")
    tab.way_out.click()
    assert window.tabs.current == "data"  # there is none to learn from


def test_another_project_has_other_runs(qtbot: QtBot, window: MainWindow, tab: RunsTab, tmp_path: Path) -> None:
    other = tmp_path / "two.netwright"
    save(Project(classifier()), other)
    window.open_path(other)
    window.show_tab("experiments")
    qtbot.waitUntil(lambda: names(tab) == ["other"])


def test_the_table_leaves_as_csv(tab: RunsTab, tmp_path: Path) -> None:
    tab.search.setText("state:failed")
    tab.export(tmp_path / "runs.csv")
    header, line = (tmp_path / "runs.csv").read_text().splitlines()
    assert "validation.rmse" in header
    assert line.startswith("b,one,failed,")
    tab.table.selectRow(0)
    tab.table.setFocus()
    QTest.keyClick(tab.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().splitlines()[1].startswith("b,one,failed,")


@pytest.fixture
def compared(qtbot: QtBot, tab: RunsTab, runs: list[RunFolder]) -> ComparePage:
    """Two runs side by side, chosen in the table."""
    log_curves(runs[0], epochs=3, steps_per_epoch=4, seconds=30)
    log_curves(runs[1], epochs=2, steps_per_epoch=8, seconds=10)
    tab.table.selectRow(0)
    assert not tab.row_actions["compare"].isEnabled()
    tab.table.select([runs[0].path, runs[1].path])
    tab.row_actions["compare"].trigger()
    page = tab._compare
    assert page is not None
    qtbot.waitUntil(lambda: page.traces.is_read)
    assert tab.pages.currentWidget() is page
    return page


def test_compared_runs_differ_in_some_rows(compared: ComparePage) -> None:
    labels = cells(compared.table, 0)
    assert {"State", "Validation loss", "Max epochs"} <= set(labels)
    assert "Environment" not in labels
    row = labels.index("Max epochs")
    assert [cells(compared.table, at)[row] for at in (1, 2)] == ["60", "30"]
    compared.only_different.setChecked(False)
    assert "Environment" in cells(compared.table, 0)
    assert sorted(set(nameless(compared))) == []


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
    for kind in ("png", "svg"):
        monkeypatch.setattr(
            "netwright.app.plots.curve_export.QFileDialog.getSaveFileName",
            lambda *_, k=kind: (str(target / f"c.{k}"), ""),
        )
        page.export.export_pictures(kind)
    monkeypatch.setattr(
        "netwright.app.plots.curve_export.QFileDialog.getSaveFileName", lambda *_: (str(target / "c.csv"), "")
    )
    page.export.export_csv()
    names = ["c-accuracy.png", "c-accuracy.svg", "c-loss.png", "c-loss.svg", "c.csv"]
    assert sorted(file.name for file in target.iterdir()) == names
    rows = (target / "c.csv").read_text().splitlines()
    assert rows[0] == "run,curve,split,step,value,epoch,elapsed_s"
    assert {tuple(row.split(",")[:3]) for row in rows[1:]} == {
        (run.path.name, curve, split)
        for run in runs[:2]
        for curve in ("loss", "accuracy")
        for split in ("training", "validation")
    }


def test_networks_of_compared_runs_open_beside_each_other(tab: RunsTab, compared: ComparePage) -> None:
    def read(dialog: QWidget) -> None:
        assert isinstance(dialog, CompareDialog)
        assert "equal" not in dialog.summary.text()

    with Modal(read):
        compared.networks.click()
    compared.back.click()
    assert tab.pages.currentWidget() is not compared


def shown_columns(tab: RunsTab) -> list[str]:
    return [key for at, key in enumerate(tab.model.columns) if not tab.table.isColumnHidden(at)]


def test_the_columns_in_which_runs_differ_come_first_and_none_is_beyond_the_edge(
    qtbot: QtBot, window: MainWindow, tab: RunsTab
) -> None:
    assert tab.model.columns[:4] == ("run", "state", "option:training.solver", "option:training.max_epochs")
    assert column(tab, "option:training.solver") == ["adam", "sgdm", "sgdm"]
    for width in (1280, 1000, 1600):
        window.resize(width, 800)
        QApplication.processEvents()
        qtbot.waitUntil(lambda: not tab.table.horizontalScrollBar().isVisible())
        assert {"run", "state", "option:training.max_epochs"} <= set(shown_columns(tab)), width
    assert "seconds" in shown_columns(tab)
    tab.search.setText("training.solver=sgdm")
    assert "option:training.solver" not in tab.model.columns, "the listed runs have the same"


def test_a_time_is_never_cut(qtbot: QtBot, window: MainWindow, tab: RunsTab, runs: list[RunFolder]) -> None:
    window.resize(1900, 800)
    runs[2].result.write_text('{"state": "finished", "seconds": 45907.0}')
    qtbot.waitUntil(lambda: "12 h 45 m" in column(tab, "seconds"))
    at = tab.model.columns.index("seconds")
    room = tab.table.columnWidth(at) - 8
    assert all(tab.table.fontMetrics().horizontalAdvance(text) <= room for text in column(tab, "seconds"))


def is_titled(tab: RunsTab, title: str) -> bool:
    return column(tab, "run")[0] == title


def test_a_run_is_renamed_in_place_and_given_its_number_back(qtbot: QtBot, tab: RunsTab, runs: list[RunFolder]) -> None:
    update_info(runs[2], number=3)
    qtbot.waitUntil(lambda: column(tab, "run") == ["Run 3 · adam, 0.001", "b", "a"])
    tab.table.selectRow(0)
    for typed, title in (("with dropout", "with dropout"), ("", "Run 3 · adam, 0.001")):
        tab.table.setFocus()
        QTest.keyClick(tab.table, Qt.Key.Key_F2)
        assert tab.details.new_name.isVisible()
        tab.details.new_name.setText(typed)
        QTest.keyClick(tab.details.new_name, Qt.Key.Key_Return)
        assert not tab.details.new_name.isVisible()
        qtbot.waitUntil(partial(is_titled, tab, title))
        assert tab.details.name.text() == title
    tab.details.rename()
    tab.details.new_name.setText("no")
    QTest.keyClick(tab.details.new_name, Qt.Key.Key_Escape)
    assert (tab.details.name.isVisible(), read_notes(runs[2])) == (True, Notes())
    assert str(runs[2].path) in tab.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_a_run_has_two_buttons_and_a_menu(qtbot: QtBot, tab: RunsTab, runs: list[RunFolder]) -> None:
    def buttons() -> list[str]:
        return [button.text() for button in tab.details.buttons.values() if button.isVisible()]

    assert not tab.details.more.isVisible()
    tab.table.selectRow(1)
    assert buttons() == ["Show curves", "Resume"]
    shutil.rmtree(runs[1].checkpoints)
    tab.history.note(runs[1].path, "without a checkpoint", ())
    qtbot.waitUntil(lambda: buttons() == ["Show curves"])
    assert tab.row_actions["resume"].toolTip() == "This run has saved no checkpoint to go on from"
    menu = tab.details.more.menu()
    assert [action.text() for action in menu.actions() if action.text()] == [
        "Export network…",
        "Export report…",
        "Start from its weights…",
        "Rename…",
        "Open project",
        "Reuse options",
        "Open folder",
        "Move to trash…",
    ]
    tab.table.select([runs[0].path, runs[1].path])
    assert buttons() == ["Compare"]


def test_times_are_told_by_their_distance_and_exactly_in_the_tooltip(tab: RunsTab) -> None:
    cell = tab.model.index(0, tab.model.columns.index("created"))
    assert str(cell.data()).endswith("days ago")
    assert str(cell.data(Qt.ItemDataRole.ToolTipRole)).startswith("19")


def test_only_the_best_value_of_a_comparison_is_marked(tab: RunsTab, runs: list[RunFolder]) -> None:
    tab.table.select([runs[0].path, runs[1].path])
    tab.row_actions["compare"].trigger()
    page = tab._compare
    assert page is not None
    bold = []
    for row in range(page.table.rowCount()):
        for at in range(1, page.table.columnCount()):
            item = page.table.item(row, at)
            if item is not None and item.font().bold():
                bold.append((cells(page.table, 0)[row], item.text()))
    assert bold == [("Validation loss", "0.200")], "accuracy and rmse have one value each"


def test_a_selected_run_says_that_its_data_has_changed(qtbot: QtBot, tab: RunsTab, server: FakeServer) -> None:
    said = tab.details.data_changes
    tab.table.selectRow(0)
    qtbot.waitUntil(lambda: server.count("data_changes") == 1)
    server.answer("data_changes", {"changes": ["train.csv: 4 KB, was 3 KB."]})
    assert said.text() == "The data has changed since:\ntrain.csv: 4 KB, was 3 KB."
    assert said.isVisible()
    tab.table.selectRow(1)
    assert not said.isVisible()
    qtbot.waitUntil(lambda: server.count("data_changes") == 2)
    tab.table.selectRow(0)
    server.answer("data_changes", {"changes": ["not of this run"]})
    assert not said.isVisible()


def test_the_data_of_a_run_under_way_is_not_looked_at(tab: RunsTab, server: FakeServer) -> None:
    tab.details.show_runs([replace(tab.model.rows[0], state="running")])
    assert not tab.details._look_at_data.isActive()
