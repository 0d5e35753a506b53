import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QPainter

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.panels.problems_panel import ProblemsPanel, draw_severity, unbroken, where
from netwright.engine.core.types import image
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from tests.builders import add, classifier, layer

FACTS = DatasetInfo((InputInfo("image", image(1, 6, 6)),), {"training": 100}, classes_of(*"abcde"))


@pytest.fixture
def editor() -> Editor:
    editor = Editor(Project(network=classifier(3), training=TrainingOptions(mini_batch_size=64)))
    editor.set_dataset_info(FACTS)
    return editor


@pytest.fixture
def panel(qtbot, editor: Editor) -> ProblemsPanel:
    panel = ProblemsPanel(editor)
    qtbot.addWidget(panel)
    panel.resize(900, 160)
    with qtbot.waitActive(panel):
        panel.show()
        panel.activateWindow()
    return panel


def row_at(panel: ProblemsPanel, row: int) -> QPoint:
    return panel.view.visualRect(panel.model.index(row, 0)).center()


def link_at(panel: ProblemsPanel, row: int) -> QPoint:
    rect = panel.view.visualRect(panel.model.index(row, 0))
    return QPoint(rect.right() - 40, rect.top() + 16)


def test_a_click_selects_the_layer_and_asks_for_it(qtbot, editor: Editor, panel: ProblemsPanel) -> None:
    (problem,) = panel.model.problems
    assert panel.title == "Problems 1"
    with qtbot.waitSignal(panel.go_to) as caught:
        qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=row_at(panel, 0))
    assert caught.args == [problem.layer]
    assert editor.selection == {problem.layer}
    assert editor.stack.count() == 0


def test_enter_goes_there_too(qtbot, editor: Editor, panel: ProblemsPanel) -> None:
    panel.view.setFocus()
    panel.view.setCurrentIndex(panel.model.index(0, 0))
    with qtbot.waitSignal(panel.go_to):
        qtbot.keyClick(panel.view, Qt.Key.Key_Return)


def test_the_link_repairs_as_one_undo_step(qtbot, editor: Editor, panel: ProblemsPanel) -> None:
    with qtbot.assertNotEmitted(panel.go_to):
        qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=link_at(panel, 0))
    assert editor.network.layer("fc_2").type.short_value() == "5 outputs"
    assert editor.stack.count() == 1
    assert panel.model.problems == ()
    assert panel.empty.isVisible()
    assert panel.empty.text() == "No problems"
    assert panel.title == "Problems"
    editor.undo()
    assert panel.view.isVisible()


def test_alt_enter_repairs(qtbot, editor: Editor, panel: ProblemsPanel) -> None:
    panel.view.setCurrentIndex(panel.model.index(0, 0))
    qtbot.keyClick(panel.view, Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    assert editor.stack.count() == 1


def test_a_fix_works_on_the_project_as_it_is_when_it_is_applied(qtbot, editor: Editor, panel: ProblemsPanel) -> None:
    editor.set_fields([editor.network.layer("fc_1").id], {"outputs": 20})
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=link_at(panel, 0))
    assert editor.network.layer("fc_1").type.short_value() == "20 outputs"
    assert editor.network.layer("fc_2").type.short_value() == "5 outputs"


def test_a_problem_of_no_layer_says_what_it_is_about(qtbot, editor: Editor, panel: ProblemsPanel) -> None:
    editor.open(Project(network=Network.empty()))
    (problem, *_) = panel.model.problems
    assert where(problem) == "Network"
    assert where(Problem("error", "", "", "training.mini_batch_size", "")) == "Mini-batch size"
    assert where(Problem("error", "", "", "training", "")) == "Training options"
    with qtbot.assertNotEmitted(panel.go_to):
        qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=row_at(panel, 0))


def test_long_messages_wrap(panel: ProblemsPanel, qtbot) -> None:
    def height() -> int:
        return panel.view.visualRect(panel.model.index(0, 0)).height()

    wide = height()
    panel.resize(300, 160)
    qtbot.waitUntil(lambda: height() > wide)


def test_rows_are_said_in_words(panel: ProblemsPanel) -> None:
    text = panel.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert text.startswith("Error: fc_2: ")
    assert "Alt+Enter" in panel.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_the_tooltip_of_a_fix_names_all_that_it_removes(editor: Editor, panel: ProblemsPanel) -> None:
    network = editor.network
    for _ in range(4):
        network, _ = add(network, layer("relu"), *list(network.layers.values())[-1:])
    for key in ("tanh", "relu"):
        network, _ = add(network, layer(key), network.layer("fc_1"))
    editor.apply_here("Branch", network)
    tips = [panel.model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in range(panel.model.rowCount())]
    assert any(tip.endswith("\nRemoves tanh_1 and relu_6.") for tip in tips)


def test_severities_differ_in_shape_not_only_in_colour() -> None:
    def shape(severity: str) -> QImage:
        picture = QImage(24, 24, QImage.Format.Format_ARGB32_Premultiplied)
        picture.fill(0)
        painter = QPainter(picture)
        draw_severity(painter, severity, picture.rect().adjusted(4, 4, -4, -4).toRectF())
        painter.end()
        return picture.createAlphaMask()

    shapes = [shape(severity) for severity in ("error", "warning", "note")]
    assert all(a != b for i, a in enumerate(shapes) for b in shapes[i + 1 :])


def test_the_list_is_painted_in_both_schemes(qapp, panel: ProblemsPanel) -> None:
    for scheme in ("dark", "light"):
        theme.apply(qapp, scheme)
        picture = panel.view.grab().toImage()
        palette = theme.current()
        colours = {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}
        assert {palette.error.rgb(), palette.panel.rgb()} <= colours


def test_a_size_is_not_broken_over_two_lines() -> None:
    assert unbroken("Expected 1 × 8 × 8 here.") == "Expected 1\u00a0×\u00a08\u00a0×\u00a08 here."
