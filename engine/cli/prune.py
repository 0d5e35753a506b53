"""`prune RUN`: a smaller network from a trained one, and what it costs."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import PROGRAM, Commands
from netwright.engine.cli.common import add_allow_host, add_trust
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.options.metrics import format_score, in_a_line

AMOUNTS = "0.25,0.5,0.75"


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Make a trained network smaller: weights of small magnitude become zero, or, with --structured, whole channels "
        "are removed. Without -o it prints metrics, size, FLOPs and time for a few amounts; with -o it writes a "
        "project that starts from the weights that are left, to be trained on at a low learn rate."
    )
    command = commands.add_parser("prune", description=text)
    command.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a run")
    help = "share of the weights, or of the channels of each layer, from 0 to below 1 (default: 0.5)"
    command.add_argument("--amount", type=float, default=None, metavar="A", help=help)
    command.add_argument("--structured", action="store_true", help="remove whole channels: really smaller layers")
    help = f"amounts of the table (default: {AMOUNTS})"
    command.add_argument("--amounts", default=AMOUNTS, metavar="A,A,...", help=help)
    help = "split that is measured on (default: test, else validation)"
    command.add_argument("--split", choices=SPLITS, default="", help=help)
    command.add_argument("-o", "--output", type=Path, metavar="PROJECT", help="project file to write, at --amount")
    command.add_argument("--force", action="store_true", help="replace PROJECT if it exists")
    add_trust(command)
    add_allow_host(command)
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, or write the project."""
    from netwright.engine.evaluation.pruning import measure, write_pruned

    to: Path | None = arguments.output
    if to is None and arguments.amount is None:
        amounts = _amounts(arguments.amounts)
    else:
        amounts = [arguments.amount if arguments.amount is not None else 0.5]
    if to is not None and to.suffix != SUFFIX:
        raise UserError(f"{to}: a project ends in {SUFFIX}.")
    if to is not None and to.exists() and not arguments.force:
        raise UserError(f"{to} exists.", hint="--force replaces it.", code="exists")
    with showing("measuring"):
        found = measure(
            arguments.run_dir, amounts, structured=arguments.structured, split=arguments.split, trusted=arguments.trust
        )
    written = ""
    if to is not None:
        write_pruned(arguments.run_dir, to, amounts[0], structured=arguments.structured, trusted=arguments.trust)
        written = str(to.absolute())
    if arguments.json:
        print_json(arguments, {"run_dir": str(arguments.run_dir.absolute()), **found, "project": written})
        return EXIT_DONE
    _show(found)
    if to is not None:
        say(f"wrote {to}; train it on: {PROGRAM} train {to} --set training.initial_learn_rate=0.001")
    return EXIT_DONE


def _amounts(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"--amounts: expected numbers such as {AMOUNTS}; received '{text}'.") from None


def _show(found: Mapping[str, Any]) -> None:
    names = list(found["rows"][0]["metrics"])
    head = ("amount", *map(in_a_line, names), "parameters", "not zero", "size", "FLOPs", "time")
    cells = []
    for row in found["rows"]:
        metrics = [_figure(name, row["metrics"].get(name)) for name in names]
        counts = (f"{row['parameters']:,}", f"{row['nonzero']:,}", format_bytes(row["bytes"]), f"{row['flops']:,}")
        cells.append((format_percent(row["amount"], 0), *metrics, *counts, f"{row['milliseconds']:.3g} ms"))
    print_table([head, *cells], right=tuple(range(1, len(head))))
    say(f"on the {found['split']} split; time per batch of {found['rows'][0]['batch']:,} on the CPU")
    for note in found["notes"]:
        say(f"note: {note}")


def _figure(name: str, value: Any) -> str:
    if not isinstance(value, int | float):
        return ""
    return format_score(name, value)
