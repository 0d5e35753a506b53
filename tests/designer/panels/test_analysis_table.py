from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from netwright.designer import layer_edits
from netwright.designer.editor import Editor
from netwright.designer.panels.analysis_table import TIME, AnalysisTable, as_csv, lines_of, widths_in
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Connection, Network, Port
from netwright.engine.project.project import Project
from tests.builders import chain, classifier, layer


@pytest.fixture
def editor() -> Editor:
    return Editor(Project(network=classifier(3)))


@pytest.fixture
def table(qtbot, editor: Editor) -> AnalysisTable:
    table = AnalysisTable(editor)
    qtbot.addWidget(table)
    table.resize(900, 300)
    with qtbot.waitActive(table):
        table.show()
        table.activateWindow()
    return table


def names(table: AnalysisTable) -> list[str]:
    return [table.model.index(row, 0).data() for row in range(table.model.rowCount())]


def row(table: AnalysisTable, at: int) -> list[str]:
    return [table.model.index(at, column).data() for column in range(6)]


def selected(table: AnalysisTable) -> set[int]:
    return {index.row() for index in table.view.selectionModel().selectedRows()}


def click(qtbot, table: AnalysisTable, at: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    place = table.view.visualRect(table.model.index(at, 0)).center()
    qtbot.mouseClick(table.view.viewport(), Qt.MouseButton.LeftButton, keys, place)


def click_header(qtbot, table: AnalysisTable, column: int) -> None:
    header = table.view.horizontalHeader()
    at = header.rect().center()
    at.setX(header.sectionViewportPosition(column) + header.sectionSize(column) // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_layers_stand_in_the_order_of_the_data_with_grouped_numbers(table: AnalysisTable) -> None:
    assert names(table) == ["image_1", "fc_1", "relu_1", "fc_2", "softmax_1"]
    assert row(table, 1) == ["fc_1", "Fully connected", "8", "296", "576", "4.0 KiB"]
    assert table.model.totals()[:6] == ("5 layers", "", "", "323", "624", "29 KiB")
    assert table.model.index(1, 3).data(Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight


def test_large_numbers_are_grouped_on_screen_and_plain_in_csv() -> None:
    editor = Editor(Project(network=chain(layer("feature_input", channels=1000), layer("fully_connected", outputs=50))))
    lines = lines_of(editor.network, editor.analysis, 10)
    assert lines[1].text(3) == "50,050"
    assert lines[0].text(2) == "1,000"
    assert as_csv(lines, 10).splitlines() == [
        "Layer,Type,Output,Parameters,FLOPs per sample,Activation bytes at batch 10",
        f"{lines[0].name},Feature input,1000,0,0,40000",
        "fc_1,Fully connected,50,50050,100000,2000",
    ]


def test_a_header_sorts_down_up_and_back_to_the_order_of_the_network(qtbot, table: AnalysisTable) -> None:
    order = names(table)
    click_header(qtbot, table, 3)
    assert names(table)[-1] == "fc_1"
    click_header(qtbot, table, 3)
    assert names(table)[0] == "fc_1"
    click_header(qtbot, table, 3)
    assert names(table) == order


def test_the_selection_is_the_editors_both_ways(qtbot, editor: Editor, table: AnalysisTable) -> None:
    click(qtbot, table, 1)
    assert editor.selection == {editor.network.layer("fc_1").id}
    click(qtbot, table, 3, Qt.KeyboardModifier.ControlModifier)
    assert editor.selection == {editor.network.layer(name).id for name in ("fc_1", "fc_2")}
    editor.set_selection({editor.network.layer("relu_1").id})
    assert selected(table) == {2}
    click_header(qtbot, table, 0)
    assert [names(table)[at] for at in selected(table)] == ["relu_1"]
    assert editor.selection == {editor.network.layer("relu_1").id}
    editor.set_selection(())
    assert selected(table) == set()


def test_an_edit_keeps_the_selection_and_shows_new_numbers(editor: Editor, table: AnalysisTable) -> None:
    id = editor.network.layer("fc_1").id
    editor.set_selection({id})
    editor.set_fields([id], {"outputs": 16})
    assert row(table, 1)[2] == "16"
    assert selected(table) == {1}
    editor.delete_selection()
    assert names(table) == ["image_1", "relu_1", "fc_2", "softmax_1"]
    assert editor.selection == frozenset()


def test_what_is_not_known_is_left_empty_and_says_why(editor: Editor, table: AnalysisTable) -> None:
    network = edits.disconnect(editor.network, editor.network.outgoing[editor.network.layer("fc_1").id])
    editor.edit_network("Cut", lambda _: network)
    at = names(table).index("fc_2")
    assert row(table, at)[2:] == ["", "", "", ""]
    assert "Not known" in table.model.index(at, 3).data(Qt.ItemDataRole.ToolTipRole)


def test_layers_of_a_cycle_are_listed_too(editor: Editor) -> None:
    network = editor.network
    fc_1, fc_2 = network.layer("fc_1"), network.layer("fc_2")
    kept = [connection for connection in network.connections if connection.target.layer != fc_1.id]
    looped = Network(network.layers, (*kept, Connection(Port(fc_2.id, "out"), Port(fc_1.id, "in"))))
    assert fc_1.id in looped.cyclic
    assert lines_of(looped, analyse(looped), 1)[0].name == "image_1"
    assert {line.name for line in lines_of(looped, analyse(looped), 1)} == set(network.by_name)


def test_ctrl_c_copies_the_selected_rows_as_csv(qtbot, table: AnalysisTable) -> None:
    click(qtbot, table, 1)
    qtbot.keyClick(table.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == (
        "Layer,Type,Output,Parameters,FLOPs per sample,Activation bytes at batch 128\n"
        "fc_1,Fully connected,8,296,576,4096\n"
    )
    table.view.clearSelection()
    table.view.copy()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 6


def test_a_hidden_table_catches_up_when_it_is_seen(editor: Editor, table: AnalysisTable) -> None:
    table.hide()
    editor.set_selection({editor.network.layer("softmax_1").id})
    editor.delete_selection()
    editor.set_selection({editor.network.layer("fc_2").id})
    table.show()
    assert names(table) == ["image_1", "fc_1", "relu_1", "fc_2"]
    assert selected(table) == {3}


def test_the_batch_stands_in_the_header_and_follows_the_option(editor: Editor, table: AnalysisTable) -> None:
    header = [table.model.headerData(5, Qt.Orientation.Horizontal)]
    training = editor.project.training.replace(mini_batch_size=32)
    editor.apply("Smaller batches", editor.project.with_section("training", training))
    header.append(table.model.headerData(5, Qt.Orientation.Horizontal))
    assert header == ["Activations, batch 128", "Activations, batch 32"]
    assert row(table, 1)[5] == "1.0 KiB"


def test_the_whole_table_is_exported_in_the_order_of_the_network(
    qtbot, editor: Editor, table: AnalysisTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    click_header(qtbot, table, 3)
    click(qtbot, table, 0)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "mine"), ""))
    table.export()
    lines = (tmp_path / "mine.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["Layer", *names_in_order(editor)]


def names_in_order(editor: Editor) -> list[str]:
    return [editor.network.layers[id].name for id in editor.network.order]


def test_a_file_that_cannot_be_written_says_why(qtbot, editor: Editor, table: AnalysisTable, tmp_path: Path) -> None:
    with qtbot.waitSignal(editor.refused) as said:
        table.write(tmp_path / "none" / "layers.csv")
    assert "cannot be written" in said.args[0]


def test_no_file_chosen_writes_nothing(table: AnalysisTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    monkeypatch.setattr(table, "write", lambda path: pytest.fail(f"wrote {path}"))
    table.export()


def test_a_bypassed_layer_is_named_as_one_and_has_no_parameters(editor: Editor, table: AnalysisTable) -> None:
    fc = editor.network.layer("fc_1")
    editor.set_selection({fc.id})
    editor.edit_selection(layer_edits.toggle_bypass)
    (line,) = [line for line in lines_of(editor.network, editor.analysis, 1) if line.name == "fc_1"]
    assert line.type == "Fully connected (bypassed)"
    assert line.parameters == 0


def test_a_narrow_table_reads_whole_and_a_wide_one_gives_the_rest_to_names_and_types() -> None:
    assert widths_in(300) == widths_in(684) == [92, 148, 96, 86, 112, 150]
    assert sum(widths_in(800)) == 800
    assert widths_in(1200) == [242, 426, 148, 104, 124, 156]


def test_a_column_that_was_drawn_keeps_its_width(table) -> None:
    header = table.view.horizontalHeader()
    table.resize(900, 200)
    assert header.length() == table.view.viewport().width()
    header.resizeSection(0, 222)
    table.resize(1000, 200)
    assert header.sectionSize(0) == 222


def test_measured_times_are_a_column_of_their_own(qtbot, table: AnalysisTable, editor: Editor) -> None:
    assert table.view.isColumnHidden(TIME)
    ids = {found.name: id for id, found in editor.network.layers.items()}
    table.show_times({ids["fc_1"]: 2_000_000, ids["fc_2"]: 500_000})
    assert not table.view.isColumnHidden(TIME)
    assert [table.model.index(at, TIME).data() for at in range(5)] == ["", "2.00 ms", "", "500 µs", ""]
    assert table.model.totals()[TIME] == "2.50 ms"
    click_header(qtbot, table, TIME)
    assert names(table)[-2:] == ["fc_2", "fc_1"]
    table.show_times({})
    assert table.view.isColumnHidden(TIME)
