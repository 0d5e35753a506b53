"""A record with one field of each kind, and how its form is typed into."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from netwright.designer.forms.form import Form
from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, FilePath, Float, Int, Text
from netwright.engine.core.list_fields import Choices, Ints, Padding, Size
from netwright.engine.core.records import Record


class Sample(Record):
    """One field of each kind."""

    count = Int(3, low=1, high=5000, unit="samples", group="Numbers", help="How many")
    rate = Float(0.01, above=0.0, high=10.0, group="Numbers")
    is_on = Bool(False, group="Numbers")
    mode = Choice("plain", options=("plain", "fancy"), notes={"fancy": "With bells"}, group="Words")
    sounds = Choices(("ring",), options=("ring", "toll", "peal"), notes={"peal": "All of them"}, group="Words")
    main = Choice("ring", options=("ring", "toll", "peal"), offered=lambda record: record.sounds, group="Words")
    title = Text("", group="Words")
    bells = Int(2, low=1, group="Words", visible_when=lambda record: record.mode == "fancy")
    path = FilePath("", group="Words")
    numbers = Ints((), group="Sizes")
    kernel = Size(3, length=2, group="Sizes")
    padding = Padding("same", length=2, group="Sizes")

    def problems(self) -> list[FieldError]:
        return [FieldError("count", "too many for plain.")] if self.count > 100 and self.mode == "plain" else []


def line_of(form: Form, name: str) -> QLineEdit:
    widget = form.rows[name].widget
    line = widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit)
    assert isinstance(line, QLineEdit)
    return line


def type_over(qtbot, form: Form, name: str, text: str) -> None:
    line = line_of(form, name)
    line.setFocus()
    line.selectAll()
    if text:
        qtbot.keyClicks(line, text)
    else:
        qtbot.keyClick(line, Qt.Key.Key_Delete)
