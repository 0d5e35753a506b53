"""Sweeps: values of a project that vary in its experiment, with a first choice of their values."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import Bool, Choice, Field, Float, Int
from netwright.engine.core.list_fields import Size
from netwright.engine.network.blocks import names_of, network_in
from netwright.engine.project.parameters import Parameter
from netwright.engine.project.project import Project
from netwright.engine.project.trials import NETWORK, layer_of, record_of, with_values

SMALL = 0.01
"""Shares up to this one, and all numbers without an upper limit near 1, vary by factors."""
LARGE = 0.7
"""Shares from this one on vary by their distance to 1: momentum 0.8, 0.9, 0.95."""
DECADE = 10.0
SEEDS = 5
NEAR, TINY = (0.1, 0.2, 0.5), (0.0001, 0.001, 0.01)
"""What a number that is 0 may be else: with an upper limit near it, and without."""
_PATH = re.compile(r"\bnetwork\.\w+(?:/\w+)*\.\w+")
"""A field of a layer, in blocks with the names of these before it."""


def can_vary(field: Field[Any]) -> bool:
    """Return whether values of a field can be offered: numbers, sizes, choices, and on or off."""
    return isinstance(field, Int | Float | Bool | Choice | Size)


def varied_paths(project: Project) -> frozenset[str]:
    """Return the paths of the values that vary in the experiment of a project."""
    return frozenset(parameter.path for parameter in project.experiment.parameters)


def layer_path(project: Project, scope: Sequence[str], layer: str, field: str) -> str:
    """Return the path of a field of a layer by its name, in the block at `scope`: `network.block_1/conv.filters`."""
    names = "/".join([*names_of(project.network, tuple(scope)), layer])
    return f"{NETWORK}.{names}.{field}"


def with_parameter(project: Project, path: str) -> Project:
    """Return the project with a value that varies; as it is where it varies already. Raises `UserError`."""
    options = project.experiment
    if path in varied_paths(project):
        return project
    parameters = [*options.parameters, parameter_offered(project, path)]
    return project.with_section("experiment", options.replace(parameters=parameters))


def without_parameter(project: Project, path: str) -> Project:
    """Return the project with a value that varies no more."""
    parameters = [parameter for parameter in project.experiment.parameters if parameter.path != path]
    return project.with_section("experiment", project.experiment.replace(parameters=parameters))


def comparing_networks(project: Project, files: Iterable[str], base: Path) -> Project:
    """Return the project with an experiment whose trials take the networks of project files; those below the folder
    `base` are named relative to it. Raises `UserError` for a file that cannot be read."""
    paths = [Path(file).resolve() for file in files]
    names = [
        str(path.relative_to(base.resolve())) if path.is_relative_to(base.resolve()) else str(path) for path in paths
    ]
    for name in names:
        with_values(project, {NETWORK: name}, base)
    others = [parameter for parameter in project.experiment.parameters if parameter.path != NETWORK]
    options = project.experiment.replace(parameters=[Parameter(NETWORK, tuple(names)), *others])
    return project.with_section("experiment", options)


def parameter_offered(project: Project, path: str) -> Parameter:
    """Return a parameter around the present value at a path, within the limits of its field: all options of a choice,
    on and off, half and double of a whole number, a decade up and down of a rate. Raises `UserError`."""
    record, name = record_of(project, path)
    field, value = record.fields[name], getattr(record, name)
    match field:
        case Bool():
            return Parameter(path, (False, True))
        case Choice():
            offered = field.offered(record) if field.offered is not None else field.options
            return Parameter(
                path, _fitting(project, path, [option for option in field.options if option in offered], value)
            )
        case Int():
            return Parameter(path, _fitting(project, path, _wholes(field, value), value))
        case Size():
            step = 2 if all(size % 2 for size in value) and max(value) > 1 else 1
            sizes = [tuple(size + change for size in value) for change in (-step, 0, step)]
            return Parameter(path, _fitting(project, path, sizes, value))
        case Float():
            return _number(project, path, field, value)
    raise UserError(
        f"{path}: values of {field.label.lower()} are not offered.",
        hint="Type them into the parameters of the experiment.",
    )


def _fitting(project: Project, path: str, values: Iterable[Any], present: Any) -> tuple[Any, ...]:
    """Return the values that the project takes; the present one is always among them."""
    return tuple(value for value in dict.fromkeys(values) if value == present or _fits(project, path, value))


def _fits(project: Project, path: str, value: Any) -> bool:
    try:
        with_values(project, {path: value}, Path())
    except UserError:
        return False
    return True


def _wholes(field: Int, value: int) -> list[int]:
    if field.name.endswith("seed"):
        return [value + number for number in range(SEEDS)]
    if value > 4:
        return [value // 2, value, value * 2]
    if value == 0:
        return [0, *(max(field.low, 1) * factor for factor in (1, 2, 4))]
    return [number for number in range(value - 1, value + 3) if number >= max(1, field.low)]


def _number(project: Project, path: str, field: Float, value: float) -> Parameter:
    """Return the values or the range of a real number."""
    lowest = field.low if field.above is None else field.above
    is_share = lowest >= 0 and field.high <= 1
    if math.isinf(value):
        return Parameter(path, (0.5, 1.0, 5.0, "Infinity"))
    if is_share and value >= LARGE:
        rest = 1 - value
        ends = (1 - 2 * rest, value, 1 - rest / 2) if rest > 1e-9 else (0.5, 0.75, 1.0)
        return Parameter(path, _fitting(project, path, map(_short, ends), value))
    if value == 0 and is_share:
        return _range(project, path, 0.0, field.high / 2)
    if value == 0:
        return Parameter(path, _fitting(project, path, (0.0, *(NEAR if field.high <= 1000 else TINY)), value))
    if value > SMALL and is_share:
        return _range(project, path, _short(value / 2), _short(min(field.high, 1.5 * value)))
    if value > 0:
        return _range(project, path, _short(value / DECADE), _short(min(field.high, value * DECADE)), is_log=True)
    return _range(project, path, _short(1.5 * value), _short(0.5 * value))


def _range(project: Project, path: str, low: float, high: float, *, is_log: bool = False) -> Parameter:
    """Return a range; where the project refuses an end, the values that it takes."""
    if all(_fits(project, path, end) for end in (low, high)):
        return Parameter(path, (), low, high, is_log)
    record, name = record_of(project, path)
    value = getattr(record, name)
    return Parameter(path, _fitting(project, path, (low, value, high), value))


def _short(number: float) -> float:
    return float(f"{number:.4g}")


# ---- following edits ----


def following_names(before: Project, after: Project) -> Project:
    """Return a project after an edit, with the experiment's paths of layers that were renamed in it: parameters, their
    conditions, constraints and rows of the table."""
    options = after.experiment
    if before.network is after.network or options != before.experiment:
        return after
    table = (path for row in options.table for path, _ in row)
    texts = " ".join([*varied_paths(after), *table, *options.constraints, *(p.when for p in options.parameters)])
    renamed = {path: new for path in set(_PATH.findall(texts)) if (new := _path_now(before, after, path)) != path}
    if not renamed:
        return after

    def named(text: str) -> str:
        return _PATH.sub(lambda match: renamed.get(match[0], match[0]), text)

    changed = options.replace(
        parameters=[replace(p, path=named(p.path), when=named(p.when)) for p in options.parameters],
        constraints=[named(text) for text in options.constraints],
        table=[{named(path): value for path, value in row} for row in options.table],
    )
    return after.with_section("experiment", changed)


def _path_now(before: Project, after: Project, path: str) -> str:
    """Return the path of a layer's field by the names that its layer and the blocks around it have now."""
    try:
        scope, layer, field = layer_of(before, path)
        inside = network_in(after.network, scope)
        return layer_path(after, scope, inside.layers[layer.id].name, field)
    except (UserError, KeyError):  # it named nothing, or its layer is gone
        return path
