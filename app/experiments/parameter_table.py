"""The parameters of an experiment as a table: name, values, scale and count of each, and a button to remove it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from netwright.app.experiments.trial_texts import path_label, values_as_typed, values_in_words
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_text
from netwright.designer.forms.field_editors import TickMenu
from netwright.designer.forms.row import section_label, sentence
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import Bool, Choice
from netwright.engine.core.text import format_number
from netwright.engine.project.parameters import DEFAULT_STEPS, Parameter
from netwright.engine.project.project import Project
from netwright.engine.project.trials import check_parameter, field_of, is_whole

NAME_WIDTH, VALUES_WIDTH, SCALE_WIDTH, COUNT_WIDTH, REMOVE_WIDTH = 108, 96, 84, 52, 24
LINES = 3
"""Lines of the grid per parameter: its row, its points, what is wrong."""
LIST, LINEAR, LOG = noop("List"), noop("Linear"), noop("Log")
SCALES = {
    LIST: noop("These values"),
    LINEAR: noop("From the first to the second value, evenly apart"),
    LOG: noop("From the first to the second value, by an even factor"),
}
HELP = noop("Values: 32, 128, 512\nRange: 0.005 to 0.5")
LONGEST_TEXT = 13
"""Letters of choices that a button has room for; of more it tells the number."""
MOST_POINTS, MOST_TOLD = 999, 8
_RANGE = re.compile(r"([^,]+?)\s*(?:\bto\b|到|\.\.|…)\s*([^,]+)")


def typed_parameter(parameter: Parameter, text: str, scale: str) -> Parameter:
    """Return a parameter with values as they are typed, `32, 128` or `0.005 to 0.5`. Raises `UserError`."""
    if match := _RANGE.fullmatch(text.strip()):
        log = "log " if scale == LOG and not match[1].startswith("log") else ""
        steps = f":{parameter.steps}" if parameter.steps and ":" not in match[2] else ""
        text = f"{log}{match[1]}..{match[2]}{steps}"
    typed = Parameter.read(f"{parameter.path}={text}")
    return replace(typed, when=parameter.when)


def scaled_parameter(parameter: Parameter, scale: str, *, whole: bool) -> Parameter:
    """Return a parameter with its values on another scale. Raises `UserError` where they cannot be."""
    if scale == LIST:
        return replace(parameter, values=parameter.points(is_whole=whole), low=0.0, high=0.0, is_log=False, steps=0)
    low, high = parameter.low, parameter.high
    steps = parameter.steps
    if parameter.values:
        if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in parameter.values):
            raise UserError(tr("only numbers have a range."))
        low, high, steps = min(parameter.values), max(parameter.values), max(2, len(parameter.values))
    data = {"path": parameter.path, "low": low, "high": high, "log": scale == LOG, "steps": steps}
    return replace(Parameter.read(data), when=parameter.when)


def scale_of(parameter: Parameter) -> str:
    """Return the scale of the values of a parameter."""
    return LIST if parameter.values else LOG if parameter.is_log else LINEAR


class ParameterRow:
    """The widgets of a parameter. `take` gets the parameter that the user has made of it, or raises `UserError`."""

    def __init__(self, path: str, project: Project, base: Path, take: Callable[[Parameter], None]) -> None:
        self._take, self._project, self._base = take, project, base
        self.parameter = Parameter(path)
        try:
            self._field = field_of(project, path)
        except UserError:  # its layer is gone; the error below says so
            self._field = None
        label = path_label(path)
        self.name = ElidedLabel(label, elide=Qt.TextElideMode.ElideMiddle)
        self.line, self.choices, self.menu = QLineEdit(), QPushButton(), TickMenu()
        self.menu.setParent(self.choices, self.menu.windowFlags())
        self.values = QStackedWidget()
        self.scale, self.count, self.number = QComboBox(), QSpinBox(), QLabel()
        self.counts, self.remove = QStackedWidget(), QToolButton()
        self.points, self.error = QLabel(), QLabel()
        self._name_widgets(label)
        self.line.editingFinished.connect(self._on_typed)
        self.scale.activated.connect(lambda: self._try(self._scaled))
        self.count.valueChanged.connect(lambda steps: self._try(lambda: replace(self.parameter, steps=steps)))
        self.choices.clicked.connect(self._open)

    def _name_widgets(self, label: str) -> None:
        self.name.setToolTip(markup.wrapped(label))
        for widget, text in (
            (self.line, tr("Values")),
            (self.choices, tr("Values")),
            (self.scale, tr("Scale", "of values")),
        ):
            widget.setAccessibleName(tr("{part} of {label}", part=text, label=label))
        self.count.setAccessibleName(tr("Count of {label}", label=label))
        self.line.setToolTip(translation(HELP))
        self.values.setMinimumWidth(VALUES_WIDTH)
        self.line.setMinimumWidth(0)
        self.choices.setMinimumWidth(0)
        self.choices.setStyleSheet("text-align: left;")
        for widget in (self.line, self.choices):
            self.values.addWidget(widget)
        self.values.setSizePolicy(self.line.sizePolicy())
        self.scale.setFixedWidth(SCALE_WIDTH)
        for field in (self.scale, self.count):
            field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the wheel scrolls past them
        for scale, tip in SCALES.items():
            self.scale.addItem(translation(scale), scale)
            self.scale.setItemData(self.scale.count() - 1, translation(tip), Qt.ItemDataRole.ToolTipRole)
        self.count.setRange(2, MOST_POINTS)
        self.count.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.count.setKeyboardTracking(False)
        self.count.setToolTip(tr("Values of this range in the grid"))
        for count in (self.count, self.number):
            count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.counts.addWidget(count)
        self.counts.setFixedWidth(COUNT_WIDTH)
        self.remove.setAutoRaise(True)
        self.remove.setFixedWidth(REMOVE_WIDTH)
        self.remove.setIcon(theme.icon("close", "muted"))
        self.remove.setToolTip(tr("Vary it no more"))
        self.remove.setAccessibleName(tr("Remove {label}", label=label))
        for note, role in ((self.points, "help"), (self.error, "error")):
            note.setWordWrap(True)
            theme.mark(note, "role", role)
            note.hide()

    def place(self, grid: QGridLayout, line: int) -> None:
        """Place the widgets in lines of a grid."""
        for column, widget in enumerate((self.name, self.values, self.scale, self.counts, self.remove)):
            grid.addWidget(widget, line, column)
        for below, note in enumerate((self.points, self.error), 1):
            grid.addWidget(note, line + below, 1, 1, 4)

    @property
    def tab_stops(self) -> tuple[QWidget, ...]:
        """The widgets in the order of the Tab key."""
        return self.line, self.choices, self.scale, self.count, self.remove

    @property
    def _whole(self) -> bool:
        try:
            return is_whole(self._project, self.parameter.path)
        except UserError:
            return False

    def show(self, parameter: Parameter, project: Project, *, is_grid: bool, problem: str) -> None:
        """Show a parameter as it is now. Without `is_grid` a range has no points."""
        self.parameter, self._project = parameter, project
        options = self._options()
        self.values.setCurrentWidget(self.choices if options else self.line)
        text = values_in_words(parameter)
        ticked = text
        if len(text) > LONGEST_TEXT:
            ticked = tr("{count:,} of {total:,}", count=len(parameter.values), total=len(options))
        self.choices.setText(markup.without_mnemonic(ticked))
        self.choices.setToolTip(markup.wrapped(text))
        self.line.setText(values_as_typed(parameter))
        self.line.setCursorPosition(0)
        self.scale.setCurrentIndex(self.scale.findData(scale_of(parameter)))
        is_number = self._field is not None and self._field.is_number
        self.scale.setEnabled(is_number)
        self.scale.setToolTip("" if is_number else tr("Only numbers have a range"))
        has_points = parameter.is_range and is_grid
        points = parameter.points(is_whole=self._whole)
        self.counts.setCurrentWidget(self.count if has_points else self.number)
        self.count.blockSignals(True)
        self.count.setValue(parameter.steps or DEFAULT_STEPS)
        self.count.blockSignals(False)
        self.number.setText("–" if parameter.is_range else f"{len(parameter.values):,}")
        self.number.setToolTip(tr("Any value of the range") if parameter.is_range else "")
        more = " · …" if len(points) > MOST_TOLD else ""
        where = tr("Where {when}", when=parameter.when) if parameter.when else ""
        told = " · ".join(format_number(point) for point in points[:MOST_TOLD]) + more if has_points else ""
        self.points.setText(markup.visible("\n".join(filter(None, (told, where)))))
        self.points.setVisible(bool(told or where))
        self.say(problem)

    def say(self, problem: str) -> None:
        """Say what is wrong."""
        self.error.setText(markup.visible(sentence(message_text(problem.removeprefix(f"{self.parameter.path}: ")))))
        self.error.setVisible(bool(problem))

    # ---- edits ----

    def _options(self) -> dict[str, object]:
        """Return the values to choose from, by their words; none where they are typed."""
        match self._field:
            case Bool():
                return {tr("Off"): False, tr("On"): True}
            case Choice() as field:
                return {translation(field.word(option)): option for option in field.options}
        return {}

    def _open(self) -> None:
        self.menu.clear()
        for word, option in self._options().items():
            action = self.menu.addAction(markup.without_mnemonic(word))
            action.setCheckable(True)
            action.setChecked(option in self.parameter.values)
            action.toggled.connect(lambda is_on, option=option: self._tick(option, is_on))
        self.menu.popup(self.choices.mapToGlobal(self.choices.rect().bottomLeft()))

    def _tick(self, option: object, is_on: bool) -> None:
        chosen = {*self.parameter.values, option} if is_on else {*self.parameter.values} - {option}
        values = tuple(each for each in self._options().values() if each in chosen)
        self._try(lambda: Parameter.read({**self.parameter.write(), "values": list(values)}))

    def _on_typed(self) -> None:
        text = self.line.text().strip()
        if text != values_as_typed(self.parameter):
            self._try(lambda: typed_parameter(self.parameter, text, self.scale.currentData()))

    def _scaled(self) -> Parameter:
        scale = self.scale.currentData()
        if scale == scale_of(self.parameter):
            return self.parameter
        return scaled_parameter(self.parameter, scale, whole=self._whole)

    def _try(self, make: Callable[[], Parameter]) -> None:
        """Take the parameter that is made, or say why it cannot be."""
        try:
            parameter = make()
            check_parameter(self._project, parameter, self._base)
        except UserError as error:
            self.say(str(error))
            return
        if parameter != self.parameter:
            self._take(parameter)


class ParameterTable(QWidget):
    """Edits the parameters of an experiment. Values that are refused stay, with the reason below them."""

    edited = Signal(object)
    """The parameters as they are now, a list."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parameters: tuple[Parameter, ...] = ()
        self.rows: dict[str, ParameterRow] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnMinimumWidth(0, NAME_WIDTH)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(section_label(tr("What varies")), 0, 0, 1, LINES)
        self._heads = [QLabel(text) for text in (tr("Name"), tr("Values"), tr("Scale", "of values"), tr("Count"))]
        for column, head in enumerate(self._heads):
            theme.mark(head, "role", "help")
            self._grid.addWidget(head, 1, column)
        self._heads[-1].setAlignment(Qt.AlignmentFlag.AlignRight)

    def show_parameters(self, parameters: Sequence[Parameter], project: Project, base: Path) -> None:
        """Show the parameters of an experiment, those that are shown already in place."""
        before, self.parameters = self.parameters, tuple(parameters)
        if [item.path for item in before] != [item.path for item in self.parameters]:
            self._make_rows(project, base)
        for parameter in self.parameters:
            try:
                check_parameter(project, parameter, base)
                problem = ""
            except UserError as error:
                problem = str(error)
            is_grid = project.experiment.strategy == "grid"
            self.rows[parameter.path].show(parameter, project, is_grid=is_grid, problem=problem)

    def _make_rows(self, project: Project, base: Path) -> None:
        for row in self.rows.values():
            for widget in (row.name, row.values, row.scale, row.counts, row.remove, row.points, row.error):
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self.rows = {}
        for head in self._heads:
            head.setVisible(bool(self.parameters))
        for number, parameter in enumerate(self.parameters):
            path = parameter.path
            row = self.rows[path] = ParameterRow(path, project, base, self._replace)
            row.remove.clicked.connect(lambda _=False, path=path: self.remove(path))
            row.place(self._grid, 2 + LINES * number)
        for before, after in pairwise(stop for row in self.rows.values() for stop in row.tab_stops):
            QWidget.setTabOrder(before, after)

    def _replace(self, parameter: Parameter) -> None:
        self.edited.emit([parameter if item.path == parameter.path else item for item in self.parameters])

    def remove(self, path: str) -> None:
        """Let a parameter vary no more."""
        self.edited.emit([parameter for parameter in self.parameters if parameter.path != path])
