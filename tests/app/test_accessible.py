"""Everything that takes the keyboard or a click has a name that a screen reader can say."""

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QGraphicsView,
    QHeaderView,
    QLineEdit,
    QScrollBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from netwright.app.data.samples_bar import SamplesBar
from netwright.app.window import MainWindow
from netwright.designer.segment_row import SegmentRow
from netwright.engine.network import edits
from netwright.engine.network.catalog import catalog
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from tests.builders import classifier

INTERACTIVE = (
    *(QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox),
    *(QGraphicsView, QLineEdit, QTextEdit),
)


def nameless(root: QWidget) -> Iterator[str]:
    """The widgets a person works with that have nothing to be called by, as their way down from the root."""
    for widget in root.findChildren(QWidget):
        if not isinstance(widget, INTERACTIVE) or isinstance(widget, QHeaderView | QScrollBar):
            continue
        if widget.objectName().startswith("qt_") or any(
            isinstance(one, QComboBox | QAbstractSpinBox) for one in _over(widget)
        ):
            continue  # a part of another widget
        told = QAccessible.queryAccessibleInterface(widget)
        name = widget.accessibleName() or (told.text(QAccessible.Text.Name) if told else "")
        if not name.strip(" …+−-"):
            yield f"{_way(widget)}  tip={widget.toolTip()!r}"


def _over(widget: QWidget) -> Iterator[QWidget]:
    at = widget.parentWidget()
    while at is not None:
        yield at
        at = at.parentWidget()


def _way(widget: QWidget) -> str:
    names = [type(at).__name__ + (f"[{at.objectName()}]" if at.objectName() else "") for at in (widget, *_over(widget))]
    return " < ".join(names[:6])


def test_a_widget_without_a_name_is_found(qtbot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    QLineEdit(holder)
    named = QLineEdit(holder)
    named.setAccessibleName("Filter")
    assert list(nameless(holder)) == ["QLineEdit < QWidget  tip=''"]


def test_every_tab_of_the_window_says_what_its_widgets_are(window: MainWindow) -> None:
    for tab in ("design", "data", "runs", "start"):
        window.show_tab(tab)
        QApplication.processEvents()
    assert sorted(set(nameless(window))) == []


def test_segments_are_radio_buttons_to_a_screen_reader(window: MainWindow, qtbot: QtBot) -> None:
    window.show_tab("runs")
    window.show_tab("design")
    samples = SamplesBar({"training": 3})
    qtbot.addWidget(samples)
    rows = [*window.findChildren(SegmentRow), *samples.findChildren(SegmentRow)]
    buttons = [button for row in rows for button in row.group.buttons()]
    assert {"Design", "Structure", "All 3"} <= {button.text() for button in buttons}
    assert {QAccessible.queryAccessibleInterface(one).role() for one in buttons} == {QAccessible.Role.RadioButton}


def test_the_form_of_every_layer_type_says_what_its_fields_are(window: MainWindow) -> None:
    network = Network.empty()
    for type_ in catalog().values():
        network, _ = edits.add_layer(network, type_())
    window.editor.open(Project(network))
    found = set()
    for id in network.layers:
        window.editor.set_selection({id})
        found |= set(nameless(window.design.properties))
    assert sorted(found) == []


def test_dialogs_and_popups_say_what_their_widgets_are(window: MainWindow, tmp_path: Path) -> None:
    from netwright.app.dialogs.compare_projects import CompareDialog
    from netwright.app.dialogs.training_options import TrainingOptionsDialog
    from netwright.app.exchange.export_dialog import ExportDialog
    from netwright.app.frame.help_dialogs import CommandFinder, about_dialog

    window.editor.open(Project(classifier()))
    project = window.editor.project
    options = TrainingOptionsDialog(project, parent=window)
    compare = CompareDialog(project, Project(), ("here", "there"), window)
    export = ExportDialog(project, tmp_path, None, tmp_path / "network.onnx", window)
    dialogs = [CommandFinder(window.menus.actions_by_id, window), options, compare, export, about_dialog(window, ())]
    shown: list[QWidget] = list(dialogs)
    window.canvas_commands.find_bar.open()
    window.design.canvas.quick_add()
    assert window.design.canvas.suggestions.popup is not None
    shown += [window.canvas_commands.find_bar, window.design.canvas.suggestions.popup]
    found = {name for one in shown for name in nameless(one)}
    window.design.canvas.suggestions.close()
    for one in dialogs:
        one.deleteLater()
    assert sorted(found) == []
