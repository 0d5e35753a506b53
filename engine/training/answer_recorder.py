"""Recorder of what the network answers for some validation samples at each validation, to watch it learn.

The answers come from the validation itself: no sample is computed twice. What is written is read by
`netwright.engine.runs.watched_answers`.
"""

import contextlib
import heapq
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_json
from netwright.engine.core.finite_json import to_json
from netwright.engine.data.loading.answer_views import answer_row, answer_view, caption
from netwright.engine.data.loading.batches import ResidentDataset, Tensors
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.preview import shown_samples, value_range
from netwright.engine.data.sources.source import Array, Outline, Samples
from netwright.engine.data.sources.tokens import decode
from netwright.engine.project.bindings import Wanted
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.project.preparation import TextPreparation
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.kept_steps import TimeBudget, thin
from netwright.engine.runs.watched_answers import FILE, FOLDER, PICTURES, Content, read_content
from netwright.engine.training.attention_recorder import AttentionRecorder, attention_recorder_for
from netwright.engine.training.job import TrainingJob
from netwright.engine.training.metrics import channels_last
from netwright.engine.training.model import TrainedModel

COUNT = 8
"""Samples that are watched, where they are not named."""
MOST_STEPS = 24
"""Validations whose answers are kept: of more, every second one, then every fourth."""
FREE_S = 0.25
"""Time that this takes in any run; beyond it a share of the run's."""
LARGEST = 2**22
"""Numbers of the answer for one sample; larger ones are not kept."""
MOST_TOKENS = 60
"""Of a text that is shown."""


@dataclass(frozen=True)
class _Answer:
    """Answer for one sample, channels last, its target, and the loss."""

    place: int
    output: Array
    target: Array
    loss: float


