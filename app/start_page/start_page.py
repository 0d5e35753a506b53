"""The start page: runs under way, a blank project, a file, or one of the cards."""

from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from netwright.app.documents import Documents
from netwright.app.start_page import gallery
from netwright.app.start_page.project_cards import CardGrid, ProjectCard
from netwright.app.start_page.running import RunningList, RunningRuns
from netwright.app.start_page.thumbnail_program import Thumbnail
from netwright.app.start_page.thumbnails import ThumbnailLoader
from netwright.app.start_page.tour_offer import TourOffer
from netwright.designer import markup, shortcuts, theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.panels.parts import SearchField

MARGIN = 32
SECTIONS = (("recent", noop("Recent")), ("examples", noop("Examples")), ("templates", noop("Templates")))
NOTHING_RECENT = noop("Projects that you open or save appear here.")


class StartPage(QWidget):
    """Offers projects and emits what was chosen; opening, and asking about unsaved work, is left to the window."""

    open_requested = Signal(object)
    """The path of a project."""
    blank_requested = Signal()
    browse_requested = Signal()
    back_requested = Signal()
    run_requested = Signal(object)
    """A run under way, to be followed."""
    tour_requested = Signal()

    def __init__(self, documents: Documents, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._documents = documents
        self._was_painted = self._is_filled = False
        # The shipped ones wait for no disk that a recent one may be on.
        self._loaders = {"recent": ThumbnailLoader(self), "shipped": ThumbnailLoader(self)}
        for loader in self._loaders.values():
            loader.ready.connect(self._show_thumbnail)
            loader.gone.connect(self._show_gone)
        self.grids: dict[str, CardGrid] = {}
        self._headings: dict[str, QLabel] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header())
        column.addWidget(self._body(), 1)
        for before, after in (
            (self.search, self.blank),
            (self.blank, self.browse),
            (self.browse, self.back),
            (self.back, self.area),
        ):
            QWidget.setTabOrder(before, after)

    # ---- making ----

    def _header(self) -> QWidget:
        header = QWidget()
        row = QHBoxLayout(header)
        row.setContentsMargins(MARGIN, 24, MARGIN, 16)
        row.setSpacing(8)
        title = QLabel(tr("Start"))
        theme.mark(title, "role", "large")
        self.search = SearchField(tr("Search projects, examples, templates…"), tr("Search the start page"))
        self.search.setMinimumWidth(160)
        self.search.setMaximumWidth(320)
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._open_first)
        self.blank = QPushButton(tr("Blank project"))
        self.blank.setIcon(theme.icon("plus"))
        shortcuts.set_tip(self.blank, tr("An empty canvas"), "file.blank")
        self.blank.clicked.connect(self.blank_requested)
        self.browse = QPushButton(tr("Open…"))
        self.browse.setIcon(theme.icon("folder"))
        shortcuts.set_tip(self.browse, tr("A project file on this machine"), "file.open")
        self.browse.clicked.connect(self.browse_requested)
        self.back = QPushButton(tr("Back to the project"))
        self.back.setToolTip(tr("Leave this page (Esc)"))
        self.back.setIcon(theme.icon("chevron-left"))
        self.back.clicked.connect(self.back_requested)
        row.addWidget(title)
        row.addStretch(1)
        row.addWidget(self.back)
        row.addWidget(self.search, 2)
        row.addWidget(self.blank)
        row.addWidget(self.browse)
        return header

    def _body(self) -> QWidget:
        content = QWidget()
        self._content = content
        column = QVBoxLayout(content)
        column.setContentsMargins(MARGIN, 0, MARGIN, MARGIN)
        column.setSpacing(8)
        self.tour = TourOffer(content)
        self.tour.accepted.connect(self.tour_requested)
        column.addWidget(self.tour)
        self.running = RunningList()
        self.running.chosen.connect(self.run_requested)
        self._watcher = RunningRuns(self)
        self._watcher.changed.connect(self.running.show_runs)
        column.addWidget(self.running)
        for key, text in SECTIONS:
            title = translation(text)
            heading = QLabel(title.upper())
            heading.setAccessibleName(title)
            heading.setContentsMargins(0, 8, 0, 0)
            theme.mark(heading, "role", "section")
            grid = CardGrid(title)
            grid.chosen.connect(self.open_requested)
            grid.removed.connect(self._forget)
            grid.focused.connect(self._follow)
            grid.moved.connect(self._move)
            column.addWidget(heading)
            if key == "recent":
                self.nothing_recent = QLabel(translation(NOTHING_RECENT))
                theme.mark(self.nothing_recent, "role", "muted")
                self.nothing_recent.hide()  # until the recent projects are listed
                column.addWidget(self.nothing_recent)
            column.addWidget(grid)
            column.addSpacing(8)
            self.grids[key], self._headings[key] = grid, heading
        self.nothing_found = QLabel()
        theme.mark(self.nothing_found, "role", "muted")
        self.clear = QPushButton(tr("Clear the search"))
        self.clear.clicked.connect(self._clear)
        column.addWidget(self.nothing_found)
        column.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        self.nothing_found.hide()
        self.clear.hide()
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(content)
        self.area.verticalScrollBar().rangeChanged.connect(self._line_up)
        return self.area

    def _line_up(self, _least: int, most: int) -> None:
        """Put the scroll bar into the margin, so that the cards end where the header does."""
        bar = self.area.verticalScrollBar().sizeHint().width() if most else 0
        column = self._content.layout()
        assert column is not None
        column.setContentsMargins(MARGIN, 0, MARGIN - bar, MARGIN)

    # ---- what is shown ----

    def showEvent(self, event: QShowEvent) -> None:
        """Give the search the focus, and refresh the page if it was shown before."""
        super().showEvent(event)
        if not event.spontaneous():
            self.search.setFocus(Qt.FocusReason.OtherFocusReason)
            if self._was_painted:
                self._fill()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop looking for runs under way."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._watcher.close()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill in the cards after the first paint: the window is on screen first."""
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self, self._fill)

    def _fill(self) -> None:
        self._is_filled = True
        self.refresh()
        if self.isVisible():
            self._watcher.watch()
        for key, grid in self.grids.items():
            loader = self._loaders["recent" if key == "recent" else "shipped"]
            loader.load([card.entry.path for card in grid.cards])

    def refresh(self) -> None:
        """List the recent projects and the installed examples and templates again."""
        self.grids["recent"].show_entries(gallery.recent(self._documents.known()))
        self.grids["examples"].show_entries(gallery.examples())
        self.grids["templates"].show_entries(gallery.templates())
        self._filter(self.search.text())

    def show_way_back(self, title: str) -> None:
        """Name the project that is open behind the page; without a title the button is hidden."""
        name = markup.elided(self.fontMetrics(), title, Qt.TextElideMode.ElideMiddle, 160)
        self.back.setText(markup.without_mnemonic(tr("Back to {name}", name=name)))
        self.back.setVisible(bool(title))

    def _show_thumbnail(self, path: Path, thumbnail: Thumbnail) -> None:
        for grid in self.grids.values():
            grid.show_thumbnail(path, thumbnail)

    def _show_gone(self, path: Path) -> None:
        self.grids["recent"].show_gone(path)

    @property
    def is_drawn(self) -> bool:
        """Whether every card has its thumbnail, or a reason why not."""
        return self._is_filled and all(loader.is_done for loader in self._loaders.values())

    def _filter(self, search: str) -> None:
        matches = {key: grid.filter(search) for key, grid in self.grids.items()}
        for key, heading in self._headings.items():
            heading.setVisible(bool(matches[key]) or (key == "recent" and not search))
            self.grids[key].setVisible(bool(matches[key]))
        self.nothing_recent.setVisible(not search and not matches["recent"])
        is_lost = bool(search) and not any(matches.values())
        self.nothing_found.setText(tr("Nothing matches “{search}”.", search=search))
        self.nothing_found.setVisible(is_lost)
        self.clear.setVisible(is_lost)

    def _clear(self) -> None:
        self.search.clear()
        self.search.setFocus()

    def _forget(self, path: Path) -> None:
        cards = self.grids["recent"].cards
        at = next((n for n, card in enumerate(cards) if card.entry.path == path), 0)
        had_focus = any(card.hasFocus() for card in cards)
        self._documents.forget(path)
        self.refresh()
        rest = self.grids["recent"].shown
        if had_focus:
            (rest[min(at, len(rest) - 1)] if rest else self.search).setFocus(Qt.FocusReason.OtherFocusReason)

    # ---- by keyboard ----

    def _cards(self) -> list[ProjectCard]:
        return [card for grid in self.grids.values() for card in grid.shown]

    def _open_first(self) -> None:
        """Open the first card that matches the search, on Enter."""
        there = [card for card in self._cards() if not card.is_gone]
        if self.search.text().strip() and there:
            there[0].click()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from the header to the cards with Down; with Esc clear the search, then leave the page."""
        cards = self._cards()
        if event.key() == Qt.Key.Key_Down and cards:
            cards[0].setFocus(Qt.FocusReason.TabFocusReason)
        elif event.key() == Qt.Key.Key_Escape and self.search.text():
            self._clear()
        elif event.key() == Qt.Key.Key_Escape:
            self.back_requested.emit()
        else:
            super().keyPressEvent(event)

    def _move(self, card: ProjectCard, key: int) -> None:
        """Move to the nearest card in the direction of an arrow, across sections; up from the first row to the
        search."""
        cards = self._cards()
        at = cards.index(card)
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            to = at + (1 if key == Qt.Key.Key_Right else -1)
            target = cards[to] if 0 <= to < len(cards) else None
        else:
            target = self._beyond(card, cards, 1 if key == Qt.Key.Key_Down else -1)
            if target is None and key == Qt.Key.Key_Up:
                self.area.ensureVisible(0, 0)
                self.search.setFocus(Qt.FocusReason.TabFocusReason)
        if target is not None:
            target.setFocus(Qt.FocusReason.TabFocusReason)

    def _beyond(self, card: ProjectCard, cards: list[ProjectCard], step: int) -> ProjectCard | None:
        """Return the card below or above."""
        spots = {other: other.mapTo(self._content, QPoint(0, 0)) for other in cards}
        here = spots[card]
        ahead = [other for other in cards if (spots[other].y() - here.y()) * step > 0]
        return min(ahead, key=lambda o: (abs(spots[o].y() - here.y()), abs(spots[o].x() - here.x())), default=None)

    def _follow(self, card: ProjectCard) -> None:
        """Scroll the card with the focus into view."""
        self.area.ensureWidgetVisible(card, 0, 24)

    def shutdown(self) -> None:
        """Stop making thumbnails, and looking for runs."""
        self._watcher.close()
        for loader in self._loaders.values():
            loader.close()
