"""`follow RUN`: watch a run from any terminal, from its first event to its end."""

import argparse
import shlex
import time
from pathlib import Path

from engine.commands.common import Commands
from engine.commands.progress import ProgressPrinter
from engine.errors import EXIT_DONE, EXIT_RUN_FAILED, EXIT_STOPPED
from engine.fields import printable
from engine.runs.events import ENDS, Ended
from engine.runs.folder import open_run
from engine.runs.log import EventReader

POLL_S = 0.1
LOST = "lost: the engine of this run is gone without having ended it. netwright-engine resume {} goes on with it."


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Show the progress of a run until it ends. Exits 0 if it finished, 3 if it failed, 130 if it was stopped."
    command = commands.add_parser("follow", help="watch a run", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print events until the run has ended, or its coordinator is gone."""
    folder = open_run(arguments.folder)
    reader, printer = EventReader(folder), ProgressPrinter()
    state = ""
    while True:
        ended_before = folder.state() in ENDS  # asked first, so that the last events are read after it
        events = reader.read()
        for event in events:
            printer(event)
            state = event.state if isinstance(event, Ended) else ""  # one that was resumed goes on behind its end
        if ended_before and not events:
            break
        if not events:
            time.sleep(POLL_S)
    state = state or folder.state()
    print(printable(state) if state != "lost" else LOST.format(shlex.quote(str(arguments.folder))))
    return {"finished": EXIT_DONE, "stopped": EXIT_STOPPED}.get(state, EXIT_RUN_FAILED)
