"""`robustness RUN`: how the network of a run answers when its inputs change."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_trust
from netwright.engine.cli.export import WEIGHTS
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE
from netwright.engine.core.text import format_percent
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.options.metrics import format_score

TITLES = {"noise": "noise", "blur": "blur", "fgsm": "FGSM", "pgd": "PGD"}


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Measure how the network of a run answers when its inputs change: accuracy (or RMSE) against the strength of "
        "noise, blur, and the attacks FGSM and PGD; and thresholds of the largest probability and of the energy below "
        "which samples count as unlike the training data. Results are kept in the run's folder."
    )
    command = commands.add_parser("robustness", description=text)
    command.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a run")
    help = "split of the run's data (default: test, else validation)"
    command.add_argument("--split", choices=SPLITS, default="", help=help)
    command.add_argument("--samples", type=int, default=500, metavar="N", help="at most so many samples (default: 500)")
    command.add_argument("--weights", choices=WEIGHTS, default="", help="weights of the run (default: its result)")
    help = "keep the threshold with the network: predict then names samples unlike the training data"
    command.add_argument("--store", action="store_true", help=help)
    command.add_argument("--fresh", action="store_true", help="measure again, even where the result is known")
    add_trust(command)
    add_allow_host(command)
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, and print the result."""
    from netwright.engine.evaluation.robustness import robustness

    with showing("measuring"):
        found = robustness(
            arguments.run_dir,
            arguments.split,
            arguments.samples,
            weights_kept=arguments.weights,
            trusted=arguments.trust,
            stores=arguments.store,
            fresh=arguments.fresh,
        )
    if arguments.json:
        print_json(arguments, {"path": str(arguments.run_dir.absolute()), **found})
        return EXIT_DONE
    _show(found)
    return EXIT_DONE


def _show(found: Mapping[str, Any]) -> None:
    known = ", known from before" if found["cached"] else ""
    metric = "accuracy" if found["metric"] == "accuracy" else "RMSE"
    say(f"{metric} on {found['samples']:,} samples of the {found['split']} split; {found['weights']} weights{known}")
    for curve in found["curves"]:
        shown = [_strength(curve["unit"], strength) for strength in curve["strengths"]]
        values = [format_score(metric, value) for value in curve["values"]]
        print_table([(TITLES[curve["kind"]], *shown), ("", *values)], right=tuple(range(1, len(shown) + 1)))
    rows = found["unlike_training"]
    if rows:
        say("", "unlike the training data: below the threshold")
        cells = [
            (
                row["score"],
                f"{row['threshold']:.4g}",
                format_percent(row["kept_share"], 1),
                format_percent(row["flagged_noise"], 1),
                f"{row['auroc']:.3f}",
            )
            for row in rows
        ]
        head = ("score", "threshold", "validation above", "noise below", "AUROC")
        print_table([head, *cells], right=(1, 2, 3, 4))
    if found["stored"]:
        say("The threshold of the largest probability is stored: predict names samples below it.")
    for note in found["notes"]:
        say(f"note: {note}")


def _strength(unit: str, strength: float) -> str:
    if unit == "pixels":
        return f"{strength:g} px"
    return format_percent(strength, 1) if strength else "none"
