"""The engine process of a server for assistants: the one that the window has, asked from several threads."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import RunError, UserError, read_error
from netwright.engine.core.process import MessageProcess, engine_command

Answer = dict[str, Any]
ENDED = "The engine process has ended."


class EngineLink:
    """A process `serve`, which starts with the first question, and the answers that are awaited."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where relative paths begin."""
        self._folder = folder
        self._lock = threading.Lock()
        self._process: MessageProcess | None = None
        self._awaited: dict[int, Future[Answer]] = {}
        self._last_id = 0

    def ask(self, do: str, values: Mapping[str, Any]) -> Future[Answer]:
        """Ask for an operation. The future has the result; else `UserError`, or `RuntimeError` for a defect."""
        future: Future[Answer] = Future()
        with self._lock:
            if self._process is None:
                self._process = MessageProcess(engine_command("serve"), folder=self._folder)
                threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
            self._last_id += 1
            self._awaited[self._last_id] = future
            self._process.say(id=self._last_id, do=do, **{"with": values})
        return future

    def cancel(self, future: Future[Answer]) -> None:
        """Cancel what was asked, and end the process that works on it."""
        with self._lock:
            ids = [id for id, other in self._awaited.items() if other is future]
            if ids and self._process is not None:
                self._process.say(id=None, do="cancel", **{"with": {"id": ids[0]}})

    def close(self) -> None:
        """End the process, with whatever works in it."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.end()

    def _read(self, process: MessageProcess) -> None:
        """Pass on what the process answers, until it ends."""
        try:
            for message in process.messages():
                with self._lock:
                    is_answer = "result" in message or "error" in message
                    future = self._awaited.pop(message.get("id"), None) if is_answer else None
                if future is not None and future.set_running_or_notify_cancel():
                    _settle(future, message)
        except (OSError, ValueError):  # it was ended, in the middle of a line
            pass
        with self._lock:
            awaited, self._awaited = self._awaited, {}
            self._process = None if self._process is process else self._process
        for future in awaited.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(RunError(ENDED, hint="Ask again: it starts anew."))


def _settle(future: Future[Answer], message: Mapping[str, Any]) -> None:
    if "result" in message:
        future.set_result(message["result"])
        return
    error = message["error"]
    if error["defect"]:
        future.set_exception(RuntimeError(str(error["message"])))
    else:
        refusal: UserError = read_error({**error, "error": error["message"]})
        future.set_exception(refusal)
