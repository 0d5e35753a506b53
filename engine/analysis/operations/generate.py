"""`generate MODEL PROMPT`: text that a language model writes on, token by token."""

from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypedDict

from netwright.engine.core.errors import UserError
from netwright.engine.operations.model_request import ModelRequest
from netwright.engine.operations.operation import (
    Argument,
    Device,
    Document,
    Line,
    Operation,
    Result,
    Stream,
    read_count,
)

LENGTH = 100
MOST_BEAMS = 1000
WRITTEN = "written.txt"
"""File of a folder that the text is written to."""


def read_breaks(text: str) -> str:
    r"""Return a text with the line breaks and tabs that `\n` and `\t` stand for."""
    return text.replace("\\n", "\n").replace("\\t", "\t")


def read_seed(text: str) -> int:
    """Return a number from 0 on. Raises `ArgumentTypeError`."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"expected a number from 0 on, received '{text}'")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class GenerateRequest(ModelRequest):
    """A language model, the beginning of a text, and how its next tokens are chosen."""

    shares = "model"

    prompt: Annotated[
        str,
        Argument(
            "beginning of the text; for a network of indices whole numbers with spaces between, of a sequence-to-"
            "sequence network those that its target begins with",
            metavar="PROMPT",
            read=read_breaks,
        ),
    ]
    length: Annotated[
        int, Argument(f"tokens that are written at most (default: {LENGTH})", metavar="N", read=read_count)
    ] = LENGTH
    temperature: Annotated[
        float,
        Argument(
            "divisor of the scores: below 1 likely tokens get likelier, at 0 the likeliest is always taken "
            "(default: 1)",
            metavar="T",
        ),
    ] = 1.0
    top_k: Annotated[
        int, Argument("draw among the K likeliest tokens (default: among all)", metavar="K", read=read_count)
    ] = 0
    top_p: Annotated[
        float,
        Argument("draw among as few tokens as have this probability together (default: 1)", metavar="P"),
    ] = 1.0
    stop: Annotated[
        tuple[str, ...],
        Argument(
            "text at which writing ends, which is left out; may be given several times; \\n is a line break",
            metavar="TEXT",
            read=read_breaks,
        ),
    ] = ()
    seed: Annotated[
        int | None,
        Argument(
            "number that the draws follow from: the same one writes the same text (default: another one each time)",
            metavar="N",
            read=read_seed,
        ),
    ] = None
    beams: Annotated[
        int,
        Argument(
            "search for the likeliest text with so many beginnings at a time, instead of drawing (default: 1)",
            metavar="N",
            read=read_count,
        ),
    ] = 1
    source: Annotated[
        str,
        Argument("indices of the source, for a sequence-to-sequence network, with spaces between", metavar="INDICES"),
    ] = ""
    no_cache: Annotated[bool, Argument("compute all tokens anew for each next one; the text is the same")] = False
    folder: Annotated[Path | None, Argument("where the text is written as it comes", faces=("window",))] = None
    device: Device = "auto"

    def check(self) -> None:
        """Refuse what cannot be drawn."""
        super().check()
        if not 0 <= self.temperature < float("inf"):
            raise UserError(f"Expected a temperature from 0 on, received {self.temperature:g}.", code="usage")
        if not 0 < self.top_p <= 1:
            raise UserError(f"Expected a top-p above 0 and up to 1, received {self.top_p:g}.", code="usage")
        if self.beams > MOST_BEAMS:
            raise UserError(f"Expected at most {MOST_BEAMS:,} beams, received {self.beams:,}.", code="usage")

    @property
    def sampling(self) -> Mapping[str, Any]:
        """How a token is drawn."""
        return {"temperature": self.temperature, "top_k": self.top_k, "top_p": self.top_p}


class Piece(TypedDict):
    """A token, and the text that is sure since it came."""

    token: int
    text: str


@dataclass(kw_only=True)
class GenerateResult(Result):
    """Text that a language model wrote."""

    unwritten: ClassVar[tuple[str, ...]] = ("assumed",)

    path: str
    """The model: a run's folder, or a file."""
    seed: int
    """Number that the draws follow from."""
    has_cache: bool
    """Whether each token cost one step: keys and values of the attention are kept."""
    pieces: Iterable[Piece]
    """The tokens as they come."""
    text: str = ""
    """All that was written, without the prompt."""
    stopped: str = ""
    """Why it ended: `length` or `stop`."""
    tokens_per_s: float = 0.0
    assumed: tuple[str, ...] = ()


def text(request: GenerateRequest, result: GenerateResult) -> Iterator[Line]:
    """Yield the prompt, and each piece as it comes."""
    yield Document(request.prompt)
    for piece in result.pieces:
        yield Document(piece["text"])
    yield Document("\n")


def rows(result: GenerateResult) -> Iterator[list[Any]]:
    """Yield a header, then a row per token."""
    yield ["token", "text"]
    for piece in result.pieces:
        yield [piece["token"], piece["text"]]


def notices(result: GenerateResult) -> Iterator[str]:
    """Yield what is assumed about a network from elsewhere."""
    if result.assumed:
        yield f"netwright-engine: assumed: {' '.join(result.assumed)}"


OPERATION = Operation(
    name="generate",
    effect="reads",
    request=GenerateRequest,
    results=(GenerateResult,),
    function="netwright.engine.analysis.generation:generate",
    description=(
        "Write on with a language model: a network that predicts the next token of a text. The text is printed as it "
        "comes. Each next token is drawn from the probabilities of the network; --temperature 0 always takes the "
        "likeliest."
    ),
    text=text,
    stream=Stream("pieces", rows),
    notices=notices,
    doing="writing",
)
