"""`predict RUN FILES...`: what a trained network says to pictures, sounds, rows of tables, texts and arrays."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from netwright.engine.cli.answers import failure
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_device, add_trust
from netwright.engine.cli.printing import TableOutput, say
from netwright.engine.cli.terminal import showing
from netwright.engine.core.csv_text import CsvWriter, Output
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.version import SCHEMA_VERSION
from netwright.engine.operations.operation import WEIGHTS
from netwright.engine.project.preparation import PIXELS

if TYPE_CHECKING:
    from netwright.engine.project.preparation import Preparation, TargetPreparation

MOST = 5
STANDARD_INPUT = Path("-")


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Say what a trained network answers for files: the likeliest classes with probabilities, numbers in their "
        "units. Folders are read file by file. Samples are prepared as those of the training."
    )
    command = commands.add_parser("predict", description=text)
    command.add_argument("network", type=Path, metavar="RUN|ONNX", help="the folder of a run, or an ONNX file")
    help = "pictures, sounds, CSV or Parquet tables, text files (a text per line), arrays, or folders of such files"
    help += "; - reads their names from standard input, a line each"
    command.add_argument("files", type=Path, nargs="+", metavar="FILES", help=help)
    command.add_argument("--top", type=_count, default=MOST, metavar="N", help=f"number of classes (default: {MOST})")
    command.add_argument("--weights", choices=WEIGHTS, default="", help="weights of the run (default: its result)")
    help = "samples per batch (default: as many as suit their size, up to 1,024)"
    command.add_argument("--batch", type=_count, default=0, metavar="N", help=help)
    help = "pixels that an ONNX file from elsewhere takes (default: 0 to 1): " + ", ".join(PIXELS)
    command.add_argument("--pixels", choices=PIXELS, default="", metavar="RANGE", help=help)
    help = "names of the classes of an ONNX file from elsewhere, a line each"
    command.add_argument("--classes", type=Path, metavar="FILE", help=help)
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help="write there instead of printing")
    forms = command.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print one JSON object")
    forms.add_argument("--csv", action="store_true", help="print one line per sample, with a header")
    add_device(command)
    add_trust(command)
    command.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, received '{text}'")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Predict, and print each answer as it comes. Return 2 where a sample could not be used."""
    from netwright.engine.evaluation.assumed import Assumptions
    from netwright.engine.evaluation.predict import predict
    from netwright.engine.evaluation.predictors import open_predictor

    given = Assumptions(arguments.pixels, _class_names(arguments.classes))
    predictor = open_predictor(
        arguments.network,
        weights_kept=arguments.weights,
        trusted=arguments.trust,
        assumptions=given,
        device=arguments.device,
    )
    answers = predict(predictor, _sources(arguments.files), arguments.top, size=arguments.batch)
    first = next(answers)  # what cannot be predicted at all is said before anything is printed
    if predictor.assumed:
        say(f"netwright-engine: assumed: {' '.join(predictor.assumed)}", to=sys.stderr)
    failed = count = warned = 0
    reason = warning = ""
    with _output(arguments.output) as out, showing("predicting"):
        writer: _Json | CsvAnswers | _Lines
        if arguments.json:
            writer = _Json(out, arguments)
        else:
            table = out if arguments.output is not None else TableOutput(out)
            writer = CsvAnswers(table, predictor.record) if arguments.csv else _Lines(out)
        try:
            for answer in chain([first], answers):
                count += 1
                if "error" in answer:
                    failed, reason = failed + 1, reason or answer["error"]
                if "warnings" in answer:
                    warned, warning = warned + 1, warning or f"{answer['sample']}: {answer['warnings'][0]}"
                writer.write(answer)
        except UserError as error:
            writer.close(str(error))
            raise
        whole = f"{failed:,} of {count:,} samples could not be used, the first because: {reason}" if failed else ""
        doubt = f"{warned:,} of {count:,} samples hold what the network does not know. {warning}" if warned else ""
        writer.close(whole, doubt)
    for words in filter(None, (doubt, whole)):
        say(f"netwright-engine: {words}", to=sys.stderr)
    return EXIT_INPUT if failed else EXIT_DONE


