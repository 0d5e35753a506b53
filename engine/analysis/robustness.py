"""How a trained network answers when its inputs change: noise, blur, attacks, and samples unlike the training data.

Inputs change in the units that they are prepared in, before the network's own normalization, and stay in the range that
their source allows. A strength is a share of that range; where the source names none, of the range of the samples.

Attacks: FGSM (Goodfellow, Shlens and Szegedy, Explaining and Harnessing Adversarial Examples, 2015), and PGD from a
random start (Madry et al., Towards Deep Learning Models Resistant to Adversarial Attacks, 2018), both in the maximum
norm. Scores of samples unlike the training data: the largest probability (Hendrycks and Gimpel, A Baseline for
Detecting Misclassified and Out-of-Distribution Examples, 2017), and the energy (Liu et al., Energy-based
Out-of-distribution Detection, 2020).
"""

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import torch

from netwright.engine.analysis import decisions
from netwright.engine.analysis.evaluate import BATCH, FOLDER, LIMIT_BYTES, Evaluation
from netwright.engine.analysis.operations.robustness import RobustnessRequest, RobustnessResult
from netwright.engine.analysis.other_data import data_of
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import read_object, write_checked_json
from netwright.engine.core.progress import report
from netwright.engine.data.loading.batches import Tensors
from netwright.engine.data.sources.source import Array
from netwright.engine.models.open_model import open_model
from netwright.engine.models.trained_model import outputs_in_order
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.training.losses import Loss, OutputAdapters
from netwright.engine.training.metrics import channels_last

