"""`curves RUN ...`: the curves of runs as a table, or for TensorBoard or MLflow."""

import argparse
from pathlib import Path

from engine.commands.common import Commands, print_json
from engine.errors import EXIT_DONE
from engine.runs.folder import open_run

FORMATS = ("csv", "tensorboard", "mlflow")


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Write every curve of runs: as one CSV table (run, curve, split, step, value), into a folder that "
        "`tensorboard --logdir` shows, or, with options, state, note and tags, into a folder that `mlflow ui "
        "--backend-store-uri` shows; neither program is needed for that. Late MLflow 3 wants "
        "MLFLOW_ALLOW_FILE_STORE=true for such a folder, or takes it over by `mlflow migrate-filestore`."
    )
    command = commands.add_parser("curves", help="write curves as CSV, or for TensorBoard or MLflow", description=text)
    command.add_argument("folders", type=Path, nargs="+", metavar="RUN", help="the folder of a run")
    command.add_argument("--format", choices=FORMATS, default="csv", help="what to write (csv)")
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE|DIR", help="where to write it")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write them, and say which files came of it."""
    from engine.exchange.curves import write_curves

    written = write_curves([open_run(path) for path in arguments.folders], arguments.format, arguments.output)
    if arguments.json:
        print_json({"files": [str(path) for path in written]})
    else:
        for path in written:
            print(f"wrote {path}")
    return EXIT_DONE
