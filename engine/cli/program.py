"""Commands `help` and `completion`: about the program itself."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from netwright.engine.cli.commands import PROGRAM, Commands, overview, parser, refuse_unknown_command
from netwright.engine.cli.printing import say
from netwright.engine.core.errors import EXIT_DONE, UnavailableError

SHELLS = ("bash", "zsh")


def register(commands: Commands) -> None:
    """Add the commands `help` and `completion`."""
    command = commands.add_parser("help", description="Show the list of commands, or the help of a command.")
    command.add_argument("words", nargs="*", metavar="COMMAND", help="a command, such as train or queue add")
    command.set_defaults(run=run_help)
    text = (
        "Print a script that completes commands, options and paths when Tab is pressed. For bash: "
        f"{PROGRAM} completion bash > ~/.local/share/bash-completion/completions/{PROGRAM}. For zsh: "
        f"{PROGRAM} completion zsh > DIR/_{PROGRAM}, with DIR in $fpath."
    )
    command = commands.add_parser("completion", description=text)
    command.add_argument("shell", choices=SHELLS, help="the shell that reads the script")
    command.set_defaults(run=run_completion)


def run_help(arguments: argparse.Namespace) -> int:
    """Print the list of commands, or the help of the command."""
    if not arguments.words:
        say(*overview().split("\n"))
        return EXIT_DONE
    refuse_unknown_command(arguments.words[0])
    parser(arguments.words[0]).parse_args([*arguments.words, "--help"])  # prints it and exits
    return EXIT_DONE


def run_completion(arguments: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ModuleNotFoundError:
        raise UnavailableError("Completion needs the package shtab: pip install shtab.") from None
    whole = parser()
    for action in _actions(whole):
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    say(*shtab.complete(whole, arguments.shell).split("\n"))
    return EXIT_DONE


def _actions(command: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield all arguments of a parser and its subparsers."""
    for action in command._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)
