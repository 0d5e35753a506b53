"""`evaluate RUN`: how good the network of a run is, on a split of its data or on other data."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_device, add_trust, data_place
from netwright.engine.cli.data import options_for
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE, UserError, plural
from netwright.engine.core.text import format_figure, format_number
from netwright.engine.operations.operation import WEIGHTS
from netwright.engine.operations.report import checked_destination
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import say_typed
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.file import load
from netwright.engine.project.options.metrics import format_score, in_a_line
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.sources.guess import guesses, names_shards
from netwright.engine.project.sources.urls import is_remote
from netwright.engine.runs.folder import open_run

if TYPE_CHECKING:
    from netwright.engine.evaluation.evaluate import EvaluationData

SHOWN_CLASSES = 30
SHOWN_SAMPLES = 5
SHOWN_TEXT = 40
SHOWN_KEYS = ("label", "prediction", "accuracy", "loss", "error", "confidence")


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
    command.add_argument(
        "--data",
        type=data_place,
        default="",
        metavar="SOURCE",
        help="other data: a file, a folder or a URL of shards",
    )
    command.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="data.OPTION=VALUE",
        help="option of the other data, such as data.response=price; may be given several times",
    )
    command.add_argument("--weights", choices=WEIGHTS, default="", help="weights of the run (default: its result)")
    command.add_argument("--html", type=Path, metavar="FILE", help="write a report of the run with the results, too")
    command.add_argument("--fresh", action="store_true", help="compute again, even where the result is known")
    help = "probability from which samples count as a class or label, such as cat=0.31; tells its scores there"
    command.add_argument("--threshold", action="append", default=[], metavar="CLASS=PROBABILITY", help=help)
    help = "fit a temperature on the validation split, and tell the calibration before and after"
    command.add_argument("--calibrate", action="store_true", help=help)
    help = "store thresholds and temperature with the network: predict and exported files apply them"
    command.add_argument("--store", action="store_true", help=help)
    command.add_argument("--reset", action="store_true", help="remove stored thresholds and temperature first")
    help = "metrics of groups of samples: a column of a table, or class, folder, 'file type', group"
    command.add_argument("--by", default="", metavar="COLUMN", help=help)
    help = "compare with another run on the same samples, and tell whether the difference is more than chance"
    command.add_argument("--against", type=Path, metavar="RUN", help=help)
    add_device(command)
    add_trust(command)
    add_allow_host(command)
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, and print the result."""
    if arguments.data and arguments.split:
        raise UserError("--split is of the run's own data, --data names other data. Give one of them.", code="usage")
    if arguments.settings and not arguments.data:
        raise UserError("--set is for other data, which --data names.", code="usage")
    to = checked_destination(arguments.html) if arguments.html is not None else None
    other = other_data(arguments.run_dir, arguments.data, arguments.settings) if arguments.data else None
    if arguments.store and not (arguments.threshold or arguments.calibrate):
        raise UserError("--store needs what to store: --threshold CLASS=PROBABILITY, or --calibrate.", code="usage")
    if arguments.against is not None:
        return _compare(arguments, other)
    from netwright.engine.evaluation.evaluate import Deciding, evaluate

    with showing("evaluating"):
        found = evaluate(
            arguments.run_dir,
            arguments.split,
            other,
            weights_kept=arguments.weights,
            trusted=arguments.trust,
            fresh=arguments.fresh,
            device=arguments.device,
            deciding=Deciding(arguments.threshold, arguments.calibrate, arguments.store, arguments.reset),
            by=arguments.by,
        )
        if to is not None:
            from netwright.engine.evaluation.report import with_pictures, write_report

            evaluated = with_pictures(arguments.run_dir, found, other, arguments.weights)
            write_report(arguments.run_dir, to, evaluated)
    if arguments.json:
        print_json(arguments, {"path": str(arguments.run_dir.absolute()), **found})
        return EXIT_DONE
    _show(found)
    if to is not None:
        say(f"wrote {to}")
    return EXIT_DONE


