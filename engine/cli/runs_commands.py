"""`runs`, `show`, `note`, `tag`, `delete` and `curves`: the runs of a folder or a project."""

import argparse
import contextlib
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, failure, note, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.printing import TableOutput, say
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.errors import EXIT_DONE, UserError, plural
from netwright.engine.core.text import format_duration, iso_time
from netwright.engine.project.file import load
from netwright.engine.runs.create import runs_beside
from netwright.engine.runs.data_record import read_record
from netwright.engine.runs.events import ENDS, SPLIT_PRIORITY
from netwright.engine.runs.folder import RunFolder, open_run
from netwright.engine.runs.history import ProjectKey, in_order, list_runs, runs_of
from netwright.engine.runs.notes import Notes, read_notes, write_notes
from netwright.engine.runs.query import as_csv, matching, order_by, refuse_unknown
from netwright.engine.runs.summary import DAMAGED, RunSummary, format_metric, read_summary, with_state_now
from netwright.engine.runs.trash import move_run_to_trash

LONGEST_CHANGES = 60
LONGEST_CELL = 200


def register_runs(commands: Commands) -> None:
    """Add the command."""
    text = (
        "List the runs in a folder, or of a project (beside its file, in your data folder, wherever one was started), "
        "newest first, with what differs from the run before. "
        "A filter is words and conditions of which all must hold: digits state:failed tag:paper accuracy>0.9 "
        "validation.loss<0.2 epochs>=5 training.max_epochs=30."
    )
    command = commands.add_parser("runs", description=text)
    what = "a folder with runs, or a project file; default: ./runs"
    command.add_argument("place", type=Path, nargs="?", default=Path("runs"), metavar="DIR|PROJECT", help=what)
    command.add_argument("--filter", default="", metavar="TEXT", help="only the runs that match")
    by = "created (default), run, name, state, environment, epochs, seconds, or a figure such as validation.loss"
    command.add_argument("--sort", default="created", metavar="KEY", help=by)
    command.add_argument("--reverse", action="store_true", help="reverse the order")
    formats = command.add_mutually_exclusive_group()
    add_json(formats)
    formats.add_argument("--csv", action="store_true", help="print a table with every figure and option")
    command.set_defaults(run=run_runs)


def run_runs(arguments: argparse.Namespace) -> int:
    """Print the list."""
    place: Path = arguments.place
    if os.path.isfile(place / "run.json"):
        raise UserError(
            f"{place} is the folder of one run.",
            hint=f"`netwright-engine show` describes it, and `netwright-engine runs "
            f"{place.absolute().parent}` lists it beside the others.",
        )
    is_project = place.is_file()
    folder = runs_beside(place) if is_project else place
    known = _runs_of_project(place) if is_project else list_runs(folder)
    order = order_by(arguments.sort, known, is_reversed=arguments.reverse)
    refuse_unknown(known, arguments.filter)
    found = order.sorted(matching(known, arguments.filter))
    if arguments.json:
        print_json(arguments, {"runs": [_as_json(run) for run in found]})
    elif arguments.csv:
        TableOutput(sys.stdout).write(as_csv(found))
    elif not found:
        left_out = f" that fit '{arguments.filter}'; there are {len(known):,} in all" if known else ""
        say(f"There are no runs {f'of {place}' if is_project else f'in {place}'}{left_out}.")
    else:
        print_table(_rows(found), right=(4,))
    note(filter(None, (run.damage for run in found)))
    return EXIT_DONE


def _runs_of_project(path: Path) -> list[RunSummary]:
    """Return the runs of a project, newest first: beside its file, in the user's data folder, and wherever else one was
    started. Damaged runs beside the file may belong to it, so that none disappears silently."""
    identity = ""
    with contextlib.suppress(UserError):  # its runs are found by its path
        identity = load(path).project.identity
    beside = runs_beside(path)
    damaged = [run for run in list_runs(beside) if run.state == DAMAGED] if beside.is_dir() else []
    return in_order([*runs_of(ProjectKey(path.resolve(), identity)), *damaged])


def _as_json(run: RunSummary) -> dict[str, Any]:
    return {**run.write(), "run_dir": str(run.path.absolute()), "created": iso_time(run.created)}


def _rows(runs: list[RunSummary]) -> list[tuple[str, ...]]:
    """Return a header row and a row per run; with a column of tags if any run has tags."""
    rows = [("run", "state", "when", "environment", "epochs", "time", "result", "tags", "changes"), *map(_row, runs)]
    if not any(run.notes.tags for run in runs):
        rows = [(*row[:7], row[8]) for row in rows]
    return rows


