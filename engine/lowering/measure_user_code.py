"""Child process that measures user code: build a layer, run it on small tensors, and report the outputs.

It reads one question per line, as JSON, and writes one answer per line. The parent
(`netwright.engine.user_code.measurement`) sets the time limit; the memory limit is set here, before torch is imported.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import limit_private_memory
from netwright.engine.core.process import MessageReader, keep_output
from netwright.engine.core.types import Size, Symbol, TensorType
from netwright.engine.user_code import registry
from netwright.engine.user_code.expression import code_target, expression_target
from netwright.engine.user_code.registry import Measured, Question

BATCH = 3
LENGTHS = ((11, 13, 17, 19), (23, 29, 31, 37))
"""Two trial lengths for each of up to four symbolic sizes."""
LAYOUTS = {
    "features": ("C",),
    "image": ("C", "H", "W"),
    "volume": ("C", "D", "H", "W"),
    "sequence": ("T", "C"),
    "tokens": ("T",),
}
BY_RANK = {1: "features", 2: "sequence", 3: "image", 4: "volume"}
MEMORY_BYTES = 6 * 2**30


def main(arguments: list[str]) -> int:
    """Answer the questions on standard input until it closes."""
    answers = keep_output()  # output that user code prints must not mix with the answers
    questions = MessageReader(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # user code must not read the questions
    limit_private_memory(MEMORY_BYTES)
    for row in questions.messages():
        file = row["file"]
        registry.look([file] if file else [], Path(row["base"]), {file: Path(row["path"])})
        try:
            answer: dict[str, Any] = {"answer": measure(Question.read(row), file).write()}
        except UserError as error:
            answer = {"failed": str(error)}
        answers.send(answer)
    return 0


def measure(question: Question, file: str) -> Measured:
    """Build and run it. Raises `UserError` for whatever the code does wrong."""
    import torch

    from netwright.engine.lowering import run_user_code

    torch.set_num_threads(1)
    torch.manual_seed(0)
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(question.values).items()}
    weights: dict[str, tuple[int, ...]] = {}
    if question.kind == "class":
        module = run_user_code.construct(code_target(file, question.name), values).eval()
        weights = {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
        call: Any = module
        values = {}
    elif question.kind == "function":
        call = run_user_code.find(code_target(file, question.name))
    else:
        call = run_user_code.find(expression_target(question.name, len(question.inputs)))
    subject = file or "The expression"
    runs = [_run(call, values, question.inputs, lengths, subject) for lengths in LENGTHS]
    (first, work), (second, _) = runs
    if len(first) != len(second):
        raise UserError(f"{subject}: it gives {len(first)} tensors, and then {len(second)} for another length.")
    symbols = _symbols(question.inputs)
    if not symbols and any(tensor.shape != y.shape for tensor, y in zip(first, second, strict=True)):
        raise UserError(
            f"{subject}: the sizes of what comes out depend on the numbers that go in. They have to be fixed."
        )
    outputs = tuple(_type(tensor, y, symbols, question, subject) for tensor, y in zip(first, second, strict=True))
    is_known = all(x.is_known for x in question.inputs)
    return Measured(outputs, weights, work // BATCH if is_known else 0)


def _symbols(inputs: Sequence[TensorType]) -> list[str]:
    return list(dict.fromkeys(size.name for x in inputs for size in x.sizes if isinstance(size, Symbol)))


def _run(call: Any, values: dict[str, Any], inputs: Sequence[TensorType], lengths: Sequence[int], subject: str) -> Any:
    """Return the output tensors and the number of floating-point operations."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from netwright.engine.lowering import run_user_code

    steps = {name: lengths[index % len(lengths)] for index, name in enumerate(_symbols(inputs))}
    tensors = []
    for x in inputs:
        shape = (BATCH, *(size if isinstance(size, int) else steps[size.name] for size in x.sizes))
        real = torch.zeros(shape) if x.kind == "index" else torch.rand(shape)
        tensors.append(torch.complex(real, torch.rand(shape)) if x.kind == "complex" else real)
    with run_user_code.in_words(subject), torch.no_grad(), FlopCounterMode(display=False) as counter:
        result = call(*tensors, **values)
    outputs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    for output in outputs:
        if not isinstance(output, torch.Tensor):
            raise UserError(f"{subject}: expected a tensor or a tuple of tensors, received a {type(output).__name__}.")
        if output.dim() < 2 or output.shape[0] != BATCH:
            received = " × ".join(map(str, output.shape)) or "a single number"
            raise UserError(
                f"{subject}: the first axis of what comes out must be the batch, and there must be another; "
                f"for a batch of {BATCH} it gave {received}."
            )
    return outputs, counter.get_total_flops()


def _type(tensor: Any, other: Any, symbols: list[str], question: Question, subject: str) -> TensorType:
    """Return the type of an output from its tensors for two lengths."""
    rank = tensor.dim() - 1
    sizes: list[Size] = []
    for dim in range(1, rank + 1):
        a, b = tensor.shape[dim], other.shape[dim]
        if a == b:
            sizes.append(int(a))
            continue
        same = [
            name for index, name in enumerate(symbols) if (a, b) == tuple(lengths[index % 4] for lengths in LENGTHS)
        ]
        sizes.append(Symbol(same[0] if same else f"{symbols[0]}'"))
    kind = "complex" if tensor.is_complex() else "real" if tensor.is_floating_point() else "index"
    axes = LAYOUTS.get(question.layout) or _axes(rank, question.inputs, kind)
    if axes is None or len(axes) != rank:
        expected = f"the layout '{question.layout}'" if question.layout in LAYOUTS else "any layout"
        received = " × ".join(map(str, tensor.shape[1:]))
        raise UserError(f"{subject}: {received} (without the batch) does not fit {expected}. Choose another layout.")
    return TensorType(tuple(axes), tuple(sizes), kind)  # type: ignore[arg-type]  # one of three words


def _axes(rank: int, inputs: Sequence[TensorType], kind: str) -> tuple[str, ...] | None:
    """Return the axes of an input of equal rank, else the default ones of the rank; None if there are none."""
    for x in inputs:
        if x.rank == rank and not (rank == 1 and kind == "real" and x.kind == "index"):
            return x.axes
    return LAYOUTS[BY_RANK[rank]] if rank in BY_RANK else None
