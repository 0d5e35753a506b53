"""Measure accuracy, size and speed of an exported network before and after its conversion, beside torch."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import fx

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.exchange.exported_network import ExportedNetwork
from netwright.engine.exchange.onnx_check import run_session
from netwright.engine.exchange.sample_inputs import Arrays
from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.network.analysis import analyse, folded
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import Wanted, wanted_of
from netwright.engine.project.export_options import flag
from netwright.engine.project.options.metric_options import AT_MOST_ONE, in_a_line, is_share
from netwright.engine.project.training import TrainingOptions

if TYPE_CHECKING:
    from netwright.engine.training.metrics import Metric

MOST_SAMPLES = 2_000
"""Number of samples, evenly spaced in the split, that metrics are computed on."""
BATCHES = (1, 32)
"""Batch sizes that speed is measured at."""
LEAST_LOSS = 0.001
"""Loss of accuracy or R² from which a note says it."""
JUDGED = {"classes": "accuracy", "labels": "accuracy", "numbers": "r2"}
"""Metric that tells what a conversion costs where none of the run's does, by the task."""
LEAST_RUNS, MOST_RUNS, BUDGET_S = 3, 50, 0.3
"""Number of timed calls: as many as fit into the budget, within these limits."""


@dataclass(frozen=True)
class Measured:
    """One row: who computes (`runs_in`: torch or ONNX Runtime) in which precision; `size_bytes` of the weights in torch
    or of the file; the run's metrics on `samples` of `split`; milliseconds per call, by batch size."""

    runs_in: str
    precision: str
    size_bytes: int
    metrics: dict[str, float]
    milliseconds: dict[str, float]
    split: str = ""
    samples: int = 0
    threads: int = 1

    def write(self) -> dict[str, Any]:
        """Return the row as JSON."""
        return asdict(self)


Run = Callable[[Arrays], list[np.ndarray]]


def measure(
    exported: ExportedNetwork,
    files: Sequence[tuple[str, bytes | Path, int]],
    data: LoadedData | None,
    training: TrainingOptions,
    batch: Arrays,
) -> tuple[Measured, ...]:
    """Return a row for torch and one per file (its precision, content and size). `batch` are samples for the speed."""
    threads, size = torch.get_num_threads(), exported.options.batch
    state = exported.module.state_dict().values()
    weights = sum(value.numel() * value.element_size() for value in state)
    runs: list[tuple[str, str, int, Run]] = [("torch", "float32", weights, lambda x: torch_outputs(exported.module, x))]
    for precision, content, file_size in files:
        session = open_session(content, threads)
        runs.append(("ONNX Runtime", precision, file_size, lambda x, s=session: run_session(s, x, size)))  # type: ignore[misc]
    scores = _Scores(exported, data, training) if data is not None else None
    rows = []
    for where, precision, file_size, run in runs:
        metrics = scores.of(run) if scores is not None else {}
        times = {str(count): _milliseconds(run, _of_size(batch, count)) for count in ((size,) if size else BATCHES)}
        split, count = (scores.split, scores.count) if scores is not None else ("", 0)
        rows.append(Measured(where, precision, file_size, metrics, times, split, count, threads))
    return tuple(rows)


def refuse_loss(measured: Sequence[Measured], accepted_loss: float) -> tuple[str, ...]:
    """Return a note on what a conversion costs, if it costs anything or is not known: the last two rows are before and
    after it. Raises `UserError` where that is more than is accepted; one sample may change in any case."""
    before, after = measured[-2:]
    name = next((name for name in before.metrics if name in AT_MOST_ONE), "")
    if not name:
        why = "the network has neither accuracy nor R²" if after.samples else "there is no data to measure it on"
        return (f"What {after.precision} costs is not known: {why}.",)
    # R² far below 0, of initial weights, moves with every digit: then the squared error is compared.
    loss = (before.metrics[name] - after.metrics[name]) / max(1.0, 1.0 - before.metrics[name])
    numbers = f"{before.metrics[name]:.4g} before, {after.metrics[name]:.4g} after, on {after.split} data"
    if accepted_loss < 1.0 and not loss <= accepted_loss + (1.0 / after.samples if is_share(name) else 0.0):
        raise UserError(
            f"{after.precision} costs more {in_a_line(name)} than the accepted loss of {accepted_loss:g}: {numbers}. "
            "The file was not kept.",
            hint=f"Export it in float32, or accept more: {flag('accepted_loss')} {min(1.0, 1.1 * loss):.2g}.",
        )
    return (f"{after.precision} costs {loss:.2g} of {in_a_line(name)}: {numbers}.",) if loss >= LEAST_LOSS else ()