def _compare(arguments: argparse.Namespace, other: "EvaluationData | None") -> int:
    """Compare two runs, and print the differences."""
    if arguments.threshold or arguments.calibrate or arguments.reset or arguments.by:
        raise UserError("--against compares two runs as they were trained: leave out other requests.", code="usage")
    from netwright.engine.evaluation.compare import compare

    with showing("evaluating"):
        found = compare(
            arguments.run_dir,
            arguments.against,
            arguments.split,
            other,
            weights_kept=arguments.weights,
            trusted=arguments.trust,
            fresh=arguments.fresh,
            device=arguments.device,
        )
    if arguments.json:
        print_json(arguments, {"path": str(arguments.run_dir.absolute()), **found})
    else:
        _show_comparison(found)
    return EXIT_DONE


def _show_comparison(found: Mapping[str, Any]) -> None:
    what = f"{found['split']} split of {found['data']}" if found["split"] else found["data"]
    say(f"data: {what}, {plural(found['samples'], 'sample')}")
    for target in found["targets"]:
        if len(found["targets"]) > 1:
            say("", target["name"])
        cells = [
            (
                in_a_line(one["name"]),
                *(format_figure(one[side]) for side in ("first", "second", "difference")),
                f"{format_figure(one['interval'][0])} to {format_figure(one['interval'][1])}",
                f"{one['p']:.3g}",
            )
            for one in target["metrics"]
        ]
        print_table([("metric", "first", "second", "difference", "95 %", "p"), *cells], right=(1, 2, 3, 4, 5))
        if "mcnemar" in target:
            counts = target["mcnemar"]
            say(
                f"right: both {counts['both']:,}, only the first {counts['only_first']:,}, only the second "
                f"{counts['only_second']:,}, neither {counts['neither']:,}; McNemar p {counts['p']:.3g}"
            )
        if target.get("disagreements"):
            _show_samples("differing", target["disagreements"][:SHOWN_SAMPLES], ("label", "first", "second"))
        say(target["conclusion"])
    for note in found["notes"]:
        say(f"note: {note}")


def _show_groups(found: Mapping[str, Any]) -> None:
    for target in found["targets"]:
        say("", f"{target['name']} by {found['by']}")
        names = list(target["whole"])
        cells = [("all", *(format_figure(target["whole"][name]) for name in names), "", "")]
        for row in target["groups"]:
            low, high = row["intervals"][names[0]]
            values = (format_figure(row["metrics"][name]) for name in names)
            ends = f"{format_figure(low)} to {format_figure(high)}"
            cells.append((_cut(row["group"]), *values, ends, f"{row['samples']:,}"))
        heads = [in_a_line(name) for name in names]
        right = tuple(range(1, len(heads) + 3))
        print_table([("group", *heads, f"{heads[0]} 95 %", "samples"), *cells], right=right)
    if found["note"]:
        say(f"note: {found['note']}")


def other_data(run_dir: Path, text: str, settings: Sequence[str]) -> "EvaluationData":
    """Return the options of other data: those of the run's data, with another path, where the same kind of source reads
    it, else guessed ones. Raises `UserError`."""
    from netwright.engine.evaluation.evaluate import EvaluationData

    say_typed(text)
    own = load(open_run(run_dir).project).project.data
    named = {setting.partition("=")[0].strip() for setting in settings}
    is_url = is_remote(text)
    if is_url:
        known = {"shards", "table"} if names_shards(text) else {options_for(text)[0].source}
    else:
        known = {one.source for one in guesses(Path(text).absolute())}
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
        say_typed(setting.partition("=")[2].strip())
        project = set_option(project, setting)
    return EvaluationData(project.data, Path.cwd())


def _show(found: Mapping[str, Any]) -> None:
    what = f"{found['split']} split of {found['data']}" if found["split"] else found["data"]
    known = ", known from before" if found["cached"] else ""
    say(f"data: {what}, {found['samples']:,} samples; {found['weights']} weights{known}")
    say(f"loss: {format_figure(found['loss'])}")
    for name, value in found["metrics"].items():
        say(f"{in_a_line(name)}: {format_score(name, value)}")
    for target in found["targets"]:
        if len(found["targets"]) > 1:
            say("", target["name"])
        _show_target(target)
    _show_decisions(found)
    if "groups" in found:
        _show_groups(found["groups"])
    for note in found["notes"]:
        say(f"note: {note}")


