"""`advise`, `largest-batch` and `measure PROJECT`: what trying out or predicting says about a project."""

import argparse
import shlex
import tempfile
from pathlib import Path
from typing import Any

from engine.cli.commands import Commands
from engine.cli.common import (
    add_json,
    add_project,
    add_trust,
    facts_of,
    look_at_code,
    note,
    print_json,
    read_project,
)
from engine.cli.terminal import print_table
from engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError, plural, read_error
from engine.core.text import format_bytes
from engine.project.file import dumps, load
from engine.project.user_code import measure, refuse_untrusted
from engine.runs.folder import origin
from engine.user_code import registry


def register_advise(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Predict, for each environment and strategy that can run here, the memory per worker from the sizes in the "
        "network, and the time per step from 20 steps on random samples and the cost of an all-reduce."
    )
    command = commands.add_parser("advise", description=text)
    add_project(command)
    add_json(command)
    command.set_defaults(run=run_advise)


def run_advise(arguments: argparse.Namespace) -> int:
    """Print a row for each way, and the advice."""
    from engine.hardware.devices import lines_of

    project, notices = read_project(arguments.project, arguments.settings)
    note(notices)
    ways: list[dict[str, Any]] = []
    advice, best = "", None
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        path = Path(folder) / "project.netwright"
        path.write_text(dumps(project), encoding="utf-8")
        for line in lines_of("engine.launch.advisor", str(path)):
            if "error" in line:
                raise read_error(line)
            if "way" in line:
                ways.append(line["way"])
            advice, best = line.get("advice", advice), line.get("best", best)
    if arguments.json:
        print_json(arguments, {"ways": ways, "advice": advice, "best": best})
        return EXIT_DONE
    print_table([("way", "workers", "memory", "step", ""), *map(_row, ways)], right=(1, 2, 3))
    print("memory: of weights, gradients, solver and activations; a process with torch takes some 200 MiB besides")
    print(f"\n{advice}")
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


def register_largest_batch(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Try larger and larger mini-batches with the project's environment and strategy, each in a process of its own. "
        "The limit is a share of the memory on the CPU, and all of its memory on a GPU."
    )
    command = commands.add_parser("largest-batch", description=text)
    add_project(command)
    share = "share of the machine's memory that all workers together may take on the CPU, 0 to 1; default 0.5"
    command.add_argument("--share", type=float, default=0.5, help=share)
    add_json(command)
    command.set_defaults(run=run_largest_batch)


def run_largest_batch(arguments: argparse.Namespace) -> int:
    """Print each trial, and what it comes to."""
    from engine.hardware.devices import lines_of

    if not 0 < arguments.share <= 1:
        raise UserError(f"--share: expected a number above 0 and at most 1, received {arguments.share:g}.")
    project, notices = read_project(arguments.project, arguments.settings)
    note(notices)
    facts = facts_of(project, origin(arguments.project).base)
    samples = facts.samples.get("training", 0) if facts else 0
    tried: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        path = Path(folder) / "project.netwright"
        path.write_text(dumps(project), encoding="utf-8")
        arguments_of_trial = (str(path), "--samples", str(samples), "--share", str(arguments.share))
        for line in lines_of("engine.launch.largest_batch", *arguments_of_trial):
            if "error" in line:
                raise read_error(line)
            if "tried" in line:
                tried.append(line["tried"])
                if not arguments.json:
                    print(_words(line["tried"]), flush=True)
            elif arguments.json:
                print_json(arguments, {**line, "tried": tried})
            else:
                print(line["words"])
    return EXIT_DONE


def _words(tried: dict[str, Any]) -> str:
    share = f" ({tried['samples']:,} per worker)" if tried["samples"] != tried["batch"] else ""
    fits = tried["refusal"] or f"fits: {format_bytes(tried['bytes'])}, {1000 * tried['seconds']:.1f} ms per step"
    return f"{tried['batch']:>9,}{share} on {tried['device']}: {fits}"


def register_measure(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Run the custom layers and functions of a project on small tensors, in a process of their own, and store the "
        "sizes of their outputs. The window does this automatically once the folder is trusted."
    )
    command = commands.add_parser("measure", description=text)
    command.add_argument("project", type=Path, metavar="PROJECT", help="a project file (*.netwright)")
    base = "folder that its files lie in, if not the project's own"
    command.add_argument("--base", type=Path, metavar="DIR", help=base)
    add_trust(command)
    add_json(command)
    command.set_defaults(run=run_measure)


def run_measure(arguments: argparse.Namespace) -> int:
    """Measure, and say what was learnt; 2 if something went wrong in the code."""
    project = load(arguments.project).project
    base = (arguments.base or arguments.project.parent).resolve()
    look_at_code(project, base, trusted=arguments.trust)
    if not arguments.json:
        refuse_untrusted(project.network)
    rows = registry.answers(measure(project.network))
    if arguments.json:
        print_json(arguments, {"answers": rows})
        return EXIT_DONE
    failures = [str(row["failed"]) for row in rows if "failed" in row]
    print(f"measured {plural(len(rows) - len(failures), 'layer')}" if rows else "nothing new to measure")
    for failure in failures:
        print(f"error: {failure}")
    return EXIT_INPUT if failures else EXIT_DONE


def register(commands: Commands) -> None:
    """Add the commands."""
    register_advise(commands)
    register_largest_batch(commands)
    register_measure(commands)
