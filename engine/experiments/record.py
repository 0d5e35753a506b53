"""Record of a runner in the folder of its experiment: the log of trials and the state, also where the disk is
full."""

import contextlib
import errno
from collections.abc import Collection
from typing import Any

from netwright.engine.core.errors import RunError, plural
from netwright.engine.core.files import set_aside
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.folder import release_space, reserve_space
from netwright.engine.runs.trial_log import FAILED, Trial, TrialLog, TrialRun, failures_of

BROKEN_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)


class ExperimentRecord:
    """The log of trials and the state of one experiment. `is_full` says that its disk has been full: no run that starts
    now could be saved. Raises `RunError` where it cannot be opened."""

    def __init__(self, folder: ExperimentFolder) -> None:
        self._folder, self.is_full = folder, False
        try:
            self._log = TrialLog(folder.trials)
        except OSError as error:
            raise not_written(folder, error) from error
        with contextlib.suppress(OSError):  # where it is full already, the first line of the log says so
            reserve_space(folder.path)

    def append(self, number: int, **values: Any) -> None:
        """Write a line of the log of trials, on a full disk in the space that was reserved. Raises `RunError` where it
        cannot be written."""
        try:
            self._log.append(number, **values)
        except OSError:
            self.is_full = True
            release_space(self._folder.path)
            try:
                self._log.append(number, **values)
            except OSError as error:
                raise not_written(self._folder, error) from error

    def append_run(self, number: int, run: TrialRun) -> None:
        """Write how a run of a trial has ended. Raises `RunError` where that cannot be written."""
        self.is_full = self.is_full or run.code == "no_space"
        self.append(number, **run.write())

    def begin_again(self, trial: Trial) -> None:
        """Write that a trial begins again, and keep the folders of its runs beside. Raises `RunError`."""
        for run in trial.runs:
            set_aside(self._folder.run_path(run.name))
        self.append(trial.number, state="running", again=True)

    def close(self) -> None:
        """Close the log and give the reserved space back."""
        self._log.close()
        release_space(self._folder.path)


def note_state(folder: ExperimentFolder, state: str, reason: str, **more: Any) -> None:
    """Write the state of an experiment. Raises `RunError` where it cannot be written."""
    try:
        folder.update_info(state=state, reason=reason, **more)
    except OSError as error:
        raise not_written(folder, error) from error


def not_written(folder: ExperimentFolder, error: OSError) -> RunError:
    """Return the error for an experiment whose folder cannot be written."""
    return RunError(
        f"The experiment in {folder.path} cannot be written: {error.strerror}.",
        hint="`experiment run` with this folder goes on once it can be.",
    )


def outcome_of(trials: Collection[Trial], reason: str, *, is_full: bool) -> tuple[str, str]:
    """Return the state of an experiment that has come to its end, and why. It has failed where no trial has succeeded,
    and where one failed for something other than its values. `reason`: why it ended early, or empty."""
    failed = [trial for trial in trials if trial.state in FAILED]
    broken = failed if len(failed) == len(trials) else [trial for trial in failed if trial.is_broken]
    if not (broken or is_full):
        return "finished", reason
    why = [f"{len(broken):,} of {plural(len(trials), 'trial')} failed: {'; '.join(failures_of(broken))}"]
    full = ["The disk is full, and no more trials were started."] if is_full else []
    return "failed", " ".join([*full, *(why if broken else [])])
