"""The Preferences: each choice holds at once, everywhere, and is remembered."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QDesktopServices, QKeySequence
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from netwright.app.answer_device import answer_device
from netwright.app.documents import EXAMPLES
from netwright.app.frame.help_dialogs import CommandFinder, shortcuts_dialog
from netwright.app.frame.preferences import FOLDERS, PreferencesDialog
from netwright.app.window import MainWindow
from netwright.designer import language, theme
from netwright.designer.settings import settings
from netwright.engine.user_code import trust
from tests.app.fake_server import FakeServer
from tests.app.main_windows import MakeWindow, Modal, run


@pytest.fixture
def dialog(qtbot: QtBot, window: MainWindow) -> PreferencesDialog:
    dialog = PreferencesDialog(window, window.menus.shortcuts, window)
    dialog.show()
    return dialog


def choose(box, data: object) -> None:
    """Choose an entry of a box as a click does."""
    box.setCurrentIndex(box.findData(data))
    box.activated.emit(box.currentIndex())


def press(qtbot: QtBot, dialog: PreferencesDialog, id: str, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    dialog.show_page("Shortcuts")
    dialog.shortcuts.choose(id)
    qtbot.keyClick(dialog.shortcuts.editor, key, modifiers)
    dialog.shortcuts.editor.editingFinished.emit()


CTRL = Qt.KeyboardModifier.ControlModifier
CTRL_ALT = CTRL | Qt.KeyboardModifier.AltModifier


def test_the_theme_is_the_setting_of_the_menu(dialog: PreferencesDialog, window: MainWindow) -> None:
    choose(dialog.scheme, "dark")
    assert theme.current() is theme.dark()
    assert window.menus.actions_by_id["theme.dark"].isChecked()
    assert QSettings("Netwright", "Netwright").value("theme") == "dark"


def test_the_language_is_remembered_for_the_next_start(dialog: PreferencesDialog) -> None:
    names = [dialog.language.itemText(number) for number in range(dialog.language.count())]
    assert names == ["Match system", "English", "简体中文"]
    assert dialog.language.currentData() == "system"
    choose(dialog.language, "zh_CN")
    assert language.chosen() == "zh_CN"
    assert language.current() == "en"


def test_text_grows_at_once_and_in_the_next_window(
    dialog: PreferencesDialog, window: MainWindow, make_window: MakeWindow, qapp
) -> None:
    row, label = dialog.scheme.sizeHint().height(), dialog.findChildren(QLabel)[0]
    before = label.fontMetrics().height()
    choose(dialog.text_size, 17)
    assert qapp.font().pixelSize() == 17
    assert dialog.scheme.sizeHint().height() > row
    assert label.fontMetrics().height() > before
    assert theme.pixels(12) == 16
    assert make_window(FakeServer()).theme.text_size == 17
    choose(dialog.text_size, 13)
    assert label.fontMetrics().height() == before


def test_a_size_that_is_none_is_the_usual_one(qtbot: QtBot, make_window: MakeWindow) -> None:
    QSettings("Netwright", "Netwright").setValue("text_size", "huge")
    assert make_window(FakeServer()).theme.text_size == theme.FONT_PIXELS


def test_notifications_are_the_settings_of_the_menu(dialog: PreferencesDialog, window: MainWindow) -> None:
    dialog.show_page("Notifications")
    assert dialog.message.isChecked()
    dialog.message.click()
    dialog.beep.click()
    assert not window.notifier.has_message
    assert window.notifier.has_beep
    assert window.menus.actions_by_id["run.beep"].isChecked()


def test_the_menu_of_the_webhook_shows_its_page(window: MainWindow) -> None:
    def look(dialog) -> None:
        assert isinstance(dialog, PreferencesDialog)
        assert dialog.webhook.isVisible()

    with Modal(look):
        run(window, "run.webhook")


def test_an_address_that_is_none_is_not_lost_by_closing(dialog: PreferencesDialog) -> None:
    dialog.webhook.address.setText("example")
    dialog.buttons.rejected.emit()
    assert dialog.isVisible()
    assert dialog.webhook.state.isVisible()
    assert "no address" in dialog.webhook.state.text()
    dialog.webhook.address.clear()
    dialog.buttons.rejected.emit()
    assert not dialog.isVisible()


def test_folders_are_opened(dialog: PreferencesDialog, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    for name, _, folder in FOLDERS:
        dialog.folders[name].click()
        assert Path(opened[-1]) == folder()
        assert folder().is_dir()


def test_a_changed_shortcut_is_shown_everywhere(qtbot: QtBot, dialog: PreferencesDialog, window: MainWindow) -> None:
    press(qtbot, dialog, "run.train", Qt.Key.Key_Y, CTRL_ALT)
    action = window.menus.actions_by_id["run.train"]
    assert action.shortcut() == QKeySequence("Ctrl+Alt+Y")
    assert "(Ctrl+Alt+Y)" in action.toolTip()
    assert window.bar.train.toolTip() == "Train (Ctrl+Alt+Y)"
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    finder.search.setText("train")
    assert finder.list.currentItem().text(1) == "Ctrl+Alt+Y"
    listed = shortcuts_dialog(window)
    qtbot.addWidget(listed)
    assert "Ctrl+Alt+Y" in [label.text() for label in listed.findChildren(QLabel)]
    press(qtbot, dialog, "network.add", Qt.Key.Key_J, CTRL)
    assert window.design.palette.search.placeholderText() == "Search layers…  Ctrl+J"
    dialog.shortcuts.reset_all.click()
    assert window.bar.train.toolTip() == "Train (F5)"
    assert action.shortcut() == QKeySequence("F5")
    assert not dialog.shortcuts.reset_all.isVisible()


def test_a_changed_shortcut_holds_in_the_next_window(
    qtbot: QtBot, dialog: PreferencesDialog, make_window: MakeWindow
) -> None:
    press(qtbot, dialog, "edit.redo", Qt.Key.Key_R, CTRL_ALT)
    redo = make_window(FakeServer()).menus.actions_by_id["edit.redo"]
    assert [key.toString() for key in redo.shortcuts()] == ["Ctrl+Alt+R"]


@pytest.mark.parametrize(
    ("key", "modifiers", "reason"),
    [
        (Qt.Key.Key_S, CTRL, "Ctrl+S belongs to Save."),
        (Qt.Key.Key_Y, CTRL, "Ctrl+Y belongs to Redo."),
        (Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "A is a key without Ctrl or Alt"),
        (Qt.Key.Key_Left, CTRL, "Ctrl+Left is a key of the canvas: move the selection."),
    ],
)
def test_a_key_of_another_is_refused_in_words(
    qtbot: QtBot, dialog: PreferencesDialog, window: MainWindow, key: Qt.Key, modifiers, reason: str
) -> None:
    press(qtbot, dialog, "run.train", key, modifiers)
    assert dialog.shortcuts.message.text().startswith(reason)
    assert window.menus.actions_by_id["run.train"].shortcut() == QKeySequence("F5")
    assert dialog.shortcuts.editor.keySequence() == QKeySequence("F5")


def test_a_key_can_move_to_another_action_and_comes_back_only_when_it_is_free(
    qtbot: QtBot, dialog: PreferencesDialog, window: MainWindow
) -> None:
    table, actions = dialog.shortcuts, window.menus.actions_by_id
    dialog.show_page("Shortcuts")
    table.choose("run.train")
    table.clear.click()
    assert actions["run.train"].shortcuts() == []
    assert window.bar.train.toolTip() == "Train"
    press(qtbot, dialog, "run.queue", Qt.Key.Key_F5, Qt.KeyboardModifier.NoModifier)
    assert actions["run.queue"].shortcut() == QKeySequence("F5")
    table.choose("run.train")
    table.reset.click()
    assert table.message.text().startswith("F5 belongs to Queue another run.")
    assert actions["run.train"].shortcuts() == []
    table.choose("run.queue")
    table.reset.click()
    table.choose("run.train")
    table.reset.click()
    assert actions["run.train"].shortcut() == QKeySequence("F5")


def test_actions_are_found_by_name_and_key(dialog: PreferencesDialog) -> None:
    table = dialog.shortcuts
    table.search.setText("ctrl+shift+z")
    assert table.chosen == "edit.redo"
    table.search.setText("hyperparameter sweep")
    assert table.chosen == "view.search"
    table.search.setText("no such action")
    assert table.chosen == ""
    assert not table.editor.isEnabled()


def test_the_last_project_is_opened_at_the_start_if_it_is_chosen(
    dialog: PreferencesDialog, window: MainWindow, make_window: MakeWindow, tmp_path: Path
) -> None:
    window.open_path(EXAMPLES / "digits.netwright")
    for name in ("first", "last"):
        window.documents.save(tmp_path / name)
    begun = make_window(FakeServer(), tab="start")
    assert not begun.files.reopen(), "it is not chosen"
    dialog.start.setCurrentIndex(1)
    dialog.start.activated.emit(1)
    assert begun.files.reopen()
    assert begun.documents.path == tmp_path / "last.netwright"
    assert begun.tabs.current == "design"
    (tmp_path / "last.netwright").unlink()
    assert not make_window(FakeServer(), tab="start").files.reopen(), "another one is not the last"


def test_answers_are_computed_where_the_user_says(dialog: PreferencesDialog) -> None:
    assert answer_device() == dialog.answers.currentData() == "auto"
    choose(dialog.answers, "multi-cpu")
    assert answer_device() == "multi-cpu"
    settings().setValue("answer_device", "abacus")  # by a hand, or a later version
    assert answer_device() == "auto"


def test_the_code_of_a_folder_is_trusted_no_longer(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        trust.trust(tmp_path / name)
    dialog = PreferencesDialog(window, window.menus.shortcuts, window)
    assert set(dialog.trusted) == set(trust.trusted_folders())
    dialog.trusted[tmp_path / "theirs"].click()
    assert not dialog.trusted[tmp_path / "theirs"].isEnabled()
    assert trust.trusted_folders() == (tmp_path / "mine",)
    assert not trust.is_trusted(tmp_path / "theirs")
