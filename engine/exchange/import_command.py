"""`import FILE -o PROJECT`: a network that another program made becomes a project with its weights."""

import argparse
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_trust
from netwright.engine.cli.outputs.import_outputs import Imported
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import EXIT_DONE, UserError, plural
from netwright.engine.project.import_kinds import KINDS

OUTPUTS = {"import": (Imported,)}
"""The output of the command with `--json`."""


def register(commands: Commands) -> None:
    """Add the command."""
    kinds = ", ".join(kind.label for kind in KINDS)
    text = (
        f"Make a project of a network that another program wrote ({kinds}), with its weights in a file beside it. The "
        "outputs of both are compared on random inputs."
    )
    command = commands.add_parser("import", description=text)
    command.add_argument(
        "file", metavar="FILE", help="the file to import; FILE.py:CLASS for an nn.Module, which is built and exported"
    )
    command.add_argument("-o", "--output", type=Path, required=True, metavar="PROJECT", help="the project to write")
    command.add_argument(
        "--size",
        dest="sizes",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="a size that the file leaves free, such as height=512; may be given several times",
    )
    command.add_argument(
        "--input",
        dest="inputs",
        action="append",
        default=[],
        metavar="SIZES",
        help="sizes of one sample of an input of FILE.py:CLASS, such as 3x224x224, or 128:int64 for indices; once per "
        "input",
    )
    command.add_argument(
        "--args", default="", metavar="VALUES", help="what FILE.py:CLASS is built with, such as 'num_classes=10'"
    )
    help = "seconds of computing after which it is given up (default: 25, and more for a large file)"
    command.add_argument("--time-limit", type=_seconds, default=0, metavar="SECONDS", help=help)
    command.add_argument(
        "--no-shared-copies",
        action="store_true",
        help="refuse a file in which layers share their weights, instead of giving each a copy",
    )
    add_trust(command)
    command.add_argument("--force", action="store_true", help="replace the project and its weights if they exist")
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Import, and say what became of each operator and how close the network is to the original.

    A process of its own reads the file, within the limits of those that read for the window.
    """
    from netwright.engine.cli.readers import ask
    from netwright.engine.user_code import trust

    sizes = dict(map(_size, arguments.sizes))
    path, _, name = arguments.file.rpartition(":")
    is_module = path.endswith(".py") and name.isidentifier()
    source = Path(path if is_module else arguments.file)
    if (arguments.inputs or arguments.args) and not is_module:
        raise UserError(
            "--input and --args are for FILE.py:CLASS; other files say their sizes themselves.", code="usage"
        )
    if arguments.trust and source.suffix.lower() == ".py":
        trust.grant(source.resolve().parent)
    values = {"path": str(source), "to": str(arguments.output), "sizes": sizes, "replaces": arguments.force}
    values["copies_shared"] = not arguments.no_shared_copies
    if is_module:
        values |= {"class": name, "inputs": arguments.inputs, "arguments": arguments.args}
    with showing("importing"):
        written = ask("import", {**values, "time_limit": arguments.time_limit})
    if arguments.json:
        files = {
            name: str(Path(written[name]).absolute()) for name in ("project", "weights", "constants") if written[name]
        }
        print_json(arguments, {**written, **files})
        return EXIT_DONE
    _print(written)
    return EXIT_DONE


def _seconds(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a number of seconds from 1 on, received '{text}'")
    return int(text)


def _size(text: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not name or not equals or not number.isdecimal() or not 0 < int(number) <= 1_000_000_000:
        raise UserError(f"--size {text}: expected NAME=SIZE, such as height=512.")
    return name, int(number)


def _print(report: dict[str, Any]) -> None:
    say(f"wrote {report['project']}: {plural(report['layers'], 'layer')}, {report['parameters']:,} parameters")
    if report["weights"]:
        say(f"wrote {report['weights']}")
    if report["constants"]:
        say(f"wrote {report['constants']}")
    for given in report["inputs"]:
        how = "not normalised" if given["normalization"] == "none" else "normalised by the network"
        say(f"input {given['name']}: {given['sizes']}, {how}")
    rows = [["operator", "count", "became"]]
    rows += [[row["operator"], f"{row['count']:,}", _became(row)] for row in report["operators"]]
    print_table(rows, right=(1,))
    if report["outputs"]:
        rows = [["output", "layer", "largest difference", "spread", "agrees"]]
        for row in report["outputs"]:
            numbers = ("infinite" if row[name] is None else f"{row[name]:.2g}" for name in ("difference", "spread"))
            rows.append([row["name"], row["layer"], *numbers, "yes" if row["agrees"] else "NO"])
        print_table(rows, right=(2, 3))
    if report["agrees"]:
        say(f"the original agrees over {report['samples']:,} random samples")
    for warning in report["warnings"]:
        say(f"warning: {warning}")
    for note in report["notes"]:
        say(f"note: {note}")


def _became(row: dict[str, Any]) -> str:
    layers = [f"{count:,} {label}" for label, count in row["layers"].items()]
    kept = "kept as it is" if row["opaque"] == 1 else "kept as they are"
    words = {"folded": "computed at import", "removed": "not needed", "opaque": kept}
    others = [f"{row[key]:,} {text}" for key, text in words.items() if row[key]]
    joined = row["lifted"] if row["lifted"] and not layers else 0
    return ", ".join([*layers, *([f"{joined:,} part of other layers"] if joined else []), *others])
