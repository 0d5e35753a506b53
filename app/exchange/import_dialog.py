"""Import a file of another program: where the project goes, progress with Cancel, and errors in words."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app import messages
from netwright.app.dialogs.request_state import RequestDialog
from netwright.app.processes import EngineServer
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import visible
from netwright.engine.core.errors import UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.exchange.operations.import_network import OPERATION, ImportRequest
from netwright.engine.project.source_note import noted_project
from netwright.engine.user_code import trust
from netwright.engine.user_code.registry import module_names

LEAST_WIDTH, LABEL_WIDTH = 560, 76
EXPORTED = "Network"
"""The class of source that Netwright exported."""
INPUTS_HELP = noop(
    "A class is built, run once and exported by torch: sizes of one sample, inputs "
    "separated by commas, indices as 128:int64; arguments as in a call."
)
SOURCE_HELP = noop(
    "The file is read without running it; to compare its numbers with the network's, its class has to run."
)
EDITED_HELP = noop(
    "The file was edited after its export, so its class has to run: torch exports it, as any other class."
)
SIZES_HELP = noop("For sizes that the file leaves free. Usually not needed")


def free_name(source: Path, folder: Path) -> Path:
    """Return a project file that does not exist, named after the imported file, with a number if it is taken."""
    stem, number = source.stem or "network", 1
    while (path := folder / f"{stem}{'' if number == 1 else f'_{number}'}{SUFFIX}").exists():
        number += 1
    return path


def writable_folder(folder: Path) -> Path:
    """Return a folder, or the home folder where nothing can be written to it."""
    return folder if os.access(folder, os.W_OK) else Path.home()


class ImportDialog(RequestDialog):
    """Imports one file through the engine. After `exec` returned Accepted, `report` is the engine's answer."""

    def __init__(self, server: EngineServer, source: Path, target: Path, parent: Any = None) -> None:
        super().__init__(server, tr("Import"), parent)
        self.progress, self.cancelled = tr("Importing"), tr("The import was cancelled. Nothing was opened.")
        self._source = source
        self._browsed = ""
        self.report: dict[str, Any] = {}
        self.setWindowTitle(tr("Import network"))
        self.setMinimumWidth(LEAST_WIDTH)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        title = ElidedLabel()
        title.setText(tr("Import {name}", name=source.name), note=str(source))
        theme.mark(title, "role", "title")
        column.addWidget(title)
        note = QLabel(tr("The network becomes a project that can be edited and trained, with its weights beside it."))
        note.setWordWrap(True)
        theme.mark(note, "role", "help")
        column.addWidget(note)
        column.addLayout(self._make_fields(target))
        self.module = ModuleFields(source)
        column.addWidget(self.module)
        self.module.setVisible(source.suffix.lower() == ".py")
        if self.module.refusal:
            note.setText(self.module.refusal)
        column.addWidget(self.state)
        column.addStretch(1)
        column.addLayout(self.row_of_buttons())

    def _make_fields(self, target: Path) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        self.target = QLineEdit(str(target))
        self.target.setAccessibleName(tr("Project to write"))
        self.browse = QPushButton(tr("Browse…"))
        self.browse.setAutoDefault(False)
        self.browse.clicked.connect(self._choose_target)
        self.sizes = QLineEdit()
        self.sizes.setPlaceholderText("height=224, width=224")
        self.sizes.setAccessibleName(tr("Sizes that the file leaves free"))
        self.sizes.setToolTip(translation(SIZES_HELP))
        for row, (text, field) in enumerate(((tr("&Project"), self.target), (tr("&Free sizes"), self.sizes))):
            label = QLabel(text)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.addWidget(self.browse, 0, 2)
        note = QLabel(translation(SIZES_HELP))
        note.setWordWrap(True)
        theme.mark(note, "role", "help")
        grid.addWidget(note, 2, 1)
        return grid

    def _choose_target(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self,
            tr("Save the imported project"),
            self.target.text(),
            tr("Netwright projects (*{suffix})", suffix=SUFFIX),
        )
        if name:
            self._browsed = name  # that dialog has asked whether to replace it
            self.target.setText(name)

    def start(self) -> None:
        """Ask the engine for the import; an existing project is replaced only after a question."""
        text = self.target.text().strip()
        if not text:
            self.state.say(tr("Choose where to save the project."), "error")
            return
        target = Path(text).expanduser()
        if target.suffix != SUFFIX:
            target = target.with_name(target.name + SUFFIX)
        is_replaced = target.exists()
        if is_replaced and str(target) != self._browsed:
            title, question = (
                tr("Replace {names}?", names=target.name),
                tr("It exists in {folder}; its network and weights are lost.", folder=target.parent),
            )
            if not messages.ask(self, title, question, tr("Replace")):
                return
        sizes, refusal = sizes_in(self.sizes.text())
        if refusal:
            self.state.say(refusal, "error")
            return
        values: dict[str, Any] = {"file": str(self._source)}
        if self.module.name and not self.module.inputs:
            self.state.say(tr("Say the sizes of the inputs, such as 3x224x224."), "error")
            return
        if self.module.has_to_run:
            if not self._may_run():
                self.state.say(tr("Without trust the file is not run, and nothing can be imported from it."), "error")
                return
            values |= self.module.values() if self.module.name else {}
        elif self.module.is_source and not (self.module.runs.isChecked() and self._may_run()):
            self.module.runs.setChecked(False)
            values["compares"] = not trust.is_trusted(self._source)  # without trust, the report says what is missing
        self.state.say(tr("Reading the file… the first time takes a few seconds."), "help")
        self._ask(OPERATION, ImportRequest(output=target, sizes=sizes, force=is_replaced, **values), self._take)

    def _may_run(self) -> bool:
        """Return whether the code of the file may run, after asking for trust in its folder."""
        if trust.is_trusted(self._source):
            return True
        file, name = self._source.name, self.module.name or EXPORTED
        if self.module.has_to_run:
            question = tr("To import {name}, {file} has to run. May it?", name=name, file=file)
        else:
            question = tr("To compare its numbers, {file} has to run. May it?", file=file)
        if not messages.ask_to_trust(self, [self._source.name], [self._source.parent], question):
            return False
        trust.trust(self._source.parent)
        return True

    def _take(self, report: dict[str, Any]) -> None:
        self.report = report
        self.accept()

    def set_busy(self, *, is_busy: bool) -> None:
        """Disable what must not change during an import."""
        super().set_busy(is_busy=is_busy)
        for widget in (self.target, self.sizes, self.browse, self.go, self.module):
            widget.setEnabled(not is_busy)


