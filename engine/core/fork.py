"""A function in a forked child, also with a pipe and a time limit."""

import contextlib
import os
import signal
import stat
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from typing import Any

from netwright.engine.core import progress
from netwright.engine.core.errors import UserError, read_error
from netwright.engine.core.locks import locked_descriptors
from netwright.engine.core.platform import (
    CAN_FORK,
    end_process,
    end_with_parent,
    fork_process,
    wait_for_process,
)
from netwright.engine.core.platform_files import open_descriptors
from netwright.engine.core.process import MessageReader, MessageWriter, readable

PATIENCE_S = 60.0
_BYTES = 2**16
_MOST_DESCRIPTORS = 4096


def run_in_child_process(work: Callable[[], dict[str, Any]], patience_s: float = PATIENCE_S) -> dict[str, Any]:
    """Return the JSON object that `work` returns in a forked child; where there is no fork, in this process.

    For what needs torch in a process that must not compute itself, because workers are forked from it. Progress that
    `work` reports is reported here. Raises `UserError` where `work` does, or takes too long; `RuntimeError` for a
    defect, whose traceback the child prints.
    """
    if not CAN_FORK:
        return work()

    def work_in_child(writing: int) -> None:
        answers = MessageWriter(writing)
        try:
            with progress.listening(progress.Throttle(lambda *report: answers.send({"progress": report}))):
                answer: dict[str, Any] = {"result": work()}
        except UserError as error:
            answer = {"refusal": error.write()}
        except BaseException as error:  # whatever it was, the parent is to say it
            traceback.print_exc()
            answer = {"defect": f"{type(error).__name__}: {error}"}
        answers.send(answer)

    deadline = time.monotonic() + patience_s
    with _pipe_from_fork(work_in_child) as reading:
        reader = MessageReader(reading)
        try:
            while (message := reader.receive(deadline - time.monotonic())) and "progress" in message:
                progress.report(*message["progress"])
        except TimeoutError:
            raise UserError(
                f"It took longer than {patience_s:.0f} s.", hint="Try it with less data, or again."
            ) from None
    message = message or {"defect": "the process ended before it answered"}
    if "refusal" in message:
        raise read_error(message["refusal"])
    if "defect" in message:
        raise RuntimeError(message["defect"])
    result: dict[str, Any] = message["result"]
    return result


def fork(work: Callable[[], int], failed: int = 1, *, keep: Collection[int] = ()) -> int:
    """Return the process id of a forked child, which calls `work` and exits with the code that it returns.

    Nothing of this process lives on in the child, see `_leave_parent`; `keep` are the sockets and pipes that `work`
    needs. Where `work` raises, the child prints the traceback and exits with `failed`. It never returns, since the
    stack below belongs to the parent, as do exit handlers: it ends by `os._exit`.
    """
    _flush()
    child = fork_process()
    if child:
        return child
    code = failed
    try:
        _leave_parent(keep)
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def _leave_parent(keep: Collection[int]) -> None:
    """Give up what belongs to the parent of this forked process: the listener to progress, signal handlers, sockets,
    pipes, handles of processes and locks, but for the descriptors `keep` and the standard streams.

    Without it, progress of the child goes to whoever listens to the parent, the other end of a socket never sees it
    close, and a run looks alive while a child of its dead coordinator holds the lock. A descriptor becomes that of
    /dev/null: an object of the parent that is finalised here may still close its number.
    """
    progress.forget_listener()
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals():
            if callable(handler := signal.getsignal(number)) and handler is not signal.default_int_handler:
                is_interrupt = number == signal.SIGINT
                signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in {*locked_descriptors(), *_connections()} - {0, 1, 2, null, *keep}:
        os.dup2(null, descriptor, inheritable=False)
    os.close(null)


def _connections() -> Iterator[int]:
    """Yield the descriptors of this process that lead to another one: sockets, pipes, handles of processes."""
    try:
        numbers = open_descriptors()
    except OSError:  # no /proc is mounted
        numbers = list(range(_MOST_DESCRIPTORS))
    for number in numbers:
        with contextlib.suppress(OSError):  # it is closed, as that of the listing is by now
            mode = os.fstat(number).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)):
                yield number


def _flush() -> None:
    """Write out what was printed, so that no child prints it again."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def read_from_fork(work: Callable[[], bytes], patience_s: float) -> bytes | None:
    """Return the bytes that `work` returns in a forked child: empty where the child dies, None where it takes longer
    than `patience_s` seconds. The child is gone then."""
    data, deadline = bytearray(), time.monotonic() + patience_s
    with _pipe_from_fork(lambda writing: _write_all(writing, work())) as reading:
        while readable([reading], deadline - time.monotonic()):
            if not (chunk := os.read(reading, _BYTES)):
                return bytes(data)
            data += chunk
    return None


@contextlib.contextmanager
def _pipe_from_fork(work: Callable[[int], None]) -> Iterator[int]:
    """Yield the reading end of a pipe into which `work` writes in a forked child, which is gone when the context
    ends."""
    reading, writing = os.pipe()
    parent = os.getpid()

    def work_in_child() -> int:
        end_with_parent(parent)
        work(writing)
        return 0

    child = fork(work_in_child, keep=(writing,))
    os.close(writing)
    try:
        yield reading
    finally:
        os.close(reading)
        end_process(child)
        wait_for_process(child)


class PipedChild:
    """A forked child that answers questions, bytes for bytes, until it is closed or this process ends."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        theirs, self._writing = os.pipe()
        self._reading, back = os.pipe()
        parent = os.getpid()

        def serve() -> int:
            end_with_parent(parent)
            while question := _read_sized(theirs, None):
                _write(back, answer(question))
            return 0

        self._child = fork(serve, keep=(theirs, back))
        os.close(theirs)
        os.close(back)

    def ask(self, question: bytes, patience_s: float) -> bytes | None:
        """Return the answer to a question, which is not empty: None where the child died, or takes longer than
        `patience_s` seconds. Close it then."""
        try:
            _write(self._writing, question)
        except BrokenPipeError:
            return None
        return _read_sized(self._reading, time.monotonic() + patience_s)

    def close(self) -> None:
        """End the child."""
        os.close(self._writing)
        os.close(self._reading)
        end_process(self._child)
        wait_for_process(self._child)


def _write(descriptor: int, data: bytes) -> None:
    """Write bytes with their number before them."""
    _write_all(descriptor, len(data).to_bytes(8, "little") + data)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read_sized(descriptor: int, deadline: float | None) -> bytes | None:
    """Return bytes that `_write` wrote; None where the pipe is closed before, or at the deadline."""
    data, size = bytearray(), 8
    is_size = True
    while len(data) < size:
        if not readable([descriptor], None if deadline is None else deadline - time.monotonic()):
            return None
        if not (chunk := os.read(descriptor, min(size - len(data), _BYTES))):
            return None
        data += chunk
        if is_size and len(data) == size:
            data, size, is_size = bytearray(), int.from_bytes(data, "little"), False
    return bytes(data)
