"""Measure layers of user code in a child process with limits of memory and time."""

import signal
import tempfile
from collections.abc import Iterable
from typing import Self

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.process import NO_BYTECODE, MessageProcess, module_command
from netwright.engine.user_code import registry
from netwright.engine.user_code.registry import Failed, Measured, Question

PATIENCE_S = 120.0


class Session:
    """A child process that measures, started at the first question and ended with the session.

    If it ends or times out, that is the answer to the current question; the next question starts a new process.
    """

    def __init__(self, *, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._process: MessageProcess | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="netwright-")

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
        assert self._process is not None
        try:
            reply = self._process.ask(request, self._patience_s)
            if reply is None:
                return Failed(f"{label}: {self._end()}")
            return Failed(str(reply["failed"])) if "failed" in reply else Measured.read(reply["answer"])
        except TimeoutError:
            return Failed(f"{label}: {self._end()}")
        except (ValueError, KeyError, TypeError):
            self._end()  # what comes next may be its answer to this question
            return Failed(f"{label}: it wrote into the answer of the process that measures it.")

    def _start(self) -> None:
        command = module_command("netwright.engine.lowering.measure_user_code")
        self._process = MessageProcess(command, folder=self._folder.name, environment=NO_BYTECODE)

    def _end(self) -> str:
        """End the process, with what it has started, and return how it ended, in words."""
        process, self._process = self._process, None
        if process is None:
            return ""
        if not process.end(1.0):
            return f"it gave no answer within {plural(round(self._patience_s), 'second')}, and was ended."
        code, last = process.process.returncode, process.last_words()
        if code < 0:
            return f"it ended the process by {signal.Signals(-code).name}."
        return f"it ended the process with code {code}{': ' + last if last else ''}."


def ask(questions: Iterable[Question], *, patience_s: float = PATIENCE_S) -> None:
    """Measure the questions in a session of their own."""
    with Session(patience_s=patience_s) as session:
        session.ask(questions)
