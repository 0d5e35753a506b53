"""`explain MODEL`: what a network looks at, by one of several methods."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from netwright.engine.core.dataclass_json import to_json
from netwright.engine.core.errors import UserError
from netwright.engine.core.text import answer_in_words
from netwright.engine.operations.model_request import DataOfModelRequest, Split
from netwright.engine.operations.operation import (
    Argument,
    Device,
    Fresh,
    Line,
    Operation,
    Profile,
    Result,
    Shaded,
    Table,
)

METHODS = {
    "gradcam": "where a convolution looks for a class (images)",
    "integrated_gradients": "how much each number or word of a sample adds to the answer",
    "occlusion": "how the answer falls where a part of the sample is hidden",
    "activations": "what a layer gives for a sample",
    "filters": "the filters of a 2-D convolution",
    "max_activation": "images that a class or a channel answers to most strongly",
    "permutation": "how much worse it gets without each column (tables)",
    "partial_dependence": "the mean answer over the values of each column (tables)",
    "attention": "what each step takes from the others (transformers)",
    "embedding": "samples as points, by what a layer gives for them",
}
REDUCTIONS = ("pca", "tsne", "umap")
SUFFIXES = (".png", ".csv", ".npz")
SHOWN_ROWS = 20


@dataclass(frozen=True, kw_only=True)
class ExplainRequest(DataOfModelRequest):
    """A model, a method, and what it is about."""

    shares = "model"

    method: Annotated[str, Argument("what to show", flags=("--method",), choices=tuple(METHODS))]
    sample: Annotated[
        str,
        Argument("number of a sample in the split, from 0 (default: 0), or a file as of `predict`", metavar="N|FILE"),
    ] = "0"
    split: Split = ""
    layer: Annotated[
        str,
        Argument("layer, such as conv_1 or stage/2/conv (default: one that fits the method)", metavar="PATH"),
    ] = ""
    class_name: Annotated[
        str,
        Argument(
            "class, label or number to explain (default: the answer of the network)", metavar="NAME", flags=("--class",)
        ),
    ] = ""
    column: Annotated[str, Argument("column of partial_dependence (default: all)", metavar="NAME")] = ""
    reduction: Annotated[str, Argument("how an embedding gets two dimensions (default: pca)", choices=REDUCTIONS)] = (
        "pca"
    )
    window: Annotated[int, Argument("side of the window of occlusion", metavar="N")] = 0
    output: Annotated[
        Path | None,
        Argument("write there: .png (pictures), .csv or .npz", metavar="FILE", flags=("-o", "--output"), writes=True),
    ] = None
    folder: Annotated[
        Path | None, Argument("where the arrays go if the run's folder cannot be written", faces=("window",))
    ] = None
    iteration: Annotated[
        int, Argument("iteration whose checkpoint is explained (default: 0, the result)", faces=("window",))
    ] = 0
    fresh: Fresh = False
    device: Device = "auto"
    profile: Profile = ""

    def check(self) -> None:
        """Refuse a window of no size, and a file of another kind."""
        super().check()
        if self.window < 0:
            raise UserError(f"--window: expected a number from 1 on, received {self.window}.", code="usage")
        if self.output is not None:
            refuse_suffix(self.output)


def refuse_suffix(path: Path) -> None:
    """Raise `UserError` for a file of another kind."""
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"{path} ends in '{path.suffix}'. Expected {', '.join(SUFFIXES)}.", code="usage")


@dataclass(frozen=True, kw_only=True)
class ExplainResult(Result):
    """The explanation of a network by one method."""

    unwritten: ClassVar[tuple[str, ...]] = ("values",)

    path: str
    """The run's folder."""
    format: int
    method: str
    title: str
    weights: str
    """`best` or `last`, or the folder of a checkpoint."""
    arrays: Mapping[str, list[int]]
    """Shapes of the arrays in `file`, by name."""
    notes: list[str]
    file: str
    """File of `--output`, else the .npz file in the run's folder; empty where that cannot be written."""
    cached: bool
    """Whether the result was known from before."""
    sample: Mapping[str, Any] | None = None
    """The sample: `place` in its `split`, `index` in the data or `file`, `label`, and the answers in `outputs`."""
    target: str | None = None
    """Class, label or number that is explained."""
    layer: str | None = None
    layer_path: str | None = None
    """Path of the layer by ids."""
    receptive_field: Mapping[str, list[float]] | None = field(default_factory=dict)
    """`sizes` along the axes of the input and `strides`, the distance of neighbouring fields; null: the whole input."""
    channels: int | None = None
    input_channels: int | None = None
    histogram: Mapping[str, Any] | None = None
    split_histogram: Mapping[str, Any] | None = None
    zeros: float | None = None
    """Share of the values that are 0."""
    dead_channels: int | None = None
    """Channels of a ReLU that are 0 for all samples that were looked at."""
    is_signed: bool | None = None
    baseline: str | None = None
    convergence_delta: float | None = None
    """Difference of the sum of integrated gradients from the difference of both scores."""
    steps: int | None = None
    window: list[int] | None = None
    names: list[str] | None = None
    """What the pictures of `max_activation` are for."""
    features: list[Mapping[str, Any]] | None = None
    """Columns with `name`, `value`, and `std` over repeats."""
    words: list[Mapping[str, Any]] | None = None
    """Words of a text in their order, with `word` and `value`."""
    measured: str | None = None
    base: float | None = None
    """The accuracy or RMSE before any column was shuffled."""
    repeats: int | None = None
    samples: int | None = None
    of: int | None = None
    split: str | None = None
    columns: list[Mapping[str, Any]] | None = None
    outputs: list[str] | None = None
    is_share: bool | None = None
    layers: list[Mapping[str, Any]] | None = None
    """Layers of attention, with `heads` and `steps`."""
    tokens: list[str] | None = None
    reduction: str | None = None
    classes: list[str] | None = None
    texts: list[str] | None = None
    """Labels of the samples of an embedding."""
    explained: list[float] | None = None
    """Shares of the variance of both principal components."""
    perplexity: float | None = None
    neighbours: int | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    """The arrays, by name."""


