"""The user's own Python code, seen from the window: its text is read here, it runs elsewhere, and only in trusted
folders.

Reads the files of custom layers when the project or a file changes, asks for a file when such a layer is added, asks
whether a folder is trusted, and has an engine process measure layers of unknown sizes.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QFileDialog, QInputDialog, QWidget

from netwright.app.documents import Documents
from netwright.app.messages import ask_to_trust, show_error
from netwright.app.processes import EngineServer
from netwright.designer.editor import Editor
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.layers.custom_layers import Custom, UserCode
from netwright.engine.network.network import Network
from netwright.engine.operations.measure import OPERATION, MeasureRequest
from netwright.engine.project import user_code
from netwright.engine.project.file import dumps
from netwright.engine.user_code import registry, trust
from netwright.engine.user_code.registry import Question
from netwright.engine.user_code.signature import Signature, read_signatures

DELAY_MS = 250
UNSAVED = noop("Save the project first: trust belongs to the folder that it lies in.")


class UserCodeTracker(QObject):
    """Tracks the user's code in the open project: reads it, asks for trust, and has its layers measured."""

    message = Signal(str)
    """A message for the status bar."""
    trusted = Signal()
    """All code of the project may run from now on."""
    measured = Signal()

    def __init__(self, editor: Editor, documents: Documents, server: EngineServer, window: QWidget) -> None:
        super().__init__(window)
        self._editor = editor
        self._documents, self._server = documents, server
        self._window = window
        self._seen: tuple[Network, tuple[str, ...]] | None = None
        """The network and the code files at the last look."""
        self._here: tuple[tuple[str, ...], Network] | None = None
        self._asked: set[tuple[str, ...]] = set()
        self._request: int | None = None
        self._tried: set[Question] = set()
        """Questions that were sent to the engine: one without an answer is not sent again."""
        self._is_started = False
        self.ask_to_trust: Callable[[QWidget, Sequence[str], Sequence[Path]], bool] = ask_to_trust
        self._delay = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._delay.timeout.connect(self.measure)
        editor.about_to_show.connect(self._on_about_to_show)
        documents.changed.connect(self.refresh)

    def start(self) -> None:
        """Measure code from now on, and read files again whenever the window becomes active."""
        self._is_started = True
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.applicationStateChanged.connect(self._come_back)  # a method, so that Qt lets go of it with the window
        self.refresh()

    def _come_back(self, _state: object = None) -> None:
        self.refresh()

    def _on_about_to_show(self, _project: object = None) -> None:
        """Read code of the project before it is checked, so that the check knows it."""
        project, editor = self._editor.project, self._editor
        before, self._here = self._here, (editor.scope, editor.network)
        data = project.data
        files = (*user_code.files(project.training), data.path if data.source == "python" else "")
        if self._seen is not None and self._seen[0] is project.network and self._seen[1] == files:
            return
        self._seen = project.network, files
        if not user_code.has_code(project):
            return
        user_code.look(project, self._documents.base)
        self._delay.start()
        if before is not None and before[0] == editor.scope:
            inside = before[1]
            QTimer.singleShot(0, self, lambda: self._choose_for_new(inside))

    def refresh(self) -> None:
        """Read the files again: they, or the folder of the project, may have changed."""
        project = self._editor.project
        if user_code.has_code(project) and user_code.look(project, self._documents.base):
            registry.forget_failures()
            self._tried.clear()
            self._editor.recheck()
        if user_code.has_code(project):
            self._delay.start()

    # Trust

    def is_trusted(self) -> bool:
        """Whether all code of the project may run."""
        return not user_code.untrusted(self._editor.project)

    def ask(self) -> bool:
        """Ask whether the project's folder is trusted, unless it is. Return whether all code may run now."""
        project = self._editor.project
        names = user_code.untrusted(project)
        if not names:
            return True
        if self._documents.path is None:
            show_error(self._window, tr("The code cannot be trusted yet"), translation(UNSAVED))
            return False
        folders = user_code.folders(project)
        if not self.ask_to_trust(self._window, names, folders):
            self.message.emit(tr("The project's own code does not run. Network > Trust the project's code asks again."))
            return False
        try:
            for folder in folders:
                trust.trust(folder)
        except UserError as error:
            show_error(self._window, tr("The folder cannot be trusted"), str(error))
            return False
        user_code.look(project, self._documents.base)
        self._editor.recheck()
        self.trusted.emit()
        self.measure()
        return True

    def review(self) -> None:
        """Ask for trust, from the menu. Where there is nothing to ask, say so and measure again what failed."""
        if not self.is_trusted():
            self.ask()
            return
        has_code = user_code.has_code(self._editor.project)
        self.message.emit(
            tr("The project's code is trusted.") if has_code else tr("The project has no code of its own.")
        )
        if has_code:
            registry.forget_failures()
            self._tried.clear()
            self._editor.recheck()
            self.measure()

    def _ask_once(self) -> None:
        """Ask for trust in code that was not asked about before: of a project that was opened, or a layer that was
        added."""
        names = user_code.untrusted(self._editor.project)
        key = (str(self._documents.base), *names)
        if names and key not in self._asked and self._documents.path is not None:
            self._asked.add(key)
            self.ask()

    # Sizes

    def measure(self) -> None:
        """Have the unknown sizes measured that may be, by one engine process at a time."""
        if not self._is_started or self._request is not None:
            return
        project = self._editor.project
        if not user_code.has_code(project):
            return
        self._ask_once()
        questions = set(user_code.open_questions(project.network, self._editor.check_result.analysis)) - self._tried
        if self._request is not None or not questions:
            return
        self._tried |= questions
        self.message.emit(tr("Measuring the project's own layers…"))
        base = self._documents.base.absolute()
        request = MeasureRequest(project=base, text=dumps(project), base=base)
        self._request = self._server.ask(OPERATION, request, self._on_measured, self._on_failed)
        registry.set_being_measured(questions)
        self._editor.recheck()

    def _on_measured(self, result: dict[str, Any]) -> None:
        self._end_request()
        registry.learn_answers(result["answers"])
        user_code.look(self._editor.project, self._documents.base)
        self.message.emit("")
        self._editor.recheck()
        self.measured.emit()
        self._delay.start()  # what was changed meanwhile

    def _on_failed(self, message: str) -> None:
        self._end_request()
        self._editor.recheck()
        self.message.emit(tr("The sizes cannot be measured: {message}", message=message))

    def _end_request(self) -> None:
        if self._request is not None:
            self._request = None
            registry.set_being_measured(())

    def close(self) -> None:
        """Cancel the measurement."""
        self._is_started = False
        self._delay.stop()
        if self._request is not None:
            self._server.cancel(self._request)
        self._end_request()

    # Choosing

    def _choose_for_new(self, before: Network) -> None:
        """Ask for the file of a custom layer that was just added, and for the class if another file was chosen."""
        editor = self._editor
        if editor.stack.index() != editor.stack.count() or not editor.stack.count():
            return  # undone, redone or opened: nobody wants to be asked
        for id, layer in editor.network.layers.items():
            old = before.layers.get(id)
            if old is layer or not isinstance(layer.type, UserCode):
                continue
            is_new = old is None or not isinstance(old.type, UserCode)
            if is_new and isinstance(layer.type, Custom) and not layer.type.file:
                self.choose_file(id)
                return
            if old is not None and isinstance(old.type, UserCode) and layer.type.file != old.type.file:
                self.choose_name(id, layer.type.file)
                return

    def choose_file(self, id: str) -> None:
        """Ask for the file of a layer, and for the class or function in it. A new layer is removed if that is
        cancelled."""
        start, title = str(self._documents.folder), tr("Choose the Python file of the layer")
        name, _ = QFileDialog.getOpenFileName(self._window, title, start, tr("Python files (*.py)"))
        if not name:
            self._editor.undo()
            return
        self.choose_name(id, self._relative(Path(name)))

    def _relative(self, path: Path) -> str:
        """Return a path as the project names it: relative to its folder if it lies inside."""
        base = self._documents.base
        if self._documents.path is not None and path.is_relative_to(base):
            return path.relative_to(base).as_posix()
        return str(path)

    def choose_name(self, id: str, file: str) -> None:
        """Use a class or function of a file for the layer: the only one, or the one that the user chooses."""
        layer = self._editor.network.layers.get(id)
        if layer is None or not isinstance(layer.type, UserCode) or not file:
            return
        kind = "class" if isinstance(layer.type, Custom) else "function"
        try:
            signatures = _offered(self._documents.base / file, file, kind)
        except UserError as error:
            show_error(self._window, tr("The file cannot be used"), str(error))
            return
        choice = next((signature for signature in signatures if signature.name == layer.type.code_name), None)
        choice = choice or (signatures[0] if len(signatures) == 1 else self._chosen(signatures, kind, file))
        if choice is None:
            return
        type = layer.type.replace(file=file).with_signature(choice)
        change = lambda network: user_code.with_type(network, id, type)  # noqa: E731  # one use, and short
        self._editor.edit_network(tr("Use {name} of {file}", name=choice.name, file=os.path.basename(file)), change)

    def _chosen(self, signatures: Sequence[Signature], kind: str, file: str) -> Signature | None:
        names = [signature.name for signature in signatures]
        question = tr("{file} has several. Which class is the layer?", file=file)
        if kind == "function":
            question = tr("{file} has several. Which function is the layer?", file=file)
        name, is_chosen = QInputDialog.getItem(self._window, tr("Custom layer"), question, names, 0, False)
        return next((signature for signature in signatures if signature.name == name), None) if is_chosen else None


def _offered(path: Path, file: str, kind: str) -> list[Signature]:
    """Return the classes or functions in a file that can be layers. Raises `UserError` if there is nothing."""
    try:
        text = registry.read_code(path, file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(tr("{file} is not UTF-8 text. Choose a Python file.", file=file)) from None
    of_kind = [signature for signature in read_signatures(text, file) if signature.kind == kind]
    signatures = [signature for signature in of_kind if not signature.refusal]
    if not signatures:
        text = tr("{file} has no function that can be a layer.", file=file)
        if kind == "class":
            text = tr("{file} has no class that is an nn.Module that can be a layer.", file=file)
        raise UserError(f"{text} {of_kind[0].refusal}" if of_kind else text)
    return signatures
