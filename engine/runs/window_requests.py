"""Requests of other programs that the user of an open window answers: an assistant's, to start a run or to look at a
proposal.

They are files in a folder of the user's state that nobody else can read. A window says there which project it has open;
a request is claimed by one window, and answered by a file with the same name.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from netwright.engine.core.dataclass_json import JsonShapeError, from_json
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import make_private_folder, read_object, write_json
from netwright.engine.core.folders import state_folder
from netwright.engine.core.platform import is_alive
from netwright.engine.core.platform_files import replace_file

LIMIT_BYTES = 2**20
WINDOW, ASKED, CLAIMED, ANSWER = ".window.json", ".asked.json", ".claimed.json", ".answer.json"


@dataclass(frozen=True, kw_only=True)
class WindowRequest:
    """What is asked. `settings`: values for the run, as of `--set`. `proposal`: the file with the proposed project.
    `details`: lines about it. `pid`: the process that asks."""

    id: str
    kind: Literal["run", "proposal"]
    project: str
    client: str
    pid: int
    settings: tuple[str, ...] = ()
    proposal: str = ""
    details: tuple[str, ...] = ()


def folder() -> Path:
    """Return the folder, which is there and private. Raises `OSError`, and `RuntimeError` without a home."""
    place = state_folder() / "window_requests"
    make_private_folder(place)
    return place


# ---- of the window ----


def announce(project: Path | None) -> None:
    """Say which project this process has open in a window; None for no file. A home that cannot be written is no
    reason to fail: then nothing is asked."""
    with contextlib.suppress(OSError, RuntimeError, UserError):
        place = folder() / f"{os.getpid()}{WINDOW}"
        if project is None:
            place.unlink(missing_ok=True)
        else:
            write_json(place, {"pid": os.getpid(), "project": _real(project)})


def claim(project: Path) -> WindowRequest | None:
    """Return a request about a project that no other window answers; None where there is none. Those of programs that
    have ended are dropped."""
    with contextlib.suppress(OSError, RuntimeError):
        for path in sorted(folder().glob(f"*{ASKED}")):
            request = _read(path)
            if request is None or not is_alive(request.pid):
                path.unlink(missing_ok=True)
            elif request.project == _real(project):
                claimed = path.with_name(f"{request.id}{CLAIMED}")
                replace_file(path, claimed)
                return request
    return None


def answer(request: WindowRequest, *, is_accepted: bool) -> bool:
    """Answer a request that was claimed, and return whether somebody still waits for that."""
    with contextlib.suppress(OSError, RuntimeError):
        (folder() / f"{request.id}{CLAIMED}").unlink()
        write_json(folder() / f"{request.id}{ANSWER}", {"accepted": is_accepted})
        return True
    return False


def finish(request: WindowRequest) -> None:
    """Forget a request that needs no answer."""
    with contextlib.suppress(OSError, RuntimeError):
        (folder() / f"{request.id}{CLAIMED}").unlink(missing_ok=True)


# ---- of the program that asks ----


def has_window(project: Path) -> bool:
    """Return whether a window has a project open."""
    return any(window.get("project") == _real(project) for window in _windows())


def place_request(kind: Literal["run", "proposal"], project: Path, client: str, **more: Any) -> WindowRequest:
    """Ask the window that has a project open. Raises `OSError`, and `RuntimeError` without a home."""
    id = secrets.token_hex(8)
    request = WindowRequest(id=id, kind=kind, project=_real(project), client=client, pid=os.getpid(), **more)
    write_json(folder() / f"{id}{ASKED}", asdict(request))
    return request


def take_answer(request: WindowRequest) -> bool | None:
    """Return whether the user has agreed, once; None where there is no answer yet."""
    place = folder() / f"{request.id}{ANSWER}"
    content = _content(place)
    if content is None:
        return None
    place.unlink(missing_ok=True)
    return content.get("accepted") is True


def withdraw(request: WindowRequest) -> None:
    """Take back a request: nobody waits for its answer any more."""
    with contextlib.suppress(OSError, RuntimeError):
        for ending in (ASKED, CLAIMED, ANSWER):
            (folder() / f"{request.id}{ending}").unlink(missing_ok=True)


# ---- files ----


def _windows() -> Iterator[dict[str, Any]]:
    """Yield what the windows that are open say; files of those that have ended are removed."""
    with contextlib.suppress(OSError, RuntimeError):
        for path in folder().glob(f"*{WINDOW}"):
            content = _content(path) or {}
            if isinstance(pid := content.get("pid"), int) and is_alive(pid):
                yield content
            else:
                path.unlink(missing_ok=True)


def _read(path: Path) -> WindowRequest | None:
    content = _content(path)
    try:
        request: WindowRequest | None = None if content is None else from_json(WindowRequest, content)
    except JsonShapeError:
        return None
    return request


def _content(path: Path) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, UserError, ValueError):
        return read_object(path, LIMIT_BYTES)
    return None


def _real(project: Path) -> str:
    return os.path.realpath(project)
