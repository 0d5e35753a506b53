"""The command of an operation: its parser, what it prints, and its exit code, all from the declaration."""

import argparse
import contextlib
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from netwright.engine.cli.answers import add_json, note, print_json, table
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.printing import TableOutput, say
from netwright.engine.cli.terminal import print_table, showing
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import Bool, Choice, Field, first_clause
from netwright.engine.operations.operation import Document, Line, Operation, Parameter, operation
from netwright.engine.project.export_options import flag


def register(commands: Commands, name: str) -> None:
    """Add the command of an operation."""
    declared = _declared(name)
    _fill(commands.add_parser(name, description=declared.description), declared)


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
    add_json(command)
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
        command.add_argument(parameter.name, nargs="+" if parameter.is_repeated else None, **values)
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
    try:
        with showing(declared.doing) if declared.doing else contextlib.nullcontext():
            result = declared.run(request)
    except UserError as error:
        _print(declared.error_text(error), is_error=True)
        raise
    note(declared.notices(result))
    if arguments.json:
        print_json(arguments, {**declared.write(result), **declared.failure(result)})
    else:
        _print(declared.text(request, result))
    return declared.exit_code(result)


def _value(parameter: Parameter, arguments: argparse.Namespace) -> Any:
    """Return the value of a field on the command line."""
    if (record := parameter.argument.record) is not None:
        return {name: text for name in record.fields if (text := getattr(arguments, name)) is not None}
    value = getattr(arguments, parameter.name)
    return tuple(value) if parameter.is_repeated else value


def _print(lines: Iterable[Line], *, is_error: bool = False) -> None:
    """Print lines and tables, for an error on standard error."""
    for line in lines:
        if isinstance(line, Document):
            TableOutput(sys.stdout).write(line.text)
        elif isinstance(line, str):
            say(line, to=sys.stderr if is_error else None)
        elif is_error:
            say(*table(line.rows, line.right), to=sys.stderr)
        else:
            print_table(line.rows, line.right)
