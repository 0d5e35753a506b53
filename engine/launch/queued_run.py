"""Training of one queue entry in a process of its own.

python -m netwright.engine.core.child netwright.engine.launch.queued_run FOLDER ID [DEVICES [SETTING ...]]

`DEVICES` are the accelerators assigned to it, separated by commas, or `-` for none; settings are as for `--set`.
"""

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError
from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.launch.coordinator import coordinate, exit_code
from netwright.engine.project.data_hosts import grant, read_hosts
from netwright.engine.project.file import loads
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.sources.guess import with_guessed_source
from netwright.engine.runs.create import new_folder
from netwright.engine.runs.folder import RunFolder, origin
from netwright.engine.runs.queue import Claim, Queue


def train(queue: Queue, id: int, devices: Sequence[str] = (), settings: Sequence[str] = ()) -> int:
    """Train a waiting entry, from its claim to its end, and return the exit code of its run.

    Returns `EXIT_INPUT` if the entry no longer waits. Raises `RunError` if another process trains it.
    """
    with queue.claimed(id) as claim:
        if not claim.entry.is_waiting:
            return EXIT_INPUT
        try:
            folder = _begun(queue, claim, tuple(devices), settings)
        except UserError as refused:
            claim.change(state="refused", reason=str(refused), run_dir="")
            return refused.exit_code
        except Exception as error:  # recorded in the queue too, or the entry would be tried forever
            traceback.print_exc()
            claim.change(state="refused", reason=f"A defect of Netwright: {type(error).__name__}: {error}", run_dir="")
            raise
        claim.change(state="running")
        result = coordinate(folder)
        claim.change(state=folder.state(), reason=str(result.get("reason") or ""))
        return exit_code(folder)


def _begun(queue: Queue, claim: Claim, devices: tuple[str, ...], settings: Sequence[str]) -> RunFolder:
    """Prepare the entry's run and return its folder, whose path is recorded in the queue before it is created."""
    from netwright.engine.launch.prepare import prepare

    entry = claim.entry
    path = Path(entry.project_path) if entry.project_path else None
    source = origin(path) if path else None
    project = _project(queue.project_text(entry.id), settings, source.base if source else Path.cwd())
    run_dir = new_folder(source.runs_beside if source else None, source.name if source else entry.title)
    claim.change(state="starting", run_dir=str(run_dir), devices=devices)
    grant(read_hosts(entry.hosts))
    if entry.trust:
        from netwright.engine.project import user_code

        user_code.look(project, source.code_base if source else Path.cwd(), source.code if source else None)
        user_code.grant(project)
    try:
        folder = prepare(project, path, run_dir)
    except BaseException:
        with contextlib.suppress(OSError):
            run_dir.rmdir()
        raise
    _print_into(folder)
    return folder


def _project(text: str, settings: Sequence[str], base: Path) -> Project:
    project = loads(text).project
    for setting in settings:
        project = set_option(project, setting)
    data, _ = with_guessed_source(project.data, base)
    return replace(project, data=data)


def _print_into(folder: RunFolder) -> None:
    """Redirect stdout and stderr of this process to the run's log."""
    log = open_descriptor(folder.log, "a")
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def main(arguments: Sequence[str]) -> int:
    """Train an entry from the command line; return the exit code."""
    folder, id, devices, *settings = (*arguments, "-") if len(arguments) == 2 else arguments
    try:
        return train(Queue(Path(folder)), int(id), () if devices == "-" else devices.split(","), settings)
    except UserError as error:  # another process trains it
        print(error, file=sys.stderr)
        return EXIT_DONE
