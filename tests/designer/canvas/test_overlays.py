"""The names of the open blocks, each a button that leads back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from netwright.designer.canvas.overlays import Breadcrumbs
from netwright.designer.editor import Editor
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from tests.blocks import IMAGE, behind, conv, residual, row
from tests.builders import layer


@pytest.fixture
def editor(qapp) -> Editor:
    """image_1 - stage (a block with a residual block in it) - tail."""
    network = behind(IMAGE, row(residual(), layer("relu")), conv(2), names=("stage", "tail"))
    return Editor(Project(network, arrange(network)))


@pytest.mark.parametrize(("depth", "scope", "selected"), [(0, (), "id2"), (1, ("id2",), "id2")])
def test_going_back_leaves_the_block_selected(editor, qtbot, depth, scope, selected):
    around = QWidget()
    qtbot.addWidget(around)
    trail = Breadcrumbs(editor, around)
    editor.open_scope(("id2", "id2"))
    button = [one for one in trail.findChildren(QToolButton) if not one.isHidden()][depth]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert editor.scope == scope
    assert editor.selection == {selected}
