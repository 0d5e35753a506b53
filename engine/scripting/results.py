"""What the functions of the API return: values with a short text, and the JSON of the command of the same name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import printable
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.text import answer_in_words, format_duration, format_figure
from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.project.data_hosts import say_typed
from netwright.engine.project.project import Project as ProjectValue
from netwright.engine.project.trials import with_options
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment
from netwright.engine.runs.folder import RunFolder, open_run, origin
from netwright.engine.runs.queue import Entry, Queue
from netwright.engine.runs.queued_answers import read_queued_result
from netwright.engine.runs.summary import format_metric, read_summary
from netwright.engine.runs.trial_log import Trial
from netwright.engine.runs.trial_marks import read_marks
from netwright.engine.runs.trial_rows import best_trial, described_experiment, pareto_front

if TYPE_CHECKING:
    import numpy as np

StrPath = str | Path


@dataclass(frozen=True, repr=False)
class Project:
    """A project that was read from a file. `value` is its immutable content, `notices` what a user should know."""

    path: Path
    value: ProjectValue
    notices: tuple[str, ...] = ()

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return the project with other values by their paths, such as `training.max_epochs` or
        `network.conv_1.filters`. The file stays as it is. The host of a URL may be contacted from now on. Raises
        `UserError`."""
        for value in options.values():
            say_typed(str(value))
        return replace(self, value=_with_source(with_options(self.value, options, origin(self.path).base), self.path))

    def save(self, path: StrPath) -> None:
        """Write the project into a file. Raises `UserError`."""
        from netwright.engine.project.file import save

        save(self.value, Path(path))

    def to_dict(self) -> dict[str, Any]:
        """Return the project as its file has it."""
        import json

        from netwright.engine.project.file import dumps

        return dict(json.loads(dumps(self.value)))

    def __repr__(self) -> str:
        layers = plural(len(self.value.network.layers), "layer")
        return f"Project({str(self.path)!r}, {layers}, data: {self.value.data.path or self.value.data.source})"