def torch_outputs(module: fx.GraphModule, batch: Arrays) -> list[np.ndarray]:
    """Return the outputs of the module."""
    with torch.no_grad():
        result = module(*(torch.from_numpy(array) for array in batch))
    return [one.numpy() for one in (result if isinstance(result, tuple) else (result,))]


def _of_size(batch: Arrays, count: int) -> Arrays:
    places = np.arange(count) % len(batch[0])
    return tuple(np.ascontiguousarray(array[places]) for array in batch)


def _milliseconds(run: Run, batch: Arrays) -> float:
    """Return the median time of a call, after one that is not counted."""
    started = time.perf_counter()
    run(batch)
    first = time.perf_counter() - started
    count = int(min(MOST_RUNS, max(LEAST_RUNS, BUDGET_S / max(first, 1e-6))))
    times = []
    for _ in range(count):
        started = time.perf_counter()
        run(batch)
        times.append(time.perf_counter() - started)
    return 1e3 * float(np.median(times))


class _Scores:
    """Computes the run's metrics of outputs on the test split, else validation, else training."""

    def __init__(self, exported: ExportedNetwork, data: LoadedData, training: TrainingOptions) -> None:
        from netwright.engine.training.evaluation import metrics_for
        from netwright.engine.training.losses import OutputAdapters

        counts = data.facts.samples
        self.split = next(name for name in ("test", "validation", "training") if counts.get(name))
        split = data.split(self.split, data.wider)
        total = len(split.targets[0])
        places = np.unique(np.linspace(0, total - 1, min(total, MOST_SAMPLES), dtype=int))
        self.count = len(places)
        self._batches: list[tuple[Arrays, tuple[torch.Tensor, ...]]] = []
        lengths = [one for one in split.lengths if one is not None]
        step = 1 if lengths else 64
        for start in range(0, len(places), step):
            numbers = places[start : start + step]
            inputs = [np.asarray(array[numbers]) for array in split.inputs]
            for place, given in enumerate(split.lengths):
                if given is not None:
                    inputs[place] = inputs[place][:, : int(given[numbers[0]])]
            targets = tuple(torch.from_numpy(np.array(target[numbers])) for target in split.targets)
            self._batches.append((exported.fit(tuple(inputs)), targets))
        everything = tuple(torch.from_numpy(np.array(target)) for target in data.split("training").targets)
        analysis = analyse(exported.network)
        self._wanted = wanted_of(exported.network, analysis, data.facts, is_padded=False)
        names = training.metrics_for(data.facts.task)
        if data.facts.task in JUDGED and not set(AT_MOST_ONE).intersection(names):
            training = training.replace(metrics=(*names, JUDGED[data.facts.task]))
        self._metrics: tuple[Metric, ...] = metrics_for(training, data.facts, everything, self._wanted)
        self._adapters = OutputAdapters(self._wanted)
        self._is_probable = [
            bool(folded(exported.network, {w.port: w.folds})) if w.folds else False for w in self._wanted
        ]

    def of(self, run: Run) -> dict[str, float]:
        """Return the metrics of what a function gives for the batches."""
        from netwright.engine.training.evaluation import MetricAccumulator

        accumulator = MetricAccumulator(self._metrics, SingleProcess(), torch.device("cpu"))
        for inputs, targets in self._batches:
            outputs = [torch.from_numpy(np.ascontiguousarray(one, dtype=np.float32)) for one in run(inputs)]
            scores = tuple(
                _scores(one, wanted) if is_probable else one
                for one, wanted, is_probable in zip(outputs, self._wanted, self._is_probable, strict=False)
            )
            cut = tuple(_as_long(target, one) for target, one in zip(targets, scores, strict=False))
            accumulator.update(torch.zeros(1, dtype=torch.double), *self._adapters(scores, cut))
        return accumulator.compute()[1]


def _scores(probabilities: torch.Tensor, wanted: Wanted) -> torch.Tensor:
    """Return scores that give these probabilities after the softmax or sigmoid of the output: metrics take those."""
    tiny = torch.finfo(torch.float32).tiny
    if wanted.folds == "sigmoid":
        return torch.logit(probabilities, eps=1e-7)
    return probabilities.clamp(min=tiny).log()


def _as_long(target: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """Return the target cut to the steps of an output whose sequence is shorter than its padding."""
    is_longer = target.ndim > 1 and output.ndim == 3 and target.shape[1] > output.shape[1]
    return target[:, : output.shape[1]] if is_longer else target
