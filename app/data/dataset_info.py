"""Keeps what is known about the project's data in step with the project: asks the engine when the choice changed."""

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from app.documents import Documents
from app.engine_server import EngineServer
from designer.editor import Editor
from engine.project.data import DataOptions
from engine.project.dataset_info import DataFacts

DELAY_MS = 200


class FactsKeeper(QObject):
    """Gives the editor its `DataFacts`. `changed` carries them or None, `failed` says what is wrong with the data."""

    changed = Signal(object)
    failed = Signal(str)

    def __init__(self, editor: Editor, documents: Documents, server: EngineServer) -> None:
        super().__init__(editor)
        self._editor = editor
        self._documents = documents
        self._server = server
        self._asked: tuple[DataOptions, str] | None = None
        self._answered: tuple[DataOptions, str] | None = None
        self._is_started = False
        self.facts: DataFacts | None = None
        self.error = ""
        self._delay = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._delay.timeout.connect(self.refresh)
        editor.project_changed.connect(self._on_project_changed)

    def start(self) -> None:
        """From now on the engine is asked: not before the window is up, because that starts a process. It is asked
        again about data that was refused when the window is come back to: the files may be there now."""
        self._is_started = True
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._come_back)  # a method, so that Qt lets go of it with the window
        self.refresh()

    def _come_back(self, state: Qt.ApplicationState) -> None:
        if self.error and state == Qt.ApplicationState.ApplicationActive:
            self.refresh(again=True)

    @property
    def is_current(self) -> bool:
        """Whether `facts` and `error` are about the data as it is chosen now."""
        return self._answered is not None and self._answered == self._wanted()

    def _on_project_changed(self, _project: object = None) -> None:
        if self._is_started and (self._asked is None or self._wanted() != self._asked):
            self._delay.start()

    def _wanted(self) -> tuple[DataOptions, str]:
        return self._editor.project.data, str(self._documents.base)

    def refresh(self, *, again: bool = False) -> None:
        """Ask the engine about the data as it is chosen now; `again` even if that was asked before."""
        if not self._is_started:
            return  # what is wanted takes imports that the first picture of the window need not wait for
        wanted = self._wanted()
        if wanted == self._asked and not again:
            if self.is_current:
                self._editor.set_facts(self.facts, self.error)  # a project that was opened knows nothing yet
            return
        self._asked = wanted
        options, base = wanted
        if options.source == "none" or options.problems():
            self._take(wanted, None, "")
            return
        self._server.request(
            "facts",
            {"data": options.write(), "base": base},
            lambda result: self._answer(wanted, DataFacts.read(result), ""),
            lambda message: self._answer(wanted, None, message),
        )

    def _answer(self, asked: tuple[DataOptions, str], facts: DataFacts | None, error: str) -> None:
        if asked == self._asked:  # else the choice has changed since, and another answer is on its way
            self._take(asked, facts, error)

    def _take(self, asked: tuple[DataOptions, str], facts: DataFacts | None, error: str) -> None:
        self._answered = asked
        self.facts, self.error = facts, error
        self._editor.set_facts(facts, error)
        self.changed.emit(facts)
        if error:
            self.failed.emit(error)
