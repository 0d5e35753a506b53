"""One entry of the queue, trained in a process of its own.

python -m engine.launch.queued_run FOLDER ID [DEVICES [SETTING ...]]

`DEVICES` are the accelerators it was given, with commas between them or `-`; settings are as for `--set`.
"""

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError
from engine.launch.coordinator import coordinate, exit_code
from engine.project.file import loads
from engine.project.project import Project, set_option
from engine.runs.create import new_folder
from engine.runs.folder import RunFolder, origin
from engine.runs.queue import Claim, Queue


def train(queue: Queue, id: int, devices: Sequence[str] = (), settings: Sequence[str] = ()) -> int:
    """Train an entry that waits, from its claim to its end. Returns the exit code of its run; that of a wrong input
    where it does not wait any more. Raises `RunError` where somebody else trains it."""
    with queue.claimed(id) as claim:
        if not claim.entry.is_waiting:
            return EXIT_INPUT
        try:
            folder = _begun(queue, claim, tuple(devices), settings)
        except UserError as refused:
            claim.change(state="refused", reason=str(refused), run_dir="")
            return refused.exit_code
        except Exception as error:  # of a defect the queue is to know as well, or it would be tried for ever
            traceback.print_exc()
            claim.change(state="refused", reason=f"A defect of Netwright: {type(error).__name__}: {error}", run_dir="")
            raise
        claim.change(state="running")
        result = coordinate(folder)
        claim.change(state=folder.state(), reason=str(result.get("reason") or ""))
        return exit_code(folder)


def _begun(queue: Queue, claim: Claim, devices: tuple[str, ...], settings: Sequence[str]) -> RunFolder:
    """The entry's run, ready to be trained. Its folder is written down before it is made."""
    from engine.launch.prepare import prepare

    entry = claim.entry
    project = _project(queue.project_text(entry.id), settings)
    path = Path(entry.project_path) if entry.project_path else None
    known = origin(path) if path else None
    run_dir = new_folder(known.runs_beside if known else None, known.name if known else entry.title)
    claim.change(state="starting", run_dir=str(run_dir), devices=devices)
    if entry.trust:
        from engine.project import user_code

        user_code.look(project, known.code_base if known else Path.cwd(), known.code if known else None)
        user_code.grant(project)
    try:
        folder = prepare(project, path, run_dir)
    except BaseException:
        with contextlib.suppress(OSError):
            run_dir.rmdir()
        raise
    _print_into(folder)
    return folder


def _project(text: str, settings: Sequence[str]) -> Project:
    project = loads(text).project
    for setting in settings:
        project = set_option(project, setting)
    return project


def _print_into(folder: RunFolder) -> None:
    """What is printed from now on belongs to the run."""
    log = os.open(folder.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def main(arguments: Sequence[str]) -> int:
    """The process of an entry."""
    folder, id, devices, *settings = (*arguments, "-") if len(arguments) == 2 else arguments
    try:
        return train(Queue(Path(folder)), int(id), () if devices == "-" else devices.split(","), settings)
    except UserError as error:  # somebody else has it
        print(error, file=sys.stderr)
        return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
