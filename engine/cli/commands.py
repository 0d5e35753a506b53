"""Table of the commands: groups, one line each, modules, examples; and the argument parser that shows it.

It imports no module of a command, so that `--help` and an unknown command are answered at once.
"""

import argparse
import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn, Protocol

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.part_registry import Part, PartCommand, installed_parts, parts
from netwright.engine.core.version import VERSION

PROGRAM = "netwright-engine"
OPERATION = "operation_command"
"""Module that registers the commands of operations, each by its name."""
GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "projects": {
        "new": (OPERATION, "start from a copy of an example or a template"),
        "templates": (OPERATION, "list examples and templates"),
        "data": (OPERATION, "describe data, or check it before training"),
        "check": (OPERATION, "show problems, sizes, parameters, FLOPs and memory of projects"),
        "options": (OPERATION, "list the options of a project, with defaults"),
        "weights": (OPERATION, "show which weights fill a network, or fetch published ones"),
        "transfer": (OPERATION, "start a project from a trained network"),
        "compare": (OPERATION, "show the differences between two projects"),
        "draw": (OPERATION, "draw the network as SVG or PNG"),
        "measure": (OPERATION, "measure the output sizes of a project's own layers"),
    },
    "training": {
        "train": ("train_command", "train a network"),
        "resume": ("train_command", "resume a run from its last checkpoint"),
        "queue": ("queue_command", "train one project after another"),
        "devices": ("devices_command", "list the devices and environments of this machine"),
        "advise": ("probe_commands", "recommend an environment and a strategy"),
        "largest-batch": ("probe_commands", "find the largest mini-batch that fits into memory"),
        "profile": (OPERATION, "measure time, FLOPs and memory of each layer"),
    },
    "clusters": {},
    "a run that trains": {
        "follow": ("follow_command", "show the progress of a run"),
        "stop": ("control_commands", "stop a run"),
        "pause": ("control_commands", "pause a run"),
        "checkpoint": ("control_commands", "save a checkpoint of a run now"),
        "validate": ("control_commands", "validate the network of a run now"),
        "set": ("control_commands", "change the learn rate or the number of epochs of a run"),
        "watch": ("control_commands", "watch the gradients or layers of a run"),
    },
    "runs": {
        "runs": (OPERATION, "list runs"),
        "show": (OPERATION, "describe one run"),
        "note": (OPERATION, "set or print the note of a run"),
        "tag": (OPERATION, "tag a run"),
        "delete": (OPERATION, "move runs to the trash"),
        "curves": (OPERATION, "write curves as CSV, or for TensorBoard or MLflow"),
        "models": (OPERATION, "register trained models, with versions, stages and lineage"),
    },
    "a trained network": {},
    "this program": {
        "notify": (OPERATION, "set the webhook that is told when something ends"),
        "help": ("program", "show this list, or the help of a command"),
        "docs": (OPERATION, "print a page of the documentation, or the skill for assistants"),
        "schema": ("schema_command", "print the JSON Schema of an output or a file"),
        "completion": ("program", "print a script that completes commands in bash or zsh"),
    },
}
"""Groups of commands: the module of this package that registers each, and its line in the list of commands. Those of
`netwright.engine.operations` have `OPERATION`. Parts add theirs at the end of a group."""
FAMILIES = {
    "data": (
        "Describe data, or check it before training. The Data tab of the window shows the same.",
        *("inspect", "check"),
    ),
    "weights": (
        "Show which weights of a file a network takes, or download published weights.",
        *("match", "list", "fetch"),
    ),
    "models": (
        "Keep trained models in a registry: versions with scores, stages and lineage. A model is then named as "
        "digits@production or digits@3.",
        *("list", "register", "promote", "show", "compare"),
    ),
}
"""Commands below which there are operations alone, such as `data inspect`: description, and names of these."""
HIDDEN = {"serve": "serve"}
"""Commands that only the window uses, which no list shows."""
PACKAGE = "netwright.engine.cli."

EXIT_CODES = """exit codes:
  0  done                              3  the run failed
  1  a defect of Netwright             4  a --require did not hold; compare: different
  2  the input is wrong                5  the execution environment is not available here
                                     130  stopped on request"""
EXAMPLES = {
    "notify": ("notify", "notify --webhook https://example.org/hooks/1234", "notify --off"),
    "new": ("new digits", "new resnet18 networks"),
    "templates": ("templates",),
    "help": ("help", "help queue add"),
    "completion": ("completion bash",),
    "docs": ("docs", "docs layers", "docs skill"),
    "schema": ("schema", "schema train", "schema result"),
    "options": ("options", "options learn_rate", "options ValidationPatience", "options training.loss"),
    "check": (
        "check digits.netwright",
        "check digits.netwright --fit",
        "check digits.netwright --set training.mini_batch_size=64 --json",
        "check digits.netwright networks/resnet18.netwright --format github",
    ),
    "data": ("data inspect digits.netwright", "data check digits.netwright --labels"),
    "compare": ("compare digits.netwright networks/resnet18.netwright",),
    "draw": ("draw digits.netwright -o digits.svg", "draw digits.netwright -o digits.png --theme dark --scale 3"),
    "train": (
        "train digits.netwright --run-dir runs/first",
        "train digits.netwright --set training.max_epochs=20 --set training.solver=adam",
        'train digits.netwright --require "accuracy>=0.9" --json --junit outcome.xml',
        "train digits.netwright --set training.max_epochs=9999 --run-dir runs/two --detach",
    ),
    "set": ("set runs/two --rate-factor 0.1", "set runs/two --epochs 100000"),
    "watch": ("watch runs/two --layers on",),
    "pause": ("pause runs/two",),
    "stop": ("stop runs/two",),
    "show": ("show runs/first",),
    "runs": ('runs digits.netwright --filter "accuracy>0.9 solver" --sort validation.loss', "runs --csv"),
    "curves": ("curves runs/* -o curves.csv", "curves runs/* --format tensorboard -o logs"),
    "queue": (
        "queue add digits.netwright --set training.solver=adam",
        "queue run",
        "queue show 1",
    ),
    "transfer": ("transfer runs/first -o other.netwright --outputs 10 --freeze-up-to relu_1",),
    "weights": ("weights match digits.netwright --from runs/first", "weights list"),
    "models": (
        "models register runs/first digits --tag mnist --registry registry",
        "models promote digits@1 production --registry registry",
        "models list --registry registry",
        "models show registry/digits@production",
    ),
    "devices": ("devices", "devices --test"),
    "resume": (
        'resume runs/first --set training.max_epochs=20 --require "accuracy>=0.9"',
        "resume runs/two --detach",
    ),
}
"""Commands that work one after the other, from an empty folder."""


