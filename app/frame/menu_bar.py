"""The menu bar, made from the table of actions."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from netwright.app.documents import Documents, examples
from netwright.app.frame.actions import ACTIONS, CANVAS_KEYS, MENUS, Action, Commands, enabled_ids
from netwright.app.frame.mnemonics import LETTERS, mark_entries, with_mnemonics
from netwright.app.frame.window_state import WindowState
from netwright.designer import markup, shortcuts, theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.settings import settings
from netwright.designer.shortcuts import Shortcuts

if TYPE_CHECKING:
    from netwright.app.frame.tour_launcher import Launcher

_ROLES = {
    "file.quit": QAction.MenuRole.QuitRole,
    "edit.preferences": QAction.MenuRole.PreferencesRole,
    "help.about": QAction.MenuRole.AboutRole,
}
"""The places of entries in the menu of the program on macOS. Qt would guess others from their words."""


class Menus(QObject):
    """Menus and actions of one window."""

    def __init__(self, window: QMainWindow, commands: Commands, documents: Documents) -> None:
        super().__init__(window)
        self._window, self._commands, self._documents = window, commands, documents
        self.actions_by_id: dict[str, QAction] = {}
        self._tour: Launcher | None = None
        titles = with_mnemonics([translation(name) for name in MENUS], MENUS)
        self.by_name = {name: window.menuBar().addMenu(title) for name, title in zip(MENUS, titles, strict=True)}
        self._submenus: dict[str, QMenu] = {}
        self._choices: dict[str, QActionGroup] = {}
        self.shortcuts = Shortcuts(
            {row.id: tuple(key for key in (row.shortcut, *row.also) if key) for row in ACTIONS},
            {row.id: row.name for row in ACTIONS},
            {key: translation(use) for key, use in CANVAS_KEYS.items()},
            settings(),
            self,
        )
        shortcuts.use(self.shortcuts)
        self.shortcuts.changed.connect(self._show_keys)
        for row in ACTIONS:
            self._add(row)
        self._show_keys()
        file_menu = self.by_name["File"]
        before = self.actions_by_id.get("file.import", self.actions_by_id["file.save"])
        self.recent, self.examples = self._submenu(noop("Open recent")), self._submenu(noop("Open an example"))
        self.recent_data = self._submenu(noop("Recent data"))
        file_menu.insertMenu(before, self.recent)
        file_menu.insertMenu(before, self.examples)
        self.by_name["Data"].addMenu(self.recent_data)
        self.recent.aboutToShow.connect(self._fill_recent)
        self.examples.aboutToShow.connect(self._fill_examples)
        self.recent_data.aboutToShow.connect(self._fill_recent_data)
        self.panels = self._submenu(noop("Panels"))
        theme_menu = self._submenus["Theme"].menuAction()
        self.by_name["View"].insertMenu(theme_menu, self.panels)
        for menu in (*self.by_name.values(), *self._submenus.values(), *self._filled):
            menu.aboutToShow.connect(self._mark_entries)
        theme.changed.connect(self._retheme)

    def _mark_entries(self) -> None:
        """Give every entry its letter. The menus are asked for anew: PySide lets go of the objects it gave before."""
        mark_entries(self._window.menuBar().actions())

    @property
    def _filled(self) -> tuple[QMenu, ...]:
        """The menus whose entries are no rows of the table."""
        return self.recent, self.examples, self.recent_data, self.panels

    def _add(self, row: Action) -> None:
        action = QAction(translation(row.text), self._window)
        action.setProperty(LETTERS, row.text)
        action.setObjectName(row.id)
        action.setCheckable(row.is_on is not None)
        action.triggered.connect(lambda _=False: row.handler(self._commands))
        action.setMenuRole(_ROLES.get(row.id, QAction.MenuRole.NoRole))
        if row.icon:
            action.setIcon(theme.icon(row.icon))
        if row.separator_before:
            self.by_name[row.menu].addSeparator()
        menu = self._menu_of(row)
        menu.addAction(action)
        if row.submenu and row.is_on is not None:
            self._choices.setdefault(row.submenu, QActionGroup(menu)).addAction(action)
        self.actions_by_id[row.id] = action

    def _show_keys(self) -> None:
        """Give every action its keys, and show them in its tooltip."""
        for row in ACTIONS:
            action = self.actions_by_id[row.id]
            action.setShortcuts([QKeySequence(key) for key in self.shortcuts.keys(row.id)])
            title = shortcuts.with_key(row.name, row.id)
            action.setToolTip(f"{title}\n{translation(row.help)}" if row.help else title)

    def _menu_of(self, row: Action) -> QMenu:
        if not row.submenu:
            return self.by_name[row.menu]
        if row.submenu not in self._submenus:
            menu = self._submenus[row.submenu] = self._submenu(row.submenu)
            self.by_name[row.menu].addMenu(menu)
            if row.is_on is not None:
                theme.mark(menu, "role", "choices")
        return self._submenus[row.submenu]

    def _submenu(self, text: str) -> QMenu:
        menu = QMenu(translation(text), self._window)
        menu.menuAction().setProperty(LETTERS, text)
        return menu

    def _fill_recent(self) -> None:
        self._fill_paths(self.recent, self._documents.recent(), tr("No project was opened yet"), self._open)

    def _fill_examples(self) -> None:
        self._fill_paths(self.examples, examples(), tr("The examples are not installed"), self._open)

    def _fill_recent_data(self) -> None:
        paths = self._documents.recent_data()
        self._fill_paths(self.recent_data, paths, tr("No file or folder was used as data yet"), self._use_data)

    def _open(self, path: Path) -> None:
        self._commands.files.open_asking(path)

    def _use_data(self, path: Path) -> None:
        self._commands.guesser.use(path)

    def _fill_paths(self, menu: QMenu, paths: list[Path], empty: str, act: Callable[[Path], None]) -> None:
        menu.clear()
        for path in paths:
            name = path.name if act == self._use_data else path.stem
            entry = menu.addAction(markup.without_mnemonic(name))
            entry.triggered.connect(lambda _=False, path=path: act(path))
            entry.setToolTip(str(path))
        if not paths:
            menu.addAction(empty).setEnabled(False)

    def update(self, state: WindowState, undo: str, redo: str) -> None:
        """Enable the actions that can be used; `undo` and `redo` are the names of the steps."""
        usable = enabled_ids(state)
        for id, action in self.actions_by_id.items():
            action.setEnabled(id in usable)
        for row in ACTIONS:
            if row.is_on is not None:
                self.actions_by_id[row.id].setChecked(row.is_on(state))
        texts = {
            "run.stop": tr("Stop {run}", run=state.run_name) if state.run_name else tr("Stop"),
            "edit.undo": tr("Undo {step}", step=undo) if undo else tr("Undo"),
            "edit.redo": tr("Redo {step}", step=redo) if redo else tr("Redo"),
        }
        for id, text in texts.items():
            self.actions_by_id[id].setText(markup.without_mnemonic(text))

    def _retheme(self) -> None:
        for row in ACTIONS:
            if row.icon:
                self.actions_by_id[row.id].setIcon(theme.icon(row.icon))

    def find_command(self) -> None:
        """Find an action by its name, and run it."""
        from netwright.app.frame.help_dialogs import CommandFinder

        CommandFinder(self.actions_by_id, self._window).open_over(self._window)

    def show_shortcuts(self) -> None:
        """List the shortcuts."""
        from netwright.app.frame.help_dialogs import show_shortcuts

        show_shortcuts(self._window)

    def show_manual(self) -> None:
        """Show the page of the manual about what has the focus."""
        from netwright.app.manual_window import show_page_about

        show_page_about(self._window.focusWidget(), self._window)

    def start_tour(self, chapter: str = "") -> None:
        """Start the guided tour in a window of its own, with a chapter by its key, or with the first one."""
        from netwright.app.frame.tour_launcher import Launcher

        if self._tour is None:
            self._tour = Launcher(self._commands.theme, self._commands.hint, self)
        self._tour.start(chapter)

    def close(self) -> None:
        """End the tour, if there is one."""
        if self._tour is not None:
            self._tour.end()

    def show_about(self) -> None:
        """Show name, version, licence and add-ons."""
        from netwright.app.frame.help_dialogs import show_about

        show_about(self._window)

    def show_preferences(self, page: str = "") -> None:
        """Show what the user has chosen for the program, perhaps with one of the pages."""
        from netwright.app.frame.preferences import PreferencesDialog

        dialog = PreferencesDialog(self._commands, self.shortcuts, self._window)
        if page:
            dialog.show_page(page)
        dialog.exec()
        dialog.deleteLater()
