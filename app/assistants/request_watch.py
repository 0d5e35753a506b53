"""Asks the user what assistants ask for: to start a run of the open project, or to look at a proposal."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from netwright.app.messages import ask
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.core.fields import printable
from netwright.engine.core.part_registry import imported
from netwright.engine.runs.window_requests import WindowRequest, announce, answer, claim, finish

INTERVAL_MS = 1000
MOST_DETAILS = 12
COMPARISON = "netwright.app.dialogs.compare_projects:show_comparison"
"""Imported with the first proposal: most windows do without."""


class RequestWatch(QObject):
    """Tells assistants which project is open, and looks for what they ask. One thing is asked at a time."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell.dialog_parent)
        self._shell = shell
        self._is_asking = False
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.look)
        shell.documents.changed.connect(self._announce)
        QApplication.instance().aboutToQuit.connect(self.stop)  # type: ignore[union-attr]
        self._announce()

    def _announce(self) -> None:
        path = self._shell.documents.path
        announce(path)
        if path is None:
            self._timer.stop()
        else:
            self._timer.start()

    def stop(self) -> None:
        """Tell assistants that there is nobody to ask any more."""
        self._timer.stop()
        announce(None)

    def look(self) -> None:
        """Ask about a request, unless a dialog is open."""
        path = self._shell.documents.path
        if path is None or self._is_asking or QApplication.activeModalWidget() is not None:
            return
        if (request := claim(path)) is not None:
            self._is_asking = True
            try:
                self._ask(request)
            finally:
                self._is_asking = False

    def _ask(self, request: WindowRequest) -> None:
        client = printable(request.client) or tr("An assistant")
        if request.kind == "run":
            self._ask_for_run(request, client)
        else:
            self._offer_proposal(request, client)

    def _ask_for_run(self, request: WindowRequest, client: str) -> None:
        title = tr("An assistant wants to start a run of {name}.", name=Path(request.project).name)
        text = tr("{client} asks for it. The run takes the file of the project as it was saved.", client=client)
        is_accepted = self._is_agreed(title, text, request.settings, tr("Start run"), tr("Do not start"))
        is_awaited = answer(request, is_accepted=is_accepted)
        if is_accepted and is_awaited:
            self._shell.show_tab("runs")
        elif is_accepted:
            text = tr("It has waited for too long, and no run was started. Press Train to start one yourself.")
            self._shell.show_error(tr("The assistant has given up"), text)

    def _offer_proposal(self, request: WindowRequest, client: str) -> None:
        finish(request)
        file = Path(request.proposal)
        title = tr("An assistant proposes changes to {name}.", name=Path(request.project).name)
        text = tr("{client} has written {file} beside it. The project is as it was.", client=client, file=file.name)
        if self._is_agreed(title, text, request.details, tr("Show changes"), tr("Not now")):
            imported(COMPARISON)(self._shell, file, is_newer=True)

    def _is_agreed(self, title: str, text: str, lines: Sequence[str], label: str, refusal: str) -> bool:
        """Ask with lines of details, each of them one line whatever is in it."""
        more = [tr("and %n more", "", len(lines) - MOST_DETAILS)] if len(lines) > MOST_DETAILS else []
        details = [printable(line) for line in lines[:MOST_DETAILS]]
        return ask(self._shell.dialog_parent, title, "\n".join([text, "", *details, *more]), label, refusal=refusal)


def watch(shell: Shell) -> None:
    """Ask the user of a window what assistants ask for, as long as it is open."""
    RequestWatch(shell)