def _sources(files: Sequence[Path]) -> list[Path]:
    """Return the files, those whose names stand on standard input in the place of `-`."""
    if STANDARD_INPUT not in files:
        return list(files)
    names = [Path(line) for text in sys.stdin if (line := text.rstrip("\r\n"))]
    return [path for file in files for path in (names if file == STANDARD_INPUT else [file])]


def _class_names(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    from netwright.engine.data.sources.text_reader import read_text

    return tuple(line.strip() for line in read_text(path, "utf-8").splitlines() if line.strip())


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}.") from None


class _Lines:
    """One line per sample for people."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, answer: Mapping[str, Any]) -> None:
        """Print an answer."""
        from netwright.engine.evaluation.predict import in_words

        if "error" in answer:
            said = f"not used: {answer['error']}"
        else:
            outputs = answer["outputs"]
            parts = [in_words(one) for one in outputs]
            if len(outputs) > 1:
                parts = [f"{one['name']}: {part}" for one, part in zip(outputs, parts, strict=True)]
            said = "; ".join(parts)
            said += "".join(f" (warning: {words})" for words in answer.get("warnings", ()))
        series = f" ({answer['group']})" if "group" in answer else ""
        say(f"{answer['sample']}{series}: {said}", to=self._out)

    def close(self, error: str, warning: str = "") -> None:
        """End the output."""


class _Json:
    """One object, written as the answers come, so that memory stays flat."""

    def __init__(self, out: TextIO, arguments: argparse.Namespace) -> None:
        self._out, self._has_any = out, False
        arguments.has_printed_json = arguments.output is None
        head = {"schema_version": SCHEMA_VERSION, "command": "predict", "path": str(arguments.network.absolute())}
        out.write(json.dumps(head)[:-1] + ', "predictions": [')

    def write(self, answer: Mapping[str, Any]) -> None:
        """Print an answer."""
        self._out.write((", " if self._has_any else "") + json.dumps(to_json(answer), allow_nan=False))
        self._has_any = True

    def close(self, error: str, warning: str = "") -> None:
        """End the object, with what went wrong."""
        end = f", {json.dumps({'warnings': [warning]})[1:-1]}" if warning else ""
        end += f", {json.dumps(failure('invalid_data', error))[1:-1]}" if error else ""
        self._out.write(f"]{end}}}\n")


class CsvAnswers:
    """One line per sample: name, that of its series where files may have several, then per output its answer, and the
    probability of a class; for rows of columns a warning; last the error."""

    def __init__(self, out: Output, record: "Preparation") -> None:
        self._writer = CsvWriter(out)
        self._names = [name for target in record.targets for name in _columns_of(target)]
        self._is_grouped = bool(record.group_column)
        self._warns = ["warning"] if any(given.columns for given in record.inputs) else []
        series = ["series"] if self._is_grouped else []
        self._writer.row(["sample", *series, *self._names, *self._warns, "error"])

    def write(self, answer: Mapping[str, Any]) -> None:
        """Print an answer."""
        cells = self._cells(answer.get("outputs", ()))
        series = [answer.get("group")] if self._is_grouped else []
        values = [cells.get(name) for name in self._names]
        warnings = [" ".join(answer.get("warnings", ())) or None for _ in self._warns]
        self._writer.row([answer["sample"], *series, *values, *warnings, answer.get("error")])

    @staticmethod
    def _cells(outputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        cells: dict[str, Any] = {}
        for one in outputs:
            name, value = one["name"], one.get("value")
            if "class" in one:
                cells |= {name: one["class"], f"{name} probability": one["top"][0]["probability"]}
            elif "labels" in one:
                cells[name] = ";".join(one["labels"])
            elif isinstance(value, dict):
                cells |= value
            elif "value" in one:
                cells[name] = json.dumps(to_json(value)) if isinstance(value, list) else value
            else:
                told = next(one[key] for key in ("classes", "shares", "transcript") if key in one)
                cells[name] = json.dumps(to_json(told))
        return cells

    def close(self, error: str, warning: str = "") -> None:
        """End the output."""


def _columns_of(target: "TargetPreparation") -> list[str]:
    """Return the columns of the answers of an output."""
    name = target.source or target.name
    if target.task == "numbers":
        return list(target.columns) if len(target.columns) > 1 else [name]
    is_one_class = target.task == "classes" and target.axes == ("C",)
    return [name, f"{name} probability"] if is_one_class else [name]
