"""`prune MODEL`: a smaller network from a trained one, and what it costs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from netwright.engine.core.errors import UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.operations.model_request import DataOfModelRequest
from netwright.engine.operations.operation import Argument, Device, Line, Operation, Profile, Result, Table
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.options.metric_options import format_score, in_a_line

AMOUNTS = "0.25,0.5,0.75"


def read_amounts(text: str) -> tuple[float, ...]:
    """Return the amounts in a text. Raises `UserError`."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"--amounts: expected numbers such as {AMOUNTS}; received '{text}'.") from None


def refuse_output(to: Path | None, *, replaces: bool) -> None:
    """Raise `UserError` for a file to write that is no project, or exists."""
    if to is not None and to.suffix != SUFFIX:
        raise UserError(f"{to}: a project ends in {SUFFIX}.")
    if to is not None and to.exists() and not replaces:
        raise UserError(f"{to} exists.", hint="--force replaces it.", code="exists")


@dataclass(frozen=True, kw_only=True)
class PruneRequest(DataOfModelRequest):
    """A model, and by how much its network becomes smaller; with `output` a project is written."""

    amount: Annotated[
        float | None,
        Argument(
            "share of the weights, or of the channels of each layer, from 0 to below 1 (default: 0.5)", metavar="A"
        ),
    ] = None
    structured: Annotated[bool, Argument("remove whole channels: really smaller layers")] = False
    amounts: Annotated[
        tuple[float, ...],
        Argument(f"amounts of the table (default: {AMOUNTS})", metavar="A,A,...", read=read_amounts, is_one_text=True),
    ] = read_amounts(AMOUNTS)
    split: Annotated[str, Argument("split that is measured on (default: test, else validation)", choices=SPLITS)] = ""
    output: Annotated[
        Path | None,
        Argument("project file to write, at --amount", metavar="PROJECT", flags=("-o", "--output"), writes=True),
    ] = None
    replaces: Annotated[bool, Argument("replace PROJECT if it exists", flags=("--force",), is_for_people=True)] = False
    device: Device = "auto"
    profile: Profile = ""

    @property
    def chosen(self) -> tuple[float, ...]:
        """The amounts that are measured: one, where it is named or a project is written."""
        if self.output is None and self.amount is None:
            return self.amounts
        return (self.amount if self.amount is not None else 0.5,)

    def check(self) -> None:
        """Refuse an output that is no project, or exists."""
        super().check()
        refuse_output(self.output, replaces=self.replaces)


class PrunedNetwork(TypedDict):
    """A network that was made smaller by an amount."""

    amount: float
    """Share of the weights that became zero, or of the channels of each layer that were removed; 0: as it was."""
    loss: float
    metrics: Mapping[str, float]
    parameters: int
    nonzero: int
    """Weights that are not zero."""
    flops: int
    """Floating-point operations per sample."""
    bytes: int
    """Size of the weights."""
    milliseconds: float
    """Shortest time per batch on the CPU."""
    batch: int


@dataclass(frozen=True, kw_only=True)
class PruneResult(Result):
    """Costs and gains of pruning."""

    run_dir: str
    structured: bool
    split: str
    """Split that the metrics are measured on."""
    rows: list[PrunedNetwork]
    """By amount, 0 first."""
    notes: list[str]
    """Layers that keep all channels, and why."""
    project: str
    """Project that was written; empty without one."""


def text(request: PruneRequest, result: PruneResult) -> Iterator[Line]:
    """Yield a row per amount, and where the project was written."""
    first = result.rows[0]
    names = list(first["metrics"])
    head = ("amount", *map(in_a_line, names), "parameters", "not zero", "size", "FLOPs", "time")
    cells = []
    for row in result.rows:
        metrics = [_figure(name, row["metrics"].get(name)) for name in names]
        counts = (f"{row['parameters']:,}", f"{row['nonzero']:,}", format_bytes(row["bytes"]), f"{row['flops']:,}")
        cells.append((format_percent(row["amount"], 0), *metrics, *counts, f"{row['milliseconds']:.3g} ms"))
    yield Table([head, *cells], right=tuple(range(1, len(head))))
    yield f"on the {result.split} split; time per batch of {first['batch']:,} on the CPU"
    yield from (f"note: {note}" for note in result.notes)
    if (to := request.output) is not None:
        yield f"wrote {to}; train it on: netwright-engine train {to} --set training.initial_learn_rate=0.001"


def _figure(name: str, value: Any) -> str:
    return format_score(name, value) if isinstance(value, int | float) else ""


OPERATION = Operation(
    name="prune",
    effect="reads",
    request=PruneRequest,
    results=(PruneResult,),
    function="netwright.engine.analysis.pruning:prune_model",
    description=(
        "Make a trained network smaller: weights of small magnitude become zero, or, with --structured, whole channels "
        "are removed. Without -o it prints metrics, size, FLOPs and time for a few amounts; with -o it writes a "
        "project that starts from the weights that are left, to be trained on at a low learn rate."
    ),
    text=text,
    doing="measuring",
    may_wait=True,
    reads_data=True,
)
