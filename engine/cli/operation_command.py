"""The command of an operation: its parser, what it prints, and its exit code, all from the declaration."""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from netwright.engine.cli.answers import add_json, envelope, failure, note, print_json, table
from netwright.engine.cli.commands import FAMILIES, Commands
from netwright.engine.cli.printing import TableOutput, say
from netwright.engine.cli.terminal import print_shaded, print_table, showing
from netwright.engine.core import dataclass_json, progress
from netwright.engine.core.csv_text import CsvWriter
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.fields import Bool, Choice, Field, first_clause
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.part_registry import imported
from netwright.engine.operations.operation import FORMS, Document, Line, Operation, Parameter, Shaded, Stream, operation
from netwright.engine.project.export_options import flag

ADD_ANSWER = "netwright.engine.runs.queued_answers:add"


def register(commands: Commands, name: str) -> None:
    """Add the command of an operation, or that of a family with its subcommands."""
    if name in FAMILIES:
        description, *members = FAMILIES[name]
        command = commands.add_parser(name, description=description)
        command.set_defaults(run=partial(_help, command))
        subcommands = command.add_subparsers(dest="way", metavar="WHAT")
        for member in members:
            register_below(subcommands, f"{name} {member}")
        return
    declared = _declared(name)
    _fill(commands.add_parser(name, description=declared.description), declared)


def _help(command: argparse.ArgumentParser, _: argparse.Namespace) -> int:
    """Print the list of subcommands."""
    command.print_help()
    return EXIT_DONE


def register_below(subcommands: Any, name: str) -> None:
    """Add the command of an operation whose name has two words to the subcommands of the first."""
    declared = _declared(name)
    text = declared.description
    line = f"{text[:1].lower()}{text[1:].removesuffix('.')}"
    _fill(subcommands.add_parser(name.rpartition(" ")[2], help=line, description=text), declared)


def _declared(name: str) -> Operation[Any, Any]:
    declared = operation(name)
    assert declared is not None, f"netwright.engine.operations has no operation '{name}'"
    return declared


def _shown(declared: Operation[Any, Any]) -> Iterator[Parameter]:
    return (parameter for parameter in declared.parameters() if "command" in parameter.argument.faces)


def _fill(command: argparse.ArgumentParser, declared: Operation[Any, Any]) -> None:
    groups: dict[str, Any] = {"": command}
    for parameter in _shown(declared):
        alternatives = parameter.argument.one_of
        title = alternatives or parameter.argument.group
        if title not in groups:
            is_one_of = bool(alternatives)
            groups[title] = command.add_mutually_exclusive_group() if is_one_of else command.add_argument_group(title)
        if parameter.argument.record is not None:
            for name, option in parameter.argument.record.fields.items():
                add_option(groups[title], name, option)
        else:
            add_argument(groups[title], parameter)
    if declared.reads_data:
        from netwright.engine.cli.common import add_allow_host

        add_allow_host(command)
    if declared.stream is not None:
        add_stream(command)
    else:
        add_json(groups.get(FORMS, command), declared.json_help)
    if declared.may_wait:
        text = "compute in the background and print the number in the queue, for `queue show` and `queue stop`"
        command.add_argument("--detach", action="store_true", help=text)
    command.set_defaults(run=partial(run, declared))


def add_argument(command: argparse._ActionsContainer, parameter: Parameter) -> None:
    """Add the argument of a field: a flag for a boolean, a list for a tuple."""
    argument = parameter.argument
    values: dict[str, Any] = {"help": argument.help}
    if parameter.value_kind is bool:
        command.add_argument(*parameter.flags, dest=parameter.name, action="store_true", **values)
        return
    if argument.choices:
        values["choices"] = argument.choices
    if argument.metavar:
        values["metavar"] = argument.metavar
    kind = argument.read or parameter.value_kind
    if kind is not str:
        values["type"] = kind
    if not parameter.flags:
        several, single = ("+", None) if parameter.is_required else ("*", "?")
        if single and not parameter.is_repeated:
            values["default"] = parameter.default
        command.add_argument(parameter.name, nargs=several if parameter.is_repeated else single, **values)
        return
    if parameter.is_repeated:
        values |= {"action": "append", "default": []}
    elif not parameter.is_required:
        values["default"] = parameter.default
    command.add_argument(*parameter.flags, dest=parameter.name, required=parameter.is_required, **values)


def add_option(group: argparse._ActionsContainer, name: str, option: Field[Any]) -> None:
    """Add `--name VALUE` for a declared option; `--name` alone is yes where it is yes or no."""
    text = first_clause(option.help).replace("%", "%%") + "."
    shown: dict[str, Any] = {"help": f"{text[0].lower()}{text[1:-1]}"}
    if isinstance(option, Bool):
        group.add_argument(flag(name), nargs="?", const="yes", metavar="yes|no", **shown)
    elif isinstance(option, Choice):
        group.add_argument(flag(name), choices=option.options, **shown)
    else:
        group.add_argument(flag(name), metavar="N", **shown)


