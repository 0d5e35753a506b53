"""The Data tab: choosing a source, waiting, looking at samples, errors. First against a stand-in, then for real."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QTableWidget, QWidget

from netwright.app.data.data_tab import DataTab
from netwright.app.data.preview_panel import Preview
from netwright.app.data.tiles import Picture, Sparkline
from netwright.app.plots.bar_rows import BarRows
from netwright.app.window import MainWindow
from tests.app.clipping import settle
from tests.app.data.test_dataset_tracker import facts
from tests.app.fake_server import FakeServer
from tests.app.main_windows import shown_windows

PATIENCE_MS = 60_000


def tab_of(window: MainWindow) -> DataTab:
    window.show_tab("data")
    tab = window.tabs.page("data")
    assert isinstance(tab, DataTab)
    return tab


def words(preview: Preview) -> str:
    """The texts of the preview, and the figures of its charts and head."""
    tab = next(w for w in window_parts(preview) if isinstance(w, DataTab))
    labels = [label.text() for part in (preview, tab.header) for label in part.findChildren(QLabel)]
    bars = [cell for chart in preview.findChildren(BarRows) for row in chart.rows for cell in row.cells]
    return " ".join([*labels, *bars])


def window_parts(widget: QWidget) -> Iterator[QWidget]:
    """Yield the widgets that hold one."""
    while (parent := widget.parentWidget()) is not None:
        yield parent
        widget = parent


def choose(window: MainWindow, **values: Any) -> None:
    project = window.editor.project
    window.editor.apply("Choose data", replace(project, data=project.data.replace(**values)))
    window.dataset.refresh()


@pytest.fixture
def tab(window: MainWindow) -> DataTab:
    return tab_of(window)


def test_without_data_it_says_what_to_do(qtbot, window: MainWindow, tab: DataTab) -> None:
    assert tab.pages.currentWidget() is tab.empty
    assert not tab.again.isVisible()
    button = next(b for b in tab.empty.findChildren(QPushButton) if b.text() == "Digits example")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.editor.project.data.source == "digits"
    assert window.editor.stack.undoText() == "Choose data"


def test_making_a_network_leads_to_it(window: MainWindow, server: FakeServer, tab: DataTab) -> None:
    choose(window, source="digits")
    server.answer("facts", facts(1234))
    server.answer("preview", {})
    assert tab.proposal.make.text() == "Make a network"
    tab.proposal.make.click()
    count = len(window.editor.network.layers)
    assert count > 1
    assert window.tabs.current == "design"
    assert window.status.hints.text() == f"{count} layers made. Undo takes them away again."
    canvas = window.design.canvas
    assert canvas.visible_area().contains(canvas.network_scene.content_box())
    window.editor.undo()
    assert not window.editor.network.layers


def test_from_waiting_to_samples(window: MainWindow, server: FakeServer, tab: DataTab) -> None:
    choose(window, source="digits")
    assert tab.message.text() == "Reading the data…"
    assert "1,797" in tab.note.text()
    server.answer("facts", facts(1234))
    assert tab.message.text() == "Looking at samples…"
    server.answer("preview", {"notes": ["One file was left out."]})
    assert tab.pages.currentWidget() is tab.preview
    assert "1,234" in words(tab.preview)
    assert "One file was left out." in words(tab.preview)


def test_a_small_window_has_room_for_all_rows_of_the_recipe(
    window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="table", path="/data/rents.csv")
    server.answer("facts", facts(1234))
    server.answer("preview", {"notes": []})
    window.resize(800, 500)
    settle(window)
    row = tab.recipe.row
    assert len({widget.y() for widget in row.widgets if widget.isVisible()}) > 1, "it needs more rows than one"
    assert row.height() >= row.heightForWidth(row.width())


def test_another_choice_shows_its_own_numbers(window: MainWindow, server: FakeServer, tab: DataTab) -> None:
    choose(window, source="digits")
    server.answer("facts", facts(1234))
    server.answer("preview", {})
    choose(window, split_seed=5)
    assert tab.message.text() == "Reading the data…"
    server.answer("facts", facts(99))
    server.answer("preview", {})
    assert "99" in words(tab.preview)
    assert "1,234" not in words(tab.preview)


def test_another_choice_cancels_the_preview_of_the_older_one(
    window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="digits")
    server.answer("facts", facts(1))
    choose(window, split_seed=5)
    assert server.cancelled == ["preview, if it waits"]
    assert tab.message.text() == "Reading the data…"


def test_progress_is_shown_and_waiting_ends_with_a_click(
    qtbot, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    window.show_tab("data")
    choose(window, source="table", path="big.csv")
    assert tab.way_out.text() == "Cancel"
    server.tell("facts", 9, 12, "rows")
    assert tab.message.text() == "Reading the data: 75 % (9 of 12 rows)"
    qtbot.mouseClick(tab.way_out, Qt.MouseButton.LeftButton)
    assert server.cancelled == ["facts"]
    assert tab.message.text() == "Reading the data was cancelled."
    assert tab.message.property("role") == "muted"
    qtbot.mouseClick(tab.way_out, Qt.MouseButton.LeftButton)
    assert (tab.message.text(), tab.way_out.text()) == ("Reading the data…", "Cancel")
    server.answer("facts", facts(12))
    server.tell("preview", 1, 4, "images")
    assert tab.message.text() == "Looking at samples: 25 % (1 of 4 images)"
    qtbot.mouseClick(tab.way_out, Qt.MouseButton.LeftButton)
    assert server.cancelled[1:] == ["preview"]
    assert (tab.message.text(), tab.way_out.text()) == ("Looking at the samples was cancelled.", "Try again")


FIRST = {
    "kind": "table",
    "pictures": [],
    "series": [],
    "rows": [[3.5, "Rome"]],
    "columns": [{"name": "price", "role": "input", "kind": "number"}, {"name": "city", "role": "response", "kind": ""}],
    "channels": [],
    "text": "the first 200 rows",
}


def test_the_first_samples_are_shown_until_the_data_is_read(
    qtbot, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="table", path="big.csv")
    qtbot.waitUntil(lambda: "first_samples" in [request.do for request in server.waiting])
    assert tab.pages.currentWidget() is tab.message_page
    server.tell("facts", 9, 12, "rows")
    server.answer("first_samples", FIRST)
    assert tab.pages.currentWidget() is tab.first
    assert tab.first.notice.label.text() == ("Samples from the first 200 rows. Reading the data: 75 % (9 of 12 rows)")
    (rows,) = tab.first.findChildren(QTableWidget)
    assert rows.model().index(0, 1).data() == "Rome"
    server.answer("facts", facts(12))
    server.tell("preview", 1, 4, "rows")
    assert tab.first.notice.label.text().endswith("Looking at samples: 25 % (1 of 4 rows)")
    server.answer("preview", {})
    assert tab.pages.currentWidget() is tab.preview


def test_reading_is_cancelled_beside_the_first_samples(
    qtbot, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="table", path="big.csv")
    qtbot.waitUntil(lambda: "first_samples" in [request.do for request in server.waiting])
    server.answer("first_samples", FIRST)
    qtbot.mouseClick(tab.first.notice.links["Cancel"], Qt.MouseButton.LeftButton)
    assert server.cancelled == ["facts"]
    assert tab.pages.currentWidget() is tab.message_page
    assert tab.message.text() == "Reading the data was cancelled."


def test_first_samples_that_come_too_late_are_not_wanted(
    qtbot, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="table", path="big.csv")
    qtbot.waitUntil(lambda: "first_samples" in [request.do for request in server.waiting])
    server.answer("facts", facts(12))
    server.answer("preview", {})
    assert server.cancelled == ["first_samples"]
    assert tab.pages.currentWidget() is tab.preview


def test_an_error_can_be_tried_again(qtbot, window: MainWindow, server: FakeServer, tab: DataTab) -> None:
    window.show_tab("data")
    choose(window, source="table", path="none.csv")
    server.refuse("facts", "There is no file none.csv.")
    assert tab.way_out.text() == "Try again"
    qtbot.mouseClick(tab.way_out, Qt.MouseButton.LeftButton)
    assert server.count("facts") == 2


def test_an_error_stands_on_a_card_in_words(window: MainWindow, server: FakeServer, tab: DataTab) -> None:
    choose(window, source="table", path="none.csv")
    server.refuse("facts", "There is no file none.csv. Choose the data anew.")
    assert tab.message.text() == "There is no file none.csv. Choose the data anew."
    assert tab.message.property("role") == "error"
    card = tab.message.parentWidget()
    assert card is not None
    assert card.property("role") == "card"
    choose(window, source="images", path="")
    assert tab.message.text() == "Choose the folder of images."


def test_reading_again_shows_new_samples(qtbot, window: MainWindow, server: FakeServer, tab: DataTab) -> None:
    choose(window, source="digits")
    server.answer("facts", facts(1))
    server.answer("preview", {"notes": ["before"]})
    qtbot.mouseClick(tab.again, Qt.MouseButton.LeftButton)
    server.answer("facts", facts(1))
    server.answer("preview", {"notes": ["after"]})
    assert "after" in words(tab.preview)


def test_typing_in_the_form_is_an_edit(qtbot, window: MainWindow, server: FakeServer, tab: DataTab) -> None:
    choose(window, source="digits")
    source = tab.form.rows["source"].widget
    assert isinstance(source, QComboBox)
    seed = tab.form.rows["split_seed"].widget
    assert isinstance(seed, QLineEdit)
    seed.setFocus()
    seed.selectAll()
    qtbot.keyClicks(seed, "7")
    qtbot.keyClick(seed, Qt.Key.Key_Tab)
    assert window.editor.project.data.split_seed == 7
    window.editor.undo()
    assert window.editor.project.data.split_seed == 0
    assert tab.form.record == window.editor.project.data


def test_gaps_stand_above_the_rows_with_cures_that_can_be_undone(
    window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="table", path="houses.csv")
    server.answer("facts", facts(12))
    server.answer("preview", {})
    gaps = {"kind": "gaps", "severity": "warning", "title": "88 of 1,500 rows have no district", "outcome": "Filled."}
    fixes = [{"label": "Drop rows", "options": {"missing_values": "leave-out"}}]
    finding = {**gaps, "count": 1, "items": [["district", "88 rows"]], "fixes": fixes}
    server.answer("check_data", {"samples": 12, "checked": 12, "findings": [finding], "passed": []})
    assert [item.title for item in tab.findings.items] == ["88 of 1,500 rows have no district"]
    assert not tab.review.isVisible()
    tab.findings.review.click()
    assert tab.review.isVisible()
    tab.findings.button("Drop rows").click()
    assert window.editor.project.data.missing_values == "leave-out"
    assert window.editor.stack.undoText() == "Drop rows"
    window.editor.undo()
    assert window.editor.project.data.missing_values == "auto"


@pytest.mark.parametrize("shown", ["3 files are left out: a: b;c.png (it is empty), d.png.", "有3个文件：a: b;c.png。"])
def test_damaged_files_are_named_by_their_paths(
    window: MainWindow, server: FakeServer, tab: DataTab, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    """Whatever the language of the window, and with a colon or a semicolon in a name."""
    text = "3 of 12 image files are left out because of damage: a: b;c.png (it is empty), d.png, e.png."
    monkeypatch.setattr("netwright.app.data.data_tab.in_words", lambda *_: shown)
    choose(window, source="images", path="/pictures")
    server.answer("facts", {**facts(9), "warnings": [text], "damaged": {text: ["a: b;c.png", "d.png", "e.png"]}})
    server.answer("preview", {})
    (item,) = (item for item in tab.findings.items if item.severity == "warning")
    assert (item.title, item.detail) == ("3 damaged, left out", "a: b;c.png, d.png")


def test_findings_about_old_data_go_when_other_data_is_read(
    window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="table", path="houses.csv")
    server.answer("facts", facts(12))
    server.answer("preview", {})
    gaps = {"kind": "gaps", "severity": "warning", "title": "88 rows have no district", "outcome": "Filled."}
    finding = {**gaps, "count": 1, "items": [], "fixes": []}
    server.answer("check_data", {"samples": 12, "checked": 12, "findings": [finding], "passed": []})
    assert tab.findings.isVisible()
    choose(window, source="arrays", path="others.npz")
    assert not tab.findings.isVisible()
    server.refuse("facts", "The file others.npz cannot be read.")
    assert tab.findings.items == ()


def test_all_settings_open_beside_the_samples_at_the_field_that_is_wanted(
    qtbot, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="digits", split_seed=4)
    server.answer("facts", facts(12))
    server.answer("preview", {})
    assert not tab.side.isVisible()
    assert tab.header.count.text().startswith("1 of ")
    tab.recipe.field_wanted.emit("split")
    qtbot.waitUntil(lambda: tab.form.rows["split"].widget.hasFocus())
    assert tab.side.isVisible()
    tab.header.settings.click()
    assert not tab.side.isVisible()


def test_a_split_a_class_and_other_samples_are_asked_for(
    window: MainWindow, server: FakeServer, tab: DataTab, tmp_path: Path
) -> None:
    choose(window, source="digits")
    known = facts(12)
    known["targets"][0] |= {"task": "classes", "classes": ["a", "b"], "sizes": [2]}
    server.answer("facts", known)
    Image.new("L", (8, 8)).save(tmp_path / "p.png")
    picture = {"file": str(tmp_path / "p.png"), "label": "a", "split": "training"}
    classes = [{"name": name, "training": 6} for name in "ab"]
    server.answer("preview", {"pictures": [picture], "classes": classes})
    bar = tab.preview.bar
    assert bar is not None
    assert [button.text() for button in bar.segments.buttons()][:2] == ["All 12", "Training 12"]
    bar.segments.button(1).click()
    bar.classes.setCurrentText("b")
    bar.classes.activated.emit(2)
    bar.again.click()
    assert {"split": "training", "class_name": "b", "draw": 1}.items() <= server.waiting[-1].given.items()
    server.answer("preview", {"pictures": [{**picture, "label": "b"}], "classes": classes})
    assert tab.preview.tiles is not None
    assert [tile.caption for tile in tab.preview.tiles.tiles] == ["b"]


# ---- the real engine ----


def test_rows_are_shown_beside_the_cures_of_a_table_that_is_refused(qtbot, real: MainWindow, tmp_path: Path) -> None:
    tab = tab_of(real)
    rows = "\n".join(f"{i},{'' if i == 5 else i * 2},{i * 3 + 0.5}" for i in range(40))
    (tmp_path / "t.csv").write_text(f"a,b,price\n{rows}\n")
    choose(real, source="table", path=str(tmp_path / "t.csv"), missing_values="refuse")
    qtbot.waitUntil(lambda: tab.pages.currentWidget() is tab.first, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: bool(tab.findings.items), timeout=PATIENCE_MS)
    said = tab.first.notice.label.text()
    assert "Column 'b' of t.csv, line 7" in said
    assert "data." not in said
    assert str(tmp_path) not in said
    (table,) = tab.first.findChildren(QTableWidget)
    assert table.rowCount() == 20
    tab.findings.button("Leave out the column").click()
    qtbot.waitUntil(lambda: tab.pages.currentWidget() is tab.preview, timeout=PATIENCE_MS)
    assert real.editor.project.data.left_out == "b"


@pytest.fixture
def real(qtbot) -> Iterator[MainWindow]:
    with shown_windows(qtbot) as make:
        yield make()


def write_images(folder: Path) -> dict[str, Any]:
    for index, name in enumerate(("cat", "dog")):
        (folder / "img" / name).mkdir(parents=True)
        for number in range(6):
            pixels = np.full((9, 7, 3), 40 * index + number, np.uint8)
            Image.fromarray(pixels).save(folder / "img" / name / f"{number}.png")
    return {"source": "images", "path": str(folder / "img")}


def write_table(folder: Path) -> dict[str, Any]:
    rows = "\n".join(f"{i},{i * 2},{i * 3 + 0.5}" for i in range(40))
    (folder / "t.csv").write_text(f"a,b,price\n{rows}\n")
    return {"source": "table", "path": str(folder / "t.csv")}


def write_arrays(folder: Path) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    np.savez(folder / "a.npz", x=generator.normal(size=(40, 12, 2)).astype(np.float32), y=np.arange(40) % 2)
    return {"source": "arrays", "path": str(folder / "a.npz")}


def test_the_real_engine_answers_for_every_source(qtbot, real: MainWindow, tmp_path: Path) -> None:
    tab = tab_of(real)
    found: dict[str, str] = {}
    tiles: dict[str, tuple[int, int]] = {}
    sources = ({"source": "digits"}, write_images(tmp_path), write_table(tmp_path), write_arrays(tmp_path))
    for values in sources:
        choose(real, **{"path": "", **values})
        qtbot.waitUntil(lambda: tab.pages.currentWidget() is tab.preview, timeout=PATIENCE_MS)
        key = str(values["source"])
        found[key] = words(tab.preview)
        content = tab.preview.content
        tiles[key] = len(content.findChildren(Picture)), len(content.findChildren(Sparkline))
    assert "1,257" in found["digits"]
    assert "7 × 9 in colour" in found["images"]
    assert "1 number to predict" in found["table"]
    assert "12 × 2" in found["arrays"]
    assert tiles["digits"][0] > 0
    assert tiles["images"][0] > 0
    assert tiles["arrays"][1] > 0


def test_runs_in_the_folder_of_the_images_are_no_class(qtbot, real: MainWindow, tmp_path: Path) -> None:
    tab = tab_of(real)
    values = write_images(tmp_path)
    run = tmp_path / "img" / "runs" / "2030-01-02_img"
    run.mkdir(parents=True)
    (run / "project.netwright").write_text("{}")
    Image.new("RGB", (7, 9)).save(run / "curves.png")
    choose(real, **values, inner_folders="class")
    qtbot.waitUntil(lambda: tab.pages.currentWidget() is tab.preview, timeout=PATIENCE_MS)
    assert "in 2 classes" in words(tab.preview)
    assert "runs" not in words(tab.preview)


def test_the_real_engine_refuses_in_words(qtbot, real: MainWindow, tmp_path: Path) -> None:
    tab = tab_of(real)
    (tmp_path / "broken.npz").write_bytes(b"not an archive")
    choose(real, source="arrays", path=str(tmp_path / "broken.npz"))
    qtbot.waitUntil(lambda: tab.message.property("role") == "error", timeout=PATIENCE_MS)
    assert "broken.npz" in tab.message.text()
    assert "Traceback" not in tab.message.text()


def test_what_is_predicted_stands_in_the_empty_field_and_options_are_words(
    window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="table", path="houses.csv")
    server.answer("facts", facts(12))
    roles = {"area": "input", "price": "response"}
    columns = [{"name": name, "role": role, "kind": "number"} for name, role in roles.items()]
    server.answer("preview", {"columns": columns})
    response = tab.form.rows["response"].widget
    assert isinstance(response, QLineEdit)
    assert (response.text(), response.placeholderText()) == ("", "price (last column)")
    missing = tab.form.rows["missing_values"].widget
    assert isinstance(missing, QComboBox)
    assert missing.currentText() == "Automatic"
    choose(window, source="table", path="other.csv")
    assert response.placeholderText() == ""
