"""Tune for me: a budget in minutes, what is varied, and better values as one undo step."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QFormLayout, QLabel, QVBoxLayout, QWidget

from netwright.app.dialogs.request_state import RequestDialog
from netwright.app.experiments.trial_texts import column_label, value_in_words, values_in_words
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import named, noop, sentences, tr, translation
from netwright.designer.markup import visible, without_mnemonic
from netwright.engine.core.dataclass_json import from_json
from netwright.engine.experiments.operations.tune import MOST_MINUTES, OPERATION, TuneRequest, Varied
from netwright.engine.project.file import dumps
from netwright.engine.project.parameters import Parameter
from netwright.engine.project.trials import with_options
from netwright.engine.runs.query import OPTION

MINUTES = 10.0
ABOUT = noop(
    "Trains the project with other values until the time is over, and proves the "
    "best ones against the project as it is, in pairs of equal seeds. Only what is "
    "better by more than chance is applied; Edit > Undo takes it back."
)
STAY = noop("The trials are on the Runs page.")


def show_tune(shell: Shell) -> "TuneDialog":
    """Open the dialog, and look at what can be varied."""
    dialog = TuneDialog(shell)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog


class TuneDialog(RequestDialog):
    """Tunes the open project. It does not block the window; to close it cancels."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell.server, tr("Tune"), shell.dialog_parent)
        self._shell = shell
        self.progress = tr("Looking")
        self.cancelled = tr("Cancelled: the project is as it was. {note}", note=translation(STAY))
        self.setWindowTitle(tr("Tune for me"))
        self.resize(560, 420)
        about = QLabel(translation(ABOUT))
        about.setWordWrap(True)
        theme.mark(about, "role", "muted")
        self.minutes = QDoubleSpinBox()
        self.minutes.setRange(0.5, MOST_MINUTES)
        self.minutes.setDecimals(1)
        self.minutes.setSuffix(tr(" min"))
        self.minutes.setValue(MINUTES)
        self.minutes.setToolTip(tr("Time for trials and confirmation together"))
        form = QFormLayout()
        form.addRow(tr("&Budget"), self.minutes)
        self.title = QLabel(tr("Looking at data and network for what to vary…"))
        theme.mark(self.title, "role", "strong")
        self.boxes: dict[str, QCheckBox] = {}
        self._varied, self.rows = QWidget(), QVBoxLayout()
        self.rows.setContentsMargins(0, 0, 0, 0)
        self._varied.setLayout(self.rows)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        column.addWidget(about)
        column.addLayout(form)
        column.addWidget(self.title)
        column.addWidget(self._varied)
        column.addWidget(self.state)
        column.addStretch(1)
        column.addLayout(self.row_of_buttons())
        self._ask(OPERATION, self._asked(plan=True), self._show_plan, shell.documents.hosts)

    def _asked(self, *, plan: bool = False) -> TuneRequest:
        documents = self._shell.documents
        project = documents.source or documents.base / "untitled.netwright"
        return TuneRequest(
            project=project.absolute(),
            text=dumps(documents.identified(self._shell.editor.project)),
            minutes=self.minutes.value(),
            keeps=tuple(path for path, box in self.boxes.items() if not box.isChecked()),
            plan=plan,
        )

    def _show_plan(self, result: dict[str, Any]) -> None:
        """Show what can be varied."""
        self.set_busy(is_busy=False)
        self.state.say("", "help")
        self.title.setText(tr("Varied"))
        for each in result["varied"]:
            varied: Varied = from_json(Varied, each)
            box = QCheckBox(without_mnemonic(named(_label(varied.path), _values(varied))))
            box.setToolTip(visible(varied.path))
            box.setChecked(True)
            box.toggled.connect(lambda _: self.set_busy(is_busy=False))
            self.boxes[varied.path] = box
            self.rows.addWidget(box)
        self.set_busy(is_busy=False)

    def start(self) -> None:
        """Tune the project as it is now."""
        self.progress = tr("Tuning")
        self._ask(OPERATION, self._asked(), self._apply, self._shell.documents.hosts)

    def set_busy(self, *, is_busy: bool) -> None:
        """Keep budget and choice while a request is under way; without anything to vary there is nothing to start."""
        super().set_busy(is_busy=is_busy)
        for widget in (self.minutes, self._varied):
            widget.setEnabled(not is_busy)
        self.go.setEnabled(not is_busy and any(box.isChecked() for box in self.boxes.values()))
        self.cancel.setText(tr("Cancel") if is_busy else tr("Close"))

    def _apply(self, result: dict[str, Any]) -> None:
        """Apply better values as one undo step, and say how sure they are."""
        self.set_busy(is_busy=False)
        values, documents = result["values"], self._shell.documents
        applied = tr(", ").join(f"{_label(path)} {value_in_words(path, value)}" for path, value in values.items())
        reason, stay = message_text(result["reason"]), translation(STAY)
        if not values:
            self.state.say(sentences((reason, stay)), "help")
        elif self._shell.editor.edit(tr("Tune"), lambda project: with_options(project, values, documents.base)):
            text = tr("{reason} Applied: {values}. {note}", reason=reason, values=applied, note=stay)
            self.state.say(text, "help")
        else:
            text = tr("{reason} The values do not fit the project as it is now.", reason=reason)
            self.state.say(text, "error")


def _label(path: str) -> str:
    return column_label(f"{OPTION}{path}")


def _values(varied: Varied) -> str:
    """Return the values of an option, and its present one, as text."""
    values = values_in_words(Parameter.read(varied.values))
    return tr("{values}; now {value}", values=values, value=value_in_words(varied.path, varied.before))
