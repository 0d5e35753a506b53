"""Files and folders that the user brings: an engine process says which kind of data they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from netwright.app.data.option_words import noun_of, phrase_of
from netwright.app.shell import Shell
from netwright.designer.engine_messages import message_text
from netwright.designer.language import sentences, tr, translation
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.operations.data_requests import GUESS, GuessRequest
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.guess import CLOSE, with_guess
from netwright.engine.project.sources.source_catalog import SOURCES
from netwright.engine.project.sources.source_type import Guess


def dropped_path(data: QMimeData) -> Path | None:
    """Return the one local file or folder that is dragged; None where there are none or several."""
    urls = data.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None


@dataclass(frozen=True)
class Brought:
    """A file or folder with the guesses of the engine, the likeliest first; `data` are the options that were set."""

    path: Path
    guesses: tuple[Guess, ...]
    data: DataOptions
    chosen: str
    """Key of the source that was set."""

    @property
    def text(self) -> str:
        """Return a sentence on the source of the path, and the reason."""
        guess = next((guess for guess in self.guesses if guess.source == self.chosen), None)
        why = message_text(f"{guess.reason}.") if guess is not None else ""
        near = [
            tr(
                "It could also be {kind}. {reason}.",
                kind=phrase_of(SOURCES[other.source]),
                reason=message_text(other.reason),
            )
            for other in self.guesses
            if other.source != self.chosen and self.guesses[0].confidence - other.confidence < CLOSE
        ]
        kind = tr("{name}: {kind}.", name=self.path.name, kind=noun_of(SOURCES[self.chosen]))
        return sentences((kind, why, *near))


class DataGuesser(QObject):
    """Asks the engine what a file or folder is, and sets the source and its options in one step."""

    changed = Signal()
    """`brought` is another one."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell.dialog_parent)
        self._shell = shell
        self.brought: Brought | None = None
        self._asked: Path | None = None

    def choose(self, *, is_folder: bool) -> None:
        """Ask for a file or a folder, and use it as data."""
        start, parent = str(self._shell.documents.folder), self._shell.dialog_parent
        if is_folder:
            name = QFileDialog.getExistingDirectory(parent, tr("Choose the folder of the data"), start)
        else:
            kinds = (translation(source.pattern) for source in SOURCES.values() if source.takes in ("file", "both"))
            patterns = ";;".join([tr("All files (*)"), *kinds])
            name, _ = QFileDialog.getOpenFileName(parent, tr("Choose the data"), start, patterns)
        if name:
            self.use(Path(name))

    def use(self, path: Path) -> None:
        """Use a file or folder as data; a project is not for here."""
        self._asked = path
        self._shell.hint(tr("Looking at {name}…", name=path.name))
        self._shell.server.ask(
            GUESS, GuessRequest(path=path), partial(self._on_answer, path), partial(self._on_error, path)
        )

    def _on_answer(self, path: Path, answer: Mapping[str, Any]) -> None:
        if path != self._asked:
            return
        self._asked = None
        guesses = tuple(Guess(**guess) for guess in answer["guesses"])
        if not guesses:
            self._shell.hint("")
            self._shell.show_error(tr("The data is not understood"), str(answer["refusal"]))
            return
        self._take(path, guesses, guesses[0])

    def _on_error(self, path: Path, message: str) -> None:
        if path == self._asked:
            self._asked = None
            self._shell.hint("")
            self._shell.show_error(tr("The data cannot be used"), message)

    def _take(self, path: Path, guesses: tuple[Guess, ...], guess: Guess) -> None:
        editor = self._shell.editor
        data = with_guess(editor.project.data, guess, path, self._shell.documents.short)
        self.brought = Brought(path, guesses, data, guess.source)
        editor.apply(tr("Choose data"), replace(editor.project, data=data))
        self._shell.documents.remember_data(path)
        self._shell.hint("")
        self._shell.show_tab("data")
        self.changed.emit()

    def links(self) -> dict[str, Callable[[], None]]:
        """Return the other guesses that are close, as the words of a link and what it does."""
        current = self.brought
        if current is None:
            return {}
        return {
            tr("Use as {kind}", kind=noun_of(SOURCES[guess.source])): partial(
                self._take, current.path, current.guesses, guess
            )
            for guess in current.guesses
            if guess.source != current.chosen and current.guesses[0].confidence - guess.confidence < CLOSE
        }

    def kinds_menu(self, parent: QWidget) -> QMenu:
        """Return a menu of the other kinds that read a file, or a folder, as the one that was brought."""
        menu = QMenu(parent)
        current = self.brought
        for source in SOURCES.values() if current is not None else ():
            assert current is not None
            takes = ("folder", "both") if current.path.is_dir() else ("file", "both")
            if source.takes in takes and source.key != current.chosen:
                match = next((guess for guess in current.guesses if guess.source == source.key), None)
                guess = match or Guess(source.key, 0.0, tr("Chosen by you"))
                action = menu.addAction(translation(source.label))
                action.triggered.connect(partial(self._take, current.path, current.guesses, guess))
        return menu


def is_project(path: Path) -> bool:
    """Return whether a file is a project, by its suffix."""
    return path.suffix == SUFFIX and path.is_file()
