from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from netwright.app.dialogs import compare_projects as module
from netwright.app.dialogs.compare_projects import CompareDialog
from netwright.app.window import MainWindow
from netwright.designer.canvas.overlays import Breadcrumbs
from netwright.engine.network import edits
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.blocks import network_in, with_network_in
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from tests.blocks import IMAGE, behind, conv, residual, row
from tests.builders import classifier, layer


def projects() -> tuple[Project, Project]:
    """A layer wider, one gone, one new, an option changed."""
    network = classifier()
    before = Project(network, arrange(network))
    network = edits.set_fields(network, "id2", {"outputs": 12})
    network = edits.remove_layers(network, ["id3"])
    network, new = edits.add_layer(network, layer("dropout"), "late", id="new")
    layout = before.layout.moved({new.id: (400.0, 100.0)})
    training = before.training.replace(max_epochs=7)
    return before, Project(network, layout, training=training)


@pytest.fixture
def make_dialog(qtbot):
    def make(before: Project, after: Project) -> CompareDialog:
        dialog = CompareDialog(before, after, ("old.netwright", "new.netwright"))
        qtbot.addWidget(dialog)
        with qtbot.waitExposed(dialog):
            dialog.show()
        return dialog

    return make


def rows(dialog: CompareDialog) -> list[str]:
    return [dialog.list.item(row).text() for row in range(dialog.list.count())]


def row_of(dialog: CompareDialog, text: str) -> int:
    return next(row for row, shown in enumerate(rows(dialog)) if shown.startswith(text))


def test_differences_are_listed_and_marked_on_their_side(make_dialog) -> None:
    dialog = make_dialog(*projects())
    assert rows(dialog)[:3] == ["layer relu_1 (relu)", "layer late (dropout)", "fc_1.outputs: 8 → 12"]
    assert "training.max_epochs: 30 → 7" in rows(dialog)
    left, right = (view._marks for view in dialog.views)
    assert left.layers == {"id3": "-", "id2": "~"}
    assert right.layers == {"new": "+", "id2": "~"}
    assert set(left.lines.values()) == {"-"}
    assert len(left.lines) == 2
    assert right.lines == {}
    assert dialog.summary.text().startswith("1 LAYER REMOVED   ·   1 LAYER ADDED   ·   2 VALUES CHANGED")


def test_equal_projects_say_so(make_dialog) -> None:
    before, _ = projects()
    dialog = make_dialog(before, before)
    assert dialog.stack.currentWidget() is dialog.equal
    assert dialog.equal.text() == "The two projects are equal."
    assert not dialog.summary.isVisible()


def test_layers_that_only_moved_are_shown_on_demand(make_dialog) -> None:
    before, _ = projects()
    after = replace(before, layout=before.layout.moved({"id2": (300.0, 300.0)}))
    dialog = make_dialog(before, after)
    assert "Only positions of layers" in dialog.equal.text()
    dialog.with_layout.click()
    assert rows(dialog) == ["fc_1 moved: 0, 60 → 300, 300"]
    assert dialog.stack.currentWidget() is dialog.list
    dialog.with_layout.click()
    assert rows(dialog) == []


def test_a_line_leads_to_its_layer_on_both_sides(qtbot, make_dialog) -> None:
    dialog = make_dialog(*projects())
    item = dialog.list.item(row_of(dialog, "fc_1.outputs"))
    qtbot.mouseClick(dialog.list.viewport(), Qt.MouseButton.LeftButton, pos=dialog.list.visualItemRect(item).center())
    assert [editor.selection for editor in dialog.editors] == [{"id2"}, {"id2"}]
    for view in dialog.views:
        assert view.visible_area().contains(view.network_scene.nodes.rect("id2").center())


def test_a_line_about_one_side_leads_there_and_to_the_same_place_on_the_other(make_dialog) -> None:
    dialog = make_dialog(*projects())
    left, right = dialog.views
    dialog.list.setCurrentRow(row_of(dialog, "layer late"))
    assert [editor.selection for editor in dialog.editors] == [frozenset(), {"new"}]
    assert right.visible_area().contains(right.network_scene.nodes.rect("new").center())
    assert (left.middle - right.middle).manhattanLength() < 3
    dialog.list.setCurrentRow(row_of(dialog, "layer relu_1"))
    assert [editor.selection for editor in dialog.editors] == [{"id3"}, frozenset()]
    assert left.visible_area().contains(left.network_scene.nodes.rect("id3").center())


def test_a_line_about_an_option_leads_nowhere(make_dialog) -> None:
    dialog = make_dialog(*projects())
    middles = [view.middle for view in dialog.views]
    dialog.list.setCurrentRow(row_of(dialog, "training.max_epochs"))
    assert [view.middle for view in dialog.views] == middles
    assert [editor.selection for editor in dialog.editors] == [frozenset(), frozenset()]


def test_a_click_on_a_layer_selects_its_partner_and_its_line(make_dialog) -> None:
    dialog = make_dialog(*projects())
    dialog.views[1].layer_clicked.emit("id2")
    assert [editor.selection for editor in dialog.editors] == [{"id2"}, {"id2"}]
    assert dialog.list.currentItem().text().startswith("fc_1.outputs")
    dialog.views[0].layer_clicked.emit("")
    assert [editor.selection for editor in dialog.editors] == [frozenset(), frozenset()]


