"""Limits of the processes that read strangers' files, and what is said where one is reached."""

from dataclasses import dataclass

from netwright.engine.cli.serve_job import Job
from netwright.engine.core.foreign_file import HARM
from netwright.engine.core.platform import num_cores
from netwright.engine.core.text import format_bytes, format_duration

WORKING_PER_CORE = 2


@dataclass(frozen=True)
class Limits:
    """Limits of child processes.

    memory_bytes: memory per process; 0: three quarters of what is free when it starts. silence_s: seconds without
    progress and without work of the processor after which a request is given up. idle_s: seconds after which a process
    that is asked nothing ends. kept: idle processes that keep their data. working: processes that work at the same
    time, while other requests wait; 0: two per core.
    """

    memory_bytes: int = 0
    silence_s: float = 120.0
    idle_s: float = 1800.0
    kept: int = 2
    working: int = 0

    @property
    def most_working(self) -> int:
        """Number of processes that may work at the same time."""
        return self.working or WORKING_PER_CORE * num_cores()

    def memory(self) -> int:
        """Return the limit of a process that starts now."""
        if self.memory_bytes:
            return self.memory_bytes
        from netwright.engine.data.sources.source import allowed_memory

        return allowed_memory()


# ---- words ----


def over_memory(job: Job, limit_bytes: int) -> str:
    """Return the message for a process that took too much memory."""
    said = f"{_sentence(job)} took over {format_bytes(limit_bytes)} of memory and was stopped; that is the limit"
    if job.operation.is_foreign:
        return f"{said}, three quarters of what was free. Close other programs. {HARM}"
    return (
        f"{said} for looking at data, three quarters of what was free. Close other programs, use fewer or smaller "
        "samples, or a kind of file that is read in pieces."
    )


def over_work(job: Job, limit_s: float) -> str:
    """Return the message for a process that worked for too long."""
    return (
        f"{_sentence(job)} was stopped after {format_duration(limit_s)} of computing, the limit for a file of its "
        f"size. {HARM} If you know who made it, give it more time: netwright-engine import --time-limit SECONDS."
    )


def silent(job: Job, limit_s: float) -> str:
    """Return the message for a process that does nothing."""
    return (
        f"{_sentence(job)} was stopped: nothing came from there for {format_duration(limit_s)}. Check that the "
        "disk or network drive it lies on answers, and try again."
    )


def ended(job: Job, how: str, cause: str) -> str:
    """Return the message for a process that ended before it answered."""
    way_out = "the file is damaged, or was made to do harm"
    if not job.operation.is_foreign:
        way_out = "leave out the files that were added last, or choose other data"
    return (
        f"The process for {job.subject} {how} before it answered. {cause}. Try again; if it happens again, {way_out}."
    )


def _sentence(job: Job) -> str:
    """Return what a request is about, as the beginning of a sentence."""
    return f"{job.subject[:1].upper()}{job.subject[1:]}"
