"""Problems and layers below the canvas."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QPushButton

from netwright.app.documents import EXAMPLES
from netwright.app.frame import bottom_panel
from netwright.app.window import MainWindow
from tests.app.fake_server import FakeServer
from tests.app.main_windows import run
from tests.builders import chain, layer

DIGITS = EXAMPLES / "digits.netwright"


def test_a_problem_leads_to_its_layer(window: MainWindow) -> None:
    window.open_path(DIGITS)
    id = window.editor.network.layer("conv_2").id
    window.design.problems.go_to.emit(id)
    assert window.editor.selection == {id}


def test_counts_stand_in_the_tabs_and_the_status_bar(window: MainWindow) -> None:
    window.open_path(DIGITS)
    assert window.design.bottom.tabText(0) == "Problems"
    assert "12,650 parameters" in window.status.summary.text()
    connection = next(iter(window.editor.network.connections))
    window.editor.disconnect_all([connection])
    assert window.design.bottom.tabText(0) == f"Problems {len(window.editor.problems)}"
    assert window.status.errors.text() == "1 error"
    window.show_tab("data")
    window.design.bottom.setCurrentIndex(1)
    window.status.errors.click()
    assert window.design.bottom.currentIndex() == 0
    window.editor.undo()
    assert window.status.errors.isHidden()


def test_the_panel_is_one_line_high_until_it_is_opened_and_shows_the_first_problem(window: MainWindow, qtbot) -> None:
    window.open_path(DIGITS)
    window.show()
    bottom = window.design.bottom
    one_line = bottom.tabBar().sizeHint().height()
    qtbot.waitUntil(lambda: bottom.height() == one_line)
    assert bottom.summary.text() == "No problems"
    assert not bottom.cure.isVisible()
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    first = window.editor.problems[0]
    assert bottom.is_folded, "an edit moves nothing"
    assert first.message in bottom.summary.text()
    window.status.errors.click()  # which asks for the list
    assert not bottom.is_folded
    qtbot.waitUntil(lambda: bottom.height() > 2 * one_line)
    assert window.design.problems.view.isVisible()
    window.editor.undo()
    assert not bottom.is_folded, "it was opened by hand"
    bottom.fold_button.click()
    assert bottom.is_folded
    qtbot.mouseClick(bottom.tabBar(), Qt.MouseButton.LeftButton, pos=bottom.tabBar().tabRect(1).center())
    assert (bottom.currentIndex(), bottom.is_folded) == (1, False)


def test_a_new_problem_is_announced_to_screen_readers(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    monkeypatch.setattr(bottom_panel, "announce", lambda _, text: texts.append(text))
    window.open_path(DIGITS)
    assert texts == []
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    assert texts == [f"{window.design.bottom.summary.text()} 1 more new problem."]
    window.editor.rename(window.editor.problems[0].layer, "renamed")
    assert len(texts) == 1, "that is no new problem"
    (*_, last) = window.editor.network.connections
    window.editor.disconnect_all([last])
    name = window.editor.network.layers[last.target.layer].name
    assert texts[1].startswith(f"{name}: "), "the new one is said, not the first"
    window.editor.undo()
    assert len(texts) == 2, "a cure is no news"


def test_a_long_cure_does_not_widen_the_window(window: MainWindow, qtbot) -> None:
    window.open_path(DIGITS)
    window.show()
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    bottom = window.design.bottom
    bottom.cure.setText("Connect the input of every layer")
    bottom.resize(900, bottom.height())
    assert not bottom.cure.isHidden()
    assert bottom.minimumSizeHint().width() < bottom.tabBar().sizeHint().width() + bottom.cure.sizeHint().width()
    bottom.resize(bottom.tabBar().sizeHint().width() + 100, bottom.height())
    assert bottom.cure.isHidden(), "it stands in the list"


def test_the_first_problem_is_cured_beside_the_headings(window: MainWindow) -> None:
    window.editor.edit_network("Make", lambda _: chain(layer("image_input"), layer("softmax"), layer("softmax")))
    bottom, problem = window.design.bottom, window.editor.problems[0]
    assert problem.fix is not None
    assert bottom.cure.text() == problem.fix.label
    bottom.cure.click()
    assert problem not in window.editor.problems


@pytest.mark.parametrize("size", [(1440, 900), (1281, 721)])
def test_panels_leave_zoom_and_centre_of_the_canvas_alone(window: MainWindow, size: tuple[int, int], qtbot) -> None:
    window.open_path(DIGITS)
    window.resize(*size)
    view, bottom = window.design.canvas, window.design.bottom
    qtbot.waitUntil(lambda: bottom.height() == bottom.tabBar().sizeHint().height())

    def distance(before: tuple[float, QPointF]) -> float:
        assert view.zoom == before[0]
        return (view.middle_of(view.viewport().size()) - before[1]).manhattanLength() * view.zoom

    for is_fitted in (True, False):
        if not is_fitted:
            view.zoom_in()
        before = view.zoom, view.middle_of(view.viewport().size())
        height, width = view.height(), view.width()
        for _ in range(3):
            bottom.unfold()
            qtbot.waitUntil(lambda height=height: view.height() < height - 40)
            assert distance(before) < 3, "rounded to pixels"
            window.design.docks[1].hide()
            qtbot.waitUntil(lambda width=width: view.width() > width + 40)
            assert distance(before) < 3, "rounded to pixels"
            window.design.docks[1].show()
            bottom.fold_button.click()
            qtbot.waitUntil(lambda height=height, width=width: (view.height(), view.width()) == (height, width))
        assert distance(before) < 3, "rounded to pixels"
    view.fit()
    window.resize(size[0] - 300, size[1] - 200)
    box = view.network_scene.content_box()
    qtbot.waitUntil(lambda: view.visible_area().contains(box), timeout=10_000)


def test_pasting_a_layer_without_connections_moves_nothing(window: MainWindow, qtbot) -> None:
    window.open_path(DIGITS)
    view = window.design.canvas
    view.zoom_in()
    window.editor.set_selection({window.editor.network.layer("relu_2").id})
    window.editor.copy()
    before = view.zoom, view.visible_area()
    window.editor.paste()
    assert window.editor.problems
    assert (view.zoom, view.visible_area()) == before


def test_one_layer_is_no_plural_and_the_chosen_tab_is_read_whole(window: MainWindow) -> None:
    window.editor.add_layer("image_input")
    assert window.status.summary.text().startswith("1 layer ")
    for button in window.bar.findChildren(QPushButton):
        if button.isCheckable():
            button.setChecked(True)
            assert button.width() - button.fontMetrics().horizontalAdvance(button.text()) >= 22  # padding, border


def test_the_table_of_layers_is_made_when_its_page_is_seen(qtbot, server: FakeServer) -> None:
    window = MainWindow("light", server=server)
    qtbot.addWidget(window)
    window.open_path(DIGITS)
    assert "table" not in vars(window.design)  # the first picture does not show it
    window.show()
    window.design.bottom.setCurrentIndex(1)
    qtbot.waitUntil(lambda: window.design.table.model.rowCount() == len(window.editor.network), timeout=60_000)
    assert window.design.bottom.currentWidget().isAncestorOf(window.design.table)
    window._is_leaving = True
    window.close()
    window.shutdown()


def test_a_click_in_the_history_goes_back_and_forward_and_keeps_the_zoom(window: MainWindow, qtbot) -> None:
    window.open_path(DIGITS)
    editor, view, bottom = window.editor, window.design.canvas, window.design.bottom
    history, projects = bottom.history, [editor.project]
    for name in ("conv_1", "relu_2", "bn_1"):
        editor.set_selection({editor.network.layer(name).id})
        editor.delete_selection()
        projects.append(editor.project)
    view.zoom_in()
    run(window, "view.history")
    qtbot.waitUntil(lambda: history.isVisible() and bottom.height() > 100)
    zoom = view.zoom

    def click(row: int) -> None:
        place = history.visualRect(history.model().index(row, 0)).center()
        qtbot.mouseClick(history.viewport(), Qt.MouseButton.LeftButton, pos=place)

    for row in (1, 3, 0, 2):
        click(row)
        assert editor.project == projects[row]
        assert history.currentIndex().row() == row
        assert view.zoom == zoom, "the canvas was fitted"
    assert [history.model().index(row, 0).data() for row in (0, 1)] == ["As it was opened", "Delete conv_1"]
    assert window.menus.actions_by_id["edit.redo"].isEnabled()
    run(window, "edit.undo")
    assert history.currentIndex().row() == 1
