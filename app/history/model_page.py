"""The page of a model that is no run: its card, and the questions that are asked of a run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from netwright.app.history.models_panel import STAGES
from netwright.app.history.opened_models import ModelFile
from netwright.app.runs.run_texts import label_of
from netwright.app.runs.segments import OpenedModel, RunPage, Segments
from netwright.app.shell import Shell
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.part_registry import entries, entry
from netwright.engine.operations.models import SHOW, ShowRequest
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.project.preparation import PIXELS

NO_CURVES = noop("A model has no curves: those of its training are in its run. This is what is known of the model.")
READING = noop("Reading the model…")
TASKS = {
    "classes": noop("one of the classes"),
    "labels": noop("any of the labels"),
    "numbers": noop("numbers"),
    "transcripts": noop("a transcript"),
}
MOST_NAMES = 20
NAMES = 152
"""Width of the names in a group, as wide in each."""


class CardPage(QScrollArea):
    """The card of a model: groups of rows."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.rows: list[tuple[str, str]] = []
        """Names and texts that are shown."""

    def show_card(self, card: Mapping[str, Any]) -> None:
        """Show the result of `models show`."""
        page, column = QWidget(), QVBoxLayout()
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(12)
        note = QLabel(translation(NO_CURVES))
        theme.mark(note, "role", "muted")
        note.setWordWrap(True)
        column.addWidget(note)
        self.rows = []
        for title, rows in groups_of(card):
            if rows:
                self.rows += rows
                column.addWidget(_group(title, rows))
        column.addStretch(1)
        page.setLayout(column)
        self.setWidget(page)


