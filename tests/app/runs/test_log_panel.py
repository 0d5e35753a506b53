"""The log of a run: messages in words, and what its processes printed, as it grows."""

from pathlib import Path

import pytest

from netwright.app.runs import log_panel
from netwright.app.runs.log_panel import LogPanel, line_of
from netwright.engine.runs.events import (
    Checkpointed,
    Ended,
    EpochEnded,
    Event,
    Failed,
    Message,
    Requested,
    Resumed,
    StateChanged,
)
from netwright.engine.runs.folder import RunFolder
from tests.app.runs.test_facts_panel import STARTED


@pytest.fixture
def panel(qtbot) -> LogPanel:
    panel = LogPanel()
    qtbot.addWidget(panel)
    panel.resize(600, 200)
    panel.show()
    return panel


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (STARTED, "Training on AMD EPYC, 2 workers with 1 thread each: 12,650 parameters, 30,000 iterations"),
        (StateChanged(state="paused", reason="pause was requested"), "Run paused: pause was requested"),
        (Message(severity="note", text="Computing with 1 thread."), "Note: Computing with 1 thread."),
        (Requested(what="rate", iteration=700, value=0.0075), "Requested: rate 0.0075, at iteration 700"),
        (Checkpointed(iteration=840, epoch=9, seconds=0.012), "Checkpoint after iteration 840, in 0.01 s"),
        (Resumed(iteration=300, after=9, reason="worker 1 died"), "Resumed after iteration 300: worker 1 died"),
        (
            Resumed(iteration=300, after=9, reason="Worker 1 died.", repeated=76),
            "Resumed after iteration 300: Worker 1 died. 76 iterations are repeated.",
        ),
        (Failed(cause="out of memory", detail="here"), "Failed: out of memory\nhere"),
        (Ended(state="finished", reason="all epochs are done", result={}), "Run finished: all epochs are done"),
        (EpochEnded(epoch=1, iteration=10), ""),
    ],
)
def test_events_in_words(event: Event, words: str) -> None:
    assert line_of(event) == words


def test_messages_have_their_times_and_go_with_the_run(panel: LogPanel, tmp_path: Path) -> None:
    panel.take(Message(severity="warning", text="<b>odd</b>", time=1_000_000.0))
    panel.take(EpochEnded(epoch=1, iteration=10))
    line = panel.messages.toPlainText()
    assert line.endswith("Warning: <b>odd</b>")
    assert line[2] == line[5] == ":"
    panel.show_run(RunFolder(tmp_path))
    assert panel.messages.toPlainText() == ""


def test_what_is_printed_is_followed_line_by_line(panel: LogPanel, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    panel.show_run(folder)
    assert panel.printed.toPlainText() == ""
    folder.log.write_bytes(b"one\n\x1b[31mtwo\x1b[0m\xff\nhal")
    panel.read_on()
    assert panel.printed.toPlainText() == "one\ntwo\ufffd"
    with open(folder.log, "ab") as file:
        file.write(b"f\n")
    panel.read_on()
    panel.read_on()
    assert panel.printed.toPlainText() == "one\ntwo\ufffd\nhalf"
    folder.log.write_bytes(b"anew\n")
    panel.read_on()
    assert panel.printed.toPlainText() == "anew"


def test_of_a_long_log_the_end_is_shown(panel: LogPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_panel, "FIRST_BYTES", 100)
    folder = RunFolder(tmp_path)
    folder.log.write_text("".join(f"line {number}\n" for number in range(1000)))
    panel.show_run(folder)
    lines = panel.printed.toPlainText().split("\n")
    assert lines[-1] == "line 999"
    assert 5 < len(lines) < 12
    assert all(line.startswith("line ") for line in lines)


def test_a_hidden_log_is_not_read(panel: LogPanel, tmp_path: Path, qtbot) -> None:
    panel.hide()
    folder = RunFolder(tmp_path)
    folder.log.write_text("one\n")
    panel.show_run(folder)
    assert panel.printed.toPlainText() == ""
    panel.show()
    assert panel.printed.toPlainText() == "one"
    with open(folder.log, "a", encoding="utf-8") as file:
        file.write("two\n")
    qtbot.waitUntil(lambda: panel.printed.toPlainText() == "one\ntwo", timeout=60_000)
