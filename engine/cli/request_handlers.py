"""The loop of a child process of `serve`, which answers requests.

The processes are forked from the warm server and read strangers' files, so each has a limit of memory and can be killed
at any time. One that was asked about a data set stays for the next question, with its outline and samples in memory.
"""

import os
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netwright.engine.cli.limits import over_memory
from netwright.engine.cli.serve_job import job_of
from netwright.engine.core import platform, progress
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.process import MessageReader, MessageWriter, readable
from netwright.engine.project.data_hosts import granting

Answer = dict[str, Any]
IDLE_S = 0.2
QUICK_S = 1.0
"""Data that is read within this time is read again rather than kept by a process without what a run needs."""
OVERHEAD_BYTES = 2**28
"""Memory that is allowed beside the limit, for modules that a request imports."""


def answer(request: Mapping[str, Any]) -> Answer:
    """Return the answer to a request, with its `id` and `result` or `error`. Raises `MemoryError`."""
    job = job_of(request)
    if job.fault:
        return {"id": job.id, "error": {"message": job.fault, "defect": True}}
    try:
        with granting(job.hosts):
            return {"id": job.id, "result": job.operation.write(job.operation.run(job.request))}
    except UserError as error:
        said = error.write()
        return {"id": job.id, "error": {"message": said.pop("error"), "defect": False, **said}}
    except Exception as error:  # a defect in one answer must not end the process
        from netwright.engine.training.out_of_memory import is_out_of_memory

        if is_out_of_memory(error):
            raise MemoryError from error
        traceback.print_exc()
        return {"id": job.id, "error": {"message": f"{type(error).__name__}: {error}", "defect": True}}


# ---- the process ----


def serve_jobs(
    pipes: tuple[int, int],
    parent: int,
    limit_bytes: int,
    warm_up: Callable[[], object] | None,
    folder: Path | None = None,
) -> int:
    """Answer the requests that come through the first of two pipes, one after the other, on the second one, until it is
    closed or memory is over the limit. Returns the exit code.

    `warm_up` imports what a run needs, so that a run forked from this process starts at once: it is called where much
    was read, once nothing is to do. `folder` is the place of temporary files, which the parent removes.
    """
    platform.end_with_parent(parent)
    platform.limit_memory(limit_bytes + OVERHEAD_BYTES)
    if folder is not None:
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)

    requests, answers = MessageReader(pipes[0]), MessageWriter(pipes[1])

    def tell(done: int, total: int, unit: str) -> None:
        answers.send({"id": request.get("id"), "progress": {"done": done, "total": total, "unit": unit}})

    spent_s = 0.0
    while True:
        if warm_up is not None and spent_s > QUICK_S and not readable([pipes[0]], IDLE_S):
            warm_up()
            warm_up = None
        if (request := requests.receive()) is None:
            return EXIT_DONE
        started = time.monotonic()
        try:
            with progress.listening(progress.Throttle(tell)):
                message = answer_within(request, limit_bytes)
            answers.send(message)
        except (BrokenPipeError, ConnectionResetError):
            return EXIT_DONE  # the server has ended
        spent_s += time.monotonic() - started
        if "over_limit" in message:
            return EXIT_DONE


def answer_within(request: Mapping[str, Any], limit_bytes: int) -> Answer:
    """Return the answer; an error with the key `over_limit` where the memory does not suffice."""
    try:
        return answer(request)
    except MemoryError:
        error = {"message": over_memory(job_of(request), limit_bytes), "defect": False}
        return {"id": request.get("id"), "error": error, "over_limit": True}
