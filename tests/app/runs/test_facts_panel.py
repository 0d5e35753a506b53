"""Beside the curves: every state has a word and a role, and every event finds its place."""

from pathlib import Path

import pytest

from app.runs.facts_panel import STATES, FactsPanel
from app.runs.run_follower import Outcome
from designer import theme
from engine.runs.events import Best, Failed, Points, Progress, Refused, Requested, Resumed, Started, StateChanged
from engine.runs.folder import RunFolder
from engine.runs.requests import WATCHABLE

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


@pytest.fixture
def panel(qtbot, qapp) -> FactsPanel:
    theme.apply(qapp, "light")  # sizes follow from it
    panel = FactsPanel()
    qtbot.addWidget(panel)
    panel.show_nothing()
    panel.resize(380, 700)
    panel.show()
    return panel


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
    shape, said = panel.status.text().split(" ", 1)
    assert said == word
    assert shape
    assert panel.status.property("role") == role
    assert (panel.stop.isVisible() and panel.stop.isEnabled()) == stop
    assert panel.train.isVisible() == train
    assert panel.export.isVisible() == export


def test_no_state_is_left_out() -> None:
    assert set(STATES) == {
        "", "starting", "running", "stopping", "paused", "finished", "stopped", "failed", "lost", "refused"
    }  # fmt: skip


def test_before_the_first_run_it_says_what_to_do(panel: FactsPanel) -> None:
    assert panel.name.text() == "No run yet"
    assert "Press Train" in panel.reason.text()
    assert panel.train.text() == "Train"
    assert not panel.bar.isVisible()


def test_what_a_run_says_stands_in_the_tables(panel: FactsPanel) -> None:
    run(panel)
    panel.take(STARTED)
    panel.take(StateChanged(state="running"))
    panel.take(progress(864, epoch=87))
    panel.take(Points(split="validation", first_step=860, steps_apart=1, values={"loss": [0.1], "accuracy": [0.964]}))
    panel.take(Best(iteration=840, objective="accuracy", value=0.964))
    assert panel.epoch.text() == "Epoch 87 of 3,000"
    assert panel.progress.text("Iteration") == "864 of 30,000"
    assert panel.progress.text("Throughput") == "11,420 samples/s"
    assert panel.progress.text("Best").endswith("at 840")
    assert "96.4\u00a0%" in panel.progress.text("Validation")
    assert panel.where.text("Workers") == "2 · gloo"
    assert panel.where.text("Samples") == "1,257\u00a0training · 270\u00a0validation"
    assert panel.where.text("Batch").splitlines()[:2] == ["128 samples per step, 64 per worker", "10 steps per epoch"]
    assert "612 MiB" in panel.where.text("Memory")
    assert panel.left.text() == "2 m 5 s left"


def test_a_failure_is_said_once_in_words(panel: FactsPanel) -> None:
    run(panel)
    panel.take(STARTED)
    panel.take(Failed(cause="worker 1 was killed"))
    panel.show_outcome(Outcome("failed", "worker 1 was killed"))
    assert panel.reason.text() == "Worker 1 was killed"
    assert panel.reason.property("role") == "error"
    assert "killed" not in panel.lines.text()


def test_a_stop_that_is_on_its_way_is_not_undone_by_older_news(panel: FactsPanel) -> None:
    run(panel)
    panel.show_stopping(after_epoch=False)
    panel.take(StateChanged(state="starting"))
    panel.take(StateChanged(state="running"))
    assert panel.status.text() == "◐ Stopping"
    panel.take(StateChanged(state="stopping"))
    panel.show_outcome(Outcome("stopped", "stopped on request"))
    assert panel.status.text() == "■ Stopped"
    assert panel.reason.text() == "Stopped on request"


def test_a_long_name_is_elided_and_whole_in_the_tooltip(panel: FactsPanel) -> None:
    name = "2026-11-21_10-22-03_" + "a_very_long_project_name_" * 5
    run(panel, name)
    panel.grab()
    assert panel.width() == 380
    assert panel.name.is_elided
    assert panel.name.toolTip() == f"/runs/{name}"


def test_the_buttons_say_what_they_are_for(qtbot, panel: FactsPanel) -> None:
    run(panel)
    with qtbot.waitSignal(panel.stop_clicked):
        panel.stop.click()
    with qtbot.waitSignal(panel.stop_after_epoch_clicked):
        panel.after_epoch.click()
    panel.show_outcome(Outcome("finished", ""))
    with qtbot.waitSignals([panel.train_clicked, panel.export_clicked]):
        panel.train.click()
        panel.export.click()


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
    assert (panel.pause.isVisible(), panel.resume.isVisible(), panel.more.isVisible()) == (pause, resume, more)
    assert panel.more.isEnabled() == (state in ("running", "paused"))
    panel.grab()
    assert panel.width() == 380, "nothing is cut off"


