"""Moving runs to the desktop's trash, from where the desktop restores them; never one that is at work."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from engine.core.errors import UserError
from engine.core.locks import LockHeldError, take_lock
from engine.runs.events import ENDS
from engine.runs.folder import RunFolder

WAY_OUT = "Delete the folder yourself if it shall go."


def move_run_to_trash(run: RunFolder, move: Callable[[Path], None] | None = None) -> None:
    """Move the folder of a run to the trash; its lock is held meanwhile, so that nobody can resume it.

    `move` does the moving, by default Send2Trash. Raises `UserError` if the run is at work, or there is no trash that
    takes it: nothing is ever deleted for good.
    """
    lock = _lock(run)
    try:
        (move or _send_to_trash)(run.path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"The run in {run.path} cannot be moved to the trash: {reason}. {WAY_OUT}") from None
    finally:
        if lock is not None:
            os.close(lock)


def _send_to_trash(path: Path) -> None:
    """Move a folder to the trash of its disk. Raises `OSError`."""
    from send2trash import send2trash  # it looks up the user's trash when it is imported

    send2trash(os.path.abspath(path))


def _lock(run: RunFolder) -> int | None:
    """Hold the run's lock, where it has one that can be held. Raises `UserError` if the run is, or may be, at work."""
    try:
        return take_lock(run.lock, create=False)
    except LockHeldError:
        raise UserError(f"The run in {run.path} is at work. Stop it first (`netwright-engine stop`).") from None
    except OSError:
        if not run.lock.exists():
            return None
    # A file system without locks: only a final state tells that nobody is at work.
    state = ""
    with suppress(UserError):
        state = run.read_info().state
    if state not in ENDS:
        raise UserError(f"It cannot be told whether the run in {run.path} is at work. {WAY_OUT}")
    return None
