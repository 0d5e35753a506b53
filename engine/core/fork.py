"""A function in a child process, also with a pipe and a time limit: forked with what this process has in memory, or,
where the system cannot fork, in a fresh interpreter, which gets the function pickled.

    python -m netwright.engine.core.child netwright.engine.core.fork FAILED [NUMBER ...]

`FAILED` is the exit code where the function raises, the numbers are those of pipes (`name_for_child`).
"""

import contextlib
import gc
import os
import pickle
import signal
import stat
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, Literal

from netwright.engine.core import progress
from netwright.engine.core.errors import UserError, read_error
from netwright.engine.core.locks import locked_descriptors
from netwright.engine.core.platform import (
    CAN_FORK,
    end_process,
    end_with_parent,
    fork_process,
    is_alive,
    lead_group,
    start_process,
    wait_for_process,
)
from netwright.engine.core.platform_files import inherited, name_for_child, open_descriptors, write
from netwright.engine.core.process import MessageReader, MessageWriter, module_command, module_environment, readable

PATIENCE_S = 60.0
_BYTES = 2**16
_MOST_DESCRIPTORS = 4096


ENDS_AT_ONCE = True
"""As a forked child does."""
_spawned: dict[int, "subprocess.Popen[bytes]"] = {}
"""Fresh interpreters, whose ids are not given to others as long as these are referenced."""


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
    with _pipe_from_child(work_in_child) as reading:
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
        gc.freeze()  # garbage of the parent must not be finalised here, and shared pages stay shared
        _leave_parent(keep)
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def start_child(
    work: Callable[..., int],
    ends: Sequence[int] = (),
    failed: int = 1,
    *,
    group: Literal["ours", "own", "outlives"] = "ours",
) -> int:
    """Return the process id of a child that calls `work` with the ends of pipes, and exits with the code that it
    returns, or with `failed`. It is forked where that is possible, else started anew: `work` can be pickled.

    `group`: with "own", `end_process_tree` ends it with all that it has started, and Ctrl-C in the terminal does not
    reach it; with "outlives" it also goes on when this process ends.
    """
    if CAN_FORK:

        def work_in_child() -> int:
            if group != "ours":
                lead_group(leaves_terminal=group == "outlives")
            return work(*ends)

        return fork(work_in_child, failed, keep=ends)
    _flush()
    for pid in [pid for pid in _spawned if not is_alive(pid)]:
        del _spawned[pid]
    process = start_process(
        module_command(__name__, str(failed), *(str(name_for_child(end)) for end in ends)),
        (subprocess.PIPE, 1, 2),
        folder=os.getcwd(),
        environment=module_environment(),
        has_own_group=group == "own",
        outlives=group == "outlives",
        inherits=ends,
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as pipe:  # one that has ended says so by its exit code
        pickle.dump(work, pipe, pickle.HIGHEST_PROTOCOL)
    _spawned[process.pid] = process
    process.returncode = 0  # its exit code is asked for by its id
    return process.pid


def main(arguments: list[str]) -> int:
    """Call the function that comes pickled through standard input; return its exit code."""
    failed, *numbers = map(int, arguments)
    try:
        work: Callable[..., int] = pickle.load(sys.stdin.buffer)
        return work(*map(inherited, numbers))
    except BaseException:
        traceback.print_exc()
        return failed


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


def read_from_child(work: Callable[[], bytes], patience_s: float) -> bytes | None:
    """Return the bytes that `work`, which can be pickled where there is no fork, returns in a child: empty where the
    child dies, None where it takes longer than `patience_s` seconds. The child is gone then."""
    data, deadline = bytearray(), time.monotonic() + patience_s
    with _pipe_from_child(partial(_send, work)) as reading:
        while readable([reading], deadline - time.monotonic()):
            if not (chunk := os.read(reading, _BYTES)):
                return bytes(data)
            data += chunk
    return None


def _send(work: Callable[[], bytes], writing: int) -> None:
    _write_all(writing, work())


@contextlib.contextmanager
def _pipe_from_child(work: Callable[[int], None]) -> Iterator[int]:
    """Yield the reading end of a pipe into which `work` writes in a child, which is gone when the context ends."""
    reading, writing = os.pipe()
    child = start_child(partial(_work_for, work, os.getpid()), (writing,))
    os.close(writing)
    try:
        yield reading
    finally:
        os.close(reading)
        end_process(child)
        wait_for_process(child)


def _work_for(work: Callable[[int], None], parent: int, writing: int) -> int:
    end_with_parent(parent)
    work(writing)
    return 0


class PipedChild:
    """A child that answers questions, bytes for bytes, until it is closed or this process ends."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        """`answer` can be pickled."""
        theirs, self._writing = os.pipe()
        self._reading, back = os.pipe()
        self._child = start_child(partial(_serve, answer, os.getpid()), (theirs, back))
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


def _serve(answer: Callable[[bytes], bytes], parent: int, reading: int, writing: int) -> int:
    end_with_parent(parent)
    while question := _read_sized(reading, None):
        _write(writing, answer(question))
    return 0


def _write(descriptor: int, data: bytes) -> None:
    """Write bytes with their number before them."""
    _write_all(descriptor, len(data).to_bytes(8, "little") + data)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[write(descriptor, rest) :]


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
