"""Runs beside each other on the page Runs."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.dialogs.compare_projects import CompareDialog
from netwright.app.history.run_comparison import ComparePage
from netwright.app.history.runs_page import RunsPage
from netwright.app.plots.traces import Curve
from netwright.app.window import MainWindow
from netwright.engine.runs.folder import RunFolder
from tests.app.history.runs_pages import click, selected
from tests.app.history.sample_runs import log_curves
from tests.app.main_windows import Modal
from tests.app.test_accessible import nameless

CONTROL = Qt.KeyboardModifier.ControlModifier


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


@pytest.mark.parametrize("width", [700, 751])
def test_the_comparison_is_whole_in_a_narrow_window(compared: ComparePage, qtbot: QtBot, width: int) -> None:
    """In one of 1,024 pixels it has 751 beside the rail; below, the controls take another row."""
    compared.window().resize(1440, 720)
    compared.setFixedWidth(width)
    assert compared.minimumSizeHint().width() <= width
    controls = [control for control in compared.controls.widgets if control.isVisible()]
    qtbot.waitUntil(lambda: all(compared.controls.rect().contains(control.geometry()) for control in controls))
    assert all(control.width() >= control.sizeHint().width() for control in controls)
    assert (len({control.geometry().bottom() // 40 for control in controls}) == 1) == (width == 751)
    qtbot.waitUntil(lambda: compared.table.horizontalScrollBar().maximum() == 0)  # two runs fit
    compared.show_runs([compared.runs[0]] * 8)
    assert compared.table.columnWidth(1) == 140, "more scroll"


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
