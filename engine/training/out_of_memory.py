"""Explains a run that ran out of memory: where, what takes how much, and what helps. Needs no torch."""

import contextlib
import re
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from netwright.engine.core.text import format_bytes
from netwright.engine.network.analysis import analyse
from netwright.engine.network.layer_table import table_rows
from netwright.engine.network.memory import Memory, activation_bytes
from netwright.engine.project.check import memory_of
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.project.user_code import ready
from netwright.engine.runs.folder import RunFolder, frozen_code

MOST_ROWS = 12
ACCUMULATION = "training.gradient_accumulation"
_ASKED = re.compile(r"tried to allocate (\d+) bytes")
_ASKED_OF_GPU = re.compile(
    r"Tried to allocate ([\d.]+ [KMGT]?i?B)[^.]*(?:\. (?:GPU (\d+)[^.]*capacity of ([\d.]+ [KMGT]iB)))?"
)
_WORDS = (
    "can't allocate memory",
    "out of memory",
    "cannot allocate memory",
    "bad_alloc",
    "could not create a memory",
    "alloc_failed",  # cuBLAS, cuDNN
    "failed to allocate memory",  # ONNX Runtime
)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out, on the CPU or a device: libraries say so in several ways."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or any(phrase in words for phrase in _WORDS)


def short_text(error: BaseException) -> str:
    """Return the memory that could not be allocated: the number alone where a library says much more."""
    words = str(error).strip().partition("\n")[0][:300]
    if (match := _ASKED.search(words)) is not None:
        return f"another {format_bytes(int(match[1]))} could not be had"
    if (match := _ASKED_OF_GPU.search(words)) is not None:
        whose = f" of the {match[3]} of GPU {match[2]}" if match[2] else " on the device"
        return f"another {match[1]} could not be had{whose}"
    return words or "out of memory"


def location_of(error: BaseException) -> str:
    """Describe where memory ran out: the layer whose forward pass it was, or the backward pass.

    From the stack: the innermost module that a built network holds under a name. Empty where it was neither.
    """
    names: dict[int, str] = {}
    layer, at = "", error.__traceback__
    while at is not None:
        module = _module_of(at)
        if module is not None:
            if not names and hasattr(module, "graph"):  # as a network is built
                names = {id(inner): name for name, inner in module.named_modules() if name}
            layer = names.get(id(module), layer)
        elif at.tb_frame.f_code.co_name == "backward" and not layer:
            return "in the backward pass"
        at = at.tb_next
    return f"in the layer {layer.replace('.', '/')}" if layer else ""


def _module_of(frame: TracebackType) -> Any:
    module = frame.tb_frame.f_locals.get("self")
    return module if hasattr(module, "named_modules") else None


@dataclass(frozen=True)
class Cause:
    """Cause of a failed run, with the way out; a table of the memory that it needs; and a setting with which the run
    can be resumed, as for `--set`, if there is one."""

    words: str
    rows: str = ""
    offer: str = ""


def cause(folder: RunFolder, words: str, where: str = "") -> Cause:
    """Explain a run that ran out of memory. `words` begin the sentence."""
    begin = f"{words}, {where}." if where else f"{words}."
    with contextlib.suppress(Exception):  # whatever is wrong with the project, memory ran out, and that is said
        project = load(folder.project).project
        ready(project, folder.path, frozen_code(folder))
        memory, rows = _table(project, _samples(folder))
        helps, setting = offer(project.training, memory)
        return Cause(f"{begin} A step is estimated to take {memory.describe()}. {helps}", rows, setting)
    return Cause(f"{begin} Use a smaller mini-batch, a smaller network, or a machine or device with more memory.")


def _samples(folder: RunFolder) -> int:
    """Return the samples per step, over all workers."""
    return sum(place.samples for place in folder.read_info().placement.places)


def offer(options: TrainingOptions, memory: Memory) -> tuple[str, str]:
    """Return the best way out with these options, and the setting to resume with, if one is enough."""
    pieces = options.gradient_accumulation
    fixed = memory.weights + memory.gradients + memory.optimizer
    if options.solver == "lm" or (options.is_full_batch and fixed > memory.activations):
        text = "Use a smaller network or a solver that keeps less (training.solver), or a machine with more memory."
        return text, ""
    if fixed > memory.activations:
        text = "Most of it is for the weights: use a smaller network, a solver that keeps less (training.solver=sgdm), "
        return text + "or share it among devices (environment.strategy=fully-sharded).", ""
    if 2 * pieces > memory.batch:
        return "A piece is one sample already: use a smaller network, or a machine or device with more memory.", ""
    setting = f"{ACCUMULATION}={2 * pieces}"
    text = (
        f"Compute a mini-batch in more pieces, which gives the same numbers: resume the run with --set {setting}, or "
        "more; or keep less for the backward pass (training.gradient_checkpointing=auto), or train anew with a smaller "
        "mini-batch."
    )
    return text, setting


def _table(project: Project, samples: int) -> tuple[Memory, str]:
    """Return the estimate of a whole step, and a table of the layers that keep most."""
    analysis = analyse(project.network)
    memory = memory_of(project, analysis, DatasetInfo((), {"training": samples}, ()))
    pieces = project.training.gradient_accumulation
    piece = -(-memory.batch // pieces)
    layers = []
    for row in table_rows(project.network, analysis):
        if row.shapes is not None and not row.shapes.inner and (size := activation_bytes(row.shapes, piece)):
            layers.append((size, f"{row.path} ({row.shapes.output.short()})"))
    layers.sort(key=lambda row: -row[0])
    rows = [(name, size) for size, name in layers[:MOST_ROWS]]
    rows += [("all activations", memory.activations), ("weights", memory.weights), ("gradients", memory.gradients)]
    rows += [("solver", memory.optimizer), ("in all", memory.total)]
    lines = [f"{format_bytes(size):>10}  {name}" for name, size in rows]
    apart = f" in {pieces:,} pieces" if pieces > 1 else ""
    return memory, "\n".join([f"Memory of a step of {memory.batch:,} samples{apart}, estimated:", *lines])