FORMAT = 1
NOISE = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Standard deviation of the noise, as a share of the range."""
BLUR = (0.5, 1.0, 1.5, 2.0, 3.0)
"""Standard deviation of the blur in pixels."""
ATTACKS = (1 / 255, 2 / 255, 4 / 255, 8 / 255, 16 / 255, 32 / 255)
"""Largest change of an attack, as a share of the range."""
PGD_STEPS = 10
PGD_STEP = 2.5
"""Length of all steps together as a multiple of the largest change."""
KEPT_SHARE = 0.95
"""Share of the samples of the validation split that count as like the training data."""
SAMPLES = 500
SEED = 20_240_101

Change = Callable[[Tensors, Tensors], Tensors]


@dataclass(frozen=True, eq=False)
class Range:
    """Lowest and highest value of an input, which broadcast over its samples; None for one that is not changed."""

    low: torch.Tensor
    high: torch.Tensor

    @property
    def width(self) -> torch.Tensor:
        """The width of the range, of which strengths are shares."""
        return self.high - self.low

    def clipped(self, x: torch.Tensor) -> torch.Tensor:
        """Return values within the range."""
        return torch.minimum(torch.maximum(x, self.low), self.high)


Ranges = Sequence[Range | None]


def robustness(request: RobustnessRequest) -> RobustnessResult:
    """Measure the first output of a network under changed inputs, on at most so many samples, evenly spaced.

    Where it is asked for, the threshold of the largest probability is kept with the network, so that `predict` names
    samples unlike the training data. Raises `UserError`.
    """
    evaluation = Robustness(open_model(request.choice), request.split, data_of(request))
    result = evaluation.measured(request.samples, stores=request.store, fresh=request.fresh)
    return RobustnessResult(path=str(request.model.absolute()), **result)


class Robustness(Evaluation):
    """The network of a run under changed inputs."""

    def measured(self, samples: int, *, stores: bool = False, fresh: bool = False) -> dict[str, Any]:
        """Return the result, from the run folder where it is known. Raises `UserError`."""
        if self.trained.wanted[0].facts.task == "transcripts":
            raise UserError("The network gives transcripts, whose accuracy under changed inputs is not measured.")
        if stores:
            self.trained.weights_folder()  # refuses what is no run before anything is computed
        folder, file, result = self.trained.kept_in(FOLDER), None, None
        if folder is not None:
            key = hashlib.sha256(json.dumps([self._key(), FORMAT, samples]).encode()).hexdigest()[:32]
            file = folder / f"{key}.robustness.json"
        if file is not None and not fresh:
            with contextlib.suppress(OSError, ValueError):
                result = read_object(file, LIMIT_BYTES)
            result = dict(result) if result is not None and result.get("format") == FORMAT else None
        is_known = result is not None
        if result is None:
            result = self._measured(samples)
        if file is not None and not is_known:
            with contextlib.suppress(OSError):  # a run folder that cannot be written is measured all the same
                file.parent.mkdir(exist_ok=True)
                write_checked_json(file, result, follow_link=False)
        if stores:
            self._store(result)
        return {**result, "stored": stores, "cached": is_known}

    def _measured(self, samples: int) -> dict[str, Any]:
        batches = list(self._batches(self.split, samples))
        targets = self._training_targets(self.data)
        loss = self._loss(self.trained.project.training, targets)
        ranges = self._ranges(batches)
        if not any(ranges):
            raise UserError("The network takes indices, such as tokens of a text, which cannot change a little.")
        changes = list(self._changes(ranges, loss))
        total, count = sum(len(strengths) for _, _, strengths, _ in changes) + 1, 0
        whole = self._score(batches, lambda inputs, _: inputs)
        curves = []
        for kind, unit, strengths, change in changes:
            values = [whole]
            for strength in strengths:
                generator = torch.Generator().manual_seed(SEED)
                values.append(self._score(batches, change(strength, generator)))
                count += 1
                report(count, total, "measurements")
            curves.append({"kind": kind, "unit": unit, "strengths": [0.0, *strengths], "values": values})
        facts = self.trained.wanted[0]
        return {
            "format": FORMAT,
            "weights": self.trained.kept,
            "split": self.split_of(self.data),
            "samples": sum(len(arrays[0]) for arrays, _ in batches),
            "output": facts.name,
            "metric": "rmse" if facts.facts.task == "numbers" else "accuracy",
            "curves": curves,
            "unlike_training": self._unlike(samples, ranges),
            "notes": self.notes,
        }

    # ---- samples ----

    def _batches(self, split: str, samples: int) -> Iterator[tuple[Tensors, Tensors]]:
        """Yield inputs and targets of at most so many samples of a split, evenly spaced."""
        self.split, before = split, self.split
        try:
            dataset = self.dataset(self.data, self.split_of(self.data))
        finally:
            self.split = before
        positions = np.linspace(0, len(dataset) - 1, min(samples, len(dataset))).round().astype(np.int64)
        first = 0
        for batch in dataset.shard_batches(0, 1, BATCH):
            places = torch.from_numpy(positions[(positions >= first) & (positions < first + batch.count)] - first)
            first += batch.count
            if len(places):
                yield tuple(x[places].clone() for x in batch.inputs), tuple(y[places] for y in batch.targets)

    def _ranges(self, batches: Sequence[tuple[Tensors, Tensors]]) -> Ranges:
        """Return the range of each input of the network; one value for all where the source names it, else those of
        each channel of the samples."""
        ranges: list[Range | None] = []
        preparations = self.trained.preparation.inputs
        for place, first in enumerate(batches[0][0]):
            span = preparations[place].span if place < len(preparations) else ()
            if not first.is_floating_point():
                ranges.append(None)
            elif span:
                ranges.append(Range(first.new_tensor(span[0]), first.new_tensor(span[1])))
            else:
                axes = preparations[place].axes if place < len(preparations) else ()
                axis = 1 + axes.index("C") if "C" in axes and len(axes) == first.ndim - 1 else first.ndim - 1
                whole = torch.cat([inputs[place].movedim(axis, -1).flatten(0, -2) for inputs, _ in batches])
                shape = [1] * first.ndim
                shape[axis] = whole.shape[1]
                ranges.append(Range(whole.amin(0).reshape(shape), whole.amax(0).reshape(shape)))
        return ranges

    # ---- changes ----

    def _changes(self, ranges: Ranges, loss: Loss) -> Iterator[tuple[str, str, Sequence[float], Any]]:
        """Yield kind, unit of the strength, strengths, and the change by strength and generator."""
        share = "share of the range"
        yield "noise", share, NOISE, lambda strength, generator: noise(ranges, strength, generator)
        if any(
            preparation.axes == ("C", "H", "W") and preparation.content == "numbers"
            for preparation in self.trained.preparation.inputs
        ):
            yield "blur", "pixels", BLUR, lambda strength, _: blur(ranges, strength)
        gradients = self._gradients(ranges, loss)
        yield "fgsm", share, ATTACKS, lambda strength, _: fgsm(ranges, gradients, strength)
        yield "pgd", share, ATTACKS, lambda strength, generator: pgd(ranges, gradients, strength, generator)

    def _gradients(self, ranges: Ranges, loss: Loss) -> Callable[[Tensors, Tensors], list[torch.Tensor | None]]:
        """Return the function that gives the gradient of the loss with respect to each input that may change."""
        module = self.trained.scoring
        module.requires_grad_(requires_grad=False)

        def gradients(inputs: Tensors, targets: Tensors) -> list[torch.Tensor | None]:
            leaves = [
                x.detach().requires_grad_() if span is not None else x for x, span in zip(inputs, ranges, strict=True)
            ]
            with torch.enable_grad():
                value = loss(self.trained.call(module, tuple(leaves)), targets).sum()
            variables = [x for x, span in zip(leaves, ranges, strict=True) if span is not None]
            slopes = iter(torch.autograd.grad(value, variables, allow_unused=True))
            return [next(slopes) if span is not None else None for span in ranges]

        return gradients

    # ---- scores ----

    def _score(self, batches: Sequence[tuple[Tensors, Tensors]], change: Change) -> float:
        """Return accuracy of classes or labels, or RMSE of numbers, of the first output."""
        good, count = 0.0, 0.0
        adapters = OutputAdapters(self.trained.wanted)
        task = self.trained.wanted[0].facts.task
        computed = outputs_in_order(self.trained, self.trained.scoring, batches, lambda batch: change(*batch))
        for (_, targets), outputs in computed:
            fitted, fitted_targets = adapters(outputs, targets)
            output, target = channels_last(fitted[0]), fitted_targets[0]
            if task == "classes":
                there = target != IGNORED
                good += float(((output.argmax(-1) == target) & there).sum())
                count += float(there.sum())
                continue
            target = channels_last(target) if target.ndim == output.ndim else target.reshape(output.shape)
            there = ~torch.isnan(target)
            count += float(there.sum())
            if task == "labels":
                good += float((((output > 0) == (target > 0.5)) & there).sum())
            else:
                good += float(torch.where(there, output.double() - target, 0.0).square().sum())
        mean = good / max(1.0, count)
        return math.sqrt(mean) if task == "numbers" else mean

    # ---- samples unlike the training data ----

    def _unlike(self, samples: int, ranges: Ranges) -> list[dict[str, Any]]:
        """Return thresholds below which samples count as unlike the training data: `KEPT_SHARE` of the validation
        samples lie above. `flagged_noise` is the share of inputs of even noise that lies below, `auroc` how well the
        score tells them from validation samples. Nothing for outputs without one class per sample."""
        first = self.trained.wanted[0].facts
        split = "validation" if len(self.data.numbers["validation"]) else ""
        if first.task != "classes" or first.per != "sample" or len(first.classes) < 2:
            return []
        if not split:
            self.notes.append("There is no validation split, from which a threshold would follow.")
            return []
        batches = list(self._batches(split, samples))
        generator = torch.Generator().manual_seed(SEED)
        own = self._scores_of(batches)
        noise_scores = self._scores_of(
            [(even_noise(ranges, inputs, generator), targets) for inputs, targets in batches]
        )
        rows = []
        for name, values in own.items():
            threshold = float(np.quantile(values, 1 - KEPT_SHARE, method="lower"))
            rows.append(
                {
                    "score": name,
                    "threshold": threshold,
                    "kept_share": float((values >= threshold).mean()),
                    "samples": len(values),
                    "flagged_noise": float((noise_scores[name] < threshold).mean()),
                    "auroc": auroc(values, noise_scores[name]),
                }
            )
        return rows

    def _scores_of(self, batches: Sequence[tuple[Tensors, Tensors]]) -> dict[str, Array]:
        """Return the largest probability and the negative energy of the first output for each sample; both are high
        for samples like the training data."""
        temperature = self.trained.preparation.targets[0].temperature if self.trained.preparation.targets else 1.0
        adapters, logits = OutputAdapters(self.trained.wanted), []
        for (_, targets), outputs in outputs_in_order(self.trained, self.trained.scoring, batches, itemgetter(0)):
            logits.append(adapters(outputs, targets)[0][0].double())
        whole = torch.cat(logits) / temperature
        return {
            "max softmax": torch.softmax(whole, -1).amax(-1).numpy(),
            "energy": torch.logsumexp(whole, -1).numpy(),
        }

    def _store(self, result: dict[str, Any]) -> None:
        rows = [row for row in result["unlike_training"] if row["score"] == "max softmax"]
        if not rows:
            raise UserError(
                "There is no threshold to store: it takes an output with one class per sample, and a validation split."
            )
        decisions.store_least_confidence(self.trained.weights_folder(), self.trained.preparation, rows[0]["threshold"])


# ---- changes of inputs ----


def noise(ranges: Ranges, strength: float, generator: torch.Generator) -> Change:
    """Return the change that adds normal noise."""

    def change(inputs: Tensors, _: Tensors) -> Tensors:
        return tuple(
            x
            if span is None
            else span.clipped(x + strength * span.width * torch.randn(x.shape, generator=generator, dtype=x.dtype))
            for x, span in zip(inputs, ranges, strict=True)
        )

    return change


def even_noise(ranges: Ranges, inputs: Tensors, generator: torch.Generator) -> Tensors:
    """Return inputs of noise that is spread evenly over the range."""
    return tuple(
        x if span is None else span.low + span.width * torch.rand(x.shape, generator=generator, dtype=x.dtype)
        for x, span in zip(inputs, ranges, strict=True)
    )


def blur(ranges: Ranges, sigma: float) -> Change:
    """Return the change that blurs images (N, C, H, W) by a Gaussian, with repeated edges."""
    radius = max(1, math.ceil(3 * sigma))
    places = torch.arange(-radius, radius + 1, dtype=torch.float64)
    weights = torch.exp(-0.5 * (places / sigma).square())
    weights = weights / weights.sum()

    def blurred(x: torch.Tensor) -> torch.Tensor:
        channels, kernel = x.shape[1], weights.to(x.dtype)
        x = torch.nn.functional.pad(x, (radius, radius, radius, radius), mode="replicate")
        rows = kernel.reshape(1, 1, -1, 1).expand(channels, 1, -1, 1)
        columns = kernel.reshape(1, 1, 1, -1).expand(channels, 1, 1, -1)
        x = torch.nn.functional.conv2d(x, rows, groups=channels)
        return torch.nn.functional.conv2d(x, columns, groups=channels)

    def change(inputs: Tensors, _: Tensors) -> Tensors:
        return tuple(
            x if span is None or x.ndim != 4 else span.clipped(blurred(x))
            for x, span in zip(inputs, ranges, strict=True)
        )

    return change


Gradients = Callable[[Tensors, Tensors], list[torch.Tensor | None]]


def fgsm(ranges: Ranges, gradients: Gradients, strength: float) -> Change:
    """Return the change by one step along the sign of the gradient of the loss."""

    def change(inputs: Tensors, targets: Tensors) -> Tensors:
        return _stepped(inputs, gradients(inputs, targets), ranges, strength)

    return change


def pgd(ranges: Ranges, gradients: Gradients, strength: float, generator: torch.Generator) -> Change:
    """Return the change by several steps, which stay within the largest change of each value."""

    def change(inputs: Tensors, targets: Tensors) -> Tensors:
        points = even_noise(
            [_around(x, span, strength) for x, span in zip(inputs, ranges, strict=True)], inputs, generator
        )
        bounds = [_around(x, span, strength) for x, span in zip(inputs, ranges, strict=True)]
        for _ in range(PGD_STEPS):
            moved = _stepped(points, gradients(points, targets), ranges, PGD_STEP * strength / PGD_STEPS)
            points = tuple(x if span is None else span.clipped(x) for x, span in zip(moved, bounds, strict=True))
        return points

    return change


def _around(x: torch.Tensor, span: Range | None, strength: float) -> Range | None:
    """Return the range of values that differ from x by at most `strength`."""
    if span is None:
        return None
    return Range(span.clipped(x - strength * span.width), span.clipped(x + strength * span.width))


def _stepped(inputs: Tensors, slopes: Sequence[torch.Tensor | None], ranges: Ranges, strength: float) -> Tensors:
    return tuple(
        x if span is None or slope is None else span.clipped(x + strength * span.width * slope.sign())
        for x, slope, span in zip(inputs, slopes, ranges, strict=True)
    )


def auroc(own: Array, others: Array) -> float:
    """Return the probability that a score of `own` is above one of `others`; ties count half."""
    both = np.concatenate([own, others])
    _, places, counts = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    area = (ranks[: len(own)].sum() - len(own) * (len(own) + 1) / 2) / (len(own) * len(others))
    return float(area)
