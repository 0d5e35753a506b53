"""Tracks what of its weights the open project starts from: asks the engine when the network or the weights change."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.documents import Documents
from netwright.app.processes import EngineServer
from netwright.designer.editor import Editor
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr
from netwright.engine.network.network import Network
from netwright.engine.operations.weights_files import MATCH, MatchRequest
from netwright.engine.project.file import dumps
from netwright.engine.project.weights import WeightsOptions

DELAY_MS = 600


class WeightsTracker(QObject):
    """Says in a few words what a run of the open project starts from."""

    changed = Signal(str, str, bool)
    """The words, a longer text, and whether something is wrong. Without weights the words are empty."""

    def __init__(self, editor: Editor, documents: Documents, server: EngineServer) -> None:
        super().__init__(editor)
        self._editor, self._documents, self._server = editor, documents, server
        self._asked: tuple[Network, WeightsOptions, Path] | None = None
        self._request: int | None = None
        self._delay = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._delay.timeout.connect(self._ask)
        editor.project_changed.connect(self._on_project_changed)
        documents.changed.connect(self._on_project_changed)

    def _on_project_changed(self, _: object = None) -> None:
        project = self._editor.project
        if not project.weights.file:
            if self._asked is not None:
                self._forget()
                self.changed.emit("", "", False)
            return
        question = (project.network, project.weights, self._documents.base)
        if self._asked is None or question[1:] != self._asked[1:]:
            self.changed.emit(
                tr("Starts from {name}", name=Path(project.weights.file).name), project.weights.file, False
            )
        if self._asked is None or question[0] is not self._asked[0] or question[1:] != self._asked[1:]:
            self._forget()
            self._asked = question
            self._delay.start()

    def _forget(self) -> None:
        self._delay.stop()
        self._asked = None
        if self._request is not None:
            self._server.cancel(self._request)
            self._request = None

    def _ask(self) -> None:
        base = self._documents.base
        request = MatchRequest(project=base, text=dumps(self._editor.project), base=base)
        self._request = self._server.ask(MATCH, request, self._take, self._fail)

    def _take(self, report: dict[str, Any]) -> None:
        self._request = None
        counts = report["counts"]
        name, total = Path(self._editor.project.weights.file).name, counts["matched"] + counts["other_shape"]
        total += counts["missing"]
        words = tr(
            "Starts from {name}: {count:,} of {total:,} tensors", name=name, count=counts["matched"], total=total
        )
        self.changed.emit(words, message_text(report["sentence"]), not counts["matched"])

    def _fail(self, message: str) -> None:
        self._request = None
        name = Path(self._editor.project.weights.file).name
        self.changed.emit(tr("{name} cannot be used", name=name), message, True)
