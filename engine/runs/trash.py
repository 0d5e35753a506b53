"""Move runs to the trash of the desktop, from which they can be restored. Active runs are refused."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.locks import LockHeldError, take_lock
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder

WAY_OUT = "Delete the folder yourself if it shall go."


def move_run_to_trash(run: RunFolder, move: Callable[[Path], None] | None = None) -> None:
    """Move the folder of a run to the trash, holding its lock so that it cannot be resumed meanwhile.

    `move` moves a folder to the trash, by default with Send2Trash. Raises `UserError` if the run is active or cannot be
    moved to the trash: it is never deleted permanently.
    """
    lock = _lock(run)
    try:
        (move or _send_to_trash)(run.path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"The run in {run.path} cannot be moved to the trash: {reason}.", hint=WAY_OUT) from None
    finally:
        if lock is not None:
            os.close(lock)


def _send_to_trash(path: Path) -> None:
    """Move a folder to the trash of its disk. Raises `OSError`."""
    from send2trash import send2trash  # looks up the trash of the user on import

    send2trash(os.path.abspath(path))


def _lock(run: RunFolder) -> int | None:
    """Take the lock of a run, None if it cannot be locked. Raises `UserError` if the run is, or may be, active."""
    try:
        return take_lock(run.lock, create=False)
    except LockHeldError:
        raise UserError(f"The run in {run.path} is at work.", hint="Stop it first (`netwright-engine stop`).") from None
    except OSError:
        if not run.lock.exists():
            return None
    # File system without locks: only an end state shows that no process is active.
    state = ""
    with suppress(UserError):
        state = run.read_info().state
    if state not in ENDS:
        raise UserError(f"It cannot be told whether the run in {run.path} is at work.", hint=WAY_OUT)
    return None
