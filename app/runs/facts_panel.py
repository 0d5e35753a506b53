"""The panel beside the curves: state, progress, buttons, and what is known of a run in short tables."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from netwright.app.messages import breakable
from netwright.app.plots.quantities import GRADIENT_NORM, shares_of
from netwright.app.runs.phases import Phase
from netwright.app.runs.run_buttons import ACTIVE, OVER, RunButtons
from netwright.app.runs.run_follower import Outcome
from netwright.app.runs.step_time import StepTime
from netwright.app.widgets import ValueTable
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.engine.core.files import number_in
from netwright.engine.core.progress import in_words
from netwright.engine.core.text import format_bytes, format_duration, format_number
from netwright.engine.runs.baselines import errors_beside, worse_than_baseline
from netwright.engine.runs.events import (
    Best,
    Ended,
    Event,
    Failed,
    Health,
    Points,
    Preparing,
    Progress,
    Refused,
    Requested,
    Resumed,
    Started,
    StateChanged,
)
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.requests import BY_NAME, WATCHABLE, done_text
from netwright.engine.runs.summary import achieved_text, format_metric, title_of

MOST_LINES = 8
SECTION_GAP = 16
"""Pixels above a heading: more than between it and what it heads."""
BEST, LAST = "Best validation", "Last validation"
PROGRESS = ("Iteration", "Elapsed", "Learn rate", "Throughput", "Computing", BEST, LAST, "Test", "Baselines")
HARDWARE = ("Environment", "Workers", "Device", "Memory")
DATA = ("Samples", "Batch")
STATES = {
    "": ("", "muted"),
    "starting": ("○ Starting", "muted"),
    "running": ("● Training", "good"),
    "silent": ("◌ Not responding", "warning"),
    "stopping": ("◐ Stopping", "warning"),
    "paused": ("II Paused", "warning"),
    "finished": ("✓ Finished", "good"),
    "stopped": ("■ Stopped", "warning"),
    "failed": ("✕ Failed", "error"),
    "lost": ("✕ Lost", "error"),
    "refused": ("✕ Not started", "error"),
}
ACCUMULATION = "training.gradient_accumulation"


class FactsPanel(QWidget):
    """Shows everything about a run that is not a curve."""

    offer_clicked = Signal(str)
    content_changed = Signal()
    """`is_empty` may have changed."""

    def __init__(self) -> None:
        super().__init__()
        theme.mark(self, "role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._started: Started | None = None
        self._folder: RunFolder | None = None
        self._set_rate = ""
        """The learn rate that was last set while the run trained, in words."""
        self._state = self._silence = ""
        self._has_released = self._is_replay = self._is_preparing = False
        self._offer = self._offered = ""
        self._worse = ""
        """That a forecasting network is no better than a baseline; empty where it is."""
        self._lines: list[tuple[str, str]] = []
        self._added: list[QWidget] = []
        self.name = ElidedLabel()
        theme.mark(self.name, "role", "title")
        self.status = QLabel()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximum(1000)
        self.epoch = QLabel()
        self.left = QLabel()
        self.reason = QLabel()
        self.reason.setWordWrap(True)
        self.reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.data_changes = QLabel()
        self.data_changes.setWordWrap(True)
        self.data_changes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        theme.mark(self.data_changes, "role", "warning")
        self.offer = QPushButton()
        self.offer.setToolTip("Less memory, the same mini-batch, the same numbers")
        self.offer.clicked.connect(lambda: self.offer_clicked.emit(self._offer))
        self.buttons = RunButtons()
        self._show_offer("")
        self.progress = ValueTable("Progress", PROGRESS)
        self.step_time = StepTime()
        self.hardware = ValueTable("Hardware", HARDWARE)
        self.data = ValueTable("Data", DATA)
        self.events = ValueTable("Events", tuple(map(str, range(MOST_LINES))))
        self._make()
        self._clock = QTimer(self, interval=1000)
        self._clock.timeout.connect(self._tick)
        self._last_progress: tuple[Progress, float] | None = None

    def _make(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(SECTION_GAP)
        head = QVBoxLayout()
        head.setSpacing(8)
        title = QHBoxLayout()
        title.addWidget(self.name, 1)
        title.addWidget(self.status)
        below = QHBoxLayout()
        for label in (self.epoch, self.left):
            theme.mark(label, "role", "muted")
        below.addWidget(self.epoch, 1)
        below.addWidget(self.left)
        head.addLayout(title)
        head.addWidget(self.bar)
        head.addLayout(below)
        head.addWidget(self.reason)
        head.addWidget(self.data_changes)
        head.addWidget(self.offer, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(head)
        column.addWidget(self.buttons)
        self._panels = QVBoxLayout()
        column.addLayout(self._panels)
        for section in (self.progress, self.step_time, self.hardware, self.data, self.events):
            column.addWidget(section)
        column.addStretch(1)

    def add_panel(self, panel: QWidget) -> None:
        """Add a widget below the buttons, which shows and hides itself."""
        self._panels.addWidget(panel)
        self._added.append(panel)
        panel.installEventFilter(self)
        self.content_changed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell that a panel was shown or hidden."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.content_changed.emit()
        return super().eventFilter(watched, event)

    @property
    def has_run(self) -> bool:
        """Whether a run is shown, or was refused."""
        return bool(self._state)

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a run nor a panel to see."""
        return not self._state and all(panel.isHidden() for panel in self._added)

    # ---- states ----

    def _set_state(self, state: str) -> None:
        self._state = state
        self._has_released &= state == "paused"
        self._show_state()
        self.content_changed.emit()

    def _show_state(self) -> None:
        """Show the state, as events and requests tell it; while the engine prepares the run again, that it starts."""
        state = "starting" if self._is_preparing and self._state in OVER else self._state
        is_silent = bool(self._silence) and state in ACTIVE
        text, role = STATES["silent"] if is_silent else STATES.get(state, (state, "muted"))
        theme.mark(self.status, "role", role)
        self.status.setText(f"{text}, on disk" if self._has_released else text)
        self.buttons.show_state(state, has_released=self._has_released)
        self.offer.setEnabled(not self._is_preparing)
        self.bar.setVisible(state not in ("", "refused", "finished"))  # full, it would say the same again
        for widget in (self.epoch, self.left):
            widget.setVisible(state not in ("", "refused"))
        self._clock.start() if state in ACTIVE and not is_silent else self._clock.stop()

    def show_phase(self, phase: Phase) -> None:
        """Show whether the engine prepares the run: then it can be stopped, and nothing else."""
        if phase.is_preparing != self._is_preparing:
            self._is_preparing = phase.is_preparing
            self._show_state()

    def show_silence(self, reason: str) -> None:
        """Show that the run's coordinator does not respond, and why; empty once it responds again."""
        if reason or self._silence:
            self._set_reason(_capitalised(reason), "warning")
        self._silence = reason
        self._show_state()

    def _reset(self, name: str) -> None:
        self._started, self._last_progress, self._lines = None, None, []
        self._folder, self._set_rate = None, ""
        self._is_replay = self._is_catching_up = False
        self._silence = self._offered = self._worse = ""
        self._show_offer("")
        for watchable in WATCHABLE:
            self.buttons.more.show_watched(watchable, is_on=False)
        self.buttons.show_confusion(has_confusion=False)
        self.name.setText(name)
        self.bar.setValue(0)
        self.epoch.clear()
        self.left.clear()
        self._set_reason("", "help")
        self.show_data_changes(())
        for section in (self.progress, self.hardware, self.data):
            section.clear()
            section.hide()
        self.step_time.clear()
        self._show_lines()

    def _show_offer(self, setting: str) -> None:
        """Offer a setting with which a failed run may be resumed, or none."""
        self._offer = setting
        name, _, value = setting.partition("=")
        is_pieces = name == ACCUMULATION and value.isdecimal()
        verb = "Resume" if self.buttons.has_checkpoint else "Start again"
        text = f"{verb} with {int(value):,} micro-batches per step" if is_pieces else f"{verb} with {setting}"
        self.offer.setText(markup.without_mnemonic(text))
        self.offer.setVisible(bool(setting))

    def _set_reason(self, text: str, role: str) -> None:
        self.reason.setText(markup.visible(text))
        theme.mark(self.reason, "role", role)
        self.reason.setVisible(bool(text))

    def show_nothing(self) -> None:
        """Show that there is no run."""
        self._reset("No run yet")
        self._set_state("")

    def show_starting(self, name: str) -> None:
        """Show that a run is being prepared."""
        self._reset(name)
        self._set_state("starting")

    def show_reading(self, count: int, total: int, unit: str) -> None:
        """Show how far the data is read before the run trains."""
        if self._state == "starting" and not self._is_replay:
            self.epoch.setText(f"Reads the data: {in_words(count, total, unit)}")
            self.bar.setValue(int(1000 * min(1.0, count / total)) if total else 0)

    def show_refused(self, message: str) -> None:
        """Show why a run could not be prepared."""
        self._set_state("refused")
        self._set_reason(message, "error")

    def show_run(self, folder: RunFolder) -> None:
        """Show a run with a folder; its events follow."""
        self._reset("")
        self._folder = folder
        self._show_title()
        self._set_state("starting")

    def _show_title(self) -> None:
        """Show the title of the run, which names the learn rate that holds now."""
        if self._folder is not None:
            self.name.setText(title_of(self._folder), note=str(self._folder.path))

    def show_replay(self, outcome: Outcome, result: Mapping[str, Any]) -> None:
        """Show how the run has ended, with the figures of its `result`; its events follow and change no state."""
        self._is_replay = True
        self._show_end(outcome)
        epochs, iterations, seconds = (number_in(result.get(name)) for name in ("epochs", "iterations", "seconds"))
        self.epoch.setText("" if epochs is None else f"Epoch {epochs:,.0f}")
        self.progress.set("Iteration", "" if iterations is None else f"{iterations:,.0f}")
        self.progress.set("Elapsed", "" if seconds is None else format_duration(seconds))
        self.progress.setVisible(iterations is not None)

    def show_live(self, state: str, *, is_catching_up: bool) -> None:
        """Show the state of a run that is alive. While its earlier events are read, they change no state."""
        self._is_catching_up = is_catching_up
        if self._state != "stopping":  # our own request is on its way
            self._set_state(state)

    def show_stopping(self, *, after_epoch: bool) -> None:
        """Show that the run was asked to stop."""
        if after_epoch:
            self.buttons.after_epoch.setEnabled(False)
            at = self.progress.text("Iteration").partition(" ")[0]
            self.add_line(at, _capitalised(BY_NAME["stop_after_epoch"].done))
        else:
            self._set_state("stopping")

    def show_requested(self, name: str) -> None:
        """Disable the button of a request until the run answers."""
        self.buttons.disable(name)
        if name == "resume":
            self.offer.setEnabled(False)

    @property
    def rate_and_epochs(self) -> tuple[float, int] | None:
        """The current learn rate and the planned number of epochs of a run that is under way."""
        if self._started is None or self._last_progress is None:
            return None
        return self._last_progress[0].rate, self._started.epochs

    def show_outcome(self, outcome: Outcome) -> None:
        """Show how the run has ended, after its last event."""
        self._is_replay = False
        if self._last_progress:
            self._show_progress(self._last_progress[0], 0.0)
        self._show_end(outcome)
        self._show_offer(self._offered if outcome.state == "failed" else "")
        self._lines = [line for line in self._lines if line[1] != outcome.reason]  # shown above
        self._show_lines()

    def _show_end(self, outcome: Outcome) -> None:
        self.buttons.show_checkpoint(outcome.has_checkpoint)
        self._set_state(outcome.state)
        self.bar.setValue(1000 if outcome.state == "finished" else self.bar.value())
        self.left.clear()
        if self._worse and outcome.state == "finished":
            self._set_reason(self._worse, "warning")
        elif outcome.is_complete:
            self._set_reason("", "help")  # the state and the epochs say so
        else:
            self._set_reason(_capitalised(outcome.reason), "error" if outcome.state in ("failed", "lost") else "help")

    # ---- events ----

    def take(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Started():
                self._on_started(event)
            case StateChanged():
                is_stopping = self._state == "stopping" and event.state in ("starting", "running")
                if not (self._is_replay or self._is_catching_up or is_stopping):  # our own request is on its way
                    self._set_state(event.state)
            case Preparing():
                self.show_reading(event.done, event.total, event.unit)
            case Progress():
                self._last_progress = (event, time.monotonic())
                self.step_time.add(shares_of(event), num_workers=self._num_workers)
                self._show_progress(event, 0.0)
            case Points(split="validation" | "test"):
                self._on_part(event)
            case Points(split="training"):
                self.buttons.more.show_watched("gradient_norm", is_on=GRADIENT_NORM in event.values)
            case Health():
                self.buttons.more.show_watched("layers", is_on=True)
            case Best():
                self.progress.set(BEST, f"{format_metric(event.objective, event.value)} at {event.iteration:,}")
            case Requested():
                self._on_request(event)
            case Refused():
                self.add_line(f"{event.iteration:,}", f"Refused: {event.reason}")
                self._set_state(self._state)  # its button may be pressed again
                self.buttons.more.show_watched(event.what.removeprefix("watch_"), is_on=False)
            case Resumed():
                self._offered = ""
                self._show_offer("")
                self.progress.set("Test", "")
                if not self._is_replay:
                    self._set_reason("", "help")
                self.add_line(f"{event.iteration:,}", f"Resumed: {event.explanation}")
            case Failed():
                self.add_line("Failed", event.cause)
                self._offered = event.offer
            case Ended():
                if not (self._is_replay or self._is_catching_up):
                    self._state = event.state  # of a run that was resumed, what follows counts again
                self.step_time.show_advice(str(event.result.get("held_back_by") or ""))
                self._show_baselines(event.result)

    def _show_baselines(self, result: Mapping[str, Any]) -> None:
        """Show the forecasts that need no network, beside the metrics of one that forecasts."""
        metric, errors = errors_beside(result)
        texts = (_whole(f"{name}: {format_metric(metric, value)}") for name, value in errors.items())
        self.progress.set("Baselines", "\n".join(texts))
        self._worse = worse_than_baseline(result)
        if self._worse and self._state == "finished":
            self._set_reason(self._worse, "warning")

    @property
    def _num_workers(self) -> int:
        return int(self._started.environment.get("workers", 1)) if self._started is not None else 1

    def _on_started(self, event: Started) -> None:
        self._started = event
        if self._last_progress is None:  # the data is read
            self.epoch.clear()
            self.bar.setValue(0)
        environment = event.environment
        workers = self._num_workers
        backend = environment.get("backend") or ""
        self.hardware.set("Environment", str(environment.get("resolved", "")))
        self.hardware.set("Workers", f"{workers} · {backend}" if backend else f"{workers}")
        self.hardware.set("Device", event.hardware)
        counts = " · ".join(_whole(f"{count:,} {part}") for part, count in event.samples.items() if count)
        self.data.set("Samples", counts)
        self._show_batch()
        self.hardware.explain("Environment", event.sentence)
        for section in (self.progress, self.hardware, self.data):
            section.show()

    def _show_batch(self) -> None:
        """Show what a step is made of, with the learn rate that was last set."""
        if self._started is not None:
            parts = self._started.arithmetic.removesuffix(".").split("; ")
            if self._set_rate:
                parts = [*(part for part in parts if not part.startswith("learn rate")), self._set_rate]
            self.data.set("Batch", "\n".join(parts))

    def show_data_changes(self, changes: Sequence[str]) -> None:
        """Show what has changed in the data of the run since it trained, a sentence per file or folder."""
        self.data_changes.setText(breakable("\n".join(["The data has changed since:", *changes])))
        self.data_changes.setVisible(bool(changes))

    def _on_request(self, event: Requested) -> None:
        if event.what == "release":
            self._has_released = True  # its state follows
            self.hardware.set("Memory", "released")
        if event.what.startswith("watch_"):
            self.buttons.more.show_watched(event.what.removeprefix("watch_"), is_on=event.value > 0)
        self._on_change(event)

    def _on_change(self, event: Requested) -> None:
        """Show a change of the run among the events, with the value before it."""
        text, started, now = _capitalised(done_text(event)), self._started, self.rate_and_epochs
        if event.what == "rate":
            self._set_rate = f"learn rate {format_number(event.value, 4)} from iteration {event.iteration:,} on"
            self._show_batch()
        if event.what in ("rate", "epochs"):
            self._show_title()
        if event.what == "rate" and now is not None:
            text = f"Learn rate {format_number(now[0], 4)} → {format_number(event.value, 4)}"
        elif event.what == "epochs" and started is not None:
            epochs = int(event.value)
            text = f"Epochs {started.epochs:,} → {epochs:,}"
            self._started = replace(started, epochs=epochs, iterations=epochs * started.steps_per_epoch)
            if self._last_progress is not None:
                self._show_progress(self._last_progress[0], 0.0)
        if text and event.what != "stop_after_epoch":  # its line stands since it was requested
            self.add_line(f"{event.iteration:,}", text)

    def _on_part(self, points: Points) -> None:
        last = {name: values[-1] for name, values in points.values.items() if values}
        text = " · ".join(_whole(format_metric(name, value)) for name, value in sorted(last.items()))
        self.progress.set(LAST if points.split == "validation" else "Test", text)

    def _show_progress(self, event: Progress, since_s: float) -> None:
        if self._is_replay:
            return
        total = self._started.iterations if self._started else 0
        epochs = f"{self._started.epochs:,}" if self._started else "?"
        self.bar.setValue(round(1000 * event.iteration / total) if total else 0)
        self.epoch.setText(f"Epoch {event.epoch:,} of {epochs}")
        remaining_s = max(0.0, event.remaining_s - since_s) if math.isfinite(event.remaining_s) else math.nan
        self.left.setText(f"{format_duration(remaining_s)} left" if math.isfinite(remaining_s) else "")
        table = self.progress
        table.set("Iteration", f"{event.iteration:,} of {total:,}")
        table.set("Elapsed", format_duration(event.elapsed_s + since_s))
        table.set("Learn rate", format_number(event.rate, 4))
        table.set("Throughput", f"{event.samples_per_second:,.0f} samples/s")
        table.set("Computing", achieved_text(event))
        self.hardware.set("Memory", format_bytes(event.memory_bytes) if event.memory_bytes else "")

    def _tick(self) -> None:
        """Advance the clocks between events."""
        if self._last_progress is not None and self._state == "running":
            event, event_s = self._last_progress
            self._show_progress(event, time.monotonic() - event_s)

    def add_line(self, at: str, text: str) -> None:
        """Add a line to the list of events: where or what it is, and its text."""
        self._lines = [*self._lines, (at, text)][-MOST_LINES:]
        self._show_lines()

    def _show_lines(self) -> None:
        self.events.show_rows(self._lines[::-1])  # the newest first
        self.events.setVisible(bool(self._lines))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _whole(text: str) -> str:
    """Return a number with its unit, joined so that they stay on one line."""
    return text.replace(" ", "\u00a0")
