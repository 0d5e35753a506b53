"""Sentences of the engine in the words of the window: labels in place of keys of options, names in place of paths."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.designer.engine_messages import message_text, part_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.fields import Choice, FilePath
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.source_type import SourceType

_BESIDE = re.compile(r" \(data\.\w+(?:=[\w-]+)?\)")
_SETTING = re.compile(r"\bdata\.(\w+)=([\w-]+)")
_OPTION = re.compile(r"\bdata\.(\w+)\b")


COLUMN_WORDS = frozenset(
    (
        *(noop("input"), noop("response"), noop("split"), noop("lengths"), noop("time"), noop("group")),
        *(noop("left out"), noop("number"), noop("text"), noop("empty"), noop("per sequence")),
        noop("known in advance"),
    )
)
"""Roles and kinds of columns, as the engine says them."""
COUNTED = {
    "different": noop("{count:,} different"),
    "missing": noop("{count:,} missing"),
    "series": noop("{count:,} series"),
}
"""Counts in the kind of a column."""


def column_name(column: Mapping[str, Any]) -> str:
    """Return the name of a column as it is shown: texts without one are called so."""
    return column_words("text") if column["name"] == column["kind"] == "text" else str(column["name"])


def column_words(text: str) -> str:
    """Translate the role or the kind of a column: `response`; `text, 12 different, 3 missing`."""
    return tr(", ").join(map(_column_word, text.split(", ")))


def _column_word(text: str) -> str:
    number, _, word = text.replace(",", "").partition(" ")
    if word in COUNTED and number.isdecimal():
        return translation(COUNTED[word]).format(count=int(number))
    return translation(text) if text in COLUMN_WORDS else part_text(text)


def source_note(source: str) -> str:
    """Return a sentence on a kind of data; empty for none."""
    return "" if source == "none" else tr("{sentence}.", sentence=translation(DataOptions.source.notes[source]))


def noun_of(source: SourceType) -> str:
    """Return the name of a kind of data within a sentence."""
    name = translation(source.label)
    return name if name != source.label else source.noun


def phrase_of(source: SourceType) -> str:
    """Return the name of a kind of data with its article, in a language that has one."""
    name = translation(source.label)
    return name if name != source.label else source.phrase


def in_words(text: str, options: DataOptions, base: Path | None = None) -> str:
    """Return a sentence about data without keys of options and without the folders of its files."""
    text = message_text(text)
    for name, field in DataOptions.fields.items():
        path = getattr(options, name) if isinstance(field, FilePath) else ""
        if "/" in path or (path and base is not None):
            for long in (str((base or Path()) / path), path):
                text = text.replace(long, Path(path).name)
    text = _BESIDE.sub("", text)
    return _OPTION.sub(_labelled, _SETTING.sub(_set, text))


def _labelled(match: re.Match[str]) -> str:
    field = DataOptions.fields.get(match[1])
    return match[0] if field is None else f"“{translation(field.label)}”"


def _set(match: re.Match[str]) -> str:
    field = DataOptions.fields.get(match[1])
    if field is None:
        return match[0]
    value = translation(field.word(match[2])) if isinstance(field, Choice) else match[2]
    return tr("“{option}: {value}”", option=translation(field.label), value=value)
