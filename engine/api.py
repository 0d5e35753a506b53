"""Netwright for scripts and notebooks: load a project, train it, evaluate it, predict, search values.

    import netwright as nw

    project = nw.load("digits.netwright", {"training.max_epochs": 5})
    run = nw.train(project)
    print(run.test["accuracy"], run.run)

Each function takes the way of the command of its name. A training or an experiment has a process and a folder of its
own, outlives this one, and appears in the window; nothing of torch is imported before `evaluate` and `predict`. What
is wrong with a file, an option or the data raises `UserError`, whose `hint` is the way out.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.project.data_hosts import say_typed
from netwright.engine.project.trials import defined
from netwright.engine.runs.experiments import open_experiment
from netwright.engine.runs.folder import origin
from netwright.engine.runs.trial_log import Trial
from netwright.engine.scripting.following import Progress, Training, follow_experiment
from netwright.engine.scripting.results import (
    Curve,
    Evaluation,
    Experiment,
    Prediction,
    Project,
    StrPath,
    Trained,
    load_experiment,
    load_run,
)

__all__ = [
    "Curve",
    "Evaluation",
    "Experiment",
    "Prediction",
    "Progress",
    "Project",
    "RunError",
    "Trained",
    "Training",
    "UserError",
    "evaluate",
    "experiment",
    "load",
    "load_experiment",
    "load_run",
    "predict",
    "start",
    "train",
]


def load(path: StrPath, options: Mapping[str, Any] | None = None) -> Project:
    """Read a project file (`*.netwright`), with other values by their paths if `options` has some.

    Raises `UserError` for a damaged file, and for a value that does not fit.
    """
    from netwright.engine.cli.common import read_project

    value, notices = read_project(Path(path), ())
    project = Project(Path(path).resolve(), value, notices)
    return project.with_options(options) if options else project


def start(project: Project | StrPath, *, run_dir: StrPath | None = None, trust: bool = False) -> Training:
    """Start to train a project in a process of its own, and return while it trains.

    `run_dir`: folder of the run, absent or empty; by default `runs/<time>_<name>` beside the project. `trust`: the
    project's own code may run this time. Raises `UserError` for project, data and environment.
    """
    opened = _with_code(project, trust)
    from netwright.engine.launch.detached_coordinator import start_detached
    from netwright.engine.launch.prepare import prepare

    folder = prepare(opened.value, opened.path, Path(run_dir) if run_dir is not None else None)
    start_detached(folder)
    return Training(folder)


def train(
    project: Project | StrPath,
    callback: Callable[[Progress], object] | None = None,
    *,
    run_dir: StrPath | None = None,
    trust: bool = False,
) -> Trained:
    """Train a project and return its run. `callback` is called with the `Progress` a few times per second; if it
    raises, the training is stopped and the error goes on.

    Ctrl-C, or the stop button of a notebook, stops the training and returns it with the state `stopped`. For other
    arguments and errors see `start`; raises `RunError` if the training failed.
    """
    training = start(project, run_dir=run_dir, trust=trust)
    with contextlib.suppress(KeyboardInterrupt), training:  # the context stops it
        for progress in training:
            if callback is not None:
                callback(progress)
    return training.result()


def evaluate(
    run: Trained | StrPath,
    split: str = "",
    *,
    data: StrPath = "",
    options: Mapping[str, Any] | None = None,
    weights: str = "",
    by: str = "",
    device: str = "auto",
    trust: bool = False,
    fresh: bool = False,
) -> Evaluation:
    """Measure how good the network of a run is, on a `split` of its data (test, else validation) or on other `data`: a
    file or folder, read as `options` say, such as `{"data.response": "price"}`.

    `weights`: `best` or `last`, by default the result of the run. `by`: metrics of groups, too, in `details`. `device`:
    `auto`, `cpu` or `gpu`. Raises `UserError`.
    """
    if data and split:
        raise UserError("A split is of the run's own data, and other data was named. Give one of them.")
    if options and not data:
        raise UserError("Options are for other data. Name it: data=PATH.")
    path = _folder_of(run)
    from netwright.engine.cli.evaluate import other_data
    from netwright.engine.evaluation.evaluate import evaluate as evaluate_run

    settings = [f"{name}={value}" for name, value in (options or {}).items()]
    other = other_data(path, str(data), settings) if data else None
    found = evaluate_run(path, split, other, weights_kept=weights, by=by, trusted=trust, fresh=fresh, device=device)
    own = {name: found[name] for name in ("split", "samples", "loss", "metrics", "notes")}
    return Evaluation(run=path, outputs=found["targets"], details=found, **own)


def predict(
    network: Trained | StrPath,
    samples: Any,
    *,
    top: int = 5,
    weights: str = "",
    batch: int = 0,
    device: str = "auto",
    trust: bool = False,
) -> list[Prediction]:
    """Return what the network of a run, or of an ONNX file, says of samples: the path of a file or folder, a list of
    paths, or what is in memory: an array (samples first), a list of rows (mappings from column to value), or of texts.

    Samples are prepared as those of the training. `top`: number of likeliest classes. Raises `UserError`; of several
    files, one that cannot be used has an `error` instead.
    """
    from netwright.engine.evaluation.predict import predict as predict_files
    from netwright.engine.evaluation.predict import predict_raw
    from netwright.engine.evaluation.predictors import open_predictor

    predictor = open_predictor(_folder_of(network), weights_kept=weights, trusted=trust, device=device)
    takes_texts = {one.reads for one in predictor.record.inputs} == {"text"}
    given = [samples] if isinstance(samples, str | Path) else samples
    kinds = {type(one) for one in given} if isinstance(given, list | tuple) else set()
    are_paths = kinds and all(issubclass(kind, str | Path) for kind in kinds) and not (takes_texts and str in kinds)
    if are_paths:
        found: Any = predict_files(predictor, [Path(one) for one in given], top, size=batch)
    else:
        found = predict_raw(predictor, given, [str(number) for number in range(_count(given))], top)
    return [Prediction(one["sample"], one.get("outputs", []), one.get("error", "")) for one in found]


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
        opened = _with_code(project, trust)
        texts = [
            {"path": path, "values": list(values)} if not isinstance(values, str) else f"{path}={values}"
            for path, values in (vary or {}).items()
        ]
        for values in (vary or {}).values():
            for each in values if not isinstance(values, str) else ():
                say_typed(str(each))
        value = defined(opened.value, texts, ready, {"strategy": strategy, "trials": trials, "at_once": at_once})
        from netwright.engine.experiments.begin import begin

        folder = begin(value, opened.path)
    follow_experiment(folder, callback)
    found = load_experiment(folder.path)
    if found.state not in ("finished", "stopped"):
        reason = folder.read_info().reason or "its process is gone"
        raise RunError(f"The experiment failed: {reason}", hint=f"Its log is {folder.log}.")
    return found


def _with_code(project: Project | StrPath, trust: bool) -> Project:
    """Return the project with its own code looked at."""
    from netwright.engine.cli.common import look_at_code

    opened = project if isinstance(project, Project) else load(project)
    place = origin(opened.path)
    look_at_code(opened.value, place.code_base, place.code, trusted=trust)
    return opened


def _folder_of(run: Trained | StrPath) -> Path:
    return run.run if isinstance(run, Trained) else Path(run)


def _count(samples: Any) -> int:
    """Return the number of samples in an array, a mapping of arrays, or a list."""
    first = next(iter(samples.values())) if isinstance(samples, Mapping) and samples else samples
    return len(first)