def _row(run: RunSummary) -> tuple[str, ...]:
    epochs, seconds = run.number("epochs"), run.number("seconds")
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created)) if run.created else ""
    changed = "; ".join(map(str, run.changes))
    cells = (
        *(
            run.path.name,
            f"{run.state}, not responding" if run.silence else run.state,
            when,
            run.environment,
            "" if epochs is None else f"{epochs:.0f}",
        ),
        "" if seconds is None else format_duration(seconds),
        result_text(run),
        ", ".join(run.notes.tags),
        changed if len(changed) <= LONGEST_CHANGES else f"{changed[: LONGEST_CHANGES - 1]}…",
    )
    return tuple(cell[:LONGEST_CELL] for cell in cells)  # a stranger wrote some of them


def result_text(run: RunSummary) -> str:
    """Return the metrics of the test split, else of the validation split, as text."""
    scores = run.scores
    for part in ("test.", "validation."):
        of_part = {name.removeprefix(part): value for name, value in scores.items() if name.startswith(part)}
        if of_part:
            return ", ".join(format_metric(name, value) for name, value in of_part.items())
    return ""


def register_show(commands: Commands) -> None:
    """Add the command."""
    text = "Describe one run: state, time, environment, losses and metrics, options that it set, note, tags, and files."
    command = commands.add_parser("show", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    add_json(command)
    command.set_defaults(run=run_show)


def run_show(arguments: argparse.Namespace) -> int:
    """Print the description."""
    folder = open_run(arguments.folder)
    run = with_state_now(read_summary(folder.path.absolute()))
    if arguments.json:
        print_json(arguments, {**_as_json(run), "data": _data_as_json(folder)})
    else:
        say(*(f"{name:12s} {text}".rstrip() for name, text in _description(run, folder)))
    return EXIT_DONE


def _data_as_json(folder: RunFolder) -> dict[str, Any] | None:
    """Return the data of a run, and what has changed in it since; None for a run that has no record of it."""
    record = read_record(folder.path)
    if record is None:
        return None
    places = [{"option": p.option, "path": p.path, "files": p.files, "bytes": p.bytes} for p in record.places]
    samples = {"split": record.split, "samples": record.samples}
    changes = {"changes": list(record.changes()), "replaced": list(record.replaced)}
    return {"source": record.source, "places": places, **samples, **changes}


def _described_data(folder: RunFolder) -> Iterator[str]:
    """Yield the data of a run, and what has changed in it since."""
    try:
        record = read_record(folder.path)
    except UserError as error:
        yield str(error)
        return
    if record is None:
        return
    counts = ", ".join(f"{name} {count:,}" for name, count in record.samples.items())
    places = [f"{place.path} ({plural(place.files, 'file')}, {place.bytes:,} bytes)" for place in record.places]
    yield f"{', '.join(places) or record.source}; {counts}"
    yield from (f"replaced since the run began: {text}" for text in record.replaced)
    yield from (f"has changed since: {text}" for text in record.changes())


def _description(run: RunSummary, folder: RunFolder) -> Iterator[tuple[str, str]]:
    """Yield a heading and a text per line."""
    yield "run", str(run.path)
    yield "state", f"{run.state}{', not responding: ' + run.silence if run.silence else ''}"
    if run.reason:
        yield "reason", run.reason
    if run.damage:
        yield "damaged", run.damage
    yield "project", run.project_path or run.name
    yield "created", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.created)) if run.created else "unknown"
    yield "environment", run.environment
    for text in _described_data(folder):
        yield "data", text
    counts = [plural(int(n), name[:-1]) for name in ("epochs", "iterations") if (n := run.number(name)) is not None]
    seconds = run.number("seconds")
    counts += [format_duration(seconds)] if seconds is not None else []
    yield "trained", ", ".join(counts) or "nothing yet"
    for split in SPLIT_PRIORITY:
        scores = {key.removeprefix(f"{split}."): v for key, v in run.scores.items() if key.startswith(f"{split}.")}
        if scores:
            yield split, ", ".join(format_metric(name, value) for name, value in scores.items())
    for name in sorted(run.options):
        yield "option", f"{name} = {run.option_text(name)}"
    if run.notes.note:
        yield "note", run.notes.note
    if run.notes.tags:
        yield "tags", ", ".join(run.notes.tags)
    with contextlib.suppress(UserError):
        if (kept := folder.kept()) is not None:
            yield "network", str(kept.absolute())
    place = shlex.quote(str(run.path))
    if run.is_alive and run.state != "lost":
        yield "next", f"netwright-engine follow {place}"
    elif run.state == "finished":
        yield "next", f"netwright-engine export {place} -o {shlex.quote(run.name)}.onnx"
    elif run.state in ENDS and run.has_checkpoint:
        yield "next", f"netwright-engine resume {place}"


