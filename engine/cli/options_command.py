"""`options [WORD ...]`: what can be set in a project, from the declarations."""

import argparse
import textwrap
from collections.abc import Iterator
from typing import Any

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.fields import Choice, Field
from netwright.engine.core.list_fields import Choices
from netwright.engine.project.layer_reference import default_text
from netwright.engine.project.option_names import as_option_name, option_named
from netwright.engine.project.project import SECTIONS

MOST_IN_FULL = 3
"""So many options are told whole, more than these a line each."""
WIDTH = 100
Named = tuple[str, Field[Any]]


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "List what can be set in the project file, in the window, and by --set: names, defaults, effects. With words, "
        "those that have all of them in their name, their help or their choices; names of MATLAB and PyTorch are "
        "understood."
    )
    command = commands.add_parser("options", description=text)
    command.add_argument("words", nargs="*", metavar="WORD", help="such as learn_rate, ValidationPatience, or dice")
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the options that match the words."""
    found = meant(arguments.words)
    if not found:
        words = " ".join(arguments.words)
        raise UserError(
            f"No option has '{words}' in its name or its help.", hint="All are listed by: netwright-engine options"
        )
    if arguments.json:
        print_json(arguments, {"options": {name: _as_json(field) for name, field in found}})
    elif len(found) <= MOST_IN_FULL:
        for number, (name, field) in enumerate(found):
            say(*([""] if number else []), *_in_full(name, field))
    else:
        rows = [(name, default_text(field), field.effect or field.label) for name, field in found]
        print_table(rows, has_header=False)
    return EXIT_DONE


def everything() -> Iterator[Named]:
    """Yield all options with their `--set` paths."""
    for section, kind in SECTIONS.items():
        for name, field in kind.fields.items():
            yield f"{section}.{name}", field


def meant(words: list[str]) -> list[Named]:
    """Return the options that contain all words, first the one that has the word as its name elsewhere; or only the
    options with exactly this name."""
    names = [as_option_name(word) for word in words]
    exact = [(name, field) for name, field in everything() if names in ([name], [name.partition(".")[2]])]
    known = option_named(words[0], SECTIONS) if len(words) == 1 else ""
    similar = [
        (name, field)
        for name, field in everything()
        if name != known and all(_is_in(word, _text(name, field)) for word in words)
    ]
    return exact or [*((name, field) for name, field in everything() if name == known), *similar]


def _is_in(word: str, text: str) -> bool:
    return word.lower() in text or as_option_name(word) in text


def _text(name: str, field: Field[Any]) -> str:
    """Return the lower-case text of an option that is searched."""
    return f"{name}\n{field.label}\n{field.help}\n{' '.join(choices(field))}".lower()


def choices(field: Field[Any]) -> dict[str, str]:
    """Return the choices of a field with their descriptions; empty for other fields."""
    if not isinstance(field, (Choice, Choices)):
        return {}
    return {option: field.notes.get(option, "") for option in field.options}


def _in_full(name: str, field: Field[Any]) -> Iterator[str]:
    unit = f", in {field.unit}" if field.unit else ""
    yield f"{name} = {default_text(field)}"
    yield from _lines(field.help, "  ")
    named = choices(field)
    if not named:
        yield from _lines(f"Takes {field.expects}{unit}", "  ")
    width = max(map(len, named), default=0)
    for option, words in named.items():
        yield from _lines(f"{option.ljust(width)}  {words}", "    ", further=" " * (6 + width))


def _lines(words: str, before: str, further: str = "") -> list[str]:
    return textwrap.wrap(words, WIDTH, initial_indent=before, subsequent_indent=further or before) or [before.rstrip()]


def _as_json(field: Field[Any]) -> dict[str, Any]:
    known = {"default": default_text(field), "takes": field.expects, "unit": field.unit, "help": field.help}
    return {**known, **({"choices": choices(field)} if choices(field) else {})}
