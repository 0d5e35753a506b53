"""Pipes to and from a child process, read and written from the event loop.

On Linux and macOS it says when a pipe is ready. On Windows it knows no pipes: those to read are looked at by a timer,
the less often the longer they are silent, and those to write have a thread, since a write may wait for the child.
"""

import contextlib
import os
import queue
import sys
import threading

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal

from netwright.engine.core.platform_files import do_not_wait, wait_readable

LOOK_MS, LONGEST_LOOK_MS = 2, 40


class PipeWatcher(QObject):
    """Emits `activated` when something can be read from a pipe, or it is closed, until it is stopped."""

    activated = Signal()

    def __init__(self, pipe: int, parent: QObject) -> None:
        super().__init__(parent)
        self._pipe = pipe
        self._timer: QTimer | None = None
        self._notifier: QSocketNotifier | None = None
        if sys.platform == "win32":
            self._timer = QTimer(self, interval=LOOK_MS)
            self._timer.timeout.connect(self._look)
            self._timer.start()
        else:
            self._notifier = QSocketNotifier(pipe, QSocketNotifier.Type.Read, self)
            self._notifier.activated.connect(self.activated)

    def _look(self) -> None:
        assert self._timer is not None
        if wait_readable([self._pipe], 0):
            self._timer.setInterval(LOOK_MS)
            self.activated.emit()
        else:
            self._timer.setInterval(min(LONGEST_LOOK_MS, 1 + self._timer.interval() * 5 // 4))

    def stop(self) -> None:
        """Emit no more. Before the pipe is closed."""
        if self._timer is not None:
            self._timer.stop()
        if self._notifier is not None:
            self._notifier.setEnabled(False)


class PipeSender(QObject):
    """Writes to a pipe in the order of `send`, without waiting for the process at its end."""

    def __init__(self, pipe: int, parent: QObject) -> None:
        super().__init__(parent)
        self._pipe = pipe
        self._unsent = bytearray()
        self._sent = 0
        """Bytes of it that the pipe has taken."""
        do_not_wait(pipe)  # a long line fills the pipe while the process is still beginning
        self._writable = QSocketNotifier(pipe, QSocketNotifier.Type.Write, self)
        self._writable.setEnabled(False)
        self._writable.activated.connect(self._write)

    @property
    def is_behind(self) -> bool:
        """Whether the pipe has not taken all yet."""
        return bool(self._unsent)

    def send(self, data: bytes) -> None:
        """Write data as soon as the pipe takes it."""
        self._unsent += data
        self._write()

    def _write(self) -> None:
        try:
            with memoryview(self._unsent) as unsent:
                while self._sent < len(unsent):
                    self._sent += os.write(self._pipe, unsent[self._sent :])
        except BlockingIOError:
            pass
        except OSError:  # the process has died: the end of its output tells the same, from the event loop
            self._sent = len(self._unsent)
        if self._sent == len(self._unsent):
            self._unsent, self._sent = bytearray(), 0
        self._writable.setEnabled(bool(self._unsent))

    def close(self) -> None:
        """Send no more, and close the pipe."""
        self._writable.setEnabled(False)
        self._unsent, self._sent = bytearray(), 0
        with contextlib.suppress(OSError):
            os.close(self._pipe)


class ThreadedPipeSender(QObject):
    """`PipeSender` where a write cannot be kept from waiting."""

    def __init__(self, pipe: int, parent: QObject) -> None:
        super().__init__(parent)
        self._pipe = pipe
        self._unsent: queue.Queue[bytes | None] = queue.Queue()
        self._is_closing = False
        threading.Thread(target=self._write, name="pipe", daemon=True).start()

    @property
    def is_behind(self) -> bool:
        """Whether the pipe has not taken all yet."""
        return bool(self._unsent.unfinished_tasks)

    def send(self, data: bytes) -> None:
        """Write data as soon as the pipe takes it."""
        self._unsent.put(data)

    def _write(self) -> None:
        while (data := self._unsent.get()) is not None:
            rest = memoryview(data)
            with contextlib.suppress(OSError):  # the process has died
                while rest and not self._is_closing:
                    rest = rest[os.write(self._pipe, rest) :]
            self._unsent.task_done()
        with contextlib.suppress(OSError):
            os.close(self._pipe)

    def close(self) -> None:
        """Send no more, and close the pipe: at once, or when the process takes what is being written, or ends."""
        self._is_closing = True
        self._unsent.put(None)


def sender(pipe: int, parent: QObject) -> PipeSender | ThreadedPipeSender:
    """Return the sender for this system, to which the pipe then belongs."""
    return ThreadedPipeSender(pipe, parent) if sys.platform == "win32" else PipeSender(pipe, parent)
