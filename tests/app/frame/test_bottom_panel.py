"""Problems and layers below the canvas."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from netwright.app.documents import EXAMPLES
from netwright.app.frame.bottom_panel import SETTLE_MS
from netwright.app.window import MainWindow
from tests.app.fake_server import FakeServer

DIGITS = EXAMPLES / "digits.netwright"


def test_a_problem_leads_to_its_layer(window: MainWindow) -> None:
    window.open_path(DIGITS)
    layer = window.editor.network.layer("conv_2")
    window.design.problems.go_to.emit(layer.id)
    assert window.editor.selection == {layer.id}


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


def test_the_panel_of_problems_is_one_line_high_while_there_are_none(window: MainWindow, qtbot) -> None:
    window.open_path(DIGITS)
    window.show()
    bottom = window.design.bottom
    one_line = bottom.tabBar().sizeHint().height()
    qtbot.waitUntil(lambda: bottom.height() == one_line)
    assert bottom.summary.text() == "No problems"
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    qtbot.waitUntil(lambda: not bottom.is_folded)
    qtbot.waitUntil(lambda: bottom.height() > 2 * one_line)
    assert window.design.problems.view.isVisible()
    canvas = window.design.canvas.height()
    window.editor.undo()
    qtbot.waitUntil(lambda: bottom.is_folded)
    qtbot.waitUntil(lambda: window.design.canvas.height() > canvas + one_line)


def test_a_panel_of_problems_that_the_user_folds_stays_folded_and_shows_the_first(window: MainWindow, qtbot) -> None:
    window.open_path(DIGITS)
    window.show()
    bottom = window.design.bottom
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    qtbot.waitUntil(lambda: not bottom.is_folded)
    bottom.fold_button.click()
    first = window.editor.problems[0]
    assert bottom.is_folded
    assert first.message in bottom.summary.text()
    window.editor.disconnect_all([next(iter(window.editor.network.connections))])
    window.status.errors.click()  # which asks for the list
    assert not bottom.is_folded
    bottom.fold_button.click()
    window.editor.undo()
    qtbot.wait(2 * SETTLE_MS)  # nothing else tells that nothing happens
    assert bottom.is_folded
    qtbot.mouseClick(bottom.tabBar(), Qt.MouseButton.LeftButton, pos=bottom.tabBar().tabRect(1).center())
    assert (bottom.currentIndex(), bottom.is_folded) == (1, False)


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
