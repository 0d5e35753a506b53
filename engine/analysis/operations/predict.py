"""`predict MODEL FILES...`: what a trained network says to pictures, sounds, rows of tables, texts and arrays."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, NotRequired, TypedDict

from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError, plural
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.text import answer_in_words
from netwright.engine.operations.model_request import ModelRequest
from netwright.engine.operations.operation import Argument, Device, Line, Operation, Profile, Result, Stream, read_count
from netwright.engine.project.preparation import Preparation, TargetPreparation

MOST = 5
MOST_SHOWN = 2000
FORMS = {".csv": ".csv", ".parquet": ".parquet", ".pq": ".parquet", ".json": ".json", ".txt": ".txt"}
FORMS |= {".npz": ".npz", ".npy": ".npy"}
FOLDER = "folder"


def form_of(path: Path) -> str:
    """Return the form of what is written to a path: one of `FORMS`, or `FOLDER` where it has no suffix or is a folder.
    Raises `UserError` for another suffix."""
    if path.is_dir() or not path.suffix:
        return FOLDER
    if (form := FORMS.get(path.suffix.lower())) is None:
        expected = f"Expected a folder, or a file that ends in {', '.join(FORMS)}."
        raise UserError(f"{path} ends in '{path.suffix}'. {expected}", code="usage")
    return form


@dataclass(frozen=True, kw_only=True)
class PredictRequest(ModelRequest):
    """A model, and the samples that it answers for."""

    shares = "model"

    files: Annotated[
        tuple[Path, ...],
        Argument(
            "pictures, sounds, CSV or Parquet tables, text files (a text per line), arrays, or folders of such files; "
            "- reads their names from standard input, a line each",
            metavar="FILES",
            reads_input=True,
        ),
    ]
    samples: Annotated[
        Any, Argument("samples in memory: an array, a list of rows, of texts or of paths", faces=("window", "api"))
    ] = None
    top: Annotated[int, Argument(f"number of classes (default: {MOST})", metavar="N", read=read_count)] = MOST
    batch: Annotated[
        int,
        Argument("samples per batch (default: as many as suit their size, up to 1,024)", metavar="N", read=read_count),
    ] = 0
    beams: Annotated[
        int,
        Argument(
            "search for the likeliest transcripts with so many beginnings at a time (default: 1, the likeliest class "
            "at each step)",
            metavar="N",
            read=read_count,
        ),
    ] = 1
    output: Annotated[
        Path | None,
        Argument(
            "write the answers there instead of printing them: a new folder (a table, and masks, pictures, sounds or "
            "steps in a file per sample), or a file that ends in .csv, .parquet, .json, .txt, .npz or .npy",
            metavar="FOLDER|FILE",
            flags=("-o", "--output"),
            writes=True,
        ),
    ] = None
    folder: Annotated[Path | None, Argument("where pictures of the samples go", faces=("window",))] = None
    shown: Annotated[int, Argument("answers that are returned with a folder", faces=("window",))] = MOST_SHOWN
    device: Device = "auto"
    profile: Profile = ""

    def check(self) -> None:
        """Refuse a file of another kind."""
        super().check()
        if self.output is not None:
            form_of(self.output)


class Prediction(TypedDict):
    """Answers for one sample."""

    sample: str
    """File; with the line of a table or text, or the index in an array."""
    group: NotRequired[str]
    """Name of the series that is forecast, where the file has several."""
    outputs: NotRequired[list[Mapping[str, Any]]]
    """Per output its `name`, and `class` or `labels` with the likeliest ones in `top`, `value` (a number, or numbers by
    name), `classes` per step (and `text`, of a language model: the next token at each token), `shares` of the classes
    among pixels, or `transcript`; `unlike_training` is true for a
    sample below the least confidence that is stored."""
    warnings: NotRequired[list[str]]
    """What the network does not know of a row: categories that training did not have, missing values."""
    error: NotRequired[str]
    """Why the sample could not be used."""


@dataclass(kw_only=True)
class PredictResult(Result):
    """Answers of a trained network, in the order of the files."""

    unwritten: ClassVar[tuple[str, ...]] = ("record", "assumed", "counts", "refused")

    path: str
    """The model: a run's folder, or a file."""
    predictions: Iterable[Prediction]
    warnings: list[str] | None = None
    """How many samples have warnings, and the first."""
    record: Preparation
    assumed: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    """`count`, `failed` and `warned`, once all answers have come."""
    refused: str = ""
    """How many samples could not be used, and why the first could not."""

    def counted(self, answers: Iterable[Prediction]) -> Iterator[Prediction]:
        """Yield the answers, and count them."""
        count = failed = warned = 0
        reason = warning = ""
        for answer in answers:
            count += 1
            if "error" in answer:
                failed, reason = failed + 1, reason or answer["error"]
            if "warnings" in answer:
                warned, warning = warned + 1, warning or f"{answer['sample']}: {answer['warnings'][0]}"
            yield answer
        self.counts = {"count": count, "failed": failed, "warned": warned}
        if failed:
            self.refused = f"{failed:,} of {count:,} samples could not be used, the first because: {reason}"
        if warned:
            self.warnings = [f"{warned:,} of {count:,} samples hold what the network does not know. {warning}"]


