"""What each command prints with `--json`, and its errors.

The JSON Schema and the tables of the documentation are generated from here (`netwright.engine.cli.schema_command`).
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from netwright.engine.cli.commands import commands
from netwright.engine.cli.outputs.machine_outputs import Advice, Devices, LargestBatch
from netwright.engine.cli.outputs.run_outputs import (
    Detached,
    Ended,
    Event,
    QueuedAnswer,
    QueueEntries,
    QueueEntry,
    QueueList,
    Requests,
    Trained,
)
from netwright.engine.core.part_registry import entries, imported
from netwright.engine.operations.operation import operations


class Error(TypedDict):
    """Why the exit code is not 0."""

    code: str
    """Word that tells errors apart, as listed in docs/command-line.md."""
    message: str
    """What is shown on standard error."""
    hint: NotRequired[str]
    """The way out, with which the message ends; left out where none is known."""
    data: NotRequired[Mapping[str, Any]]
    """What belongs to the error besides: `layers` of an export that gives other numbers than torch."""


OUTPUTS: Mapping[str, tuple[type, ...]] = {
    "train": (Trained, Detached),
    "resume": (Trained, Detached, Requests),
    "queue add": (QueueEntry,),
    "queue list": (QueueList,),
    "queue run": (QueueEntries,),
    "queue start": (QueueEntries,),
    "queue move": (QueueEntries,),
    "queue show": (QueuedAnswer,),
    "queue stop": (QueueEntries,),
    "queue remove": (QueueEntries,),
    "devices": (Devices,),
    "advise": (Advice,),
    "largest-batch": (LargestBatch,),
    "follow": (Event, Ended),
    "stop": (Ended,),
    "pause": (Requests,),
    "checkpoint": (Requests,),
    "validate": (Requests,),
    "set": (Requests,),
    "watch": (Requests,),
}
"""What each command prints, beside `schema_version`, `command` and, where it fails, `error`; those of operations are in
their declarations, those of parts in their folders."""


def outputs() -> dict[str, tuple[type, ...]]:
    """Return the results of each command, with those of operations, in the order of the list of commands."""
    shown = (operation for operation in operations() if "command" in operation.faces)
    results = {
        **OUTPUTS,
        **{operation.name: (*operation.results, *[QueueEntry][: operation.may_wait]) for operation in shown},
    }
    for target in entries("results").values():
        results |= imported(target)
    order = [*commands()]
    return {name: results[name] for name in sorted(results, key=lambda name: order.index(name.partition(" ")[0]))}
