"""The menu bar, made from the table of actions."""

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from netwright.app.documents import Documents, examples
from netwright.app.frame.actions import ACTIONS, MENUS, Action, Commands, WindowState, enabled_ids
from netwright.designer import markup, theme


class Menus(QObject):
    """Menus and actions of one window."""

    def __init__(self, window: QMainWindow, commands: Commands, documents: Documents) -> None:
        super().__init__(window)
        self._window, self._commands, self._documents = window, commands, documents
        self.actions_by_id: dict[str, QAction] = {}
        self.by_name = {name: window.menuBar().addMenu(f"&{name}") for name in MENUS}
        self._submenus: dict[str, QMenu] = {}
        self._choices: dict[str, QActionGroup] = {}
        for row in ACTIONS:
            self._add(row)
        file_menu = self.by_name["File"]
        before = self.actions_by_id.get("file.import", self.actions_by_id["file.save"])
        self.recent, self.examples = QMenu("Open recent", self._window), QMenu("Open an example", self._window)
        for menu, fill in ((self.recent, self._fill_recent), (self.examples, self._fill_examples)):
            menu.aboutToShow.connect(fill)
            file_menu.insertMenu(before, menu)
        self.panels = QMenu("Panels", window)
        theme_menu = self._submenus["Theme"].menuAction()
        self.by_name["View"].insertMenu(theme_menu, self.panels)
        theme.changed.connect(self._retheme)

    def _add(self, row: Action) -> None:
        action = QAction(row.text, self._window)
        action.setObjectName(row.id)
        action.setCheckable(row.is_on is not None)
        action.triggered.connect(lambda _=False: row.handler(self._commands))
        action.setShortcuts([QKeySequence(key) for key in (row.shortcut, *row.also) if key])
        if row.icon:
            action.setIcon(theme.icon(row.icon))
        shortcut = f" ({row.shortcut})" if row.shortcut else ""
        action.setToolTip(f"{row.text.rstrip('…')}{shortcut}{chr(10) + row.help if row.help else ''}")
        if row.separator_before:
            self.by_name[row.menu].addSeparator()
        menu = self._menu_of(row)
        menu.addAction(action)
        if row.submenu and row.is_on is not None:
            self._choices.setdefault(row.submenu, QActionGroup(menu)).addAction(action)
        self.actions_by_id[row.id] = action

    def _menu_of(self, row: Action) -> QMenu:
        if not row.submenu:
            return self.by_name[row.menu]
        if row.submenu not in self._submenus:
            menu = self._submenus[row.submenu] = self.by_name[row.menu].addMenu(row.submenu)
            if row.is_on is not None:
                theme.mark(menu, "role", "choices")
        return self._submenus[row.submenu]

    def _fill_recent(self) -> None:
        self._fill_paths(self.recent, self._documents.recent(), "No project was opened yet")

    def _fill_examples(self) -> None:
        self._fill_paths(self.examples, examples(), "The examples are not installed")

    def _fill_paths(self, menu: QMenu, paths: list[Path], empty: str) -> None:
        menu.clear()
        for path in paths:
            entry = menu.addAction(markup.without_mnemonic(path.stem))
            entry.triggered.connect(lambda _=False, path=path: self._commands.files.open_asking(path))
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
        self.actions_by_id["run.stop"].setText(markup.without_mnemonic(f"Stop {state.run_name}".strip()))
        self.actions_by_id["edit.undo"].setText(markup.without_mnemonic(f"Undo {undo}".strip()))
        self.actions_by_id["edit.redo"].setText(markup.without_mnemonic(f"Redo {redo}".strip()))

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

    def show_about(self) -> None:
        """Show name, version, licence and add-ons."""
        from netwright.app.frame.help_dialogs import show_about

        show_about(self._window)
