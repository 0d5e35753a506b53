"""Asks a throw-away process what layers of the user's code do. It has limits of memory and time, and leaves nothing."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.custom import known
from engine.custom.known import Failed, Measured, Question
from engine.errors import UserError, plural

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0


def ask(questions: Iterable[Question], *, patience_s: float = PATIENCE_S) -> None:
    """Measure, and keep the answers in `engine.custom.known`. What went wrong is kept as an answer, too.

    All code asked about must be trusted (`known.may_run`). Raises `UserError` for code that is not.
    """
    asked = list(dict.fromkeys(questions))
    for question in asked:
        if not known.may_run(question.file):
            raise UserError(f"{question.file or question.name}: the folder it is in is not trusted.")
    if asked:
        known.learn(dict(zip(asked, _answers(asked, patience_s), strict=True)))


def _answers(asked: list[Question], patience_s: float) -> list[Measured | Failed]:
    """The answers in order; those behind a crash are failures."""
    lines, end = _run(asked, patience_s)
    found: list[Measured | Failed] = []
    for line in lines[: len(asked)]:
        try:
            said = json.loads(line)
            found.append(Failed(str(said["failed"])) if "failed" in said else Measured.read(said["answer"]))
        except (ValueError, KeyError, TypeError):
            break
    if len(found) < len(asked):
        first = asked[len(found)]
        what = first.file or f"The expression {first.name}"
        found.append(Failed(f"{what}: {end}"))
    while len(found) < len(asked):
        found.append(Failed(f"It was not tried, because {first.file or 'an expression'} ended the process."))
    return found


def _run(asked: list[Question], patience_s: float) -> tuple[list[bytes], str]:
    """The lines that the process printed, and how it ended, in words."""
    files = {q.file: str(code.path) for q in asked if q.file and (code := known.file(q.file)) is not None}
    given: dict[str, Any] = {
        "base": str(known.base()),
        "files": files,
        "questions": [{**q.write(), "file": q.file} for q in asked],
    }
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "engine.build.measuring"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, errors = process.communicate(json.dumps(given).encode(), timeout=patience_s)
            end = _end(process.returncode, errors)
        except subprocess.TimeoutExpired:
            _kill(process)
            out, _ = process.communicate()
            end = f"it gave no answer within {plural(round(patience_s), 'second')}, and was ended."
        finally:
            _kill(process)
    return out.splitlines(), end


def _end(code: int, errors: bytes) -> str:
    last = errors.decode(errors="replace").strip().rpartition("\n")[2][:300]
    if "MemoryError" in last or "can't allocate memory" in last:
        return "it took more memory than a layer may take while it is measured."
    if code < 0:
        return f"it ended the process by {signal.Signals(-code).name}."
    return f"it ended the process with code {code}{': ' + last if last else ''}."


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End the process and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