@dataclass(frozen=True)
class Curve:
    """Values of a loss or metric by step, as lists of the same length."""

    steps: list[int]
    values: list[float]

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as JSON."""
        return {"steps": self.steps, "values": to_json(self.values)}

    def __repr__(self) -> str:
        last = f", last {format_figure(self.values[-1])}" if self.values else ""
        return f"Curve({plural(len(self.steps), 'point')}{last})"


@dataclass(frozen=True, repr=False)
class Trained:
    """A run that has trained. `state` is finished, stopped or failed, `result` the content of its `result.json`."""

    run: Path
    """The run's folder."""
    state: str
    result: Mapping[str, Any]

    @property
    def training(self) -> dict[str, float]:
        """Loss and metrics of the last iteration."""
        loss = self.result.get("loss")
        found = {"loss": loss, **(self.result.get("metrics") or {})}
        return {name: float(value) for name, value in found.items() if value is not None}

    @property
    def validation(self) -> dict[str, float]:
        """Loss and metrics of the kept weights on the validation split; empty without one."""
        return self._split("validation")

    @property
    def test(self) -> dict[str, float]:
        """Loss and metrics of the kept weights on the test split; empty without one."""
        return self._split("test")

    def _split(self, name: str) -> dict[str, float]:
        return {key: float(value) for key, value in (self.result.get(name) or {}).items()}

    @property
    def reason(self) -> str:
        """Why the run ended, in words."""
        return str(self.result.get("reason") or "")

    @property
    def epochs(self) -> int:
        """Epochs that were trained."""
        return int(self.result.get("epochs") or 0)

    @property
    def iterations(self) -> int:
        """Optimizer steps."""
        return int(self.result.get("iterations") or 0)

    @property
    def seconds(self) -> float:
        """Duration of the training."""
        return float(self.result.get("seconds") or 0.0)

    @cached_property
    def curves(self) -> dict[str, Curve]:
        """All curves by split and name, such as `training.loss`, read from the run's log."""
        from netwright.engine.runs.curve_files import read_curves

        found = read_curves(RunFolder(self.run))
        return {f"{one.split}.{one.name}": Curve([int(step) for step in one.steps], list(one.values)) for one in found}

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as `train --json` prints it, with the curves."""
        curves = {name: curve.to_dict() for name, curve in self.curves.items()}
        return {**self.result, "run_dir": str(self.run), "state": self.state, "curves": curves}

    def __repr__(self) -> str:
        scores = [
            f"{split} " + ", ".join(format_metric(*pair) for pair in values.items())
            for split, values in (("validation", self.validation), ("test", self.test))
            if values
        ]
        trained = f"{plural(self.epochs, 'epoch')} in {format_duration(self.seconds)}"
        return f"Trained({'; '.join([self.state, trained, *scores])}; {str(self.run)!r})"


@dataclass(frozen=True)
class NamedModel:
    """A model by its path."""

    path: Path


Named = Trained | NamedModel | StrPath
"""A model as the functions take it."""


@dataclass(frozen=True, repr=False)
class Evaluation:
    """How good the network of a run is. `outputs` has per output of the network its scores, as `evaluate --json`."""

    run: Path
    split: str
    """Split of the run's own data; empty for other data."""
    samples: int
    loss: float
    metrics: dict[str, float]
    outputs: list[dict[str, Any]]
    notes: list[str]
    details: Mapping[str, Any]

    @property
    def classes(self) -> list[str]:
        """The classes of the first output."""
        return list(self.outputs[0].get("classes", ()))

    @property
    def confusion(self) -> "np.ndarray[Any, np.dtype[np.int64]] | None":
        """Confusion matrix of the first output, true classes in rows; None for numbers and for many classes."""
        import numpy as np

        table = self.outputs[0].get("confusion")
        return None if table is None else np.asarray(table, np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `evaluate --json` prints it."""
        return {"path": str(self.run), **self.details}

    def __repr__(self) -> str:
        scores = ", ".join(format_metric(*pair) for pair in {"loss": self.loss, **self.metrics}.items())
        return f"Evaluation({self.split or self.details['data']}, {plural(self.samples, 'sample')}: {scores})"


@dataclass(frozen=True, repr=False)
class Prediction:
    """Answer for one sample. `outputs` has one entry per output, as `predict --json`; `error` says why the sample could
    not be used."""

    sample: str
    outputs: list[Mapping[str, Any]]
    error: str = ""

    @property
    def label(self) -> str | None:
        """The class of the first output; None where it predicts no class."""
        return self.outputs[0].get("class") if self.outputs else None

    @property
    def top(self) -> dict[str, float]:
        """The likeliest classes of the first output with their probabilities."""
        found = self.outputs[0].get("top", ()) if self.outputs else ()
        return {one["class"]: one["probability"] for one in found}

    @property
    def value(self) -> Any:
        """The number, or the numbers by name, of the first output; None where it predicts none."""
        return self.outputs[0].get("value") if self.outputs else None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return {"sample": self.sample, **({"error": self.error} if self.error else {"outputs": to_json(self.outputs)})}

    def __repr__(self) -> str:
        said = "; ".join(map(answer_in_words, self.outputs)) if self.outputs else f"not used: {printable(self.error)}"
        return f"Prediction({printable(self.sample)}: {said})"


@dataclass(frozen=True, repr=False)
class Experiment:
    """An experiment with its trials, each with `number`, `state`, `values` and `scores` by path."""

    folder: Path
    state: str
    objectives: tuple[str, ...]
    trials: list[Trial]

    @property
    def best(self) -> Trial | None:
        """The best trial by the first objective; None where none has ended with a value."""
        return best_trial(self.trials, self.objectives)

    @property
    def pareto_front(self) -> list[Trial]:
        """The trials that no other one beats in every objective."""
        return pareto_front(self.trials, self.objectives)

    def run_of(self, trial: Trial) -> Trained:
        """Return the first run of a trial. Raises `UserError`."""
        if not trial.runs:
            raise UserError(f"Trial {trial.number} has no run. {trial.reason}".strip())
        return load_run(ExperimentFolder(self.folder).run_path(trial.runs[0].name))

    def to_dict(self) -> dict[str, Any]:
        """Return the experiment as `experiment status --json` prints it."""
        folder = ExperimentFolder(self.folder)
        return dict(described_experiment(folder, self.trials, read_marks(folder)))

    def __repr__(self) -> str:
        best = self.best
        name = self.objectives[0]
        said = f"; best: {best.title}, {format_metric(name, best.scores[name])}" if best is not None else ""
        return f"Experiment({self.state}; {plural(len(self.trials), 'trial')}{said}; {str(self.folder)!r})"


@dataclass(frozen=True, repr=False)
class Explanation:
    """An explanation of a network by one method: `details` as `explain --json` prints them, `arrays` by name."""

    run: Path
    method: str
    details: Mapping[str, Any]
    arrays: "dict[str, np.ndarray[Any, Any]]"

    def to_dict(self) -> Mapping[str, Any]:
        """Return the explanation as JSON, without its arrays."""
        return {"path": str(self.run), **self.details}

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {' × '.join(map(str, array.shape))}" for name, array in self.arrays.items())
        return f"Explanation({self.details['title']}: {shapes})"


@dataclass(frozen=True)
class ClusterJob:
    """A run that is a job on a cluster, with its folder on this machine."""

    run: Path
    profile: str

    @property
    def state(self) -> str:
        """The state of the run, as far as it is known here, such as `running` or `finished`."""
        return open_run(self.run).state()

    def stop(self) -> None:
        """Ask the run to stop: it saves what it has learned. Raises `UserError`."""
        open_run(self.run).request("stop")


def load_run(run: StrPath) -> Trained:
    """Return the run in a folder, also one that still trains: then its result is what it has reached so far. Raises
    `UserError`."""
    folder = open_run(Path(run))
    return Trained(folder.path.absolute(), folder.state(), read_summary(folder.path).measured)


def load_experiment(experiment: StrPath) -> Experiment:
    """Return the experiment in a folder, or the newest one of a project file. Raises `UserError`."""
    folder = open_experiment(Path(experiment))
    info = folder.read_info()
    return Experiment(folder.path.absolute(), folder.state(), info.objectives, folder.read_trials())


def _with_source(value: ProjectValue, path: Path) -> ProjectValue:
    """Return the project with the source of its data guessed, where only a path is named."""
    from netwright.engine.project.sources.guess import with_guessed_source

    return replace(value, data=with_guessed_source(value.data, origin(path).base)[0])


def queue_list() -> list[Entry]:
    """Return the queue in its order: each entry has `id`, `state`, `title` and, once it trains, `run_dir`."""
    return Queue().entries()


def queue_result(entry: Entry | int) -> Mapping[str, Any] | None:
    """Return the result of an operation in the background, as its command prints it with `--json`; None while it is
    computed. Raises `UserError` where it has failed or was stopped."""
    queue, number = Queue(), entry if isinstance(entry, int) else entry.id
    current = queue.entry(number)
    if current is not None and not current.is_over:
        return None
    if current is not None and current.state != "finished":
        raise UserError(f"{current.title}: {current.reason or current.state}.")
    return read_queued_result(queue, number).result


def jobs() -> list[ClusterJob]:
    """Return the runs on clusters."""
    return [ClusterJob(job.folder.path, job.profile) for job in cluster_function("cluster_jobs")()]
