"""The metrics of a part of the data: gathered piece by piece, over all workers."""

from collections.abc import Sequence

import torch

from engine.environments.gang import Gang, gathered
from engine.training.batching.batches import Tensors
from engine.training.metrics.classwise import Confusion
from engine.training.metrics.metric import Metric, Summed, Whole, summed, whole

Rows = tuple[torch.Tensor, torch.Tensor]


class Jury:
    """Looks at this worker's share, piece by piece, and then says what all workers saw."""

    def __init__(
        self, metrics: Sequence[Metric], gang: Gang, device: torch.device, confusion: Confusion | None = None
    ) -> None:
        self._metrics = metrics
        self._gang = gang
        self._confusion = confusion
        self._summed: tuple[Summed, ...] = summed(metrics)
        self._whole: dict[str, Whole] = {m.name: m for m in whole(metrics)}
        self._rows: dict[str, list[Rows]] = {name: [metric.nothing(device)] for name, metric in self._whole.items()}
        self._loss = torch.zeros(1, dtype=torch.double, device=device)
        self._sums = [torch.zeros(metric.width, dtype=torch.double, device=device) for metric in self._summed]
        classes = confusion.classes if confusion is not None else 0
        self._table = torch.zeros(classes, classes, dtype=torch.double, device=device)

    def see(self, loss: torch.Tensor, outputs: Tensors, targets: Tensors) -> None:
        """Some samples, and their loss."""
        self._loss += loss
        count = torch.tensor([len(outputs[0])], device=self._loss.device)
        for metric, sums in zip(self._summed, self._sums, strict=True):
            sums += metric.sums(outputs, targets, count)[0]
        for name, rows in self._rows.items():
            rows.append(self._whole[name].rows(outputs, targets))
        if self._confusion is not None:
            self._table += self._confusion.of(outputs, targets)

    def verdict(self) -> tuple[float, dict[str, float], list[list[int]]]:
        """The loss, a sum over samples; each metric by its name; and which class was taken for which. A collective."""
        parts = [self._loss, *self._sums, self._table.flatten()]
        pieces = torch.split(self._gang.sum(torch.cat(parts)), [len(part) for part in parts])
        values = {m.name: m.value(sums.tolist()) for m, sums in zip(self._summed, pieces[1:-1], strict=True)}
        for name, rows in self._rows.items():
            values[name] = self._value_of(self._whole[name], rows)
        table = pieces[-1].reshape(self._table.shape).long().tolist()
        return float(pieces[0]), {metric.name: values[metric.name] for metric in self._metrics}, table

    def _value_of(self, metric: Whole, rows: list[Rows]) -> float:
        """From the rows of all workers; the first one computes it, so that all have the same to the last bit."""
        found, targets = (gathered(self._gang, torch.cat(column)) for column in zip(*rows, strict=True))
        value = metric.value_of(found, targets) if self._gang.rank == 0 else 0.0
        return float(self._gang.sum(torch.tensor([value], dtype=torch.double, device=found.device)))
