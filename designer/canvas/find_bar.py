"""The small bar over the canvas that finds layers, inside blocks too: by name, type, size or problem."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton

from netwright.designer import markup, theme
from netwright.designer.canvas.view import CanvasView
from netwright.designer.language import noop, tr, translation
from netwright.designer.panels.parts import SearchField
from netwright.engine.network.blocks import names_of
from netwright.engine.network.layer_table import find_layers

_MARGIN = 14
_WIDTH = 204
NONE = noop("None found")
_MOST_COUNT = 160
"""Largest width of the words beside the field; longer names of blocks are elided."""


class FindBar(QFrame):
    """Find bar at the top right of the canvas. The matches are selected and scrolled into view.

    Typing stays in the open block; Enter goes on to matches in others, and opens them.
    """

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        self._found: list[str] = []
        """Id paths of the matches."""
        self._at = -1
        theme.mark(self, "role", "card")
        self.field = SearchField(tr("Name, type, size, problem"), tr("Find a layer"))
        self.field.setFixedWidth(_WIDTH)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.count = QLabel()
        self.count.setFont(theme.figures(self.count.font()))
        self.count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.count.setMinimumWidth(self.count.fontMetrics().horizontalAdvance(translation(NONE)) + 8)
        theme.mark(self.count, "role", "muted")
        self._lay_out()
        self.hide()
        view.installEventFilter(self)
        view.editor.analysis_changed.connect(self._on_changed)
        theme.changed.connect(self._dress)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 6, 6)
        row.setSpacing(4)
        row.addWidget(self.field)
        row.addWidget(self.count)
        self._buttons: list[tuple[QToolButton, str]] = []
        for icon, tip, slot in (
            ("chevron-up", tr("Previous (Shift+Enter)"), self.previous),
            ("chevron-down", tr("Next (Enter or F3)"), self.next),
            ("close", tr("Close (Esc)"), self.close_bar),
        ):
            button = QToolButton()
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.clicked.connect(slot)
            self._buttons.append((button, icon))
            row.addWidget(button)
        self._dress()

    def _dress(self) -> None:
        for button, icon in self._buttons:
            button.setIcon(theme.icon(icon, "muted"))

    def open(self) -> None:
        """Show the bar with the keyboard focus and the last text, selected for typing over."""
        self._place()
        self.show()
        self.raise_()
        self.field.setFocus()
        self.field.selectAll()
        self._on_changed()

    def close_bar(self) -> None:
        """Hide the bar; the keyboard focus returns to the canvas, where the match stays selected."""
        self._view.setFocus()  # first: hiding what has the keyboard would go on to the next layer, as Tab does
        self.hide()

    def next(self) -> None:
        """Go to the next match, cyclically; open the bar if it is closed."""
        if self.isHidden():
            self.open()
        else:
            self._go(self._at + 1)

    def previous(self) -> None:
        """Go to the previous match."""
        if self.isHidden():
            self.open()
        else:
            self._go(self._at - 1 if self._at >= 0 else -1)

    def _matches(self) -> list[str]:
        editor = self._view.editor
        result = editor.check_result
        return find_layers(editor.project.network, result.analysis, result.problems, self.field.text())

    def _is_here(self, path: str) -> bool:
        return path.split("/")[:-1] == list(self._view.editor.scope)

    def _search(self) -> None:
        """Search for another text, and go to the first match in the open block, or stay where the current one still
        matches."""
        editor = self._view.editor
        self._found = self._matches()
        here = [index for index, path in enumerate(self._found) if self._is_here(path)]
        matches = [index for index in here if self._found[index].rpartition("/")[2] in editor.selection]
        self._at = -1
        if here:
            self._go((matches or here)[0])
        else:
            self._show_count()

    def _on_changed(self, _result: object = None) -> None:
        """Count the matches again after an edit, without scrolling."""
        if not self.isHidden():
            now = self._found[self._at] if 0 <= self._at < len(self._found) else ""
            self._found = self._matches()
            self._at = self._found.index(now) if now in self._found else -1
            self._show_count()

    def _go(self, index: int) -> None:
        if self._found:
            path = self._found[index % len(self._found)]
            *scope, id = path.split("/")
            self._view.editor.open_scope(scope)
            self._at = self._found.index(path)
            self._view.go_to(id)
            self.field.setFocus()
        self._show_count()

    def _show_count(self) -> None:
        total = len(self._found)
        text = tr("{number:,} of {total:,}", number=self._at + 1, total=total) if self._at >= 0 else self._where(total)
        if not total:
            text = translation(NONE) if self.field.text().strip() else ""
        label = markup.elided(self.count.fontMetrics(), text, Qt.TextElideMode.ElideMiddle, _MOST_COUNT)
        if label != self.count.text():
            self.count.setText(label)
            self.count.setToolTip(text if label != text else "")
            self._place()
        theme.mark(self.field, "invalid", "true" if text == translation(NONE) else "false")

    def _where(self, total: int) -> str:
        """Return the number and place of matches that are not shown: `3 in decoder`, `3 in blocks`."""
        if any(self._is_here(path) for path in self._found):
            return tr("{total:,} found", total=total)
        outer = {tuple(path.split("/")[:-1]) for path in self._found}
        if len(outer) > 1:
            return tr("{total:,} in blocks", total=total)
        names = names_of(self._view.editor.project.network, next(iter(outer), ()))
        if not names:
            return tr("{total:,} outside", total=total)
        return tr("{total:,} in {block}", total=total, block="/".join(names))

    def _place(self) -> None:
        self.adjustSize()
        self.move(max(_MARGIN, self._view.width() - self.width() - _MARGIN), _MARGIN)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle keys of the field, and place the bar when the canvas is resized."""
        if watched is self._view and event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_F3:
                self.previous() if is_back else self.next()
            case Qt.Key.Key_Down:
                self.next()
            case Qt.Key.Key_Up:
                self.previous()
            case Qt.Key.Key_Escape:
                self.close_bar()
            case _:
                return False
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Accept all keys that the field ignores, so that the canvas does not move layers."""
        event.accept()
