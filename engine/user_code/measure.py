"""Measure layers of user code in a child process with limits of memory and time."""

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.lines import LineBuffer
from netwright.engine.core.platform.processes import end_process_tree, start_process
from netwright.engine.core.process.program import module_command, module_environment
from netwright.engine.user_code import registry
from netwright.engine.user_code.registry import Failed, Measured, Question

PATIENCE_S = 120.0


class Session:
    """A child process that measures, started at the first question and ended with the session.

    If it ends or times out, that is the answer to the current question; the next question starts a new process.
    """

    def __init__(self, *, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="netwright-")
        self._buffer, self._lines = LineBuffer(), list[bytes]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._folder.cleanup()

    def ask(self, questions: Iterable[Question]) -> None:
        """Measure, and store the answers in `netwright.engine.user_code.registry`. Failures are stored as answers, too.

        Raises `UserError` for code that is not trusted (`registry.may_run`).
        """
        for question in dict.fromkeys(questions):
            if not registry.may_run(question.file):
                raise UserError(f"{question.file or question.name}: the folder it is in is not trusted.")
            registry.learn({question: self._answer(question)})

    def _answer(self, question: Question) -> Measured | Failed:
        label = question.file or f"The expression {question.name}"
        code = registry.file(question.file)
        request = {**question.write(), "file": question.file, "path": str(code.path) if code else ""}
        request["base"] = str(registry.base())
        if self._process is None:
            self._start()
        line = self._exchange(json.dumps(request).encode() + b"\n")
        if line is None:
            return Failed(f"{label}: {self._end()}")
        try:
            reply = json.loads(line)
            return Failed(str(reply["failed"])) if "failed" in reply else Measured.read(reply["answer"])
        except (ValueError, KeyError, TypeError):
            return Failed(f"{label}: it wrote into the answer of the process that measures it.")

    def _start(self) -> None:
        self._buffer, self._lines = LineBuffer(), []
        with open(self._errors, "wb") as errors:
            self._process = start_process(
                module_command("netwright.engine.lowering.measure_user_code"),
                (subprocess.PIPE, subprocess.PIPE, errors),
                folder=self._folder.name,
                environment={**module_environment(), "PYTHONDONTWRITEBYTECODE": "1"},
                has_own_group=True,
            )

    @property
    def _errors(self) -> Path:
        return Path(self._folder.name) / "errors"

    def _exchange(self, request: bytes) -> bytes | None:
        """Send a line and return the answer; None if the process ended or timed out."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(request)
            self._process.stdin.flush()
        deadline = time.monotonic() + self._patience_s
        while not self._lines:
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0 or not select.select([self._process.stdout], [], [], remaining_s)[0]:
                return None
            if not (chunk := os.read(self._process.stdout.fileno(), 2**16)):
                return None
            self._lines += self._buffer.take(chunk)
        return self._lines.pop(0)

    def _end(self) -> str:
        """End the process and its process group, and return how it ended, in words."""
        process, self._process = self._process, None
        if process is None:
            return ""
        is_late = False
        try:
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
            code = process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            is_late, code = True, 0
        end_process_tree(process.pid)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        if is_late:
            return f"it gave no answer within {plural(round(self._patience_s), 'second')}, and was ended."
        errors = self._errors.read_bytes()[-4000:]
        last = errors.decode(errors="replace").strip().rpartition("\n")[2][:300]
        if code < 0:
            return f"it ended the process by {signal.Signals(-code).name}."
        return f"it ended the process with code {code}{': ' + last if last else ''}."


def ask(questions: Iterable[Question], *, patience_s: float = PATIENCE_S) -> None:
    """Measure the questions in a session of their own."""
    with Session(patience_s=patience_s) as session:
        session.ask(questions)
