"""Predicts memory and step time for each environment and strategy, and recommends one.

Memory comes from the analysis; time from a few steps of one worker's shard on synthetic samples, plus the measured
cost of all-reduce. Data loading, metrics and contention between workers are omitted. A shard whose prediction exceeds
the memory is timed with fewer samples, and the time is scaled.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.text import format_bytes
from netwright.engine.network.analysis import Analysis, analyse, type_at
from netwright.engine.network.memory import Memory
from netwright.engine.placement.batch_arithmetic import all_reduce_s
from netwright.engine.placement.choose import Placement, resolve
from netwright.engine.placement.inventory import DeviceInventory, can_share
from netwright.engine.project.check import memory_of
from netwright.engine.project.check_strategies import pieces_of_batch, stages_of, strategy_problems
from netwright.engine.project.environment import SEVERAL, EnvironmentOptions
from netwright.engine.project.pipeline_stages import crossing_bytes
from netwright.engine.project.project import Project
from netwright.engine.project.stage_edits import stage_bytes

WAYS = ("data-parallel", "fully-sharded", "local-sgd", "pipeline")
_UNTRIED = ("data-parallel", "", "fully-sharded", "local-sgd", "pipeline")
"""Order of recommendation where no time is known."""
LEAST_BUSY_CORES, BUSY_SHARE = 0.3, 0.1
"""Cores that others keep busy from which times are not alike: so many, and this share of all."""
ALIKE = 1.1
"""Ratio of two predicted times up to which they count as equal."""
NOTES = {
    "fully-sharded": "less memory for weights, more communication",
    "local-sgd": "other numbers than one worker gives",
    "pipeline": "experimental",
}
PIECEWISE = "batch normalisation takes the statistics of each piece"
_BETWEEN_GPUS_S, _BETWEEN_GPUS_BYTES_S = 5e-5, 1e10
"""Approximate cost of an all-reduce over two GPUs: PCIe 4.0 over nccl. It was not measured here."""
Probe = Callable[[int, str, int], float | None]
"""Seconds per step for a number of samples on a device, with a number of threads; None where it cannot be measured."""


@dataclass(frozen=True)
class Forecast:
    """A target and strategy with its prediction. `room`: bytes available to a worker, 0 if not known; `seconds`: None
    where no time could be measured; `is_exact`: whether the numbers are those of one worker."""

    target: str
    strategy: str
    workers: int
    memory_bytes: int
    seconds: float | None
    room: int
    note: str = ""
    is_exact: bool = True

    @property
    def name(self) -> str:
        """Return the name as in the options."""
        return f"{self.target}, {self.strategy}" if self.strategy else self.target

    @property
    def fits(self) -> bool:
        """Return whether a worker's memory is predicted to be sufficient."""
        return not self.room or self.memory_bytes <= self.room

    @property
    def step(self) -> str:
        """Return the time of a step as text."""
        if self.seconds is None:
            return "not known"
        return f"{1000 * self.seconds:.3g} ms" if self.seconds < 0.9995 else f"{self.seconds:.3g} s"


def forecasts(project: Project, inventory: DeviceInventory, probe: Probe) -> Iterator[Forecast]:
    """Predict every environment and strategy that is available here and fits the options."""
    analysis = analyse(project.network)
    for target in ("cpu", "multi-cpu", "gpu", "multi-gpu"):
        for strategy in WAYS if target in SEVERAL else ("",):
            environment = _asked(project.environment, target, strategy)
            if any(strategy_problems(environment, project.training)):
                continue
            batch, pieces = project.training.mini_batch_size, project.training.gradient_accumulation
            meant = replace(project, environment=environment)
            try:
                placement = resolve(environment, inventory, batch, pieces)
                yield _Prediction(meant, analysis, placement, inventory, probe).forecast()
            except UserError:
                continue


def _asked(environment: EnvironmentOptions, target: str, strategy: str) -> EnvironmentOptions:
    """Return the options as they are where they concern this target, else the defaults."""
    options = environment.replace(target=target) if environment.target == target else EnvironmentOptions(target=target)
    options = options.replace(stages=environment.stages, pipeline_pieces=environment.pipeline_pieces)
    return (
        options.replace(strategy=strategy, averaging_interval=environment.averaging_interval) if strategy else options
    )