class AnswerRecorder:
    """Recorder of the answers to the first output. One worker has it, and watches samples of its own shard."""

    def __init__(
        self,
        run: Path,
        data: LoadedData,
        outputs: Sequence[Wanted],
        options: TrainingOptions,
        attention: AttentionRecorder | None = None,
    ) -> None:
        """`run` is the folder of the run, `outputs` are those of the network with their targets."""
        self._folder = run / FOLDER
        self._data, self._outputs = data, outputs
        self._wanted = outputs[0]
        self._worst = options.watch_answers == "worst"
        self._chosen = options.watched_places if options.watch_answers == "chosen" else ()
        self._blank_is_first = options.ctc_blank == "first"
        self._content = Content()
        self._turn, self._every = 0, 1
        self._places: Array = np.empty(0, np.int64)
        self._answers: list[_Answer] = []
        self._budget = TimeBudget(FREE_S)
        self._attention = attention

    def resume(self, iteration: int) -> None:
        """Go on behind the answers of an earlier part of the run, and forget those behind `iteration`."""
        with contextlib.suppress(OSError):
            content = read_content(self._folder)
            content.steps[:] = [step for step in content.steps if step["iteration"] <= iteration]
            self._content = content

    def is_due(self, *, is_last: bool) -> bool:
        """Return whether the answers of the next validation are kept. Called once for each."""
        self._turn += 1
        return is_last or (self._budget.is_left and (self._turn - 1) % self._every == 0)

    def begin(self, first: int, end: int) -> None:
        """Prepare for a validation, of which this worker computes the samples from place `first` to `end`."""
        self._answers = []
        if self._chosen:
            numbers = self._data.numbers["validation"][first:end]
            self._places = first + np.sort(np.concatenate([np.flatnonzero(numbers == one) for one in self._chosen]))
        else:
            count = min(COUNT, end - first)
            self._places = np.unique(np.linspace(first, max(first, end - 1), count).round().astype(np.int64))

    def take(self, first: int, outputs: Tensors, targets: Tensors) -> None:
        """Keep answers of a batch, whose first sample has this place in the split. `outputs` and `targets` are those
        that metrics take."""
        output, target = outputs[0], targets[0]
        if output[0].numel() > LARGEST:
            return
        with self._budget.spending():
            if self._worst:
                losses = sample_losses(output, target, self._wanted)
                rows = losses.topk(min(COUNT, len(losses))).indices.tolist()
            else:
                rows = (self._places[(self._places >= first) & (self._places < first + len(output))] - first).tolist()
            if rows:
                self._keep(first, rows, outputs, target)

    def _keep(self, first: int, rows: Sequence[int], outputs: Tensors, target: torch.Tensor) -> None:
        output, target = channels_last(outputs[0][rows]).float().cpu(), target[rows].cpu()
        losses = sample_losses(outputs[0][rows].float().cpu(), target, self._wanted).tolist()
        behind = outputs[len(self._outputs) :]
        is_cut = self._wanted.facts.task == "transcripts" and self._wanted.has_lengths
        steps = behind[0][rows].tolist() if is_cut else [None] * len(rows)
        for row, values, true, loss, end in zip(rows, output.numpy(), target.numpy(), losses, steps, strict=True):
            self._answers.append(_Answer(first + row, values[:end], true, loss))
        if self._worst:
            self._answers = heapq.nlargest(COUNT, self._answers, key=lambda answer: answer.loss)

    def attend(self, model: TrainedModel, split: ResidentDataset) -> None:
        """Note what attention layers take from the first of the samples that are not the worst, the same each time. The
        network has the weights that are evaluated."""
        if self._attention is not None and len(self._places):
            self._attention.take(model, split.at(torch.from_numpy(self._places[:1]))[0])

    def end(self, iteration: int, epoch: int) -> None:
        """Write the answers of the validation after `iteration`. What cannot be written is left out."""
        with self._budget.spending(), contextlib.suppress(OSError, UserError):
            if self._answers:
                self._write(iteration, epoch)
        self._answers = []
        if self._attention is not None:
            self._attention.end(iteration, epoch)

    def _write(self, iteration: int, epoch: int) -> None:
        content, facts = self._content, self._wanted.facts
        folder = self._folder / str(iteration)
        self._folder.mkdir(0o700, exist_ok=True)
        folder.mkdir(0o700, exist_ok=True)
        answers = []
        for answer in self._answers:
            number = int(self._data.numbers["validation"][answer.place])
            if str(number) not in content.samples:
                content.samples[str(number)] = self._sample(number)
            blank = 0 if self._blank_is_first else len(facts.classes)
            row = {
                **answer_row(facts, answer.output, answer.target, text=self._next_text, blank=blank),
                "loss": answer.loss,
            }
            forecast = self._data.facts.forecast
            view = answer_view(
                facts, answer.output, answer.target, folder / str(number), forecast=forecast, span=self._span
            )
            view = {"label": caption(row), **view}
            answers.append({"index": number, "row": row, "view": self._relative(view)})
        content.steps[:] = [step for step in content.steps if step["iteration"] != iteration]
        content.steps.append({"iteration": iteration, "epoch": epoch, "answers": answers})
        self._thin()
        write_json(self._folder / FILE, to_json(vars(content)), follow_link=False)

    def _thin(self) -> None:
        """Keep every second step where there are too many, and only the samples that are left."""
        content = self._content
        if not (removed := thin(content.steps, MOST_STEPS)):
            return
        self._every *= 2
        for step in removed:
            shutil.rmtree(self._folder / str(step["iteration"]), ignore_errors=True)
        numbers = {str(answer["index"]) for step in content.steps for answer in step["answers"]}
        for number in content.samples.keys() - numbers:
            shutil.rmtree(self._folder / f"sample-{number}", ignore_errors=True)
            del content.samples[number]

    def _sample(self, number: int) -> dict[str, Any]:
        """Write the pictures of a sample itself, and return them with its name, or its text."""
        data, numbers = self._data, np.array([number])
        first, lengths = data.inputs[0], data.lengths[0] if data.lengths else None
        name_of = getattr(first, "name_of", None)
        sample: dict[str, Any] = {} if name_of is None else {"sample": str(name_of(number))}
        if isinstance(first, np.ndarray):
            array = first[numbers]
        else:
            array = np.empty((1, *first.shape[1:]), first.kind)
            first.read(numbers, array)
        real = None if lengths is None else lengths[numbers]
        if self._next_text is not None:
            return sample
        if (how := data.facts.inputs[0].text) is not None:
            tokens = array[0][: MOST_TOKENS if real is None else min(MOST_TOKENS, int(real[0]))]
            return {"text": decode(how, tokens.tolist()), **sample}
        outline = Outline(data.facts.inputs, data.targets, data.facts.targets, forecast=data.facts.forecast)
        folder = self._folder / f"sample-{number}"
        views = shown_samples(outline, numbers, Samples((array,), lengths=(real,)), folder, data.numbers)
        return next(({**self._relative(view), "kind": kind, **sample} for kind, (view,) in views.items()), sample)

    def _relative(self, view: dict[str, Any]) -> dict[str, Any]:
        paths = {
            key: str(Path(view[key]).relative_to(self._folder)) for key in PICTURES if isinstance(view.get(key), str)
        }
        return {**view, **paths}

    @cached_property
    def _span(self) -> tuple[float, float]:
        """The numbers that pictures of answers show as black and white: those of the true ones."""
        facts = self._wanted.facts
        shows = facts.task == "numbers" and facts.per == "pixel"
        return value_range(self._data.targets[self._wanted.number]) if shows else (0.0, 1.0)

    @cached_property
    def _next_text(self) -> TextPreparation | None:
        """How tokens are read, where the network predicts the next one at each step; else None."""
        how, facts = self._data.facts.inputs[0].text, self._wanted.facts
        is_next = how is not None and facts.per == "step" and len(facts.classes) == how.vocabulary
        return how if is_next else None


