"""Questions about the experiments that are under way when the window closes."""

from collections.abc import Iterable

from netwright.app import messages
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.core.errors import UserError
from netwright.engine.runs.experiments import ExperimentFolder, experiment_title, experiments_of


def under_way(shell: Shell, own: Iterable[ExperimentFolder]) -> list[ExperimentFolder]:
    """Return the experiments that are under way: those of the open project, and those that this window has begun."""
    documents = shell.documents
    folders = (*experiments_of(documents.source, documents.identity), *own)
    return [folder for folder in dict.fromkeys(folders) if folder.is_alive()]


def may_leave(shell: Shell, own: Iterable[ExperimentFolder]) -> bool:
    """Ask what to do with the experiments that are under way, if there are any. Return whether the window may
    close."""
    folders = under_way(shell, own)
    if not folders:
        return True
    answer = messages.ask_to_leave_experiments(shell.dialog_parent, [experiment_title(folder) for folder in folders])
    for folder in folders if answer == "stop" else ():
        try:
            folder.request("stop")
        except UserError as error:
            shell.show_error(tr("The experiment cannot be stopped"), str(error))
            return False
    return answer != "cancel"
