"""Evaluations as they are asked for: of a run on its own or on other data, alone or against another run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netwright.engine.analysis.evaluate import Deciding, Evaluation, EvaluationData
from netwright.engine.analysis.operations.evaluate import ComparisonResult, EvaluateRequest, EvaluateResult
from netwright.engine.analysis.paired_comparison import compare
from netwright.engine.analysis.report import with_pictures, write_report
from netwright.engine.analysis.sample_views import look
from netwright.engine.analysis.trained import TrainedNetwork
from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.open_data import options_for
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import say_typed
from netwright.engine.project.file import load
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.sources.guess import guesses, names_shards
from netwright.engine.project.sources.urls import is_remote
from netwright.engine.runs.folder import open_run


def evaluate_run(request: EvaluateRequest) -> EvaluateResult | ComparisonResult:
    """Evaluate the network of a run, or compare it with another one. Raises `UserError`."""
    run = request.run_dir
    other = other_data(run, request.data, request.settings) if request.data else None
    options: dict[str, Any] = {"weights_kept": request.weights, "trusted": request.trusted, "device": request.device}
    if request.against is not None:
        comparison = compare(run, request.against, request.split, other, fresh=request.fresh, **options)
        return ComparisonResult(path=str(run.absolute()), **comparison)
    evaluation = Evaluation(TrainedNetwork.open(run, **options), request.split, other)
    deciding = Deciding(request.threshold, request.calibrate, request.store, request.reset)
    result = evaluation.decided(deciding, fresh=request.fresh)
    if request.by:
        result["groups"] = evaluation.grouped(request.by)
    if request.html is not None:
        write_report(run, request.html, with_pictures(run, result, other, request.weights))
    if request.with_groupings:
        result["groupings"] = list(evaluation.group_values(evaluation.result()[1]))
    return EvaluateResult(path=str(run.absolute()), **result)


def sample_views(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return single samples of an evaluation, with pictures in `folder`; see
    `netwright.engine.analysis.sample_views`."""
    run, source = Path(values["path"]), str(values.get("source") or "")
    trained = TrainedNetwork.open(run, weights_kept=str(values.get("weights", "")))
    other = other_data(run, source, ()) if source else None
    return look(Evaluation(trained, str(values.get("split", "")), other), values, Path(values["folder"]))


def other_data(run_dir: Path, text: str, settings: Sequence[str]) -> EvaluationData:
    """Return the options of other data: those of the run's data, with another path, where the same kind of source reads
    it, else guessed ones. Raises `UserError`."""
    say_typed(text)
    own = load(open_run(run_dir).project).project.data
    keys = {setting.partition("=")[0].strip() for setting in settings}
    is_url = is_remote(text)
    if is_url:
        sources = {"shards", "table"} if names_shards(text) else {options_for(text)[0].source}
    else:
        sources = {guess.source for guess in guesses(Path(text).absolute())}
    if "data.source" in keys or own.source not in sources:
        return EvaluationData(options_for(text, settings)[0], Path.cwd())
    if own.target_kind and f"data.{own.target_kind}" not in keys:
        raise UserError(
            f"The run's targets are in data.{own.target_kind}. Name those of the other data, too: "
            f"--set data.{own.target_kind}=PATH."
        )
    cleared = ("split_column", "group_pattern", "validation_path", "test_path", "excluded_files", "left_out_samples")
    empty = {name: DataOptions.fields[name].default for name in cleared if name in DataOptions.fields}
    options = own.replace(**{**empty, "split": "random", "path": text if is_url else str(Path(text).absolute())})
    project = Project(data=options)
    for setting in settings:
        say_typed(setting.partition("=")[2].strip())
        project = set_option(project, setting)
    return EvaluationData(project.data, Path.cwd())
