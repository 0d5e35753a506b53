"""A model that answers samples in JSON and uploaded files, as `predict --json` does."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.part_registry import required
from netwright.engine.data.loading.apply_preparation import expected_of, prepare, present
from netwright.engine.data.sources.source import Array, Arrays
from netwright.engine.endpoint.batching import Batcher
from netwright.engine.project.preparation import Preparation
from netwright.engine.runs.model_files import ModelChoice

Rows = list[dict[str, Any]]


class Predictor(Protocol):
    """Computes the outputs of a network for prepared inputs."""

    record: Preparation
    season: int
    assumed: tuple[str, ...]

    def outputs(self, inputs: Arrays) -> list[Array]:
        """Return the outputs in the order of the record, samples first."""


class ServedModel:
    """The model of an endpoint. `name`: what clients are told of where it comes from."""

    def __init__(self, choice: ModelChoice, most: int, wait_s: float) -> None:
        """Open the model, computed in micro-batches of at most `most` samples. Raises `UserError`."""
        self.name = choice.path.name
        self._predictor: Predictor = required("functions", "open_predictor")(choice, in_process=True)
        self._predict, self._answers_in, self._warn = (
            required("functions", name) for name in ("predict_files", "answers_in", "warn_of_rows")
        )
        self.record, self.assumed = self._predictor.record, self._predictor.assumed
        self.reads = {part.reads for part in self.record.inputs}
        self._takes_one = any(None in part.sizes for part in self.record.inputs)
        """Sequences of any length: those of one request are not padded to the longest."""
        self.batcher = Batcher(self._computed, most, wait_s)
        self._good: Arrays | None = None
        self.failure = ""
        """Why the network does not compute any more; empty while it does."""

    @property
    def takes_json(self) -> bool:
        """Whether samples come as JSON: rows, texts, numbers; else as files alone."""
        return not self.reads & {"image", "sound"}

    def _computed(self, inputs: Arrays) -> list[Array]:
        try:
            outputs = self._predictor.outputs(inputs)
        except Exception:
            self.failure = self._lasting_failure()
            raise
        if self._good is None:
            self._good = tuple(array[:1].copy() for array in inputs)
        return outputs

    def _lasting_failure(self) -> str:
        """Return why an input that was computed before is not any more; empty where it is, or none was."""
        if self._good is not None:
            try:
                self._predictor.outputs(self._good)
            except Exception as error:
                return str(error)
        return ""

    async def answer_samples(self, samples: Sequence[Any], most: int) -> Rows:
        """Return the answers for rows, texts or arrays. Raises `UserError`."""
        size = 1 if self._takes_one else len(samples)
        request = []
        for first in range(0, len(samples), size):
            part = samples[first : first + size]
            told = partial(self._told, part, first, most)
            request.append(self.batcher.answer(partial(self._prepared, part), told, len(part)))
        return [answer for answers in await asyncio.gather(*request) for answer in answers]

    def _told(self, samples: Sequence[Any], first: int, most: int, outputs: list[Array]) -> Rows:
        names = [str(number) for number in range(first, first + len(samples))]
        answers: Rows = self._answers_in(present(self.record, outputs), names, most)
        self._warn(self.record, samples, answers)
        return answers

    def _prepared(self, samples: Sequence[Any]) -> Arrays:
        """Return samples as JSON has them, prepared. Raises `UserError`."""
        kinds = {"columns": dict, "text": str}
        kind = next((kinds[reads] for reads in self.reads if reads in kinds), None)
        if kind is not None:
            if strange := [number for number, sample in enumerate(samples) if not isinstance(sample, kind)]:
                raise UserError(f"Sample {strange[0]:,} is not one of {expected_of(self.record)}.")
            return prepare(self.record, samples)
        inputs = self.record.inputs
        if len(inputs) == 1:
            return prepare(self.record, [self._numbers(samples, inputs[0].source or inputs[0].name)])
        names = [part.source or part.name for part in inputs]
        for number, sample in enumerate(samples):
            if not isinstance(sample, Mapping) or (lacks := [name for name in names if name not in sample]):
                missing = f" It has no array {quoted(lacks[0])}." if isinstance(sample, Mapping) else ""
                raise UserError(f"Sample {number:,} is not one of {expected_of(self.record)}.{missing}")
        return prepare(self.record, {name: self._numbers([sample[name] for sample in samples], name) for name in names})

    def _numbers(self, values: Sequence[Any], name: str) -> Array:
        try:
            return np.asarray(values, np.float64)
        except (ValueError, TypeError, OverflowError):
            words = f"The samples of {quoted(name)} are not lists of numbers, all of one shape."
            raise UserError(f"{words} Expected {expected_of(self.record)}.") from None

    def answer_files(
        self, files: Sequence[tuple[Path, str]], most: int, loop: asyncio.AbstractEventLoop, patience_s: float
    ) -> Rows:
        """Return the answers for files, each with the name that the client gave it, in a thread beside the event loop.
        A file that cannot be used has an answer that says why. Raises `TimeoutError` where a batch takes longer than
        `patience_s` seconds: nobody waits for it then."""
        answers: Rows = []
        for path, name in files:
            start = len(answers)
            try:
                answers += self._predict(_InBatches(self, loop, patience_s), [path], most)
            except UserError as error:
                answers.append({"sample": str(path), "error": str(error)})
            for answer in answers[start:]:
                for key in {"sample", "error"} & answer.keys():
                    answer[key] = answer[key].replace(str(path), name)
        return answers

    def close(self) -> None:
        """Let go of the network."""
        self.batcher.close()


class _InBatches:
    """The predictor of a thread whose inputs are computed with those of others."""

    def __init__(self, model: ServedModel, loop: asyncio.AbstractEventLoop, patience_s: float) -> None:
        self.record, self.season, self.assumed = model.record, 0, model.assumed
        self.num_devices, self.pool = 1, ThreadPoolExecutor
        self._batcher, self._loop, self._patience_s = model.batcher, loop, patience_s

    def outputs(self, inputs: Arrays) -> list[Array]:
        """Return the outputs in the order of the record, samples first. Raises `UserError`."""
        answer = self._batcher.answer(lambda: inputs, lambda outputs: outputs, len(inputs[0]))
        outputs: list[Array] = asyncio.run_coroutine_threadsafe(answer, self._loop).result(self._patience_s)
        return outputs
