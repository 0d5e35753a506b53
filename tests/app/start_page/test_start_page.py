"""The start page in a real window: opening from it, searching, going by keyboard, and recent files that are gone."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

import netwright.app.main as program
from netwright.app import messages
from netwright.app.documents import EXAMPLES, TEMPLATES
from netwright.app.start_page import gallery
from netwright.app.start_page.project_cards import CardGrid, ProjectCard, wrapped
from netwright.app.start_page.start_page import StartPage
from netwright.app.window import MainWindow
from netwright.designer import theme
from netwright.engine.core.errors import UserError
from netwright.engine.project.file import load, save

Key = Qt.Key
DIGITS = EXAMPLES / "digits.netwright"
EXAMPLE_NAMES = [entry.path.stem for entry in gallery.examples()]


@pytest.fixture
def page(qtbot, window: MainWindow) -> StartPage:
    window.show_start()
    qtbot.waitUntil(lambda: bool(window.start_page.grids["examples"].cards))
    window.activateWindow()
    return window.start_page


def card(page: StartPage, section: str, name: str) -> ProjectCard:
    return next(card for card in page.grids[section].cards if card.entry.path.stem == name)


def shown(page: StartPage, section: str) -> list[str]:
    return [card.entry.path.stem for card in page.grids[section].shown]


def keep(window: MainWindow, folder: Path, name: str) -> Path:
    """A recent project, and a blank one on screen."""
    path = folder / f"{name}.netwright"
    save(load(DIGITS).project, path)
    window.open_path(path)
    window.files.new()
    return path


def click(card: ProjectCard, at: QPoint | None = None) -> None:
    QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.rect().center() if at is None else at)


# ---- what is there ----


def test_before_the_recent_projects_are_listed_they_are_not_said_to_be_missing(window: MainWindow) -> None:
    page = StartPage(window.documents)
    assert page.nothing_recent.isHidden()
    page.refresh()
    assert not page.nothing_recent.isHidden()
    page.shutdown()
    page.deleteLater()


def test_nothing_recent_at_first_and_the_examples_as_pictures(qtbot, page: StartPage) -> None:
    assert page.nothing_recent.isVisible()
    assert shown(page, "examples") == EXAMPLE_NAMES
    digits = card(page, "examples", "digits")
    qtbot.waitUntil(lambda: page.is_drawn)
    assert all(card.thumbnail and card.thumbnail.bars for grid in page.grids.values() for card in grid.cards)
    assert digits.size_text == "15 layers · 12,650 parameters"
    assert digits.accessibleName() == (
        "Handwritten digits. A small residual network for digits of 8 × 8 pixels. 15 layers · 12,650 parameters"
    )
    assert "Alpaydin" in digits.toolTip()


def test_the_page_hides_what_belongs_to_a_project(window: MainWindow, page: StartPage) -> None:
    assert not any(dock.isVisible() for dock in window.design.docks)
    assert not any(button.isChecked() for button in window.bar._tabs.values())
    assert not window.status.summary.isVisible()
    window.show_tab("design")
    assert all(dock.isVisible() for dock in window.design.docks)
    assert window.bar._tabs["design"].isChecked()
    assert window.status.summary.isVisible()


def test_cards_are_painted_in_both_schemes(qtbot, window: MainWindow, page: StartPage) -> None:
    digits = card(page, "examples", "digits")
    qtbot.waitUntil(lambda: digits.thumbnail is not None)
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    for scheme in ("light", "dark"):
        theme.apply(application, scheme)
        wanted = theme.current().mixed(theme.current().family("Convolution"), theme.current().canvas, 0.85).rgb()
        image: QImage = digits.grab().toImage()
        pixels = {image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(0, 130, 4)}
        assert wanted in pixels


# ---- opening ----


def test_an_example_is_opened_by_a_click(window: MainWindow, page: StartPage) -> None:
    click(card(page, "examples", "digits"))
    assert window.tabs.stack.currentWidget().isAncestorOf(window.design.canvas)
    assert window.documents.title == "digits"
    assert window.documents.path is None


def test_the_network_is_fitted_once_the_canvas_has_its_size(qtbot, window: MainWindow, page: StartPage) -> None:
    click(card(page, "examples", "digits"))
    box = window.design.canvas.network_scene.content_box()
    qtbot.waitUntil(lambda: window.design.canvas.visible_area().contains(box))


def test_a_template_is_opened_as_a_copy_without_a_file(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "resnet18.netwright"
    shipped.write_bytes(DIGITS.read_bytes())
    for module in ("netwright.app.start_page.gallery", "netwright.app.documents"):
        monkeypatch.setattr(f"{module}.TEMPLATES", tmp_path)
    window.show_start()
    window.start_page.refresh()
    click(card(window.start_page, "templates", "resnet18"))
    assert window.documents.title == "resnet18"
    assert window.documents.path is None
    assert window.documents.known() == []
    asked: list[object] = []

    def ask(*given: object) -> tuple[str, str]:
        asked.append(given)
        return "", ""

    monkeypatch.setattr("netwright.app.frame.document_commands.QFileDialog.getSaveFileName", ask)
    window.editor.add_layer("relu")
    assert window.files.save() is False
    assert len(asked) == 1
    with pytest.raises(UserError, match="belongs to Netwright"):
        window.documents.save(shipped)
    assert shipped.read_bytes() == DIGITS.read_bytes()


def test_a_blank_project_and_a_file(
    window: MainWindow, page: StartPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.blank.click()
    assert window.tabs.stack.currentWidget().isAncestorOf(window.design.canvas)
    assert len(window.editor.network) == 0
    path = keep(window, tmp_path, "net")
    window.show_start()
    monkeypatch.setattr("netwright.app.frame.document_commands.QFileDialog.getOpenFileName", lambda *_: ("", ""))
    page.browse.click()
    assert window.tabs.stack.currentWidget() is page
    monkeypatch.setattr("netwright.app.frame.document_commands.QFileDialog.getOpenFileName", lambda *_: (str(path), ""))
    page.browse.click()
    assert window.documents.path == path
    assert window.tabs.stack.currentWidget().isAncestorOf(window.design.canvas)


def test_unsaved_work_is_asked_about_and_kept(
    window: MainWindow, page: StartPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_tab("design")
    window.editor.add_layer("relu")
    monkeypatch.setattr(messages, "ask_to_save", lambda parent, title: "cancel")
    window.menus.actions_by_id["file.new"].trigger()
    assert page.back.text() == "Back to untitled"
    click(card(page, "examples", "digits"))
    assert window.tabs.stack.currentWidget() is page
    page.back.click()
    assert window.tabs.stack.currentWidget().isAncestorOf(window.design.canvas)
    assert len(window.editor.network) == 1


def test_no_way_back_where_nothing_is_open(window: MainWindow, page: StartPage) -> None:
    assert not page.back.isVisible()
    window.open_path(DIGITS)
    window.show_start()
    assert page.back.isVisible()
    assert page.back.text() == "Back to digits"


def test_a_broken_file_says_why_on_its_card_and_when_opened(
    qtbot, window: MainWindow, page: StartPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = keep(window, tmp_path, "net")
    path.write_text('{"netwright": [1, 0')
    window.show_start()
    broken = card(page, "recent", "net")
    qtbot.waitUntil(lambda: broken.size_text == "Cannot be opened")
    assert "not a project file" in broken.accessibleDescription()
    said: list[str] = []
    monkeypatch.setattr(messages, "show_error", lambda parent, title, text: said.append(text))
    click(broken)
    assert len(said) == 1
    assert window.tabs.stack.currentWidget() is page


# ---- searching ----


def test_the_search_filters_cards_and_headings(page: StartPage) -> None:
    page.search.setText("pixels residual digits")
    assert shown(page, "examples") == ["digits"]
    assert shown(page, "recent") == []
    assert not page._headings["recent"].isVisible()
    page.search.setText("no such thing")
    assert not page.grids["examples"].isVisible()
    assert page.nothing_found.isVisible()
    page.clear.click()
    assert shown(page, "examples") == EXAMPLE_NAMES
    assert not page.nothing_found.isVisible()
    assert page.search.hasFocus()


def test_enter_opens_the_first_that_is_found(window: MainWindow, page: StartPage) -> None:
    QTest.keyClick(page.search, Key.Key_Return)
    assert window.tabs.stack.currentWidget() is page, "nothing was typed"
    QTest.keyClicks(page.search, "heating")
    QTest.keyClick(page.search, Key.Key_Return)
    assert window.documents.title == "heating"


def test_escape_clears_the_search_then_leaves(window: MainWindow, page: StartPage) -> None:
    page.search.setText("x")
    QTest.keyClick(page.search, Key.Key_Escape)
    assert page.search.text() == ""
    QTest.keyClick(page.search, Key.Key_Escape)
    assert window.tabs.stack.currentWidget().isAncestorOf(window.design.canvas)


# ---- by keyboard ----


def test_arrows_go_from_card_to_card(qtbot, window: MainWindow, page: StartPage, tmp_path: Path) -> None:
    for name in ("two", "one"):
        keep(window, tmp_path, name)
    window.show_start()
    QTest.keyClick(page.search, Key.Key_Down)
    one, two = page.grids["recent"].cards
    assert one.hasFocus()
    for key, wanted in (
        (Key.Key_Left, one),
        (Key.Key_Right, two),
        (Key.Key_Down, page.grids["examples"].cards[1]),
        (Key.Key_Left, card(page, "examples", "digits")),
        (Key.Key_Up, one),
    ):
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, key)
        assert wanted.hasFocus()
    QTest.keyClick(one, Key.Key_Up)
    assert page.search.hasFocus()


def test_enter_and_space_open_a_card(window: MainWindow, page: StartPage) -> None:
    for key, name in ((Key.Key_Return, "waves"), (Key.Key_Space, "digits")):
        window.show_start()
        chosen = card(page, "examples", name)
        chosen.setFocus()
        QTest.keyClick(chosen, key)
        assert window.documents.title == name


def test_the_focused_card_is_in_sight(qtbot, window: MainWindow, page: StartPage) -> None:
    window.resize(700, 420)
    qtbot.waitUntil(lambda: page.area.verticalScrollBar().maximum() > 0)
    last = page.grids["examples"].cards[-1]
    last.setFocus(Qt.FocusReason.TabFocusReason)
    top = last.mapTo(page.area.viewport(), QPoint(0, 0)).y()
    assert top >= 0
    assert top + last.height() <= page.area.viewport().height()


def test_the_page_is_reached_by_menu_and_shortcut(qtbot, window: MainWindow) -> None:
    for id in ("file.new", "view.start"):
        window.show_tab("design")
        window.menus.actions_by_id[id].trigger()
        assert window.tabs.stack.currentWidget() is window.start_page
    window.show_tab("design")
    window.design.canvas.setFocus()
    qtbot.keyClick(window, Key.Key_Home, Qt.KeyboardModifier.AltModifier)
    assert window.tabs.stack.currentWidget() is window.start_page


# ---- recent files ----


def test_a_recent_file_that_is_gone_stays_until_it_is_taken_away(
    qtbot, window: MainWindow, page: StartPage, tmp_path: Path
) -> None:
    path = keep(window, tmp_path, "net")
    path.unlink()
    window.show_start()
    gone = card(page, "recent", "net")
    qtbot.waitUntil(lambda: gone.size_text == "No longer exists")
    assert "No longer exists" in gone.accessibleName()
    assert "Del" in gone.toolTip()
    click(gone)
    assert window.tabs.stack.currentWidget() is page
    click(gone, gone._cross().center())
    assert shown(page, "recent") == []
    assert window.documents.known() == []
    assert page.nothing_recent.isVisible()


def test_del_takes_a_recent_project_from_the_list_and_leaves_the_file(
    window: MainWindow, page: StartPage, tmp_path: Path
) -> None:
    paths = [keep(window, tmp_path, name) for name in ("three", "two", "one")]
    window.show_start()
    two = card(page, "recent", "two")
    two.setFocus()
    QTest.keyClick(two, Key.Key_Delete)
    assert shown(page, "recent") == ["one", "three"]
    assert card(page, "recent", "three").hasFocus()
    assert all(path.is_file() for path in paths)
    example = card(page, "examples", "digits")
    QTest.keyClick(example, Key.Key_Delete)
    assert "digits" in shown(page, "examples")


def test_the_menu_of_a_recent_project(window: MainWindow, page: StartPage, tmp_path: Path) -> None:
    path = keep(window, tmp_path, "net")
    window.show_start()
    net = card(page, "recent", "net")
    middle = net.rect().center()
    for which, wanted in ((1, []), (0, [path])):
        if which == 0:
            window.open_path(path)
            window.files.new()
            window.show_start()
            net = card(page, "recent", "net")
        QApplication.sendEvent(net, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, middle, net.mapToGlobal(middle)))
        menu = net.findChild(QMenu)
        assert isinstance(menu, QMenu)
        menu.actions()[which].trigger()
        menu.close()
        assert window.documents.known() == wanted
    assert window.documents.path == path


def test_what_was_saved_meanwhile_is_drawn_anew(qtbot, window: MainWindow, page: StartPage, tmp_path: Path) -> None:
    path = keep(window, tmp_path, "net")
    window.show_start()
    net = card(page, "recent", "net")
    qtbot.waitUntil(lambda: net.size_text.startswith("15 layers"))
    window.open_path(path)
    window.editor.add_layer("relu")
    window.files.save()
    window.show_start()
    qtbot.waitUntil(lambda: card(page, "recent", "net").size_text == "16 layers · unfinished")


# ---- room ----


def test_long_names_are_elided_and_whole_in_the_tooltip(window: MainWindow, page: StartPage, tmp_path: Path) -> None:
    name = "a_network_with_a_very_long_name_" * 5
    keep(window, tmp_path, name)
    window.show_start()
    long = card(page, "recent", name)
    assert name in long.toolTip()
    assert str(tmp_path) in long.toolTip()
    assert long.width() < 400


def test_text_is_wrapped_and_elided_in_its_lines(page: StartPage) -> None:
    font, right = page.font(), Qt.TextElideMode.ElideRight
    lines = wrapped("some words that take more than one line " * 5, font, 160, 2, right)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert wrapped("short", font, 160, 2, right) == ["short"]
    assert wrapped("", font, 160, 2, right) == [""]


def test_cards_share_the_width(qtbot) -> None:
    grid = CardGrid("Examples")
    qtbot.addWidget(grid)
    grid.show_entries(gallery.examples()[:5])
    with qtbot.waitExposed(grid):
        grid.show()
    for width, rows in ((220, 5), (500, 3), (700, 2), (1400, 1)):
        grid.resize(width, grid.heightForWidth(width))
        assert len({card.y() for card in grid.cards}) == rows
        assert all(card.geometry().right() < width for card in grid.cards)
        assert max(card.geometry().bottom() for card in grid.cards) == grid.height() - 1


def test_a_narrow_window_scrolls_down_only(qtbot, window: MainWindow, page: StartPage) -> None:
    window.resize(window.minimumSizeHint().width(), 640)
    qtbot.waitUntil(lambda: page.area.verticalScrollBar().maximum() > 0)
    assert page.area.horizontalScrollBar().maximum() == 0
    edge = page.browse.mapTo(page, QPoint(page.browse.width(), 0)).x()
    assert edge <= page.width()
    grid = page.grids["examples"]
    qtbot.waitUntil(lambda: grid.mapTo(page, QPoint(grid.width(), 0)).x() == edge)


# ---- the command line ----


def test_a_template_can_be_named_on_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery, "TEMPLATES", tmp_path)
    (tmp_path / "mlp.netwright").write_text("{}")
    assert program._arguments(["--template", "mlp"]).project == tmp_path / "mlp.netwright"
    for wrong, said in ((["--template", "mpl"], "Did you mean"), (["--template", "mlp", "x"], "not both")):
        with pytest.raises(SystemExit) as left:
            program._arguments(wrong)
        assert left.value.code == 2
        assert said in capsys.readouterr().err


def test_shipped_folders_are_beside_each_other() -> None:
    assert EXAMPLES.is_dir()
    assert TEMPLATES.parent == EXAMPLES.parent
