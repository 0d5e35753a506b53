"""Names, notes and messages come from files. The window shows them as they are written: it reads no tag in them, opens
no file that they name, and no letter of theirs becomes a key."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, QPoint, Qt
from PySide6.QtGui import QAction, QFontMetrics, QFontMetricsF
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGraphicsTextItem,
    QGraphicsView,
    QInputDialog,
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QProgressDialog,
    QPushButton,
    QTabBar,
    QTabWidget,
    QTextEdit,
    QToolTip,
    QWidget,
)

from netwright.app import messages
from netwright.app.history.run_comparison import ComparePage
from netwright.app.history.runs_page import RunsPage
from netwright.app.plots.plot_items import table_markup
from netwright.app.window import MainWindow
from netwright.designer import items, markup, theme
from netwright.designer.canvas.overlays import Hint
from netwright.engine.core.files import write_json
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import Comment, Frame
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.events import Ended, Event, Failed, Message, Points, Refused
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.notes import write_notes
from tests.app.history.sample_runs import log_curves, made
from tests.builders import classifier

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
HOSTILE = f"<img src='pipe'><link rel='stylesheet' href='pipe'><b>bold</b> &now [*] {BIDI}"
SHOWN = markup.visible(HOSTILE)
WATCHER = """
import os, sys, time
while True:
    try:
        os.close(os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK))  # fails while nobody reads
        print("read", flush=True)
        break
    except OSError:
        time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], bool]]:
    """Return a function that says whether somebody has opened the pipe that the texts name. It lets readers go on."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    watcher = subprocess.Popen([sys.executable, "-c", WATCHER, "pipe"], stdout=subprocess.PIPE)
    yield lambda: watcher.poll() is not None
    watcher.kill()
    watcher.communicate()


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    """Two runs whose files say hostile things wherever there is text."""
    found = []
    for number in (1, 2):
        run = made(tmp_path, f"<img src='pipe'>&run{number}[*]", number, state="failed", solver="adam")
        write_json(run.result, {"state": "failed", "reason": HOSTILE, "validation": {HOSTILE: 0.5}})
        write_notes(run, note=HOSTILE)
        log_curves(run, 2, 10, 5.0, metric=HOSTILE)
        found.append(run)
    return found


def events() -> list[Event]:
    return [
        Message(severity="warning", text=HOSTILE),
        Refused(what="set", iteration=1, reason=HOSTILE),
        Points(split="validation", first_step=20, steps_apart=1, values={HOSTILE: [0.5]}),
        Failed(cause=HOSTILE, detail=HOSTILE, offer=f"training.{HOSTILE}=2"),
        Ended(state="failed", reason=HOSTILE, result={}),
    ]


@pytest.fixture
def hostile_window(window: MainWindow, tmp_path: Path) -> MainWindow:
    """A window with a project that has hostile text in its file name, its comments and its options."""
    network = classifier()
    frames = (Frame("f", (0, 0), (400, 200), HOSTILE),)
    comments = (Comment("c", (0, 300), (200, 100), HOSTILE),)
    layout = replace(arrange(network), frames=frames, comments=comments)
    project = Project(network, layout)
    project = project.with_section("data", project.data.replace(source="images", path=HOSTILE))
    path = tmp_path / "one.netwright"
    save(project, path)
    assert window.open_path(path)
    return window


ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)


def shown_texts(widget: QWidget) -> Iterator[tuple[str, str]]:
    """Every text that a widget shows, after where it is; a field that can be edited shows its exact text."""
    yield "tooltip", widget.toolTip()
    yield "title", widget.windowTitle()
    yield "accessible", widget.accessibleName() + widget.accessibleDescription()
    for action in widget.actions():
        yield "action", f"{action.text()}{action.toolTip()}{action.statusTip()}"
    match widget:
        case QLabel() | QAbstractButton():
            yield "text", widget.text()
        case QPlainTextEdit() if widget.isReadOnly():
            yield "text", widget.toPlainText()
        case QTabBar() | QTabWidget():
            yield from (("tab", widget.tabText(at) + widget.tabToolTip(at)) for at in range(widget.count()))
        case QComboBox():
            yield from (("item", widget.itemText(at)) for at in range(widget.count()))
        case QAbstractItemView() if widget.model() is not None:
            yield from shown_items(widget.model(), QModelIndex())


def shown_items(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[tuple[str, str]]:
    """Every text of a model, after where it is."""
    for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)):
        for role in ROLES:
            yield f"heading {column}", str(model.headerData(column, Qt.Orientation.Horizontal, role))
        for row in range(model.rowCount(parent)):
            index = model.index(row, column, parent)
            yield from ((f"cell {row} {column} {role.name}", str(index.data(role))) for role in ROLES)
            yield from shown_items(model, index)


def check_plain(window: QWidget) -> None:
    """Every widget, menu entry and text of a scene shows what is written, or was made by `netwright.designer.markup`;
    no text that is shown has bidirectional controls."""
    for widget in QApplication.allWidgets():
        widget.ensurePolished()
        assert not (isinstance(widget, QTextEdit) and widget.isVisibleTo(window))
        if isinstance(widget, QLabel):
            is_rich = widget.property("markup") == "true"
            assert widget.textFormat() == (Qt.TextFormat.RichText if is_rich else Qt.TextFormat.PlainText)
            assert not (is_rich and "<img src='pipe'" in widget.text()), widget.text()
        if isinstance(widget, QAbstractButton):
            assert "&now" not in widget.text().replace("&&", ""), widget.text()
        assert not [(where, text) for where, text in shown_texts(widget) if set(BIDI) & set(text)]
        if isinstance(widget, QGraphicsView) and widget.scene() is not None:
            texts = [item for item in widget.scene().items() if isinstance(item, QGraphicsTextItem)]
            assert not any("pipe" in text.toHtml() for text in texts)
    for action in window.findChildren(QAction):
        assert "&now" not in action.text().replace("&&", ""), action.text()


def test_the_page_of_a_run_shows_what_it_says(
    hostile_window: MainWindow, runs: list[RunFolder], was_read: Callable[[], bool], qtbot
) -> None:
    window = hostile_window
    window.show_tab("runs")
    log = EventLog(runs[0])
    for event in events():
        log.append(event)
    log.close()
    window.training.follow(runs[0])
    monitor = window.training.monitor
    qtbot.waitUntil(lambda: not monitor.facts.head.reason.isHidden())
    assert SHOWN in monitor.facts.head.reason.text()
    monitor.log_button.click()
    for card in monitor.board.cards:
        card.grab()
    check_plain(window)
    assert not was_read()


def test_the_list_of_runs_shows_what_a_run_says(
    hostile_window: MainWindow, runs: list[RunFolder], was_read: Callable[[], bool], qtbot
) -> None:
    window = hostile_window
    window.show_tab("runs")
    runs_page = window.tabs.page("runs")
    assert isinstance(runs_page, RunsPage)
    rail = runs_page.rail
    qtbot.waitUntil(lambda: runs_page.history.is_read and rail.model.rowCount() == 2)
    assert SHOWN in str(rail.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole))
    rail.list.grab()
    rail.order.menu().aboutToShow.emit()
    check_plain(window)
    rail.list.selectAll()
    page = runs_page.pages.currentWidget()
    assert isinstance(page, ComparePage)
    qtbot.waitUntil(lambda: page.quantity.count() > 0)
    page.grab()
    check_plain(window)
    assert not was_read()


def test_the_canvas_and_its_dialogs_show_what_a_project_says(
    hostile_window: MainWindow, was_read: Callable[[], bool], qtbot
) -> None:
    window = hostile_window
    for tab in ("start", "design", "data"):
        window.show_tab(tab)
        window.grab()
        check_plain(window)
    assert not was_read()


def test_tooltips_show_tags_as_they_are(window: MainWindow, was_read: Callable[[], bool], qtbot) -> None:
    button = QPushButton(window)
    button.setStyleSheet("padding: 0")  # a sheet of its own takes nothing from the application's
    for near in (window, button):
        QToolTip.showText(QPoint(10, 10), HOSTILE, near)
        (tip,) = (widget for widget in QApplication.allWidgets() if widget.metaObject().className() == "QTipLabel")
        assert isinstance(tip, QLabel)
        assert (tip.text(), tip.textFormat()) == (HOSTILE, Qt.TextFormat.PlainText)
        QToolTip.hideText()
        qtbot.waitUntil(lambda: not QToolTip.isVisible())
    assert not was_read()


@pytest.mark.parametrize("kind", ["box", "message", "input", "progress"])
def test_boxes_of_qt_show_tags_as_they_are(
    window: MainWindow, was_read: Callable[[], bool], qtbot, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "box":
        box: QWidget = messages.make_box(window, [HOSTILE], [Path(HOSTILE)])
    elif kind == "message":
        box = QMessageBox(QMessageBox.Icon.Warning, HOSTILE, HOSTILE, parent=window)
        box.setInformativeText(HOSTILE)
    elif kind == "input":
        box = QInputDialog(window)
        box.setLabelText(HOSTILE)
    else:
        box = QProgressDialog(HOSTILE, "Cancel", 0, 2, window)
    box.show()
    box.grab()
    labels = [label for label in box.findChildren(QLabel) if "<b>" in label.text()]
    assert labels
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}
    box.close()
    box.deleteLater()
    assert not was_read()


def test_labels_that_wrap_are_plain_before_they_are_measured(window: MainWindow, was_read: Callable[[], bool]) -> None:
    hint = Hint(window)
    hint.say(HOSTILE, QPoint(5, 5))
    assert hint.textFormat() == Qt.TextFormat.PlainText
    assert not was_read()


def test_rich_text_escapes_what_it_is_filled_with(
    window: MainWindow, was_read: Callable[[], bool], qapp: QApplication
) -> None:
    label = QLabel(window)
    markup.show(label, table_markup([[HOSTILE, HOSTILE]], ["", HOSTILE], HOSTILE))
    label.show()
    label.grab()
    assert label.textFormat() == Qt.TextFormat.RichText
    assert "<img" not in label.text()
    assert markup.italic_code("a `<b>` c `d") == "a <i>&lt;b&gt;</i> c `d"
    theme.apply(qapp, "dark")
    assert label.textFormat() == Qt.TextFormat.RichText
    assert not was_read()


def test_names_in_menus_titles_and_notifications_are_whole(window: MainWindow, tmp_path: Path) -> None:
    assert markup.without_mnemonic("a&b\tc") == "a&&b c"
    path = tmp_path / "R&now [*].netwright"
    save(Project(classifier()), path)
    window.open_path(path)
    assert window.windowTitle().startswith("R&now [*][*]")
    window.menus._fill_recent()
    assert "R&&now [*]" in [action.text() for action in window.menus.recent.actions()]
    window.show_tab("start")
    window.start_page.show_way_back("R&now")
    assert window.start_page.back.text() == "Back to R&&now"
    assert markup.notification("<img src='x'>") == "‹img src='x'›"


def test_bidirectional_controls_are_shown() -> None:
    name = "a\u202egpj.exe"
    assert markup.visible(name) == "a\\u202egpj.exe"
    assert markup.visible("تدريب") == "تدريب"
    for shown in (
        markup.elided(QFontMetrics(QApplication.font()), name, Qt.TextElideMode.ElideRight, 1000),
        markup.elided(QFontMetricsF(QApplication.font()), name, Qt.TextElideMode.ElideRight, 1000),
        markup.filled("{}", name),
        markup.without_mnemonic(name),
        markup.window_title(name),
        markup.notification(name),
        markup.wrapped(name),
        messages.breakable(name),
        items.table_item(name).text(),
        items.table_item("", name).toolTip(),
    ):
        assert shown == "a\\u202egpj.exe"


def test_tooltips_wrap() -> None:
    assert markup.wrapped("one\n\n" + "word " * 40).count("\n") == 4
    assert max(map(len, markup.wrapped("x" * 500).split("\n"))) == markup.TOOLTIP_COLUMNS
