"""Which way of dividing the work suits a project here: memory of a worker and time of a step, predicted, and why.

Memory comes from the analysis, time from a few steps of one worker's share on made-up samples and from what sums over
workers were measured to take: it leaves out data, metrics and how workers get in each other's way.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine.environments.arithmetic import meeting_s
from engine.environments.choose import Placement, resolve
from engine.environments.inventory import DeviceInventory
from engine.errors import UserError
from engine.network.analysis import Analysis, analyse
from engine.network.memory import bytes_in_words
from engine.project.check import memory_of
from engine.project.environment import SEVERAL, EnvironmentOptions
from engine.project.project import Project
from engine.project.strategies import strategy_problems

WAYS = ("data-parallel", "fully-sharded", "local-sgd")
NOTES = {
    "fully-sharded": "less memory for weights, more communication",
    "local-sgd": "other numbers than one worker gives",
    "power-sgd": "power-sgd is experimental in torch",
}
Probe = Callable[[int, str, int], float]
"""Seconds of a step of so many samples on a device, with so many threads."""


@dataclass(frozen=True)
class Way:
    """One target and strategy, with what is predicted for it. `room` are the bytes that a worker has, 0: not known."""

    target: str
    strategy: str
    workers: int
    memory_bytes: int
    seconds: float
    room: int
    note: str = ""

    @property
    def name(self) -> str:
        """As the options call it."""
        return f"{self.target}, {self.strategy}" if self.strategy else self.target

    @property
    def fits(self) -> bool:
        """Whether a worker's memory is enough, by the prediction."""
        return not self.room or self.memory_bytes <= self.room


def ways(project: Project, inventory: DeviceInventory, probe: Probe) -> Iterator[Way]:
    """Each way that can run here and goes with the options, predicted."""
    analysis = analyse(project.network)
    for target in ("cpu", "multi-cpu", "gpu", "multi-gpu"):
        for strategy in WAYS if target in SEVERAL else ("",):
            asked = _asked(project.environment, target, strategy)
            if any(strategy_problems(asked, project.training)):
                continue
            batch, pieces = project.training.mini_batch_size, project.training.gradient_accumulation
            try:
                placement = resolve(asked, inventory, batch, pieces)
            except UserError:
                continue
            yield _predicted(replace(project, environment=asked), analysis, placement, inventory, probe)


def _asked(given: EnvironmentOptions, target: str, strategy: str) -> EnvironmentOptions:
    """The options as they are where they are about this target, else the defaults."""
    kept = given.replace(target=target) if given.target == target else EnvironmentOptions(target=target)
    return kept.replace(strategy=strategy, averaging_interval=given.averaging_interval) if strategy else kept


def _predicted(
    project: Project, analysis: Analysis, placement: Placement, inventory: DeviceInventory, probe: Probe
) -> Way:
    count = len(placement.workers)
    most = max(placement.workers, key=lambda worker: worker.samples)
    share = replace(project, training=project.training.replace(mini_batch_size=most.samples))
    memory = memory_of(share, analysis)
    environment = project.environment
    strategy = environment.strategy if count > 1 else ""
    held, meeting = memory.total, 0.0
    match strategy:
        case "data-parallel":
            meeting = meeting_s(memory.gradients)
        case "fully-sharded":
            whole = memory.total - memory.activations
            gathered = 8 * max(facts.parameters for facts in analysis.facts.values())  # a layer and its gradients
            held = memory.activations + whole // count + gathered
            meeting = 3 * meeting_s(memory.gradients)  # gathered forward and backward, and the gradients scattered
        case "local-sgd":
            meeting = meeting_s(memory.weights + memory.optimizer) / environment.averaging_interval
    room = inventory.memory_bytes // count
    if most.device != "cpu":
        room = next(device.memory_bytes for device in inventory.devices if device.name == most.device)
    note = NOTES.get(strategy, "")
    if strategy == "data-parallel" and environment.gradient_compression == "power-sgd":
        note = NOTES["power-sgd"]
    seconds = probe(most.samples, most.device, most.threads) + meeting
    return Way(environment.target, strategy, count, held, seconds, room, note)


def advice(found: Sequence[Way]) -> str:
    """One sentence: which of these, and why. Ways that give other numbers are never advised."""
    alike = [way for way in found if way.strategy != "local-sgd"]
    if not alike:
        return "Nothing that goes with these options can run here."
    fitting = [way for way in alike if way.fits]
    if not fitting:
        least = min(alike, key=lambda way: way.memory_bytes)
        return (
            f"None is expected to fit: {least.name} needs least, {bytes_in_words(least.memory_bytes)} a worker of "
            f"{bytes_in_words(least.room)}; use a smaller mini-batch, or gradient accumulation."
        )
    best = min(fitting, key=lambda way: way.seconds)
    said = f"Use {best.name}: about {1000 * best.seconds:.3g} ms a step"
    faster = [way for way in alike if not way.fits and way.seconds < best.seconds]
    if faster:
        return f"{said}; {faster[0].name} would be faster, and is not expected to fit into memory."
    others = [way for way in fitting if way is not best]
    if not others:
        return f"{said}; nothing else can run here."
    second = min(others, key=lambda way: way.seconds)
    return f"{said}, where {second.name}, the next, takes {1000 * second.seconds:.3g} ms."
