"""Transfer learning in one dialog: weights to start from, a new head, frozen layers, lower learn rates."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from netwright.app.dialog import Dialog
from netwright.app.dialogs.weights_table import WeightsTable
from netwright.app.messages import breakable
from netwright.app.processes import EngineServer
from netwright.app.widgets import within_screen
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.forms.row import section_label
from netwright.designer.language import layer_label, noop, sentences, tr, translation
from netwright.designer.markup import visible
from netwright.engine.core.errors import UserError
from netwright.engine.core.text import format_percent
from netwright.engine.network.analysis import analyse, frozen_parameters
from netwright.engine.network.block import Block
from netwright.engine.operations.weights_files import MATCH, MatchRequest
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.project.published_weights import Published, with_inputs_of
from netwright.engine.project.transferred_layers import (
    freeze_up_to,
    frozen_layers,
    head_change,
    outputs_of,
    replace_head,
    scale_rates,
    with_freezing,
)
from netwright.engine.project.weights import SUFFIXES, WeightsOptions

WIDTH, HEIGHT = 820, 760
DELAY_MS = 200
LABEL_WIDTH = 112
NORMALISED = noop("Inputs are normalised as those that the weights were trained with.")
NONE, CURRENT, RUN, FILE, OTHER_RUN, PUBLISHED = "none", "current", "run", "file", "other run", "published"


class TransferDialog(Dialog):
    """Edits a copy of the project, which `project` returns; the engine reports which weights fit it."""

    def __init__(
        self,
        project: Project,
        base: Path,
        server: EngineServer,
        info: DatasetInfo | None,
        parent: QWidget | None = None,
        *,
        run: tuple[str, Path] | None = None,
        selected: str = "",
        template: str = "",
        starts_with_run: bool = False,
    ) -> None:
        """`run` is the name and the folder of a run to offer, `selected` the id of the layer selected on the canvas,
        `template` the name of the template that the project was made of."""
        super().__init__(parent)
        self._before, self._base, self._server, self._info = project, base, server, info
        self._run, self._selected = run, selected
        self._weights = project.weights.replace(freeze_up_to="")
        self._template = template
        self._published: Published | None = None
        """The entry of the address book whose file was chosen."""
        self._request: int | None = None
        self._error = ""
        self.report: dict[str, Any] = {}
        self._delay = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._delay.timeout.connect(self._ask)
        self.setWindowTitle(tr("Transfer learning"))
        self.resize(within_screen(self, WIDTH, HEIGHT))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(8)
        column.addWidget(section_label(tr("Weights")))
        column.addLayout(self._make_source())
        self.table = WeightsTable()
        self.table.mapped.connect(self._on_mapped)
        column.addWidget(self.table, 1)
        column.addSpacing(8)
        column.addLayout(self._make_choices())
        column.addSpacing(8)
        column.addLayout(self._make_buttons())
        if starts_with_run and run is not None:
            self.source.setCurrentIndex(self.source.findData(RUN))
            self._on_source(self.source.currentIndex())
        self._refresh()

    # ---- making ----

    def _make_source(self) -> QVBoxLayout:
        column, row = QVBoxLayout(), QHBoxLayout()
        column.setSpacing(4)
        self.source = QComboBox()
        self.source.setAccessibleName(tr("Weights to start from"))
        self.source.addItem(tr("None: random numbers"), NONE)
        if self._weights.file:
            self.source.addItem(visible(_file_name(self._weights.file)), CURRENT)
            self.source.setCurrentIndex(1)
        if self._run is not None:
            self.source.addItem(visible(tr("Run: {run}", run=self._run[0])), RUN)
        self.source.addItem(tr("A file…"), FILE)
        self.source.addItem(tr("Another run…"), OTHER_RUN)
        self.source.addItem(tr("Published weights…"), PUBLISHED)
        self.source.activated.connect(self._on_source)
        self.only_misfits = QCheckBox(tr("Only what is not loaded"))
        self.only_misfits.toggled.connect(self._show_table)
        self.clear_map = QPushButton(tr("Clear names set by hand"))
        theme.mark(self.clear_map, "role", "link")
        self.clear_map.setAutoDefault(False)
        self.clear_map.clicked.connect(self._on_map_cleared)
        row.addWidget(self.source)
        row.addWidget(self.clear_map)
        row.addStretch(1)
        row.addWidget(self.only_misfits)
        self.state = QLabel()
        self.state.setWordWrap(True)
        column.addLayout(row)
        column.addWidget(self.state)
        return column

    def _make_choices(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        self._add_head(grid)
        self._add_freezing(grid)
        self._add_rates(grid)
        return grid

    def _add_head(self, grid: QGridLayout) -> None:
        self.head = QCheckBox()
        self.outputs = QSpinBox()
        self.outputs.setRange(1, 1_000_000)
        self.outputs.setGroupSeparatorShown(True)
        self.outputs.setAccessibleName(tr("Outputs of the new head"))
        num_outputs = self._info.outputs if self._info is not None else 0
        self.outputs.setValue(num_outputs or 10)
        self.head.setText(tr("Replace for the data") if self._info is not None else tr("Replace, with outputs:"))
        self.head.setChecked(self._info is not None and outputs_of(self._before.network) not in (num_outputs, 0))
        self.head_note = _note()
        row = QHBoxLayout()
        for widget in (self.head, self.outputs) if self._info is None else (self.head,):
            row.addWidget(widget)
        row.addStretch(1)
        _add(grid, tr("Head"), row, self.head_note)
        self.head.toggled.connect(self._refresh)
        self.outputs.valueChanged.connect(self._refresh)

    def _add_freezing(self, grid: QGridLayout) -> None:
        self.freeze = self._layer_box(tr("Freeze up to"), tr("None: all layers learn"))
        self.use_selected = QPushButton()
        theme.mark(self.use_selected, "role", "link")
        self.use_selected.setAutoDefault(False)
        at = self.freeze.findData(self._selected) if self._selected else -1
        if at < 0:
            self.use_selected.hide()
        else:
            self.use_selected.setText(tr("Selected: {layer}", layer=self.freeze.itemText(at).partition(" · ")[0]))
            self.use_selected.clicked.connect(lambda: self.freeze.setCurrentIndex(at))
        if self._before.weights.freeze_up_to:
            ids = {layer.name: id for id, layer in self._before.network.layers.items()}
            name = self._before.weights.freeze_up_to
            index = self.freeze.findData(ids.get(name, name))
            if index < 0:  # inside a block, which the list does not show
                self.freeze.addItem(visible(name), name)
                index = self.freeze.count() - 1
            self.freeze.setCurrentIndex(index)
        self.freeze_note = _note()
        row = QHBoxLayout()
        row.addWidget(self.freeze)
        row.addWidget(self.use_selected)
        row.addStretch(1)
        _add(grid, tr("Freeze up to"), row, self.freeze_note)
        self.freeze.currentIndexChanged.connect(self._refresh)

    def _add_rates(self, grid: QGridLayout) -> None:
        self.factor = QDoubleSpinBox()
        self.factor.setRange(0.0, 1.0)
        self.factor.setDecimals(3)
        self.factor.setSingleStep(0.1)
        self.factor.setValue(1.0)
        self.factor.setAccessibleName(tr("Factor of the learn rate"))
        self.rates = self._layer_box(tr("Lower rate up to"), tr("no layer"))
        self.rates_note = _note()
        row = QHBoxLayout()
        for widget in (self.factor, QLabel(tr("times the learn rate, up to")), self.rates):
            row.addWidget(widget)
        row.addStretch(1)
        _add(grid, tr("Learn rate"), row, self.rates_note)
        self.factor.valueChanged.connect(self._refresh)
        self.rates.currentIndexChanged.connect(self._refresh)

    def _layer_box(self, name: str, none: str) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        box.addItem(none, "")
        network = self._before.network
        for id in network.order:
            layer = network.layers[id]
            if "frozen" in layer.type.fields or (isinstance(layer.type, Block) and layer.type.has_weights):
                box.addItem(visible(f"{layer.name} · {layer_label(layer.type.label)}"), id)
        box.setMaxVisibleItems(20)
        return box

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.note = _note()
        row.addWidget(self.note, 1)
        cancel = QPushButton(tr("Cancel"))
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.ok = QPushButton(tr("OK"))
        self.ok.setDefault(True)
        theme.mark(self.ok, "primary", True)
        self.ok.clicked.connect(self.accept)
        row.addWidget(cancel)
        row.addWidget(self.ok)
        return row

    # ---- choosing ----

    def _on_source(self, index: int) -> None:
        kind, path = self.source.itemData(index), None
        if kind == FILE:
            patterns = " ".join([tr("Weights"), f"({' '.join(f'*{suffix}' for suffix in SUFFIXES)})"])
            name, _ = QFileDialog.getOpenFileName(self, tr("Weights to start from"), str(self._base), patterns)
            path = Path(name) if name else None
        elif kind == OTHER_RUN:
            start = self._base / "runs" if (self._base / "runs").is_dir() else self._base
            name = QFileDialog.getExistingDirectory(self, tr("Folder of a run"), str(start))
            path = Path(name) if name else None
        elif kind == PUBLISHED:
            path = self._choose_published()
        elif kind == RUN and self._run is not None:
            path = self._run[1]
        elif kind == CURRENT:
            self._use(self._before.weights.replace(freeze_up_to=""))
            return
        elif kind == NONE:
            self._use(WeightsOptions())
            return
        if path is None:
            self._show_source()
        else:
            self.use(path)

    def _choose_published(self) -> Path | None:
        """Let published weights be chosen, and downloaded first where they are not here."""
        from netwright.app.dialogs.published_weights_dialog import PublishedDialog

        try:
            dialog = PublishedDialog(self._server, self._template, self)
        except UserError as error:
            self._say(message_text(error), "error")
            return None
        dialog.exec()
        entry = dialog.chosen
        dialog.deleteLater()
        if entry is None:
            return None
        self._published = entry
        return entry.path

    def use(self, path: Path) -> None:
        """Start from a file, or from the result of a run."""
        place, folder = path.resolve(), self._base.resolve()
        name = place.relative_to(folder).as_posix() if place.is_relative_to(folder) else str(place)
        self._use(WeightsOptions(file=name))

    def _use(self, weights: WeightsOptions) -> None:
        self._weights = weights
        if self._published is not None and Path(weights.file) != self._published.path.resolve():
            self._published = None
        self._show_source()
        self._refresh()

    def _show_source(self) -> None:
        """Show the present source in the list."""
        name = self._weights.file
        at = self.source.findData(name or NONE)
        if name and self._run is not None and (self._base / name).resolve() == self._run[1].resolve():
            at = self.source.findData(RUN)
        if name and at < 0 and name == self._before.weights.file:
            at = self.source.findData(CURRENT)
        if at < 0:
            self.source.insertItem(1, _file_name(name), name)
            at = 1
        self.source.setCurrentIndex(at)

    def _on_mapped(self, pairs: dict[str, str]) -> None:
        names = {**dict(self._weights.map), **pairs}
        self._weights = self._weights.replace(map=tuple(names.items()))
        self._refresh()

    def _on_map_cleared(self) -> None:
        self._weights = self._weights.replace(map=())
        self._refresh()

    # ---- the result ----

    def project(self) -> Project:
        """Return the project with these choices. Raises `UserError` where one cannot be carried out."""
        project = self._before.with_section("weights", self._weights)
        if self._published is not None:
            project = with_inputs_of(project, self._published)
        if self.factor.value() != 1.0 and self.rates.currentData():
            project = scale_rates(project, self.rates.currentData(), round(self.factor.value(), 3))
        if self.freeze.currentData():
            project = freeze_up_to(project, self.freeze.currentData())
        if self.head.isChecked():
            project = replace_head(project, self._info if self._info is not None else self.outputs.value())
        return project

    def _refresh(self, _: object = None) -> None:
        """Show the effect of the choices, and ask the engine which weights fit."""
        self.clear_map.setVisible(bool(self._weights.map))
        self.rates.setEnabled(self.factor.value() != 1.0)
        try:
            project = self.project()
        except UserError as error:
            self.note.setText(breakable(str(error)))
            theme.mark(self.note, "role", "error")
            self.ok.setEnabled(False)
            return
        self.note.setText("")
        self.ok.setEnabled(not self._error)
        self.head_note.setText(head_change(self._before, project) if self.head.isChecked() else "")
        self._show_frozen(project)
        lowered = self.factor.value() != 1.0 and self.rates.currentData()
        self.rates_note.setText(tr("The layers behind it learn at the full rate.") if lowered else "")
        for note in (self.head_note, self.freeze_note, self.rates_note):
            note.setVisible(bool(note.text()))
        if self._weights.file:
            self._say(tr("Comparing the names and shapes…"), "help")
            self._delay.start()
        else:
            self._delay.stop()
            self.report, self._error = {}, ""
            self.ok.setEnabled(True)
            self._say(tr("The run starts from random numbers."), "help")
            self._show_table()

    def _show_frozen(self, project: Project) -> None:
        frozen = len(frozen_layers(project))
        text = ""
        if frozen:
            network = with_freezing(project).network
            analysis = analyse(network)
            rest = frozen_parameters(network, analysis)
            text = _frozen_text(frozen, rest / analysis.parameters if analysis.parameters else None)
        self.freeze_note.setText(text)

    def _ask(self) -> None:
        """Ask the engine which weights fit the project with the present choices."""
        if self._request is not None:
            self._server.cancel(self._request)
        try:
            project = self.project()
        except UserError:
            return
        request = MatchRequest(project=self._base, text=dumps(project), base=self._base)
        self._request = self._server.ask(MATCH, request, self._take, self._fail)

    def _take(self, report: dict[str, Any]) -> None:
        self._request, self._error = None, ""
        self._weights = self._weights.replace(sha256=report["sha256"])
        self.report = report
        counts = self.report["counts"]
        is_whole = not (counts["other_shape"] or counts["missing"])
        sentence = message_text(self.report["sentence"])
        if self._published is not None and self._published.mean:
            sentence = sentences((sentence, translation(NORMALISED)))
        self._say(sentence, "good" if is_whole else "warning" if counts["matched"] else "error")
        self.ok.setEnabled(True)
        self._show_table()

    def _fail(self, message: str) -> None:
        self._request, self._error = None, message
        self.report = {}
        self._say(message, "error")
        self.ok.setEnabled(False)
        self._show_table()

    def _say(self, text: str, role: str) -> None:
        theme.mark(self.state, "role", role)
        self.state.setText(breakable(text))

    def _show_table(self, _: object = None) -> None:
        self.only_misfits.setVisible(bool(self.report))
        self.table.show_report(self.report, only_misfits=self.only_misfits.isChecked())

    def done(self, result: int) -> None:
        """Stop asking."""
        self._delay.stop()
        if self._request is not None:
            self._server.cancel(self._request)
            self._request = None
        super().done(result)


def _frozen_text(count: int, share: float | None) -> str:
    """Say that frozen layers keep their weights; `share` of the parameters is theirs."""
    if share is None:
        return tr("1 layer keeps its weights.") if count == 1 else tr("%n layers keep their weights.", "", count)
    part = format_percent(share)
    if count == 1:
        return tr("1 layer keeps its weights, {share} of the parameters.", share=part)
    return tr("%n layers keep their weights, {share} of the parameters.", "", count, share=part)


def _note() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    theme.mark(label, "role", "help")
    return label


def _add(grid: QGridLayout, name: str, row: QHBoxLayout, note: QLabel) -> None:
    """Add a choice with its name at the left, and an explanation below."""
    at = grid.rowCount()
    row.setSpacing(8)
    grid.addWidget(QLabel(name), at, 0)
    grid.addLayout(row, at, 1)
    grid.addWidget(note, at + 1, 1)


def _file_name(path: str) -> str:
    return "/".join(Path(path).parts[-2:])
