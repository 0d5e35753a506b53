"""Put the values of a trial into a project, and check the definition of an experiment against its project."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import FieldError, FieldErrors, UserError, did_you_mean
from netwright.engine.core.fields import Field, Int, quoted
from netwright.engine.core.formula import Formula
from netwright.engine.core.records import Record
from netwright.engine.network import edits
from netwright.engine.network.blocks import network_in, path_of, with_network_in
from netwright.engine.network.network import Layer
from netwright.engine.project import user_code
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.experiment import ExperimentOptions, Objective, rows_in
from netwright.engine.project.file import load
from netwright.engine.project.parameters import Parameter, lists_of
from netwright.engine.project.project import SECTIONS, Project

NETWORK = "network"
MOST_GRID = 100_000
_FIXED = ("experiment",)
"""Sections that no parameter can be in."""


def record_of(project: Project, path: str) -> tuple[Record, str]:
    """Return the record that holds the value at a path, and the name of its field. Raises `UserError`."""
    section, dot, name = path.partition(".")
    if section == NETWORK and dot:
        return layer_of(project, path)[1].type, path.rpartition(".")[2]
    sections = [key for key in SECTIONS if key not in _FIXED]
    if section not in sections or not dot:
        hint = did_you_mean(section, [*sections, NETWORK])
        raise UserError(
            f"{quoted(path)} is nothing that can vary.",
            hint=f"{hint} Expected an option such as training.momentum or a field such as network.conv_1.filters.",
        )
    record = project.section(section)
    if name not in record.fields:
        raise UserError(f"{path}: there is no such option.", hint=did_you_mean(name, record.fields))
    return record, name


def layer_of(project: Project, path: str) -> tuple[tuple[str, ...], Layer, str]:
    """Return the block that the layer in a path such as `network.block_1/conv.filters` is in, the layer, and the name
    of its field. Raises `UserError`."""
    names, _, name = path.partition(".")[2].rpartition(".")
    around, _, own = names.rpartition("/")
    inside = path_of(project.network, around)
    layers = network_in(project.network, inside).by_name
    if not names or own not in layers:
        hint = did_you_mean(own, layers)
        raise UserError(f"{path}: there is no layer {quoted(own)}.", hint=hint)
    layer = layers[own]
    if name not in layer.type.fields:
        hint = did_you_mean(name, layer.type.fields)
        raise UserError(f"{path}: {layer.type.label} has no field {quoted(name)}.", hint=hint)
    return inside, layer, name


def field_of(project: Project, path: str) -> Field[Any] | None:
    """Return the field at a path, or None for `network` as a whole. Raises `UserError` where there is none."""
    if path == NETWORK:
        return None
    record, name = record_of(project, path)
    return record.fields[name]


def value_at(project: Project, path: str) -> Any:
    """Return the value of a project at a path; for `network` an empty text. Raises `UserError`."""
    if path == NETWORK:
        return ""
    record, name = record_of(project, path)
    return getattr(record, name)


def is_whole(project: Project, path: str) -> bool:
    """Return whether the values at a path are whole numbers. Raises `UserError`."""
    return isinstance(field_of(project, path), Int)


def with_values(project: Project, values: Mapping[str, Any], base: Path) -> Project:
    """Return the project of a trial: with these values, and without the definition of the experiment.

    Project files of `network` lie relative to the folder `base`. Raises `UserError` for a value that does not fit.
    """
    return replace(with_options(project, values, base), experiment=ExperimentOptions())


def with_options(project: Project, values: Mapping[str, Any], base: Path) -> Project:
    """Return the project with other values by path, see `with_values`."""
    if NETWORK in values:  # first: the other values may be of its layers
        project = _with_network(project, str(values[NETWORK]), base)
    for path, value in values.items():
        if path != NETWORK:
            project = _with_value(project, path, value)
    return project


def _with_network(project: Project, file: str, base: Path) -> Project:
    other = load(base / file).project
    return replace(project, network=other.network, layout=other.layout, constants=other.constants)


def _with_value(project: Project, path: str, value: Any) -> Project:
    try:
        if path.startswith(f"{NETWORK}."):
            inside, layer, name = layer_of(project, path)
            inner = edits.set_fields(network_in(project.network, inside), layer.id, {name: value})
            return replace(project, network=with_network_in(project.network, inside, inner))
        record, name = record_of(project, path)
        section = path.partition(".")[0]
        return project.with_section(section, record.replace(**{name: value}))
    except FieldErrors as refused:
        raise UserError(f"{path}: {refused.errors[0].message}") from None


def fulfils(project: Project, options: ExperimentOptions, values: Mapping[str, Any]) -> bool:
    """Return whether the values of a trial fulfil all constraints. Raises `UserError` for one that has no value."""
    return all(Formula(text).holds(lambda name: _looked_up(project, values, name)) for text in options.constraints)


def applies(project: Project, parameter: Parameter, values: Mapping[str, Any]) -> bool:
    """Return whether the condition of a parameter holds, given the values of the parameters before it."""
    return not parameter.when or Formula(parameter.when).holds(lambda name: _looked_up(project, values, name))


def _looked_up(project: Project, values: Mapping[str, Any], name: str) -> Any:
    return values[name] if name in values else value_at(project, name)


def own_values(project: Project) -> Mapping[str, Any]:
    """Return the values of a project at the paths that its experiment varies, without those whose condition does not
    hold, and without whole networks."""
    values: dict[str, Any] = {}
    for parameter in project.experiment.parameters:
        if parameter.path != NETWORK and applies(project, parameter, values):
            values[parameter.path] = value_at(project, parameter.path)
    return values


def grid_size(project: Project, options: ExperimentOptions) -> int:
    """Return the number of combinations of a grid, without regard to conditions and constraints. Raises `UserError`."""
    size = 1
    for parameter in options.parameters:
        size *= len(parameter.points(is_whole=is_whole(project, parameter.path)))
    return size


def num_trials(project: Project) -> int:
    """Return the number of trials of an experiment, at most; 0 where it is not known before they are chosen."""
    options = project.experiment
    if options.strategy == "table":
        return len(options.table)
    if options.strategy == "grid":
        with contextlib.suppress(UserError):  # said where it is checked
            return 0 if options.constraints or any(p.when for p in options.parameters) else grid_size(project, options)
        return 0
    return options.trials


def definition_problems(project: Project, base: Path) -> Iterator[FieldError]:
    """Yield the errors of the definition of an experiment in its project."""
    options = project.experiment
    yield from (error.at(f"experiment.{error.path}") for error in options.problems())
    for name, message in user_code.experiment_problems(project, user_code.look_in(base)):
        yield FieldError(f"experiment.{name}", message)
    if options.strategy not in ("table", "function") and not options.parameters and options.runs_per_trial == 1:
        yield FieldError(
            "experiment.parameters",
            "nothing varies. Add a parameter, such as training.momentum=0.8,0.9, or repeats.",
        )
    wrong = set()
    for parameter in options.parameters:
        try:
            check_parameter(project, parameter, base)
        except UserError as error:
            wrong.add(parameter.path)
            yield FieldError("experiment.parameters", str(error))
    if options.strategy == "grid" and not wrong and (size := grid_size(project, options)) > MOST_GRID:
        yield FieldError(
            "experiment.strategy",
            f"a grid of {size:,} combinations is more than {MOST_GRID:,}. Choose random, or fewer values.",
        )
    for number, row in enumerate(rows_in(options) if options.strategy == "table" else (), 1):
        try:
            with_values(project, row, base)
        except UserError as error:
            yield FieldError("experiment.table", f"row {number:,}: {error}")
            return


def refuse_wrong_definition(project: Project, base: Path) -> None:
    """Raise `FieldErrors` with all that is wrong with the definition of an experiment, as far as it is known without
    its data."""
    if errors := list(definition_problems(project, base)):
        raise FieldErrors(errors)


def check_parameter(project: Project, parameter: Parameter, base: Path) -> None:
    """Raise `UserError` if a parameter does not fit the project."""
    field = field_of(project, parameter.path)
    if parameter.when:
        for name in Formula(parameter.when).names:
            value_at(project, name)
    if parameter.is_range:
        if field is None or not field.is_number:
            raise UserError(f"{parameter.path}: a range needs a number; name the values: {parameter.path}=a,b.")
        for end in (parameter.low, parameter.high):
            share = 0.0 if end == parameter.low else 1.0
            _with_value(project, parameter.path, parameter.at(share, is_whole=isinstance(field, Int)))
        return
    for value in parameter.values:
        with_values(project, {parameter.path: value}, base)


READY: Mapping[str, str] = {
    "learn-rate": "Tune the learn rate: 7 values by a logarithmic range",
    "seeds": "Repeat with 5 seeds: how much of a difference is chance",
    "batch-and-rate": "Mini-batch size against learn rate",
    "solvers": "Compare solvers, each with three learn rates",
    "cross-validation": "5-fold cross-validation",
}
"""Definitions of experiments to begin with, with what each does."""


def ready(name: str, project: Project) -> ExperimentOptions:
    """Return one of the definitions to begin with, around the values of the project. Raises `UserError`."""
    if name not in READY:
        raise UserError(
            f"There is no ready experiment '{name}'.{did_you_mean(name, READY)}", hint=f"There are: {', '.join(READY)}."
        )
    rate, batch = project.training.initial_learn_rate, project.training.mini_batch_size
    rates = {"path": "training.initial_learn_rate", "low": float(f"{rate / 10:.3g}"), "high": float(f"{rate * 10:.3g}")}
    match name:
        case "learn-rate":
            return ExperimentOptions(parameters=[{**rates, "log": True, "steps": 7}])
        case "seeds":
            return ExperimentOptions(repeats=5)
        case "cross-validation":
            return ExperimentOptions(folds=5)
        case "solvers":
            solvers = {"path": "training.solver", "values": ["sgdm", "adam", "rmsprop"]}
            return ExperimentOptions(parameters=[solvers, {**rates, "log": True, "steps": 3}])
    batches = {"path": "training.mini_batch_size", "values": sorted({max(1, batch // 4), batch, batch * 4})}
    return ExperimentOptions(parameters=[batches, {**rates, "log": True, "steps": 5}])


def defined(project: Project, vary: Iterable[object], name: str, options: Mapping[str, Any]) -> Project:
    """Return the project with another definition of its experiment: the ready one with this `name`, if any, parameters
    as `Parameter.read` takes them instead of those with the same path, and options that are neither None nor empty.
    Raises `UserError`."""
    changed = ready(name, project) if name else project.experiment
    if varied := [Parameter.read(entry) for entry in vary]:
        paths = {parameter.path for parameter in varied}
        changed = changed.replace(parameters=[*(p for p in changed.parameters if p.path not in paths), *varied])
    settings = {option: value for option, value in options.items() if value not in (None, "")}
    try:
        return project.with_section("experiment", changed.replace(**settings))
    except FieldErrors as refused:
        raise FieldErrors(error.at(f"experiment.{error.path}") for error in refused.errors) from None


def objectives_of(project: Project, facts: DatasetInfo | None) -> tuple[Objective, ...]:
    """Return the objectives: as defined, else the main metric on the validation split, or its loss; without such a
    split the loss of the training."""
    if project.experiment.objectives:
        return tuple(Objective.read(text) for text in project.experiment.objectives)
    from netwright.engine.project.bindings import in_order

    if facts is None:
        return (Objective("validation.loss"),)
    if not facts.samples.get("validation") and not project.experiment.folds:
        return (Objective("training.loss"),)
    metrics = project.training.metrics_for(in_order(project.network, facts).task)
    return (Objective(f"validation.{metrics[0]}" if metrics else "validation.loss"),)


def key_of(values: Mapping[str, Any]) -> str:
    """Return a text by which equal values of trials are found."""
    return json.dumps(lists_of(values), sort_keys=True)
