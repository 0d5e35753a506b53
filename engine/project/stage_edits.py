"""The pipeline stages of a project: problems, memory per stage, and edits.

They are stored as text in `environment.stages`, by layer name, which can also be edited by hand.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from netwright.engine.core.errors import UserError
from netwright.engine.network.analysis import Analysis, frozen_parameters
from netwright.engine.network.block import Block
from netwright.engine.network.memory import StepOptions, activation_bytes, optimizer_states, training_memory
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Fix, Problem
from netwright.engine.project.check_strategies import pieces_of_batch, wrong_count
from netwright.engine.project.environment import SEVERAL, EnvironmentOptions
from netwright.engine.project.pipeline_stages import (
    Cost,
    Stages,
    assigned,
    balanced_stages,
    enough_learning,
    faults,
    read_stages,
    stages,
    work,
    written,
)
from netwright.engine.project.project import Project

Rule = Literal["work", "memory"]


def has_stages(environment: EnvironmentOptions) -> bool:
    """Return whether a run has stages, if it has several workers."""
    return environment.strategy == "pipeline" and environment.target in SEVERAL


def asked_workers(environment: EnvironmentOptions) -> int:
    """Return the requested number of workers; 0 where it depends on the machine."""
    return environment.num_workers if environment.target == "multi-cpu" else len(environment.devices)


@dataclass(frozen=True)
class Shown:
    """The stages to show, if there are any; whether they are automatic; the reason if there are none."""

    stages: Stages | None = None
    is_automatic: bool = True
    refusal: str = ""


def shown_stages(project: Project, analysis: Analysis, workers: int) -> Shown:
    """Return the stages as written, even if invalid, else balanced stages for the number of workers."""
    text = project.environment.stages
    try:
        if text.strip():
            stage_of = assigned(project.network, read_stages(text))
            return Shown(stages(stage_of, lambda id: work(analysis, id)), is_automatic=False)
        if analysis.has_errors:
            return Shown(refusal="The network has errors; correct them first.")
        return Shown(balanced_stages(project.network, analysis, workers))
    except UserError as error:
        message = str(error)
        return Shown(is_automatic=not text.strip(), refusal=message[:1].upper() + message[1:])


def stage_problems(project: Project, analysis: Analysis) -> Iterator[Problem]:
    """Return the reasons why a network without errors cannot be divided into its stages, as far as the number of
    workers is known."""
    environment = project.environment
    if not has_stages(environment) or analysis.has_errors or environment.problems():
        return  # other errors are to be put right first
    network, workers = project.network, asked_workers(environment)
    if not environment.stages.strip():
        try:
            enough_learning(network, analysis, workers)
        except UserError as error:
            yield _problem(str(error))
        return
    numbers = read_stages(environment.stages)
    stage_faults = list(faults(network, analysis, numbers))
    for fault in stage_faults:
        name = network.layers[fault.layer].name if fault.layer else ""
        fix = None
        if fault.stage is not None:
            fix = Fix(f"Put {name} into stage {fault.stage + 1}", _moving(fault.layer, fault.stage))
        yield _problem(fault.message, fault.layer, name, fix)
    count = max(assigned(network, numbers).values(), default=0) + 1
    if not stage_faults and workers and (why := wrong_count(count, workers)):
        yield _problem(why, fix=Fix("Balance", lambda project: balanced(project, analysis, workers)))


def _problem(message: str, layer: str = "", name: str = "", fix: Fix | None = None) -> Problem:
    return Problem("error", layer, name, "environment.stages", message, fix)


def _moving(id: str, stage: int) -> Callable[[Project], Project]:
    """Return an edit that moves only this layer; layers that it feeds report a problem of their own if they cannot
    stay."""

    def edit(project: Project) -> Project:
        numbers = assigned(project.network, read_stages(project.environment.stages))
        return _with(project, {**numbers, id: stage})

    return edit


def put(project: Project, analysis: Analysis, ids: Collection[str], stage: int, workers: int) -> Project:
    """Put layers of the outermost network in a stage, from 0. All others keep the stage that is shown, except those
    from or to which a connection would lead backwards: they are moved too."""
    network = project.network
    present = shown_stages(project, analysis, workers).stages
    stage_of = dict.fromkeys(network.order, 0) | (dict(present.of) if present else {})
    stage_of |= dict.fromkeys((id for id in ids if id in stage_of), stage)
    for id in network.order:
        if id not in ids:
            stage_of[id] = max([stage_of[id], *(stage_of[port.layer] for port in network.incoming[id].values())])
    for id in reversed(network.order):
        if id not in ids:
            fed = (connection.target.layer for connection in network.outgoing[id])
            stage_of[id] = min([stage_of[id], *(stage_of[other] for other in fed if other in stage_of)])
    return _with(project, stage_of)


def balanced(project: Project, analysis: Analysis, workers: int, rule: Rule = "work") -> Project:
    """Return the project with this number of stages of equal cost written down. Raises `UserError` where it is not
    possible."""
    cost = None if rule == "work" else held_by_layer(project, analysis, workers)
    return _with(project, balanced_stages(project.network, analysis, workers, cost).of)


def cleared(project: Project) -> Project:
    """Return the project with automatic stages, which the engine balances when a run begins."""
    return replace(project, environment=project.environment.replace(stages=""))


def with_pipeline(project: Project) -> Project:
    """Return the project with the pipeline strategy, on the requested workers or else on those of the CPU."""
    target = project.environment.target
    several = target if target in SEVERAL else "multi-cpu"
    return replace(project, environment=project.environment.replace(target=several, strategy="pipeline"))


def _with(project: Project, of: Mapping[str, int]) -> Project:
    return replace(project, environment=project.environment.replace(stages=written(project.network, of)))


def held_by_layer(project: Project, analysis: Analysis, workers: int) -> Cost:
    """Return the bytes per layer in a pipeline: weights, gradients, the solver's state, and the kept outputs of as
    many micro-batches as a stage holds at once, on average."""
    training = project.training
    pieces = pieces_of_batch(with_pipeline(project).environment, training.gradient_accumulation, workers)
    at_once = -(-training.mini_batch_size // pieces) * (min(pieces, workers) + 1) // 2
    states = optimizer_states(training.solver, training.momentum, training.history_size, analysis.parameters)

    def cost(id: str) -> int:
        shapes = analysis.shapes.get(id)
        return 4 * shapes.parameters * (2 + states) + (activation_bytes(shapes, at_once) or 0) if shapes else 0

    return cost


def stage_bytes(project: Project, analysis: Analysis, stages: Stages) -> list[int]:
    """Return the expected bytes of the worker of each stage. The first holds the activations of as many micro-batches
    as there are stages, the last those of one."""
    training = project.training
    pieces = pieces_of_batch(with_pipeline(project).environment, training.gradient_accumulation, stages.count)
    states = optimizer_states(training.solver, training.momentum, training.history_size, analysis.parameters)
    bytes_by_stage = []
    for number in range(stages.count):
        own = {id: shapes for id, shapes in analysis.shapes.items() if stages.of.get(id) == number}
        part = Analysis(own, (), {id: inside for id, inside in analysis.inside.items() if id in own})
        samples = -(-training.mini_batch_size // pieces) * min(pieces, stages.count - number)
        frozen = frozen_parameters(project.network, part)
        bytes_by_stage.append(
            training_memory(part, samples, states, frozen, step=StepOptions(1, training.precision)).total
        )
    return bytes_by_stage


def with_stages_kept(before: Project, after: Project) -> Project:
    """Return a project after an edit of its network, with each layer in its previous stage, under any new name and
    with any new sources. A new layer is in the latest stage of its sources; grouped layers stay in their stage, and so
    do the layers of an ungrouped block."""
    text, was, now = before.environment.stages, before.network, after.network
    if not text.strip() or after.environment.stages != text or now is was:
        return after
    if now.connections is was.connections and _names(now) == _names(was):
        return after
    try:
        numbers = read_stages(text)
    except UserError:
        return after
    of = assigned(was, numbers)
    stage_of = {id: of[id] for id in now.layers if id in of} | _regrouped(was, now, of)
    unknown = [f"{name}: {number}" for name, number in numbers.items() if name not in was.by_name]
    parts = [part for part in (written(now, stage_of), *unknown) if part]
    return replace(after, environment=after.environment.replace(stages=", ".join(parts)))


def _names(network: Network) -> list[tuple[str, str]]:
    return [(id, layer.name) for id, layer in network.layers.items()]


def _regrouped(was: Network, now: Network, of: Mapping[str, int]) -> dict[str, int]:
    """Return the stages of new blocks that contain layers with a stage, and of the layers of ungrouped blocks."""
    stage_of: dict[str, int] = {}
    added = [id for id in now.layers if id not in was.layers]
    removed_ids = [id for id in was.layers if id not in now.layers]
    for id in added:
        type = now.layers[id].type
        if isinstance(type, Block) and (
            inside := [of[inner_id] for inner_id in type.network.layers if inner_id in removed_ids]
        ):
            stage_of[id] = max(inside)
    if len(removed_ids) == 1 and isinstance(was.layers[removed_ids[0]].type, Block) and added:
        stage_of |= {id: of[removed_ids[0]] for id in added if id not in stage_of}
    return stage_of
