"""The panel below the canvas: problems, the table of layers, the outline, and the undo history. It is one line high
until it is opened: the canvas has the room, and an edit moves nothing."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QTabWidget, QToolButton, QUndoView, QWidget

from netwright.app.widgets import NO_LIMIT
from netwright.designer import theme
from netwright.designer.canvas.spoken import announce
from netwright.designer.editor import Editor
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import tr
from netwright.designer.panels.problems_panel import ProblemsPanel, link_text, told

PROBLEMS, LAYERS = 0, 1
LEAST_PX = 330
"""Width that panels on both sides leave in a window of 800 pixels."""
AROUND_SUMMARY = 64
TOKENS = {"error": "error", "warning": "warning", "note": "muted"}


class BottomPanel(QTabWidget):
    """Tabs that fold to the height of their headings.

    Folded, it shows the first problem beside the headings, with its cure. `height_wanted` is emitted when it has
    unfolded, with its height before in pixels; `height` is that of the first time.
    """

    height_wanted = Signal(int)

    def __init__(
        self, editor: Editor, problems: ProblemsPanel, layers: QWidget, outline: QWidget, *, height: int
    ) -> None:
        super().__init__()
        self._editor, self._problems = editor, problems
        self._height = height
        self.is_folded = False
        self._known: frozenset[tuple[tuple[str, ...], str]] = frozenset()
        theme.mark(self, "role", "panel")  # shows above the corner widget
        self.setDocumentMode(True)
        self.addTab(problems, tr("Problems"))
        self.addTab(layers, tr("Layers"))
        self.addTab(outline, tr("Outline"))
        self.history = self._make_history()
        self.addTab(self.history, tr("History"))
        self._add_corner()
        self.tabBarClicked.connect(self.unfold)
        editor.analysis_changed.connect(self._show_problems)
        theme.changed.connect(self._show_fold)
        self._set_folded(True)
        self._show_problems()

    def _make_history(self) -> QUndoView:
        """Make the list of the steps: a click on one goes back or forward to it."""
        history = QUndoView(self._editor.stack, self)
        history.setEmptyLabel(tr("As it was opened"))
        theme.mark(history, "role", "groups")
        history.setAccessibleName(tr("Steps to undo and redo"))
        return history

    def _add_corner(self) -> None:
        corner = QWidget()
        theme.mark(corner, "role", "panel")
        row = QHBoxLayout(corner)
        row.setContentsMargins(0, 0, 8, 4)
        row.setSpacing(8)
        self._mark, self.cure = QLabel(), QPushButton()
        self.summary = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        theme.mark(self.summary, "role", "muted")
        theme.mark(self.cure, "role", "link")
        self.cure.setCursor(Qt.CursorShape.PointingHandCursor)
        self.cure.clicked.connect(lambda: self._problems.fix(self._editor.check_result.problems[0]))
        self.fold_button = QToolButton()
        self.fold_button.setIconSize(QSize(14, 14))
        self.fold_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.fold_button.clicked.connect(self._toggle)
        row.addWidget(self._mark)
        row.addWidget(self.summary, 1)
        row.addWidget(self.cure)
        row.addWidget(self.fold_button)
        self.setCornerWidget(corner)

    def show_page(self, page: QWidget) -> None:
        """Unfold, with a page in front."""
        self.setCurrentWidget(page)
        self.unfold()

    def unfold(self, _page: object = None) -> None:
        """Show the pages."""
        self._set_folded(False)

    def _toggle(self) -> None:
        self._set_folded(not self.is_folded)

    def _set_folded(self, is_folded: bool) -> None:
        if is_folded and not self.is_folded and self.isVisible():
            self._height = self.height()
        was_folded, self.is_folded = self.is_folded, is_folded
        height = self.tabBar().sizeHint().height()
        self.setMinimumHeight(height)
        self.setMaximumHeight(height if is_folded else NO_LIMIT)
        self._show_fold()
        if was_folded and not is_folded:
            self.height_wanted.emit(self._height)

    def _show_problems(self, _result: object = None) -> None:
        problems = self._editor.check_result.problems
        self.setTabText(PROBLEMS, tr("Problems {count:,}", count=len(problems)) if problems else tr("Problems"))
        self.setTabText(LAYERS, tr("Layers {count:,}", count=len(self._editor.network)))
        first = problems[0] if problems else None
        self.summary.setText(told(first) if first else tr("No problems"))
        self.cure.setText(link_text(first) if first else "")
        self.cure.setAccessibleName(self.cure.text() or tr("No cure"))
        self._show_fold()
        new = [problem for problem in problems if (problem.path, problem.message) not in self._known]
        self._known = frozenset((problem.path, problem.message) for problem in problems)
        if new and len(self._editor.network):
            more = tr("%n more new problem(s).", "", len(new) - 1) if len(new) > 1 else ""
            announce(self, " ".join(filter(None, (told(new[0]), more))))

    def _show_fold(self) -> None:
        self.fold_button.setIcon(theme.icon("chevron-up" if self.is_folded else "chevron-down", "muted"))
        words = tr("Show the panel") if self.is_folded else tr("Fold the panel to one line")
        self.fold_button.setToolTip(words)
        self.fold_button.setAccessibleName(words)
        problems = self._editor.check_result.problems
        if problems:
            self._mark.setPixmap(
                theme.icon(problems[0].severity.replace("note", "info"), TOKENS[problems[0].severity]).pixmap(14, 14)
            )
        self.summary.setVisible(self.is_folded)
        self._mark.setVisible(self.is_folded and bool(problems))
        self._limit_corner()

    def minimumSizeHint(self) -> QSize:
        """Return the size of the headings alone: what stands beside them takes what room is left. Where they are wide,
        they scroll in a window of the least width."""
        return QSize(min(self._headings(), LEAST_PX), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._limit_corner()

    def _headings(self) -> int:
        return self.tabBar().sizeHint().width() + AROUND_SUMMARY

    def _limit_corner(self) -> None:
        """Leave the headings their room: a corner widget gets all that it asks for."""
        room = self.width() - self._headings() - (0 if self._mark.isHidden() else self._mark.sizeHint().width() + 8)
        cure = self.cure.sizeHint().width() + 8
        has_cure = self.is_folded and bool(self.cure.text()) and cure <= room
        self.cure.setVisible(has_cure)
        self.summary.setMaximumWidth(max(0, room - cure if has_cure else room))