def text(request: ExplainRequest, result: ExplainResult) -> Iterator[Line]:
    """Yield which sample and what of it is explained, and the numbers."""
    told = to_json(result)
    known = ", known from before" if told["cached"] else ""
    of = f" of the layer {told['layer']}" if "layer" in told else ""
    yield f"{told['title']}{of}; {told['weights']} weights{known}"
    if sample := told.get("sample"):
        yield f"sample: {_where(sample)}"
    if "target" in told:
        yield f"explained: {told['target']}"
    if told.get("receptive_field"):
        yield f"receptive field: {' × '.join(map(str, told['receptive_field']['sizes']))}"
    if features := told.get("features"):
        head = told.get("measured", "")
        title = f"{head} {'rises' if head == 'RMSE' else 'falls'} by" if head else "adds"
        rows = [(row["name"], f"{row['value']:.4g}") for row in features[:SHOWN_ROWS]]
        yield Table([("column", title), *rows], right=(1,))
    if words := told.get("words"):
        largest = max(abs(row["value"]) for row in words) or 1.0
        yield Shaded([(row["word"], row["value"] / largest) for row in words])
        strongest = sorted(words, key=lambda row: -abs(row["value"]))[:SHOWN_ROWS]
        yield Table([("word", "adds"), *((row["word"], f"{row['value']:.4g}") for row in strongest)], right=(1,))
    if columns := told.get("columns"):
        rows = [(row["name"], f"{row['spread']:.4g}") for row in columns[:SHOWN_ROWS]]
        yield Table([("column", "the mean answer moves by"), *rows], right=(1,))
    for layer in told.get("layers", ())[:SHOWN_ROWS]:
        yield f"{layer['name']}: {layer['heads']} heads, {' × '.join(map(str, layer['steps']))} steps"
    if "explained" in told:
        shares = ", ".join(f"{share:.1%}" for share in told["explained"])
        yield f"share of the variance: {shares}"
    if told["arrays"]:
        shapes = (f"{name} {' × '.join(map(str, shape))}" for name, shape in told["arrays"].items())
        yield f"arrays: {', '.join(shapes)}"
    for note in told["notes"]:
        yield f"note: {note}"
    if request.output is not None:
        yield f"wrote {request.output}"


def _where(sample: Mapping[str, Any]) -> str:
    """Return which sample it is, its label and what the network answers."""
    name = sample.get("file") or sample.get("name") or f"{sample['place']} of the {sample['split']} split"
    label = f", labelled {sample['label']}" if sample.get("label") else ""
    return f"{name!s}{label}; answer {answer_in_words(sample['outputs'][0])}"


OPERATION = Operation(
    name="explain",
    effect="reads",
    request=ExplainRequest,
    results=(ExplainResult,),
    function="netwright.engine.analysis.explanation_files:explain_run",
    description=(
        "Show what the network of a run looks at. Results are kept in the run's folder. -o writes them as a picture, a "
        "table or arrays.\n\nmethods:\n" + "\n".join(f"  {name:<21}{text}" for name, text in METHODS.items())
    ),
    text=text,
    doing="explaining",
    may_wait=True,
    reads_data=True,
)
