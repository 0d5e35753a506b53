"""Beside the curves: every state has a word and a role, and every event finds its place."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from netwright.app.runs.facts_panel import FactsPanel
from netwright.app.runs.phases import Phase
from netwright.app.runs.run_follower import Outcome
from netwright.app.runs.run_texts import STATES
from netwright.app.runs.step_time import colour_of
from netwright.app.widgets import ValueTable
from netwright.designer import theme
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.runs.create import create
from netwright.engine.runs.events import (
    Best,
    Ended,
    Failed,
    Points,
    Preparing,
    Progress,
    Refused,
    Requested,
    Resumed,
    Started,
    StateChanged,
)
from netwright.engine.runs.folder import RunFolder, update_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.requests import WATCHABLE
from tests.app.clipping import settle

STARTED = Started(
    environment={"resolved": "multi-cpu", "workers": 2, "backend": "gloo"},
    hardware="AMD EPYC, 2 workers with 1 thread each",
    epochs=3000,
    iterations=30_000,
    steps_per_epoch=10,
    metric="accuracy",
    samples={"training": 1257, "validation": 270, "test": 0},
    parameters=12_650,
    arithmetic="128 samples per step, 64 per worker; 10 steps per epoch; "
    "learn rate 0.1 = 0.05 × 2 (linear, 2 workers).",
)


def progress(iteration: int, epoch: int = 1) -> Progress:
    return Progress(
        epoch=epoch,
        iteration=iteration,
        elapsed_s=61.0,
        remaining_s=125.0,
        rate=0.01,
        samples_per_second=11_420.4,
        memory_bytes=612 * 2**20,
    )


WIDTH = 552
"""That of the page of a run in the smallest window."""


@pytest.fixture
def panel(qtbot, qapp) -> Iterator[FactsPanel]:
    theme.apply(qapp, "light")  # sizes follow from it
    holder, panel = QWidget(), FactsPanel()
    qtbot.addWidget(holder)
    column = QVBoxLayout(holder)
    for widget in (panel.head, panel, panel.head.buttons.next):
        column.addWidget(widget)
    panel.show_nothing()
    holder.resize(WIDTH, 700)
    holder.show()
    yield panel
    holder.close()


def run(panel: FactsPanel, name: str = "2026-11-21_digits") -> None:
    panel.show_run(RunFolder(Path("/runs") / name))


@pytest.mark.parametrize(
    ("state", "word", "role", "stop", "train", "export"),
    [
        ("starting", "Starting", "muted", True, False, False),
        ("running", "Training", "good", True, False, False),
        ("paused", "Paused", "warning", True, False, False),
        ("stopping", "Stopping", "warning", False, False, False),
        ("finished", "Finished", "good", False, True, True),
        ("stopped", "Stopped", "warning", False, True, True),
        ("failed", "Failed", "error", False, True, False),
        ("lost", "Lost", "error", False, True, False),
    ],
)
def test_every_state_has_a_word_a_role_and_its_buttons(
    panel: FactsPanel, state: str, word: str, role: str, stop: bool, train: bool, export: bool
) -> None:
    run(panel)
    if train:
        panel.show_outcome(Outcome(state, "because"))
    else:
        panel.take(StateChanged(state=state))  # type: ignore[arg-type]  # one of the states
    shape, said = panel.head.status.text().split(" ", 1)
    assert said == word
    assert shape
    assert panel.head.status.property("role") == role
    assert (panel.head.buttons.stop.isVisible() and panel.head.buttons.stop.isEnabled()) == stop
    assert panel.head.buttons.train.isVisible() == train
    assert panel.head.buttons.export.isVisible() == export


def test_no_state_is_left_out() -> None:
    assert set(STATES) == {
        "", "starting", "running", "silent", "stopping", "paused", "finished", "stopped", "failed", "lost", "refused",
        "damaged",
    }  # fmt: skip


def test_before_the_first_run_it_is_empty(panel: FactsPanel) -> None:
    assert panel.head.name.text() == "No run yet"
    assert not panel.has_run
    assert not panel.head.buttons.train.isVisible()
    assert not panel.head.bar.isVisible()


def test_what_a_run_says_stands_in_the_tables(panel: FactsPanel) -> None:
    run(panel)
    panel.take(STARTED)
    panel.take(StateChanged(state="running"))
    panel.take(progress(864, epoch=87))
    panel.take(Points(split="validation", first_step=860, steps_apart=1, values={"loss": [0.1], "accuracy": [0.964]}))
    panel.take(Best(iteration=840, objective="accuracy", value=0.964))
    assert panel.head.epoch.text() == "Epoch 87 of 3,000"
    assert panel.progress.text("Iteration") == "864 of 30,000"
    assert panel.progress.text("Throughput") == "11,420 samples/s"
    assert not panel.progress.text("Computing")
    panel.take(replace(progress(864, epoch=87), flops_per_second=1.25e9, peak_share=0.034))
    assert panel.progress.text("Computing") == "1.25 GFLOP/s, 3.4 % of measured peak"
    assert panel.progress.text("Best validation").endswith("at 840")
    assert "96.4\u00a0%" in panel.progress.text("Last validation")
    assert panel.hardware.text("Workers") == "2 · gloo"
    assert panel.data.text("Samples") == "1,257\u00a0training · 270\u00a0validation"
    assert panel.data.text("Batch").splitlines()[:2] == ["128 samples per step, 64 per worker", "10 steps per epoch"]
    assert "612 MiB" in panel.hardware.text("Memory")
    assert panel.head.left.text() == "2 m 5 s left"


def test_a_failure_is_said_once_in_words(panel: FactsPanel) -> None:
    run(panel)
    panel.take(STARTED)
    panel.take(Failed(cause="worker 1 was killed"))
    panel.show_outcome(Outcome("failed", "worker 1 was killed"))
    assert panel.head.reason.text() == "Worker 1 was killed"
    assert panel.head.reason.property("role") == "error"
    assert not any("killed" in text for _, text in panel.events.rows)


def test_a_stop_that_is_on_its_way_is_not_undone_by_older_news(panel: FactsPanel) -> None:
    run(panel)
    panel.show_stopping(after_epoch=False)
    panel.take(StateChanged(state="starting"))
    panel.take(StateChanged(state="running"))
    assert panel.head.status.text() == "◐ Stopping"
    panel.take(StateChanged(state="stopping"))
    panel.show_outcome(Outcome("stopped", "stopped on request"))
    assert panel.head.status.text() == "■ Stopped"
    assert panel.head.reason.text() == "Stopped on request"


def test_a_long_name_is_elided_and_whole_in_the_tooltip(panel: FactsPanel) -> None:
    name = "2026-11-21_10-22-03_" + "a_very_long_project_name_" * 5
    run(panel, name)
    panel.grab()
    assert panel.window().width() == WIDTH
    assert panel.head.name.is_elided
    assert panel.head.name.toolTip() == f"/runs/{name}"


def test_the_buttons_say_what_they_are_for(qtbot, panel: FactsPanel) -> None:
    run(panel)
    buttons, clicked = panel.head.buttons, list[str]()
    buttons.clicked.connect(clicked.append)
    panel.take(StateChanged(state="running"))
    for button in (buttons.stop, buttons.after_epoch, buttons.pause):
        button.click()
    panel.show_outcome(Outcome("finished", ""))
    for button in (buttons.train, buttons.test, buttons.export, buttons.compare, buttons.extend, buttons.report):
        button.click()
    assert clicked == ["stop", "stop_after_epoch", "pause", "train", "try", "export", "compare", "resume", "report"]


@pytest.mark.parametrize(
    ("state", "pause", "resume", "more"),
    [
        ("starting", True, False, True),
        ("running", True, False, True),
        ("paused", False, True, True),
        ("stopping", True, False, True),
        ("finished", False, True, False),
        ("stopped", False, True, False),
        ("failed", False, True, False),
        ("lost", False, True, False),
    ],
)
def test_a_run_can_be_held_and_gone_on_with(
    panel: FactsPanel, state: str, *, pause: bool, resume: bool, more: bool
) -> None:
    run(panel)
    panel._set_state(state)
    buttons = panel.head.buttons
    can_resume = buttons.resume.isVisible() or buttons.extend.isVisible()
    assert (buttons.pause.isVisible(), can_resume, buttons.more.isVisible()) == (pause, resume, more)
    assert panel.head.buttons.more.isEnabled() == (state in ("running", "paused"))
    panel.grab()
    assert panel.window().width() == WIDTH, "nothing is cut off"


def test_what_was_asked_stands_among_the_events(panel: FactsPanel) -> None:
    run(panel)
    for event in (STARTED, StateChanged(state="running"), progress(20, epoch=2)):
        panel.take(event)
    assert panel.rate_and_epochs == (0.01, 3000)
    panel.take(Requested(what="rate", iteration=20, value=0.002))
    panel.take(Requested(what="epochs", iteration=20, value=40))
    panel.take(Requested(what="checkpoint", iteration=21))
    panel.take(Resumed(iteration=20, after=5, reason="Worker 1 was killed", restarts=1))
    assert panel.events.rows == [
        ("20", "Resumed: Worker 1 was killed"),
        ("21", "Checkpoint requested"),
        ("20", "Epochs 3,000 → 40"),
        ("20", "Learn rate 0.01 → 0.002"),
    ], "the newest first"
    assert panel.head.epoch.text() == "Epoch 2 of 40"


def test_what_a_run_watches_is_ticked_as_it_says(panel: FactsPanel) -> None:
    run(panel)
    ticked = {name: panel.head.buttons.more.actions_by_slot[f"watch.{name}"].isChecked for name in WATCHABLE}
    panel.take(StateChanged(state="running"))
    panel.take(Requested(what="watch_layers", iteration=3, value=1.0))
    panel.take(Points(split="training", first_step=3, steps_apart=1, values={"loss": [1.0], "gradient_norm": [2.0]}))
    assert ticked["layers"]()
    assert ticked["gradient_norm"]()
    panel.take(Refused(what="watch_layers", iteration=4, reason="a compiled network shows nothing of its layers"))
    assert not ticked["layers"]()
    assert panel.events.rows == [
        ("4", "Refused: a compiled network shows nothing of its layers"),
        ("3", "Layers watched"),
    ]
    run(panel)
    assert not ticked["gradient_norm"](), "of another run nothing is known"


def test_a_run_on_disk_says_so_and_asks_for_less(panel: FactsPanel) -> None:
    run(panel)
    for event in (STARTED, StateChanged(state="running"), progress(20, epoch=2), StateChanged(state="paused")):
        panel.take(event)
    assert panel.head.buttons.more.actions_by_slot["pause.release"].text() == "Free memory"
    panel.take(Requested(what="release", iteration=20))
    panel.take(StateChanged(state="paused", reason="its memory is released"))
    assert panel.head.status.text() == "II Paused, on disk"
    assert panel.hardware.text("Memory") == "released"
    assert not panel.head.buttons.more.actions_by_slot["pause.release"].isEnabled()
    panel.take(StateChanged(state="starting"))
    panel.take(StateChanged(state="running"))
    assert panel.head.status.text() == "● Training"
    assert panel.head.buttons.more.actions_by_slot["pause.release"].isEnabled()


def test_what_helps_a_run_that_ran_out_of_memory_is_a_button(qtbot, panel: FactsPanel) -> None:
    run(panel)
    panel.take(STARTED)
    assert panel.head.offer.isHidden()
    panel.take(Failed(cause="there is not enough memory", offer="training.gradient_accumulation=4"))
    panel.show_outcome(Outcome("failed", "there is not enough memory"))
    assert panel.head.offer.isVisible()
    assert panel.head.offer.text() == "Resume with 4 micro-batches per step"
    with qtbot.waitSignal(panel.offer_clicked) as clicked:
        panel.head.offer.click()
    assert clicked.args == ["training.gradient_accumulation=4"]
    panel.take(Resumed(iteration=20, after=5, reason="resumed on request"))
    assert panel.head.offer.isHidden()


def test_after_pause_the_keyboard_is_at_resume_and_never_at_stop(qtbot, panel: FactsPanel) -> None:
    run(panel)
    panel._set_state("running")
    buttons = panel.head.buttons
    panel.window().activateWindow()
    panel.head.buttons.pause.setFocus()
    qtbot.waitUntil(panel.head.buttons.pause.hasFocus, timeout=60_000)
    for asked, state, button in (("pause", "paused", buttons.resume), ("resume", "running", buttons.pause)):
        panel.show_requested(asked)
        assert buttons.controls.hasFocus()
        panel._set_state(state)
        assert button.hasFocus()
    panel.head.buttons.stop.setFocus()
    panel._set_state("finished")
    assert buttons.controls.hasFocus() or not buttons.controls.isVisible(), "not the next button, whichever that is"


def test_after_the_end_it_says_what_to_do_next(panel: FactsPanel) -> None:
    run(panel)
    panel.take(StateChanged(state="running"))
    assert not panel.head.buttons.next.isVisible()
    panel.show_outcome(Outcome("finished", ""))
    buttons = panel.head.buttons
    panel.window().resize(1000, 700)
    shown = (buttons.export, buttons.compare, buttons.extend, buttons.train, buttons.report)
    assert [button.isVisible() for button in shown] == [True, False, True, True, True]
    buttons.show_other("Run 4")
    assert (buttons.compare.isVisible(), buttons.compare.text()) == (True, "Compare with Run 4")
    panel.show_outcome(Outcome("failed", "a worker was killed"))
    assert [button.isVisible() for button in shown] == [False, True, True, True, True]


def test_while_a_run_is_prepared_again_it_can_only_be_stopped(panel: FactsPanel) -> None:
    run(panel)
    panel.show_outcome(Outcome("stopped", "stopped on request"))
    panel.show_phase(Phase.PREPARING)
    assert panel.head.status.text() == "○ Starting"
    assert panel.head.buttons.stop.isVisible()
    assert not panel.head.buttons.next.isVisible()
    panel.show_phase(Phase.ENDED)  # refused
    assert panel.head.status.text() == "■ Stopped"
    assert panel.head.buttons.extend.isVisible()
    assert panel.head.buttons.extend.isEnabled()


def test_a_coordinator_that_does_not_respond_is_told(panel: FactsPanel) -> None:
    run(panel)
    for event in (STARTED, StateChanged(state="running"), progress(20, epoch=2)):
        panel.take(event)
    panel.show_silence("its coordinator (process 7) is paused, as by SIGSTOP; `kill -CONT 7` continues it")
    assert panel.head.status.text() == "◌ Not responding"
    assert panel.head.status.property("role") == "warning"
    assert panel.head.reason.text().startswith("Its coordinator (process 7) is paused")
    assert panel.head.buttons.stop.isVisible()
    panel.show_silence("")
    assert panel.head.status.text() == "● Training"
    assert panel.head.reason.isHidden()


def test_the_time_of_steps_is_a_bar_with_its_shares(panel: FactsPanel) -> None:
    run(panel)
    assert not panel.step_time.isVisible()
    panel.take(STARTED)
    panel.take(replace(progress(20), data_share=0.06, communication_share=0.13))
    labels = {name: label.text().replace("\u00a0", " ") for name, label in panel.step_time.labels.items()}
    assert list(labels.values()) == ["data 6 %", "computing 81 %", "communication 13 %"]
    image = panel.step_time.bar.grab().toImage()
    ratio, middle = image.devicePixelRatio(), image.height() // 2
    at = [image.pixelColor(round(share * (image.width() - 1)), middle) for share in (0.03, 0.5, 0.95)]
    assert at == [colour_of(name) for name in ("data", "computing", "communication")], ratio
    panel.take(Ended(state="finished", reason="", result={"held_back_by": "Computing takes 81 % of the step time."}))
    assert panel.step_time.advice.text() == "Computing takes 81 % of the step time."


@pytest.mark.parametrize(("rmse", "is_worse"), [(0.31, False), (0.6, True)])
def test_a_forecast_stands_beside_the_baselines(panel: FactsPanel, rmse: float, is_worse: bool) -> None:
    run(panel)
    panel.take(STARTED)
    errors = {"last value": {"rmse": 0.52}, "season of 24": {"rmse": 0.44}}
    result = {"test": {"rmse": rmse}, "baselines": {"season": 24, "scale": 0.2, "test": errors}}
    panel.take(Ended(state="finished", reason="all epochs", result=result))
    panel.show_outcome(Outcome("finished", "all epochs"))
    shown = panel.progress.text("Baselines").replace("\u00a0", " ")
    assert shown.split("\n") == ["last value: RMSE 0.520", "season of 24: RMSE 0.440"]
    said = panel.head.reason.text()
    assert said.startswith("The network is no better than" if is_worse else "All epochs")
    assert panel.head.reason.property("role") == ("warning" if is_worse else "help")
    run(panel)
    assert panel.progress.text("Baselines") == ""


def test_what_the_curves_show_is_said_while_they_come_and_leads_to_its_cause(panel: FactsPanel, qtbot) -> None:
    run(panel)
    for event in (STARTED, StateChanged(state="running")):
        panel.take(event)
    assert panel.head.why.isHidden()
    for number in range(7):
        for split in ("training", "validation"):
            panel.take(Points(split=split, first_step=1 + number, steps_apart=1, values={"loss": [1.6]}))
    said = "The network has learned next to nothing: the least validation loss is 1.60, 1.60 at the start."
    assert panel.head.reason.text() == said
    assert panel.head.reason.property("role") == "warning"
    assert not panel.head.why.isHidden()
    with qtbot.waitSignal(panel.why_clicked) as asked:
        panel.head.why.click()
    assert asked.args == ["learns-nothing"]
    panel.take(Ended(state="finished", reason="", result={"finding": {"kind": "learns-nothing", "text": said}}))
    panel.show_outcome(Outcome("finished", "all epochs"))
    assert panel.head.reason.text() == said
    assert not panel.head.why.isHidden()
    run(panel)
    assert panel.head.why.isHidden()
    assert panel.head.reason.isHidden()


def test_a_warning_goes_once_the_run_learns(panel: FactsPanel) -> None:
    run(panel)
    for event in (STARTED, StateChanged(state="running")):
        panel.take(event)
    for number, loss in enumerate([1.6] * 7 + [0.4]):
        for split in ("training", "validation"):
            panel.take(Points(split=split, first_step=1 + number, steps_apart=1, values={"loss": [loss]}))
    assert panel.head.reason.isHidden()
    assert panel.head.why.isHidden()


def test_a_worker_alone_has_no_share_of_communication(panel: FactsPanel) -> None:
    run(panel)
    panel.take(replace(STARTED, environment={"resolved": "cpu", "workers": 1}))
    panel.take(replace(progress(20), data_share=0.06, communication_share=0.0))
    assert [name for name, label in panel.step_time.labels.items() if label.isVisible()] == ["data", "computing"]


def test_headings_stand_nearer_to_what_they_head(panel: FactsPanel) -> None:
    run(panel)
    for event in (STARTED, StateChanged(state="running"), progress(20)):
        panel.take(event)
    settle(panel)

    def ends(table: ValueTable) -> tuple[int, int, int, int]:
        labels = [label for label in table.findChildren(QLabel) if label.isVisible()]
        top, last = labels[0], max(labels, key=lambda label: label.y())
        first = min(labels[1:], key=lambda label: label.y())
        return (table.y() + top.y(), top.geometry().bottom(), first.y(), table.y() + last.geometry().bottom())

    progress_table, hardware = ends(panel.progress), ends(panel.hardware)
    assert hardware[2] - hardware[1] < hardware[0] - progress_table[3]


def test_memory_is_said_to_be_released_only_where_it_is(panel: FactsPanel) -> None:
    """A run that waits in memory keeps what its workers hold."""
    run(panel)
    panel.take(STARTED)
    panel.take(progress(100))
    panel.take(Requested(what="pause", iteration=100))
    panel.take(StateChanged(state="paused"))
    panel.take(Requested(what="rate", iteration=100, value=0.001))
    assert panel.hardware.text("Memory") == "612 MiB"
    panel.take(Requested(what="release", iteration=100))
    assert panel.hardware.text("Memory") == "released"


def test_what_was_set_while_the_run_trains_holds_in_title_and_batch(panel: FactsPanel, tmp_path: Path) -> None:
    folder = create(tmp_path / "run", dumps(Project()), RunInfo(name="digits", number=5))
    panel.show_run(folder)
    panel.take(STARTED)
    panel.take(progress(100))
    assert panel.head.name.text() == "Run 5 · sgdm, 0.01"
    assert panel.data.text("Batch").splitlines()[2].startswith("learn rate 0.1 = ")
    update_info(folder, live_changes={"rate": 0.002})
    panel.take(Requested(what="rate", iteration=100, value=0.002))
    assert panel.head.name.text() == "Run 5 · sgdm, 0.01 → 0.002"
    assert panel.data.text("Batch").splitlines()[1:] == [
        "10 steps per epoch",
        "learn rate 0.002 from iteration 100 on",
    ]
    panel.take(replace(STARTED, epochs=4000))
    assert panel.data.text("Batch").splitlines()[2] == "learn rate 0.002 from iteration 100 on", "it was resumed"


def test_resuming_is_offered_where_there_is_a_checkpoint(panel: FactsPanel) -> None:
    run(panel)
    panel.take(Failed(cause="no memory", offer="training.gradient_accumulation=4"))
    panel.show_outcome(Outcome("failed", "no memory", has_checkpoint=False))
    assert not panel.head.buttons.extend.isVisible()
    assert panel.head.buttons.train.isVisible()
    assert panel.head.offer.text() == "Start again with 4 micro-batches per step"
    panel.show_outcome(Outcome("failed", "no memory", has_checkpoint=True))
    assert panel.head.buttons.extend.isVisible()
    assert panel.head.offer.text() == "Resume with 4 micro-batches per step"


def test_a_run_that_is_complete_is_said_to_have_finished_once(panel: FactsPanel) -> None:
    run(panel)
    panel.take(STARTED)
    panel.take(progress(30_000, epoch=3000))
    panel.show_outcome(Outcome("finished", "all 3,000 epochs completed"))
    assert panel.head.status.text() == "✓ Finished"
    assert panel.head.epoch.text() == "Epoch 3,000 of 3,000"
    assert (panel.head.reason.isVisible(), panel.head.bar.isVisible()) == (False, False)
    panel.show_outcome(Outcome("finished", "no better loss in 5 validations"))
    assert panel.head.reason.text() == "No better loss in 5 validations"


def test_how_far_the_data_is_read_is_shown_until_the_run_trains(panel: FactsPanel) -> None:
    panel.show_starting("big")
    panel.show_reading(2**20, 2**22, "bytes")
    assert panel.head.epoch.text() == "Reads the data: 25 % (1.0 MiB of 4.0 MiB)"
    run(panel)
    panel.take(Preparing(done=750, total=1000, unit="rows"))
    assert (panel.head.epoch.text(), panel.head.bar.value()) == ("Reads the data: 75 % (750 of 1,000 rows)", 750)
    panel.take(STARTED)
    assert (panel.head.epoch.text(), panel.head.bar.value()) == ("", 0)
    panel.take(StateChanged(state="running"))
    panel.take(progress(7))
    shown = panel.head.epoch.text()
    panel.take(Preparing(done=1, total=1000, unit="rows"))
    assert panel.head.epoch.text() == shown
