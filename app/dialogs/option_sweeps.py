"""Training options that vary in the experiment of the project: which do, and the notice that leads to their values."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from netwright.app.widgets import Notice
from netwright.designer.forms.form import Form
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.sweeps import varied_paths, with_parameter, without_parameter

SECTION = "training"
EDIT = noop("Edit the sweep…")


class OptionSweeps(Notice):
    """Lets options of a form vary in the experiment, and says with which values. `experiment` has them."""

    edit_requested = Signal()
    """Their values are to be edited on the page of experiments, once the options are confirmed."""

    def __init__(
        self, project: Callable[[], Project], experiment: ExperimentOptions, form: Form, parent: QWidget
    ) -> None:
        """`project` returns the project as it is edited, around whose values an option varies."""
        super().__init__(parent)
        self._project, self._form = project, form
        self.experiment = experiment
        self.leads_to_search = False
        """Whether the page of experiments is to be shown after the options."""
        form.sweep_requested.connect(self._begin)
        form.sweep_ended.connect(self._end)
        self._show()

    def _begin(self, name: str) -> None:
        path = f"{SECTION}.{name}"
        if path in varied_paths(self._project()):
            self._lead()
            return
        try:
            self.experiment = with_parameter(self._project(), path).experiment
        except UserError as error:
            self.say(str(error), {})
            return
        self._show(path)

    def _end(self, name: str) -> None:
        self.experiment = without_parameter(self._project(), f"{SECTION}.{name}").experiment
        self._show()

    def _show(self, path: str = "") -> None:
        """Mark the options that vary, and say how the one at `path` does."""
        paths = {parameter.path for parameter in self.experiment.parameters}
        self._form.show_sweeps(
            {other.removeprefix(f"{SECTION}.") for other in paths if other.startswith(f"{SECTION}.")}
        )
        text = next(
            (
                tr("Varies in experiments: {values}", values=p.show())
                for p in self.experiment.parameters
                if p.path == path
            ),
            "",
        )
        self.say(text, {translation(EDIT): self._lead})

    def _lead(self) -> None:
        self.leads_to_search = True
        self.edit_requested.emit()
