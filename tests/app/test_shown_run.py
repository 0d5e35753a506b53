"""Which run the page Runs shows, when another project is opened, and while others go on."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from netwright.app.history.runs_page import RunsPage
from netwright.app.runs.change_run import ChangeRun
from netwright.app.runs.monitor import Monitor
from netwright.app.runs.phases import Phase
from netwright.app.window import MainWindow
from netwright.engine.core.files import write_json
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import dumps, loads, save
from netwright.engine.project.project import Project
from netwright.engine.runs.create import create, runs_beside
from netwright.engine.runs.events import Ended, Failed, Progress, Resumed, Started, StateChanged
from netwright.engine.runs.folder import RunFolder, take_lock, update_info
from netwright.engine.runs.history import own_runs
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from tests.app.fake_server import FakeServer
from tests.app.main_windows import MakeWindow
from tests.builders import classifier

STARTED = Started(
    environment={"resolved": "cpu", "workers": 1},
    hardware="CPU",
    epochs=30,
    iterations=300,
    steps_per_epoch=10,
    metric="accuracy",
    samples={"training": 100},
    parameters=12,
)
PROGRESS = Progress(
    epoch=1, iteration=5, elapsed_s=1.0, remaining_s=9.0, rate=0.01, samples_per_second=9.5, memory_bytes=2**20
)


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return project(tmp_path / "one" / "one.netwright")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return project(tmp_path / "other" / "other.netwright")


def project(path: Path) -> Path:
    path.parent.mkdir()
    save(Project(classifier()), path)
    return path


def run_of(path: Path, name: str) -> RunFolder:
    return create(runs_beside(path) / name, "{}", RunInfo(project_path=str(path), name=path.stem))


def ended_run_of(path: Path, name: str) -> RunFolder:
    folder = run_of(path, name)
    log = EventLog(folder)
    log.append(Ended(state="finished", reason="all epochs are done", result={}))
    log.close()
    return folder


def monitor_of(window: MainWindow) -> Monitor:
    return window.training.monitor


def test_an_export_knows_the_last_run_before_the_train_tab_was_seen(
    window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ended_run_of(one, "a")
    monkeypatch.setattr("netwright.app.exchange.export_dialog.ExportDialog.exec", lambda _: 0)
    window.open_path(one)
    assert window.training.run_folder is None
    window.dialogs.export_network()
    assert window.training.run_folder is not None
    assert window.training.run_folder.path == run.path


def test_another_project_shows_its_own_last_run(qtbot: QtBot, window: MainWindow, one: Path, other: Path) -> None:
    run = ended_run_of(one, "run_one")
    window.open_path(one)
    assert window.training.run_folder is None  # nobody has looked yet
    window.show_tab("runs")
    assert window.training.run_folder == run
    qtbot.waitUntil(lambda: not window.training.is_running)
    assert "finished" not in window.status.hints.text().lower()  # that is no news
    window.open_path(other)
    assert window.training.run_folder is None
    assert monitor_of(window).facts.head.name.text() == "No run yet"
    window.open_path(one)
    assert monitor_of(window).facts.head.name.text() == "run_one"
    window.files.new()
    assert monitor_of(window).facts.head.name.text() == "No run yet"


def test_a_run_that_has_ended_is_shown_as_ended_before_its_events_are_read(
    qtbot: QtBot, window: MainWindow, one: Path
) -> None:
    """Whether it was stopped and resumed meanwhile; nothing of it can be stopped, and another run may be started."""
    folder = run_of(one, "a")
    log = EventLog(folder)
    for event in (StateChanged(state="starting"), STARTED, StateChanged(state="running"), PROGRESS):
        log.append(event)
    log.append(Ended(state="stopped", reason="stopped on request", result={}))
    log.append(Resumed(iteration=5, after=4, reason="resumed on request"))
    for event in (StateChanged(state="running"), replace(PROGRESS, iteration=300, epoch=30)):
        log.append(event)
    log.append(Ended(state="finished", reason="all 30 epochs completed", result={}))
    log.close()
    write_json(
        folder.result,
        {"state": "finished", "reason": "all 30 epochs completed", "epochs": 30, "iterations": 300, "seconds": 75.0},
    )
    update_info(folder, state="finished")
    window.open_path(one)
    window.show_tab("runs")
    facts, seen = monitor_of(window).facts, []
    head = facts.head
    window.training.received.connect(lambda _: seen.append((head.status.text(), head.buttons.stop.isVisible())))
    assert not seen
    assert facts.head.status.text() == "✓ Finished"
    assert facts.head.reason.text() == "", "the state says so"
    assert facts.progress.text("Iteration") == "300"
    assert not window.training.is_running
    assert not window.training.can_resume, "it has left no checkpoint"
    qtbot.waitUntil(lambda: len(seen) == 9)
    assert set(seen) == {("✓ Finished", False)}
    qtbot.waitUntil(lambda: facts.progress.text("Iteration") == "300 of 300")
    assert facts.head.left.text() == ""


def test_a_paused_run_is_shown_as_paused_before_its_events_are_read(
    qtbot: QtBot, window: MainWindow, one: Path
) -> None:
    folder = run_of(one, "a")
    log = EventLog(folder)
    for event in (StateChanged(state="starting"), STARTED, StateChanged(state="running"), PROGRESS):
        log.append(event)
    log.append(StateChanged(state="paused", reason="pause was requested"))
    update_info(folder, state="paused")
    lock = take_lock(folder)
    assert lock is not None
    with contextlib.closing(log):
        window.open_path(one)
        window.show_tab("runs")
        facts, seen = monitor_of(window).facts, []
        window.training.received.connect(lambda _: seen.append((facts.head.status.text(), window.training.phase)))
        assert facts.head.status.text() == "II Paused"
        qtbot.waitUntil(lambda: len(seen) == 5)
        assert set(seen) == {("II Paused", Phase.PAUSED)}
        update_info(folder, state="running")  # first, as the coordinator does
        log.append(StateChanged(state="running"))
        qtbot.waitUntil(lambda: facts.head.status.text() == "● Training")
        assert window.training.phase is Phase.RUNNING
    os.close(lock)


def test_a_run_goes_on_unseen_while_another_project_is_open(
    qtbot: QtBot, window: MainWindow, one: Path, other: Path
) -> None:
    """It can be stopped, and its end is told."""
    ended = ended_run_of(other, "run_other")
    run = run_of(one, "run_one")
    lock = take_lock(run)
    assert lock is not None
    window.training.follow(run)
    window.open_path(other)
    assert "continues" in window.status.hints.text()
    window.show_tab("runs")
    assert window.training.run_folder == ended
    assert (window.training.is_running, window.bar.stop.isVisible()) == (True, True)
    window.bar.stop.click()
    assert run.take_requests() == [{"do": "stop"}]
    update_info(run, state="stopped")
    os.close(lock)
    qtbot.waitUntil(lambda: not window.training.is_running)
    assert window.status.hints.text().startswith("run_one: Stopped")
    assert window.bar.stop.isHidden()


def test_a_run_goes_on_unseen_while_another_one_is_chosen(qtbot: QtBot, window: MainWindow, one: Path) -> None:
    window.open_path(one)
    ended = ended_run_of(one, "a")
    with living(window, one) as run:
        window.training.follow(ended)
        assert (window.training.is_running, window.training.unseen) == (True, [run])
        qtbot.waitUntil(lambda: window.training.phase is Phase.REPLAYED)
        assert not window.menus.actions_by_id["run.pause"].isEnabled(), "the one that is shown has ended"
        assert window.menus.actions_by_id["run.stop"].isEnabled()
        assert monitor_of(window).facts.head.status.text() == "✓ Finished"
        window.training.follow(run)
        assert not window.training.unseen
        assert window.menus.actions_by_id["run.pause"].isEnabled()


@contextlib.contextmanager
def living(window: MainWindow, path: Path) -> Iterator[RunFolder]:
    """A run that is under way and shown, by a log of its own."""
    run = run_of(path, "run_one")
    lock = take_lock(run)
    update_info(run, state="running")
    log = EventLog(run)
    log.append(STARTED)
    log.append(StateChanged(state="running"))
    log.append(PROGRESS)
    try:
        window.training.follow(run)
        yield run
    finally:
        log.close()
        os.close(lock)


def test_the_buttons_ask_the_run(qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def type_and_accept(dialog: ChangeRun) -> bool:
        dialog.rate.setText("0.5")
        assert dialog.ok.isEnabled()
        return True

    monkeypatch.setattr("netwright.app.runs.change_run.ChangeRun.exec", type_and_accept)
    with living(window, one) as run:
        facts = monitor_of(window).facts
        qtbot.waitUntil(lambda: facts.rate_and_epochs is not None)
        facts.head.buttons.pause.click()
        for slot in ("pause.release", "checkpoint", "validate", "set", "watch.layers"):
            facts.head.buttons.more.actions_by_slot[slot].trigger()
        asked = run.take_requests()
    assert asked == [
        {"do": "pause"},
        {"do": "pause", "release": 1},
        {"do": "checkpoint"},
        {"do": "validate"},
        {"do": "set", "rate": 0.5},
        {"do": "watch", "layers": 1},
    ]


@pytest.mark.parametrize(
    ("answer", "may", "asked"), [("keep", True, []), ("stop", True, [{"do": "stop"}]), ("cancel", False, [])]
)
def test_closing_while_a_run_is_under_way_asks(
    qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch, answer: str, may: bool, asked: list
) -> None:
    monkeypatch.setattr("netwright.app.messages.ask_to_leave_training", lambda parent, name, waiting: answer)
    with living(window, one) as run:
        assert window.close() is may
        assert run.take_requests() == asked


def test_stop_names_its_run_and_stands_apart_from_train(
    qtbot: QtBot, window: MainWindow, one: Path, other: Path
) -> None:
    """Also where another project is open: one stops nothing that one does not see."""
    bar, stop = window.bar, window.menus.actions_by_id["run.stop"]
    assert (bar.stop.isVisible(), bar.train.isEnabled()) == (False, True)

    def place(button: QPushButton) -> QRect:
        return QRect(button.mapTo(window, QPoint()), button.size())

    train_at = place(bar.train)
    with living(window, one) as run:
        update_info(run, number=5)
        window.open_path(other)
        window.training.state_changed.emit()
        assert (bar.stop.text(), stop.text()) == ("Stop run 5 (one)", "Stop run 5 (one)")
        assert (bar.stop.isVisible(), bar.stop.property("primary"), bar.train.text()) == (True, None, "Queue run")
        window.grab()
        assert not place(bar.stop).intersects(train_at)
        bar.stop.click()
        assert run.take_requests() == [{"do": "stop"}]


def test_a_run_that_ended_without_a_checkpoint_is_not_resumed(qtbot: QtBot, window: MainWindow, one: Path) -> None:
    """Neither by its button, nor by the menu; one that has a checkpoint is."""
    run = ended_run_of(one, "a")
    update_info(run, state="failed")
    window.open_path(one)
    window.show_tab("runs")
    qtbot.waitUntil(lambda: not window.training.is_running)
    resume = window.menus.actions_by_id["run.resume"]
    assert (monitor_of(window).facts.head.buttons.extend.isVisible(), resume.isEnabled()) == (False, False)
    (run.checkpoints / "000000005").mkdir(parents=True)
    window.training.follow(run)
    assert (monitor_of(window).facts.head.buttons.extend.isVisible(), resume.isEnabled()) == (True, True)


def test_the_queue_shows_no_run_of_another_project(qtbot: QtBot, window: MainWindow, one: Path, other: Path) -> None:
    window.open_path(one)
    window.show_tab("runs")
    run, own = run_of(other, "theirs"), run_of(one, "ours")
    queue = window.training.queue_follower.queue
    entries = [queue.queue.add("{}", path.stem, project_path=str(path)) for path in (other, one)]
    for entry, folder in zip(entries, (run, own), strict=True):
        with queue.queue.claimed(entry.id) as claim:
            claim.change(state="running", run_dir=str(folder.path))
            queue.look()
            assert window.training.run_folder == (None if folder == run else own)
    panel = window.training.queue_follower.panel
    assert panel is not None
    assert not panel.rows, "the rail has the runs"


def test_the_next_window_follows_the_newest_run_that_is_alive(
    qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(do: str, given: dict, on_result, on_error, on_progress=None) -> None:
        if do == "alive":
            on_result({**given, "runs": [str(run.path) for run in alive]})

    monkeypatch.setattr(window.server, "request", answer)
    alive = [run_of(one, "new"), run_of(one, "old")]
    locks = [take_lock(run) for run in alive]
    window.open_path(one)
    window.training.queue_follower.start()
    assert window.training.is_running
    assert window.training.run_folder == alive[0]
    assert "the newest of 2" in window.status.hints.text()
    assert window.tabs.current == "design"
    alive.append(run_of(one, "late"))
    locks.append(take_lock(alive[2]))
    window.training.queue_follower.find_alive()
    assert window.status.hints.text() == "1 more run of this project in progress, listed in Runs."
    assert window.training.run_folder == alive[0]
    for lock in locks:
        os.close(lock)


def test_a_stop_pressed_early_is_not_lost_when_the_run_is_found_alive_before_its_start_is_answered(
    qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list = []

    def answer(do: str, given: dict, on_result, on_error, on_progress=None) -> None:
        if do == "alive":
            on_result({**given, "runs": [str(run.path)] if started else []})
        elif do == "train":
            started.append(on_result)

    monkeypatch.setattr(window.server, "request", answer)
    window.open_path(one)
    window.editor.apply("Data", replace(window.editor.project, data=DataOptions(source="digits")))
    window.training.queue_follower.start()
    window.training.start()
    window.training.stop()
    run = run_of(one, "run")
    lock = take_lock(run)
    window.training.queue_follower.find_alive()
    assert window.training.phase is Phase.STOP_WHEN_READY
    started[0]({"run_dir": str(run.path)})
    assert run.take_requests() == [{"do": "stop"}]
    os.close(lock)


def test_the_end_of_a_run_that_was_over_before_it_was_shown_is_told(
    qtbot: QtBot, window: MainWindow, server: FakeServer, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was short, or the window busy: it is news all the same."""
    told: list[str] = []
    monkeypatch.setattr(window.notifier, "notify", lambda name, sentence, is_bad: told.append(f"{name}: {sentence}"))
    window.open_path(one)
    window.editor.apply("Data", replace(window.editor.project, data=DataOptions(source="digits")))
    window.training.start()
    run = ended_run_of(one, "run")
    update_info(run, state="finished")
    server.answer("train", {"run_dir": str(run.path)})
    qtbot.waitUntil(lambda: not window.training.is_running)
    assert told == ["run: Training finished: all epochs are done"]


