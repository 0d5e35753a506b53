"""The definition of an experiment in the open project: what varies, how its values are chosen and what is compared."""

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QCompleter,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app.experiments.parameter_table import ParameterTable
from netwright.app.experiments.trial_texts import path_label
from netwright.app.shell import Shell
from netwright.app.widgets import NO_LIMIT, Divider, SidePanel
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import duration_text, message_text
from netwright.designer.forms.form import Form
from netwright.designer.forms.row import sentence
from netwright.designer.language import in_sentence, layer_label, noop, tr, translation, with_english
from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.project.experiment import CODE, LIMITS, ExperimentOptions
from netwright.engine.project.parameters import Parameter
from netwright.engine.project.project import Project
from netwright.engine.project.sweeps import can_vary, comparing_networks, varied_paths, with_parameter
from netwright.engine.project.trials import READY, definition_problems, is_whole, num_trials, ready

WIDTH = 440
SECTIONS_TO_VARY = {"training": noop("Training"), "data": noop("Data"), "environment": noop("Environment")}
"""Names of the sections whose options can vary."""
TEXT_HELP = noop("One parameter per line: training.momentum=0.8,0.9 or training.initial_learn_rate=log 0.0001..0.1:5")
TEXT_LINES = 6


def parameters_offered(project: Project) -> Iterator[tuple[str, str]]:
    """Yield what can vary, as texts and paths: options that apply, then fields of layers."""
    for section, title in SECTIONS_TO_VARY.items():
        record = project.section(section)
        for name, field in record.fields.items():
            if can_vary(field) and record.is_visible(name):
                yield f"{with_english(field.label)} · {translation(field.group or title)}", f"{section}.{name}"
    for layer in project.network.layers.values():
        for name, field in layer.type.fields.items():
            if can_vary(field):
                text = f"{layer.name}: {in_sentence(field.label)} · {layer_label(layer.type.label)}"
                yield text, f"network.{layer.name}.{name}"


