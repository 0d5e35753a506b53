"""Export to one readable PyTorch file and a file of weights."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import not_written, refuse_destination, refuse_overwriting, write_atomically
from netwright.engine.lowering.classes import LINE_LENGTH
from netwright.engine.lowering.module import build
from netwright.engine.lowering.print_source import DEMO_BATCH, DEMO_STEPS, source
from netwright.engine.lowering.weights_folder import fill
from netwright.engine.network.analysis import analyse
from netwright.engine.project import user_code
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.input_format import InputFormat
from netwright.engine.project.project import Project
from netwright.engine.project.source_note import with_note
from netwright.engine.user_code.expression import companion

MOST_CHARACTERS = 96
"""Length of a row of numbers in the demonstration; wider tables get random numbers in the range of all columns."""


def export_pytorch(
    project: Project,
    state: Mapping[str, torch.Tensor] | None,
    to: Path,
    *,
    facts: DatasetInfo | None,
    title: str,
    inputs: Sequence[InputFormat] = (),
    replaces: bool = False,
) -> Path:
    """Write the network of a project to `to` (a `.py` file), noted at its end for the import, and, if `state` is not
    None, its weights into a `.safetensors` file of the same name.

    The file needs only torch (and safetensors to load the weights). Raises `UserError`, also where a file beside `to`
    would be overwritten, unless `replaces`.
    """
    if to.suffix != ".py":
        raise UserError(f"A PyTorch file has a name that ends in .py; received '{to.name}'.")
    refuse_destination(to)
    network, analysis = project.network, analyse(project.network)
    classes = facts.classes if facts else ()
    columns = facts.inputs[0].columns if facts and len(facts.inputs) == 1 else ()
    about = [line for entry in inputs for line in _about(entry)]
    examples = [demo_batch(entry, DEMO_BATCH, DEMO_STEPS) for entry in inputs]
    text = source(network, analysis, title=title, classes=classes, columns=columns, about=about, examples=examples)
    companions = {to.with_name(f"{companion(file)}.py"): data for file, data in user_code.contents(network).items()}
    weights_path = to.with_suffix(".safetensors")
    for companion_path in companions:
        refuse_destination(companion_path)
    if not replaces:
        changed = [path for path, data in companions.items() if path.exists() and path.read_bytes() != data]
        refuse_overwriting([*changed, *([weights_path] if state is not None and weights_path.exists() else ())])
    try:
        for companion_path, data in companions.items():
            write_atomically(companion_path, data)
        if state is not None:
            module = build(network, analysis)
            fill(module, state)
            tensors = {key: value.detach().to("cpu", copy=True).contiguous() for key, value in state.items()}
            write_atomically(weights_path, save(tensors))
        write_atomically(to, with_note(text, project).encode())
    except OSError as error:
        raise not_written(to, error) from None
    return to


def _about(entry: InputFormat) -> list[str]:
    """Return the lines of the docstring on one input: kind and range of its numbers, preparation, columns."""
    first, *rest = entry.lines()
    wrapped = [part for line in rest for part in textwrap.wrap(line, LINE_LENGTH - 4)]
    heading = textwrap.wrap(f"{entry.name} takes {first}.", LINE_LENGTH, subsequent_indent="    ")
    return [*heading, *(f"    {line}" for line in wrapped)]


def demo_batch(entry: InputFormat, batch: int, steps: int) -> str:
    """Return the torch expression of a batch in the range of an input, for the demonstration in the file.

    Columns get a batch of two: the smallest and the largest value of each, unless there are too many. No stored sample
    is written into the file, which may be passed on.
    """
    steps = entry.lengths[0] if entry.lengths else steps
    shape = ", ".join(str(size if isinstance(size, int) else steps) for size in entry.type.sizes)
    dtype, digits = (", dtype=torch.float64", 17) if entry.dtype == "float64" else ("", 9)
    if entry.range is None:
        is_index = entry.type.kind == "index"
        return (
            f"torch.zeros({batch}, {shape}, dtype=torch.long)" if is_index else f"torch.rand({batch}, {shape}{dtype})"
        )
    low, high = entry.range.bounds
    if entry.type.kind == "index":
        return f"torch.randint({int(low)}, {int(high) + 1}, ({batch}, {shape}))"
    if entry.type.layout == "features" and len(entry.range.low) == entry.type.channels:
        rows = [f"[{', '.join(f'{value:.{digits}g}' for value in row)}]" for row in (entry.range.low, entry.range.high)]
        if max(map(len, rows)) < MOST_CHARACTERS:
            return _rows(rows, dtype or ", dtype=torch.float32")
    if low.is_integer() and high.is_integer() and entry.type.layout == "image" and not entry.range.basis:
        return f"torch.randint({int(low)}, {int(high) + 1}, ({batch}, {shape})).to(torch.{entry.dtype})"
    return f"torch.empty({batch}, {shape}{dtype}).uniform_({low:.{digits}g}, {high:.{digits}g})"


def _rows(rows: Sequence[str], dtype: str) -> str:
    """Return the tensor of rows of numbers, broken as formatters do, for the place that the demonstration has."""
    whole = f"torch.tensor([{', '.join(rows)}]{dtype})"
    if len(whole) < MOST_CHARACTERS:
        return whole
    text = f"[{', '.join(rows)}],"
    if len(text) >= MOST_CHARACTERS:
        text = "\n".join(["[", *(f"{' ' * 20}{row}," for row in rows), f"{' ' * 16}],"])
    return "\n".join(["torch.tensor(", f"{' ' * 16}{text}", f"{' ' * 16}{dtype.removeprefix(', ')},", f"{' ' * 12})"])
