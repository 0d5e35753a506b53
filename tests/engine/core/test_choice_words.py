"""Every choice that a form offers is shown in words."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import pytest

from netwright.engine.core.choice_words import NAMES, words_of
from netwright.engine.core.fields import Choice
from netwright.engine.core.list_fields import Choices
from netwright.engine.core.records import Record

PACKAGES = ("layers", "project", "project.options", "project.sources", "network", "cluster")
AXES = tuple("CHWDT")


def records(base: type[Record]) -> Iterator[type[Record]]:
    for record in base.__subclasses__():
        yield record
        yield from records(record)


def choices() -> list[tuple[str, Choice | Choices]]:
    for name in PACKAGES:
        package = import_module(f"netwright.engine.{name}")
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
    own = {record for record in records(Record) if record.__module__.startswith("netwright.")}
    fields = {f"{r.__name__}.{n}": f for r in own for n, f in r.fields.items() if isinstance(f, Choice | Choices)}
    assert len(fields) > 300
    return sorted(fields.items())


def test_no_choice_is_shown_as_its_key() -> None:
    for name, field in choices():
        words = [field.word(option) for option in field.options]
        assert len(set(words)) == len(words), f"{name} has two choices of the same words: {words}"
        for option, word in zip(field.options, words, strict=True):
            assert option in AXES or word != option, f"{name}: {option}"
            assert not word[0].islower(), f"{name}: {word}"
            assert "_" not in word, f"{name}: {word}"


def test_words_of_choices_are_of_options_that_there_are() -> None:
    fields = [field for _, field in choices()]
    assert set(NAMES) <= {option for field in fields for option in field.options}
    for field in fields:
        if isinstance(field, Choice):
            assert set(field.words) <= set(field.options)
            assert all(words_of(option) != word for option, word in field.words.items()) or len(field.words) > 1


@pytest.mark.parametrize(
    ("key", "words"),
    [("leave-out", "Leave out"), ("never", "Never"), ("lbfgs", "L-BFGS"), ("half-pixel", "Half pixel"), ("C", "C")],
)
def test_words_are_made_of_keys(key: str, words: str) -> None:
    assert words_of(key) == words
