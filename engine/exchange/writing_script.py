"""Make the script that lies beside an exported language model and writes on with it, without Netwright.

Its greedy text is that of `generate`: it forms tokens, looks back on the same steps, and ends before a stop alike.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import not_written, refuse_destination, refuse_overwriting, write_atomically
from netwright.engine.data.sources.tokens import CLOSING, OPENING, OTHER, WIDE, WORD
from netwright.engine.exchange.operations.export import ExportRequest
from netwright.engine.exchange.snippet import WITHOUT_TELEMETRY
from netwright.engine.exchange.writing_template import DECODING, MAIN, NETWORKS, VOCABULARIES
from netwright.engine.lowering.classes import literal
from netwright.engine.models.language_model import refuse_others, window_of
from netwright.engine.models.open_model import open_model
from netwright.engine.project.preparation import TextPreparation
from netwright.engine.runs.model_files import ModelChoice

NEEDS = {"onnx": "onnxruntime and numpy", "pytorch": "torch and safetensors"}


@dataclass(frozen=True)
class WritingScript:
    """A script, where it is to lie, and a sentence about it."""

    path: Path
    content: str
    note: str

    def write(self) -> None:
        """Write the script. Raises `UserError`."""
        try:
            write_atomically(self.path, self.content.encode())
        except OSError as error:
            raise not_written(self.path, error) from None


def writing_script(request: ExportRequest) -> WritingScript:
    """Return the script `generate_NAME.py` for an export of a language model. Raises `UserError` for other networks,
    for formats that have no such script, and where a file would be overwritten."""
    network = request.output
    if request.kind not in NEEDS:
        raise UserError(
            "A script that writes on is written beside an ONNX or a PyTorch file; the format is "
            f"{request.kind}. Choose the format onnx or pytorch."
        )
    model = open_model(ModelChoice(request.source, request.weights, request.trusted, base=request.base))
    model.refuse_without_targets()
    record = model.preparation
    if len(record.inputs) == 2:
        raise UserError(
            "The network takes two sequences: a script that writes on gives it one.",
            hint="Export without the script, or write with generate --source.",
        )
    refuse_others(record, has_source=False)
    part = record.inputs[0]
    window, steps = window_of(part, lambda: model.longest), part.sizes[0]
    if request.kind == "onnx" and (fixed := request.onnx_options.steps):
        steps, window = steps or fixed, min(window, fixed)
    is_logits = request.onnx_options.probabilities == "outside"
    if request.kind == "pytorch":
        is_logits = record.targets[0].activation == "softmax"
    kind = part.text.tokens if part.text is not None else "index"
    needs = NEEDS[request.kind] + (" and tokenizers" if kind == "piece" else "")
    lines = [
        *_opening(network, request.kind, kind, needs),
        f"WINDOW, STEPS = {window}, {steps}  # steps that are looked back on, and those that the file takes; None: any",
        f"IS_LOGITS = {is_logits}  # else probabilities",
        f"BARRED = {(0,) if kind == 'word' else ()}  # tokens that are never written",
        *_constants(part.text, len(record.targets[0].classes)),
    ]
    text = "\n".join(lines) + NETWORKS[request.kind] + VOCABULARIES[kind] + DECODING + MAIN
    path = network.with_name(f"generate_{network.stem}.py")
    refuse_destination(path)
    if not request.force:
        refuse_overwriting([path] if path.exists() else [])
    beside = network.name if request.kind == "onnx" else f"{network.name} and its weights"
    note = f"The script that writes on is {path.name}. It reads {beside}, so keep them together, and needs {needs}."
    return WritingScript(path, text, note)


def _opening(network: Path, format: str, kind: str, needs: str) -> Iterator[str]:
    """Yield docstring, imports, and the name of the file."""
    example = "4 8 15" if kind == "index" else "Once upon"
    docstring = (
        f'"""Write on with a language model that Netwright exported. Needs {needs}.\n\n'
        f'    python generate_{network.stem}.py "{example}" --temperature 0.5\n"""'
    )
    yield docstring.replace("\\", "\\\\")
    yield ""
    standard = ["argparse", "math", "random", "sys", *(["re"] if kind == "word" else [])]
    standard += ["os"] if format == "onnx" else ["runpy"]
    yield from (f"import {name}" for name in sorted(standard))
    yield "from pathlib import Path"
    yield ""
    if format == "onnx":
        yield from (*WITHOUT_TELEMETRY, "import numpy as np", "import onnxruntime")
    else:
        yield "import torch"
    if kind == "piece":
        yield "from tokenizers import Tokenizer"
    yield ""
    yield f"FILE = Path(__file__).with_name({literal(network.name)})"


def _constants(how: TextPreparation | None, count: int) -> Iterator[str]:
    """Yield what the vocabulary is made of."""
    if how is None:
        yield f"COUNT = {count}  # tokens"
        return
    yield f"MOST = {how.most or None}  # tokens of a prompt that are read; None: all"
    if how.tokens == "word":
        yield f"IS_LOWER_CASE = {how.lower_case == 'yes'}"
        yield f"WORD, WIDE = re.compile({WORD.pattern!r}), re.compile({WIDE.pattern!r})"
        signs = ("".join(sorted(signs)) for signs in (OPENING, CLOSING))
        yield f"OPENING, CLOSING, OTHER = {', '.join(map(literal, (*signs, OTHER)))}"
        words = textwrap.wrap(", ".join(map(literal, how.words)), 110, break_long_words=False, break_on_hyphens=False)
        yield from ("WORDS = [", *(f"    {line}" for line in words), "]")
    if how.tokens == "piece":
        yield f"TOKENIZER = {literal(how.tokenizer)}"