def test_views_zoom_and_scroll_together_until_told_not_to(make_dialog) -> None:
    dialog = make_dialog(*projects())
    left, right = dialog.views
    left.zoom_in()
    left.zoom_in()
    assert right.zoom == pytest.approx(left.zoom)
    right.scroll_by(right.viewport().rect().center() / 4)
    assert (left.middle - right.middle).manhattanLength() < 4
    dialog.linked.click()
    before = right.zoom
    left.zoom_out()
    assert right.zoom == before
    dialog.linked.click()
    assert right.zoom == pytest.approx(left.zoom)


def test_networks_that_stand_elsewhere_are_looked_at_in_the_same_place(make_dialog) -> None:
    before, _ = projects()
    places = {id: (x + 1000, y - 500) for id, (x, y) in before.layout.positions.items()}
    dialog = make_dialog(before, replace(before, layout=before.layout.moved(places)))
    left, right = dialog.views
    assert (right.middle - left.middle).x() == pytest.approx(1000, abs=3)
    assert (right.middle - left.middle).y() == pytest.approx(-500, abs=3)


def test_an_empty_project_can_be_compared(make_dialog) -> None:
    before, _ = projects()
    dialog = make_dialog(Project(), before)
    assert len([row for row in rows(dialog) if row.startswith("layer ")]) == len(before.network)


def test_the_window_compares_with_a_file(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = projects()
    save(before, tmp_path / "old.netwright")
    window.editor.open(after)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "old.netwright"), ""))
    seen: list[CompareDialog] = []
    monkeypatch.setattr(CompareDialog, "exec", lambda dialog: seen.append(dialog))
    window.menus.actions_by_id["file.compare"].trigger()
    (dialog,) = seen
    assert dialog.views[0].accessibleName() == "Before: old.netwright"
    assert "fc_1.outputs: 8 → 12" in rows(dialog)
    assert dialog.editors[1].project is window.editor.project
    module.show_comparison(window, tmp_path / "old.netwright", is_newer=True)
    assert seen[1].views[1].accessibleName() == "After: old.netwright"
    assert seen[1].editors[0].project is window.editor.project


def test_a_file_that_cannot_be_read_is_said_in_words(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.netwright").write_text("{")
    said: list[str] = []
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "bad.netwright"), ""))
    monkeypatch.setattr(window, "show_error", lambda title, text: said.append(text))
    module.compare_with(window)
    assert "not a project file" in said[0]


def with_blocks() -> tuple[Project, Project]:
    """A convolution two blocks deep has other filters, a layer beside the inner block is gone."""
    network = behind(IMAGE, row(residual(), layer("relu"), layer("tanh")), conv(2), names=("stage", "tail"))
    inner = edits.remove_layers(network_in(network, ["id2"]), ["id4"])
    after = with_network_in(network, ["id2"], inner)
    inner = edits.set_fields(network_in(after, ["id2", "id2"]), "id2", {"kernel": 5})
    after = with_network_in(after, ["id2", "id2"], inner)
    return Project(network, arrange(network)), Project(after, arrange(after))


def test_what_differs_in_blocks_is_marked_at_the_block_and_opened_from_the_list(make_dialog) -> None:
    dialog = make_dialog(*with_blocks())
    left, right = dialog.views
    assert left._marks.layers == right._marks.layers == {"id2": "~"}
    dialog.list.setCurrentRow(row_of(dialog, "stage/block_1/conv.kernel: 3 × 3 → 5 × 5"))
    assert [editor.scope for editor in dialog.editors] == [("id2", "id2")] * 2
    assert [editor.selection for editor in dialog.editors] == [{"id2"}] * 2
    assert left._marks.layers == {"id2": "~"}
    dialog.list.setCurrentRow(row_of(dialog, "layer stage/tanh_1"))
    assert [editor.scope for editor in dialog.editors] == [("id2",)] * 2
    assert left._marks.layers == {"id2": "~", "id4": "-"}
    assert right._marks.layers == {"id2": "~"}
    assert (dialog.editors[0].selection, dialog.editors[1].selection) == ({"id4"}, set())


def test_a_block_opened_on_one_side_opens_on_the_other(make_dialog) -> None:
    dialog = make_dialog(*with_blocks())
    dialog.views[1].layer_opened.emit("id2")
    assert [editor.scope for editor in dialog.editors] == [("id2",)] * 2
    trails = [view.findChild(Breadcrumbs) for view in dialog.views]
    assert all(trail.isVisible() for trail in trails)
    dialog.editors[0].open_scope(())
    assert [editor.scope for editor in dialog.editors] == [()] * 2
    dialog.views[0].layer_opened.emit("id3")
    assert [editor.scope for editor in dialog.editors] == [()] * 2
    dialog.views[0].layer_clicked.emit("id2")
    assert [editor.selection for editor in dialog.editors] == [{"id2"}] * 2


def test_a_block_that_is_only_on_one_side_opens_there_alone(make_dialog) -> None:
    before, after = with_blocks()
    gone = replace(after, network=edits.remove_layers(after.network, ["id2"]))
    dialog = make_dialog(before, gone)
    dialog.views[0].layer_opened.emit("id2")
    assert [editor.scope for editor in dialog.editors] == [("id2",), ()]
    dialog.list.setCurrentRow(row_of(dialog, "layer stage"))
    assert [editor.scope for editor in dialog.editors] == [(), ()]
