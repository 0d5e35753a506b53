"""The layer library beside the canvas: found by typing, dragged onto the canvas or added with Enter; favourites, what
was used last and the user's own blocks stand above the families."""

from collections.abc import Callable, Collection, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.designer import shortcuts, theme
from netwright.designer.editor import Editor
from netwright.designer.language import layer_label, tr
from netwright.designer.panels.library_model import TITLE_ROLE, LibraryFilter, LibraryModel, UserBlock
from netwright.designer.panels.library_view import LibraryView, is_star_key
from netwright.designer.panels.parts import SearchField
from netwright.engine.layers.addons import AddOn
from netwright.engine.network.block import BlockInput, BlockOutput
from netwright.engine.network.catalog import add_ons
from netwright.engine.network.network import Port
from netwright.engine.network.suggestions import takers

_WARM_UP_MS = 300
RECENT_LIMIT = 5
_LIMIT = 200


class LibraryMemory(QObject):
    """Keys of layer types and names of families. Kept in the settings, if there are some. Types that are not here any
    more (an add-on that was removed) are kept and not shown."""

    favourites_changed = Signal()
    recent_changed = Signal()

    def __init__(self, settings: QSettings | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._favourites = self._read("favourites")
        self._recent = self._read("recent")
        self._folded = self._read("folded")

    @property
    def favourites(self) -> tuple[str, ...]:
        """The starred types, in the order in which they were."""
        return self._favourites

    @property
    def recent(self) -> tuple[str, ...]:
        """The types that were used last, the newest first."""
        return self._recent

    @property
    def folded(self) -> tuple[str, ...]:
        """The families that are folded."""
        return self._folded

    def star(self, key: str, is_favourite: bool) -> None:
        """Make a type a favourite, or one no more."""
        others = tuple(favourite for favourite in self._favourites if favourite != key)
        self._favourites = (*others, key)[-_LIMIT:] if is_favourite else others
        self._write("favourites", self._favourites)
        self.favourites_changed.emit()

    def use(self, key: str) -> None:
        """Put a type before the others that were used."""
        before = self._recent
        self._recent = (key, *(other for other in before if other != key))[:RECENT_LIMIT]
        if self._recent != before:
            self._write("recent", self._recent)
            self.recent_changed.emit()

    def fold(self, families: Collection[str]) -> None:
        """Remember which families are folded."""
        self._folded = tuple(families)[:_LIMIT]
        self._write("folded", self._folded)

    def _read(self, name: str) -> tuple[str, ...]:
        """Whatever lies in the settings: a list of one comes back as a text, an empty one as nothing."""
        value = self._settings.value(f"library/{name}", []) if self._settings is not None else []
        words = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return tuple(dict.fromkeys(word for word in words if isinstance(word, str) and word))[:_LIMIT]

    def _write(self, name: str, words: Sequence[str]) -> None:
        if self._settings is not None:
            self._settings.setValue(f"library/{name}", list(words))


class LibraryPanel(QWidget):
    """A search field above the library. Without a memory it forgets everything when it goes."""

    left = Signal()
    """Escape was pressed in the empty search field: the keyboard belongs elsewhere."""
    user_block_chosen = Signal(object)
    """The `UserBlock` that shall be added."""
    user_block_renamed = Signal(object)
    user_block_removed = Signal(object)

    def __init__(self, editor: Editor, parent: QWidget | None = None, memory: LibraryMemory | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "panel")
        self._editor = editor
        self.memory = memory or LibraryMemory(parent=self)
        self._is_restoring = False
        self._is_stale = False
        self.model = LibraryModel(self)
        self._refuse_ports(editor.scope)
        self.model.show_favourites(self.memory.favourites)
        self.model.show_recent(self.memory.recent)
        self.filter = LibraryFilter(self.model)
        self.view = LibraryView(has_stars=True)
        self.view.setModel(self.filter)
        self.view.ensurePolished()  # else Qt measures the rows before they are dressed
        self._fold_again()
        self.search = SearchField("", tr("Search layers"))
        shortcuts.set_tip(self.search, tr("Search layers…"), "network.add")
        self.empty = QLabel()
        self.empty.setWordWrap(True)
        theme.mark(self.empty, "role", "muted")
        self.clear = QPushButton(tr("Clear the search"))
        theme.mark(self.clear, "role", "link")
        self.notice = QLabel()
        self.notice.setWordWrap(True)
        self.notice.setMargin(12)
        theme.mark(self.notice, "role", "warning")
        self.tell_of_add_ons(add_ons())
        self._warm_up = QTimer(self, singleShot=True, interval=_WARM_UP_MS)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(4)
        top = QVBoxLayout()
        top.setContentsMargins(12, 0, 12, 0)
        top.setSpacing(8)
        top.addWidget(self.search)
        top.addWidget(self.empty)
        top.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(top)
        below = QVBoxLayout()
        below.setContentsMargins(10, 0, 0, 0)  # the arrows of the headings stand below the edge of the search
        below.addWidget(self.view)
        column.addLayout(below, 1)
        column.addWidget(self.notice)
        self.empty.hide()
        self.clear.hide()

    def _connect(self) -> None:
        self.view.chosen.connect(self.add)
        self.view.user_block_chosen.connect(self.user_block_chosen)
        self.view.user_block_renamed.connect(self.user_block_renamed)
        self.view.user_block_removed.connect(self.user_block_removed)
        self.view.dragged.connect(self.memory.use)
        self.view.starred.connect(self.memory.star)
        self.view.expanded.connect(self._remember_folds)
        self.view.collapsed.connect(self._remember_folds)
        self.view.viewport().installEventFilter(self)
        self.search.textChanged.connect(self._on_search)
        self.search.installEventFilter(self)
        self.clear.clicked.connect(self.search.clear)
        self.memory.favourites_changed.connect(self._show_favourites)
        self.memory.recent_changed.connect(self._on_recent)
        self._editor.scope_changed.connect(self._refuse_ports)
        self._warm_up.timeout.connect(self.model.warm_up)
        theme.changed.connect(self.model.paint_headings)

    def focus_search(self) -> None:
        """Put the keyboard into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def add(self, key: str) -> None:
        """Add a layer of this type to the network."""
        if self._editor.add_layer(key) is not None:
            self.memory.use(key)

    def show_user_blocks(self, entries: Sequence[UserBlock]) -> None:
        """Show the user's own blocks, below "My blocks"; without any there is no such heading."""
        self._rebuild(lambda: self.model.show_user_blocks(entries))

    def tell_of_add_ons(self, installed: Sequence[AddOn]) -> None:
        """Say below the library which add-ons are not used, and why in the tooltip."""
        broken = [add_on for add_on in installed if add_on.error]
        names = ", ".join(add_on.title for add_on in broken)
        self.notice.setText(
            tr("{count} add-ons are not used: {names}. Help, About says why.", count=len(broken), names=names)
            if len(broken) > 1
            else tr("1 add-on is not used: {names}. Help, About says why.", names=names)
        )
        self.notice.setToolTip("\n".join(add_on.refusal for add_on in broken))
        self.notice.setVisible(bool(broken))

    def _refuse_ports(self, scope: tuple[str, ...]) -> None:
        """The ports of a block can be added where one is open."""
        types = () if scope else (BlockInput, BlockOutput)
        self.model.refuse(
            {
                type.key: tr("{type}: stands inside a block. Open one first.", type=layer_label(type.label))
                for type in types
            }
        )

    # Favourites and what was used last

    def _show_favourites(self) -> None:
        self._rebuild(lambda: self.model.show_favourites(self.memory.favourites))

    def _on_recent(self) -> None:
        """Rows do not move under the pointer: the list waits until it is gone."""
        self._is_stale = True
        if not self.view.viewport().underMouse():
            self._show_recent()

    def _show_recent(self) -> None:
        self._is_stale = False
        self._rebuild(lambda: self.model.show_recent(self.memory.recent))

    def _rebuild(self, change: Callable[[], None]) -> None:
        """Change sections above the families, and leave what is seen of the others where it is."""
        bar = self.view.verticalScrollBar()
        is_at_top, top = bar.value() == 0, self.view.indexAt(self.view.rect().topLeft())
        place = self._place_of(top)
        change()
        if self.search.text():
            self._on_search(self.search.text())
            return
        self._fold_again()
        if not is_at_top and place is not None:
            self.view.scrollTo(self._at_place(*place), LibraryView.ScrollHint.PositionAtTop)

    def _place_of(self, index: QModelIndex) -> tuple[str, int] | None:
        """A row by the title of its heading and its number, -1 for the heading itself."""
        if not index.isValid():
            return None
        parent = index.parent()
        return (parent.data(TITLE_ROLE), index.row()) if parent.isValid() else (index.data(TITLE_ROLE), -1)

    def _at_place(self, title: str, row: int) -> QModelIndex:
        heading = next((index for index in self._headings() if index.data(TITLE_ROLE) == title), QModelIndex())
        return heading if row < 0 or not heading.isValid() else self.filter.index(row, 0, heading)

    # Search

    def _on_search(self, text: str) -> None:
        self.filter.search(text)
        if text:
            self._is_restoring = True
            self.view.expandAll()
            self._is_restoring = False
            self.view.select_best(text, self._types_that_refuse())
        else:
            self._fold_again()
            self.view.setCurrentIndex(QModelIndex())
        is_empty = not self.filter.rowCount()
        self.empty.setText(tr("No layer matches “{text}”.", text=text))
        self.empty.setVisible(is_empty)
        self.clear.setVisible(is_empty)
        self.view.setVisible(not is_empty)

    def _types_that_refuse(self) -> set[str]:
        """The types that cannot take what leaves the selected layer, which a new one is connected to: of "max pooling"
        that of images is meant where images are."""
        layers = [self._editor.network.layers.get(id) for id in self._editor.selection]
        if len(layers) != 1 or layers[0] is None or not (ports := layers[0].type.output_ports()):
            return set()
        input_type = self._editor.analysis.type_at(Port(layers[0].id, ports[0]))
        return {key for key, why in takers(input_type).items() if why} if input_type is not None else set()

    # Families

    def _headings(self) -> list[QModelIndex]:
        return [self.filter.index(row, 0) for row in range(self.filter.rowCount())]

    def _remember_folds(self, _index: QModelIndex) -> None:
        """While searching everything is open, which nobody asked for."""
        if self._is_restoring or self.search.text():
            return
        titles = [heading.data(TITLE_ROLE) for heading in self._headings()]
        elsewhere = [title for title in self.memory.folded if title not in titles]
        folded = [index.data(TITLE_ROLE) for index in self._headings() if not self.view.isExpanded(index)]
        self.memory.fold([*elsewhere, *folded])

    def _fold_again(self) -> None:
        self._is_restoring = True
        for heading in self._headings():
            self.view.setExpanded(heading, heading.data(TITLE_ROLE) not in self.memory.folded)
        self._is_restoring = False

    # Events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While searching, the arrows move through the results, Enter adds, Escape clears and then leaves. The words of
        all rows are gathered when the keyboard comes to the search, before the first letter."""
        if watched is self.view.viewport():
            if event.type() == QEvent.Type.Leave and self._is_stale:
                self._show_recent()
        elif watched is self.search:
            if event.type() == QEvent.Type.FocusIn:
                self.model.warm_up()
            elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
                return self._on_search_key(event)
        return super().eventFilter(watched, event)

    def _on_search_key(self, event: QKeyEvent) -> bool:
        if is_star_key(event):
            self.view.star_current()
            return True
        if self.view.take_key(event.key()):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.search.selectAll()  # the next word replaces this one; another Enter adds the same once more
            return True
        if event.key() == Qt.Key.Key_Escape:
            self.search.clear() if self.search.text() else self.left.emit()
            return True
        return False

    def showEvent(self, event: QShowEvent) -> None:
        """Once the window has settled, the search is made ready."""
        super().showEvent(event)
        self._warm_up.start()

    def sizeHint(self) -> QSize:
        """As wide as the drawings have it."""
        return QSize(232, 600)
