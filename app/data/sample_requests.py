"""Requests for samples of the data of the project: one at a time, with pictures in a folder until they are shown."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer

from netwright.app.data.dataset_tracker import progress_text
from netwright.app.processes import OnError, OnResult
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.operations.data_requests import PREVIEW, PreviewRequest

PREVIEW_SAMPLES = 60


class SampleRequests(QObject):
    """Asks the engine for samples; the latest request replaces one that is not answered yet."""

    def __init__(self, shell: Shell, folder: str, said: Callable[[str], None], parent: QObject) -> None:
        """Have pictures written to folders inside `folder`. `said` is told how far the engine is."""
        super().__init__(parent)
        self._shell, self._folder, self._said = shell, folder, said
        self._id: int | None = None

    def cancel(self) -> bool:
        """Cancel the request that is not answered yet; return whether there was one."""
        if self._id is None:
            return False
        self._shell.server.cancel(self._id)
        self._id = None
        return True

    def drop(self) -> None:
        """Cancel the request unless it runs: the next one can use the data that it reads."""
        if self._id is not None:
            self._shell.server.cancel(self._id, only_waiting=True)
            self._id = None

    def ask(self, more: Mapping[str, Any], show: OnResult, fail: OnError) -> None:
        """Ask for samples of the project's data as it is now."""
        folder = tempfile.mkdtemp(dir=self._folder)
        self.drop()

        def done(answer: dict[str, Any]) -> None:
            self._id = None
            show(answer)
            QTimer.singleShot(0, self, lambda: shutil.rmtree(folder, ignore_errors=True))

        def failed(message: str) -> None:
            self._id = None
            fail(message)

        def progressed(progress: dict[str, Any]) -> None:
            self._said(tr("Looking at samples: {progress}", progress=progress_text(progress)))

        project, documents = self._shell.editor.project, self._shell.documents
        samples = PreviewRequest.of(project, documents.base, folder, PREVIEW_SAMPLES, 0)
        request = replace(samples, **more)
        server, hosts = self._shell.server, documents.hosts
        self._id = server.ask(PREVIEW, request, done, failed, on_progress=progressed, hosts=hosts)