class ParameterSearch(QLineEdit):
    """A line in which what is to vary is found by its label. `chosen` tells its path."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._paths: dict[str, str] = {}
        self._labels = QStringListModel(self)
        self.setPlaceholderText(tr("Add parameter…"))
        self.setAccessibleName(tr("Add parameter"))
        self.setToolTip(tr("Type part of the name of an option, or of a layer"))
        add = self.addAction(theme.icon("plus", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        add.setText(tr("Show all that can vary"))
        add.triggered.connect(self._show_all)
        completer = QCompleter(self._labels, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(self._take, Qt.ConnectionType.QueuedConnection)  # the line takes the text first
        if (popup := completer.popup()) is not None:
            theme.mark(popup, "role", "popup")
        self.setCompleter(completer)
        self.returnPressed.connect(self._choose_first, Qt.ConnectionType.QueuedConnection)  # once the list is closed

    def offer(self, offered: Iterator[tuple[str, str]]) -> None:
        """Offer texts, each for a path."""
        paths = dict(offered)
        if paths != self._paths:
            self._paths = paths
            self._labels.setStringList(list(paths))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The down key shows all that can vary."""
        if event.key() == Qt.Key.Key_Down:
            self._show_all()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click shows all that can vary."""
        super().mousePressEvent(event)
        if not self.text():
            self._show_all()

    def _show_all(self) -> None:
        self.completer().setCompletionPrefix(self.text())
        self.completer().complete()

    def _choose_first(self) -> None:
        """Choose the first text that begins with what is typed, else one that has it."""
        typed = self.text().strip().lower()
        matches = sorted(
            (not t.lower().startswith(typed), n, t) for n, t in enumerate(self._paths) if typed in t.lower()
        )
        if typed and matches:
            self._take(matches[0][2])

    def _take(self, text: str) -> None:
        if (path := self._paths.get(text)) is not None:
            self.clear()
            self.chosen.emit(path)


class DefinitionText(QPlainTextEdit):
    """The parameters as text. `left` is emitted when the keyboard goes elsewhere."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Parameters as text"))
        self.setToolTip(translation(TEXT_HELP))
        self.setPlaceholderText(translation(TEXT_HELP))
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * TEXT_LINES + 16)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell that the text may have changed."""
        super().focusOutEvent(event)
        self.left.emit()


class DefinitionPanel(QWidget):
    """Edits the section `experiment` of the project; each change can be undone. Its button runs the trials."""

    run_requested = Signal()
    closed = Signal()

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shell = shell
        self._run_times: Sequence[float] = ()
        self._is_busy = False
        options = shell.editor.project.experiment
        self.parameters, self.search, self.text = ParameterTable(), ParameterSearch(), DefinitionText()
        self.form = Form(options, skip=("parameters",), folded=(CODE, LIMITS))
        self.text_error, self.copied = QLabel(), ElidedLabel()
        self.counted, self.schedule, self.reason = QLabel(), QLabel(), QLabel()
        self.as_text, self.close_button = QPushButton(tr("Edit as text")), QToolButton()
        self.run_button, self.begin_with = QPushButton(tr("Run")), QPushButton(tr("Start from"))
        self._connect()
        self._lay_out()
        self._show_text(False)
        self.show_copied("")

    def _connect(self) -> None:
        self.form.changed.connect(self._on_edited)
        self.parameters.edited.connect(self._set_parameters)
        self.search.chosen.connect(self.vary)
        self.text.left.connect(self._read_text)
        self.as_text.clicked.connect(lambda: self._show_text(self.text.isHidden()))
        self.run_button.clicked.connect(self.run_requested)
        self.close_button.clicked.connect(self.closed)
        self.ready_menu = QMenu(self)
        for name, text in READY.items():
            self.ready_menu.addAction(translation(text), partial(self.start_from, name))
        self.ready_menu.addAction(tr("Compare architectures…"), self._compare_networks)
        self.begin_with.setMenu(self.ready_menu)
        self.begin_with.setToolTip(tr("Definitions of sweeps to start from"))

    def _lay_out(self) -> None:
        title = QLabel(tr("New sweep"))
        for widget, role in (
            *((title, "title"), (self.copied, "help"), (self.counted, "strong"), (self.schedule, "help")),
            *((self.as_text, "link"), (self.text_error, "error"), (self.reason, "help")),
        ):
            theme.mark(widget, "role", role)
        for note in (self.counted, self.schedule, self.reason, self.text_error):
            note.setWordWrap(True)
        theme.mark(self.run_button, "primary", True)
        self.close_button.setAutoRaise(True)
        self.close_button.setIcon(theme.icon("close", "muted"))
        self.close_button.setToolTip(tr("Close the definition"))
        self.close_button.setAccessibleName(tr("Close the definition"))
        head, count = QHBoxLayout(), QHBoxLayout()
        head.addWidget(title, 1)
        for button in (self.begin_with, self.close_button):
            head.addWidget(button)
        count.addWidget(self.counted, 1)
        count.addWidget(self.as_text, 0, Qt.AlignmentFlag.AlignTop)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(8)
        column.addLayout(head)
        for part in (
            self.copied,
            self.parameters,
            self.search,
            self.text,
            self.text_error,
            Divider(),
            count,
            self.schedule,
        ):
            column.addLayout(part) if isinstance(part, QHBoxLayout) else column.addWidget(part)
        column.addWidget(self.form)
        column.addStretch(1)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 12, 16, 12)
        foot.addWidget(self.reason, 1)
        foot.addWidget(self.run_button)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        panel = SidePanel(content, WIDTH)
        panel.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        panel.setMaximumWidth(NO_LIMIT)  # a narrow window leaves it all the room
        whole.addWidget(panel, 1)
        whole.addWidget(Divider())
        whole.addLayout(foot)
        theme.mark(self, "role", "panel")

    # ---- what is shown ----

    def show_project(self) -> None:
        """Show the definition as it is in the project now."""
        project = self._shell.editor.project
        options = project.experiment
        if self.form.record != options:
            self.form.set_record(options)
        self.parameters.show_parameters(options.parameters, project, self._shell.documents.base)
        self.search.offer(parameters_offered(project))
        if not self.text.hasFocus():
            self.text.setPlainText("\n".join(parameter.show() for parameter in options.parameters))
        self.counted.setText(self._count_text(project))
        self.schedule.setText(self._schedule_text(project))
        self.schedule.setVisible(bool(self.schedule.text()))
        self._show_run()

    def show_copied(self, title: str) -> None:
        """Say of which sweep this is a copy; empty for none. A copy can be closed."""
        self.copied.setText(tr("A copy of {title}", title=title) if title else "")
        self.copied.setVisible(bool(title))
        self.close_button.setVisible(bool(title))

    def set_run_times(self, seconds: Sequence[float]) -> None:
        """Take the times of finished runs of the project, by which that of the trials is estimated."""
        if list(seconds) != list(self._run_times):
            self._run_times = seconds
            self.show_project()

    def set_busy(self, *, is_busy: bool) -> None:
        """Let nothing begin while a sweep is being begun."""
        self._is_busy = is_busy
        self._show_run()

    def _show_run(self) -> None:
        project = self._shell.editor.project
        count = num_trials(project)
        self.run_button.setText(tr("Run %n trial(s)", "", count) if count else tr("Run sweep"))
        why = self.why_not()
        self.reason.setText(markup.visible(why))
        self.run_button.setEnabled(not why and not self._is_busy)
        self.run_button.setToolTip(markup.wrapped(why))

    def why_not(self) -> str:
        """Return why the trials cannot be run; empty where they can."""
        project = self._shell.editor.project
        if not varies(project.experiment):
            return tr("Nothing varies yet. Add a parameter, or repeats.")
        problem = next(iter(definition_problems(project, self._shell.documents.base)), None)
        return sentence(message_text(problem.message)) if problem is not None else ""

    def _count_text(self, project: Project) -> str:
        """Return the number of trials, and about how long they take where that is known."""
        text, options = count_text(project), project.experiment
        runs = num_trials(project) * options.runs_per_trial
        if not self._run_times or not runs or not varies(options):
            return text
        duration = duration_text(runs * median(self._run_times) / max(1, options.at_once))
        return tr("{trials}, about {duration}", trials=text, duration=duration)

    def _schedule_text(self, project: Project) -> str:
        """Return how many run at once, and how long a run took."""
        if not self._run_times or not varies(project.experiment):
            return ""
        shortest, longest = (duration_text(end) for end in (min(self._run_times), max(self._run_times)))
        took = tr("runs took {shortest} to {longest}", shortest=shortest, longest=longest)
        if shortest == longest:
            took = tr("runs took {duration}", duration=shortest)
        at_once = project.experiment.at_once
        schedule = tr("One at a time") if at_once else tr("If one at a time")
        if at_once > 1:
            schedule = tr("{count:,} at once", count=at_once)
        return tr("; ").join((schedule, took))

    # ---- edits ----

    def _on_edited(self, name: str) -> None:
        value = getattr(self.form.record, name)
        changed = self._shell.editor.project.experiment.replace(**{name: value})
        self._define(changed, tr("Change {option} of the sweep", option=in_sentence(type(changed).fields[name].label)))

    def _set_parameters(self, parameters: Sequence[Parameter]) -> None:
        self._define(self._shell.editor.project.experiment.replace(parameters=parameters), tr("Change what varies"))

    def _define(self, options: ExperimentOptions, text: str) -> None:
        self._shell.editor.edit(text, lambda project: project.with_section("experiment", options))

    def copy(self, options: ExperimentOptions, title: str) -> None:
        """Take the definition of another sweep."""
        if options != self._shell.editor.project.experiment:
            self._define(options, tr("Edit a copy of {title}", title=title))
        self.show_copied(title)

    def start_from(self, name: str) -> None:
        """Take a ready definition."""
        self._define(ready(name, self._shell.editor.project), tr("Define a sweep"))

    def _compare_networks(self) -> None:
        """Ask for project files, whose networks the trials take."""
        shell = self._shell
        start, pattern = str(shell.documents.folder), tr("Projects (*.netwright)")
        names, _ = QFileDialog.getOpenFileNames(shell.dialog_parent, tr("Compare architectures"), start, pattern)
        if names:
            compare = partial(comparing_networks, files=names, base=shell.documents.base)
            shell.editor.edit(tr("Compare architectures"), compare)

    def vary(self, path: str) -> None:
        """Add an option or a field of a layer to what varies, with values around the present one."""
        if path in varied_paths(self._shell.editor.project):
            self._shell.hint(tr("{path} varies already.", path=path_label(path)))
        else:
            self._shell.editor.edit(
                tr("Vary {path}", path=path_label(path)), lambda project: with_parameter(project, path)
            )
        if (row := self.parameters.rows.get(path)) is not None:
            row.values.currentWidget().setFocus()

    def _show_text(self, is_text: bool) -> None:
        """Show the parameters as text, or as the table."""
        self.text.setVisible(is_text)
        for widget in (self.parameters, self.search):
            widget.setVisible(not is_text)
        self.as_text.setText(tr("Edit as table") if is_text else tr("Edit as text"))
        self.text_error.setVisible(is_text and bool(self.text_error.text()))

    def _read_text(self) -> None:
        """Take the parameters of the text, or say what is wrong with them."""
        lines = [line for line in self.text.toPlainText().splitlines() if line.strip()]
        before = {parameter.show(): parameter for parameter in self._shell.editor.project.experiment.parameters}
        try:
            parameters = [before.get(line.strip()) or Parameter.read(line.strip()) for line in lines]
            changed = self._shell.editor.project.experiment.replace(parameters=parameters)
        except FieldErrors as refused:
            self.text_error.setText(markup.visible(sentence(message_text(refused.errors[0].message))))
        except UserError as error:
            self.text_error.setText(markup.visible(sentence(message_text(error))))
        else:
            self.text_error.clear()
            if changed != self._shell.editor.project.experiment:
                self._define(changed, tr("Change what varies"))
        self.text_error.setVisible(not self.text.isHidden() and bool(self.text_error.text()))


def varies(options: ExperimentOptions) -> bool:
    """Return whether anything differs between the trials or the runs of an experiment."""
    is_chosen = options.strategy in ("table", "function")
    return bool(options.parameters or options.table or options.runs_per_trial > 1 or is_chosen)


def count_text(project: Project) -> str:
    """Return the number of trials, and how it comes about: `3 × 5 = 15 trials`."""
    options = project.experiment
    if not varies(options):
        return tr("Nothing varies yet")
    count = num_trials(project)
    text = tr("%n trial(s)", "", count) if count else tr("Trials until it ends")
    if options.strategy == "grid" and options.parameters:
        counts = []
        for parameter in options.parameters:
            try:
                counts.append(len(parameter.points(is_whole=is_whole(project, parameter.path))))
            except UserError:  # told beside the parameter
                return text
        product = " × ".join(f"{each:,}" for each in counts)
        if not count:  # conditions leave some of them out
            text = tr("At most {count} trials", count=product)
        elif len(counts) > 1:
            text = f"{product} = {text}"
    runs = options.runs_per_trial
    return tr("{trials}, {runs:,} runs each", trials=text, runs=runs) if runs > 1 else text