@dataclass(kw_only=True)
class ListedPredictions(PredictResult):
    """For the window: the first answers, numbers of all samples, of those that failed and of those with warnings."""

    count: int
    failed: int
    warned: int


@dataclass(kw_only=True)
class SavedPredictions(Result):
    """Answers that were written: where, in how many files, for how many samples, of which some could not be used and
    some have warnings."""

    unwritten: ClassVar[tuple[str, ...]] = ("assumed", "refused")

    path: str
    """The model: a run's folder, or a file."""
    output: str
    """The file or folder of `-o`."""
    files: int
    count: int
    failed: int
    warned: int
    warnings: list[str] | None = None
    """How many samples have warnings, and the first."""
    assumed: tuple[str, ...] = ()
    refused: str = ""


def text(request: PredictRequest, result: PredictResult | SavedPredictions) -> Iterator[Line]:
    """Yield a line per sample, or where the answers were written."""
    if isinstance(result, SavedPredictions):
        count = plural(result.count - result.failed, "sample")
        yield f"wrote {request.output}: answers for {count} in {plural(result.files, 'file')}"
    else:
        yield from lines(result)


def lines(result: PredictResult) -> Iterator[str]:
    """Yield a line per sample."""
    for answer in result.predictions:
        if "error" in answer:
            texts = f"not used: {answer['error']}"
        else:
            outputs = answer["outputs"]
            names = [f"{output['name']}: " if len(outputs) > 1 else "" for output in outputs]
            texts = "; ".join(f"{name}{answer_in_words(output)}" for name, output in zip(names, outputs, strict=True))
            texts += "".join(f" (warning: {words})" for words in answer.get("warnings", ()))
        series = f" ({answer['group']})" if "group" in answer else ""
        yield f"{answer['sample']}{series}: {texts}"


def rows(result: PredictResult) -> Iterator[list[Any]]:
    """Yield a header, then a row per sample: name, that of its series where files may have several, then per output its
    answer, and the probability of a class; for rows of columns a warning; last the error."""
    record = result.record
    names = [name for target in record.targets for name in _columns_of(target)]
    has_series, warns = bool(record.group_column), any(preparation.columns for preparation in record.inputs)
    yield ["sample", *(["series"] if has_series else []), *names, *(["warning"] if warns else []), "error"]
    for answer in result.predictions:
        cells = _cells(answer.get("outputs", ()))
        series = [answer.get("group")] if has_series else []
        warnings = [" ".join(answer.get("warnings", ())) or None] if warns else []
        yield [answer["sample"], *series, *map(cells.get, names), *warnings, answer.get("error")]


def _cells(outputs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for output in outputs:
        name, value = output["name"], output.get("value")
        if "file" in output:
            cells[name] = output["file"]
        elif "class" in output:
            cells |= {name: output["class"], f"{name} probability": output["top"][0]["probability"]}
        elif "labels" in output:
            cells[name] = ";".join(output["labels"])
        elif isinstance(value, dict):
            cells |= value
        elif "value" in output:
            cells[name] = json.dumps(to_json(value)) if isinstance(value, list) else value
        else:
            told = next(output[key] for key in ("text", "classes", "shares", "transcript") if key in output)
            cells[name] = told if isinstance(told, str) else json.dumps(to_json(told))
    return cells


def _columns_of(target: TargetPreparation) -> list[str]:
    """Return the columns of the answers of an output."""
    name = target.source or target.name
    if target.task == "numbers":
        return list(target.columns) if len(target.columns) > 1 else [name]
    is_one_class = target.task == "classes" and target.axes == ("C",)
    return [name, f"{name} probability"] if is_one_class else [name]


def notices(result: PredictResult | SavedPredictions) -> Iterator[str]:
    """Yield what is assumed about a network from elsewhere."""
    if result.assumed:
        yield f"netwright-engine: assumed: {' '.join(result.assumed)}"


def remarks(result: PredictResult | SavedPredictions) -> Iterator[str]:
    """Yield how many samples have warnings, and how many could not be used."""
    yield from (f"netwright-engine: {words}" for words in (*(result.warnings or ()), result.refused) if words)


def failure(result: PredictResult | SavedPredictions) -> Mapping[str, Any]:
    """Return the entry `error` where samples could not be used."""
    return {"error": {"code": "invalid_data", "message": result.refused}} if result.refused else {}


OPERATION = Operation(
    name="predict",
    effect="reads",
    request=PredictRequest,
    results=(PredictResult, SavedPredictions),
    function="netwright.engine.analysis.predict_request:predict_model",
    description=(
        "Say what a trained network answers for files: the likeliest classes with probabilities, numbers in their "
        "units. Folders are read file by file. Samples are prepared as those of the training. -o writes masks, "
        "pictures, tables or arrays."
    ),
    text=text,
    stream=Stream("predictions", rows),
    notices=notices,
    remarks=remarks,
    doing="predicting",
    may_wait=True,
    exit_code=lambda result: EXIT_INPUT if result.refused else EXIT_DONE,
    failure=failure,
)
