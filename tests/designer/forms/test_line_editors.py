import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from netwright.designer import language
from netwright.designer.forms.form import Form
from netwright.designer.forms.line_editors import ColumnLine, as_typed, parsed, stepped
from netwright.engine.core.fields import Field, Float, Int
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.training import TrainingOptions
from tests.designer.forms.sample import Sample, line_of, type_over
from tests.designer.mouse import turn_wheel


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "1,200", 1200),
        ("rate", "1e-5", 1e-5),
        ("sounds", "peal, ring", ("peal", "ring")),
        ("title", "a title", "a title"),
        ("path", "data/x.csv", "data/x.csv"),
        ("numbers", "0, 2", (0, 2)),
        ("numbers", "", ()),
        ("kernel", "5", (5, 5)),
        ("kernel", "3x5", (3, 5)),
        ("kernel", "3 5", (3, 5)),
        ("kernel", "3 × 5", (3, 5)),
        ("padding", "2", (2, 2)),
        ("padding", "1 x 0", (1, 0)),
    ],
)
def test_typed_text_becomes_the_value_and_stays_until_it_is_complete(qtbot, shown, name, text, value) -> None:
    form = shown(Sample(mode="fancy", numbers=[1]))
    type_over(qtbot, form, name, text)
    assert line_of(form, name).text() == text
    qtbot.keyClick(line_of(form, name), Qt.Key.Key_Return)  # a path is taken on Enter
    assert getattr(form.record, name) == value
    assert form.is_valid


@pytest.mark.parametrize(
    ("name", "typed", "after"),
    [("kernel", "5", "5 × 5"), ("kernel", "5,7", "5 × 7"), ("rate", "1e-05", "1e-5"), ("count", "1,200", "1200")],
)
@pytest.mark.parametrize("leave", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_what_was_typed_is_written_as_the_value_is_shown_when_it_is_complete(
    qtbot, shown, name: str, typed: str, after: str, leave: Qt.Key
) -> None:
    form = shown()
    line = line_of(form, name)
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, typed)
    assert line.text() == typed
    qtbot.keyClick(line, leave)
    assert line.text() == after


def test_an_empty_number_is_asked_for_in_words(qtbot, shown) -> None:
    form = shown()
    type_over(qtbot, form, "count", "")
    assert form.rows["count"].message == "Enter a whole number from 1 to 5,000."
    assert form.record == Sample()


@pytest.mark.parametrize(
    ("field", "value", "count", "text"),
    [
        (Int(1, low=1, high=9), 9, 1, "9"),
        (Int(1, low=1, high=9), 5, -10, "1"),
        (Float(0.01), 0.01, 1, "0.02"),
        (Float(0.01), 0.01, -1, "0.009"),
        (Float(0.01), 1e-5, -2, "8e-6"),
        (Float(0.01), 0.9, 2, "2"),
        (Float(0.9, low=0.0, high=1.0), 0.9, 3, "1"),
        (Float(0.0, low=0.0), 0.0, 1, "0.1"),
        (Float(0.0, low=0.0), 0.0, -1, "0"),
        (Float(1.0, above=0.0, infinite=True), float("inf"), 1, "Inf"),
        (Float(1.0, above=0.0, infinite=True), float("inf"), -1, "1"),
    ],
)
def test_steps(field: Field, value: float, count: int, text: str) -> None:
    assert stepped(field, value, count) == text


def test_up_and_down_keys_step(qtbot, shown) -> None:
    form = shown()
    line = line_of(form, "count")
    line.setFocus()
    qtbot.keyClick(line, Qt.Key.Key_Up)
    qtbot.keyClick(line, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert form.record.count == 14
    qtbot.keyClick(line, Qt.Key.Key_Down)
    assert line.text() == "13"


@pytest.mark.parametrize("name", ["count", "mode", "padding"])
def test_the_wheel_changes_only_what_has_the_keyboard(shown, name: str) -> None:
    form = shown()
    line_of(form, "title").setFocus()
    turn_wheel(form.rows[name].widget)
    assert form.record == Sample()
    form.rows[name].widget.setFocus()
    turn_wheel(form.rows[name].widget)
    assert form.record != Sample()


def test_small_numbers_are_shown_as_people_write_them(shown) -> None:
    form = shown(TrainingOptions(solver="adam"))
    assert line_of(form, "epsilon").text() == "1e-8"
    assert line_of(form, "gradient_threshold").text() == "Inf"


def test_zero_is_a_word_followed_by_what_it_comes_to(qtbot) -> None:
    form = Form(EnvironmentOptions(target="multi-cpu"), is_wide=True)
    qtbot.addWidget(form)
    with qtbot.waitActive(form):
        form.show()
        form.activateWindow()
    line_of(form, "threads").setFocus()
    form.set_resolved({"num_workers": "2"})
    line = line_of(form, "num_workers")
    assert line.text() == "auto (2)"
    line.setFocus()
    assert line.text() == "auto"
    type_over(qtbot, form, "num_workers", "4")
    assert form.record == EnvironmentOptions(target="multi-cpu", num_workers=4)
    type_over(qtbot, form, "num_workers", "Auto")
    assert form.record == EnvironmentOptions(target="multi-cpu")
    line_of(form, "threads").setFocus()
    assert line.text() == "auto (2)"
    type_over(qtbot, form, "num_workers", "many")
    assert form.reason == 'Workers: Expected auto, or a whole number from 1 to 1,024, received "many".'


def test_columns_of_the_data_are_offered_and_the_last_of_several_is_completed(qtbot) -> None:
    form = Form(DataOptions(source="table", path="flats.csv"))
    before = form.record
    qtbot.addWidget(form)
    form.show()
    form.offer_columns(["rooms", "floor", "price"])
    line = form.rows["response"].widget
    assert isinstance(line, ColumnLine)
    line.setFocus()
    qtbot.keyClicks(line, "rooms, PR")
    assert form.record == before, "it is taken when it is complete"
    completer = line.completer()
    assert completer.completionCount() == 1
    popup = completer.popup()
    assert popup is not None
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert form.record == before.replace(response="rooms, price")
    assert line.text() == "rooms, price"
    line.clear()
    qtbot.keyClick(line, Qt.Key.Key_Down)
    assert popup.isVisible()
    assert completer.completionCount() == 3
    popup.hide()


@pytest.mark.parametrize("name", ["count", "title", "path"])
def test_a_text_that_a_screen_reader_sets_is_taken_without_the_keyboard_focus(qtbot, shown, name) -> None:
    form = shown(Sample(mode="fancy", numbers=[1]))
    line = line_of(form, name)
    form.setFocus()
    told = QAccessible.queryAccessibleInterface(line)
    told.editableTextInterface().replaceText(0, len(line.text()), "77")  # as AT-SPI's SetTextContents does
    assert getattr(form.record, name) == (77 if name == "count" else "77")
    line.setText("78")
    assert getattr(form.record, name) != "78", "what the program shows is no edit"


def test_the_word_for_zero_is_one_of_the_language(qapp: QApplication) -> None:
    field = Int(0, low=0, zero="auto")
    language.use(qapp, "zh_CN")
    word = as_typed(field, 0)
    values = [parsed(field, text) for text in (word, "auto", "7")]
    language.use(qapp, "en")
    assert (word, values) == ("自动", [0, 0, 7])
