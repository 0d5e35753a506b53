"""The pipeline stages of a project: problems, memory per stage, and edits.

They are stored as text in `environment.stages`, by layer name, which can also be written by hand.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from engine.core.errors import UserError
from engine.network.analysis import Analysis, frozen_parameters
from engine.network.block import Block
from engine.network.memory import StepOptions, activation_bytes, optimizer_states, training_memory
from engine.network.network import Network
from engine.network.problems import Fix, Problem
from engine.project.check_strategies import pieces_of_batch, wrong_count
from engine.project.environment import SEVERAL, EnvironmentOptions
from engine.project.pipeline_stages import (
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
from engine.project.project import Project

Rule = Literal["work", "memory"]


def has_stages(environment: EnvironmentOptions) -> bool:
    """Whether a run has stages, if it has several workers."""
    return environment.strategy == "pipeline" and environment.target in SEVERAL


def asked_workers(environment: EnvironmentOptions) -> int:
    """How many workers are asked for; 0 where that is left to the machine."""
    return environment.num_workers if environment.target == "multi-cpu" else len(environment.devices)


@dataclass(frozen=True)
class Shown:
    """What there is to see: the stages, if there are any; whether they are automatic; why there are none."""

    stages: Stages | None = None
    is_automatic: bool = True
    refusal: str = ""


def shown_stages(project: Project, analysis: Analysis, workers: int) -> Shown:
    """The stages as they are written down, also where they cannot be meant, else those of so many workers."""
    text = project.environment.stages
    try:
        if text.strip():
            found = assigned(project.network, read_stages(text))
            return Shown(stages(found, lambda id: work(analysis, id)), is_automatic=False)
        if analysis.has_errors:
            return Shown(refusal="The network has errors; correct them first.")
        return Shown(balanced_stages(project.network, analysis, workers))
    except UserError as error:
        said = str(error)
        return Shown(is_automatic=not text.strip(), refusal=said[:1].upper() + said[1:])


def stage_problems(project: Project, analysis: Analysis) -> Iterator[Problem]:
    """Why a network without errors cannot be cut into its stages, as far as the number of workers is known."""
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
    said = read_stages(environment.stages)
    found = list(faults(network, analysis, said))
    for fault in found:
        name = network.layers[fault.layer].name if fault.layer else ""
        fix = None
        if fault.stage is not None:
            fix = Fix(f"Put {name} into stage {fault.stage + 1}", _moving(fault.layer, fault.stage))
        yield _problem(fault.message, fault.layer, name, fix)
    count = max(assigned(network, said).values(), default=0) + 1
    if not found and workers and (why := wrong_count(count, workers)):
        yield _problem(why, fix=Fix("Balance", lambda project: balanced(project, analysis, workers)))


def _problem(message: str, layer: str = "", name: str = "", fix: Fix | None = None) -> Problem:
    return Problem("error", layer, name, "environment.stages", message, fix)


def _moving(id: str, stage: int) -> Callable[[Project], Project]:
    """Only this layer: those that it feeds say themselves where they cannot stay."""

    def edit(project: Project) -> Project:
        found = assigned(project.network, read_stages(project.environment.stages))
        return _with(project, {**found, id: stage})

    return edit


def put(project: Project, analysis: Analysis, ids: Collection[str], stage: int, workers: int) -> Project:
    """Layers of the outermost network in a stage, from 0. All others stay where they are shown, but for those that a
    connection would lead backwards from or to: they go along."""
    network = project.network
    shown = shown_stages(project, analysis, workers).stages
    found = dict.fromkeys(network.order, 0) | (dict(shown.of) if shown else {})
    found |= dict.fromkeys((id for id in ids if id in found), stage)
    for id in network.order:
        if id not in ids:
            found[id] = max([found[id], *(found[port.layer] for port in network.incoming[id].values())])
    for id in reversed(network.order):
        if id not in ids:
            fed = (connection.target.layer for connection in network.outgoing[id])
            found[id] = min([found[id], *(found[other] for other in fed if other in found)])
    return _with(project, found)


def balanced(project: Project, analysis: Analysis, workers: int, rule: Rule = "work") -> Project:
    """So many stages of equal cost, written down. Raises `UserError` where there cannot be so many."""
    cost = None if rule == "work" else held_by_layer(project, analysis, workers)
    return _with(project, balanced_stages(project.network, analysis, workers, cost).of)


def cleared(project: Project) -> Project:
    """The stages left to the engine, which balances them when a run begins."""
    return replace(project, environment=project.environment.replace(stages=""))


def with_pipeline(project: Project) -> Project:
    """The pipeline chosen, on the workers that were asked for or else on those of the CPU."""
    target = project.environment.target
    several = target if target in SEVERAL else "multi-cpu"
    return replace(project, environment=project.environment.replace(target=several, strategy="pipeline"))


def _with(project: Project, of: Mapping[str, int]) -> Project:
    return replace(project, environment=project.environment.replace(stages=written(project.network, of)))


def held_by_layer(project: Project, analysis: Analysis, workers: int) -> Cost:
    """Bytes that each layer takes in a pipeline: weights, gradients, what the solver remembers, and what is kept of its
    output of as many pieces of a batch as a stage holds at once, on the average."""
    training = project.training
    pieces = pieces_of_batch(with_pipeline(project).environment, training.gradient_accumulation, workers)
    at_once = -(-training.mini_batch_size // pieces) * (min(pieces, workers) + 1) // 2
    states = optimizer_states(training.solver, training.momentum, training.history_size, analysis.parameters)

    def cost(id: str) -> int:
        shapes = analysis.shapes.get(id)
        return 4 * shapes.parameters * (2 + states) + (activation_bytes(shapes, at_once) or 0) if shapes else 0

    return cost


def stage_bytes(project: Project, analysis: Analysis, stages: Stages) -> list[int]:
    """Bytes that the worker of each stage is expected to take. The first holds what is kept of as many pieces of a
    batch as there are stages, the last of one."""
    training = project.training
    pieces = pieces_of_batch(with_pipeline(project).environment, training.gradient_accumulation, stages.count)
    states = optimizer_states(training.solver, training.momentum, training.history_size, analysis.parameters)
    found = []
    for number in range(stages.count):
        own = {id: shapes for id, shapes in analysis.shapes.items() if stages.of.get(id) == number}
        part = Analysis(own, (), {id: inside for id, inside in analysis.inside.items() if id in own})
        samples = -(-training.mini_batch_size // pieces) * min(pieces, stages.count - number)
        frozen = frozen_parameters(project.network, part)
        found.append(training_memory(part, samples, states, frozen, step=StepOptions(1, training.precision)).total)
    return found


def with_stages_kept(before: Project, after: Project) -> Project:
    """A project whose network was edited, with each layer in the stage in which it was, whatever it is called now and
    whatever feeds it. A new layer is where the latest is that feeds it; what was grouped stays in its stage, and so
    does what comes out of a block."""
    text, was, now = before.environment.stages, before.network, after.network
    if not text.strip() or after.environment.stages != text or now is was:
        return after
    if now.connections is was.connections and _names(now) == _names(was):
        return after
    try:
        said = read_stages(text)
    except UserError:
        return after
    of = assigned(was, said)
    kept = {id: of[id] for id in now.layers if id in of} | _regrouped(was, now, of)
    unknown = [f"{name}: {number}" for name, number in said.items() if name not in was.by_name]
    parts = [part for part in (written(now, kept), *unknown) if part]
    return replace(after, environment=after.environment.replace(stages=", ".join(parts)))


def _names(network: Network) -> list[tuple[str, str]]:
    return [(id, layer.name) for id, layer in network.layers.items()]


def _regrouped(was: Network, now: Network, of: Mapping[str, int]) -> dict[str, int]:
    """The stages of new blocks that hold layers which had some, and of the layers that came out of a block."""
    found: dict[str, int] = {}
    added = [id for id in now.layers if id not in was.layers]
    left = [id for id in was.layers if id not in now.layers]
    for id in added:
        type = now.layers[id].type
        if isinstance(type, Block) and (inside := [of[one] for one in type.network.layers if one in left]):
            found[id] = max(inside)
    if len(left) == 1 and isinstance(was.layers[left[0]].type, Block) and added:
        found |= {id: of[left[0]] for id in added if id not in found}
    return found