@cache
def commands(*, with_installed: bool = False) -> dict[str, PartCommand]:
    """Return the commands by name, in the order of the list of commands; perhaps with those of parts that other
    distributions add, which takes longer: they are found by their names, and the list shows ours."""
    shown: list[Part] = [*parts(), *(installed_parts() if with_installed else ())]
    added = [(name, command) for part in shown for name, command in part.commands.items()]
    table: dict[str, PartCommand] = {}
    for group in dict.fromkeys([*GROUPS, *(command.group for _, command in added)]):
        for name, (module, summary) in GROUPS.get(group, {}).items():
            table[name] = PartCommand(PACKAGE + module, group, summary, EXAMPLES.get(name, ()))
        table |= {name: command for name, command in added if command.group == group}
    return table


class Commands(Protocol):
    """Protocol of what a module registers its commands with."""

    def add_parser(self, name: str, *, description: str) -> argparse.ArgumentParser: ...


class Parser(argparse.ArgumentParser):
    """Argument parser that raises `UserError` for wrong arguments, with a suggestion for a mistyped choice."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, **values})

    def error(self, message: str) -> NoReturn:
        """Raise the error, with the way to the help."""
        command, end = self.prog.removeprefix(PROGRAM).strip(), "" if message.endswith((".", "?")) else "."
        command = f"{command}: " if command else ""
        hint = f"`{self.prog} --help` says what it takes."
        raise UserError(f"{command}{message}{end}", code="usage", hint=hint)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            known = [str(choice) for choice in action.choices or ()]
            error.message = f"there is no '{value}'.{did_you_mean(str(value), known)} It takes {', '.join(known)}."
            raise


class HelpFormatter(argparse.HelpFormatter):
    """Help formatter that keeps the line breaks of preformatted text, such as the examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        is_preformatted = "\n  " in text
        return text if is_preformatted else super()._fill_text(text, width, indent)


class _Registry:
    """Subparsers that take the line of a command from the table, and its examples."""

    def __init__(self, subparsers: Any, known: Mapping[str, PartCommand]) -> None:
        self._subparsers, self._known = subparsers, known

    def add_parser(self, name: str, *, description: str) -> argparse.ArgumentParser:
        declared = self._known.get(name)
        shown = {"help": declared.help} if declared is not None else {}
        lines = declared.examples if declared is not None else ()
        epilog = "\n".join(("examples:", *(f"  {PROGRAM} {line}" for line in lines))) if lines else None
        command: argparse.ArgumentParser = self._subparsers.add_parser(
            name, description=description, epilog=epilog, **shown
        )
        return command


def parser(command: str = "") -> Parser:
    """Return the argument parser with one command, with none for an option such as `--version`, or with all of them,
    which imports all modules."""
    top = Parser(prog=PROGRAM, description="Check, train and export neural networks without a screen.")
    top.add_argument("--version", action="version", version=f"{PROGRAM} {VERSION}")
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    is_ours = command.startswith("-") or command in commands() or command in HIDDEN
    known = {} if command.startswith("-") else commands(with_installed=not is_ours)
    modules = {name: declared.module for name, declared in known.items()}
    modules |= {name: PACKAGE + module for name, module in HIDDEN.items()}
    names = [] if command.startswith("-") else [command] if command in modules else [*modules]
    registry = _Registry(subparsers, known)
    for module in dict.fromkeys(modules[name] for name in names):
        register = importlib.import_module(module).register
        if module != PACKAGE + OPERATION:
            register(registry)
            continue
        for name in names:
            if modules[name] == PACKAGE + OPERATION:
                register(registry, name)
    return top


def overview() -> str:
    """Return the list of commands by group, with the exit codes."""
    table = commands()
    width = max(map(len, table))
    lines = [f"usage: {PROGRAM} COMMAND ...", "", "Check, train and export neural networks without a screen.", ""]
    for group in dict.fromkeys(command.group for command in table.values()):
        shown = (item for item in table.items() if item[1].group == group)
        lines += [f"{group}:", *(f"  {name.ljust(width)}  {command.help}" for name, command in shown), ""]
    lines += [f"`{PROGRAM} COMMAND --help` describes a command, with examples. Start with: {PROGRAM} new digits", ""]
    return "\n".join([*lines, EXIT_CODES])


def refuse_unknown_command(name: str) -> None:
    """Raise `UserError` if there is no command of this name."""
    if name not in commands() and name not in HIDDEN and name not in (known := commands(with_installed=True)):
        hint = did_you_mean(name, known)
        raise UserError(
            f"There is no command '{name}'.", code="unknown_command", hint=f"{hint} `{PROGRAM} help` lists them."
        )
