"""The list of problems: message, place, and a fix in one click."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QLabel,
    QListView,
    QMenu,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from netwright.designer import markup, theme
from netwright.designer.editor import Editor
from netwright.designer.engine_messages import message_text
from netwright.designer.items import ListModel
from netwright.designer.language import named, noop, tr, translation
from netwright.engine.core.records import Record
from netwright.engine.network.problems import Problem
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.training import TrainingOptions

Index = QModelIndex | QPersistentModelIndex
WAYS = {
    "data": noop("Choose data…"),
    "training": noop("Training options…"),
    "environment": noop("Training options…"),
    "trust": noop("Trust the code…"),
}
"""What the link beside a problem without a fix says, by section of the project; `trust` for code that may not run."""
SEVERITIES = {"error": noop("Error"), "warning": noop("Warning"), "note": noop("Note")}
OPTIONS: dict[str, type[Record]] = {"training": TrainingOptions, "environment": EnvironmentOptions}
PROBLEM_ROLE = Qt.ItemDataRole.UserRole
_ROOT = QModelIndex()
_MARGIN = 16
_MARK = 9
_GAP = 10
_PADDING = 8


class ProblemsModel(ListModel):
    """The problems in the order of the check."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: tuple[Problem, ...] = ()

    def show_problems(self, problems: tuple[Problem, ...]) -> None:
        """Show others; nothing happens if they are the same, so that the selected row stays."""
        if problems != self.problems:
            self.beginResetModel()
            self.problems = problems
            self.endResetModel()
        else:
            self.problems = problems  # their fixes may be new

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One row a problem."""
        return 0 if parent.isValid() else len(self.problems)

    def cell(self, index: Index, role: int) -> object:
        """The words of a row, and the problem itself."""
        problem = self.problems[index.row()]
        if role == PROBLEM_ROLE:
            return problem
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return named(translation(SEVERITIES[problem.severity]), told(problem))
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = [named(translation(SEVERITIES[problem.severity]), message_text(problem.message))]
            if link_text(problem):
                lines.append(tr("{link} with Alt+Enter", link=link_text(problem)))
            if problem.fix is not None and problem.fix.detail:
                lines.append(message_text(problem.fix.detail))
            return "\n".join(lines)
        return None


def unbroken(text: str) -> str:
    """The text with no-break spaces inside sizes, so that `1 × 8 × 8` stays in one line."""
    return markup.visible(text).replace(" × ", "\u00a0×\u00a0")


def where(problem: Problem) -> str:
    """The subject of a problem: the name of a layer, the label of an option, or a section of the project."""
    if problem.name:
        return problem.name
    option = problem.field.partition(".")[2]
    record = OPTIONS.get(section(problem))
    if record is not None and option in record.fields:
        return translation(record.fields[option].label)
    sections = {"training": tr("Training options"), "environment": tr("Environment"), "data": tr("Data")}
    return sections.get(section(problem), tr("Network"))


def told(problem: Problem) -> str:
    """The subject of a problem, and what is wrong with it."""
    return named(where(problem), message_text(problem.message))


def link_text(problem: Problem) -> str:
    """The text of the link beside a problem: its fix, or the dialog where it can be solved; empty without one."""
    return message_text(problem.fix.label) if problem.fix is not None else translation(WAYS.get(_way(problem), ""))


def _way(problem: Problem) -> str:
    """Return where a problem without a fix can be solved, one of `WAYS`; empty where that is on the canvas."""
    if problem.needs_trust:
        return "trust"
    return section(problem) if not problem.layer else ""


def section(problem: Problem) -> str:
    """The section of the project that it is about."""
    return problem.field.partition(".")[0]


def draw_severity(painter: QPainter, severity: str, box: QRectF) -> None:
    """A disc for an error, a triangle for a warning, a ring for a note: told apart without colour."""
    palette = theme.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    if severity == "error":
        painter.setBrush(palette.error)
        painter.drawEllipse(box)
    elif severity == "warning":
        painter.setBrush(palette.warning)
        top = QPointF(box.center().x(), box.top() - 0.5)
        painter.drawPolygon(QPolygonF([top, box.bottomRight() + QPointF(1, 0), box.bottomLeft() - QPointF(1, 0)]))
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(palette.muted, 1.5))
        painter.drawEllipse(box.adjusted(0.75, 0.75, -0.75, -0.75))


class ProblemDelegate(QStyledItemDelegate):
    """Paints a row: mark, place in bold, message in as many lines as it takes, and the fix as a link."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def _bold(self) -> QFont:
        font = QFont(self._view.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _parts(self, problem: Problem, row: QRect) -> tuple[QRect, QRect, QRect]:
        """Rectangles of place, message and link."""
        metrics, bold = QFontMetrics(self._view.font()), QFontMetrics(self._bold())
        left = row.left() + _MARGIN + _MARK + _GAP
        right = row.right() - _MARGIN
        words = link_text(problem)
        link_width = min(metrics.horizontalAdvance(words) + 2, (right - left) // 2) if words else 0
        link = QRect(right - link_width, row.top() + _PADDING, link_width, metrics.height())
        place_width = min(bold.horizontalAdvance(where(problem)) + 2, max(60, (right - left) // 3))
        place = QRect(left, row.top() + _PADDING, place_width, metrics.height())
        start = place.right() + _GAP
        end = link.left() - 2 * _GAP if words else right
        return place, QRect(start, row.top() + _PADDING, max(80, end - start), row.height() - 2 * _PADDING), link

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As high as the message needs at the width of the list."""
        problem: Problem = index.data(PROBLEM_ROLE)
        width = self._view.viewport().width()
        _, message, _ = self._parts(problem, QRect(0, 0, width, 100))
        metrics = QFontMetrics(self._view.font())
        flags = Qt.TextFlag.TextWordWrap
        needed = metrics.boundingRect(
            QRect(0, 0, message.width(), 10_000), flags, unbroken(message_text(problem.message))
        )
        return QSize(80, max(metrics.height(), needed.height()) + 2 * _PADDING)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The row, in the colours that hold."""
        problem: Problem = index.data(PROBLEM_ROLE)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        palette = theme.current()
        painter.save()
        if ground := self._ground(state):
            painter.fillRect(rect, ground)
        place, message, link = self._parts(problem, rect)
        mark = QRectF(rect.left() + _MARGIN, place.center().y() - _MARK / 2 + 0.5, _MARK, _MARK)
        draw_severity(painter, problem.severity, mark)
        painter.setPen(palette.text)
        painter.setFont(self._bold())
        name = markup.elided(painter.fontMetrics(), where(problem), Qt.TextElideMode.ElideMiddle, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(self._view.font())
        painter.drawText(
            message, Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft, unbroken(message_text(problem.message))
        )
        if words := link_text(problem):
            painter.setPen(palette.link)
            words = markup.elided(painter.fontMetrics(), words, Qt.TextElideMode.ElideMiddle, link.width())
            painter.drawText(link, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
        painter.restore()

    def _ground(self, state: QStyle.StateFlag) -> QColor | None:
        palette = theme.current()
        if state & QStyle.StateFlag.State_Selected:
            return palette.selected if self._view.hasFocus() else palette.raised
        if state & QStyle.StateFlag.State_MouseOver:
            return palette.mixed(palette.raised, palette.panel, 0.6)
        return None

    def link_at(self, index: QModelIndex, at: QPointF) -> bool:
        """Whether there is a link at this place of the list."""
        problem: Problem = index.data(PROBLEM_ROLE)
        _, _, link = self._parts(problem, self._view.visualRect(index))
        return bool(link_text(problem)) and link.adjusted(-4, -4, 4, 4).contains(at.toPoint())


class ProblemsView(QListView):
    """The list; Enter goes to the layer, Alt+Enter applies the fix."""

    opened = Signal(object)
    fix_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.delegate = ProblemDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setMouseTracking(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setAccessibleName(tr("Problems"))
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self, index: QModelIndex) -> None:
        self.opened.emit(index.data(PROBLEM_ROLE))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Alt+Enter act on the current row."""
        problem: Problem | None = self.currentIndex().data(PROBLEM_ROLE)
        if problem is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.modifiers() & Qt.KeyboardModifier.AltModifier:
                self.fix_requested.emit(problem)
            else:
                self.opened.emit(problem)
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press on a link does not select the row."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and self.delegate.link_at(index, event.position()):
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on a link applies the fix."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and self.delegate.link_at(index, event.position()):
            if event.button() == Qt.MouseButton.LeftButton:
                self.fix_requested.emit(index.data(PROBLEM_ROLE))
            return
        super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A hand over links."""
        index = self.indexAt(event.position().toPoint())
        is_link = index.isValid() and self.delegate.link_at(index, event.position())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show a menu with the actions of Enter and Alt+Enter."""
        problem: Problem | None = self.indexAt(event.pos()).data(PROBLEM_ROLE)
        if problem is None:
            return
        menu = QMenu(self)
        menu.addAction(tr("Go to the layer"), lambda: self.opened.emit(problem)).setEnabled(bool(problem.layer))
        if words := link_text(problem):
            menu.addAction(words, lambda: self.fix_requested.emit(problem))
        menu.exec(event.globalPos())
        menu.deleteLater()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Messages wrap anew."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()


class ProblemsPanel(QWidget):
    """The problems of the project. A click goes to the layer, a link applies the fix."""

    go_to = Signal(str)
    """The id of a layer that should come into view."""
    section_wanted = Signal(str)
    """The one of `WAYS` that is to be gone: a section of the project that is to be shown, or `trust`."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "panel")
        self._editor = editor
        self.model = ProblemsModel()
        self.view = ProblemsView()
        self.view.setModel(self.model)
        self.view.opened.connect(self.open)
        self.view.fix_requested.connect(self.fix)
        self.empty = QLabel(tr("No problems"))
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.mark(self.empty, "role", "muted")
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.view)
        self._pages.addWidget(self.empty)
        self.setFocusProxy(self.view)
        editor.analysis_changed.connect(self._on_changed)
        theme.changed.connect(self.view.viewport().update)
        self._on_changed()

    @property
    def title(self) -> str:
        """The title of the tab, with the number of problems."""
        count = len(self.model.problems)
        return tr("Problems {count:,}", count=count) if count else tr("Problems")

    def _on_changed(self, _result: object = None) -> None:
        self.model.show_problems(self._editor.problems)
        self._pages.setCurrentWidget(self.view if self._editor.problems else self.empty)

    def open(self, problem: Problem) -> None:
        """Select the layer of a problem and ask for it to come into view."""
        if id := self._editor.go_to(problem):
            self.go_to.emit(id)

    def fix(self, problem: Problem) -> None:
        """Apply the edit that a problem comes with, as one undo step, or lead to where it can be put right."""
        if problem.fix is not None:
            self._editor.edit(message_text(problem.fix.label), problem.fix.edit)
        elif link_text(problem):
            self.section_wanted.emit(_way(problem))
