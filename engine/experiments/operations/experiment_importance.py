"""`experiment importance EXPERIMENT`: how much of the differences between trials each parameter explains."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from netwright.engine.operations.operation import Argument, ExperimentPath, Line, Operation, Request, Result


@dataclass(frozen=True, kw_only=True)
class ImportanceRequest(Request):
    """An experiment, and the objective that is explained."""

    experiment: ExperimentPath
    objective: Annotated[
        str, Argument("what is explained, such as validation.loss; default: the first objective", metavar="NAME")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class ImportanceResult(Result):
    """How much of the differences between trials each parameter explains, by functional ANOVA."""

    experiment_dir: str
    objective: str
    trials: int
    """Number of finished trials that it is computed from."""
    importance: Mapping[str, float]
    """Shares by the path of the parameter, the largest first; they add up to 1."""
    damage: str = ""
    """That lines of the log of trials cannot be read; left out where all can."""


def shares_text(shares: Mapping[str, float]) -> Iterator[str]:
    """Yield the importance of each parameter as a line."""
    for path, share in shares.items():
        yield f"{share:6.1%}  {path}"


def text(_: ImportanceRequest, result: ImportanceResult) -> Iterator[Line]:
    """Yield the importance of each parameter."""
    yield from shares_text(result.importance)


def notices(result: ImportanceResult) -> Iterator[str]:
    """Yield what of the log of trials cannot be read."""
    yield from (f"note: {text}" for text in filter(None, [result.damage]))


OPERATION = Operation(
    name="experiment importance",
    effect="reads",
    request=ImportanceRequest,
    results=(ImportanceResult,),
    function="netwright.engine.experiments.strategies:importance",
    description="Say how much of the differences between trials each parameter explains (fANOVA).",
    text=text,
    notices=notices,
    faces=("command", "window"),
)