class _Prediction:
    """Predicts memory and step time of one environment and strategy."""

    def __init__(
        self, project: Project, analysis: Analysis, placement: Placement, inventory: DeviceInventory, probe: Probe
    ) -> None:
        self._project, self._analysis, self._probe = project, analysis, probe
        self._environment = project.environment
        self._count = len(placement.workers)
        self._target = placement.target
        self._most = max(placement.workers, key=lambda worker: worker.samples)
        self._device_room = inventory.memory_bytes
        if self._most.device != "cpu":
            self._device_room = next(d.memory_bytes for d in inventory.devices if d.name == self._most.device)
        is_shared = self._most.device == "cpu"
        self._room = self._device_room // self._count if is_shared else self._device_room

    def forecast(self) -> Forecast:
        """Return the forecast. Raises `UserError` for impossible stages."""
        strategy = self._environment.strategy if self._count > 1 else ""
        if strategy == "pipeline":
            return self._pipeline()
        memory = self._memory(self._most.samples)
        memory_bytes, communication = memory.total, 0.0
        shares_memory = can_share() and self._project.run.accelerates("shared-memory")
        match strategy:
            case "data-parallel":
                is_plain = self._environment.gradient_compression == "none"
                communication = self._all_reduce_s(memory.gradients, through_memory=is_plain and shares_memory)
            case "fully-sharded":
                memory_bytes = self._shard(memory)
                communication = 3 * self._all_reduce_s(memory.gradients)  # gathered twice, gradients scattered
            case "local-sgd":
                communication = self._all_reduce_s(memory.weights + memory.optimizer, through_memory=shares_memory)
                communication /= self._environment.averaging_interval
        note = NOTES.get(strategy, "")
        is_exact = strategy != "local-sgd"
        alone = self._seconds(self._most.samples)
        seconds = None if alone is None else alone + communication
        return Forecast(self._target, strategy, self._count, memory_bytes, seconds, self._room, note, is_exact)

    def _shard(self, memory: Memory) -> int:
        """Return the bytes of a worker that holds a shard of each weight; with offloading, all but the activations is
        on the CPU."""
        gathered = 8 * max(facts.parameters for facts in self._analysis.shapes.values())  # a layer and its gradients
        own = (memory.total - memory.activations) // self._count
        is_elsewhere = self._environment.cpu_offload and self._most.device != "cpu"
        return memory.activations + gathered + (0 if is_elsewhere else own)

    def _pipeline(self) -> Forecast:
        """Return the prediction of a pipeline: each turn takes as long as a micro-batch in the largest stage, and the
        first micro-batch passes all stages before the last worker begins; activations and gradients are sent in each
        turn."""
        training, network = self._project.training, self._project.network
        stages = stages_of(network, self._analysis, self._environment, self._count)
        pieces = pieces_of_batch(self._environment, training.gradient_accumulation, self._count)
        samples = -(-training.mini_batch_size // pieces)
        communication = 2 * self._all_reduce_s(samples * max(crossing_bytes(network, self._analysis, stages.of)))
        alone = self._seconds(samples)
        turns = pieces + self._count - 1
        seconds = None if alone is None else turns * (alone * max(stages.shares) + communication)
        memory_bytes = max(stage_bytes(self._project, self._analysis, stages))
        is_exact = pieces == training.gradient_accumulation or not _normalises(self._project, self._analysis)
        note = NOTES["pipeline"] if is_exact else f"{NOTES['pipeline']}; {PIECEWISE}"
        return Forecast(self._target, "pipeline", self._count, memory_bytes, seconds, self._room, note, is_exact)

    def _all_reduce_s(self, count: int, *, through_memory: bool = False) -> float:
        """Return the seconds for an all-reduce of these bytes over the workers, or for sending them to the next."""
        if self._most.device == "cpu":
            return all_reduce_s(count, through_memory=through_memory)
        return _BETWEEN_GPUS_S + count / _BETWEEN_GPUS_BYTES_S

    def _memory(self, samples: int) -> Memory:
        share = self._project.training.replace(mini_batch_size=samples)
        return memory_of(replace(self._project, training=share), self._analysis)

    def _seconds(self, samples: int) -> float | None:
        """Return the seconds per step of one worker with the whole network, measured with as many samples as fit."""
        batch = samples
        while self._device_room and self._memory(batch).total > self._device_room:
            if batch == 1:
                return None
            batch = -(-batch // 2)
        seconds = self._probe(batch, self._most.device, self._most.threads)
        return None if seconds is None else seconds * samples / batch


def _normalises(project: Project, analysis: Analysis) -> bool:
    """Return whether any layer computes batch statistics."""
    return any(type_at(project.network, path).key == "batch_norm" for path, _ in analysis.all_shapes())


def best_of(forecasts: Sequence[Forecast], automatic: str = "") -> Forecast | None:
    """Return the fastest forecast that fits; one with different numbers only where no other fits. `automatic` is the
    target that auto takes: it is the best where nothing else is faster by more than a prediction can tell."""
    fitting = [forecast for forecast in forecasts if forecast.fits]
    possible = [forecast for forecast in fitting if forecast.is_exact] or fitting
    best = min(possible, key=_slowness, default=None)
    usual = next((forecast for forecast in possible if _is_usual(forecast, automatic)), None)
    if best is None or usual is None or best.seconds is None or usual.seconds is None:
        return best
    return usual if usual.seconds <= ALIKE * best.seconds else best


def _is_usual(forecast: Forecast, automatic: str) -> bool:
    """Return whether a forecast is that of the automatic choice."""
    return forecast.target == automatic and forecast.strategy in ("", "data-parallel")


def _beside_auto(best: Forecast, automatic: str) -> str:
    """Return a sentence on the automatic choice, where its target is known."""
    if not automatic:
        return ""
    if _is_usual(best, automatic):
        return " The environment auto takes it, too."
    if (automatic, best.target, best.strategy) == ("cpu", "multi-cpu", "data-parallel"):
        return " The environment auto begins with cpu; in a longer run it tries several processes and keeps the faster."
    return f" The environment auto takes {automatic}."


def advice(forecasts: Sequence[Forecast], automatic: str = "") -> str:
    """Return the best forecast and the reason in a sentence, and the automatic choice in another one."""
    if not forecasts:
        return "No environment that fits these options is available here."
    best = best_of(forecasts, automatic)
    if best is None:
        return _none_fits(forecasts)
    return _because(best, forecasts) + _beside_auto(best, automatic)


def disturbance(busy_cores: float, num_cores: int, names: Sequence[str] = ()) -> str:
    """Return a warning where other programs keep so many cores busy that times cannot be compared; `names` are those of
    runs and experiments among them. Empty where the machine rests."""
    if busy_cores < max(LEAST_BUSY_CORES, BUSY_SHARE * num_cores):
        return ""
    cores = f"{min(busy_cores, num_cores):.1f} of {plural(num_cores, 'core')}"
    end = "The times cannot be compared: repeat this once the machine rests."
    known = f" At work: {'; '.join(names)}." if names else ""
    return f"The machine is busy: other programs take {cores}. {end}{known}"


def _because(best: Forecast, forecasts: Sequence[Forecast]) -> str:
    sentence = f"Use {best.name}{_warning(best)}: {_takes(best)}"
    if not best.is_exact:
        return f"{sentence}; what gives the numbers of one worker is not expected to fit."
    missed = [
        forecast for forecast in forecasts if forecast.is_exact and not forecast.fits and _may_be_faster(forecast, best)
    ]
    if missed:
        least = min(missed, key=lambda forecast: forecast.memory_bytes)
        return f"{sentence}, {format_bytes(best.memory_bytes)} per worker. {_too_large(least)}"
    others = [forecast for forecast in forecasts if forecast.fits and forecast.is_exact and forecast is not best]
    if not others:
        return f"{sentence}; nothing else can run here."
    second = min(others, key=_slowness)
    if second.seconds and best.seconds and second.seconds < best.seconds:
        return f"{sentence}; {second.name} with {second.step} is faster by less than such a prediction can tell."
    return f"{sentence}, where {second.name}, the next, takes {second.step}." if second.seconds else f"{sentence}."


def _slowness(forecast: Forecast) -> tuple[bool, float, int]:
    """Return the sort key; where no time is known, the order of recommendation decides."""
    return forecast.seconds is None, forecast.seconds or 0.0, _UNTRIED.index(forecast.strategy)


def _may_be_faster(forecast: Forecast, best: Forecast) -> bool:
    return forecast.seconds is None or best.seconds is None or forecast.seconds < best.seconds


def _takes(forecast: Forecast) -> str:
    return "a step could not be timed" if forecast.seconds is None else f"about {forecast.step} per step"


def _warning(forecast: Forecast) -> str:
    return " (experimental)" if forecast.strategy == "pipeline" else ""


def _too_large(forecast: Forecast) -> str:
    """Return a sentence on what it needs."""
    memory, room = format_bytes(forecast.memory_bytes), format_bytes(forecast.room)
    if forecast.seconds is None:
        return f"Not expected to fit: {forecast.name} needs {memory} of {room}."
    return f"Faster, but not expected to fit: {forecast.name} needs {memory} of {room}."


def _none_fits(forecasts: Sequence[Forecast]) -> str:
    least = min(forecasts, key=lambda forecast: forecast.memory_bytes)
    on_gpus = (
        " or keep weights on the CPU (fully-sharded),"
        if any(forecast.target == "multi-gpu" for forecast in forecasts)
        else ""
    )
    return (
        f"None is expected to fit: {least.name} needs the least, {format_bytes(least.memory_bytes)} per worker of "
        f"{format_bytes(least.room)}; use a smaller mini-batch,{on_gpus} or gradient accumulation."
    )
