"""Two projects side by side: additions, removals and changes, on the canvas and as a list."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.dialog import Dialog
from netwright.app.shell import Shell
from netwright.app.widgets import within_screen
from netwright.designer import theme
from netwright.designer.canvas.overlays import Breadcrumbs
from netwright.designer.canvas.read_only import ReadOnlyView
from netwright.designer.editor import Editor
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import named, tr
from netwright.designer.markup import visible
from netwright.designer.scene.differences import SIGNS, sign_icon
from netwright.engine.core.errors import UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.network.arrangement import placed
from netwright.engine.network.network import Connection
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.project_differences import KINDS, Comparison, Difference, Kind, compare


def _counted(kind: Kind, count: int) -> str:
    """Return the number of differences of a kind in words."""
    match kind:
        case "removed":
            return tr("%n layer(s) removed", "", count)
        case "added":
            return tr("%n layer(s) added", "", count)
        case "renamed":
            return tr("%n renamed", "", count)
        case "retyped":
            return tr("%n of another type", "", count)
        case "changed":
            return tr("%n value(s) changed", "", count)
        case "disconnected":
            return tr("%n connection(s) removed", "", count)
        case "connected":
            return tr("%n connection(s) added", "", count)
        case "ordered":
            return tr("%n order(s) changed", "", count)
        case "moved":
            return tr("%n moved", "", count)


class CompareDialog(Dialog):
    """The first project on the left, the second on the right, and below them the list of differences."""

    def __init__(self, before: Project, after: Project, names: tuple[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._projects = before, after
        self._found = Comparison((), {})
        self._offset = QPointF()
        self._is_following = False
        self._is_opening = False
        self._was_shown = False
        self.setWindowTitle(tr("Compare projects"))
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.resize(within_screen(self, 1180, 800))
        self.editors = Editor(_placed(before), self), Editor(_placed(after), self)
        self.views = ReadOnlyView(self.editors[0]), ReadOnlyView(self.editors[1])
        for view, editor in zip(self.views, self.editors, strict=True):
            Breadcrumbs(editor, view).move(12, 12)
        self.list = QListWidget()
        self.summary = QLabel()
        self._lay_out(names)
        self._wire()
        self.refresh()

    # Making

    def _lay_out(self, names: tuple[str, str]) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 12)
        column.setSpacing(8)
        canvases = QSplitter(Qt.Orientation.Horizontal)
        for view, name, role in zip(self.views, names, (tr("Before"), tr("After")), strict=True):
            canvases.addWidget(_titled(view, name, role))
            view.setAccessibleName(named(role, name))
        canvases.setSizes([1, 1])
        canvases.setChildrenCollapsible(False)
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.addWidget(canvases)
        parts.addWidget(self._make_below())
        parts.setChildrenCollapsible(False)
        parts.setSizes([560, 200])
        parts.setStretchFactor(0, 1)
        column.addWidget(parts, 1)
        column.addLayout(self._make_foot())

    def _make_below(self) -> QWidget:
        below = QWidget()
        column = QVBoxLayout(below)
        column.setContentsMargins(12, 8, 12, 0)
        column.setSpacing(4)
        theme.mark(self.summary, "role", "section")
        column.addWidget(self.summary)
        self.list.setAccessibleName(tr("Differences"))
        self.list.setMinimumHeight(72)
        self.list.setUniformItemSizes(True)
        self.equal = QLabel()
        self.equal.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.equal.setWordWrap(True)
        theme.mark(self.equal, "role", "muted")
        self.stack = QStackedWidget()
        self.stack.addWidget(self.list)
        self.stack.addWidget(self.equal)
        column.addWidget(self.stack, 1)
        return below

    def _make_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 0, 12, 0)
        foot.setSpacing(16)
        self.linked = QCheckBox(tr("Zoom and scroll together"))
        self.linked.setChecked(True)
        self.with_layout = QCheckBox(tr("Show moved layers"))
        close = QPushButton(tr("Close"))
        close.clicked.connect(self.accept)
        foot.addWidget(self.linked)
        foot.addWidget(self.with_layout)
        foot.addStretch(1)
        foot.addWidget(close)
        return foot

    def _wire(self) -> None:
        left, right = self.views
        left.visible_changed.connect(self._follow_left)
        right.visible_changed.connect(self._follow_right)
        left.layer_clicked.connect(self._select_left)
        right.layer_clicked.connect(self._select_right)
        for side, view in enumerate(self.views):
            view.layer_opened.connect(self.editors[side].open_block)
            self.editors[side].scope_changed.connect(lambda scope, side=side: self._open_beside(side, scope))
        self.list.currentItemChanged.connect(self._go_to_current)
        self.list.itemClicked.connect(self._go_to_current)
        self.linked.toggled.connect(self._link)
        self.with_layout.toggled.connect(self.refresh)
        theme.changed.connect(self._dress)

    # What is shown

    def refresh(self) -> None:
        """Compare the projects, mark and list the differences."""
        before, after = self._projects
        self._found = compare(before, after, with_layout=self.with_layout.isChecked())
        self._mark()
        self.list.clear()
        for difference in self._found.differences:
            words = visible(str(difference)[2:].replace(" -> ", " → "))
            item = QListWidgetItem(words)
            item.setData(Qt.ItemDataRole.UserRole, difference)
            item.setToolTip(words)
            self.list.addItem(item)
        counts = self._found.counts()
        summary = "   ·   ".join(_counted(kind, counts[kind]) for kind in KINDS if kind in counts)
        self.summary.setText(summary.upper())
        self.summary.setVisible(bool(self._found))
        only_moved = not self._found and compare(before, after, with_layout=True)
        sentences = [tr("The two projects are equal.")]
        if only_moved:
            sentences.append(tr("Only positions of layers on the canvas differ."))
        self.equal.setText("\n".join(sentences))
        self.stack.setCurrentWidget(self.list if self._found else self.equal)
        self._dress()

    def _mark(self) -> None:
        """Mark the differences in the open blocks, and the blocks that contain some."""
        for side, view in enumerate(self.views):
            view.mark(*_marks(self._found.differences, side, self.editors[side].scope))
        self._offset = self._usual_offset()

    def _open_beside(self, side: int, scope: tuple[str, ...]) -> None:
        """Open the same block on the other side; if there is none, the one around it."""
        if self._is_opening:
            return
        there = self._partners(side)
        path: list[str] = []
        for depth in range(1, len(scope) + 1):
            partner = there.get("/".join(scope[:depth]))
            if partner is None:
                break
            path.append(partner.rpartition("/")[2])
        self._is_opening = True
        self.editors[1 - side].open_scope(path)
        self._is_opening = False
        self._mark()
        self.fit()

    def _partners(self, side: int) -> Mapping[str, str]:
        """Return the id path on the other side for each on this one."""
        pairs = self._found.partners
        return {new: old for old, new in pairs.items()} if side else pairs

    def _dress(self) -> None:
        icons = {sign: sign_icon(sign, self.devicePixelRatioF()) for sign in SIGNS}
        for row, difference in enumerate(self._found.differences):
            self.list.item(row).setIcon(icons[difference.sign])

    def _usual_offset(self) -> QPointF:
        """Return the median offset of layers between the first and the second project."""
        before, after = (editor.layout for editor in self.editors)
        here = self._partners_here(0)
        pairs = [(before.at(old), after.at(new)) for old, new in here.items()]
        if not pairs:
            return QPointF()
        return QPointF(*(median(b[axis] - a[axis] for a, b in pairs) for axis in (0, 1)))

    def _partners_here(self, side: int) -> dict[str, str]:
        """Return the id on the other side for each layer of the open block on this one, if the same block is open
        there."""
        scope, there = ("".join(f"{id}/" for id in self.editors[at].scope) for at in (side, 1 - side))
        partners = {}
        for path, partner_path in self._partners(side).items():
            if path.startswith(scope) and partner_path.startswith(there):
                id, partner = path[len(scope) :], partner_path[len(there) :]
                if "/" not in id and "/" not in partner:
                    partners[id] = partner
        return partners

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self.fit()

    def fit(self) -> None:
        """Show both networks whole, and the same part of both."""
        self._is_following = True
        left, right = self.views
        for view in self.views:
            view.fit()
        if self.linked.isChecked():
            boxes = left.network_scene.content_box(), right.network_scene.content_box().translated(-self._offset)
            middle = boxes[0].united(boxes[1]).center()
            zoom = min(left.zoom, right.zoom)
            left.look(zoom, middle)
            right.look(zoom, middle + self._offset)
        self._is_following = False

    # Moving together

    def _follow_left(self, _visible: object = None) -> None:
        self._follow(self.views[0], self.views[1], self._offset)

    def _follow_right(self, _visible: object = None) -> None:
        self._follow(self.views[1], self.views[0], -self._offset)

    def _follow(self, leader: ReadOnlyView, follower: ReadOnlyView, offset: QPointF) -> None:
        if self._is_following or not self.linked.isChecked() or not self.isVisible():
            return
        self._is_following = True
        follower.look(leader.zoom, leader.middle + offset)
        self._is_following = False

    def _link(self, is_linked: bool) -> None:
        if is_linked:
            self._follow_left()

    # Going to a layer

    def _go_to_current(self, *_: object) -> None:
        item = self.list.currentItem()
        difference = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        if isinstance(difference, Difference):
            self.go_to(difference)

    def go_to(self, difference: Difference) -> None:
        """Bring the layer of a difference to the middle on both sides, if it is on both."""
        paths = [difference.old, difference.new]
        for side in (0, 1):
            paths[side] = paths[side] or self._partners(1 - side).get(paths[1 - side], "")
        self._open(paths)
        old, new = (path.rpartition("/")[2] for path in paths)
        before, after = (editor.layout for editor in self.editors)
        self._offset = self._usual_offset()
        if old and new:
            self._offset = QPointF(*after.at(new)) - QPointF(*before.at(old))
        elif new:
            self._show(1, new, "")
            return
        self._show(0, old, new)

    def _open(self, paths: list[str]) -> None:
        """Open the blocks that layers are in; for a layer on the other side only, the block around it."""
        scopes = [path.split("/")[:-1] for path in paths]
        if [tuple(scope) for scope in scopes] == [editor.scope for editor in self.editors]:
            return
        if paths[0]:
            self.editors[0].open_scope(scopes[0])
        elif paths[1]:
            self.editors[1].open_scope(scopes[1])

    def _show(self, leader: int, id: str, partner: str) -> None:
        """Go to a layer on one side, and to its partner on the other, or to where it would be."""
        self._is_following = True
        self.views[1 - leader].go_to(partner)
        self._is_following = False
        self.views[leader].go_to(id)
        if id:
            (self._follow_right if leader else self._follow_left)()

    def _select_left(self, id: str) -> None:
        self._select(id, self._partners_here(0).get(id, ""))

    def _select_right(self, id: str) -> None:
        self._select(self._partners_here(1).get(id, ""), id)

    def _select(self, old: str, new: str) -> None:
        """Select a layer on both sides, and the first line about it."""
        for editor, id in zip(self.editors, (old, new), strict=True):
            editor.set_selection({id} if id else ())
        paths = ["/".join((*editor.scope, id)) for editor, id in zip(self.editors, (old, new), strict=True)]
        for row, difference in enumerate(self._found.differences):
            if (old and difference.old == paths[0]) or (new and difference.new == paths[1]):
                self.list.blockSignals(True)
                self.list.setCurrentRow(row)
                self.list.blockSignals(False)
                return


def _placed(project: Project) -> Project:
    """Return the project with positions for layers that have none."""
    layout = placed(project.network, project.layout)
    return project if layout is project.layout else replace(project, layout=layout)


def _titled(view: ReadOnlyView, name: str, role: str) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    head = QHBoxLayout()
    head.setContentsMargins(12, 8, 12, 8)
    head.setSpacing(8)
    heading = QLabel(role.upper())
    theme.mark(heading, "role", "section")
    label = ElidedLabel()
    label.setText(name)
    theme.mark(label, "role", "strong")
    label.setFixedHeight(20)  # letters of other scripts are higher, and both canvases begin at one line
    head.addWidget(heading)
    head.addWidget(label, 1)
    column.addLayout(head)
    column.addWidget(view, 1)
    return holder


def _marks(
    differences: Iterable[Difference], side: int, scope: tuple[str, ...]
) -> tuple[dict[str, str], dict[Connection, str]]:
    """Return the signs of the layers and connections in the open block of one side: removed ones are on the left, added
    ones on the right. A block that contains differences counts as changed."""
    layers: dict[str, str] = {}
    inside: dict[str, str] = {}
    lines: dict[Connection, str] = {}
    for difference in differences:
        connection = (difference.old_connection, difference.new_connection)[side]
        path = (difference.old or difference.new if not side else difference.new or difference.old).split("/")
        if tuple(path[: len(scope)]) != scope or len(path) <= len(scope):
            continue
        id, *deeper = path[len(scope) :]
        if deeper:
            inside[id] = "~"
        elif connection is not None:
            lines[connection] = difference.sign
        elif (difference.old, difference.new)[side] and difference.kind not in ("connected", "disconnected"):
            layers[id] = difference.sign
    return {**inside, **layers}, lines


def compare_with(shell: Shell) -> None:
    """Ask for a project, and show how the open one differs from it."""
    folder, pattern = str(shell.documents.folder), " ".join([tr("Netwright projects"), f"(*{SUFFIX})"])
    name, _ = QFileDialog.getOpenFileName(shell.dialog_parent, tr("Compare with"), folder, pattern)
    if name:
        show_comparison(shell, Path(name))


def show_comparison(shell: Shell, path: Path, *, is_newer: bool = False) -> None:
    """Show how the open project differs from that in a file; one that is newer stands on the right."""
    parent, documents, editor = shell.dialog_parent, shell.documents, shell.editor
    try:
        other = load(path).project
    except UserError as error:
        shell.show_error(tr("The project cannot be compared"), str(error))
        return
    title = documents.title
    own = tr("{name}, with unsaved changes", name=title) if editor.is_modified else title
    sides = [(other, path.name), (editor.project, own)]
    (before, first), (after, second) = reversed(sides) if is_newer else sides
    QApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)  # two networks of thousands of layers take seconds
    try:
        dialog = CompareDialog(before, after, (first, second), parent)
    finally:
        QApplication.restoreOverrideCursor()
    dialog.exec()
    dialog.deleteLater()
