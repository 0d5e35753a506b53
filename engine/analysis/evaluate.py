"""How good a trained network is on a split of its data, or on other data: metrics, tables, worst samples.

Results lie in `evaluations/` of the run folder, by a hash of what they follow from: the weights, the files of the data
with size and time, the options, and the split of each sample.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from netwright.engine.analysis import decisions, groups, temperature
from netwright.engine.analysis.curves import curves
from netwright.engine.analysis.passes import Pass, pass_for
from netwright.engine.analysis.per_sample import SampleScores
from netwright.engine.analysis.scores import Perplexity
from netwright.engine.analysis.transcript_scores import LIBRARY
from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.files import read_object, write_checked_json
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.progress import report
from netwright.engine.core.version import VERSION
from netwright.engine.data.loading.baseline import baselines
from netwright.engine.data.loading.batches import Batch, ResidentDataset, Tensors
from netwright.engine.data.loading.data_places import places_of
from netwright.engine.data.loading.datasets import make_dataset
from netwright.engine.data.loading.load import facts as facts_of
from netwright.engine.data.loading.load import load, load_like
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.open_data import open_source
from netwright.engine.data.sources.source import Array
from netwright.engine.models.describe import described_by
from netwright.engine.models.open_model import open_model
from netwright.engine.models.trained_model import DEVICE, Model, outputs_in_order, refuse_other_facts
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import in_order
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.options.metric_options import METRICS, TEXT_METRICS
from netwright.engine.project.stored_facts import predicted_text
from netwright.engine.project.target_scale import fitted_outputs
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.baselines import beside
from netwright.engine.runs.model_files import ModelChoice
from netwright.engine.training.evaluation import MetricAccumulator, metrics_for
from netwright.engine.training.losses import Loss, OutputAdapters, loss_for, normalised, scale_of
from netwright.engine.training.metrics import channels_last

FOLDER = "evaluations"
FORMAT = 6
LIMIT_BYTES = 2**28
RANKED = 24
"""Number of samples in the lists of the worst and the most uncertain."""
BATCH = 256
EXTRA = {
    "classes": ("accuracy", "precision", "recall", "f-score"),
    "labels": ("accuracy", "precision", "recall", "f-score"),
    "numbers": ("rmse", "mae", "r2"),
}
"""Metrics that are computed whatever the run's options say."""


@dataclass(frozen=True)
class EvaluationData:
    """Data to evaluate on: other data, with the folder that relative paths start at."""

    options: DataOptions
    base: Path


@dataclass(frozen=True)
class Deciding:
    """A request for thresholds and the temperature of a network, and whether they are stored with it."""

    thresholds: Sequence[str] = ()
    """Texts such as `cat=0.31`."""
    calibrates: bool = False
    """Whether a temperature is fitted on the validation split."""
    stores: bool = False
    resets: bool = False
    """Whether what is stored is removed first."""


def evaluate(
    model: ModelChoice | Path,
    split: str = "",
    other: EvaluationData | None = None,
    *,
    fresh: bool = False,
    deciding: Deciding | None = None,
    by: str = "",
) -> dict[str, Any]:
    """Evaluate the network of a model; return the result as JSON.

    split: of the model's own data; empty: test, else validation, else training. other: evaluate on this data instead.
    fresh: compute even where the result is known. by: also tell the metrics of groups of samples, by a column, or
    `class`, `folder`, `file type`, `group`. Raises `UserError`.
    """
    evaluation = Evaluation(open_model(model), split, other)
    result = evaluation.decided(deciding or Deciding(), fresh=fresh)
    return {**result, **({"groups": evaluation.grouped(by)} if by else {})}


