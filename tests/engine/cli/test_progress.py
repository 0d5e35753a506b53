"""Progress in a terminal and elsewhere."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from netwright.engine.cli import devices_command, follow_command, queue_command, terminal
from netwright.engine.cli.answers import table
from netwright.engine.cli.follow_command import ProgressPrinter
from netwright.engine.cli.main import main
from netwright.engine.cli.queue_command import QueueProgress
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.progress import report
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.runs.create import create
from netwright.engine.runs.events import (
    Ended,
    Event,
    Failed,
    Message,
    Points,
    Preparing,
    Progress,
    Started,
    StateChanged,
)
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.queue import Entry


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    """A terminal that was closed."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


STARTED = Started(
    environment={},
    hardware="2 workers",
    epochs=3,
    iterations=3000,
    steps_per_epoch=1000,
    metric="accuracy",
    samples={"training": 1257, "validation": 0},
    parameters=7850,
    sentence="2 workers on the CPU.",
    arithmetic="128 samples per step.",
)
RUN: list[Event] = [
    STARTED,
    Points(split="training", first_step=1, steps_apart=1, values={"loss": [2.0, 1.5], "accuracy": [0.1, 0.5]}),
    Points(split="validation", first_step=2, steps_apart=1, values={"loss": [1.75], "rmse": []}),
    Progress(
        epoch=1, iteration=1500, elapsed_s=1, remaining_s=61, rate=0.1, samples_per_second=12345.6, memory_bytes=0
    ),
    Message(severity="warning", text="look here"),
    StateChanged(state="stopping"),
    Failed(cause="no space"),
    Points(split="test", first_step=2, steps_apart=1, values={"accuracy": [0.964]}),
    Ended(state="failed", reason="", result={}),
]


def printed(stream: io.StringIO) -> str:
    """What a whole run prints."""
    printer = ProgressPrinter(stream)
    for event in RUN:
        printer(event)
    return stream.getvalue()


