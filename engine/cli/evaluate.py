"""`evaluate RUN`: how good the network of a run is, on a split of its data or on other data."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.commands import Commands
from engine.cli.common import add_json, add_trust, print_json
from engine.cli.data import options_for
from engine.cli.export import WEIGHTS
from engine.cli.terminal import print_table, showing
from engine.core.errors import EXIT_DONE, UserError
from engine.core.fields import printable
from engine.core.text import format_percent
from engine.project.data import DataOptions
from engine.project.dataset_info import SPLITS
from engine.project.file import load
from engine.project.options.metrics import in_a_line, is_share
from engine.project.project import Project, set_option
from engine.project.sources.guess import guesses
from engine.project.sources.shards import is_remote
from engine.runs.folder import open_run

if TYPE_CHECKING:
    from engine.evaluation.evaluate import EvaluationData

SHOWN_CLASSES = 30
SHOWN_SAMPLES = 5
SHOWN_TEXT = 40


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Measure how good the network of a run is: loss, metrics, scores per class with intervals, confusions, "
        "calibration, errors of numbers, the worst and the most uncertain samples. Results are kept in the run's "
        "folder. --json tells all."
    )
    command = commands.add_parser("evaluate", description=text)
    command.add_argument("run_dir", type=Path, metavar="RUN", help="the folder of a run")
    help = "split of the run's own data (default: test, else validation)"
    command.add_argument("--split", choices=SPLITS, default="", help=help)
    command.add_argument("--data", default="", metavar="SOURCE", help="other data: a file, a folder or a URL of shards")
    command.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="data.OPTION=VALUE",
        help="option of the other data, such as data.response=price; may be given several times",
    )
    command.add_argument("--weights", choices=WEIGHTS, default="", help="weights of the run (default: its result)")
    command.add_argument("--fresh", action="store_true", help="compute again, even where the result is known")
    add_trust(command)
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, and print the result."""
    if arguments.data and arguments.split:
        raise UserError("--split is of the run's own data, --data names other data. Give one of them.", code="usage")
    if arguments.settings and not arguments.data:
        raise UserError("--set is for other data, which --data names.", code="usage")
    other = other_data(arguments.run_dir, arguments.data, arguments.settings) if arguments.data else None
    from engine.evaluation.evaluate import evaluate

    with showing("evaluating"):
        found = evaluate(
            arguments.run_dir,
            arguments.split,
            other,
            weights_kept=arguments.weights,
            trusted=arguments.trust,
            fresh=arguments.fresh,
        )
    if arguments.json:
        print_json(arguments, {"path": str(arguments.run_dir.absolute()), **found})
        return EXIT_DONE
    _show(found)
    return EXIT_DONE


def other_data(run_dir: Path, text: str, settings: Sequence[str]) -> "EvaluationData":
    """Return the options of other data: those of the run's data, with another path, where the same kind of source reads
    it, else guessed ones. Raises `UserError`."""
    from engine.evaluation.evaluate import EvaluationData

    own = load(open_run(run_dir).project).project.data
    named = {setting.partition("=")[0].strip() for setting in settings}
    is_url = is_remote(text)
    known = {"shards"} if is_url else {one.source for one in guesses(Path(text).absolute())}
    if "data.source" in named or own.source not in known:
        return EvaluationData(options_for(text, settings)[0], Path.cwd())
    if own.target_kind and f"data.{own.target_kind}" not in named:
        raise UserError(
            f"The run's targets are in data.{own.target_kind}. Name those of the other data, too: "
            f"--set data.{own.target_kind}=PATH."
        )
    cleared = ("split_column", "group_pattern", "validation_path", "test_path", "excluded_files", "left_out_samples")
    empty = {name: DataOptions.fields[name].default for name in cleared if name in DataOptions.fields}
    options = own.replace(**{**empty, "split": "random", "path": text if is_url else str(Path(text).absolute())})
    project = Project(data=options)
    for setting in settings:
        project = set_option(project, setting)
    return EvaluationData(project.data, Path.cwd())


def _show(found: Mapping[str, Any]) -> None:
    what = f"{found['split']} split of {printable(found['data'])}" if found["split"] else printable(found["data"])
    known = ", known from before" if found["cached"] else ""
    print(f"data: {what}, {found['samples']:,} samples; {found['weights']} weights{known}")
    print(f"loss: {found['loss']:.4g}")
    for name, value in found["metrics"].items():
        print(f"{in_a_line(name)}: {format_percent(value, 1) if is_share(name) else f'{value:.4g}'}")
    for target in found["targets"]:
        if len(found["targets"]) > 1:
            print(f"\n{printable(target['name'])}")
        _show_target(target)
    for note in found["notes"]:
        print(f"note: {printable(note)}")


def _show_target(target: Mapping[str, Any]) -> None:
    for name in ("accuracy", "rmse", "mae"):
        if target.get(f"{name}_interval"):
            low, high = target[f"{name}_interval"]
            ends = [format_percent(end, 1) if name == "accuracy" else f"{end:.4g}" for end in (low, high)]
            print(f"95 % interval of the {in_a_line(name)}: {ends[0]} to {ends[1]}")
    if "calibration" in target:
        print(f"expected calibration error: {target['calibration']['expected_error']:.4f}")
    _show_classes(target)
    for pair in target.get("most_confused", ())[:SHOWN_SAMPLES]:
        print(f"{printable(pair['label'])} taken for {printable(pair['prediction'])}: {pair['count']:,}")
    for one in target.get("residuals", ())[:SHOWN_SAMPLES]:
        r2 = f", R² {one['r2']:.4g}" if one["r2"] is not None else ""
        print(
            f"{printable(one['name'])}: mean error {one['mean']:.4g}, RMSE {one['rmse']:.4g}, "
            f"largest {one['largest']:.4g}{r2}"
        )
    for title, key in (("worst", "worst"), ("most uncertain", "most_uncertain")):
        if target.get(key):
            _show_samples(title, target[key][:SHOWN_SAMPLES])


def _show_classes(target: Mapping[str, Any]) -> None:
    rows = target.get("per_class", ())
    if not rows:
        return
    scores = ["precision", "recall", "f1", *(["iou"] if target["per"] != "sample" else [])]
    cells = []
    for row in rows[:SHOWN_CLASSES]:
        texts = [f"{row[score]:.3f}" for score in scores]
        ends = row.get("f1_interval")
        said = f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else ""
        cells.append((printable(row["class"]), *texts, said, f"{row['support']:,}"))
    heads = [{"f1": "F1", "iou": "IoU"}.get(score, score) for score in scores]
    right = tuple(range(1, len(heads) + 3))
    print_table(
        [("label" if target["task"] == "labels" else "class", *heads, "F1 95 %", "support"), *cells], right=right
    )
    if len(rows) > SHOWN_CLASSES:
        print(f"and {len(rows) - SHOWN_CLASSES:,} more; --json has all")


def _show_samples(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    keys = [key for key in ("label", "prediction", "accuracy", "loss", "error", "confidence") if key in rows[0]]
    cells = [(_cut(row.get("sample", row["index"])), *(_cut(row[key]) for key in keys)) for row in rows]
    print_table([(f"{title} sample", *keys), *cells])


def _cut(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        value = ", ".join(_cut(one) for one in value)
    text = printable(str(value))
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}..."