class Evaluation:
    """One evaluation of a trained network."""

    def __init__(self, trained: Model, split: str, other: EvaluationData | None) -> None:
        if other is not None and not trained.is_described:
            trained = described_by(trained, other.options, other.base, trained.classes)
        self.trained, self.other = trained, other
        self.notes: list[str] = list(trained.assumed)
        self.split = split
        project = trained.project
        self.options = project.data if other is None else other.options
        self.base = trained.base if other is None else other.base

    def decided(self, deciding: Deciding, *, fresh: bool = False) -> dict[str, Any]:
        """Return the result with stored thresholds and temperature, and what is asked about them. Raises
        `UserError`."""
        record = self.trained.preparation
        if deciding.stores or deciding.resets:
            self.trained.weights_folder()  # refuses what is no run before anything is computed
        if deciding.resets:
            record = decisions.reset(self.trained.weights_folder(), record)
        result, samples = self.result(fresh)
        thresholds = decisions.read_thresholds(deciding.thresholds, record)
        more: dict[str, Any] = {}
        if deciding.calibrates:
            temperatures = self._temperatures()
            more["calibrated"] = decisions.calibrated(temperatures, samples, record)
            if deciding.stores:
                record = decisions.store_temperatures(self.trained.weights_folder(), record, temperatures)
        if thresholds:
            more["operating_points"] = decisions.operating_points(thresholds, samples, record)
            if deciding.stores:
                record = decisions.store_thresholds(self.trained.weights_folder(), record, thresholds)
        return {**decisions.with_decisions(result, samples, record), **more}

    def _temperatures(self) -> dict[int, float]:
        """Return the temperature of each output of classes or labels, fitted on the validation split."""
        _, samples = Evaluation(self.trained, "validation", None).result()
        temperatures = {}
        for place, target in enumerate(self.trained.preparation.targets):
            if target.task in ("classes", "labels") and (scored := samples.scored(place)) is not None:
                temperatures[place] = temperature.fit(*scored, target.task)
        if not temperatures:
            raise UserError("A temperature calibrates probabilities of classes; the network predicts none.")
        return temperatures

    def grouped(self, by: str) -> dict[str, Any]:
        """Return the metrics of groups of samples. Raises `UserError`."""
        result, samples = self.result()
        return groups.groups(by, self.group_values(samples), result["targets"], samples)

    def group_values(self, samples: SampleScores) -> groups.Values:
        """Return the values by which the samples can be grouped, by name, one per sample."""
        data, indices = self.data, samples.index.tolist()
        name_of = getattr(data.inputs[0], "name_of", None)
        names = [name_of(number) for number in indices] if name_of is not None else None
        response = ", ".join(target.name for target in self.trained.facts.targets)
        columns = {
            name: [values[number] for number in indices]
            for name, values in groups.column_values(self.options, self.base, response).items()
        }
        info, arrays = self.trained.wanted[0].facts, samples.outputs[0]
        classes = None
        if info.task == "classes" and "predicted" in arrays:
            classes = [info.classes[number] if number >= 0 else "" for number in arrays["target"].tolist()]
        keys = open_source(self.options, self.base).outline.split_keys if self.options.split == "grouped" else None
        return groups.values_of(names, columns, classes, None if keys is None else keys[samples.index])

    def result(self, fresh: bool = False) -> tuple[dict[str, Any], SampleScores]:
        """Return the result and what is known of single samples, from the run folder where they are known."""
        if self.split not in ("", *SPLITS):
            raise UserError(f"There is no split '{self.split}'. Choose {', '.join(SPLITS)}.")
        folder = self.trained.kept_in(FOLDER)
        if folder is None:
            scores, samples = self._computed()
            return {**scores, "cached": False}, samples
        if self.options.source == "none":
            raise UserError("The run has no data. Name some with --data.")
        file = folder / f"{self._key()}.json"
        of_samples = file.with_suffix(".npz")
        if not fresh and (stored := self._known(file)) is not None:
            known = SampleScores.load(of_samples, len(stored["targets"]))
            if known is not None:
                return {**stored, "cached": True}, known
        scores, samples = self._computed()
        with contextlib.suppress(OSError):  # a run folder that cannot be written is evaluated all the same
            file.parent.mkdir(exist_ok=True)
            samples.save(of_samples)
            write_checked_json(file, scores, follow_link=False)
        return {**scores, "cached": False}, samples

    @staticmethod
    def _known(file: Path) -> dict[str, Any] | None:
        with contextlib.suppress(OSError, ValueError):
            content = read_object(file, LIMIT_BYTES, may_be_deep=True)
            if content is not None and content.get("format") == FORMAT:
                return dict(content)
        return None

    def _key(self) -> str:
        """Return the hash of what the result follows from."""
        places = [place.write() for place in places_of(self.options, self.base)]
        record = self.trained.data_record if self.other is None else None
        parts = [FORMAT, VERSION, self.trained.hash, self.split, self.options.write(), places]
        parts.append(record.split_hash if record is not None else "")
        if any(info.facts.task == "transcripts" for info in self.trained.wanted):
            parts.append(find_spec(LIBRARY) is not None)  # without it some scores are left out
        return hashlib.sha256(json.dumps(to_json(parts), sort_keys=True).encode()).hexdigest()[:32]

    def _computed(self) -> tuple[dict[str, Any], SampleScores]:
        trained = self.trained
        data = self.data
        split = self.split_of(data)
        dataset = self.dataset(data, split)
        network = trained.network
        options = _with_metrics(trained.project.training, data.facts.task)
        targets = self._training_targets(data)
        loss = self._loss(options, targets)
        metrics = metrics_for(options, in_order(network, trained.facts), targets, trained.wanted)
        adapters = OutputAdapters(trained.wanted)
        accumulator = MetricAccumulator(metrics, SingleProcess(), DEVICE)
        passes = [self._pass(number) for number in range(len(trained.wanted))]
        perplexity = Perplexity() if predicted_text(trained.preparation) is not None else None
        sample_count = 0
        for batch, outputs in self._outputs(dataset):
            with torch.inference_mode():
                fitted, fitted_targets = adapters(outputs, batch.targets)
                accumulator.update(loss(outputs, batch.targets), fitted, fitted_targets)
            ended = _with_blanks(trained, fitted)
            for output_pass, output, target in zip(passes, ended, fitted_targets, strict=False):
                if output_pass is not None:
                    output_pass.update(*_last(output, target), sample_count)
            if perplexity is not None:
                perplexity.update(*_last(fitted[0], fitted_targets[0]))
            sample_count += batch.count
            report(sample_count, len(dataset), "samples")
        loss_sum, values, _ = accumulator.compute()
        values = values if perplexity is None else {**values, "perplexity": perplexity.value}
        samples = SampleScores(
            data.numbers[split], [output_pass.each() if output_pass is not None else {} for output_pass in passes]
        )
        results = [self._target(number, output_pass, data, samples) for number, output_pass in enumerate(passes)]
        values |= {name: results[0][name] for name in TEXT_METRICS if name in results[0]}
        result = {
            "format": FORMAT,
            "weights": trained.kept,
            "split": split if self.other is None else "",
            "data": self.options.path or self.options.source,
            "samples": len(dataset),
            "loss": loss_sum / len(dataset),
            "metrics": values,
            "baselines": self._baselines(data, split, values),
            "targets": results,
            "notes": [*self.notes, *(data.facts.notes if self.other is not None else ())],
        }
        return result, samples

    def _baselines(self, data: LoadedData, split: str, metrics: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return the values of the baselines by metric; none for other data, which has no training split."""
        found = baselines(data, boosts=True) if self.other is None and len(data.numbers["training"]) else None
        return beside(found.errors.get(split, {}), metrics) if found is not None else {}

    @cached_property
    def data(self) -> LoadedData:
        """The data; its own is divided as the run divided it. Raises `UserError`."""
        trained = self.trained
        if self.options.source == "none":
            what = "The run" if trained.run is not None else str(trained.path)
            raise UserError(f"{what} has no data. Name some with --data.")
        if self.other is not None:
            return load_like(self.options, self.base, trained.facts)
        facts = facts_of(self.options, self.base)
        declared = self.options.source_type
        streams = declared is not None and declared.has_image_files and not facts.resident_because
        data = load(self.options, self.base, is_streamed=streams)
        record = trained.data_record
        if trained.run is None:
            refuse_other_facts(trained, data.facts)
            return data
        if record is None:
            self.notes.append("The run did not record its splits: they are made anew from its options.")
            return data
        total = len(data.targets[0])
        changes = record.changes()
        if len(record.parts) != total:
            raise UserError(
                f"The data of the run has {plural(total, 'sample')} now; it had {len(record.parts):,}. "
                f"{' '.join(changes)} Put it back as it was, or evaluate on it as other data (--data)."
            )
        self.notes += [f"The data has changed since the run: {text}" for text in changes]
        return replace(data, numbers={name: np.array(record.numbers(name), np.int64) for name in SPLITS})

    def predicted(self, numbers: Array) -> list[Array]:
        """Return the outputs for the samples with these numbers in the source, per output with channels last:
        logits of classes and labels, or numbers."""
        empty = np.empty(0, np.int64)
        data = replace(self.data, numbers={**dict.fromkeys(SPLITS, empty), "test": numbers})
        adapters = OutputAdapters(self.trained.wanted)
        predictions: list[list[Array]] = [[] for _ in self.trained.wanted]
        for batch, outputs in self._outputs(self.dataset(data, "test")):
            with torch.inference_mode():
                fitted, fitted_targets = adapters(outputs, batch.targets)
            for parts, output, target in zip(predictions, fitted, fitted_targets, strict=True):
                parts.append(_last(output, target)[0])
        return [np.concatenate(parts) for parts in predictions]

    def _outputs(self, dataset: ResidentDataset) -> Iterator[tuple[Batch, Tensors]]:
        """Yield the samples in batches, with the outputs of the network."""
        batches = dataset.shard_batches(0, 1, BATCH)
        return outputs_in_order(self.trained, self.trained.scoring, batches, lambda batch: batch.inputs)

    def split_of(self, data: LoadedData) -> str:
        if self.other is not None:
            return "test"
        has = [name for name in reversed(SPLITS) if len(data.numbers[name])]
        name = self.split or ("test" if "test" in has else has[0])
        if name not in has:
            raise UserError(f"The run has no {name} samples. Choose one of: {', '.join(reversed(has))}.")
        return name

    def dataset(self, data: LoadedData, split: str) -> ResidentDataset:
        """Return the samples as the network takes them."""
        trained, project = self.trained, self.trained.project
        if not len(data.numbers[split]):
            raise UserError("There are no samples to evaluate on.")
        doubles = {
            number
            for number, input_facts in enumerate(trained.facts.inputs)
            for preparation in trained.preparation.inputs
            if preparation.dtype == "float64" and input_facts.name in (preparation.source, preparation.name)
        }
        dataset = make_dataset(
            data.split(split, doubles),
            project.network,
            trained.analysis,
            trained.facts,
            project.training,
            trained.wanted,
            DEVICE,
            is_training=False,
        )
        return trained.precision.data(dataset)

    def _training_targets(self, data: LoadedData) -> Tensors:
        """Return the targets of the training split, from which weights of classes follow."""
        numbers = data.numbers["training"]
        if not len(numbers):
            numbers = data.numbers["test"]
            if self.trained.project.training.class_weighting == "balanced":
                self.notes.append("The weights of classes in the loss are those of this data, not of the training.")
        return tuple(torch.from_numpy(data.targets[target.number][numbers]) for target in self.trained.wanted)

    def _loss(self, options: TrainingOptions, targets: Tensors) -> Loss:
        trained = self.trained
        loss = loss_for(options, trained.wanted, targets)
        if not options.normalize_targets:
            return loss
        module = trained.scoring
        scales = {
            output: scale_of(module.get_submodule(trained.module_names[id][0]), DEVICE)
            for output, id in fitted_outputs(trained.network).items()
        }
        return normalised(loss, scales)

    def _pass(self, number: int) -> Pass | None:
        info = self.trained.wanted[number]
        names: Sequence[str] = ()
        if number < len(self.trained.preparation.targets):
            names = self.trained.preparation.targets[number].columns
        try:
            return pass_for(info.facts, RANKED, names, is_blank_first=_is_blank_first(self.trained, number))
        except UserError as error:
            self.notes.append(str(error))
            return None

    def _target(self, number: int, output_pass: Pass | None, data: LoadedData, samples: SampleScores) -> dict[str, Any]:
        """Return the scores of one output, its curves, its ranked samples with their number in the source and their
        name."""
        info, scored = self.trained.wanted[number], samples.scored(number)
        entry = {
            "name": info.name,
            "task": info.facts.task,
            "per": info.facts.per,
            "classes": list(info.facts.classes),
            **(output_pass.result() if output_pass is not None else {}),
        }
        if info.facts.task in ("classes", "labels") and scored is not None:
            entry["curves"] = curves(*scored, info.facts.classes, info.facts.task)
        name_of = getattr(data.inputs[0], "name_of", None)
        for rows in (entry.get("worst", ()), entry.get("most_uncertain", ())):
            for row in rows:
                row["index"] = int(samples.index[row.pop("place")])
                if name_of is not None:
                    row["sample"] = name_of(row["index"])
        return entry


def _is_blank_first(trained: Model, number: int) -> bool:
    """Return whether the first channel of an output is the blank of its transcripts; else the last one is."""
    targets = trained.preparation.targets
    blank = targets[number].blank if number < len(targets) else trained.project.training.ctc_blank
    return bool(blank == "first")


def _with_blanks(trained: Model, outputs: Tensors) -> Tensors:
    """Return the outputs, of transcripts with blanks behind the ends of sequences. `outputs` ends with the lengths of
    those that have some."""
    lengths, filled = iter(outputs[len(trained.wanted) :]), []
    for number, (spec, output) in enumerate(zip(trained.wanted, outputs, strict=False)):
        steps = next(lengths) if spec.has_lengths else None
        if steps is not None and spec.facts.task == "transcripts":
            blank = torch.full(output.shape[2:], -torch.inf, dtype=output.dtype)
            blank[0 if _is_blank_first(trained, number) else -1] = 0.0
            output = torch.where((torch.arange(output.shape[1]) >= steps[:, None])[..., None], blank, output)
        filled.append(output)
    return tuple(filled)


def _with_metrics(options: TrainingOptions, task: str) -> TrainingOptions:
    """Return the options with all metrics of the task that need no further library."""
    names = [*options.metrics_for(task), *EXTRA.get(task, ())]
    available = [name for name in dict.fromkeys(names) if name in METRICS or name == "custom"]
    return options.replace(metrics=tuple(available)) if available else options


def _last(output: torch.Tensor, target: torch.Tensor) -> tuple[Array, Array]:
    """Return an output with channels last, and its target alike."""
    is_like = target.is_floating_point() and target.ndim == output.ndim
    target = channels_last(target) if is_like else target
    return channels_last(output).numpy(), target.numpy()