def test_a_run_that_ended_is_resumed_with_more_epochs(
    qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answered(window, monkeypatch, changes=[])
    monkeypatch.setattr("netwright.app.runs.change_run.ask_for_more", lambda parent, folder: ["training.max_epochs=9"])
    run = ended_run_of(one, "run")
    update_info(run, state="finished")
    window.open_path(one)
    window.training.resume_run(run)
    given = {"run_dir": str(run.path), "settings": ["training.max_epochs=9"]}
    assert [one for one in asked if one[0] == "resume"] == [("resume", given)]
    assert window.training.is_running


def answered(window: MainWindow, monkeypatch: pytest.MonkeyPatch, changes: list[str]) -> list[tuple[str, dict]]:
    """The requests that the window makes from now on, of which that for changes in the data is answered at once."""
    asked: list[tuple[str, dict]] = []

    def request(do: str, given: dict, on_result, *_: object) -> None:
        asked.append((do, given))
        if do == "data_changes":
            on_result({"changes": changes})

    monkeypatch.setattr(window.server, "request", request)
    return asked


@pytest.mark.parametrize("is_wanted", [False, True])
def test_a_run_whose_data_has_changed_is_resumed_if_that_is_wanted(
    qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch, is_wanted: bool
) -> None:
    asked, said = answered(window, monkeypatch, changes=["a.csv is newer."]), []
    monkeypatch.setattr("netwright.app.runs.change_run.ask_for_more", lambda parent, folder: [])

    def ask(parent: object, title: str, text: str, do_it: str) -> bool:
        said.append(text)
        return is_wanted

    monkeypatch.setattr("netwright.app.messages.ask", ask)
    run = ended_run_of(one, "run")
    window.open_path(one)
    window.training.follow(run)
    assert monitor_of(window).facts.head.data_changes.text() == "The data has changed since:\na.csv is newer."
    window.training.resume_run(run)
    assert said[0].startswith("a.csv is newer.\n")
    resumed = [given for do, given in asked if do == "resume"]
    assert [given.get("allow_changed_data", False) for given in resumed] == [True] * is_wanted
    assert window.training.is_running == is_wanted


def test_a_run_that_failed_goes_on_with_what_it_offers(
    qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answered(window, monkeypatch, changes=[])
    run, setting = run_of(one, "run"), "training.gradient_accumulation=2"
    log = EventLog(run)
    for event in (STARTED, Failed(cause="no memory", offer=setting), Ended(state="failed", reason="", result={})):
        log.append(event)
    log.close()
    update_info(run, state="failed")
    window.training.follow(run)
    facts = monitor_of(window).facts
    qtbot.waitUntil(lambda: not facts.head.offer.isHidden())
    facts.head.offer.click()
    assert [given["settings"] for do, given in asked if do == "resume"] == [[setting]]
    assert not facts.head.offer.isEnabled()


def test_a_run_is_shown_by_its_folder(
    qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, other = ended_run_of(one, "run"), one.parent
    choose = "netwright.app.frame.window_commands.QFileDialog.getExistingDirectory"
    monkeypatch.setattr(choose, lambda *_: str(run.path))
    window.menus.actions_by_id["run.open"].trigger()
    assert window.training.run_folder == run
    told: list[str] = []
    monkeypatch.setattr(window, "show_error", lambda title, text: told.append(title))
    monkeypatch.setattr(choose, lambda *_: str(other))
    window.menus.actions_by_id["run.open"].trigger()
    assert told == ["This is not a run"]
    assert window.training.run_folder == run


def test_what_is_queued_while_a_run_is_being_prepared_waits_for_it(
    qtbot: QtBot, window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("netwright.app.runs.queue_panel.start_work", lambda queue: None)
    answers = {}
    monkeypatch.setattr(window.server, "request", lambda do, given, on_result, *_: answers.update({do: on_result}))
    window.open_path(one)
    window.editor.apply("Data", replace(window.editor.project, data=DataOptions(source="digits")))
    window.training.start()
    window.training.queue()
    keeper = window.training.queue_follower.queue
    assert keeper.entries == []
    run = run_of(one, "run")
    lock = take_lock(run)
    answers["train"]({"run_dir": str(run.path)})
    assert [(entry.title, entry.after, entry.project_path) for entry in keeper.entries] == [
        ("one", str(run.path), str(one))
    ]
    assert keeper.queue.project_text(1) == dumps(window.editor.project)
    os.close(lock)


def test_a_run_of_an_unsaved_project_is_followed_once_it_is_saved_and_opened_again(
    qtbot: QtBot, make_window: MakeWindow, tmp_path: Path
) -> None:
    """New blank project, Train, Save as while it trains, keep training, open it in the next window."""
    server = FakeServer()
    window = make_window(server)
    window.files.new()
    window.editor.apply("Build", Project(classifier(), data=DataOptions(source="digits")))
    window.training.start()
    asked = next(request for request in server.asked if request.do == "train").given
    own = own_runs()
    assert own is not None
    assert "project_path" not in asked
    identity = loads(asked["project"]).project.identity
    run = create(own / "a", asked["project"], RunInfo(name="untitled", project_id=identity, state="running"))
    lock = take_lock(run)
    server.answer("train", {"run_dir": str(run.path)})
    window.documents.save(tmp_path / "mine.netwright")

    next_window = make_window(FakeServer())
    next_window.open_path(tmp_path / "mine.netwright")
    next_window.show_tab("runs")
    assert next_window.training.run_folder == run
    assert next_window.training.is_running
    page = next_window.tabs.page("runs")
    assert isinstance(page, RunsPage)
    qtbot.waitUntil(lambda: [row.path for row in page.rail.model.rows] == [run.path])
    os.close(lock)


def test_the_page_of_a_run_that_nobody_has_seen_is_released_too(
    window: MainWindow, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its plots listen to the theme, which outlives the window."""
    released: list[Monitor] = []
    shutdown = Monitor.shutdown

    def release(monitor: Monitor) -> None:
        if monitor not in released:
            released.append(monitor)
            shutdown(monitor)

    monkeypatch.setattr(Monitor, "shutdown", release)
    window.training.follow(ended_run_of(one, "a"))
    assert window.tabs.current == "design"
    window.training.close()
    assert released == [window.training.monitor]
    window.training.close()
    window.close()