def run(declared: Operation[Any, Any], arguments: argparse.Namespace) -> int:
    """Run the operation, and print its result as JSON or as lines for people."""
    from netwright.engine.hardware.threads import calm_threads

    calm_threads()
    request = declared.request(**{parameter.name: _value(parameter, arguments) for parameter in _shown(declared)})
    if getattr(arguments, "detach", False):
        request.check()
        if getattr(arguments, "csv", False):
            raise UserError("--csv prints answers as they come.", hint="With --detach name a file: -o FILE.csv.")
        entry = imported(ADD_ANSWER)(declared.name, dataclass_json.to_json(request), request.model)
        print_json(arguments, entry.as_json()) if arguments.json else say(entry.id)
        return EXIT_DONE
    try:
        is_lazy = declared.stream is not None and getattr(request, "output", None) is None
        with _noted(), showing(declared.doing) if declared.doing and not is_lazy else contextlib.nullcontext():
            result = _within_limits(declared, request) if declared.is_foreign else declared.run(request)
        stream = declared.stream if declared.stream is not None and hasattr(result, declared.stream.field) else None
        if stream is not None:
            print_stream(declared, stream, arguments, request, result)
    except UserError as error:
        print_lines(declared.error_text(error), is_error=True)
        raise
    if stream is None:
        say(*declared.notices(result), to=sys.stderr)
        if arguments.json or _is_json(declared, request):
            print_json(arguments, {**declared.write(result), **declared.failure(result)})
        else:
            print_lines(declared.text(request, result))
    say(*declared.remarks(result), to=sys.stderr)
    return declared.exit_code(result)


@contextlib.contextmanager
def _noted() -> Iterator[None]:
    """Print the notices at the end, beside whatever comes."""
    with progress.noticing() as notices:
        try:
            yield
        finally:
            note(notices)


def _within_limits(declared: Operation[Any, Any], request: Any) -> Any:
    """Return the result, which has the shape of its JSON, of a child process with limits of memory and work."""
    from netwright.engine.cli.readers import ask

    request.check()
    return ask(declared.name, dataclass_json.to_json(request))


def _is_json(declared: Operation[Any, Any], request: Any) -> bool:
    return any(p.argument.one_of == FORMS and getattr(request, p.name) == "json" for p in declared.parameters())


def _value(parameter: Parameter, arguments: argparse.Namespace) -> Any:
    """Return the value of a field on the command line."""
    if (record := parameter.argument.record) is not None:
        return {name: text for name in record.fields if (text := getattr(arguments, name)) is not None}
    value = getattr(arguments, parameter.name)
    if parameter.argument.reads_input:
        kind = parameter.value_kind
        named = [kind(line) for text in (sys.stdin if kind("-") in value else ()) if (line := text.rstrip("\r\n"))]
        value = [item for given in value for item in (named if given == kind("-") else [given])]
    return tuple(value) if parameter.is_repeated else value


def print_lines(lines: Iterable[Line], *, is_error: bool = False) -> None:
    """Print lines and tables, for an error on standard error."""
    for line in lines:
        if isinstance(line, Document):
            TableOutput(sys.stdout).write(line.text)
        elif isinstance(line, str):
            say(line, to=sys.stderr if is_error else None)
        elif isinstance(line, Shaded):
            print_shaded(line.words)
        elif is_error:
            say(*table(line.rows, line.right), to=sys.stderr)
        else:
            print_table(line.rows, line.right, has_header=line.has_header)


# ---- results that come item by item ----


def add_stream(command: argparse.ArgumentParser) -> None:
    """Add `--json` and `--csv`."""
    forms = command.add_mutually_exclusive_group()
    add_json(forms)
    forms.add_argument("--csv", action="store_true", help="print one line per sample, with a header")


def print_stream(
    declared: Operation[Any, Any], stream: Stream[Any], arguments: argparse.Namespace, request: Any, result: Any
) -> None:
    """Print each item as it comes. Raises `UserError`."""
    say(*declared.notices(result), to=sys.stderr)
    with showing(declared.doing):
        if arguments.json:
            arguments.has_printed_json = True
            _print_json(declared, stream, envelope(arguments), result)
        elif arguments.csv:
            writer = CsvWriter(TableOutput(sys.stdout))
            for row in stream.rows(result):
                writer.row(row)
        else:
            for line in declared.text(request, result):
                if isinstance(line, Document):
                    TableOutput(sys.stdout).write(line.text)
                    sys.stdout.flush()
                else:
                    say(line)


def _print_json(declared: Operation[Any, Any], stream: Stream[Any], head: Mapping[str, Any], result: Any) -> None:
    """Print one object: what is known, the items as they come, then what is known after them, and what went wrong."""

    def others() -> dict[str, Any]:
        written = declared.write(replace(result, **{stream.field: ()}))
        return {name: to_json(value) for name, value in written.items() if name != stream.field}

    def end(error: Mapping[str, Any]) -> str:
        later = {name: value for name, value in others().items() if name not in head_values}
        return "".join([f", {json.dumps(name)}: {json.dumps(value)}" for name, value in {**later, **error}.items()])

    head_values, out = others(), sys.stdout
    out.write(f"{json.dumps({**head, **head_values})[:-1]}, {json.dumps(stream.field)}: [")
    try:
        for item in _items(getattr(result, stream.field)):
            out.write(item)
            out.flush()
    except UserError as error:
        out.write(f"]{end(failure(error.code, str(error)))}}}\n")
        raise
    out.write(f"]{end(declared.failure(result))}}}\n")


def _items(items: Iterable[Any]) -> Iterator[str]:
    for number, item in enumerate(items):
        yield (", " if number else "") + json.dumps(to_json(item), allow_nan=False)