class ModuleFields(QWidget):
    """Fields for the import of a Python file: exported source, whose class may run to compare its numbers and has to
    where it was edited, or a class to build and export, with sizes of its inputs and arguments."""

    def __init__(self, source: Path) -> None:
        super().__init__()
        self._source = source
        self.refusal = ""
        names: tuple[str, ...] = ()
        self.is_python = source.suffix.lower() == ".py"
        self._is_edited = False
        if self.is_python:
            try:
                names = module_names(source)
                self._is_edited = noted_project(source) is None
            except UserError as error:
                self.refusal = str(error)
        self.choice = QComboBox()
        self.choice.setAccessibleName(tr("What to import of the file"))
        if EXPORTED in names or not names:
            self.choice.addItem(tr("Source that Netwright exported"), "")
        for name in names:
            self.choice.addItem(visible(tr("class {name}", name=name)), name)
        self.runs = QCheckBox(tr("Run the class to compare its numbers"))
        self.runs.setChecked(self.is_python and trust.is_trusted(source))
        self._inputs, self._arguments = QLineEdit(), QLineEdit()
        self._inputs.setPlaceholderText("3x224x224")
        self._arguments.setPlaceholderText("num_classes=10")
        self._make_grid()
        self.choice.currentIndexChanged.connect(self._show_fields)
        self._show_fields()

    def _make_grid(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        self._of_class: list[QWidget] = [self._inputs, self._arguments]
        fields = ((tr("&What"), self.choice), (tr("&Inputs"), self._inputs), (tr("&Arguments"), self._arguments))
        for row, (text, field) in enumerate(fields):
            label = QLabel(text)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
            if field is not self.choice:
                self._of_class.append(label)
        grid.addWidget(self.runs, len(fields), 1)
        self._note = QLabel()
        self._note.setWordWrap(True)
        theme.mark(self._note, "role", "help")
        grid.addWidget(self._note, len(fields) + 1, 1)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)

    def _show_fields(self, _: int = 0) -> None:
        for widget in self._of_class:
            widget.setVisible(bool(self.name))
        self.runs.setVisible(not self.has_to_run)
        self._note.setText(translation(INPUTS_HELP if self.name else EDITED_HELP if self._is_edited else SOURCE_HELP))

    @property
    def has_to_run(self) -> bool:
        """Whether the class is imported by running it, not only compared: any class but that of unedited source."""
        return self._is_edited if self.is_source else bool(self.name)

    @property
    def is_source(self) -> bool:
        """Whether source that Netwright exported is chosen."""
        return self.is_python and not self.name

    @property
    def name(self) -> str:
        """The class to build; empty for source that Netwright exported."""
        return str(self.choice.currentData() or "")

    @property
    def inputs(self) -> list[str]:
        """The sizes of each input, as they were typed."""
        return [part for part in map(str.strip, self._inputs.text().split(",")) if part]

    def show_values(self, inputs: str, arguments: str) -> None:
        """Show these inputs and arguments."""
        self._inputs.setText(inputs)
        self._arguments.setText(arguments)

    def values(self) -> dict[str, Any]:
        """Return the values for the request of the import."""
        file, arguments = f"{self._source}:{self.name}", self._arguments.text().strip()
        return {"file": file, "inputs": tuple(self.inputs), "arguments": arguments}


def sizes_in(text: str) -> tuple[tuple[str, ...], str]:
    """Return the sizes in a text such as `height=224, width=224`, and its error, if any."""
    sizes: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if not name or not number.isdecimal() or not 0 < int(number) <= 1_000_000_000:
            return (), tr("'{part}' is no size: expected a name and a whole number, such as height=224.", part=part)
        sizes.append(f"{name}={int(number)}")
    return tuple(sizes), ""


def import_network(shell: Shell, source: Path) -> Mapping[str, Any] | None:
    """Ask how a file is imported, and import it. Return the report, which names the project; None without one."""
    source = source.resolve()
    target = free_name(source, writable_folder(source.parent))
    dialog = ImportDialog(shell.server, source, target, shell.dialog_parent)
    is_done, report = bool(dialog.exec()), dialog.report
    dialog.deleteLater()
    return report if is_done else None
