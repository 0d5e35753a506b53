"""The panel below the canvas: problems and the table of layers. It is one line high while there are no problems: the
canvas has the room."""

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QTabWidget, QToolButton, QWidget

from netwright.app.widgets import NO_LIMIT
from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.panels.problems_panel import ProblemsPanel, where

SETTLE_MS = 400
"""How long the project has to stay with or without errors before the panel unfolds or folds by itself."""
PROBLEMS, LAYERS = 0, 1


class BottomPanel(QTabWidget):
    """Tabs that fold to the height of their headings.

    Without errors and warnings the panel folds, with them it unfolds, unless the user has folded it. Folded, it shows
    the first problem beside the headings. `height_wanted` is emitted when it has unfolded, with its height before in
    pixels; `height` is that of the first time.
    """

    height_wanted = Signal(int)

    def __init__(self, editor: Editor, problems: ProblemsPanel, layers: QWidget, *, height: int) -> None:
        super().__init__()
        self._editor = editor
        self._height = height
        self._is_folded_by_hand = False
        self.is_folded = False
        theme.mark(self, "role", "panel")  # shows above the corner widget
        self.setDocumentMode(True)
        self.addTab(problems, "Problems")
        self.addTab(layers, "Layers")
        self._add_corner()
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self._follow_problems)
        self.tabBarClicked.connect(self.unfold)
        editor.analysis_changed.connect(self._show_problems)
        theme.changed.connect(self._show_fold)
        self._was_needed = self._is_needed
        self._set_folded(not self._was_needed)
        self._show_problems()

    def _add_corner(self) -> None:
        corner = QWidget()
        theme.mark(corner, "role", "panel")
        row = QHBoxLayout(corner)
        row.setContentsMargins(0, 0, 8, 4)
        row.setSpacing(8)
        self.summary = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        theme.mark(self.summary, "role", "muted")
        self.fold_button = QToolButton()
        self.fold_button.setIconSize(QSize(14, 14))
        self.fold_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.fold_button.clicked.connect(self._toggle)
        row.addWidget(self.summary, 1)
        row.addWidget(self.fold_button)
        self.setCornerWidget(corner)

    @property
    def _is_needed(self) -> bool:
        """Whether there is an error or a warning; a note fits into the line."""
        return any(problem.severity in ("error", "warning") for problem in self._editor.check_result.problems)

    def show_page(self, page: QWidget) -> None:
        """Unfold, with a page in front."""
        self.setCurrentWidget(page)
        self.unfold()

    def unfold(self, _page: object = None) -> None:
        """Show the pages."""
        self._is_folded_by_hand = False
        self._set_folded(False)

    def _toggle(self) -> None:
        self._is_folded_by_hand = not self.is_folded
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
        self.setTabText(PROBLEMS, f"Problems {len(problems)}" if problems else "Problems")
        self.setTabText(LAYERS, f"Layers {len(self._editor.network):,}")
        first = problems[0] if problems else None
        self.summary.setText(f"{where(first)}: {first.message}" if first else "No problems")
        self._limit_summary()
        if self._is_needed != self._was_needed:
            self._settle.start()
        else:
            self._settle.stop()

    def _follow_problems(self) -> None:
        """Fold after the last error or warning was solved, and unfold for the first one."""
        self._was_needed = self._is_needed
        if not self._was_needed and self.currentIndex() == PROBLEMS:
            self._set_folded(True)
        elif self._was_needed and not self._is_folded_by_hand:
            self._set_folded(False)

    def _show_fold(self) -> None:
        self.fold_button.setIcon(theme.icon("chevron-up" if self.is_folded else "chevron-down", "muted"))
        words = "Show the panel" if self.is_folded else "Fold the panel to one line"
        self.fold_button.setToolTip(words)
        self.fold_button.setAccessibleName(words)
        self.summary.setVisible(self.is_folded)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._limit_summary()

    def _limit_summary(self) -> None:
        """Leave the headings their room: a corner widget gets all that it asks for."""
        self.summary.setMaximumWidth(max(0, self.width() - self.tabBar().sizeHint().width() - 64))
