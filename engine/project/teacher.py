"""The teacher of a training by distillation: the run it is read from, and whether it fits the project."""

from dataclasses import dataclass
from pathlib import Path

from netwright.engine.core.errors import UserError, listed
from netwright.engine.core.files import read_object
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.bindings import match_inputs
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.user_code import has_code
from netwright.engine.project.weights import RUN_FILE, file_in

OPTION = "training.distil_from"
MANIFEST_LIMIT_BYTES = 2**26
TAUGHT = ("classes", "labels", "numbers")
"""Tasks whose answers can be learned."""


@dataclass(frozen=True)
class Teacher:
    """The network of a run, the facts of the data it was trained on, and the folder of its weights."""

    network: Network
    facts: DatasetInfo
    weights: Path


def read_teacher(project: Project, base: Path) -> Teacher:
    """Return the teacher that a project names; a relative path starts at `base`. Raises `UserError`."""
    run = base / project.training.distil_from
    if not run.exists():
        raise UserError(
            f"{OPTION}: the teacher {run} cannot be read: there is no such folder.",
            hint=f"Name the folder of a run, or train without a teacher: --set {OPTION}=",
            code="not_found",
        )
    try:
        weights = file_in(run).parent
    except UserError as error:
        raise error.reworded(f"{OPTION}: {error}") from None
    if not (weights.parent / RUN_FILE).is_file():
        raise UserError(f"{OPTION}: {run} is no run.", hint="Name the folder of a run that has trained.")
    network = load(weights.parent / "project.netwright").project.network
    if has_code(network):
        raise UserError(
            f"{OPTION}: the network of {run} has layers with code of its own, which is not run here.",
            hint="Export it as pt2, and use it in a training step of your own.",
        )
    manifest = read_object(weights / "manifest.json", MANIFEST_LIMIT_BYTES, may_be_deep=True)
    try:
        facts = DatasetInfo.read((manifest or {})["dataset"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UserError(f"{OPTION}: {run} did not store what its data is like. Train it again.") from None
    return Teacher(network, facts, weights)


def refuse_unfit_teacher(project: Project, facts: DatasetInfo, base: Path) -> None:
    """Raise `UserError` where the teacher of a project, if it names one, is gone or does not fit."""
    if project.training.distil_from:
        refuse_teacher(read_teacher(project, base), project, facts)


def teacher_problem(project: Project, facts: DatasetInfo | None, base: Path) -> Problem | None:
    """Return the problem of a teacher that is gone or does not fit, or None."""
    try:
        if facts is not None:
            refuse_unfit_teacher(project, facts, base)
    except UserError as error:
        return Problem("error", "", "", OPTION, str(error).removeprefix(f"{OPTION}: "))
    return None


def refuse_teacher(teacher: Teacher, project: Project, facts: DatasetInfo) -> None:
    """Raise `UserError` where the teacher takes other inputs or gives other answers than the network of the project is
    to learn."""
    theirs, ours = teacher.facts, facts
    if len(theirs.inputs) != len(ours.inputs) or len(theirs.targets) != len(ours.targets):
        raise _other(
            f"has {len(theirs.inputs)} inputs and {len(theirs.targets)} targets",
            f"{len(ours.inputs)} and {len(ours.targets)}",
        )
    for other, own in zip(theirs.inputs, ours.inputs, strict=True):
        if other.columns != own.columns:
            raise _other(f"takes the columns {_some(other.columns)}", _some(own.columns))
        if other.type.axes != own.type.axes or other.type.kind != own.type.kind or not _is_alike(other.type, own.type):
            raise _other(f"takes '{other.name}' {other.short()}", own.short())
    for answer, target in zip(theirs.targets, ours.targets, strict=True):
        if answer.task != target.task or answer.type.axes != target.type.axes:
            raise _other(f"gives {answer.spoken()}", target.spoken())
        if answer.classes != target.classes:
            raise _other(f"knows the classes {_some(answer.classes)}", _some(target.classes))
        if answer.outputs != target.outputs:
            raise _other(f"gives {answer.spoken()}", target.spoken())
        if target.task not in TAUGHT:
            raise UserError(f"{OPTION}: answers that are {target.spoken()} cannot be learned from a teacher.")
    shapes = analyse(teacher.network)
    if len(match_inputs(teacher.network, facts)) != len(teacher.network.inputs) or shapes.problems:
        raise UserError(f"{OPTION}: the network of the teacher does not fit the data of the project.")
    if len(teacher.network.output_ports) != len(project.network.output_ports):
        raise _other(f"has {len(teacher.network.output_ports)} outputs", str(len(project.network.output_ports)))


def _other(theirs: str, ours: str) -> UserError:
    return UserError(
        f"{OPTION}: the teacher {theirs}; the project has {ours}.",
        hint="Choose a run on the same data, or give the project the data options of the teacher.",
    )


def _is_alike(theirs: object, own: object) -> bool:
    """Return whether two types have the same sizes; sequences may differ in length."""
    pairs = zip(theirs.axes, theirs.sizes, own.sizes, strict=True)  # type: ignore[attr-defined]
    return all(axis == "T" or mine == other for axis, mine, other in pairs)


def _some(names: tuple[str, ...], most: int = 6) -> str:
    return listed([*names[:most], *(["others"] if len(names) > most else [])]) if names else "without names"
