"""The reference of all layer types, `docs/layers.md`, made from their declarations.

`scripts/make_reference.py` writes it; a test compares the two.
"""

import re
from collections.abc import Iterator
from typing import Any

from netwright.engine.core.fields import Choice, Field
from netwright.engine.core.files import ROOT
from netwright.engine.core.list_fields import Choices
from netwright.engine.layers.base import FAMILIES, LayerType
from netwright.engine.layers.names import torch_names
from netwright.engine.network.catalog import built_in

PATH = ROOT / "docs" / "layers.md"
COMMAND = "python scripts/make_reference.py"
"""Writes what is made from the code."""
INTRODUCTION = f"""# Layer types

Made by `{COMMAND}` from the declarations in `engine/layers/`; change it there.

A layer reads tensors from its input ports and writes tensors to its output ports. Sizes omit the batch: an image is
C × H × W, a volume C × D × H × W, a sequence T × C (steps first), features are C. Shapes such as (N, C, H, W) begin
with N, the number of samples; a prime marks a size that differs at the output. A layer that names no shapes keeps that
of its input; blocks, ONNX operators and layers of your own code decide theirs. In the formulas x is the input and y the
output."""


def text() -> str:
    """The reference as the text of its file."""
    types = built_in()
    families = {family: [t for t in types.values() if t.family == family] for family in FAMILIES}
    parts = [INTRODUCTION, "\n".join(_contents(families)), "\n".join(_without_onnx(list(types.values())))]
    for family, members in families.items():
        if members:
            parts += [f"## {family}", *("\n".join(_layer(type)) for type in members)]
    return "\n\n".join(part for part in parts if part) + "\n"


def paragraphs(help: str) -> list[tuple[str, bool]]:
    """The paragraphs of a longer help, and whether each is a formula. Formulas keep their lines."""
    parts = []
    for part in help.split("\n\n"):
        lines = [line for line in part.split("\n") if line.strip()]
        if not lines:
            continue
        is_formula = all(line.startswith("    ") for line in lines)
        parts.append(("\n".join(line[4:] for line in lines) if is_formula else " ".join(lines), is_formula))
    return parts


def _contents(families: dict[str, list[type[LayerType]]]) -> Iterator[str]:
    for family, members in families.items():
        if members:
            links = ", ".join(f"[{type.label}](#{anchor(type.label)})" for type in members)
            yield f"- **{family}**: {links}"


def _without_onnx(types: list[type[LayerType]]) -> Iterator[str]:
    refused = [f"[{type.label}](#{anchor(type.label)})" for type in types if type.onnx_refusal]
    if refused:
        yield f"Without an ONNX form, which is refused by name before an export starts: {', '.join(refused)}."


def anchor(label: str) -> str:
    """Return the anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", label.lower()).replace(" ", "-")


def _layer(type: type[LayerType]) -> Iterator[str]:
    yield from (f"### {type.label}", "", type.summary(), "")
    for words, is_formula in paragraphs(type.help()):
        yield from (f"```text\n{words}\n```" if is_formula else _markdown(words), "")
    yield from _facts(type)
    plain = [field for field in type.fields.values() if not field.group]
    if plain:
        yield from ("", "| field | default | takes | |", "|---|---|---|---|", *map(row, plain))
    groups: dict[str, list[Field[Any]]] = {}
    for field in type.fields.values():
        if field.group:
            groups.setdefault(field.group, []).append(field)
    for group, fields in groups.items():
        yield from ("", f"{group}: {', '.join(f'`{field.name}` ({default_text(field)})' for field in fields)}.")


def _facts(type: type[LayerType]) -> Iterator[str]:
    layer = type()
    ports = [f"{word} {', '.join(names)}" for word, names in _ports(layer) if names]
    others = [f"MATLAB `{type.matlab}`"] if type.matlab else []
    if torch := torch_names(type):
        others.append(f"torch {', '.join(f'`{name}`' for name in torch)}")
    yield f"- Key `{type.key}`{''.join(f'; {other}' for other in others)}"
    yield f"- Ports: {'; '.join(ports)}"
    yield f"- ONNX: {f'no. {type.onnx_refusal}' if type.onnx_refusal else 'yes'}"


def _ports(layer: LayerType) -> tuple[tuple[str, tuple[str, ...]], ...]:
    inputs = tuple(f"`{name}`" for name in layer.input_ports())
    outputs = tuple(f"`{name}`" for name in layer.output_ports())
    return ("in", inputs), ("out", outputs)


def row(field: Field[Any]) -> str:
    """Return a field as a line of a table: name, default, valid values, help."""
    unit = f", in {field.unit}" if field.unit else ""
    takes = f"{_takes(field)}{unit}"
    return f"| `{field.name}` | {cell(default_text(field))} | {cell(takes)} | {cell(field.description)} |"


def _takes(field: Field[Any]) -> str:
    if not isinstance(field, (Choice, Choices)):
        return field.expects
    notes, start = field.notes, "one or more of " if isinstance(field, Choices) else ""
    return start + "; ".join(f"`{word}`{f': {notes[word]}' if notes.get(word) else ''}" for word in field.options)


def default_text(field: Field[Any]) -> str:
    """The default of a field, in words."""
    if callable(field.default):
        return "follows other values"
    return field.show(field.default) or "empty"


def cell(words: str) -> str:
    """Return the words for a cell of a table."""
    return _markdown(words).replace("|", "\\|")


def _markdown(words: str) -> str:
    """Return the words with the marks escaped that Markdown would take for emphasis or a tag."""
    parts = words.split("`")
    parts[::2] = [re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)
