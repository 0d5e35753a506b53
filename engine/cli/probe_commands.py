"""`advise` and `largest-batch PROJECT`: what trying out or predicting says about a project."""

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, note, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_project
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.errors import EXIT_DONE, UserError, read_error
from netwright.engine.core.platform import command_line
from netwright.engine.core.text import format_bytes
from netwright.engine.operations.projects import facts_of, read_project
from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.placement.recovery import WORKER_HOURS
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import origin

MOST_WORKERS = 1_000_000


def register_advise(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Predict, for each environment and strategy that can run here, the memory per worker from the sizes in the "
        "network, and the time per step from 20 steps on random samples and the cost of an all-reduce. For a cluster "
        "(--environment parallel) also how often to save a checkpoint, from the measured time of one."
    )
    command = commands.add_parser("advise", description=text)
    add_project(command)
    what = "workers of the cluster, for the interval between checkpoints; default: those of the project's profile"
    command.add_argument("--workers", type=int, metavar="N", help=what)
    what = f"mean hours between failures of one worker; default {WORKER_HOURS:,.0f}, as reported for 16,384 GPUs"
    command.add_argument("--mtbf", type=float, metavar="HOURS", help=what)
    add_json(command)
    command.set_defaults(run=run_advise)


def run_advise(arguments: argparse.Namespace) -> int:
    """Print a row for each way, and the advice."""
    from netwright.engine.hardware.devices import lines_of

    project, notices = read_project(arguments.project, arguments.settings)
    note(notices)
    ways: list[dict[str, Any]] = []
    advice, busy, best, checkpoints = "", "", None, None
    workers = _cluster_workers(project, arguments)
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        path = Path(folder) / "project.netwright"
        path.write_text(dumps(project), encoding="utf-8")
        beside = origin(arguments.project).base
        timed = (str(beside), str(workers), str(arguments.mtbf or 0)) if workers else ()
        for line in lines_of("netwright.engine.launch.advisor", str(path), *timed):
            if "error" in line:
                raise read_error(line)
            if "way" in line:
                ways.append(line["way"])
            advice, best = line.get("advice", advice), line.get("best", best)
            busy, checkpoints = line.get("busy", busy), line.get("checkpoints", checkpoints)
    if arguments.json:
        print_json(arguments, {"ways": ways, "advice": advice, "busy": busy, "best": best, "checkpoints": checkpoints})
        return EXIT_DONE
    print_table([("way", "workers", "memory", "step", ""), *map(_row, ways)], right=(1, 2, 3))
    say("memory: of weights, gradients, solver and activations; a process with torch takes some 200 MiB besides")
    if busy:
        say("", busy)
    say("", advice)
    if best is not None:
        settings = [*arguments.settings, *([f"environment.strategy={best['strategy']}"] if best["strategy"] else [])]
        words = ["netwright-engine", "train", str(arguments.project), "--environment", best["target"]]
        say(command_line(*words, *(word for setting in settings for word in ("--set", setting))))
    if checkpoints is not None:
        say("", checkpoints["text"])
        say(command_line(*(word for setting in checkpoints["settings"] for word in ("--set", setting))))
    return EXIT_DONE


def _cluster_workers(project: Project, arguments: argparse.Namespace) -> int:
    """Return the workers of the cluster that checkpoints are recommended for; 0 for none. Raises `UserError`."""
    if arguments.workers is not None and not 1 <= arguments.workers <= MOST_WORKERS:
        raise UserError(f"--workers: expected 1 to {MOST_WORKERS:,}, received {arguments.workers:,}.")
    if arguments.mtbf is not None and not 0 < arguments.mtbf < math.inf:
        raise UserError(f"--mtbf: expected a number of hours above 0, received {arguments.mtbf:g}.")
    if arguments.workers is not None:
        return int(arguments.workers)
    if project.environment.target != "parallel":
        if arguments.mtbf is None:
            return 0
        raise UserError("--mtbf: this project does not train on a cluster.", hint="Add --workers N.")
    if project.environment.num_workers:
        return project.environment.num_workers
    return int(cluster_function("cluster_profile")(project.environment).workers)


def _row(way: dict[str, Any]) -> tuple[str, ...]:
    notes = [way["note"]] if way["note"] else []
    notes += [] if way["fits"] else ["does not fit"]
    memory = f"{format_bytes(way['memory_bytes'])} each"
    return way["name"], str(way["workers"]), memory, way["step"], "; ".join(notes)


def register_largest_batch(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Try larger and larger mini-batches with the project's environment and strategy, each in a process of its own; "
        "on the CPU, those that would take long are estimated from smaller ones. The limit is a share of the "
        "memory on the CPU, and all memory on a GPU."
    )
    command = commands.add_parser("largest-batch", description=text)
    add_project(command)
    share = "share of the machine's memory that all workers together may take on the CPU, 0 to 1; default 0.5"
    command.add_argument("--share", type=float, default=0.5, help=share)
    add_allow_host(command)
    add_json(command)
    command.set_defaults(run=run_largest_batch)


def run_largest_batch(arguments: argparse.Namespace) -> int:
    """Print each trial, and what it comes to."""
    from netwright.engine.hardware.devices import lines_of

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
        for line in lines_of("netwright.engine.launch.largest_batch", *arguments_of_trial):
            if "error" in line:
                raise read_error(line)
            if "tried" in line:
                tried.append(line["tried"])
                if not arguments.json:
                    say(_words(line["tried"]), flush=True)
            elif arguments.json:
                print_json(arguments, {**line, "tried": tried})
            else:
                say(line["words"])
    return EXIT_DONE


def _words(tried: dict[str, Any]) -> str:
    share = f" ({tried['samples']:,} per worker)" if tried["samples"] != tried["batch"] else ""
    fits = tried["refusal"] or f"fits: {format_bytes(tried['bytes'])}, {1000 * tried['seconds']:.1f} ms per step"
    return f"{tried['batch']:>9,}{share} on {tried['device']}: {fits}"


def register(commands: Commands) -> None:
    """Add the commands."""
    register_advise(commands)
    register_largest_batch(commands)
