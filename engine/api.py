"""Netwright for scripts and notebooks: load a project, train it, evaluate it, predict, search values.

    import netwright as nw

    project = nw.load("digits.netwright", {"training.max_epochs": 5})
    run = nw.train(project)
    print(run.test["accuracy"], run.run)

Each function takes the way of the command of its name. A training or an experiment has a process and a folder of its
own, outlives this one, and appears in the window; nothing of torch is imported before a function computes, as
`evaluate`, `predict`, `explain`, `export` and `import_network` do. What is wrong with a file, an option or the data
raises `UserError`, whose `hint` is the way out.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.engine.core.errors import RunError, UserError, did_you_mean
from netwright.engine.operations.operation import installed_operation, run_operation
from netwright.engine.project.file import dumps
from netwright.engine.runs.model_files import model_files
from netwright.engine.runs.queue import Entry as QueueEntry
from netwright.engine.scripting.following import (
    MODEL_OPTIONS,
    PLACES,
    Progress,
    Training,
    compress,
    experiment,
    folder_of,
    generate,
    load,
    models,
    promote,
    queue_add,
    queue_answer,
    register,
    said_of_model,
    start,
    submit,
    transfer,
)
from netwright.engine.scripting.results import (
    ClusterJob,
    Curve,
    Evaluation,
    Experiment,
    Explanation,
    Named,
    NamedModel,
    Prediction,
    Project,
    StrPath,
    Trained,
    jobs,
    load_experiment,
    load_run,
    queue_list,
    queue_result,
)

if TYPE_CHECKING:
    from netwright.engine.analysis.operations.compress import CompressResult
    from netwright.engine.analysis.operations.prune import PruneResult
    from netwright.engine.analysis.operations.report import ReportResult
    from netwright.engine.analysis.operations.robustness import RobustnessResult
    from netwright.engine.doctor.operations.doctor import DoctorResult
    from netwright.engine.exchange.operations.export import ExportResult
    from netwright.engine.experiments.operations.tune import TuneResult

__all__ = [
    "ClusterJob",
    "CompressResult",
    "Curve",
    "DoctorResult",
    "Evaluation",
    "Experiment",
    "Explanation",
    "ExportResult",
    "Model",
    "Prediction",
    "Progress",
    "Project",
    "PruneResult",
    "QueueEntry",
    "ReportResult",
    "RobustnessResult",
    "RunError",
    "Trained",
    "Training",
    "TuneResult",
    "UserError",
    "compress",
    "doctor",
    "evaluate",
    "experiment",
    "explain",
    "export",
    "generate",
    "import_network",
    "jobs",
    "load",
    "load_experiment",
    "load_model",
    "load_run",
    "models",
    "predict",
    "promote",
    "prune",
    "queue_add",
    "queue_answer",
    "queue_list",
    "queue_result",
    "register",
    "report",
    "robustness",
    "start",
    "submit",
    "train",
    "transfer",
    "tune",
]
RESULTS = {
    "CompressResult": "compress",
    "DoctorResult": "doctor",
    "ExportResult": "export",
    "PruneResult": "prune",
    "ReportResult": "report",
    "RobustnessResult": "robustness",
    "TuneResult": "tune",
}
"""Types of results that parts have, by the operation."""
EXPLAIN_OPTIONS = ("layer", "class_name", "column", "reduction", "window")


def __getattr__(name: str) -> object:
    if name in RESULTS:
        return installed_operation(RESULTS[name]).results[0]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
    run: Named,
    split: str = "",
    *,
    data: StrPath = "",
    options: Mapping[str, Any] | None = None,
    weights: str = "",
    by: str = "",
    device: str = "auto",
    trust: bool = False,
    fresh: bool = False,
    **model: Any,
) -> Evaluation:
    """Measure how good the network of a model is, on a `split` of its data (test, else validation) or on other `data`:
    a file or folder, read as `options` say, such as `{"data.response": "price"}`. `classes` and `pixels` are what a
    network from elsewhere does not say.

    `weights`: `best` or `last`, by default the result of the run. `by`: metrics of groups, too, in `details`. `device`:
    `auto`, `cpu`, `gpu`, `multi-gpu` or `multi-cpu`. `profile`: a job on the cluster of this profile. Raises
    `UserError`.
    """
    if data and split:
        raise UserError("A split is of the run's own data, and other data was named. Give one of them.")
    if options and not data:
        raise UserError("Options are for other data. Name it: data=PATH.")
    path = folder_of(run)
    declared = installed_operation("evaluate")
    request = declared.request(
        model=path,
        split=split,
        data=str(data),
        settings=tuple(f"{name}={value}" for name, value in (options or {}).items()),
        weights=weights,
        by=by,
        device=device,
        trusted=trust,
        fresh=fresh,
        **said_of_model(model, (*MODEL_OPTIONS[:2], "profile")),
    )
    details = declared.write(declared.run(request))
    own = {name: details[name] for name in ("split", "samples", "loss", "metrics", "notes")}
    return Evaluation(run=path, outputs=details["targets"], details=details, **own)


def predict(
    network: Named,
    samples: Any,
    *,
    top: int = 5,
    weights: str = "",
    batch: int = 0,
    device: str = "auto",
    trust: bool = False,
    **model: Any,
) -> list[Prediction]:
    """Return the answers of a model for samples: the path of a file or folder, a list of paths, or what is in memory:
    an array (samples first), a list of rows (mappings from column to value), or of texts.

    `top`: number of likeliest classes. `classes` and `pixels` are those of a network from elsewhere. With `output` the
    answers are written there, as by `predict -o`. Raises `UserError`; of several files, a bad one has an `error`.
    """
    listed = [samples] if isinstance(samples, str | Path) else samples
    answers = run_operation(
        "predict",
        model=folder_of(network),
        files=(),
        samples=listed,
        top=top,
        weights=weights,
        batch=batch,
        device=device,
        trusted=trust,
        **said_of_model(model, (*MODEL_OPTIONS[:2], "output", "profile")),
    )
    predictions = [] if "output" in model else answers.predictions
    return [Prediction(each["sample"], each.get("outputs", []), each.get("error", "")) for each in predictions]


def explain(
    run: Named,
    method: str,
    sample: int | StrPath = 0,
    *,
    split: str = "",
    options: Mapping[str, Any] | None = None,
    weights: str = "",
    trust: bool = False,
    **model: Any,
) -> Explanation:
    """Explain the network of a model by a method that `netwright-engine explain --help` lists. `sample`: its number in
    the split, or a file. `options`: `layer`, `class_name`, `column`, `reduction`, `window`. `model`: see
    `MODEL_OPTIONS`, and `device` as of `evaluate`. Raises `UserError`."""
    for name in {*(options or {})} - {*EXPLAIN_OPTIONS}:
        raise UserError(f"explain has no option '{name}'.{did_you_mean(name, EXPLAIN_OPTIONS)}")
    declared = installed_operation("explain")
    request = declared.request(
        model=folder_of(run),
        method=method,
        sample=str(sample if isinstance(sample, int) else Path(sample).absolute()),
        split=split,
        weights=weights,
        trusted=trust,
        **(options or {}),
        **said_of_model(model, (*MODEL_OPTIONS, *PLACES)),
    )
    result = declared.run(request)
    details = {name: value for name, value in declared.write(result).items() if name not in ("path", "file", "cached")}
    return Explanation(request.model, method, details, dict(result.values))


def export(
    source: Named,
    to: StrPath,
    *,
    options: Mapping[str, Any] | None = None,
    weights: str = "",
    force: bool = False,
    trust: bool = False,
    **scripts: Any,
) -> "ExportResult":
    """Write the network of a run, or of a project file with initial weights, as ONNX, for PyTorch or as a program of
    torch.export: by the suffix of the file, .onnx, .py or .pt2. It is compared with the network.

    `options` are those of ONNX, such as `{"precision": "float16", "opset": 17}`. `force` replaces files
    beside it. `scripts`: `with_training=True` writes a training script beside a PyTorch file, `with_generation=True`
    one that writes on with a language model. Raises `UserError`.
    """
    from netwright.engine.project.export_options import OnnxOptions

    for name in options or {}:
        if name not in OnnxOptions.fields:
            raise UserError(f"There is no option '{name}' of ONNX.{did_you_mean(name, OnnxOptions.fields)}")
    texts = {name: OnnxOptions.fields[name].show(value) for name, value in (options or {}).items()}
    result: ExportResult = run_operation(
        "export",
        source=folder_of(source),
        output=Path(to),
        onnx=texts,
        weights=weights,
        force=force,
        trusted=trust,
        **said_of_model(scripts, ("with_training", "with_generation")),
    )
    return result


def import_network(
    file: StrPath,
    to: StrPath,
    *,
    sizes: Mapping[str, int] | None = None,
    compare: bool = True,
    copies_shared: bool = True,
    force: bool = False,
) -> Project:
    """Make a project of a network that another program wrote, such as an ONNX file, with its weights beside it, and
    return it; its `notices` say what became of the file. `sizes`: those that the file leaves free, by name. `compare`:
    whether the outputs of both are compared. `copies_shared`: whether layers that share weights may have copies.

    The file is read in this process, without the limits of the command: import what you trust. Raises `UserError`.
    """
    imported = run_operation(
        "import",
        file=str(file),
        output=Path(to),
        sizes=tuple(f"{name}={size}" for name, size in (sizes or {}).items()),
        compares=compare,
        no_shared_copies=not copies_shared,
        force=force,
    )
    return replace(load(to), notices=(*imported["warnings"], *imported["notes"]))


def prune(
    run: Named,
    amount: float | None = None,
    *,
    structured: bool = False,
    split: str = "",
    output: StrPath | None = None,
    force: bool = False,
    trust: bool = False,
    **model: Any,
) -> "PruneResult":
    """Measure the network of a model without a share of its weights, or with `structured` of the channels of each
    layer: without an `amount` for a few of them. `output` writes a project that starts from the weights that are left,
    `force` replaces one. `model`: see `MODEL_OPTIONS`. Raises `UserError`."""
    values: Mapping[str, Any] = {"amount": amount, "structured": structured, "split": split, "replaces": force}
    about = said_of_model(model, (*MODEL_OPTIONS, *PLACES))
    values = {**values, **about, "output": Path(output) if output is not None else None}
    result: PruneResult = run_operation("prune", model=folder_of(run), **values, trusted=trust)
    return result


def doctor(
    project: Project | StrPath | None = None,
    *,
    quick: bool = False,
    compare: bool = False,
    output: StrPath | None = None,
    trust: bool = False,
) -> "DoctorResult":
    """Find faults of a project, or of this machine, each with one cure. `quick`: without short trainings. `compare`:
    try each cure in one. `output`: file of the project with the cures. Raises `UserError`."""
    path = project.path if isinstance(project, Project) else Path(project) if project is not None else None
    text = dumps(project.value) if isinstance(project, Project) else ""
    to = Path(output) if output is not None else None
    values: Mapping[str, Any] = {"project": path, "text": text, "quick": quick, "compares": compare, "output": to}
    result: DoctorResult = run_operation("doctor", **values, trusted=trust)
    return result


def tune(
    project: Project | StrPath,
    minutes: float = 10.0,
    *,
    keep: Sequence[str] = (),
    plan: bool = False,
    output: StrPath | None = None,
    profile: str = "",
    trust: bool = False,
) -> "TuneResult":
    """Search better values for a project in so many minutes, and confirm them against it. `keep`: options that stay.
    `plan`: only say what would be varied. `output`: file of the project with the values. `profile`: a job on the
    cluster of this profile. Raises `UserError`."""
    path, text = (project.path, dumps(project.value)) if isinstance(project, Project) else (Path(project), "")
    values: Mapping[str, Any] = {"project": path, "text": text, "minutes": minutes, "keeps": tuple(keep), "plan": plan}
    to = Path(output) if output is not None else None
    result: TuneResult = run_operation("tune", **values, output=to, profile=profile, trusted=trust)
    return result


def robustness(
    run: Named,
    *,
    split: str = "",
    samples: int = 500,
    weights: str = "",
    store: bool = False,
    trust: bool = False,
    fresh: bool = False,
    **model: Any,
) -> "RobustnessResult":
    """Measure how the network of a model answers under noise, blur and attacks, on at most so many `samples`. `store`
    keeps the threshold below which `predict` names samples unlike the training data. Raises `UserError`."""
    about = said_of_model(model, (*MODEL_OPTIONS, *PLACES))
    values = {"split": split, "samples": samples, "weights": weights, "store": store, **about}
    result: RobustnessResult = run_operation("robustness", model=folder_of(run), **values, trusted=trust, fresh=fresh)
    return result


def report(
    run: Named,
    to: StrPath,
    *,
    split: str = "",
    weights: str = "",
    evaluate: bool = True,
    trust: bool = False,
    **model: Any,
) -> "ReportResult":
    """Write one HTML file about a model; with `evaluate` false without results of an evaluation. Raises `UserError`."""
    about = said_of_model(model, (*MODEL_OPTIONS, *PLACES))
    values = {"split": split, "weights": weights, "no_evaluation": not evaluate, **about}
    result: ReportResult = run_operation("report", model=folder_of(run), output=Path(to), **values, trusted=trust)
    return result


class Model(NamedModel):
    """A model in a file or a folder: a run, a project with weights, or a network of another program. Its methods are
    the functions of their names."""

    evaluate, predict, explain, robustness = evaluate, predict, explain, robustness
    prune, compress, report, export, transfer = prune, compress, report, export, transfer


def load_model(model: StrPath) -> Model:
    """Return a model: the folder of a run, a project with weights, a registered one such as `digits@production`, or a
    network of another program, such as an ONNX file, which is imported into the user's cache folder. Raises `UserError`
    for what is none."""
    return Model(model_files(Path(model)).path.absolute())