def _show_decisions(found: Mapping[str, Any]) -> None:
    """Print scores at thresholds, the calibration with a temperature, and what is stored."""
    for one in found.get("operating_points", ()):
        say(
            f"{one['class']} from {one['threshold']:.4g} on: precision {one['precision']:.3f}, "
            f"recall {one['recall']:.3f}, F1 {one['f1']:.3f}, accuracy {one['accuracy']:.3f}"
        )
    for one in found.get("calibrated", ()):
        errors = [one[side]["expected_error"] for side in ("before", "after")]
        say(f"temperature {one['temperature']:.4g}: expected calibration error {errors[0]:.4f}, then {errors[1]:.4f}")
    for target in found["targets"]:
        stored = target.get("stored", {})
        texts = [f"{name} from {value:.4g} on" for name, value in stored.get("thresholds", {}).items()]
        if stored.get("temperature", 1.0) != 1.0:
            texts.append(f"temperature {stored['temperature']:.4g}")
        if texts:
            say(f"stored with the network, applied by predict: {', '.join(texts)}")


def _show_target(target: Mapping[str, Any]) -> None:
    for name in ("accuracy", "rmse", "mae"):
        if target.get(f"{name}_interval"):
            low, high = target[f"{name}_interval"]
            ends = [format_score(name, end) for end in (low, high)]
            say(f"95 % interval of the {in_a_line(name)}: {ends[0]} to {ends[1]}")
    if "calibration" in target:
        say(f"expected calibration error: {target['calibration']['expected_error']:.4f}")
    _show_classes(target)
    for pair in target.get("most_confused", ())[:SHOWN_SAMPLES]:
        say(f"{pair['label']} taken for {pair['prediction']}: {pair['count']:,}")
    for one in target.get("residuals", ())[:SHOWN_SAMPLES]:
        r2 = f", R² {format_figure(one['r2'])}" if one["r2"] is not None else ""
        mean, rmse, largest = (format_figure(one[key]) for key in ("mean", "rmse", "largest"))
        say(f"{one['name']}: mean error {mean}, RMSE {rmse}, largest {largest}{r2}")
    for title, key in (("worst", "worst"), ("most uncertain", "most_uncertain")):
        if target.get(key):
            _show_samples(title, target[key][:SHOWN_SAMPLES])


def _show_classes(target: Mapping[str, Any]) -> None:
    rows = target.get("per_class", ())
    if not rows:
        return
    areas = {one["class"]: one["auc"] for one in target.get("curves", ())}
    scores = ["precision", "recall", "f1", *(["iou"] if target["per"] != "sample" else [])]
    cells = []
    for row in rows[:SHOWN_CLASSES]:
        texts = [f"{row[score]:.3f}" for score in scores]
        ends = row.get("f1_interval")
        said = f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else ""
        area = f"{areas[row['class']]:.3f}" if row["class"] in areas else ""
        cells.append((row["class"], *texts, said, area, f"{row['support']:,}"))
    heads = [{"f1": "F1", "iou": "IoU"}.get(score, score) for score in scores]
    right = tuple(range(1, len(heads) + 4))
    first = "label" if target["task"] == "labels" else "class"
    print_table([(first, *heads, "F1 95 %", "ROC area", "support"), *cells], right=right)
    if len(rows) > SHOWN_CLASSES:
        say(f"and {len(rows) - SHOWN_CLASSES:,} more; --json has all")


def _show_samples(title: str, rows: Sequence[Mapping[str, Any]], shown: Sequence[str] = SHOWN_KEYS) -> None:
    keys = [key for key in shown if key in rows[0]]
    cells = [(_cut(row.get("sample", row["index"])), *(_cut(row[key]) for key in keys)) for row in rows]
    print_table([(f"{title} sample", *keys), *cells])


def _cut(value: object) -> str:
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, list):
        value = ", ".join(_cut(one) for one in value)
    text = str(value)
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}..."
