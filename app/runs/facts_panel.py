"""The panel beside the curves: state, progress, buttons, and what is known of a run in short tables."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.plots.quantities import GRADIENT_NORM
from app.runs.request_menu import RequestMenuButton
from app.runs.run_follower import Outcome
from app.widgets import ElidedLabel, ValueTable
from designer import markup, theme
from engine.core.files import number_in
from engine.core.text import format_bytes, format_duration, format_percent
from engine.runs.events import (
    Best,
    Ended,
    Event,
    Failed,
    Health,
    Points,
    Progress,
    Refused,
    Requested,
    Resumed,
    Started,
    StateChanged,
)
from engine.runs.folder import RunFolder
from engine.runs.requests import BY_NAME, WATCHABLE, done_text
from engine.runs.summary import format_metric

MOST_LINES = 8

PROGRESS = (
    "Iteration",
    "Elapsed",
    "Remaining",
    "Learn rate",
    "Throughput",
    "Waiting",
    "Best",
    "Validation",
    "Test",
)
WHERE = ("Environment", "Workers", "Hardware", "Memory", "Samples", "Batch")
STATES = {
    "": ("", "muted"),
    "starting": ("○ Starting", "muted"),
    "running": ("● Training", "good"),
    "stopping": ("◐ Stopping", "warning"),
    "paused": ("‖ Paused", "warning"),
    "finished": ("✓ Finished", "good"),
    "stopped": ("■ Stopped", "warning"),
    "failed": ("✕ Failed", "error"),
    "lost": ("✕ Lost", "error"),
    "refused": ("✕ Not started", "error"),
}
ACCUMULATION = "training.gradient_accumulation"
RESUMABLE = ("stopped", "failed", "lost")
"""States from which a run is resumed unchanged; a finished one needs more epochs."""
RESUME_COMPLETE_TIP = "Resume with more epochs; a dialog asks how many"


def waiting(event: Progress) -> str:
    """Return what the steps waited for, if it is worth mentioning: `data 12 %, workers 30 %`."""
    shares = (("data", event.data_share), ("workers", event.communication_share))
    return ", ".join(f"{what} {format_percent(share)}" for what, share in shares if share >= 0.01)


class FactsPanel(QWidget):
    """Shows everything about a run that is not a curve."""

    stop_clicked = Signal()
    stop_after_epoch_clicked = Signal()
    pause_clicked = Signal()
    resume_clicked = Signal()
    train_clicked = Signal()
    export_clicked = Signal()
    offer_clicked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        theme.mark(self, "role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._started: Started | None = None
        self._state = ""
        self._has_released = self._is_replay = False
        self._offer = self._offered = ""
        self._lines: list[tuple[str, str]] = []
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
        self.offer = QPushButton()
        self.offer.setToolTip("Less memory, the same mini-batch, the same numbers")
        self.offer.clicked.connect(lambda: self.offer_clicked.emit(self._offer))
        self._show_offer("")
        self.progress = ValueTable("Progress", PROGRESS)
        self.where = ValueTable("Where", WHERE)
        self.lines = QLabel()
        self.lines.setWordWrap(True)
        theme.mark(self.lines, "role", "help")
        self._make()
        self._clock = QTimer(self, interval=1000)
        self._clock.timeout.connect(self._tick)
        self._last_progress: tuple[Progress, float] | None = None

    def _make(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        head = QHBoxLayout()
        head.addWidget(self.name, 1)
        head.addWidget(self.status)
        column.addLayout(head)
        column.addWidget(self.bar)
        below = QHBoxLayout()
        for label in (self.epoch, self.left):
            theme.mark(label, "role", "muted")
        below.addWidget(self.epoch, 1)
        below.addWidget(self.left)
        column.addLayout(below)
        column.addWidget(self.reason)
        column.addWidget(self.offer, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(self._make_buttons())
        self._panels = QVBoxLayout()
        column.addLayout(self._panels)
        column.addWidget(self.progress)
        column.addWidget(self.where)
        self._lines_title = QLabel("EVENTS")
        theme.mark(self._lines_title, "role", "section")
        column.addWidget(self._lines_title)
        column.addWidget(self.lines)
        column.addStretch(1)

    def add_panel(self, panel: QWidget) -> None:
        """Add a widget below the buttons."""
        self._panels.addWidget(panel)

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.pause, self.resume, self.stop, self.after_epoch = (
            QPushButton(BY_NAME[name].label) for name in ("pause", "resume", "stop", "stop_after_epoch")
        )
        self.train = QPushButton("Train again")
        self.export = QPushButton("Export network…")
        self.stop.setToolTip(f"{BY_NAME['stop'].tooltip} (Shift+F5)")
        self.after_epoch.setToolTip(BY_NAME["stop_after_epoch"].tooltip)
        self.pause.setToolTip(BY_NAME["pause"].tooltip)
        self.more = RequestMenuButton()
        for button, signal in (
            (self.pause, self.pause_clicked),
            (self.resume, self.resume_clicked),
            (self.stop, self.stop_clicked),
            (self.after_epoch, self.stop_after_epoch_clicked),
            (self.train, self.train_clicked),
            (self.export, self.export_clicked),
        ):
            button.clicked.connect(signal)
            row.addWidget(button)
        row.insertWidget(4, self.more)
        row.addStretch()
        return row

    # ---- states ----

    def _set_state(self, state: str) -> None:
        with self._keyboard_kept():
            self._show_state(state)

    @contextmanager
    def _keyboard_kept(self) -> Iterator[None]:
        """Keep the keyboard focus on Pause or Resume, whichever is visible. Qt would move it to the next button, Stop:
        the space bar, pressed once more, would end the run."""
        if any(button.hasFocus() for button in self.findChildren(QPushButton)):
            self.setFocus()  # where no key does anything, until one of the two can be used
        yield
        holder = {"running": self.pause, "paused": self.resume}.get(self._state)
        if self.hasFocus() and holder is not None and holder.isEnabled():
            holder.setFocus()

    def _show_state(self, state: str) -> None:
        self._state = state
        self._has_released &= state == "paused"
        text, role = STATES.get(state, (state, "muted"))
        theme.mark(self.status, "role", role)
        self.status.setText(f"{text}, on disk" if self._has_released else text)
        alive = state in ("starting", "running", "stopping", "paused")
        over = state in ("finished", "stopped", "failed", "lost", "refused")
        self.pause.setVisible(alive and state != "paused")
        self.pause.setEnabled(state in BY_NAME["pause"].states)
        self.resume.setVisible(state in ("paused", "finished", *RESUMABLE))
        self.resume.setText("Resume…" if state == "finished" else "Resume")
        self.resume.setToolTip(RESUME_COMPLETE_TIP if state == "finished" else BY_NAME["resume"].tooltip)
        self.resume.setEnabled(True)
        self.offer.setEnabled(True)
        self.more.setVisible(alive)
        self.more.show_state(state, has_released=self._has_released)
        self.stop.setVisible(alive)
        self.after_epoch.setVisible(alive)
        self.stop.setEnabled(state in BY_NAME["stop"].states)
        self.after_epoch.setEnabled(state in BY_NAME["stop_after_epoch"].states)
        self.train.setVisible(over or not state)
        self.train.setText("Train again" if over else "Train")
        self.export.setVisible(state in ("finished", "stopped"))
        for widget in (self.bar, self.epoch, self.left):
            widget.setVisible(state not in ("", "refused"))
        self._clock.start() if alive else self._clock.stop()

    def _reset(self, name: str) -> None:
        self._started, self._last_progress, self._lines = None, None, []
        self._is_replay = False
        self._offered = ""
        self._show_offer("")
        for watchable in WATCHABLE:
            self.more.show_watched(watchable, is_on=False)
        self.name.setText(name)
        self.bar.setValue(0)
        self.epoch.clear()
        self.left.clear()
        self._set_reason("", "help")
        self.progress.clear()
        self.where.clear()
        self.progress.hide()
        self.where.hide()
        self._show_lines()

    def _show_offer(self, setting: str) -> None:
        """Offer a setting with which a failed run may be resumed, or none."""
        self._offer = setting
        name, _, value = setting.partition("=")
        is_pieces = name == ACCUMULATION and value.isdecimal()
        text = f"Resume with {int(value):,} micro-batches per step" if is_pieces else f"Resume with {setting}"
        self.offer.setText(markup.without_mnemonic(text))
        self.offer.setVisible(bool(setting))

    def _set_reason(self, text: str, role: str) -> None:
        self.reason.setText(text)
        theme.mark(self.reason, "role", role)
        self.reason.setVisible(bool(text))

    def show_nothing(self) -> None:
        """Show that there is no run."""
        self._reset("No run yet")
        self._set_state("")
        self._set_reason("Press Train to start a run. It continues if you close the window.", "help")

    def show_starting(self, name: str) -> None:
        """Show that a run is being prepared."""
        self._reset(name)
        self._set_state("starting")

    def show_refused(self, message: str) -> None:
        """Show why a run could not be prepared."""
        self._set_state("refused")
        self._set_reason(message, "error")

    def show_run(self, folder: RunFolder) -> None:
        """Show a run with a folder; its events follow."""
        self._reset(folder.path.name)
        self.name.setText(folder.path.name, note=str(folder.path))
        self._set_state("starting")

    def show_replay(self, outcome: Outcome, result: Mapping[str, Any]) -> None:
        """Show how the run has ended, with the figures of its `result`; its events follow and change no state."""
        self._is_replay = True
        self._show_end(outcome)
        epochs, iterations, seconds = (number_in(result.get(name)) for name in ("epochs", "iterations", "seconds"))
        self.epoch.setText("" if epochs is None else f"Epoch {epochs:,.0f}")
        self.progress.set("Iteration", "" if iterations is None else f"{iterations:,.0f}")
        self.progress.set("Elapsed", "" if seconds is None else format_duration(seconds))
        self.progress.setVisible(iterations is not None)

    def show_stopping(self, *, after_epoch: bool) -> None:
        """Show that the run was asked to stop."""
        if after_epoch:
            self.after_epoch.setEnabled(False)
            at = self.progress.text("Iteration").partition(" ")[0]
            self.add_line(at, f"{BY_NAME['stop_after_epoch'].done}, by you")
        else:
            self._set_state("stopping")

    def show_requested(self, name: str) -> None:
        """Disable the button of a request until the run answers."""
        with self._keyboard_kept():
            if name == "pause":
                self.pause.setEnabled(False)
            elif name == "resume":
                self.resume.setEnabled(False)
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
        self._set_state(outcome.state)
        self.bar.setValue(1000 if outcome.state == "finished" else self.bar.value())
        self.left.clear()
        self.progress.set("Remaining", "")
        reason = outcome.reason[:1].upper() + outcome.reason[1:]
        self._set_reason(reason, "error" if outcome.state in ("failed", "lost") else "help")

    # ---- events ----

    def take(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Started():
                self._on_started(event)
            case StateChanged():
                is_stopping = self._state == "stopping" and event.state in ("starting", "running")
                if not (self._is_replay or is_stopping):  # our own request is on its way
                    self._set_state(event.state)
            case Progress():
                self._last_progress = (event, time.monotonic())
                self._show_progress(event, 0.0)
            case Points(split="validation" | "test"):
                self._on_part(event)
            case Points(split="training"):
                self.more.show_watched("gradient_norm", is_on=GRADIENT_NORM in event.values)
            case Health():
                self.more.show_watched("layers", is_on=True)
            case Best():
                self.progress.set("Best", f"{format_metric(event.objective, event.value)} at {event.iteration:,}")
            case Requested():
                self._on_request(event)
            case Refused():
                self.add_line(f"{event.iteration:,}", f"refused: {event.reason}")
                self._set_state(self._state)  # its button may be pressed again
                self.more.show_watched(event.what.removeprefix("watch_"), is_on=False)
            case Resumed():
                self._offered = ""
                self._show_offer("")
                self.progress.set("Test", "")
                if not self._is_replay:
                    self._set_reason("", "help")
                self.add_line(f"{event.iteration:,}", f"continues: {event.explanation}")
            case Failed():
                self.add_line("✕", event.cause)
                self._offered = event.offer
            case Ended():
                if not self._is_replay:
                    self._state = event.state  # of a run that was resumed, what follows counts again
                if advice := event.result.get("held_back_by"):
                    self.add_line("", str(advice))

    def _on_started(self, event: Started) -> None:
        self._started = event
        environment = event.environment
        workers = int(environment.get("workers", 1))
        backend = environment.get("backend") or ""
        self.where.set("Environment", str(environment.get("resolved", "")))
        self.where.set("Workers", f"{workers} · {backend}" if backend else f"{workers}")
        self.where.set("Hardware", event.hardware)
        counts = " · ".join(_whole(f"{count:,} {part}") for part, count in event.samples.items() if count)
        self.where.set("Samples", counts)
        self.where.set("Batch", event.arithmetic.removesuffix(".").replace("; ", "\n"))
        self.where.explain("Environment", event.sentence)
        self.progress.show()
        self.where.show()

    def _on_request(self, event: Requested) -> None:
        if event.what == "release":
            self._has_released = True  # its state follows
            self.where.set("Memory", "released")
        if event.what.startswith("watch_"):
            self.more.show_watched(event.what.removeprefix("watch_"), is_on=event.value > 0)
        elif event.what == "epochs" and self._started is not None:
            epochs = int(event.value)
            steps = epochs * self._started.steps_per_epoch
            self._started = replace(self._started, epochs=epochs, iterations=steps)
            if self._last_progress is not None:
                self._show_progress(self._last_progress[0], 0.0)
        text = done_text(event)
        if text and event.what != "stop_after_epoch":  # its line stands since it was requested
            self.add_line(f"{event.iteration:,}", f"{text}, by you")

    def _on_part(self, points: Points) -> None:
        last = {name: values[-1] for name, values in points.values.items() if values}
        text = " · ".join(_whole(format_metric(name, value)) for name, value in sorted(last.items()))
        self.progress.set(points.split.capitalize(), text)

    def _show_progress(self, event: Progress, since_s: float) -> None:
        if self._is_replay:
            return
        total = self._started.iterations if self._started else 0
        epochs = f"{self._started.epochs:,}" if self._started else "?"
        self.bar.setValue(round(1000 * event.iteration / total) if total else 0)
        self.epoch.setText(f"Epoch {event.epoch:,} of {epochs}")
        left = max(0.0, event.remaining_s - since_s) if math.isfinite(event.remaining_s) else math.nan
        self.left.setText(f"{format_duration(left)} left" if math.isfinite(left) else "")
        table = self.progress
        table.set("Iteration", f"{event.iteration:,} of {total:,}")
        table.set("Elapsed", format_duration(event.elapsed_s + since_s))
        table.set("Remaining", format_duration(left) if math.isfinite(left) else "")
        table.set("Learn rate", f"{event.rate:.4g}")
        table.set("Throughput", f"{event.samples_per_second:,.0f} samples/s")
        table.set("Waiting", waiting(event))
        self.where.set("Memory", format_bytes(event.memory_bytes) if event.memory_bytes else "")

    def _tick(self) -> None:
        """Advance the clocks between events."""
        if self._last_progress is not None and self._state == "running":
            event, seen = self._last_progress
            self._show_progress(event, time.monotonic() - seen)

    def add_line(self, at: str, text: str) -> None:
        """Add a line to the list of events."""
        self._lines = [*self._lines, (at, text)][-MOST_LINES:]
        self._show_lines()

    def _show_lines(self) -> None:
        self.lines.setText("\n".join(f"{at}  {text}".strip() for at, text in self._lines))
        self.lines.setVisible(bool(self._lines))
        self._lines_title.setVisible(bool(self._lines))


def _whole(text: str) -> str:
    """Return a number with its unit, joined so that they stay on one line."""
    return text.replace(" ", "\u00a0")