def register_note(commands: Commands) -> None:
    """Add the command."""
    text = "Set the note of a run; an empty text removes it. Without a text, print the note."
    command = commands.add_parser("note", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.add_argument("text", nargs="?", metavar="TEXT", help="the note")
    add_json(command)
    command.set_defaults(run=run_note)


def run_note(arguments: argparse.Namespace) -> int:
    """Write or print the note."""
    folder = open_run(arguments.folder)
    if arguments.text is not None:
        write_notes(folder, note=arguments.text)
    text = _noted(folder).note
    if arguments.json:
        print_json(arguments, {"run_dir": str(folder.path.absolute()), "note": text})
    elif text and arguments.text is None:
        say(*text.split("\n"))
    return EXIT_DONE


def _noted(folder: RunFolder) -> Notes:
    """Return note and tags of a run, and say where their file is damaged."""
    run = read_summary(folder.path.absolute())
    note(filter(None, [run.damage]))
    return run.notes


def register_tag(commands: Commands) -> None:
    """Add the command."""
    text = "Add tags to a run or remove them, and print the tags that it has then."
    command = commands.add_parser("tag", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    command.add_argument("tags", nargs="*", metavar="TAG", help="a tag")
    command.add_argument("--remove", action="store_true", help="remove these tags")
    add_json(command)
    command.set_defaults(run=run_tag)


def run_tag(arguments: argparse.Namespace) -> int:
    """Write and print the tags."""
    folder = open_run(arguments.folder)
    known = _noted(folder).tags
    if arguments.tags:
        kept = tuple(tag for tag in known if tag not in arguments.tags)
        write_notes(folder, tags=kept if arguments.remove else (*known, *arguments.tags))
    tags = read_notes(folder).tags
    if arguments.json:
        print_json(arguments, {"run_dir": str(folder.path.absolute()), "tags": tags})
    for tag in () if arguments.json else tags:
        say(tag)
    return EXIT_DONE


def register_delete(commands: Commands) -> None:
    """Add the commands."""
    text = "Move runs to the trash, from where the desktop restores them. A run that is at work is refused."
    command = commands.add_parser("delete", description=text)
    command.add_argument("folders", type=Path, nargs="+", metavar="RUN", help="the folder of a run")
    add_json(command)
    command.set_defaults(run=run_delete)


def run_delete(arguments: argparse.Namespace) -> int:
    """Delete what can be deleted, and say at the end what cannot."""
    refused, deleted = [], []
    for path in arguments.folders:
        try:
            move_run_to_trash(open_run(path))
            deleted.append(str(path.absolute()))
            if not arguments.json:
                say(f"moved to the trash: {path}")
        except UserError as error:
            refused.append(error)
    lines = [line for error in refused for line in error.lines]
    if arguments.json:
        told = failure(refused[0].code, "\n".join(lines), refused[0].hint) if refused else {}
        print_json(arguments, {"deleted": deleted, **told})
    if refused:
        raise refused[0].reworded(*lines)
    return EXIT_DONE


FORMATS = ("csv", "tensorboard", "mlflow")


def register_curves(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Write every curve of runs: as one CSV table (run, curve, split, step, value), into a folder that "
        "`tensorboard --logdir` shows, or, with options, state, note and tags, into a folder that `mlflow ui "
        '--backend-store-uri` shows. TensorBoard and MLflow are extras: pip install "netwright[tensorboard]" or '
        '"netwright[mlflow]". MLflow 3 reads such a folder where MLFLOW_ALLOW_FILE_STORE=true is set.'
    )
    command = commands.add_parser("curves", description=text)
    command.add_argument("folders", type=Path, nargs="+", metavar="RUN", help="the folder of a run")
    command.add_argument("--format", choices=FORMATS, default="csv", help="the format to write (default: csv)")
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE|DIR", help="where to write it")
    add_json(command)
    command.set_defaults(run=run_curves)


def run_curves(arguments: argparse.Namespace) -> int:
    """Write them, and say which files came of it."""
    from netwright.engine.runs.curve_files import write_curves

    written = write_curves([open_run(path) for path in arguments.folders], arguments.format, arguments.output)
    if arguments.json:
        print_json(arguments, {"files": [str(path.absolute()) for path in written]})
    else:
        for path in written:
            say(f"wrote {path}")
    return EXIT_DONE


def register(commands: Commands) -> None:
    """Add the commands."""
    register_runs(commands)
    register_show(commands)
    register_note(commands)
    register_tag(commands)
    register_delete(commands)
    register_curves(commands)
