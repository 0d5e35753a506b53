"""The head of a run, and short tables beside its curves."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from netwright.app.messages import breakable
from netwright.app.plots.quantities import GRADIENT_NORM, shares_of
from netwright.app.plots.words import done_in_words, metric_text
from netwright.app.runs.phases import Phase
from netwright.app.runs.run_buttons import ACTIVE, OVER
from netwright.app.runs.run_follower import Outcome
from netwright.app.runs.run_header import RunHeader, counts_of, samples_text
from netwright.app.runs.run_texts import best_text, new_rate_text, rate_change_text, state_in_words, time_left
from netwright.app.runs.step_time import StepTime
from netwright.app.widgets import ValueTable
from netwright.designer import theme
from netwright.designer.engine_messages import duration_text, message_text, title_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.files import number_in
from netwright.engine.core.progress import in_words
from netwright.engine.core.text import format_bytes, format_number
from netwright.engine.runs.baselines import closing_warning, errors_beside
from netwright.engine.runs.curve_findings import RunCurves
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
from netwright.engine.runs.requests import BY_NAME, WATCHABLE
from netwright.engine.runs.summary import achieved_text, title_of

MOST_LINES = 8
SECTION_GAP = 16
"""Pixels above a heading: more than between it and what it heads."""
BEST, LAST = noop("Best validation"), noop("Last validation")
OF_STEPS = (noop("Iteration"), noop("Elapsed"), noop("Learn rate"), noop("Throughput"), noop("Computing"))
PROGRESS = (*OF_STEPS, BEST, LAST, noop("Test"), noop("Baselines"))
HARDWARE = (noop("Environment"), noop("Workers"), noop("Device"), noop("Memory"))
DATA = (noop("Samples"), noop("Batch"))
"""The names of rows, which `ValueTable` translates."""


class FactsPanel(QWidget):
    """Shows everything about a run that is not a curve."""

    offer_clicked = Signal(str)
    why_clicked = Signal(str)
    """The user asks for the cause of a warning; the kind of what the run shows, or empty."""
    content_changed = Signal()
    """`has_run` may have changed."""

    def __init__(self) -> None:
        super().__init__()
        theme.mark(self, "role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._started: Started | None = None
        self._folder: RunFolder | None = None
        self._set_rate = ""
        """The learn rate that was last set while the run trained, in words."""
        self._state = self._silence = ""
        self.best_at = 0
        """The iteration of the best weights."""
        self._has_released = self._is_replay = self._is_preparing = False
        self._offered = ""
        self._curves = RunCurves()
        self._warning = ""
        """That the network is no better than a baseline, or still learns; empty where there is nothing of it."""
        self._lines: list[tuple[str, str]] = []
        self.head = RunHeader()
        self.head.offer_clicked.connect(self.offer_clicked)
        self.head.why.clicked.connect(self._ask_why)
        self.head.show_offer("")
        self.progress = ValueTable(tr("Progress"), PROGRESS)
        self.step_time = StepTime()
        self.hardware = ValueTable(tr("Hardware"), HARDWARE)
        self.data = ValueTable(tr("Data"), DATA)
        self.events = ValueTable(tr("Events"), tuple(map(str, range(MOST_LINES))))
        self._make()
        self._clock = QTimer(self, interval=1000)
        self._clock.timeout.connect(self._tick)
        self._last_progress: tuple[Progress, float] | None = None

    def _make(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(SECTION_GAP)
        for section in (self.progress, self.step_time, self.hardware, self.data, self.events):
            column.addWidget(section)
        column.addStretch(1)

    @property
    def has_run(self) -> bool:
        """Whether a run is shown, or was refused."""
        return bool(self._state)

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
        text, role = state_in_words("silent" if is_silent else state)
        theme.mark(self.head.status, "role", role)
        self.head.status.setText(tr("{text}, on disk", text=text) if self._has_released else text)
        self.head.buttons.show_state(state, has_released=self._has_released)
        self.head.offer.setEnabled(not self._is_preparing)
        self.head.bar.setVisible(state not in ("", "refused", "finished"))  # full, it would say the same again
        for widget in (self.head.epoch, self.head.left):
            widget.setVisible(state not in ("", "refused", "finished"))
        self._clock.start() if state in ACTIVE and not is_silent else self._clock.stop()

    def show_phase(self, phase: Phase) -> None:
        """Show whether the engine prepares the run: then it can be stopped, and nothing else."""
        if phase.is_preparing != self._is_preparing:
            self._is_preparing = phase.is_preparing
            self._show_state()

    def show_silence(self, reason: str) -> None:
        """Show that the run's coordinator does not respond, and why; empty once it responds again."""
        if reason or self._silence:
            self.head.show_reason(_capitalised(reason), "warning")
        self._silence = reason
        self._show_state()

    def _reset(self, name: str) -> None:
        self._started, self._last_progress, self._lines = None, None, []
        self._folder, self._set_rate = None, ""
        self._is_replay = self._is_catching_up = False
        self._silence = self._offered = self._warning = ""
        self._curves = RunCurves()
        self.best_at = 0
        self.head.show_offer("")
        for watchable in WATCHABLE:
            self.head.buttons.more.show_watched(watchable, is_on=False)
        self.head.reset(name)
        self.head.show_reason("", "help")
        self.show_data_changes(())
        for section in (self.progress, self.hardware, self.data):
            section.clear()
            section.hide()
        self.step_time.clear()
        self._show_lines()

    def _ask_why(self) -> None:
        finding = self._curves.finding
        self.why_clicked.emit(finding.kind if finding is not None else "")

    def show_nothing(self) -> None:
        """Show that there is no run."""
        self._reset(tr("No run yet"))
        self._set_state("")

    def show_starting(self, name: str) -> None:
        """Show that a run is being prepared."""
        self._reset(name)
        self._set_state("starting")

    def show_reading(self, count: int, total: int, unit: str) -> None:
        """Show how far the data is read before the run trains."""
        if self._state == "starting" and not self._is_replay:
            self.head.epoch.setText(tr("Reads the data: {count}", count=in_words(count, total, unit)))
            self.head.bar.setValue(int(1000 * min(1.0, count / total)) if total else 0)

    def show_refused(self, message: str) -> None:
        """Show why a run could not be prepared."""
        self._set_state("refused")
        self.head.show_reason(message, "error")

    def show_run(self, folder: RunFolder) -> None:
        """Show a run with a folder; its events follow."""
        self._reset("")
        self._folder = folder
        self._show_title()
        self._set_state("starting")

    def _show_title(self) -> None:
        """Show the title of the run, which names the learn rate that holds now."""
        if self._folder is not None:
            self.head.name.setText(title_text(title_of(self._folder)), note=str(self._folder.path))

    def show_replay(self, outcome: Outcome, result: Mapping[str, Any]) -> None:
        """Show how the run has ended, with the figures of its `result`; its events follow and change no state."""
        self._is_replay = True
        self._show_end(outcome)
        epochs, iterations, seconds = (number_in(result.get(name)) for name in ("epochs", "iterations", "seconds"))
        self.head.epoch.setText("" if epochs is None else tr("Epoch {epoch:,.0f}", epoch=epochs))
        self.progress.set("Iteration", "" if iterations is None else f"{iterations:,.0f}")
        self.progress.set("Elapsed", "" if seconds is None else duration_text(seconds))
        self.progress.setVisible(iterations is not None)

    def show_live(self, state: str, *, is_catching_up: bool) -> None:
        """Show the state of a run that is alive. While its earlier events are read, they change no state."""
        self._is_catching_up = is_catching_up
        if self._state != "stopping":  # our own request is on its way
            self._set_state(state)

    def show_stopping(self, *, after_epoch: bool) -> None:
        """Show that the run was asked to stop."""
        if after_epoch:
            self.head.buttons.after_epoch.setEnabled(False)
            at = f"{self._last_progress[0].iteration:,}" if self._last_progress is not None else ""
            self.add_line(at, _capitalised(translation(BY_NAME["stop_after_epoch"].done)))
        else:
            self._set_state("stopping")

    def show_requested(self, name: str) -> None:
        """Disable the button of a request until the run answers."""
        self.head.buttons.disable(name)
        if name == "resume":
            self.head.offer.setEnabled(False)

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
        self.head.show_offer(self._offered if outcome.state == "failed" else "")
        self._lines = [line for line in self._lines if line[1] != message_text(outcome.reason)]  # shown above
        self._show_lines()

    def _show_kept(self) -> None:
        """Say of which epoch the weights are kept, beside the next steps."""
        steps, has_best = self._started.steps_per_epoch if self._started else 0, False
        if self._folder is not None:
            has_best = (self._folder.path / "best").is_dir()
        epoch = math.ceil(self.best_at / steps) if steps else 0
        self.head.buttons.show_kept(epoch if has_best else 0)

    def _show_end(self, outcome: Outcome) -> None:
        self._show_kept()
        self.head.buttons.show_checkpoint(outcome.has_checkpoint)
        self._set_state(outcome.state)
        self.head.bar.setValue(1000 if outcome.state == "finished" else self.head.bar.value())
        self.head.left.clear()
        if self._warning and outcome.state == "finished":
            self.head.show_warning(self._warning)
        elif outcome.is_complete:
            self.head.show_reason("", "help")  # the state and the epochs say so
        else:
            role = "error" if outcome.state in ("failed", "lost") else "help"
            self.head.show_reason(_capitalised(message_text(outcome.reason)), role)
            self.head.why.setVisible(outcome.state == "failed" and self._curves.finding is not None)

    # ---- events ----

    def take(self, event: Event) -> None:
        """Show one event."""
        self._curves.take(event)
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
                self.head.buttons.more.show_watched("gradient_norm", is_on=GRADIENT_NORM in event.values)
            case Health():
                self.head.buttons.more.show_watched("layers", is_on=True)
            case Best():
                self.best_at = event.iteration
                self.head.show_best()
                self._show_kept()
                self.progress.set(BEST, best_text(event))
            case Requested():
                self._on_request(event)
            case Refused():
                self.add_line(f"{event.iteration:,}", tr("Refused: {reason}", reason=message_text(event.reason)))
                self._set_state(self._state)  # its button may be pressed again
                self.head.buttons.more.show_watched(event.what.removeprefix("watch_"), is_on=False)
            case Resumed():
                self._offered = ""
                self.head.show_offer("")
                self.progress.set("Test", "")
                if not self._is_replay:
                    self.head.show_reason("", "help")
                self.add_line(f"{event.iteration:,}", _why_resumed(event))
            case Failed():
                self.add_line(tr("Failed"), message_text(event.cause))
                self._offered = event.offer
            case Ended():
                if not (self._is_replay or self._is_catching_up):
                    self._state = event.state  # of a run that was resumed, what follows counts again
                self.step_time.show_advice(str(event.result.get("held_back_by") or ""))
                self._show_baselines(event.result)

    def _show_baselines(self, result: Mapping[str, Any]) -> None:
        """Show the answers that need no network, beside the metrics of one."""
        metric, errors = errors_beside(result)
        told = [(message_text(name), _whole(metric_text(metric, value))) for name, value in errors.items()]
        self.progress.set("Baselines", "\n".join(tr("{name}: {score}", name=n, score=score) for n, score in told))
        self._warning = closing_warning(result)
        if self._warning and self._state == "finished":
            self.head.show_warning(self._warning)

    @property
    def _num_workers(self) -> int:
        return int(self._started.environment.get("workers", 1)) if self._started is not None else 1

    def _on_started(self, event: Started) -> None:
        self._started = event
        if self._last_progress is None:  # the data is read
            self.head.epoch.clear()
            self.head.bar.setValue(0)
        environment = event.environment
        workers = self._num_workers
        backend = environment.get("backend") or ""
        self.hardware.set("Environment", str(environment.get("resolved", "")))
        self.hardware.set("Workers", f"{workers} · {backend}" if backend else f"{workers}")
        self.hardware.set("Device", message_text(event.hardware))
        self.head.show_place(samples_text(event.samples), str(environment.get("resolved", "")))
        self.data.set("Samples", " · ".join(map(_whole, counts_of(event.samples))))
        self._show_batch()
        self.hardware.explain("Environment", message_text(event.sentence))
        for section in (self.progress, self.hardware, self.data):
            section.show()

    def _show_batch(self) -> None:
        """Show what a step is made of, with the learn rate that was last set."""
        if self._started is not None:
            parts = self._started.arithmetic.removesuffix(".").split("; ")
            if self._set_rate:
                parts = [*(part for part in parts if not part.startswith("learn rate")), self._set_rate]
            self.data.set("Batch", "\n".join(map(message_text, parts)))

    def show_data_changes(self, changes: Sequence[str]) -> None:
        """Show what has changed in the data of the run since it trained, a sentence per file or folder."""
        self.head.data_changes.setText(breakable("\n".join([tr("The data has changed since:"), *changes])))
        self.head.data_changes.setVisible(bool(changes))

    def _on_request(self, event: Requested) -> None:
        if event.what == "release":
            self._has_released = True  # its state follows
            self.hardware.set("Memory", tr("released"))
        if event.what.startswith("watch_"):
            self.head.buttons.more.show_watched(event.what.removeprefix("watch_"), is_on=event.value > 0)
        self._on_change(event)

    def _on_change(self, event: Requested) -> None:
        """Show a change of the run among the events, with the value before it."""
        text, started, now = _capitalised(done_in_words(event)), self._started, self.rate_and_epochs
        if event.what == "rate":
            self._set_rate = new_rate_text(event)
            self._show_batch()
        if event.what in ("rate", "epochs"):
            self._show_title()
        if event.what == "rate" and now is not None:
            text = rate_change_text(now[0], event.value)
        elif event.what == "epochs" and started is not None:
            epochs = int(event.value)
            text = tr("Epochs {before:,} → {after:,}", before=started.epochs, after=epochs)
            self._started = replace(started, epochs=epochs, iterations=epochs * started.steps_per_epoch)
            if self._last_progress is not None:
                self._show_progress(self._last_progress[0], 0.0)
        if text and event.what != "stop_after_epoch":  # its line stands since it was requested
            self.add_line(f"{event.iteration:,}", text)

    def _on_part(self, points: Points) -> None:
        last = {name: values[-1] for name, values in points.values.items() if values}
        text = " · ".join(_whole(metric_text(name, value)) for name, value in sorted(last.items()))
        self.progress.set(LAST if points.split == "validation" else "Test", text)
        if points.split == "validation" and not self._is_replay and not self._silence:
            finding = self._curves.finding
            self.head.show_warning(finding.text if finding is not None else "")

    def _show_progress(self, event: Progress, since_s: float) -> None:
        if self._is_replay:
            return
        total = self._started.iterations if self._started else 0
        epochs = f"{self._started.epochs:,}" if self._started else "?"
        self.head.bar.setValue(round(1000 * event.iteration / total) if total else 0)
        self.head.epoch.setText(tr("Epoch {epoch:,} of {epochs}", epoch=event.epoch, epochs=epochs))
        remaining_s = max(0.0, event.remaining_s - since_s) if math.isfinite(event.remaining_s) else math.nan
        self.head.left.setText(time_left(remaining_s))
        table = self.progress
        table.set("Iteration", tr("{iteration:,} of {total:,}", iteration=event.iteration, total=total))
        table.set("Elapsed", duration_text(event.elapsed_s + since_s))
        table.set("Learn rate", format_number(event.rate, 4))
        table.set("Throughput", tr("{rate:,.0f} samples/s", rate=event.samples_per_second))
        table.set("Computing", message_text(achieved_text(event)))
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


def _why_resumed(event: Resumed) -> str:
    return tr("Resumed: {explanation}", explanation=message_text(event.explanation))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _whole(text: str) -> str:
    """Return a number with its unit, joined so that they stay on one line."""
    return text.replace(" ", "\u00a0")
