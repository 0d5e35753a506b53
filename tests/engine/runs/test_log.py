"""The log of events: numbered, whole lines, read while it grows and where it is damaged."""

import json
import os
from typing import Any

import pytest

from netwright.engine.runs.events import EpochEnded, Event, Failed, Message, read_event
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import TAIL_BYTES, EventLog, EventReader
from netwright.engine.runs.log_lines import LINE_LIMIT_BYTES


def lines(run: RunFolder) -> list[dict[str, Any]]:
    """What stands in the log."""
    return [json.loads(line) for line in run.events.read_bytes().splitlines()]


def written(run: RunFolder, *events: Event) -> list[Event]:
    """Events put into the log."""
    log = EventLog(run)
    found = [log.append(event) for event in events]
    log.close()
    return found


def test_events_are_numbered_without_a_gap(run: RunFolder) -> None:
    written(run, EpochEnded(epoch=1, iteration=1), EpochEnded(epoch=2, iteration=2))
    written(run, EpochEnded(epoch=3, iteration=3))
    assert [line["n"] for line in lines(run)] == [1, 2, 3]
    assert EventReader(run).read() == written_back(run)


def written_back(run: RunFolder) -> list[Event]:
    """The same events from the lines."""
    return [read_event(line) for line in lines(run)]


def test_a_log_goes_on_after_a_line_that_was_torn(run: RunFolder) -> None:
    written(run, EpochEnded(epoch=1, iteration=1))
    with open(run.events, "ab") as file:
        file.write(b'{"n":2,"kind":"epo')
    written(run, EpochEnded(epoch=2, iteration=2))
    assert [line["n"] for line in lines(run)] == [1, 2]


@pytest.mark.parametrize("text", ["x" * 10_000, "é🙂" * 3000, '"\n\x00' * 3000, "\udcff" * 3000])
def test_a_long_text_loses_its_middle(run: RunFolder, text: str) -> None:
    written(run, Failed(cause=text, detail=f"begin{text}end"), Message(severity="note", text=text))
    assert max(map(len, run.events.read_bytes().splitlines(keepends=True))) <= LINE_LIMIT_BYTES
    failed, message = EventReader(run).read()
    assert isinstance(failed, Failed)
    assert failed.detail.startswith("begin")
    assert failed.detail.endswith("end")
    assert isinstance(message, Message)
    assert " ... " in message.text


def test_a_full_disk_leaves_whole_lines(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    log = EventLog(run)
    log.append(EpochEnded(epoch=1, iteration=1))
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:9]))
    with pytest.raises(OSError, match="No space left on device"):
        log.append(EpochEnded(epoch=2, iteration=2))
    monkeypatch.undo()
    log.append(EpochEnded(epoch=3, iteration=3))
    log.close()
    assert [(line["n"], line["epoch"]) for line in lines(run)] == [(1, 1), (2, 3)]


def test_a_reader_gets_each_event_once_while_the_log_grows(run: RunFolder) -> None:
    run.events.unlink()
    reader = EventReader(run)
    assert reader.read() == []
    first = written(run, EpochEnded(epoch=1, iteration=1))
    assert reader.read() == first
    assert reader.read() == []
    (line,) = lines(run)
    second = json.dumps({**line, "n": 2, "epoch": 2}).encode() + b"\n"
    for byte in range(len(second)):
        with open(run.events, "ab") as file:
            file.write(second[byte : byte + 1])
        found = reader.read()
        assert [event.n for event in found] == ([2] if byte == len(second) - 1 else [])


def test_a_reader_takes_a_part_at_a_time(run: RunFolder) -> None:
    all_events = written(run, *(EpochEnded(epoch=i, iteration=i) for i in range(3000)))
    assert run.events.stat().st_size > 3 * TAIL_BYTES
    reader = EventReader(run, limit_bytes=100)
    found: list[Event] = []
    calls = 0
    while len(found) < len(all_events) and calls < 10_000:
        found += reader.read()
        calls += 1
    assert found == all_events
    assert calls > 3


def test_half_a_line_that_is_cut_off_costs_no_reader_an_event(run: RunFolder) -> None:
    """A run broke off within a line and goes on, or a disk was full for a moment, while somebody reads along."""
    reader = EventReader(run)
    first = written(run, EpochEnded(epoch=1, iteration=1))
    with open(run.events, "ab") as file:
        file.write(b'{"n":2,"kind":"epo')
    assert reader.read() == first
    second = written(run, EpochEnded(epoch=2, iteration=2))  # the half line is longer than what of this it would hide
    assert reader.read() == second
    third = written(run, EpochEnded(epoch=3, iteration=3))
    assert reader.read() == third


def test_damaged_lines_are_left_out(run: RunFolder) -> None:
    good = json.dumps({"n": 1, "time": 0.0, "kind": "epoch", "epoch": 1, "iteration": 1}).encode()
    garbage = [b"", b"{", b"[]", b"5", b"null", b"\xff\x00", b"[" * 50_000, b"x" * 300_000, b'{"n": 1}']
    run.events.write_bytes(b"\n".join([*garbage, good, *garbage, good, b'{"torn']))
    reader = EventReader(run, limit_bytes=4096)
    found: list[Event] = []
    for _ in range(300):
        found += reader.read()
    assert [event for event in found if isinstance(event, EpochEnded)] == [EpochEnded(n=1, epoch=1, iteration=1)] * 2
    assert len(found) == 4


def test_a_log_goes_on_behind_lines_without_a_number(run: RunFolder) -> None:
    lines = [b'{"n": 4, "kind": "epoch", "epoch": 1, "iteration": 1}', b"{}", b'{"n": "x"}', b"[]"]
    run.events.write_bytes(b"\n".join(lines) + b"\n")
    log = EventLog(run)
    assert log.append(EpochEnded(epoch=1, iteration=2)).n == 5
    log.close()
