"""One command of the engine in a process of its own, for the window."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.processes import NO_HOSTS, HostQuestion, PipeReader, environment_for
from netwright.engine.core.process import engine_command


class EngineCommand(QObject):
    """One `netwright-engine COMMAND --json` in a process of its own, such as an export. It can be cancelled."""

    finished = Signal(object)
    failed = Signal(str)

    def __init__(
        self, arguments: Sequence[str], parent: QObject | None = None, hosts: Mapping[str, int] = NO_HOSTS
    ) -> None:
        """Start it. `hosts`: those that it may fetch data from."""
        super().__init__(parent)
        self._command, self._hosts = engine_command(*arguments), hosts
        self.error: dict[str, Any] = {}
        """The error as JSON, with its code and data, where the command printed one."""
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment_for(self._hosts),
            cwd=os.getcwd(),
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._out: list[bytes] = []
        self._errors: list[bytes] = []
        self._open = 2
        for pipe, sink in ((self._process.stdout, self._out), (self._process.stderr, self._errors)):
            lines = PipeReader(pipe.fileno(), self)
            lines.received.connect(sink.append)
            lines.closed.connect(self._on_closed)

    def _on_closed(self) -> None:
        self._open -= 1
        if self._open:
            return
        code = self._process.wait()
        self._close_pipes()
        if code == 0:
            try:
                self.finished.emit(json.loads(self._out[-1]))
                return
            except (IndexError, ValueError):
                pass
        if code > 1 and (error := self._read_error()):
            self.error = error
            if HostQuestion.is_about(error):
                QTimer.singleShot(0, self, self._ask_for_hosts)
            else:
                self.failed.emit(error["message"])
            return
        text = b"\n".join(self._errors).decode(errors="replace").removeprefix("netwright-engine: ").strip()
        last = text.splitlines()[-1] if code == 1 and text else text
        self.failed.emit(last or f"The engine process ended with code {code} without a message.")

    def _ask_for_hosts(self) -> None:
        """Run it again, if the user allows the hosts that it needs."""
        if self.signalsBlocked():
            return
        if HostQuestion.ask(self.error) and not self.signalsBlocked():
            self._start()
        else:
            self.failed.emit(self.error["message"])

    def _read_error(self) -> dict[str, Any]:
        """Return the error that the command printed as JSON, empty where it printed none."""
        try:
            printed = json.loads(self._out[-1])
        except (IndexError, ValueError):
            return {}
        error = printed.get("error") if isinstance(printed, dict) else None
        return error if isinstance(error, dict) and "message" in error else {}

    def cancel(self) -> None:
        """Kill the process; `failed` is not emitted."""
        self.blockSignals(True)
        self._process.kill()
        self._process.wait()
        self._close_pipes()

    def _close_pipes(self) -> None:
        for lines in self.findChildren(PipeReader):
            lines.stop()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
