"""The definition of an experiment in the open project: what varies, how its values are chosen and what is compared."""

from functools import partial

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from netwright.app.experiments.parameter_list import ParameterList
from netwright.app.shell import Shell
from netwright.designer.forms.form import Form
from netwright.engine.project.experiment import LIMITS, ExperimentOptions
from netwright.engine.project.sweeps import can_vary, comparing_networks, varied_paths, with_parameter
from netwright.engine.project.trials import READY, ready


class DefinitionPanel(QWidget):
    """Edits the section `experiment` of the project; each change can be undone."""

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shell = shell
        options = shell.editor.project.experiment
        self.parameters, self.form = ParameterList(), Form(options, folded=(LIMITS,))
        self.parameters.show_parameters(options.parameters)
        self.form.changed.connect(self._on_edited)
        self.parameters.edited.connect(lambda parameters: self.form.set_value("parameters", parameters))
        self.vary_menu, self.ready_menu = QMenu(self), QMenu(self)
        self.vary_menu.aboutToShow.connect(self.fill_vary_menu)
        for name, text in READY.items():
            self.ready_menu.addAction(text, lambda name=name: self.begin_with(name))
        self.ready_menu.addAction("Compare architectures…", self._compare_networks)
        begin_with, vary = QPushButton("Start from"), QPushButton("Add parameter")
        begin_with.setMenu(self.ready_menu)
        begin_with.setToolTip("Definitions of experiments to begin with")
        vary.setMenu(self.vary_menu)
        vary.setToolTip("Add an option or a field of a layer to what varies")
        head = QHBoxLayout()
        head.addStretch(1)
        head.addWidget(begin_with)
        head.addWidget(vary)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addLayout(head)
        for widget in (self.parameters, self.form):
            column.addWidget(widget)
        column.addStretch(1)

    def show_project(self) -> None:
        """Show the definition as it is in the project now."""
        options = self._shell.editor.project.experiment
        if self.form.record != options:
            self.form.set_record(options)
        self.parameters.show_parameters(options.parameters)

    def _on_edited(self, name: str) -> None:
        value = getattr(self.form.record, name)
        changed = self._shell.editor.project.experiment.replace(**{name: value})
        self._define(changed, f"Change {name.replace('_', ' ')} of the experiment")

    def _define(self, options: ExperimentOptions, text: str) -> None:
        self._shell.editor.edit(text, lambda project: project.with_section("experiment", options))

    def begin_with(self, name: str) -> None:
        """Take a ready definition."""
        self._define(ready(name, self._shell.editor.project), "Define an experiment")

    def _compare_networks(self) -> None:
        """Ask for project files, whose networks the trials take."""
        shell = self._shell
        start, pattern = str(shell.documents.folder), "Projects (*.netwright)"
        names, _ = QFileDialog.getOpenFileNames(shell.dialog_parent, "Compare architectures", start, pattern)
        if names:
            compare = partial(comparing_networks, files=names, base=shell.documents.base)
            shell.editor.edit("Compare architectures", compare)

    def fill_vary_menu(self) -> None:
        """Offer the training options by their groups, and the fields of each layer."""
        self.vary_menu.clear()
        project = self._shell.editor.project
        groups: dict[str, QMenu] = {}
        for name, field in type(project.training).fields.items():
            if can_vary(field) and project.training.is_visible(name):
                if field.group not in groups:
                    groups[field.group] = self.vary_menu.addMenu(field.group)
                groups[field.group].addAction(field.label, lambda path=f"training.{name}": self.vary(path))
        layers = self.vary_menu.addMenu("Layers")
        for layer in project.network.layers.values():
            fields = {n: f for n, f in layer.type.fields.items() if can_vary(f)}
            if fields:
                menu = layers.addMenu(f"{layer.name} ({layer.type.label})")
                for name, field in fields.items():
                    menu.addAction(field.label, lambda path=f"network.{layer.name}.{name}": self.vary(path))
        layers.setEnabled(bool(layers.actions()))

    def vary(self, path: str) -> None:
        """Add an option or a field of a layer to what varies, with values around the present one."""
        if path in varied_paths(self._shell.editor.project):
            self._shell.hint(f"{path} varies already.")
            return
        self._shell.editor.edit(f"Vary {path}", lambda project: with_parameter(project, path))
