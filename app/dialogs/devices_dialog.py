"""The devices of this machine: which can be trained on, whether everything works, and how fast they are.

A process of its own examines them and reports as it goes; the window only reads along.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from netwright.app.dialog import Dialog
from netwright.app.plots.bar_rows import BarRow, BarRows, BarStyle, Column
from netwright.app.processes import DisposableProcess
from netwright.app.widgets import Divider, within_screen
from netwright.designer import markup, theme
from netwright.designer.engine_messages import message_text, part_text
from netwright.designer.forms.row import section_label
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.process import module_command
from netwright.engine.core.text import format_number
from netwright.engine.placement.inventory import DeviceInventory

SPEED_COLUMNS = (Column(is_muted=True), Column(is_right=True))
_STATES = {"ok": ("✓", "good"), "failed": ("✕", "error"), "none": ("–", "muted")}
_EXPECTED = (noop("driver"), noop("build"), noop("capability"), noop("peer access"), noop("rendezvous"))
"""The checks in their order, listed before they are done; `translation` shows them."""
_OTHER_WORDS = (
    noop("matrix product"),
    noop("convolution"),
    noop("copy"),
    noop("sum over two workers"),
    noop("free memory"),
)
"""Other words of the machine test; `translation` shows them."""
_LOOKING = noop("Detecting the devices of this machine…")


class Speeds(QWidget):
    """Panels two by two, one per device and kind of work. Each has a scale of its own, so that bars of one panel
    compare."""

    def __init__(self) -> None:
        super().__init__()
        self.panels: dict[str, BarRows] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(28)

    def show_figures(self, figures: Sequence[Mapping[str, Any]]) -> None:
        """Show figures as `netwright.engine.launch.machine_test` reports them."""
        panels: dict[str, list[Mapping[str, Any]]] = {}
        for figure in figures:
            title = tr(
                "{device}: {work}, {unit}",
                device=figure["device"],
                work=translation(figure["work"]),
                unit=figure["unit"],
            )
            panels.setdefault(title, []).append(figure)
        for title in [title for title in panels if title not in self.panels]:
            self._add_panel(title)
        if not panels:
            self.panels = {}
            while (item := self._grid.takeAt(0)) is not None:
                if (widget := item.widget()) is not None:
                    widget.deleteLater()
        for title, group in panels.items():
            self.panels[title].show_rows([_speed_row(figure) for figure in group])
        texts = (f"{title}. {rows.accessibleDescription()}" for title, rows in self.panels.items())
        self.setAccessibleDescription(markup.visible("; ".join(texts)))

    def _add_panel(self, title: str) -> None:
        heading, row, column = QLabel(markup.visible(title)), *divmod(len(self.panels), 2)
        theme.mark(heading, "role", "strong")
        rows = self.panels[title] = BarRows(SPEED_COLUMNS, BarStyle(row=22, text=11, has_track=True))
        rows.setAccessibleName(title)
        self._grid.addWidget(heading, 2 * row, column)
        self._grid.addWidget(rows, 2 * row + 1, column, Qt.AlignmentFlag.AlignTop)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1)


def _speed_row(figure: Mapping[str, Any]) -> BarRow:
    words = tr("not available: {reason}", reason=message_text(figure["refusal"])) if figure["refusal"] else ""
    text = "" if words else format_number(figure["value"])
    return BarRow((figure["kind"], text), ((figure["value"], "accent"),), words=words)


class DevicesDialog(Dialog):
    """Examines the devices when it is shown. What the window knows already is there at once, and the rest is filled in
    as answers come. Stop, or closing it, ends the process."""

    def __init__(
        self,
        parent: QWidget | None = None,
        command: Sequence[str] | None = None,
        inventory: DeviceInventory | None = None,
    ) -> None:
        super().__init__(parent)
        self._inventory = inventory
        self._rows: dict[tuple[str, str], tuple[QLabel, ...]] = {}
        self._expected: set[tuple[str, str]] = set()
        self._command = list(command or module_command("netwright.engine.launch.machine_test"))
        self.trial = DisposableProcess(self)
        self.trial.said.connect(self._take)
        self.trial.ended.connect(self._on_closed)
        self._figures: list[dict[str, Any]] = []
        self._is_complete = False
        self.setWindowTitle(tr("Devices"))
        self.resize(within_screen(self, 760, 720))
        self.state = QLabel()
        self.state.setWordWrap(True)
        theme.mark(self.state, "role", "muted")
        self.bars = Speeds()
        self.test_button, self.close_button = QPushButton(tr("Test again")), QPushButton(tr("Close"))
        self.close_button.setDefault(True)
        self.test_button.setAutoDefault(False)
        self.test_button.clicked.connect(self._on_test)
        self.close_button.clicked.connect(self.accept)
        self._lay_out()
        self.finished.connect(self.stop)

    def _lay_out(self) -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(8)
        self.devices, self.checks = QGridLayout(), QGridLayout()
        self._headings: dict[object, QLabel] = {}  # each is there with the first line below it
        for title, grid in ((tr("This machine"), self.devices), (tr("Checks"), self.checks)):
            grid.setHorizontalSpacing(12)
            grid.setVerticalSpacing(6)
            grid.setColumnStretch(2, 1)
            column.addWidget(self._heading(grid, title))
            column.addLayout(grid)
            column.addSpacing(14)
        column.addWidget(self._heading(self.bars, tr("Speed")))
        column.addWidget(self.bars)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidget(holder)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(24, 12, 24, 14)
        bottom.setSpacing(8)
        bottom.addWidget(self.state, 1)
        bottom.addWidget(self.test_button)
        bottom.addWidget(self.close_button)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(area, 1)
        outer.addWidget(Divider())
        outer.addLayout(bottom)

    def _heading(self, of: object, title: str) -> QLabel:
        heading = self._headings[of] = section_label(title)
        heading.hide()
        return heading

    @property
    def is_testing(self) -> bool:
        """Whether the process runs."""
        return self.trial.is_running

    def start(self) -> None:
        """Examine the devices, from the beginning."""
        self.stop()
        for grid in (self.devices, self.checks):
            while (item := grid.takeAt(0)) is not None:
                if (widget := item.widget()) is not None:
                    widget.deleteLater()
        for heading in self._headings.values():
            heading.hide()
        self._rows, self._expected = {}, set()
        self._figures, self._is_complete = [], False
        self.bars.show_figures([])
        self._show_known()
        try:
            self.trial.start(self._command)
        except OSError as error:
            self._say(tr("The engine cannot be started: {strerror}.", strerror=error.strerror), "error")
            return
        self.test_button.setText(tr("Stop"))
        self._say(translation(_LOOKING))

    def set_inventory(self, inventory: DeviceInventory | None) -> None:
        """Show the devices that the engine knows, before the examination reports them."""
        self._inventory = inventory
        if self.is_testing and not self._figures:
            self._show_known()

    def _show_known(self) -> None:
        """List the devices that are known, and the checks that are to come."""
        inventory = self._inventory
        if inventory is not None:
            self._add_device(
                {
                    "name": "cpu",
                    "model": inventory.cpu_model,
                    "memory_bytes": inventory.memory_bytes,
                    "cores": inventory.num_cores,
                }
            )
            for device in inventory.devices:
                self._add_device(asdict(device))
            if not inventory.devices:
                words = ("gpu", tr("none"), part_text(inventory.no_devices_because))
                self._show_row(self.devices, ("device", "gpu"), words, "strong")
        for layer in _EXPECTED:
            if ("check", layer) not in self._rows:
                self._expected.add(("check", layer))
                self._show_row(self.checks, ("check", layer), ("…", translation(layer), tr("not checked yet")), "muted")

    def stop(self) -> None:
        """End the process, if it runs."""
        self.trial.stop()
        self.test_button.setText(tr("Test again"))

    def _on_test(self) -> None:
        if self.is_testing:
            self.stop()
            self._say(tr("Stopped. The results so far are shown."))
        else:
            self.start()

    def _on_closed(self) -> None:
        self.stop()
        if self._is_complete:
            self._say(tr("All devices were examined."))
        else:
            self._say(tr("The examination was interrupted: its process has ended. Test again."), "error")

    def _say(self, text: str, role: str = "muted") -> None:
        theme.mark(self.state, "role", role)
        self.state.setText(text)

    def _take(self, report: dict[str, Any]) -> None:
        if "device" in report:
            self._add_device(report["device"])
        elif "check" in report:
            check = report["check"]
            sign, role = _STATES[check["state"]]
            label = f"{translation(check['layer'])} {check['device']}".strip()
            # The first of several devices takes the line of the check that was to come.
            is_expected = ("check", check["layer"]) in self._expected
            key = ("check", check["layer"] if is_expected else label)
            self._expected.discard(key)
            self._show_row(self.checks, key, (sign, label, message_text(check["words"])), role)
            self._say(tr("Checking…"))
        elif "figure" in report:
            self._add_figure(report["figure"])
        self._is_complete = self._is_complete or bool(report.get("done"))

    def _add_device(self, device: dict[str, Any]) -> None:
        facts = [tr("%n core(s)", "", device["cores"])] if device.get("cores") else []
        facts += [f"{device['memory_bytes'] / 2**30:.1f} GiB"] if device.get("memory_bytes") else []
        if device.get("capability"):
            facts.append(tr("capability {version}", version=device["capability"]))
        if device.get("driver"):
            facts.append(tr("driver {version}", version=device["driver"]))
        if device.get("utilisation") is not None:
            facts.append(tr("{percent} % busy", percent=device["utilisation"]))
        facts += [f"{device['temperature']} °C"] if device.get("temperature") is not None else []
        refusal = str(device.get("refusal") or "")
        words = tr("cannot be used: {reason}", reason=message_text(refusal)) if refusal else ", ".join(facts)
        role = "error" if refusal else "muted"
        self._show_row(
            self.devices, ("device", device["name"]), (device["name"], device["model"], words), "strong", role
        )

    def _show_row(
        self, grid: QGridLayout, key: tuple[str, str], words: Sequence[str], role: str, last: str = "muted"
    ) -> None:
        """Show three columns, in the place of the row of this key if there is one. The last one may take several lines;
        the first and the last have roles."""
        self._headings[grid].show()
        if key not in self._rows:
            self._rows[key] = tuple(QLabel() for _ in words)
            row = grid.rowCount()
            for number, label in enumerate(self._rows[key]):
                label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                label.setWordWrap(number == 2)
                grid.addWidget(label, row, number, Qt.AlignmentFlag.AlignTop)
        for label, text, of in zip(self._rows[key], words, (role, "", last), strict=True):
            label.setText(text)
            if of:
                theme.mark(label, "role", of)

    def _add_figure(self, figure: dict[str, Any]) -> None:
        self._figures.append(figure)
        self._headings[self.bars].show()
        self.bars.show_figures(self._figures)
        self._say(tr("Measuring {work} of {device}…", work=translation(figure["work"]), device=figure["device"]))
