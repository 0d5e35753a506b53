"""The parameters of an experiment, a row per value: its name, its values as they are typed, and a button to remove."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QToolButton, QWidget

from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.forms.row import section_label, sentence
from netwright.engine.core.errors import UserError
from netwright.engine.project.parameters import Parameter
from netwright.engine.runs.trial_axes import TrialAxis

NAME_WIDTH = 128
HELP = "Values: 0.8,0.9\nRange: 1..5, or with 7 points in a grid 1..5:7\nBy an even factor: log 0.0001..0.1"


class ParameterList(QWidget):
    """Edits the parameters of an experiment. Values that are refused stay, with the reason below them."""

    edited = Signal(object)
    """The parameters as they are now, a list."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parameters: tuple[Parameter, ...] = ()
        self.lines: dict[str, QLineEdit] = {}
        self.errors: dict[str, QLabel] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 6)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnMinimumWidth(0, NAME_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self.hide()

    def show_parameters(self, parameters: Sequence[Parameter]) -> None:
        """Show the parameters of an experiment, those that are shown already in place."""
        before, self.parameters = self.parameters, tuple(parameters)
        if [item.path for item in before] != [item.path for item in self.parameters]:
            self._make_rows()
        for parameter in self.parameters:
            line = self.lines[parameter.path]
            line.setText(parameter.show().partition("=")[2])
            line.setCursorPosition(0)
            self.errors[parameter.path].hide()

    def _make_rows(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.lines, self.errors = {}, {}
        self.setVisible(bool(self.parameters))
        self._grid.addWidget(section_label("What varies"), 0, 0, 1, 3)
        for number, parameter in enumerate(self.parameters):
            self._make_row(2 * number + 1, parameter)

    def _make_row(self, row: int, parameter: Parameter) -> None:
        path = parameter.path
        name = ElidedLabel(TrialAxis(path, {}).label, elide=Qt.TextElideMode.ElideMiddle)
        theme.mark(name, "role", "muted")
        when = f"\nWhere {parameter.when}" if parameter.when else ""
        name.setToolTip(markup.wrapped(f"{path}{when}"))
        line = self.lines[path] = QLineEdit()
        line.setAccessibleName(f"Values of {path}")
        line.setToolTip(HELP)
        line.editingFinished.connect(lambda: self._take(path))
        remove = QToolButton()
        remove.setAutoRaise(True)
        remove.setIcon(theme.icon("close", "muted"))
        remove.setToolTip("Vary it no more")
        remove.setAccessibleName(f"Remove {path}")
        remove.clicked.connect(lambda: self._remove(path))
        error = self.errors[path] = QLabel()
        error.setWordWrap(True)
        theme.mark(error, "role", "error")
        error.hide()
        for column, widget in enumerate((name, line, remove)):
            self._grid.addWidget(widget, row, column)
        self._grid.addWidget(error, row + 1, 0, 1, 3)

    def _take(self, path: str) -> None:
        """Take the values that were typed, or say why not."""
        parameter = next((item for item in self.parameters if item.path == path), None)
        text = self.lines[path].text().strip()
        if parameter is None or text == parameter.show().partition("=")[2]:
            return
        try:
            typed = Parameter.read(f"{path}={text}")
        except UserError as error:
            self.errors[path].setText(sentence(str(error).removeprefix(f"{path}: ")))
            self.errors[path].show()
            return
        if parameter.when:
            typed = Parameter.read({**typed.write(), "when": parameter.when})
        self.edited.emit([typed if item.path == path else item for item in self.parameters])

    def _remove(self, path: str) -> None:
        self.edited.emit([parameter for parameter in self.parameters if parameter.path != path])
