"""Messages in JSON between a process and its parent, and a process that speaks them."""

import os
import sys
import threading
from collections.abc import Iterator

import psutil
import pytest

from netwright.engine.core.platform import was_ended_by_force
from netwright.engine.core.process import MessageProcess, MessageReader, MessageWriter

ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"heard": json.loads(line)}), flush=True)
"""


@pytest.fixture
def pipe() -> Iterator[tuple[MessageReader, MessageWriter, int]]:
    reading, writing = os.pipe()
    yield MessageReader(reading, '{"before": 1}\n'), MessageWriter(writing), writing
    os.close(reading)


def test_messages_arrive_whole_and_in_order(pipe: tuple[MessageReader, MessageWriter, int]) -> None:
    reader, writer, descriptor = pipe
    texts = ["ä \ud800", "x" * 300_000]
    thread = threading.Thread(target=writer.send, args=[{"text": text} for text in texts])
    thread.start()
    assert reader.receive() == {"before": 1}
    assert [reader.receive(60.0) for _ in texts] == [{"text": text} for text in texts]
    thread.join()
    assert reader.read() == []
    assert reader.is_open
    os.write(descriptor, b'{"torn"')
    os.close(descriptor)
    assert list(reader.messages()) == []
    assert not reader.is_open


def test_a_message_that_does_not_come_is_no_reason_to_wait(pipe: tuple[MessageReader, MessageWriter, int]) -> None:
    reader, _, descriptor = pipe
    assert reader.read() == [{"before": 1}]
    with pytest.raises(TimeoutError):
        reader.receive(0.0)
    os.write(descriptor, b"words\n")
    with pytest.raises(ValueError, match="Expecting value"):
        reader.receive(0.0)
    os.close(descriptor)


def started(code: str) -> MessageProcess:
    return MessageProcess([sys.executable, "-c", code])


def test_a_process_answers_and_ends_with_its_input() -> None:
    process = started(ECHO)
    assert process.ask({"n": 1}, 60.0) == {"heard": {"n": 1}}
    process.say(n=2)
    assert next(process.messages(60.0)) == {"heard": {"n": 2}}
    assert process.end(60.0)
    assert (process.process.returncode, process.is_open, process.descriptors) == (0, True, [])


def test_the_last_words_of_a_process_are_kept() -> None:
    process = started("import sys; print('x' * 5000 + '\\nlast', file=sys.stderr); sys.exit(3)")
    assert process.ask({"n": 1}, 60.0) is None, "what one that has ended is told is lost"
    assert not process.is_open
    assert process.end(60.0)
    assert (process.process.returncode, process.last_words(), process.last_words(2)) == (3, "last", "la")


def test_a_process_that_goes_on_is_ended_with_what_it_started() -> None:
    process = started(
        "import subprocess, sys, time\n"
        "below = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(below.pid, flush=True)\ntime.sleep(600)"
    )
    below = psutil.Process(next(process.messages(60.0)))
    with pytest.raises(TimeoutError):
        process.ask({"n": 1}, 0.0)
    assert not process.end()
    assert was_ended_by_force(process.process.returncode)
    psutil.wait_procs([below], timeout=60)
    assert not below.is_running() or below.status() == psutil.STATUS_ZOMBIE


def test_a_program_that_is_missing_is_an_error() -> None:
    with pytest.raises(OSError, match="nowhere"):
        MessageProcess(["/nowhere/python"])


def test_one_that_was_killed_can_be_told_something() -> None:
    process = started("import time; time.sleep(600)")
    process.process.kill()
    process.process.wait()
    process.say(n=1)
    assert list(process.messages()) == []
    assert process.end()
