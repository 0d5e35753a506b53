"""The project as a value: a network, the positions of its layers, and the options for training it."""

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from netwright.engine.core.errors import FieldError, UserError, did_you_mean
from netwright.engine.core.fields import Int
from netwright.engine.core.list_fields import Choices
from netwright.engine.core.records import Record, all_problems, set_by_text
from netwright.engine.network import blocks
from netwright.engine.network.block import Block
from netwright.engine.network.blocks import Path, names_of, network_in
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.check_strategies import strategy_problems
from netwright.engine.project.constants import ConstantsFile
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.migrations import FORMAT
from netwright.engine.project.option_names import option_like, option_named
from netwright.engine.project.training import TrainingOptions
from netwright.engine.project.weights import WeightsOptions

ACCELERATIONS: Mapping[str, str] = {
    "manual-backward": "Gradients of plain chains of layers without autograd",
    "fused-optimizers": "torch's fused kernels called directly, for sgdm, adam and adamw",
    "shared-memory": "Workers on the CPU sum gradients through shared memory instead of gloo",
    "placement-trials": "Longer runs on the CPU try numbers of processes and threads at their start",
    "memory-reuse": "On a CPU and Linux, memory that a step frees stays with the process for the next step, unless "
    "padded sequences make batches of other sizes",
}
"""Accelerations of training that do not change its numbers and can be switched off, each with its description."""


class RunOptions(Record):
    """How a run is kept alive, and which accelerations it uses."""

    max_restarts = Int(
        3,
        low=0,
        high=1000,
        unit="restarts",
        group="Run",
        help="Automatic restarts from the last checkpoint after a worker dies or hangs. Default 3. Out-of-memory "
        "is not retried",
        torch="--max-restarts of torchrun",
    )
    accelerations = Choices(
        ("all",),
        options=("all", "none", *ACCELERATIONS),
        notes={"all": "All", "none": "None", **ACCELERATIONS},
        group="Run",
        help="Parts of Netwright that speed up training without changing its numbers. Default all. A part that "
        "does not work with the installed torch is not used, and a note says so. Turn parts off to measure "
        "their effect, or to rule them out as a cause",
    )

    def accelerates(self, name: str) -> bool:
        """Return whether the acceleration of this name is switched on."""
        return "all" in self.accelerations or name in self.accelerations

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        result = super().problems()
        if len(self.accelerations) > 1 and {"all", "none"}.intersection(self.accelerations):
            result.append(FieldError("accelerations", "'all' and 'none' stand alone: leave out one or the others."))
        return result


SECTIONS: Mapping[str, type[Record]] = {
    "data": DataOptions,
    "training": TrainingOptions,
    "environment": EnvironmentOptions,
    "run": RunOptions,
    "weights": WeightsOptions,
    "constants": ConstantsFile,
    "experiment": ExperimentOptions,
}


@dataclass(frozen=True)
class Project:
    """Network, layout, data, training options, environment, run options, weights to start from, constants of imported
    ONNX operators, and the definition of an experiment.

    Unknown content of a newer version is kept and written back: `unknown` sections, keys `unknown_in_network`, and
    `unknown_in_layers` by the layer's id.
    """

    network: Network = field(default_factory=Network.empty)
    layout: Layout = field(default_factory=Layout)
    data: DataOptions = field(default_factory=DataOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)
    environment: EnvironmentOptions = field(default_factory=EnvironmentOptions)
    run: RunOptions = field(default_factory=RunOptions)
    weights: WeightsOptions = field(default_factory=WeightsOptions)
    constants: ConstantsFile = field(default_factory=ConstantsFile)
    experiment: ExperimentOptions = field(default_factory=ExperimentOptions)
    identity: str = ""
    """Given once, see `new_identity`; empty for a project whose file has none yet. Runs carry it."""
    version: tuple[int, int] = FORMAT
    unknown: Mapping[str, Any] = field(default_factory=dict, hash=False)
    unknown_in_network: Mapping[str, Any] = field(default_factory=dict, hash=False)
    unknown_in_layers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    def section(self, name: str) -> Record:
        """Return the options of one section, by its key in the file."""
        record: Record = getattr(self, name)
        return record

    def with_section(self, name: str, record: Record) -> "Project":
        """Return the project with other options in one section."""
        changes: dict[str, Any] = {name: record}
        return replace(self, **changes)

    @property
    def data_of_trials(self) -> DataOptions:
        """The data that the trials of its experiment share: its splits, or the first fold."""
        folds = self.experiment.folds
        return self.data.replace(split="k-fold", folds=folds, fold=1) if folds else self.data

    def option_problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = all_problems((name, self.section(name)) for name in SECTIONS)
        errors += strategy_problems(self.environment, self.training)
        return errors