def recorder_for(job: TrainingJob) -> AnswerRecorder | None:
    """Return the recorder of a run, on its first worker; None for trials of an experiment, of which there are
    thousands, and for a pipeline, whose first worker does not know the answers. Raises `UserError` where none of the
    samples that the options name is for validation."""
    if not _keeps_answers(job) or job.data is None or job.run_folder is None:
        return None
    places = job.options.watched_places if job.options.watch_answers == "chosen" else ()
    if places and len(_not_validated(job)) == len(places):
        raise UserError(
            f"None of the samples {job.options.watched_samples} is for validation (training.watched_samples). Name "
            "samples that the Data tab marks with val, or let them be chosen: training.watch_answers=spread."
        )
    if job.group.rank:
        return None
    run = job.run_folder.path
    return AnswerRecorder(run, job.data, job.targets, job.options, attention_recorder_for(job, run))


def watched_note(job: TrainingJob) -> list[str]:
    """Return which of the samples that the options name are not watched, as they are not for validation."""
    if not _keeps_answers(job) or job.options.watch_answers != "chosen" or not (others := _not_validated(job)):
        return []
    numbers = ", ".join(str(place + 1) for place in others)
    if len(others) == 1:
        return [f"The sample {numbers} is not for validation, so that no answers are kept for it."]
    return [f"The samples {numbers} are not for validation, so that no answers are kept for them."]


def _keeps_answers(job: TrainingJob) -> bool:
    return job.options.watch_answers != "none" and bool(job.targets) and not job.info.trial and not job.has_stages


def _not_validated(job: TrainingJob) -> list[int]:
    """Return which of the samples that the options name, from 0, are not for validation."""
    validated = np.empty(0) if job.data is None else job.data.numbers["validation"]
    return [place for place in job.options.watched_places if not (validated == place).any()]


def sample_losses(output: torch.Tensor, target: torch.Tensor, wanted: Wanted) -> torch.Tensor:
    """Return the loss of each sample (N): mean cross-entropy, or the root of the mean squared error, of what counts;
    for transcripts, the mean of minus the logarithm of the surest class of each step."""
    facts, size = wanted.facts, len(output)
    values = channels_last(output).float()
    if facts.task == "transcripts":
        return -values.log_softmax(-1).amax(-1).reshape(size, -1).mean(1)
    if facts.task == "classes":
        each = functional.cross_entropy(
            values.reshape(-1, values.shape[-1]), target.reshape(-1), ignore_index=IGNORED, reduction="none"
        )
        counts = (target != IGNORED).reshape(size, -1)
        return each.reshape(size, -1).sum(1) / counts.sum(1).clamp(min=1)
    true = channels_last(target).float() if target.ndim == output.ndim else target.float()
    counts = (~true.isnan()).reshape(size, -1)
    true = true.nan_to_num()
    if facts.task == "labels":
        each = functional.binary_cross_entropy_with_logits(values, true, reduction="none")
        return (each.reshape(size, -1) * counts).sum(1) / counts.sum(1).clamp(min=1)
    squares = (values - true).square().reshape(size, -1) * counts
    return (squares.sum(1) / counts.sum(1).clamp(min=1)).sqrt()
