"""`import FILE -o PROJECT`: a network that another program made becomes a project with its weights."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.commands import Commands
from engine.cli.common import add_json, add_trust, print_json
from engine.cli.terminal import print_table
from engine.core.errors import EXIT_DONE, UserError, plural
from engine.project.import_kinds import KINDS

if TYPE_CHECKING:
    from engine.exchange.importing.report import ImportReport


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
    add_trust(command)
    command.add_argument("--force", action="store_true", help="replace the project and its weights if they exist")
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Import, and say what became of each operator and how close the network is to the original."""
    sizes = dict(map(_size, arguments.sizes))
    path, _, name = arguments.file.rpartition(":")
    if path.endswith(".py") and name.isidentifier():
        report = _import_module(Path(path), name, arguments, sizes)
    elif arguments.inputs or arguments.args:
        raise UserError(
            "--input and --args are for FILE.py:CLASS; other files say their sizes themselves.", code="usage"
        )
    else:
        from engine.exchange.importing.importer import import_file
        from engine.user_code import trust

        source = Path(arguments.file)
        if arguments.trust and source.suffix.lower() == ".py":
            trust.grant(source.resolve().parent)
        report = import_file(source, arguments.output, sizes=sizes, replaces=arguments.force)
    written = report.write()
    if arguments.json:
        files = {
            name: str(Path(written[name]).absolute()) for name in ("project", "weights", "constants") if written[name]
        }
        print_json(arguments, {**written, **files})
        return EXIT_DONE
    _print(written)
    return EXIT_DONE


def _import_module(path: Path, name: str, arguments: argparse.Namespace, sizes: dict[str, int]) -> "ImportReport":
    from engine.exchange.importing.module_file import import_module, read_example
    from engine.user_code import trust

    if arguments.trust:
        trust.grant(path.resolve().parent)
    examples = [read_example(text) for text in arguments.inputs]
    return import_module(path, name, arguments.output, examples, arguments.args, sizes=sizes, replaces=arguments.force)


def _size(text: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not name or not equals or not number.isdecimal() or not 0 < int(number) <= 1_000_000_000:
        raise UserError(f"--size {text}: expected NAME=SIZE, such as height=512.")
    return name, int(number)


def _print(report: dict[str, Any]) -> None:
    print(f"wrote {report['project']}: {plural(report['layers'], 'layer')}, {report['parameters']:,} parameters")
    if report["weights"]:
        print(f"wrote {report['weights']}")
    if report["constants"]:
        print(f"wrote {report['constants']}")
    for given in report["inputs"]:
        print(f"input {given['name']}: {given['sizes']}, not normalised")
    rows = [["operator", "count", "became"]]
    rows += [[row["operator"], f"{row['count']:,}", _became(row)] for row in report["operators"]]
    print_table(rows, right=(1,))
    if report["outputs"]:
        rows = [["output", "largest difference", "spread", "agrees"]]
        for row in report["outputs"]:
            numbers = ("infinite" if row[name] is None else f"{row[name]:.2g}" for name in ("difference", "spread"))
            rows.append([row["name"], *numbers, "yes" if row["agrees"] else "NO"])
        print_table(rows, right=(1, 2))
    if report["agrees"]:
        print(f"the original agrees over {report['samples']:,} random samples")
    for warning in report["warnings"]:
        print(f"warning: {warning}")
    for note in report["notes"]:
        print(f"note: {note}")


def _became(row: dict[str, Any]) -> str:
    layers = [f"{count:,} {label}" for label, count in row["layers"].items()]
    kept = "kept as it is" if row["opaque"] == 1 else "kept as they are"
    words = {"folded": "computed at import", "removed": "not needed", "opaque": kept}
    others = [f"{row[key]:,} {text}" for key, text in words.items() if row[key]]
    joined = row["lifted"] if row["lifted"] and not layers else 0
    return ", ".join([*layers, *([f"{joined:,} part of other layers"] if joined else []), *others])
