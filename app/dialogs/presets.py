"""The menu of presets of the training options: apply one, save the current options, delete one."""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtWidgets import QInputDialog, QMenu, QMessageBox, QWidget

from designer import markup
from engine.core.errors import UserError
from engine.core.folders import data_folder
from engine.project.presets import BUILT_IN, NOTES, Presets
from engine.project.training import TrainingOptions


def presets_file() -> Path:
    """Return the file of this user's presets."""
    return data_folder() / "presets.json"


def preset_menu(
    parent: QWidget, presets: Presets, now: TrainingOptions, use: Callable[[TrainingOptions], None]
) -> QMenu:
    """Make the menu. A preset that equals the current options is checked."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    _offer(menu, BUILT_IN, now, use)
    menu.addSeparator()
    try:
        own = presets.read()
    except UserError as error:
        broken = menu.addAction("Your presets cannot be read")
        broken.setToolTip(str(error))
        broken.setEnabled(False)
        return menu
    _offer(menu, own, now, use)
    if own:
        menu.addSeparator()
    menu.addAction("Save as preset…").triggered.connect(lambda: _ask_and_save(parent, presets, now))
    if own:
        deleting = menu.addMenu("Delete preset")
        for name in own:
            deleting.addAction(markup.without_mnemonic(name)).triggered.connect(
                lambda _=False, name=name: _try(parent, lambda: presets.delete(name))
            )
    return menu


def _offer(
    menu: QMenu,
    presets: Mapping[str, TrainingOptions],
    now: TrainingOptions,
    use: Callable[[TrainingOptions], None],
) -> None:
    for name, options in presets.items():
        action = menu.addAction(markup.without_mnemonic(name) + ("\tin use" if options == now else ""))
        action.setToolTip(NOTES.get(name, name))
        action.triggered.connect(lambda _=False, options=options: use(options))


def _ask_and_save(parent: QWidget, presets: Presets, options: TrainingOptions) -> None:
    name, is_given = QInputDialog.getText(parent, "Save as preset", "Name (an existing one is replaced):")
    if is_given:
        _try(parent, lambda: presets.save(name, options))


def _try(parent: QWidget, act: Callable[[], None]) -> None:
    try:
        act()
    except UserError as error:
        QMessageBox.warning(parent, "Presets", str(error))
