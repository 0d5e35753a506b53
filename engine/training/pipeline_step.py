"""Training step and evaluation of a pipeline: each worker computes one stage, the last one knows outputs and loss."""

from collections.abc import Iterator

import torch
from torch import nn

from netwright.engine.data.loading.batches import Batch, ResidentDataset, Tensors, as_tuple
from netwright.engine.parallel.strategies.pipeline import Pipeline
from netwright.engine.training.evaluation import Evaluator
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.state import StepResult, concatenated
from netwright.engine.training.step import TrainStep, refuse_without_gradient


class PipelineTrainStep(TrainStep):
    """Trains this worker's stage. Every worker gets the whole batch, in micro-batches; its samples count for the last
    stage."""

    def compute_gradients(self, batch: Batch, *, uses_autograd: bool = False) -> StepResult:
        """Compute forward, loss and backward of all micro-batches, together with the other stages. A collective."""
        pipeline = _pipeline_of(self.model)
        pipeline.zero_grad()
        self._share.part, self._share.is_empty = batch.count / batch.total, False
        micro_batches = list(batch.micro_batches())
        results: list[StepResult] = []

        def loss_of(number: int, outputs: Tensors) -> torch.Tensor:
            targets, total = micro_batches[number].targets, batch.total
            loss = self.loss(outputs, targets) / total
            refuse_without_gradient(loss)
            outputs, targets = self.adapters(tuple(x.detach() for x in outputs), targets)
            results.append(StepResult(loss.detach(), outputs, targets, micro_batches[number].count, total))
            return loss

        inputs = [micro_batch.inputs for micro_batch in micro_batches]
        pipeline.differentiate(inputs, lambda stage, *x: _stage_output(self.model, stage, *x), loss_of)
        if results:
            whole = concatenated(results)
            pipeline.tell_results(inputs[0], (*whole.outputs, *whole.targets))
            return whole
        empty = pipeline.tell_results(inputs[0], None)
        outputs, targets = empty[: -len(batch.targets)], empty[-len(batch.targets) :]
        return StepResult(torch.zeros((), device=batch.targets[0].device), outputs, targets, 0, batch.total)


class PipelineEvaluator(Evaluator):
    """Evaluates all stages together; the samples count for the last one."""

    def _outputs(self, split: ResidentDataset) -> Iterator[tuple[Batch, Tensors]]:
        pipeline = _pipeline_of(self._model)
        for batch in split.shard_batches(0, 1, self._options.batch_size):
            outputs = pipeline.forward(batch.inputs, lambda stage, *x: _stage_output(self._model, stage, *x))
            if outputs is not None:
                yield batch, outputs
        pipeline.finish()


def _pipeline_of(model: TrainedModel) -> Pipeline:
    assert isinstance(model.strategy, Pipeline)
    return model.strategy


def _stage_output(model: TrainedModel, stage: nn.Module, *inputs: torch.Tensor) -> Tensors:
    """Return the output of a stage in the type in which it was computed, except for the loss."""
    if _pipeline_of(model).is_last:
        return as_tuple(model.precision.call(stage, *inputs))
    with model.precision.computing():
        return as_tuple(stage(*inputs))
