"""The commands about weights to start from: transfer learning in one dialog, and pruning."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.shell import Shell, open_dialog
from netwright.app.training import Training
from netwright.designer.engine_messages import title_text
from netwright.designer.language import tr
from netwright.engine.project.transferred_layers import freeze_up_to

if TYPE_CHECKING:
    from netwright.engine.runs.summary import RunSummary


class WeightsCommands:
    """The commands for the weights that runs of a window start from."""

    def __init__(
        self, shell: Shell, dataset: DatasetTracker, training: Training, open_project: Callable[[Path], object]
    ) -> None:
        self._shell, self._dataset, self._training = shell, dataset, training
        self._open_project = open_project

    def transfer(self, _: object = None) -> None:
        """Choose weights, head and frozen layers for the open project: one step that can be undone."""
        self._training.catch_up()  # the last run of a project that was just opened: nobody has looked at it yet
        folder = self._training.run_folder
        run = (folder.path.name, folder.path) if folder is not None and folder.kept() is not None else None
        self._open(run, starts_with_run=False)

    def start_from(self, run: "RunSummary") -> None:
        """Let the open project start from the result of a run."""
        self._open((title_text(run.title), run.path), starts_with_run=True)

    def _open(self, run: tuple[str, Path] | None, *, starts_with_run: bool) -> None:
        from netwright.app.dialogs.transfer_learning import TransferDialog

        shell, editor = self._shell, self._shell.editor
        dialog = TransferDialog(
            editor.project,
            shell.documents.base,
            shell.server,
            self._dataset.info,
            shell.dialog_parent,
            run=run,
            selected="/".join((*editor.scope, next(iter(editor.selection)))) if len(editor.selection) == 1 else "",
            template=Path(shell.documents.title).stem,
            starts_with_run=starts_with_run,
        )
        is_confirmed = bool(dialog.exec())
        project = dialog.project() if is_confirmed else editor.project
        dialog.deleteLater()
        if project != editor.project:
            editor.apply(tr("Start from weights"), project)
            shell.hint(tr("The next run starts from these weights. Ctrl+Z undoes it."))

    def prune(self) -> None:
        """Make the network of the run that is shown smaller, and open the project that is made."""
        self._training.catch_up()
        folder = self._training.run_folder
        if folder is None or folder.kept() is None:
            self._shell.show_error(
                tr("There is no trained network yet"), tr("Train the network first: a smaller one is made of it.")
            )
            return
        open_dialog("prune", self._shell, folder, self._open_project)

    def freeze_none(self) -> None:
        """Let all layers learn again, apart from those whose field Freeze is on."""
        self._shell.editor.edit(tr("Freeze no layers"), lambda project: freeze_up_to(project, ""))