IDENTITY = re.compile("[A-Za-z0-9-]{8,64}")


def new_identity() -> str:
    """Return the identity of a new project. No other project has it, on this machine or another."""
    return str(uuid.uuid4())


def set_option(project: Project, assignment: str) -> Project:
    """Return the project with one `--set section.name=value` applied. Raises `UserError` that names the error."""
    path, equals, text = assignment.partition("=")
    section, dot, name = path.strip().partition(".")
    if not equals or not dot:
        option = option_named(path, SECTIONS)
        raise UserError(
            f"--set {assignment}: expected section.option=value, such as training.max_epochs=5.",
            hint=f"Did you mean '{option}'?" if option else "",
        )
    if section not in SECTIONS:
        option = option_named(name, SECTIONS)
        hint = did_you_mean(section, SECTIONS) or (f"Did you mean '{option}'?" if option else "")
        raise UserError(
            f"--set {assignment}: there is no section '{section}'.",
            hint=f"{hint} Sections are: {', '.join(SECTIONS)}.",
        )
    if name not in SECTIONS[section].fields:
        option = option_like(name, SECTIONS, section).removeprefix(f"{section}.")
        hint = f"Did you mean '{option}'?" if option else f"`netwright-engine options {section}.` lists them."
        raise FieldError(f"{section}.{name}", "there is no such option.", hint=hint)
    return project.with_section(section, set_by_text(project.section(section), name, text.strip(), section))


def project_in(project: Project, path: Path) -> Project:
    """Return the project with the network and the layout inside a block. Raises `UserError` if there is no such
    block."""
    if not path:
        return project
    return replace(project, network=network_in(project.network, path), layout=project.layout.within(path))


def with_project_in(project: Project, path: Path, inner: Project) -> Project:
    """Return the outer project after an edit inside a block, or of any option. Raises `UserError`."""
    if not path:
        return inner
    network = blocks.with_network_in(project.network, path, inner.network)
    return replace(inner, network=network, layout=blocks.with_layout_in(network, project.layout, path, inner.layout))


def block_paths(network: Network, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return the path of every block, outer blocks first."""
    for id, layer in network.layers.items():
        if isinstance(layer.type, Block):
            yield (*path, id)
            yield from block_paths(layer.type.network, (*path, id))


def lifted(project: Project, path: Path, problem: Problem) -> Problem:
    """Return a problem from inside a block with paths as in the whole project; its fix applies to the whole project."""
    for id, name in zip(reversed(path), reversed(names_of(project.network, path)), strict=True):
        problem = problem.lifted(id, name)
    fix = problem.fix
    if fix is None or not path:
        return problem

    def edit(whole: Project) -> Project:
        return with_project_in(whole, path, fix.edit(project_in(whole, path)))

    return replace(problem, fix=replace(fix, edit=edit))


def lowered(problem: Problem, path: Path) -> Problem | None:
    """Return a problem of the whole project with paths as inside a block, or None where it concerns another part.

    A problem in a nested block is reported at that block.
    """
    depth = len(path)
    if not problem.layer:
        return problem if not path else None
    if problem.path[:depth] != tuple(path):
        return None
    ids, names = problem.path[depth:], problem.name.split("/")[depth:]
    if not ids:
        return replace(problem, layer="", name="")
    message = problem.message if len(ids) == 1 else f"Inside, {'/'.join(names[1:])}: {problem.message}"
    return replace(problem, layer=ids[0], name=names[0], message=message, field=problem.field if len(ids) == 1 else "")