def test_plain_lines_where_there_is_no_terminal() -> None:
    assert printed(io.StringIO()).splitlines() == [
        "2 workers",
        "2 workers on the CPU.",
        "128 samples per step.",
        "7,850 parameters; samples: 1,257 training; 3 epochs, 3,000 iterations",
        "epoch 1/3  1,500/3,000  loss 1.50, accuracy 50.0 %  validation: loss 1.75  12,346 samples/s  1 m 1 s left",
        "warning: look here",
        "stopping ...",
        "failed: no space",
        "test: accuracy 96.4 %",
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_a_bar_on_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = printed(Terminal())
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    lines = [line for line in re.split(r"[\r\n]+", plain) if line]
    assert any("12,346 samples/s" in line for line in lines)
    assert any("1 m 1 s left" in line for line in lines)
    shown = [line for line in lines if "samples/s" in line or "left" in line or "1,500/3,000" in line]
    assert all(len(line) <= width for line in shown)
    assert ("━" in text) == (width >= 80)
    assert "\nwarning: look here" in plain or "warning: look here" in lines


def test_colours_are_left_out_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    red = "\x1b[31mfailed: no space"
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert red in printed(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in printed(Terminal())


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in printed(Terminal())


def test_what_is_waited_for_is_shown_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, is_shown in ((Terminal(), True), (io.StringIO(), False)):
        with ProgressPrinter(stream) as printer:
            printer.wait("starting ...")
        assert ("starting ..." in stream.getvalue()) == is_shown


def test_reading_data_is_told_in_lines_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds, lines in ((0.0, 2), (3600.0, 0)):
        monkeypatch.setattr(terminal, "LINE_EVERY_S", seconds)
        monkeypatch.setattr(follow_command, "LINE_EVERY_S", seconds)
        with terminal.showing("reading"):
            report(1_000, 4_000, "rows")
            report(2**20, 0, "bytes")
        said = ["reading: 25 % (1,000 of 4,000 rows)", "reading: 1.0 MiB"]
        assert capsys.readouterr().err.splitlines() == said[:lines]
        stream = io.StringIO()
        with ProgressPrinter(stream) as printer, printer.reading():
            report(3, 4, "files")
        assert stream.getvalue() == "reads the data: 75 % (3 of 4 files)\n" * bool(lines)
    stream = io.StringIO()
    ProgressPrinter(stream)(Preparing(done=3, total=4, unit="samples"))
    assert stream.getvalue() == "reads the data: 75 % (3 of 4 samples)\n"


def test_a_table_keeps_to_the_width_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    rows = [("run", "state", "changes"), ("first", "finished", "a long text of many words " * 3)]
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stdout", stream)
        print_table(rows)
        lines = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()
        assert lines[0].split() == ["run", "state", "changes"]
        assert lines[1].startswith("first  finished  a long text")
        assert all(len(line) <= 40 for line in lines) == stream.isatty()


def test_commands_off_a_terminal_import_no_rich(tmp_path: Path) -> None:
    program = "import sys; from netwright.engine.cli import main; main.main(sys.argv[1:]); print('rich' in sys.modules)"
    for words in (["runs", str(tmp_path)], ["templates"], ["options"]):
        done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "False"


def test_lines_are_not_printed_more_often_than_they_are_read() -> None:
    stream = io.StringIO()
    printer = ProgressPrinter(stream)
    for _ in range(100):
        printer(RUN[3])
    assert len(stream.getvalue().splitlines()) == 1


def test_a_terminal_that_has_gone_does_not_end_the_run() -> None:
    assert printed(Gone()) == ""
    closed = io.StringIO()
    printer = ProgressPrinter(closed)
    closed.close()
    printer(STARTED)


def test_tables_are_aligned() -> None:
    assert table([("a", "10"), ("bcd", "5")], right=(1,)) == ["a    10", "bcd   5"]
    assert table([]) == []


def test_a_log_of_a_stranger_has_no_say_over_the_terminal() -> None:
    stream = io.StringIO()
    ProgressPrinter(stream)(Message(severity="note", text="one\x1b]0;owned\x07\ntwo"))
    assert stream.getvalue() == "note: one\\u001b]0;owned\\u0007\ntwo\n"


class Narrow(Terminal):
    """A terminal with an encoding."""

    encoding = "utf-8"


@pytest.mark.parametrize("width", [30, 60, 120])
def test_a_queue_shows_the_progress_of_each_run_on_a_terminal(
    tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    entries = []
    for id in (1, 2):
        log = EventLog(create(tmp_path / f"run_{id}", "{}", RunInfo()))
        for event in RUN[:4]:
            log.append(event)
        log.close()
        entries.append(Entry(id=id, title=f"net {id}", state="running", run_dir=str(tmp_path / f"run_{id}")))
    terminal = Narrow()
    with QueueProgress(terminal) as progress:
        progress.tell(entries[0])
        progress.watch([*entries, Entry(id=3, title="c", state="starting")])
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    assert shown.startswith("1 net 1: trains")
    for part in ("1 net 1  epoch 1/3", "2 net 2  epoch 1/3", "12,346 samples/s", "1 m 1 s left", "loss 1.75"):
        assert part in shown
    assert "…" not in shown, "nothing is cut"
    assert max(len(line.rstrip()) for line in re.split(r"[\r\n]+", shown.partition("\n")[2])) <= width
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", terminal.getvalue()), "no colour"


def test_a_queue_prints_a_line_per_run_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_command, "LINE_EVERY_S", 0.0)
    log = EventLog(create(tmp_path / "run", "{}", RunInfo()))
    for event in RUN[:4]:
        log.append(event)
    log.close()
    stream = io.StringIO()
    with QueueProgress(stream) as progress:
        progress.watch([Entry(id=1, title="net", state="running", run_dir=str(tmp_path / "run"))])
    assert stream.getvalue() == (
        "1 net  epoch 1/3  1,500/3,000  loss 1.50, accuracy 50.0 %  validation: loss 1.75  12,346 samples/s  "
        "1 m 1 s left\n"
    )


@pytest.mark.parametrize("width", [40, 100])
def test_devices_are_a_table_within_the_width_of_a_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = Device("cuda:0", "NVIDIA H200 with a long name", 2**37, refusal="its driver is too old for this torch")
    inventory = DeviceInventory(num_cores=8, cpu_model="A processor", memory_bytes=2**35, devices=(refused,))
    monkeypatch.setattr("netwright.engine.hardware.devices.probe", lambda: inventory)
    monkeypatch.setattr(devices_command, "is_terminal", lambda stream: True)
    monkeypatch.setattr("netwright.engine.cli.terminal.is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["devices"]) == 0
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0].split() == ["device", "model", "memory", "state"]
    assert max(map(len, map(str.rstrip, lines))) <= max(width, 48)
    words = " ".join(" ".join(lines).split())
    assert all(word in words for word in ("processor", "32.0", "cuda:0", "driver", "environment", "multi-gpu"))
