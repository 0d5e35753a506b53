"""Projects, runs and experiments of the API: each run has a process of its own, and is followed by its folder."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from netwright.engine.core import dataclass_json
from netwright.engine.core.dataclass_json import JsonShapeError
from netwright.engine.core.errors import RunError, UserError, did_you_mean
from netwright.engine.core.finite_json import to_json
from netwright.engine.operations.operation import installed_operation, run_operation
from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.project.data_hosts import say_typed
from netwright.engine.project.file import dumps
from netwright.engine.project.trials import defined
from netwright.engine.runs import events
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment, start_runner
from netwright.engine.runs.folder import RunFolder, origin
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.queue import Entry as QueueEntry
from netwright.engine.runs.queued_answers import add as add_answer
from netwright.engine.runs.trial_log import Trial
from netwright.engine.scripting.results import (
    ClusterJob,
    Experiment,
    Named,
    NamedModel,
    Project,
    StrPath,
    Trained,
    load_experiment,
    load_run,
)

if TYPE_CHECKING:
    from netwright.engine.operations.models import RegisteredModel

POLL_S = 0.1
TRANSFER_OPTIONS = ("fit_head", "slow_up_to", "rate_factor", "weights")
MODEL_OPTIONS = ("classes", "pixels", "data", "settings")
"""Arguments of a question about a network from elsewhere: the names of its classes, the range of its pixels; and other
data than that of a model, with its options by path."""
PLACES = ("device", "profile")
"""Arguments that say where a question is answered: a device here, or a job on the cluster of a profile."""


@dataclass(frozen=True)
class Progress:
    """How far a training has come. `metrics` has the newest losses and metrics by split and name, such as
    `validation.accuracy`; `remaining_s` is NaN where it is not known."""

    epoch: int
    iteration: int
    iterations: int
    elapsed_s: float
    remaining_s: float
    samples_per_second: float
    metrics: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        return {name: to_json(value) for name, value in vars(self).items()}


class Training:
    """A training under way: iterate over it for its `Progress`, then ask for the `result`.

    It has a process of its own and goes on if nobody looks. As a context it is stopped where its body raises:

        with nw.start(project) as training:
            for progress in training:
                print(progress.epoch, progress.metrics)
        run = training.result()
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._reader = EventReader(folder)
        self._iterations = 0
        self._metrics: dict[str, float] = {}

    @property
    def run(self) -> Path:
        """The run's folder."""
        return self._folder.path

    def stop(self, *, after_epoch: bool = False) -> None:
        """Ask the training to stop now, or after this epoch. What was learned is kept, and can be resumed."""
        self._folder.request("stop_after_epoch" if after_epoch else "stop")

    def result(self) -> Trained:
        """Wait for the end and return the outcome. Raises `RunError` if the training failed. Ctrl-C stops it: it then
        ends with the state `stopped`, as after `stop`; a second one raises `KeyboardInterrupt`."""
        try:
            for _ in self:
                pass
        except KeyboardInterrupt:
            self._stop_and_wait()
        return self._outcome()

    def _outcome(self) -> Trained:
        run = load_run(self.run)
        if run.state in ("failed", "lost"):
            found = RunError(
                f"The run failed: {run.reason or 'its process is gone'}", hint=f"Its log is {self._folder.log}."
            )
            found.data = run.result
            raise found
        return run

    def _stop_and_wait(self) -> None:
        if self._folder.state() not in ENDS:
            with contextlib.suppress(UserError):
                self.stop()
        for _ in self:
            pass

    def __iter__(self) -> Iterator[Progress]:
        while True:
            is_over = self._folder.state() in ENDS  # before reading, so that the last events are read
            found = self._reader.read()
            for event in found:
                if isinstance(event, events.Started):
                    self._iterations = event.iterations
                elif isinstance(event, events.Points):
                    last = {f"{event.split}.{name}": values[-1] for name, values in event.values.items() if values}
                    self._metrics = {**self._metrics, **last}
                elif isinstance(event, events.Progress):
                    yield self._progress(event)
            if is_over and not found:
                return
            if not found:
                time.sleep(POLL_S)

    def _progress(self, event: events.Progress) -> Progress:
        return Progress(
            event.epoch,
            event.iteration,
            self._iterations,
            event.elapsed_s,
            event.remaining_s,
            event.samples_per_second,
            self._metrics,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._stop_and_wait()

    def __repr__(self) -> str:
        return f"Training({self._folder.state()}, {str(self.run)!r})"


def follow_experiment(folder: ExperimentFolder, callback: Callable[[Trial], object] | None) -> None:
    """Run an experiment in a process of its own until it ends; tell each trial that has ended since."""
    told = {trial.number for trial in folder.read_trials() if trial.is_over}
    process = start_runner(folder)
    is_stopping = False
    while True:
        try:
            is_over = process.poll() is not None
            if callback is not None:
                for trial in folder.read_trials():
                    if trial.is_over and trial.number not in told:
                        told.add(trial.number)
                        callback(trial)
            if is_over:
                return
            time.sleep(POLL_S)
        except BaseException as error:
            if is_stopping:
                raise
            is_stopping = True
            folder.request("stop")
            if not isinstance(error, KeyboardInterrupt):
                process.wait()
                raise


def load(path: StrPath, options: Mapping[str, Any] | None = None) -> Project:
    """Read a project file (`*.netwright`), with other values by their paths if `options` has some.

    Raises `UserError` for a damaged file, and for a value that does not fit.
    """
    from netwright.engine.operations.projects import read_project

    value, notices = read_project(Path(path), ())
    project = Project(Path(path).resolve(), value, notices)
    return project.with_options(options) if options else project


def with_code(project: Project | StrPath, trust: bool) -> Project:
    """Return the project with its own code looked at."""
    from netwright.engine.operations.projects import look_at_code

    opened = project if isinstance(project, Project) else load(project)
    place = origin(opened.path)
    look_at_code(opened.value, place.code_base, place.code, trusted=trust)
    return opened


def start(project: Project | StrPath, *, run_dir: StrPath | None = None, trust: bool = False) -> Training:
    """Start to train a project in a process of its own, and return while it trains.

    `run_dir`: folder of the run, absent or empty; by default `runs/<time>_<name>` beside the project. `trust`: the
    project's own code may run this time. Raises `UserError` for project, data and environment.
    """
    opened = with_code(project, trust)
    from netwright.engine.launch.detached_coordinator import start_detached
    from netwright.engine.launch.prepare import prepare

    folder = prepare(opened.value, opened.path, Path(run_dir) if run_dir is not None else None)
    start_detached(folder)
    return Training(folder)


def queue_add(project: Project | StrPath, *, after: Trained | StrPath | None = None, trust: bool = False) -> QueueEntry:
    """Add a project at the end of the queue, which the window and the command `queue run` train one after the other.
    `after`: behind the end of this run. Raises `UserError`."""
    from netwright.engine.runs.queue import Queue

    opened = with_code(project, trust)
    behind = folder_of(after) if after is not None else None
    return Queue().add_project(opened.value, opened.path, behind, is_trusted=trust)


def queue_answer(operation: str, model: Named, **values: Any) -> QueueEntry:
    """Compute an operation about a model in the background, such as `queue_answer("evaluate", run, split="test")`, and
    return its entry in the queue. `values`: fields of its request. Raises `UserError`."""
    declared = installed_operation(operation)
    if not declared.may_wait:
        raise UserError(f"'{operation}' is not computed in the background.", hint="`queue_add` is for projects.")
    try:
        request = declared.read(dataclass_json.to_json({"model": folder_of(model), **values}))
    except JsonShapeError as error:
        raise UserError(f"{operation}: {error}.", code="usage") from None
    request.check()
    return add_answer(operation, dataclass_json.to_json(request), request.model)


def models(name: str = "", *, stage: str = "", registry: StrPath | None = None) -> "list[RegisteredModel]":
    """Return the versions of registered models, the newest of each first: of one `name`, in one `stage`, or all.

    `registry`: its folder, by default that in `NETWRIGHT_REGISTRY`, else in your data folder. Raises `UserError`.
    """
    listed = run_operation("models list", name=name, stage=stage, registry=_folder(registry))
    versions: list[RegisteredModel] = listed["models"]
    return versions


def register(
    model: Named,
    name: str,
    *,
    stage: str = "none",
    tags: Sequence[str] = (),
    metrics: Mapping[str, float] | None = None,
    registry: StrPath | None = None,
) -> "RegisteredModel":
    """Add a model to the registry as the next version of a name: a copy of network and weights, with the scores and the
    data of its run, and `metrics` of your own. Raises `UserError`."""
    texts = tuple(f"{key}={value!r}" for key, value in (metrics or {}).items())
    values = {"stage": stage, "tags": tuple(tags), "metrics": texts, "registry": _folder(registry)}
    version: RegisteredModel = run_operation("models register", model=folder_of(model), name=name, **values)
    return version


def promote(version: str, stage: str = "production", *, registry: StrPath | None = None) -> "list[RegisteredModel]":
    """Set the stage of a registered version, such as `digits@3`. Return the versions whose stage changed: the one that
    was in production before is archived. Raises `UserError`."""
    changed = run_operation("models promote", version=version, stage=stage, registry=_folder(registry))
    models: list[RegisteredModel] = changed["models"]
    return models


def _folder(path: StrPath | None) -> Path | None:
    return None if path is None else Path(path)


def submit(
    project: Project | StrPath, *, profile: str = "", run_dir: StrPath | None = None, trust: bool = False
) -> ClusterJob:
    """Start the run of a project as a job on a cluster, and return it. `profile`: name of the cluster, by default that
    of the project, else yours. The job goes on without this machine. Raises `UserError`, also for a cluster that takes
    no jobs."""
    profile_of = cluster_function("cluster_profile")
    opened = with_code(project, trust)
    environment = opened.value.environment
    environment = environment.replace(target="parallel", cluster=profile or environment.cluster)
    cluster, run = profile_of(environment), Path(run_dir) if run_dir is not None else None
    folder = cluster_function("start_job")(replace(opened.value, environment=environment), opened.path, run)
    if folder is None:
        raise UserError(f"The cluster {cluster.name} takes no jobs.", hint="Train on it with start or train.")
    return ClusterJob(folder.path, cluster.name)


def folder_of(model: Named) -> Path:
    """Return the folder of a run, or the path that was named."""
    return model.run if isinstance(model, Trained) else model.path if isinstance(model, NamedModel) else Path(model)


def said_of_model(values: Mapping[str, Any], names: Sequence[str] = MODEL_OPTIONS) -> Mapping[str, Any]:
    """Return arguments about a model as its request has them. Raises `UserError` for one that there is not."""
    for name in values:
        if name not in names:
            raise UserError(f"There is no argument '{name}'.{did_you_mean(name, names)}")
    said = dict(values)
    if "data" in said:
        said["data"] = str(said["data"])
    if "output" in said:
        said["output"] = Path(said["output"])
    if "classes" in said:
        said["classes"] = tuple(said["classes"])
    if "settings" in said:
        said["settings"] = tuple(f"{name}={value}" for name, value in said["settings"].items())
    return said


def transfer(
    source: Named,
    to: StrPath,
    *,
    data: StrPath | None = None,
    outputs: int = 0,
    freeze_up_to: str = "",
    force: bool = False,
    **options: Any,
) -> Project:
    """Write a new project that starts from a model, and return it. `data`: other data. `outputs`: a new head with so
    many. `freeze_up_to`: layer up to which weights stay. `force` replaces a project. `options`: `fit_head`,
    `slow_up_to`, `rate_factor`, `weights`, as the command has them. Raises `UserError`."""
    for name in options:
        if name not in TRANSFER_OPTIONS:
            raise UserError(f"transfer has no option '{name}'.{did_you_mean(name, TRANSFER_OPTIONS)}")
    values = {name: Path(value) if name == "weights" else value for name, value in options.items()}
    other = Path(data) if data is not None else None
    values |= {"data": other, "outputs": outputs, "freeze_up_to": freeze_up_to, "replaces": force}
    result = run_operation("transfer", source=folder_of(source), output=Path(to), **values)
    return load(result.path)


def compress(
    run: Named,
    *,
    size: str | int = "",
    time: float | None = None,
    accuracy_loss: float = 1.0,
    output: StrPath | None = None,
    force: bool = False,
    trust: bool = False,
    **options: Any,
) -> Any:
    """Search a smaller network within a budget, and return a `CompressResult`. `size`: of its ONNX file, such as "1MB".
    `time`: ms per sample. `accuracy_loss`: percentage points. `output`: project of the best candidate. `options`:
    `epochs`, `candidates`, `float_only`, `pick`, and those of a model. Raises `UserError`."""
    names = [parameter.name for parameter in installed_operation("compress").parameters()]
    values: Mapping[str, Any] = {"size": str(size), "time": time, "accuracy_loss": accuracy_loss, "replaces": force}
    values = {**values, **said_of_model(options, names), "output": Path(output) if output is not None else None}
    return run_operation("compress", model=folder_of(run), **values, trusted=trust)


def generate(
    network: Named, prompt: str, callback: Callable[[str], object] | None = None, *, trust: bool = False, **options: Any
) -> str:
    """Return the text that a language model writes after a prompt. `callback` is called with each piece of it as it
    comes. `options` are those of the command, such as `length`, `temperature`, `top_k`, `top_p`, `stop` (a text or
    several) and `seed`. Raises `UserError`."""
    names = [parameter.name for parameter in installed_operation("generate").parameters()]
    values = dict(said_of_model(options, names))
    if "stop" in values:
        values["stop"] = (values["stop"],) if isinstance(values["stop"], str) else tuple(values["stop"])
    result = run_operation("generate", model=folder_of(network), prompt=prompt, trusted=trust, **values)
    for piece in result.pieces:
        if callback is not None:
            callback(piece["text"])
    return str(result.text)


def experiment(
    project: Project | StrPath,
    vary: Mapping[str, Sequence[Any] | str] | None = None,
    callback: Callable[[Trial], object] | None = None,
    *,
    ready: str = "",
    strategy: str = "",
    trials: int | None = None,
    at_once: int | None = None,
    trust: bool = False,
) -> Experiment:
    """Train a project with many values and return the trials. `vary` has values by path, such as
    `{"training.solver": ["sgdm", "adam"], "training.initial_learn_rate": "log 0.0001..0.1"}`; without it the section
    `experiment` of the project says what varies. The path of an experiment's folder goes on with that one.

    `callback` is called with each trial that has ended. `ready`, `strategy`, `trials`, `at_once` are those of
    `experiment run`. Ctrl-C stops the experiment, which can go on later. Raises `UserError`.
    """
    if not isinstance(project, Project) and Path(project).is_dir():
        if vary or ready or strategy or trials is not None:
            raise UserError(f"{project} has begun: its definition stays.", hint="Begin another with the project.")
        folder = open_experiment(Path(project))
    else:
        opened = with_code(project, trust)
        texts = [
            {"path": path, "values": list(values)} if not isinstance(values, str) else f"{path}={values}"
            for path, values in (vary or {}).items()
        ]
        for each in (each for values in (vary or {}).values() if not isinstance(values, str) for each in values):
            say_typed(str(each))
        value = defined(opened.value, texts, ready, {"strategy": strategy, "trials": trials, "at_once": at_once})
        begun = run_operation("experiment begin", project=dumps(value), base=Path.cwd(), project_path=opened.path)
        folder = ExperimentFolder(Path(begun.experiment_dir))
    follow_experiment(folder, callback)
    found = load_experiment(folder.path)
    if found.state not in ("finished", "stopped"):
        reason = folder.read_info().reason or "its process is gone"
        raise RunError(f"The experiment failed: {reason}", hint=f"Its log is {folder.log}.")
    return found
