"""`options [WORD ...]`: what can be set in a project, from the declarations."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import Choice, Field
from netwright.engine.core.list_fields import Choices
from netwright.engine.operations.operation import Argument, Line, Operation, Request, Result, Table
from netwright.engine.project.layer_reference import default_text
from netwright.engine.project.option_names import as_option_name, option_named
from netwright.engine.project.project import SECTIONS

MOST_IN_FULL = 3
"""So many options are told whole, more than these a line each."""
WIDTH = 100
Named = tuple[str, Field[Any]]


@dataclass(frozen=True, kw_only=True)
class OptionsRequest(Request):
    """Words that the options have."""

    words: Annotated[
        tuple[str, ...],
        Argument("such as learn_rate, ValidationPatience, or dice", metavar="WORD", is_positional=True),
    ] = ()


class Option(TypedDict):
    """Declaration of an option."""

    default: str
    takes: str
    """Valid values, in words."""
    unit: str
    help: str
    choices: NotRequired[Mapping[str, str]]
    """Choices with their descriptions."""


@dataclass(frozen=True, kw_only=True)
class OptionsResult(Result):
    """Options by their path, as `--set` takes it."""

    options: Mapping[str, Option]


def find_options(request: OptionsRequest) -> OptionsResult:
    """Return the options that match the words. Raises `UserError` where none does."""
    options = {name: _record_of(field) for name, field in meant(request.words)}
    if not options:
        raise UserError(
            f"No option has '{' '.join(request.words)}' in its name or its help.",
            hint="All are listed by: netwright-engine options",
        )
    return OptionsResult(options=options)


def _record_of(field: Field[Any]) -> Option:
    record: Option = {"default": default_text(field), "takes": field.expects, "unit": field.unit, "help": field.help}
    if named := choices(field):
        record["choices"] = named
    return record


def everything() -> Iterator[Named]:
    """Yield all options with their `--set` paths."""
    for section, kind in SECTIONS.items():
        for name, field in kind.fields.items():
            yield f"{section}.{name}", field


def meant(words: Sequence[str]) -> list[Named]:
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


def text(request: OptionsRequest, result: OptionsResult) -> Iterator[Line]:
    """Yield a few options in full, or a row for each of many."""
    named = meant(request.words)
    if len(named) > MOST_IN_FULL:
        rows = [(name, default_text(field), field.effect or field.label) for name, field in named]
        yield Table(rows, has_header=False)
        return
    for number, (name, field) in enumerate(named):
        yield from [""] if number else []
        yield from _in_full(name, field)


OPERATION = Operation(
    name="options",
    effect="reads",
    request=OptionsRequest,
    results=(OptionsResult,),
    function=f"{__name__}:find_options",
    description=(
        "List what can be set in the project file, in the window, and by --set: names, defaults, effects. With words, "
        "those that have all of them in their name, their help or their choices; names of MATLAB and PyTorch are "
        "understood."
    ),
    text=text,
    faces=("command",),
)
