"""`predict RUN FILES...`: what a trained network says to pictures, sounds, rows of tables, texts and arrays."""

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from engine.cli.commands import Commands
from engine.cli.common import add_trust, failure
from engine.cli.export import WEIGHTS
from engine.cli.terminal import showing
from engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError
from engine.core.fields import printable
from engine.core.version import SCHEMA_VERSION
from engine.runs.events import to_json

MOST = 5


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Say what a trained network answers for files: the likeliest classes with probabilities, numbers in their "
        "units. Folders are read file by file. Samples are prepared as those of the training."
    )
    command = commands.add_parser("predict", description=text)
    command.add_argument("network", type=Path, metavar="RUN|ONNX", help="the folder of a run, or an exported ONNX file")
    help = "pictures, sounds, CSV or Parquet tables, text files (a text per line), arrays, or folders of such files"
    command.add_argument("files", type=Path, nargs="+", metavar="FILES", help=help)
    command.add_argument("--top", type=_count, default=MOST, metavar="N", help=f"number of classes (default: {MOST})")
    command.add_argument("--weights", choices=WEIGHTS, default="", help="weights of the run (default: its result)")
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help="write there instead of printing")
    forms = command.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print one JSON object")
    forms.add_argument("--csv", action="store_true", help="print one line per sample, with a header")
    add_trust(command)
    command.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, received '{text}'")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Predict, and print each answer as it comes. Return 2 where a sample could not be used."""
    from engine.evaluation.predict import predict
    from engine.evaluation.predictors import open_predictor

    predictor = open_predictor(arguments.network, weights_kept=arguments.weights, trusted=arguments.trust)
    answers = predict(predictor, arguments.files, arguments.top)
    first = next(answers)  # what cannot be predicted at all is said before anything is printed
    form = _Json if arguments.json else _Csv if arguments.csv else _Lines
    failed = count = 0
    reason = ""
    with _output(arguments.output) as out, showing("predicting"):
        writer = form(out, arguments)
        try:
            for answer in chain([first], answers):
                count += 1
                if "error" in answer:
                    failed, reason = failed + 1, reason or answer["error"]
                writer.write(answer)
        except UserError as error:
            writer.close(str(error))
            raise
        whole = f"{failed:,} of {count:,} samples could not be used, the first because: {reason}" if failed else ""
        writer.close(whole)
    if whole:
        print(f"netwright-engine: {printable(whole)}", file=sys.stderr)
    return EXIT_INPUT if failed else EXIT_DONE


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

    def __init__(self, out: TextIO, arguments: argparse.Namespace) -> None:
        self._out = out

    def write(self, answer: Mapping[str, Any]) -> None:
        """Print an answer."""
        from engine.evaluation.predict import in_words

        if "error" in answer:
            said = f"not used: {printable(answer['error'])}"
        else:
            outputs = answer["outputs"]
            parts = [in_words(one) for one in outputs]
            if len(outputs) > 1:
                parts = [f"{printable(one['name'])}: {part}" for one, part in zip(outputs, parts, strict=True)]
            said = "; ".join(parts)
        print(f"{printable(answer['sample'])}: {said}", file=self._out)

    def close(self, error: str) -> None:
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

    def close(self, error: str) -> None:
        """End the object, with what went wrong."""
        end = f", {json.dumps(failure('invalid_data', error))[1:-1]}" if error else ""
        self._out.write(f"]{end}}}\n")


class _Csv:
    """One line per sample: name, then per output its answer, and the probability of a class; last the error."""

    def __init__(self, out: TextIO, arguments: argparse.Namespace) -> None:
        self._writer = csv.writer(out, lineterminator="\n")
        self._names: Sequence[str] | None = None
        self._errors: list[tuple[str, str]] = []
        """Of samples before the first answer, which decides on the columns."""

    def write(self, answer: Mapping[str, Any]) -> None:
        """Print an answer."""
        if "error" in answer and self._names is None:
            self._errors.append((answer["sample"], answer["error"]))
            return
        cells = self._cells(answer.get("outputs", ()))
        self._begin(list(cells))
        assert self._names is not None
        values = [cells.get(name, "") for name in self._names]
        self._writer.writerow([answer["sample"], *values, answer.get("error", "")])

    def _begin(self, names: Sequence[str]) -> None:
        if self._names is None:
            self._names = names
            self._writer.writerow(["sample", *names, "error"])
            self._writer.writerows([sample, *[""] * len(names), error] for sample, error in self._errors)

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
                cells[name] = json.dumps(to_json(next(v for key, v in one.items() if key != "name")))
        return cells

    def close(self, error: str) -> None:
        """End the output."""
        self._begin(())
