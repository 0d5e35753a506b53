"""Somebody at the window, who reads, clicks, types and drops files; never code that calls the window's parts. What is
clicked, chosen and typed into is named in English, and looked for in the language of the window."""

import os
import re
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from netwright.designer.language import tr, translation
from tests.app.clipping import clipped, settle
from tests.journeys.dialogs import PATIENCE_MS, Dialogs, wait_until
from tests.journeys.screen import ScreenWatch, columns_of, plain, seen

Kind = TypeVar("Kind", bound=QWidget)
SETTLE_MS = 3_000
PICTURES = os.environ.get("NETWRIGHT_JOURNEY_PICTURES", "")
"""Folder for pictures of what is looked at, for a person to look at as well."""
UNTRUE = (
    r"Traceback \(most recent",
    r"\bErrno\b",
    r"object at 0x",
    r"\b\d(\.\d+)?e\+\d\d\b",
    r"(^|[\s:(])nan\b",
    r"(^|[\s(=])None($|[\s),.])",
    r"^\s*\{\"",
    r"defect",
)
"""What a user is never to read, whatever the journey."""


class Person:
    """Acts on the front window. All acts fail with the words on the screen where they cannot be done."""

    def __init__(self, window: QMainWindow, watch: ScreenWatch, name: str) -> None:
        self.window, self.watch = window, watch
        watch.mains.append(window)
        self._name, self._num_pictures = name, 0

    # ---- reading ----

    @property
    def front(self) -> QWidget:
        """The window that takes clicks: a menu, a dialog, or the main window."""
        return QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.window

    def sees(self, pattern: str) -> bool:
        """Whether a text on the screen matches."""
        return any(re.search(pattern, text) for text in self.watch.words())

    def wait_to_see(self, pattern: str, *, or_else: str = "", patience_ms: int = PATIENCE_MS) -> str:
        """Wait for a text that matches and return it; fail at once where `or_else` is read."""

        def read() -> str:
            texts = self.watch.words()
            wrong = [text for text in texts if or_else and re.search(or_else, text)]
            assert not wrong, f"waited for '{pattern}', read {wrong}"
            return next((text for text in texts if re.search(pattern, text)), "")

        self._wait(lambda: bool(read()), f"to see '{pattern}'", patience_ms)
        return read()

    def wait_until_gone(self, pattern: str, patience_ms: int = PATIENCE_MS) -> None:
        """Wait until no text matches."""
        self._wait(lambda: not self.sees(pattern), f"until '{pattern}' is gone", patience_ms)

    def never_saw(self, *patterns: str) -> None:
        """Check that no text matched at any time since the last `forget`."""
        self.watch.look()
        for pattern in patterns:
            assert not (texts := self.watch.matching(pattern)), f"'{pattern}' was on the screen: {texts}"

    def look(self, what: str) -> None:
        """Look closely: nothing is cut, nothing on the screen is untrue by its form."""
        settle(self.front)
        wait_until(lambda: not any(clipped(self.front)), SETTLE_MS)  # layouts may wait for each other
        self._picture(what)
        cut = list(clipped(self.front))
        assert not cut, f"{what}: cut {cut}"
        self.never_saw(*UNTRUE)
        self.watch.look_closely()

    def _picture(self, what: str) -> None:
        if PICTURES:
            self._num_pictures += 1
            name = re.sub(r"\W+", "-", f"{self._name}-{self._num_pictures:02}-{what}")
            for number, top in enumerate(self.watch.windows()):
                top.grab().save(str(Path(PICTURES) / f"{name}{f'-{number}' if number else ''}.png"))

    def _wait(self, fact: Callable[[], bool], what: str, patience_ms: int = PATIENCE_MS) -> None:
        if not wait_until(fact, patience_ms):
            self._picture("stuck")
            raise AssertionError(f"waited {what}; on the screen:\n{self.screen()}")

    def wait(self, fact: Callable[[], bool], what: str) -> None:
        """Wait for a fact that is not on the screen, such as a file."""
        self._wait(fact, f"for {what}")

    def screen(self) -> str:
        """The words on the screen, a line each."""
        return "\n".join(f"  {text}" for text in dict.fromkeys(self.watch.words()))

    # ---- acting ----

    def button(self, text: str, *, within: str = "") -> QAbstractButton | None:
        """The button, link or check box with this text, or screen reader's name, if it is in sight."""
        text = _own(text)
        for widget in seen(self._area(within)):
            if isinstance(widget, QAbstractButton):
                name = _bare(widget.accessibleName())
                if text in (_bare(widget.text()), name, re.split(r"[.,] |。", name)[0]):
                    return widget
        return None

    def click(self, text: str, *, within: str = "") -> None:
        """Click the button with this text, once it can be clicked."""
        self._wait(
            lambda: (button := self.button(text, within=within)) is not None and button.isEnabled(),
            f"to click '{text}'",
        )
        button = self.button(text, within=within)
        assert button is not None
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def click_and_wait(self, text: str) -> None:
        """Click a button of the dialog in front, whose work takes time, and wait until the dialog is left."""
        dialog = self.front
        self.click(text)
        self._wait(lambda: not dialog.isVisible(), f"until '{dialog.windowTitle()}' is left")

    def tab(self, name: str) -> None:
        """Click a tab of the window: Data, Design or Runs."""
        tab = next(b for b in self.window.findChildren(QPushButton) if b.text() == _own(name) and b.isCheckable())
        QTest.mouseClick(tab, Qt.MouseButton.LeftButton)

    def set_options(self, **options: str) -> None:
        """Type values into the dialog of training options, or choose them."""

        def work() -> None:
            for name, value in options.items():
                is_list = bool(self._fields(name, QComboBox, ""))
                (self.choose if is_list else self.type_into)(name, value)
            self.click("OK")

        with self.dialog(work):
            self.click("Training options…")

    def train(self, name: str = "Train", *, epochs: int = 0) -> None:
        """Press Train, which may have another name, for this number of epochs, or as it is, and look at the curves."""
        if epochs:
            self.set_options(**{"Max epochs": str(epochs)})
        name = _own(name)
        self._wait(lambda: self.button(name) is not None, f"for the button {name}")
        buttons = [b for b in self.window.findChildren(QPushButton) if b.text() == name and b.isVisible()]
        start = next(b for b in buttons if not b.isCheckable())
        QTest.mouseClick(start, Qt.MouseButton.LeftButton)
        self.tab("Runs")

    def train_to_the_end(self, *, epochs: int = 0) -> None:
        """Train and look at what comes of it."""
        self.train(epochs=epochs)
        self.wait_to_see(f"✓ {_own('Finished')}$", or_else="Failed|could not|cannot|失败|无法|不能")
        self.look("trained")

    def make_network(self, layers: str = "^[1-9][0-9]* (layers|个层)") -> None:
        """Let the data propose a network."""
        self.click("Make a network")
        self.wait_to_see(layers)

    def evaluate(self, score: str) -> None:
        """Look at the scores of the test split."""
        self.click("Scores")
        self.wait_to_see(score)
        self.look("scores")

    def predict_file(self, path: Path, *answers: str) -> None:
        """Choose a file on the page Predict."""
        self.click("Predict")
        with self.choose_file(path):
            self.click("Files…")
        for answer in answers:
            self.wait_to_see(answer)
        self.look("predicted")

    def explain(self, picture: str) -> None:
        """Look at the explanation that is proposed."""
        self.click("Explain")
        self.wait_to_see(picture)
        self.look("explained")

    def menu(self, *path: str) -> None:
        """Choose an entry of the menu bar."""
        entries = self.window.menuBar().actions()
        for name in path[:-1]:
            entry = next((a for a in entries if _bare(a.text()) == _own(name)), None)
            assert entry is not None, f"no menu {name}: {[a.text() for a in entries]}"
            menu = entry.menu()
            assert isinstance(menu, QMenu)
            menu.aboutToShow.emit()
            entries = menu.actions()
        self._choose_entry(entries, path[-1])

    def choose_from_menu(self, text: str) -> None:
        """Choose an entry of the menu that is open."""
        self._wait(lambda: isinstance(QApplication.activePopupWidget(), QMenu), "for a menu")
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        entry = next((a for a in menu.actions() if _bare(a.text()) == _own(text)), None)
        assert entry is not None, f"no entry {text}: {[a.text() for a in menu.actions()]}"
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(entry).center())

    def _choose_entry(self, entries: list, text: str) -> None:
        entry = next((a for a in entries if _bare(a.text()) == _own(text)), None)
        assert entry is not None, f"no entry {text}: {[a.text() for a in entries]}"
        assert entry.isEnabled(), f"{text} cannot be chosen"
        entry.trigger()

    def type_into(self, name: str, text: str, *, within: str = "") -> None:
        """Type over the field of this name, or beside the label of this name, and leave it."""
        line = self._field(name, QLineEdit, within)
        self._into_view(line)
        line.setFocus()
        line.selectAll()
        QTest.keyClicks(line, text)
        # What completes the text takes the keys while it is open.
        QTest.keyClick(QApplication.activePopupWidget() or line, Qt.Key.Key_Tab)

    def fill(self, text: str) -> None:
        """Type over what is in the large field for text in front."""
        (area,) = [w for w in seen(self.front) if isinstance(w, QPlainTextEdit)]
        area.setFocus()
        area.selectAll()
        QTest.keyClicks(area, text)

    def choose(self, name: str, text: str, *, within: str = "") -> None:
        """Choose an entry of the combo box of this name, by the keyboard."""
        box = self._field(name, QComboBox, within)
        self._into_view(box)
        number = next((n for n in range(box.count()) if re.fullmatch(_own(text), box.itemText(n))), -1)
        assert number >= 0, f"{name} offers {[box.itemText(n) for n in range(box.count())]}, not {text}"
        box.setFocus()
        step = Qt.Key.Key_Down if number > box.currentIndex() else Qt.Key.Key_Up
        while box.currentIndex() != number:
            before = box.currentIndex()
            QTest.keyClick(box, step)
            assert box.currentIndex() != before, f"{name} stays at {box.currentText()}"

    def press(self, key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key, which goes to what has the focus."""
        if not wait_until(lambda: QApplication.activeWindow() is self.front.window(), SETTLE_MS):
            self.front.activateWindow()  # the offscreen platform has no window manager that does it after a dialog
            wait_until(self.front.isActiveWindow, PATIENCE_MS)
        QTest.keyClick(QApplication.focusWidget() or self.front, key, keys)

    def write(self, text: str) -> None:
        """Type a text into what has the focus."""
        focus = QApplication.focusWidget()
        assert focus is not None, "nothing has the focus"
        QTest.keyClicks(focus, text)

    def tab_to(self, name: str) -> None:
        """Press Tab until the focus is on what screen readers call so."""
        names: list[str] = []
        while True:
            focus = QApplication.focusWidget()
            label = "" if focus is None else focus.accessibleName() or getattr(focus, "text", str)()
            if re.match(name, _bare(str(label))):
                return
            assert names.count(label) < 3, f"Tab goes round without {name}: {names}"
            names.append(label)
            self.press(Qt.Key.Key_Tab)

    def click_row(self, pattern: str) -> None:
        """Click the row of a table or list whose text matches."""
        for widget in seen(self.front):
            if isinstance(widget, QAbstractItemView):
                model = widget.model()
                for row in range(model.rowCount()):
                    cells = [model.index(row, c) for c in range(columns_of(widget))]
                    if any(re.search(pattern, str(cell.data())) for cell in cells if cell.data() is not None):
                        cell = next(cell for cell in cells if cell.data() is not None)
                        widget.scrollTo(cell)
                        at = widget.visualRect(cell).center()
                        QTest.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=at)
                        return
        raise AssertionError(f"no row '{pattern}'; on the screen:\n{self.screen()}")

    def drop(self, *paths: Path) -> None:
        """Drag files from a file manager and drop them in the middle of the window."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        at = QPoint(self.window.width() // 2, self.window.height() // 2)
        none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
        enter = QDragEnterEvent(at, Qt.DropAction.CopyAction, data, left, none)
        QApplication.sendEvent(self.window, enter)
        assert enter.isAccepted(), f"the window does not take {[path.name for path in paths]}"
        event = QDropEvent(QPointF(at), Qt.DropAction.CopyAction, data, left, none, QEvent.Type.Drop)
        QApplication.sendEvent(self.window, event)

    def dialog(self, *works: Callable[[], None]) -> Dialogs:
        """Context for the click that opens a dialog, or several in a row, in which `works` act; each is left by its own
        buttons."""
        return Dialogs(works)

    def choose_file(self, path: Path, *works: Callable[[], None]) -> Dialogs:
        """Context for the click that opens a file dialog, in which the path is pasted; `works` act in the dialogs that
        come after it."""
        return Dialogs([lambda: self._paste_path(path), *works])

    def _paste_path(self, path: Path) -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog), type(dialog)
        line = next(line for line in dialog.findChildren(QLineEdit) if line.objectName() == "fileNameEdit")
        line.setFocus()
        line.selectAll()
        QApplication.clipboard().setText(str(path))
        QTest.keyClick(line, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        QApplication.processEvents()
        QTest.keyClick(line, Qt.Key.Key_Return)

    def save_as(self, path: Path) -> None:
        """Choose File > Save as and paste a path."""
        with self.choose_file(path):
            self.menu("File", "Save as…")
        self._wait(path.exists, f"for {path.name}")

    def open_example(self, name: str) -> None:
        """Click a card of the start page."""
        self.click(name)
        self._wait(lambda: self.sees(r"^[1-9]\d* (layers|个层)"), "for its layers")

    def export(self, path: Path) -> None:
        """Write what the export dialog in front offers to a file, and copy the code that it offers."""
        self.type_into("File to write", str(path))
        self.click("Export")
        self.wait_to_see("ONNX Runtime (agrees|的结果一致)", or_else="refused|could not|do not agree|无法|不一致")
        self.look("exported")
        self.click("Copy code that runs it")
        self.click("Close")

    def run_sweep(self, values: Mapping[str, str]) -> None:
        """Add what varies to a new sweep by its label, type its values as a list, and run their combinations."""
        self.tab("Runs")
        self.click("Sweep")
        for label, text in values.items():
            line = self._field("Add parameter", QLineEdit, "")
            line.setFocus()
            QTest.keyClicks(line, label)
            QTest.keyClick(QApplication.activePopupWidget() or line, Qt.Key.Key_Return)
            self.window.activateWindow()  # the offscreen platform leaves it to a list that is closed
            self.type_into(tr("{part} of {label}", part=tr("Values"), label=_own(label)), text)
        self.click(tr("Run %n trial(s)", "", prod(len(text.split(",")) for text in values.values())))

    def close_dialogs(self) -> None:
        """Press Escape in what is in front of the window."""
        while isinstance(front := self.front, QDialog):
            QTest.keyClick(front, Qt.Key.Key_Escape)

    # ---- finding ----

    def _area(self, within: str) -> QWidget:
        """The front window, or the innermost part of it that is called so."""
        if not within:
            return self.front
        parts = [w for w in seen(self.front) if within in (w.objectName(), w.accessibleName(), w.windowTitle())]
        assert parts, f"nothing is called {within}"
        return parts[-1]

    def _field(self, name: str, kind: type[Kind], within: str) -> Kind:
        """The field of this name, once it is there."""
        wait_until(lambda: bool(self._fields(name, kind, within)), PATIENCE_MS)
        there = sorted({w.accessibleName() for w in self._area(within).findChildren(kind) if w.isVisible()})
        assert self._fields(name, kind, within), f"no {kind.__name__} called '{name}'; there are {there}"
        return self._fields(name, kind, within)[0]

    def _fields(self, name: str, kind: type[Kind], within: str) -> list[Kind]:
        area, name = self._area(within), _own(name)
        fields = [w for w in area.findChildren(kind) if w.isVisible() and isinstance(w, kind)]
        named = [w for w in fields if w.accessibleName().partition(",")[0] == name]
        if not named:
            buddies = [w.buddy() for w in area.findChildren(QLabel) if _bare(plain(w.text())).strip(" :") == name]
            named = [w for w in fields if w in buddies or w.parentWidget() in buddies]
        if not named and kind is QLineEdit:
            boxes = [w for w in area.findChildren(QAbstractSpinBox) if w.accessibleName().partition(",")[0] == name]
            named = [line for box in boxes for line in box.findChildren(kind)]
        return named

    def _into_view(self, widget: QWidget) -> None:
        """Scroll to a widget, as a person does before typing."""
        parent = widget.parentWidget()
        while parent is not None:
            if isinstance(parent, QScrollArea):
                parent.ensureWidgetVisible(widget)
            parent = parent.parentWidget()
        QApplication.processEvents()


def _bare(text: str) -> str:
    """A text without mnemonic and shortcut."""
    return re.sub(r"\(&\w\)|&", "", text).partition("\t")[0]


def _own(text: str) -> str:
    """A text of ours, or of Qt's, in the language of the window."""
    shown = translation(text)
    return shown if shown != text else QCoreApplication.translate("QPlatformTheme", text)
