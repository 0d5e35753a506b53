"""Other data than that of a model, as a request names it."""

from collections.abc import Sequence
from pathlib import Path

from netwright.engine.analysis.evaluate import EvaluationData
from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.open_data import options_for
from netwright.engine.operations.model_request import DataOfModelRequest
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import say_typed
from netwright.engine.project.file import load
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.sources.guess import guesses, names_shards
from netwright.engine.project.sources.urls import is_remote
from netwright.engine.runs.model_files import model_files


def data_of(request: DataOfModelRequest) -> EvaluationData | None:
    """Return the other data of a request; None where it names none. Raises `UserError`."""
    return other_data(request.model, request.data, request.settings) if request.data else None


def other_data(model: Path, text: str, settings: Sequence[str]) -> EvaluationData:
    """Return the options of other data: those of the model's data, with another path, where the same kind of source
    reads it, else guessed ones. Raises `UserError`."""
    say_typed(text)
    own = load(model_files(model).project).project.data
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
            f"The model's targets are in data.{own.target_kind}. Name those of the other data, too: "
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
