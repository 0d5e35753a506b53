"""`advise PROJECT`: memory and time of each way of dividing the work, predicted, and which to use."""

import argparse
import shlex
import tempfile
from pathlib import Path
from typing import Any

from engine.commands.common import Commands, add_project, note, print_json, read_project, refusal, table
from engine.errors import EXIT_DONE
from engine.project.file import dumps
from engine.words import format_bytes


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Predict the memory of a worker, by the sizes in the network, and the time of a step, by 20 steps on made-up "
        "samples and the cost of a sum over workers, for each environment and strategy that can run here."
    )
    command = commands.add_parser("advise", help="which environment and strategy to use", description=text)
    add_project(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each way, and the advice."""
    from engine.environments.machine.devices import lines_of

    project, notices = read_project(arguments.project, arguments.settings)
    note(notices)
    ways: list[dict[str, Any]] = []
    said, best = "", None
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        path = Path(folder) / "project.netwright"
        path.write_text(dumps(project), encoding="utf-8")
        for line in lines_of("engine.environments.trials.advising", str(path)):
            if "error" in line:
                raise refusal(line)
            if "way" in line:
                ways.append(line["way"])
            said, best = line.get("advice", said), line.get("best", best)
    if arguments.json:
        print_json({"ways": ways, "advice": said, "best": best})
        return EXIT_DONE
    print("\n".join(table([("way", "workers", "memory", "step", ""), *map(_row, ways)], right=(1, 2, 3))))
    print("memory: of weights, gradients, solver and activations; a process with torch takes some 200 MiB besides")
    print(f"\n{said}")
    if best is not None:
        settings = [*arguments.settings, *([f"environment.strategy={best['strategy']}"] if best["strategy"] else [])]
        words = ["netwright-engine", "train", str(arguments.project), "--environment", best["target"]]
        print(shlex.join([*words, *(word for setting in settings for word in ("--set", setting))]))
    return EXIT_DONE


def _row(way: dict[str, Any]) -> tuple[str, ...]:
    notes = [way["note"]] if way["note"] else []
    notes += [] if way["fits"] else ["does not fit"]
    memory = f"{format_bytes(way['memory_bytes'])} each"
    return way["name"], str(way["workers"]), memory, way["step"], "; ".join(notes)
