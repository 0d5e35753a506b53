"""The presets of the training options: apply one and see its changes, save the current options, delete one."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QInputDialog, QMenu, QMessageBox, QPushButton, QWidget

from netwright.app.widgets import Notice
from netwright.designer import markup, theme
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.core.folders import data_folder
from netwright.engine.project.presets import BUILT_IN, NOTES, Presets, difference, with_built_in
from netwright.engine.project.training import TrainingOptions

UNDO = noop("Undo")


def presets_file() -> Path:
    """Return the file of this user's presets."""
    return data_folder() / "presets.json"


class PresetsLink(QPushButton):
    """The link with the menu of presets. `chosen` carries the options that one gives; `notice` lists what it set."""

    chosen = Signal(object)

    def __init__(self, presets: Presets, now: Callable[[], TrainingOptions], parent: QWidget) -> None:
        """`now` returns the current options."""
        super().__init__(tr("Presets…"), parent)
        self.setToolTip(tr("Saved sets of training options"))
        self.setAutoDefault(False)  # Enter in a field must not open the menu
        theme.mark(self, "role", "link")
        self.presets, self._now = presets, now
        self.notice = Notice(parent)
        self._previous = ""
        self.clicked.connect(self._open)

    def _open(self) -> None:
        menu = self.menu_now()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 4)))

    def menu_now(self) -> QMenu:
        """Make the menu. A preset that the current options agree with is marked."""
        menu, now = QMenu(self), self._now()
        menu.setToolTipsVisible(True)
        for name, values in BUILT_IN.items():
            is_used = all(getattr(now, option) == value for option, value in values.items())
            self._add(menu, name, is_used=is_used, use=self._use_built_in)
        menu.addSeparator()
        try:
            own = self.presets.read()
        except UserError as error:
            broken = menu.addAction(tr("Your presets cannot be read"))
            broken.setToolTip(str(error))
            broken.setEnabled(False)
            return menu
        for name, options in own.items():
            self._add(menu, name, is_used=options == now, use=partial(self._use, options=options))
        if own:
            menu.addSeparator()
        menu.addAction(tr("Save as preset…")).triggered.connect(self._ask_and_save)
        if own:
            deleting = menu.addMenu(tr("Delete preset"))
            for name in own:
                deleting.addAction(markup.without_mnemonic(name)).triggered.connect(
                    lambda _=False, name=name: self._try(lambda: self.presets.delete(name))
                )
        return menu

    def _add(self, menu: QMenu, name: str, *, is_used: bool, use: Callable[[str], None]) -> None:
        shown = markup.without_mnemonic(_shown(name))
        action = menu.addAction("\t".join([shown, tr("in use")]) if is_used else shown)
        action.setToolTip(translation(NOTES[name]) if name in NOTES else name)
        action.triggered.connect(lambda: use(name))

    def _use_built_in(self, name: str) -> None:
        self._use(name, with_built_in(name, self._now(), self._previous))
        self._previous = name

    def _use(self, name: str, options: TrainingOptions) -> None:
        """Apply options, and list the changes, with an undo link."""
        before, previous = self._now(), self._previous
        self._previous = ""
        self.chosen.emit(options)
        changed = difference(before, options)
        if changed:
            text = tr("'{name}' has set {changes}.", name=_shown(name), changes=", ".join(changed))
            if name in BUILT_IN:
                text = " ".join([text, tr("All other options stay as they are.")])
            self.notice.say(text, {translation(UNDO): lambda: self._undo(before, previous)})
        else:
            self.notice.say(tr("'{name}' changes nothing: these options are set already.", name=_shown(name)), {})

    def _undo(self, options: TrainingOptions, previous: str) -> None:
        self._previous = previous
        self.notice.say("", {})
        self.chosen.emit(options)

    def _ask_and_save(self) -> None:
        options = self._now()
        name, is_given = QInputDialog.getText(
            self.window(), tr("Save as preset"), tr("Name (an existing preset of this name is replaced):")
        )
        if is_given:
            self._try(lambda: self.presets.save(name, options))

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except UserError as error:
            QMessageBox.warning(self.window(), tr("Presets"), str(error))


def _shown(name: str) -> str:
    """Return the name of a preset: those that everybody has are translated."""
    return translation(name) if name in BUILT_IN else name
