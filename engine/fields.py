"""Typed fields that describe themselves: default, limits, unit, label, help, and when they apply.

A `Record` is an immutable value with declared fields. Forms, the project file, its JSON Schema and `--set` are all made
from the declarations, so a new option or layer field is one line in one class. No code is generated at import: records
are plain objects and fields plain descriptors, because the window imports all of them before it shows itself.
"""

from engine.field_kinds.field import JSON, Field, Visible
from engine.field_kinds.lists import FIELD_KINDS, Floats, Ints, Padding, PaddingValue, Range, Size
from engine.field_kinds.numbers import Float, Int
from engine.field_kinds.quoting import QUOTE_LIMIT, is_unicode, path_part, printable, quoted
from engine.field_kinds.record import MOST_ERRORS, Record, all_problems, set_by_text
from engine.field_kinds.words import Bool, Choice, Choices, FilePath, Text

__all__ = [
    "FIELD_KINDS",
    "JSON",
    "MOST_ERRORS",
    "QUOTE_LIMIT",
    "Bool",
    "Choice",
    "Choices",
    "Field",
    "FilePath",
    "Float",
    "Floats",
    "Int",
    "Ints",
    "Padding",
    "PaddingValue",
    "Range",
    "Record",
    "Size",
    "Text",
    "Visible",
    "all_problems",
    "is_unicode",
    "path_part",
    "printable",
    "quoted",
    "set_by_text",
]
