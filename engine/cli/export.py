"""`export PROJECT|RUN`: a network leaves as ONNX, checked against ONNX Runtime, or for PyTorch."""

import argparse
import sys
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, print_json, table
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_trust
from netwright.engine.cli.printing import say
from netwright.engine.core.errors import EXIT_DONE, FieldErrors, UserError
from netwright.engine.core.fields import Bool, Choice, Field, first_clause
from netwright.engine.project.export_options import OnnxOptions, flag
from netwright.engine.project.export_report import layer_rows, measured_rows, measured_where

FORMATS = {".onnx": "onnx", ".py": "pytorch", ".pt2": "pt2"}
"""Formats by the suffix of the file."""
COMPARED_WITH = {"onnx": "ONNX Runtime", "pt2": "torch.export.load in another process"}
WEIGHTS = ("best", "last")
MOST_CLASSES = 12
"""Number of class names that are printed; the file has all."""


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Write a network as ONNX (compared with ONNX Runtime on samples), as one PyTorch file, or as a program of "
        "torch.export (pt2, compared on samples in a process without Netwright). "
        "A run gives the trained network, a project one with initial weights."
    )
    command = commands.add_parser("export", description=text)
    command.add_argument("source", type=Path, metavar="PROJECT|RUN", help="a project file or the folder of a run")
    format = "the format to write; default: by the suffix of FILE, .onnx, .py or .pt2"
    command.add_argument("--format", choices=tuple(FORMATS.values()), help=format)
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write it")
    command.add_argument("--weights", choices=WEIGHTS, default="", help="weights of a run (default: its result)")
    script = "write a training script beside a PyTorch file, which gives the losses of the run"
    command.add_argument("--with-training", action="store_true", help=script)
    base = "folder that the files of a project lie in, if not the project's own"
    command.add_argument("--base", type=Path, metavar="DIR", help=base)
    command.add_argument("--force", action="store_true", help="replace files beside FILE, such as its weights")
    onnx = command.add_argument_group("options of ONNX")
    for name, option in OnnxOptions.fields.items():
        _add_option(onnx, name, option)
    add_trust(command)
    add_allow_host(command)
    add_json(command)
    command.set_defaults(run=run)


def _add_option(group: argparse._ArgumentGroup, name: str, option: Field[Any]) -> None:
    """Add `--name VALUE` for a declared option; `--name` alone is yes where it is yes or no."""
    text = first_clause(option.help).replace("%", "%%") + "."
    shown: dict[str, Any] = {"help": f"{text[0].lower()}{text[1:-1]}"}
    if isinstance(option, Bool):
        group.add_argument(flag(name), nargs="?", const="yes", metavar="yes|no", **shown)
    elif isinstance(option, Choice):
        group.add_argument(flag(name), choices=option.options, **shown)
    else:
        group.add_argument(flag(name), metavar="N", **shown)


def format_of(to: Path) -> str:
    """Return the format that the suffix of a file names. Raises `UserError`."""
    if (format := FORMATS.get(to.suffix.lower())) is not None:
        return format
    received = f"'{to.suffix}'" if to.suffix else "no suffix"
    raise UserError(
        f"export: the name of the file, {to.name}, does not say the format: it has {received}.",
        hint=f"Name it with one of {', '.join(FORMATS)}, or say --format onnx, pytorch or pt2.",
        code="usage",
    )


def onnx_options(arguments: argparse.Namespace) -> OnnxOptions:
    """Return the options of ONNX on the command line. Raises `UserError`."""
    values = {}
    for name, option in OnnxOptions.fields.items():
        text = getattr(arguments, name)
        if text is None:
            continue
        if arguments.format != "onnx" and name != "temperature":
            raise UserError(f"{flag(name)} is an option of ONNX; the format is {arguments.format}.", code="usage")
        values[name] = option.parse(text)
    options = OnnxOptions(**values)
    if problems := options.problems():
        raise FieldErrors(problems)
    return options


def run(arguments: argparse.Namespace) -> int:
    """Export, and say how close the exported network is."""
    arguments.format = arguments.format or format_of(arguments.output)
    from netwright.engine.exchange.export import export

    try:
        done = export(
            arguments.source,
            arguments.format,
            arguments.output,
            trusted=arguments.trust,
            base=arguments.base,
            replaces=arguments.force,
            weights_kept=arguments.weights,
            with_training=arguments.with_training,
            options=onnx_options(arguments),
        )
    except UserError as error:
        if "layers" in error.data:
            say(*table(layer_rows(error.data["layers"]), right=(1, 2)), to=sys.stderr)
        raise
    if arguments.json:
        print_json(arguments, {**done.write(), "path": str(done.path.absolute())})
        return EXIT_DONE
    say(f"wrote {done.path}")
    for given in done.inputs:
        say(f"input {given.name}: {given.short()}")
        for line in given.preparation:
            say(f"  {line}")
    if done.classes:
        shown = ", ".join(done.classes[:MOST_CLASSES])
        more = len(done.classes) - MOST_CLASSES
        say(f"classes, in order: {shown}{f' and {more:,} more' if more > 0 else ''}")
    if done.largest_difference is not None and done.precision != "float32":
        say(
            f"ONNX Runtime in {done.precision} differs by at most {done.largest_difference:.2g} of the largest output "
            f"over {done.samples_compared:,} {done.samples_kind} samples; in float32 the network agrees"
        )
    elif done.largest_difference is not None:
        say(
            f"{COMPARED_WITH[done.format]} agrees: largest difference {done.largest_difference:.2g} "
            f"over {done.samples_compared:,} {done.samples_kind} samples"
        )
    if done.measured:
        measured = [row.write() for row in done.measured]
        rows = measured_rows(measured)
        say(*[*table(rows, right=range(1, len(rows[0]))), f"({measured_where(measured)})"])
    if done.layers:
        say(*table(layer_rows([row.write() for row in done.layers]), right=(1, 2)))
    for note in done.notes:
        say(f"note: {note}")
    return EXIT_DONE
