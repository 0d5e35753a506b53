import pytest
from PySide6.QtCore import Qt

from netwright.designer.editor import Editor
from netwright.designer.panels.properties import Properties
from netwright.designer.panels.property_sections import PortName
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from tests.builders import classifier


@pytest.fixture
def panel(qtbot) -> Properties:
    """The properties of a block of fc_1 and relu_1."""
    network = classifier()
    editor = Editor(Project(network, arrange(network)))
    editor.set_selection({network.layer("fc_1").id, network.layer("relu_1").id})
    editor.group()
    panel = Properties(editor)
    qtbot.addWidget(panel)
    panel.resize(316, 700)
    with qtbot.waitActive(panel):
        panel.show()
        panel.activateWindow()
    return panel


def lines(panel: Properties) -> list[tuple[str, PortName]]:
    return [(label.text(), line) for label, line in panel.ports.rows if line.isVisible()]


def names(panel: Properties) -> list[tuple[str, str]]:
    return [(what, line.text()) for what, line in lines(panel)]


def write(qtbot, line: PortName, text: str) -> None:
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, text)


def test_a_port_is_renamed_and_its_connections_stay(qtbot, panel: Properties) -> None:
    editor = panel._editor
    before = editor.project
    assert [what for what, _ in lines(panel)] == ["Input", "Output"]
    _, line = lines(panel)[0]
    write(qtbot, line, "image")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert names(panel)[0] == ("Input", "image")
    (id,) = editor.selection
    assert editor.network.layers[id].type.input_ports() == ("image",)
    assert set(editor.network.incoming[id]) == {"image"}
    assert line.accessibleName() == "Input image of the block"
    after = editor.project
    editor.undo()
    assert editor.project == before
    assert names(panel)[0] != ("Input", "image")
    editor.redo()
    assert editor.project == after


def test_a_name_that_cannot_be_is_refused_in_words(qtbot, panel: Properties) -> None:
    editor = panel._editor
    before, old = editor.project, names(panel)
    _, line = lines(panel)[0]
    write(qtbot, line, "relu_1")
    assert line.property("invalid") == "true"
    assert panel.ports.why.text()
    qtbot.keyClick(line, Qt.Key.Key_Escape)
    assert names(panel) == old
    write(qtbot, line, "two words")
    lines(panel)[1][1].setFocus()
    assert names(panel) == old
    assert editor.project == before
    assert not panel.ports.why.isVisible()


def test_a_button_opens_the_block_and_other_layers_have_none(qtbot, panel: Properties) -> None:
    editor = panel._editor
    (id,) = editor.selection
    assert panel.ports.open.isVisible()
    editor.set_selection({editor.network.layer("fc_2").id})
    assert not panel.ports.isVisible()
    editor.select_all()
    assert not panel.ports.isVisible()
    editor.set_selection({id})
    qtbot.mouseClick(panel.ports.open, Qt.MouseButton.LeftButton)
    assert editor.scope == (id,)
