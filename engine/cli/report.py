"""`report RUN`: one HTML file about a run, for an appendix or a colleague."""

import argparse
from pathlib import Path

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_trust
from netwright.engine.cli.export import WEIGHTS
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import showing
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.files import refuse_destination
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.runs.folder import open_run

SUFFIXES = (".html", ".htm")


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Write one HTML file about a run: network, options, environment, data, curves, metrics, confusions, "
        "calibration, errors, the worst samples, versions and hashes. It needs no other file and no network. The "
        "network is evaluated first, where that is possible and not known from before."
    )
    command = commands.add_parser("report", description=text)
    command.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a run")
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write it (default: RUN.html)")
    help = "split of the run's data to evaluate on (default: test, else validation)"
    command.add_argument("--split", choices=SPLITS, default="", help=help)
    command.add_argument("--weights", choices=WEIGHTS, default="", help="weights of the run (default: its result)")
    command.add_argument("--no-evaluation", action="store_true", help="without results of an evaluation")
    add_trust(command)
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the report, and say what it has."""
    path: Path = arguments.run_dir
    to = checked_destination(arguments.output or Path(f"{open_run(path).path.resolve().name}.html"))
    from netwright.engine.evaluation.evaluate import evaluate
    from netwright.engine.evaluation.report import with_pictures, write_report

    evaluated, missing = None, ""
    if not arguments.no_evaluation:
        try:
            with showing("evaluating"):
                found = evaluate(path, arguments.split, weights_kept=arguments.weights, trusted=arguments.trust)
                evaluated = with_pictures(path, found, None, arguments.weights)
        except UserError as error:
            if arguments.split or arguments.weights:  # what was asked for cannot be had
                raise
            missing = str(error)
    written = write_report(path, to, evaluated, missing)
    if arguments.json:
        print_json(arguments, written)
        return EXIT_DONE
    say(f"wrote {to}: {written['bytes']:,} bytes")
    if missing:
        say(f"note: without an evaluation: {missing}")
    return EXIT_DONE


def checked_destination(to: Path) -> Path:
    """Return the path of a report. Raises `UserError` where it cannot be written there, or has another ending."""
    if to.suffix.lower() not in SUFFIXES:
        received = f"'{to.suffix}'" if to.suffix else "no ending"
        raise UserError(f"{to}: a report ends in {' or '.join(SUFFIXES)}, received {received}.")
    refuse_destination(to)
    return to