def groups_of(card: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the groups of a card: a title, and names with texts."""
    inputs = [(entry["name"], "\n".join([entry["text"], *entry["preparation"]])) for entry in card["inputs"]]
    yield tr("Inputs"), inputs
    yield tr("Outputs"), [(output["name"], _output(output)) for output in card["outputs"]]
    origin = [(tr("Origin"), "\n".join(card["origin"])), (tr("Parameters"), f"{card['parameters']:,}")]
    if card.get("season"):
        origin.append((tr("Season"), tr("%n step(s)", "", card["season"])))
    origin.append((tr("Data"), card.get("data") or tr("None of its own")))
    if card["assumed"]:
        origin.append((tr("Assumed"), "\n".join(card["assumed"])))
    yield tr("Network"), [row for row in origin if row[1]]
    if (model := card.get("registered")) is not None:
        lineage = model["lineage"]
        rows = [
            (tr("Version"), f"{model['name']}@{model['version']}"),
            (tr("Stage"), translation(STAGES[model["stage"]])),
        ]
        rows += [(label_of(name), format_score(name, value)) for name, value in model["metrics"].items()]
        rows += [(tr("Tags"), ", ".join(model["tags"])), (tr("From"), lineage["run"] or lineage["source"])]
        rows += [(tr("Parent"), lineage["parent"]), (tr("Fingerprint of the data"), lineage["data"][:12])]
        yield tr("Registry"), [row for row in rows if row[1]]


def _output(output: Mapping[str, Any]) -> str:
    sizes = " × ".join(tr("any") if size is None else f"{size:,}" for size in output["sizes"])
    names = output["classes"] or output["columns"]
    text = ", ".join(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        text = tr("{names} and {count:,} more", names=text, count=len(names) - MOST_NAMES)
    return "\n".join(filter(None, (tr("{task}, {sizes}", task=translation(TASKS[output["task"]]), sizes=sizes), text)))


def _group(title: str, rows: Sequence[tuple[str, str]]) -> QFrame:
    frame, grid = QFrame(), QGridLayout()
    theme.mark(frame, "role", "card")
    frame.setLayout(grid)
    grid.setContentsMargins(16, 12, 16, 12)
    grid.setHorizontalSpacing(16)
    grid.setColumnMinimumWidth(0, NAMES)
    grid.setColumnStretch(1, 1)
    heading = QLabel(title)
    theme.mark(heading, "role", "strong")
    grid.addWidget(heading, 0, 0, 1, 2)
    for at, (name, text) in enumerate(rows, 1):
        label, value = QLabel(markup.visible(name)), QLabel(markup.visible(text))
        theme.mark(label, "role", "muted")
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        for part in (label, value):
            part.setWordWrap(True)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(label, at, 0)
        grid.addWidget(value, at, 1)
    return frame


class ModelPage(QWidget):
    """Shows one model at a time. `changed` tells that it is asked about other data from now on."""

    changed = Signal(object)
    """The `ModelFile` as it is now."""

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self._shell = shell
        self.file: ModelFile | None = None
        self._card: Mapping[str, Any] | None = None
        self._request: int | None = None
        self.name, self.about, self.data = ElidedLabel(), ElidedLabel(), ElidedLabel()
        self.choose, self.pixels = QPushButton(tr("Choose data…")), QComboBox()
        self.segments, self.card = Segments(), CardPage()
        self.segments.message.button.hide()
        self._head = self._make_head()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(12)
        column.addLayout(self._head)
        column.addWidget(self.segments, 1)
        self.segments.add("curves", tr("Curves"), self.card)
        for key in entries("segments"):
            page: RunPage = entry("segments", key)(shell)
            self.segments.add(key, translation(page.title), page)
            page.sample_requested.connect(self._explain)

    def _make_head(self) -> QVBoxLayout:
        theme.mark(self.name, "role", "figure")
        theme.mark(self.about, "role", "help")
        theme.mark(self.data, "role", "muted")
        self.choose.setToolTip(tr("Data that the model is asked about: samples, and what is true of them"))
        self.choose.setMenu(QMenu(self.choose))
        self.choose.menu().aboutToShow.connect(self._fill_menu)
        self.pixels.addItems(PIXELS)
        self._pixels_label = QLabel(tr("Pixels"))
        theme.mark(self._pixels_label, "role", "muted")
        self._pixels_label.setBuddy(self.pixels)
        self.pixels.setAccessibleName(tr("Pixels"))
        self.pixels.setToolTip(tr("Range of the pixels that the network takes. Default 0 to 1."))
        self.pixels.activated.connect(lambda: self._change(pixels=self.pixels.currentText()))
        words, row = QVBoxLayout(), QHBoxLayout()
        words.setSpacing(4)
        words.addWidget(self.name)
        words.addWidget(self.about)
        row.setSpacing(8)
        for widget in (self.choose, self._pixels_label, self.pixels):
            row.addWidget(widget)
        row.addWidget(self.data, 1)
        words.addLayout(row)
        return words

    # ---- what is shown ----

    def show_model(self, file: ModelFile, title: str = "") -> None:
        """Show a model, perhaps by the name that the registry has for it."""
        if file == self.file and (self._card is not None or self._request is not None):
            return
        is_same = self.file is not None and (self.file.path, self.file.pixels) == (file.path, file.pixels)
        self.file = file
        self.name.setText(title or file.path.name)
        self.about.setText(str(file.path))
        self.data.setText(self._data_text())
        if is_same and self._card is not None:
            self._show_pages()
            return
        self.cancel()
        self._card = None
        self._show_pixels(False)
        self.pixels.setCurrentText(file.pixels or PIXELS[0])
        self._say(translation(READING))
        request = ShowRequest(model=file.path, pixels=file.pixels)
        self._request = self._shell.server.ask(SHOW, request, self._take, self._on_refused)

    def _show_pixels(self, is_shown: bool) -> None:
        """Ask for the range of the pixels, or not: a file of ours says it."""
        self.pixels.setVisible(is_shown)
        self._pixels_label.setVisible(is_shown)

    def _data_text(self) -> str:
        assert self.file is not None
        if self.file.data:
            return tr("Asked about {data}", data=self.file.data)
        own = self._card.get("data") if self._card is not None else ""
        return tr("Asked about its own data, {data}", data=own) if own else ""

    def _say(self, text: str, *, refused: bool = False) -> None:
        """Show a text in the place of the card and of each page."""
        label = QLabel(markup.visible(text))
        theme.mark(label, "role", "error" if refused else "muted")
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.card.setWidget(label)
        self.message = text
        self.choose.setEnabled(False)
        self.segments.set_run(None, text)

    def _on_refused(self, reason: str) -> None:
        self._request = None
        self._say(reason, refused=True)

    def _take(self, card: Mapping[str, Any]) -> None:
        self._request, self._card = None, card
        self.card.show_card(card)
        self.message = ""
        self.choose.setEnabled(True)
        takes_pictures = any(row["family"] == "Input" and row["layout"] == "image" for row in card["layers"])
        self._show_pixels(bool(card["assumed"]) and takes_pictures)
        self.data.setText(self._data_text())
        self._show_pages()

    def _show_pages(self) -> None:
        assert self.file is not None
        assert self._card is not None
        file = self.file
        model = OpenedModel(file.path, self._card, file.data, file.settings, file.pixels)
        for page in self.segments.pages.values():
            if isinstance(page, RunPage):
                page.set_model(model)
        self.segments.set_run(file.path, "")

    def _explain(self, split: str, place: int) -> None:
        page = self.segments.pages.get("explain")
        if isinstance(page, RunPage):
            page.show_sample(split, place)
            self.segments.choose("explain")

    # ---- its data ----

    def _fill_menu(self) -> None:
        menu, shell = self.choose.menu(), self._shell
        menu.clear()
        data = shell.editor.project.data
        rows: list[tuple[str, Callable[[], None], bool]] = [
            (tr("Data of the open project"), self.use_project_data, data.source != "none" and not data.problems()),
            (tr("A file…"), self._choose_file, True),
            (tr("A folder…"), self._choose_folder, True),
            (tr("Its own data"), lambda: self.use_data(""), bool(self._card and self._card.get("data"))),
        ]
        for text, act, is_enabled in rows:
            action = menu.addAction(text)
            action.triggered.connect(lambda _=False, act=act: act())
            action.setEnabled(is_enabled)

    def use_project_data(self) -> None:
        """Ask about the data of the open project from now on."""
        if self.file is not None:
            self.changed.emit(self.file.with_data_of(self._shell.editor.project.data, self._shell.documents.base))

    def use_data(self, path: str) -> None:
        """Ask about a file or a folder from now on; with an empty path about the model's own data."""
        self._change(data=path, settings=())

    def _change(self, **values: Any) -> None:
        if self.file is not None:
            self.changed.emit(replace(self.file, **values))

    def _choose_file(self) -> None:
        if path := QFileDialog.getOpenFileName(self, tr("Data of the model"), str(self._shell.documents.base))[0]:
            self.use_data(path)

    def _choose_folder(self) -> None:
        if path := QFileDialog.getExistingDirectory(self, tr("Data of the model"), str(self._shell.documents.base)):
            self.use_data(path)

    # ---- life ----

    def cancel(self) -> None:
        """End the request."""
        request, self._request = self._request, None
        if request is not None:
            self._shell.server.cancel(request)

    def shutdown(self) -> None:
        """End requests and processes."""
        self.cancel()
        self.segments.shutdown()
