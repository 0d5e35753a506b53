"""The frame of the window and its dialogs in another language: nothing that they show is untranslated, or cut off, and
every entry of every menu can be chosen by a letter."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QKeySequence
from PySide6.QtWidgets import QApplication, QComboBox, QListWidget, QPushButton, QTreeWidget, QWidget
from pytestqt.qtbot import QtBot

from netwright.app import messages
from netwright.app.documents import EXAMPLES
from netwright.app.frame.actions import ACTIONS, CANVAS_KEYS
from netwright.app.frame.document_commands import import_filter, project_filter
from netwright.app.frame.help_dialogs import CommandFinder, about_dialog, matching, shortcuts_dialog
from netwright.app.frame.layer_filters import FiltersPart
from netwright.app.frame.mnemonics import LETTERS
from netwright.app.frame.network_commands import BlockName
from netwright.app.frame.preferences import FOLDERS, PreferencesDialog
from netwright.app.frame.roofline import RooflineDialog
from netwright.app.frame.window_bars import ENGINE
from netwright.app.history.runs_page import RunsPage
from netwright.app.window import MainWindow
from netwright.designer import language
from netwright.designer.language import translation
from netwright.engine.layers.addons import AddOn
from netwright.engine.layers.base import REGISTRY
from tests.app.clipping import clipped, settle
from tests.app.fake_server import FakeServer
from tests.app.frame.test_actions import walked
from tests.app.frame.test_roofline import DEVICE, cost
from tests.app.main_windows import MakeWindow, Modal
from tests.designer.test_language import texts_of, untranslated

QT_WORDS = ("Save", "Cancel", "Discard", "Close", "Home", "Press shortcut", "Scroll Left", "Scroll Right")
"""Words of Qt, which has its own translations: buttons and keys."""


@pytest.fixture
def use_pseudo(qapp: QApplication) -> Iterator[None]:
    language.use(qapp, "pseudo")
    yield
    language.use(qapp, "en")


@pytest.fixture
def in_language(make_window: MakeWindow, qapp: QApplication) -> Iterator[Callable[[str], MainWindow]]:
    """Shows a window with the digits example in a language."""

    def make(name: str) -> MainWindow:
        language.use(qapp, name)
        window = make_window(FakeServer())
        window.open_path(EXAMPLES / "digits.netwright")
        settle(window)
        return window

    yield make
    language.use(qapp, "en")


def shown(widget: QWidget) -> Iterator[str]:
    """Yield the texts of a widget, with those of its lists."""
    yield from texts_of(widget)
    for box in widget.findChildren(QComboBox):
        yield from (box.itemText(row) for row in range(box.count()))
    for rows in widget.findChildren(QListWidget):
        yield from (rows.item(row).text() for row in range(rows.count()))
    for tree in widget.findChildren(QTreeWidget):
        items = (tree.topLevelItem(row) for row in range(tree.topLevelItemCount()))
        yield from (item.text(0) for item in items if item is not None)
        yield from (item.toolTip(0) for item in items if item is not None)


def faults(widget: QWidget, *names: str) -> list[str]:
    """Return the texts that are not translated, beside names, and those that are cut off."""
    widget.show()
    settle(widget)
    texts = [text.replace("\u200b", "") for text in shown(widget)]
    for name in (*names, *QT_WORDS):
        texts = [text.replace(name, "") for text in texts]
    return [*untranslated(texts), *clipped(widget)]


# ---- menus ----


def test_every_entry_in_chinese_has_a_letter_of_its_own(in_language, tmp_path: Path) -> None:
    window = in_language("zh_CN")
    for name in ("net", "网络", "new 数据"):
        window.documents.remember_data(tmp_path / name)
        (tmp_path / name).touch()
    window.editor.delete_selection()
    names = [action.text() for action in window.menuBar().actions()]
    assert names == ["文件(&F)", "编辑(&E)", "视图(&V)", "网络(&N)", "数据(&D)", "运行(&R)", "帮助(&H)"]
    menus = list(walked(window.menuBar().actions()))
    assert len(menus) > 12
    for name, texts in menus:
        letters = [QKeySequence.mnemonic(text).toString() for text in texts]
        assert all(letter.isascii() and letter for letter in letters), f"{name}: {texts}"
        assert len(set(letters)) == len(letters), f"{name}: {texts}"
    entry = window.menus.actions_by_id["file.save_as"]
    assert entry.text().startswith("另存为(&")
    assert entry.property(LETTERS) == "Save as…"


def test_menus_and_tooltips_of_actions_are_translated(in_language) -> None:
    window = in_language("pseudo")
    texts = [text for name, inside in walked(window.menuBar().actions()) for text in (name, *inside)]
    examples = [path.stem for path in EXAMPLES.glob("*.netwright")]
    assert len(texts) > 100
    assert untranslated(text.replace("&", "") for text in texts if text.replace("&", "") not in examples) == []
    tips = [line for action in window.menus.actions_by_id.values() for line in action.toolTip().splitlines()]
    assert untranslated(tip.replace("Home", "") for tip in tips) == []
    assert untranslated(map(translation, CANVAS_KEYS.values())) == []


def test_a_step_is_named_in_the_menu(in_language) -> None:
    window = in_language("zh_CN")
    window.editor.select_all()
    window.editor.delete_selection()
    action = window.menus.actions_by_id["edit.undo"]
    assert action.text().replace("&", "").startswith("撤销：删除")


def test_pages_about_a_run_are_named_in_the_language(in_language) -> None:
    window = in_language("pseudo")
    window.show_tab("runs")
    segments = window.findChild(RunsPage).monitor.segments
    names = [button.text() for button in segments.findChildren(QPushButton) if button.isCheckable()]
    assert len(names) >= 6
    assert untranslated(names) == []


# ---- the command finder and the sheet of shortcuts ----


@pytest.mark.parametrize(
    ("typed", "id"),
    [
        ("dark", "theme.dark"),
        ("analyze", "view.layers"),
        ("onnx", "file.import"),
        ("save as", "file.save_as"),
        ("file open", "file.open"),
        ("深色", "theme.dark"),
        ("另存为", "file.save_as"),
        ("提示音", "run.beep"),
        ("network 对齐", "align.left"),
    ],
)
def test_actions_are_found_by_words_of_both_languages(qapp: QApplication, typed: str, id: str) -> None:
    language.use(qapp, "zh_CN")
    try:
        assert matching(typed)[0].id == id
    finally:
        language.use(qapp, "en")


def test_the_command_finder_is_translated(qtbot: QtBot, in_language) -> None:
    window = in_language("pseudo")
    finder = CommandFinder(window.menus.actions_by_id, window)
    qtbot.addWidget(finder)
    assert finder.list.topLevelItemCount() > 80
    assert faults(finder) == []
    finder.search.setText("no such command")
    assert untranslated([finder.nothing.text()]) == []


def test_the_sheet_of_shortcuts_is_translated(qtbot: QtBot, in_language) -> None:
    sheet = shortcuts_dialog(in_language("pseudo"))
    qtbot.addWidget(sheet)
    assert faults(sheet) == []


def test_about_is_translated(qtbot: QtBot, in_language) -> None:
    parent = in_language("pseudo")
    add_on = AddOn("package_1", "1.0", (), tuple(sorted(REGISTRY)[:9]))
    for add_ons in ((), (add_on,)):
        dialog = about_dialog(parent, add_ons)
        qtbot.addWidget(dialog)
        assert faults(dialog, "package_1", "Netwright") == []


# ---- Preferences ----


def test_the_preferences_are_translated(qtbot: QtBot, in_language) -> None:
    window = in_language("pseudo")
    dialog = PreferencesDialog(window, window.menus.shortcuts, window)
    qtbot.addWidget(dialog)
    assert dialog.shortcuts.list.topLevelItemCount() == len(ACTIONS)
    paths = [str(folder()) for _, _, folder in FOLDERS]
    of_others = set(shown(dialog.webhook))
    for page in dialog.pages:
        dialog.show_page(page)
        assert set(faults(dialog, "English", *paths)) - of_others == set(), page


def test_a_shortcut_is_searched_in_english_too(qtbot: QtBot, in_language) -> None:
    window = in_language("zh_CN")
    dialog = PreferencesDialog(window, window.menus.shortcuts, window)
    qtbot.addWidget(dialog)
    dialog.shortcuts.search.setText("Save as")
    assert dialog.shortcuts.chosen == "file.save_as"
    assert dialog.shortcuts.name.text() == "另存为"


# ---- the window ----


@pytest.mark.parametrize("run", ["", "r_1"])
def test_the_bars_are_translated(in_language, run: str) -> None:
    window = in_language("pseudo")
    window.editor.set_selection(list(window.editor.network.layers)[1:3])
    window.editor.group()
    window.bar.set_environment("e_1", "e_1")  # which another part of the window writes
    window.bar.set_running(run)
    window.status.show_weights(run, run, False)
    for state in ENGINE:
        window.status.show_engine(state)
        assert faults(window.statusBar()) == []
    assert window.status.summary.text().count("[") >= 4
    window.design.docks  # noqa: B018  # makes the panel
    assert [*faults(window.bar), *faults(window.design.bottom)] == []
    docks = [dock.windowTitle() for dock in window.design.docks]
    assert untranslated([*docks, window.design.strip_bar.windowTitle()]) == []
    assert [dock.objectName() for dock in window.design.docks] == ["Layer library", "Properties", "Problems and layers"]


def test_the_dialogs_of_blocks_and_of_the_roofline_are_translated(
    qtbot: QtBot, in_language, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = in_language("pseudo")
    name = BlockName(window, "t_1", "b_1", "o_1")
    qtbot.addWidget(name)
    assert faults(name) == []
    filters = FiltersPart()
    qtbot.addWidget(filters)
    filters.grid.show_images([QImage(8, 8, QImage.Format.Format_Grayscale8)])
    assert faults(filters) == []
    monkeypatch.setattr(window.layer_times, "start", lambda: None)
    dialog = RooflineDialog(window, window.layer_times)
    qtbot.addWidget(dialog)
    fc = list(window.editor.network.layers)[1]
    for line in (DEVICE, cost(fc, 200_000, 10_000)):
        window.layer_times.process.said.emit(line)
    buttons = (dialog.measure, dialog.trace)
    texts = [*(button.text() for button in buttons), dialog.state.text(), dialog.trace.toolTip(), dialog.card.title]
    assert untranslated([*texts, dialog.windowTitle()]) == []


def test_what_the_lens_says_of_times_is_translated(in_language) -> None:
    window = in_language("pseudo")
    times = window.layer_times
    times._describe()
    remarks = [window.design.lenses.remarks["time"]]
    times.process.said.emit(DEVICE)
    times.process.said.emit(cost(list(window.editor.network.layers)[1], 200_000, 10_000))
    remarks.append(window.design.lenses.remarks["time"])
    window.editor.delete_selection()
    assert untranslated(text for remark in remarks for text in (remark.note, remark.link)) == []
    assert remarks[1].note != remarks[0].note


def test_filters_of_file_dialogs_are_translated(use_pseudo: None) -> None:
    patterns = re.compile(r"\*[.\w]+")
    assert untranslated(patterns.sub("", text) for text in (project_filter(), import_filter())) == []


# ---- questions ----


QUESTIONS: tuple[Callable[[QWidget], object], ...] = (
    lambda parent: messages.ask_to_save(parent, "p_1"),
    lambda parent: messages.ask_to_leave_training(parent, "r_1", 2),
    lambda parent: messages.ask_to_leave_experiments(parent, ["x_1", "x_2"]),
    lambda parent: messages.ask_for_meaning(parent, "p_1.py"),
    lambda parent: messages.ask_to_fetch(parent, {"h_1": 900, "h_2": 5}, "p_1"),
    lambda parent: messages.ask_to_trust(
        parent, [f"c_{number}.py" for number in range(9)], [Path("/f_1"), Path("/f_2")]
    ),
    lambda parent: messages.ask_to_resume(parent, ["[x_1]"]),
)


@pytest.mark.parametrize("ask", QUESTIONS)
def test_questions_are_translated(in_language, ask: Callable[[QWidget], object]) -> None:
    window = in_language("pseudo")
    wrong: list[str] = []
    with Modal(lambda box: wrong.extend(faults(box, "Netwright"))):
        ask(window)
    assert wrong == []
