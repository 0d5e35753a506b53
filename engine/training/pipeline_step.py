"""Training and judging where each worker has a stage of the network, and the last one what the network gives."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from engine.data.batches import Batch, ResidentDataset, Tensors, as_tuple
from engine.parallel.strategies.pipeline import Pipeline
from engine.training.state import StepResult, concatenated
from engine.training.step import Unit, refuse_without_gradient

MOST_OF_STAGE = 10**8
"""No stage has so many layers or parameters."""


class StagedUnit(Unit):
    """A unit whose network is this worker's stage. Every worker is given the whole batch, in pieces; the samples count
    for the last one, which knows loss and outputs."""

    def __init__(self, pipeline: Pipeline, *given: Any, **options: Any) -> None:
        """Everything but the pipeline as `Unit` takes it."""
        super().__init__(pipeline.module, pipeline, *given, **options)
        self._pipeline = pipeline

    def _call(self, stage: nn.Module, *inputs: torch.Tensor) -> Tensors:
        """What a stage gives: in the type in which it was computed, except for the loss."""
        if self._pipeline.is_last:
            return as_tuple(self._precision.call(stage, *inputs))
        with self._precision.computing():
            return as_tuple(stage(*inputs))

    def _along(self, number: int) -> int:
        return self._group.rank * MOST_OF_STAGE + number

    def _differentiate_all(self, batch: Batch) -> StepResult:
        self._share.is_empty = False
        pieces = list(batch.micro_batches())
        done: list[StepResult] = []

        def loss_of(number: int, outputs: Tensors) -> torch.Tensor:
            targets, total = pieces[number].targets, batch.total
            loss = self._loss(outputs, targets) / total
            refuse_without_gradient(loss)
            outputs, targets = self._ends(tuple(x.detach() for x in outputs), targets)
            done.append(StepResult(loss.detach(), outputs, targets, pieces[number].count, total))
            return loss

        self._pipeline.differentiate([piece.inputs for piece in pieces], self._call, loss_of)
        first = pieces[0].inputs
        if done:
            whole = concatenated(done)
            self._pipeline.tell_results(first, (*whole.outputs, *whole.targets))
            return whole
        empty = self._pipeline.tell_results(first, None)
        outputs, targets = empty[: -len(batch.targets)], empty[-len(batch.targets) :]
        return StepResult(torch.zeros((), device=batch.targets[0].device), outputs, targets, 0, batch.total)

    def _looks(self, part: ResidentDataset) -> Iterator[tuple[Batch, Tensors]]:
        for piece in part.shard_batches(0, 1, self._most_at_once):
            outputs = self._pipeline.forward(piece.inputs, self._call)
            if outputs is not None:
                yield piece, outputs
        self._pipeline.finish()