def test_what_was_asked_stands_among_the_events(panel: FactsPanel) -> None:
    run(panel)
    for event in (STARTED, StateChanged(state="running"), progress(20, epoch=2)):
        panel.take(event)
    assert panel.rate_and_epochs == (0.01, 3000)
    panel.take(Requested(what="rate", iteration=20, value=0.002))
    panel.take(Requested(what="epochs", iteration=20, value=40))
    panel.take(Requested(what="checkpoint", iteration=21))
    panel.take(Resumed(iteration=20, after=5, reason="Worker 1 was killed", restarts=1))
    assert panel.lines.text().splitlines() == [
        "20  learn rate 0.002, by you",
        "20  40 epochs, by you",
        "21  checkpoint requested, by you",
        "20  continues: Worker 1 was killed",
    ]
    assert panel.epoch.text() == "Epoch 2 of 40"


def test_what_a_run_watches_is_ticked_as_it_says(panel: FactsPanel) -> None:
    run(panel)
    ticked = {name: panel.more.actions_by_slot[f"watch.{name}"].isChecked for name in WATCHABLE}
    panel.take(StateChanged(state="running"))
    panel.take(Requested(what="watch_layers", iteration=3, value=1.0))
    panel.take(Points(split="training", first_step=3, steps_apart=1, values={"loss": [1.0], "gradient_norm": [2.0]}))
    assert ticked["layers"]()
    assert ticked["gradient_norm"]()
    panel.take(Refused(what="watch_layers", iteration=4, reason="a compiled network shows nothing of its layers"))
    assert not ticked["layers"]()
    assert panel.lines.text().splitlines() == [
        "3  layers watched, by you",
        "4  refused: a compiled network shows nothing of its layers",
    ]
    run(panel)
    assert not ticked["gradient_norm"](), "of another run nothing is known"


def test_a_run_on_disk_says_so_and_asks_for_less(panel: FactsPanel) -> None:
    run(panel)
    for event in (STARTED, StateChanged(state="running"), progress(20, epoch=2), StateChanged(state="paused")):
        panel.take(event)
    assert panel.more.actions_by_slot["pause.release"].text() == "Free its memory"
    panel.take(Requested(what="release", iteration=20))
    panel.take(StateChanged(state="paused", reason="its memory is released"))
    assert panel.status.text() == "‖ Paused, on disk"
    assert panel.where.text("Memory") == "released"
    assert not panel.more.actions_by_slot["pause.release"].isEnabled()
    panel.take(StateChanged(state="starting"))
    panel.take(StateChanged(state="running"))
    assert panel.status.text() == "● Training"
    assert panel.more.actions_by_slot["pause.release"].isEnabled()


def test_what_helps_a_run_that_ran_out_of_memory_is_a_button(qtbot, panel: FactsPanel) -> None:
    run(panel)
    panel.take(STARTED)
    assert panel.offer.isHidden()
    panel.take(Failed(cause="there is not enough memory", offer="training.gradient_accumulation=4"))
    panel.show_outcome(Outcome("failed", "there is not enough memory"))
    assert panel.offer.isVisible()
    assert panel.offer.text() == "Resume with 4 micro-batches per step"
    with qtbot.waitSignal(panel.offer_clicked) as clicked:
        panel.offer.click()
    assert clicked.args == ["training.gradient_accumulation=4"]
    panel.take(Resumed(iteration=20, after=5, reason="resumed on request"))
    assert panel.offer.isHidden()


def test_after_pause_the_keyboard_is_at_resume_and_never_at_stop(qtbot, panel: FactsPanel) -> None:
    run(panel)
    panel._set_state("running")
    panel.activateWindow()
    panel.pause.setFocus()
    qtbot.waitUntil(panel.pause.hasFocus, timeout=60_000)
    for asked, state, button in (("pause", "paused", panel.resume), ("resume", "running", panel.pause)):
        panel.show_requested(asked)
        assert panel.hasFocus()
        panel._set_state(state)
        assert button.hasFocus()
    panel.stop.setFocus()
    panel._set_state("finished")
    assert panel.hasFocus(), "not the next button, whichever that is"
