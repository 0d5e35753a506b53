"""Starting a run for an assistant: after a yes of the user in a window, or where a person has allowed runs."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.platform import command_line
from netwright.engine.core.process import MessageProcess, engine_command
from netwright.engine.operations.projects import read_project
from netwright.engine.runs.window_requests import has_window, place_request, take_answer, withdraw

START_S = 300.0
PATIENCE_S = 55.0
"""Clients give up a call after a minute, many of them."""
LOOK_S = 0.2
PAUSE_S = 60.0
"""After a no, in which nobody is asked again."""
_refused_at: dict[Path, float] = {}


def start_run(project: Path, settings: Sequence[str], client: str, *, may_start: bool) -> Mapping[str, Any]:
    """Start a run that goes on by itself, if a person agrees; else say how a person starts it. Raises `UserError`."""
    read_project(project, settings)
    words = ["train", str(project), *(f"--set={setting}" for setting in settings)]
    if may_start or (agreed := _agreed(project, settings, client)) is True:
        return _started([*words, "--detach", "--json"])
    needs = "a person, who trains in the window or runs this command"
    if agreed is False:
        needs = "a person: the user has refused in the window. Do not ask again unless they want it"
    return {"started": False, "needs": needs, "command": command_line("netwright-engine", *words)}


def show_proposal(project: Path, proposal: Path, differences: Sequence[str], client: str) -> bool:
    """Offer to show a proposal on the canvas, and return whether a window has the project open."""
    if not has_window(project):
        return False
    with contextlib.suppress(OSError, RuntimeError):
        place_request("proposal", project, client, proposal=str(proposal), details=tuple(differences))
    return True


def _agreed(project: Path, settings: Sequence[str], client: str) -> bool | None:
    """Ask the user of a window with the project, and return the answer; None without a window or an answer."""
    if time.monotonic() - _refused_at.get(project, -PAUSE_S) < PAUSE_S:
        return False
    if not has_window(project):
        return None
    try:
        request = place_request("run", project, client, settings=tuple(settings))
    except (OSError, RuntimeError):
        return None
    deadline = time.monotonic() + PATIENCE_S
    try:
        while (answer := take_answer(request)) is None and time.monotonic() < deadline:
            time.sleep(LOOK_S)
    finally:
        withdraw(request)
    if answer is False:
        _refused_at[project] = time.monotonic()
    return answer


def _started(words: list[str]) -> Mapping[str, Any]:
    """Start a run that goes on by itself, and return what the command prints. Raises `UserError`."""
    process = MessageProcess(engine_command(*words), hears=False)
    try:
        answer = next(process.messages(START_S), None)
    except TimeoutError:
        answer = None
    finally:
        process.end(1.0)
    if answer is None:
        raise RunError(f"The run did not start: {process.last_words()}")
    if "error" in answer:
        raise UserError(answer["error"]["message"], code=answer["error"]["code"])
    return {"started": True, **answer}
