"""Export the network of a project file or of a run to a named format."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import UserError
from engine.network.analysis import analyse, folded
from engine.project import user_code
from engine.project.bindings import wanted_of
from engine.project.check import check
from engine.project.dataset_info import DatasetInfo
from engine.project.file import load
from engine.project.project import Project
from engine.runs.folder import frozen_code, open_run

if TYPE_CHECKING:
    import numpy as np
    import torch

    from engine.network.analysis import Analysis

SAMPLES_TO_COMPARE = 64


def refuse_destination(to: Path) -> None:
    """Raise `UserError`, with the reason, if a file cannot be written at `to`."""
    folder = to.parent
    try:
        is_folder = to.is_dir()
    except OSError as error:
        raise not_written(to, error) from None
    if is_folder:
        raise UserError(f"{to} is a folder. Name a file in it, such as {to / 'network'}.")
    if not folder.exists():
        raise UserError(f"The folder {folder} does not exist. Make it first, or name another one.")
    if not folder.is_dir():
        raise UserError(f"{folder} is a file, so nothing can be written into it. Name a folder.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"The folder {folder} cannot be written to: permission denied. Name another one.")


def not_written(to: Path, error: OSError) -> UserError:
    """Return the error for a write that failed: for example a full disk, or a name that is too long."""
    return UserError(f"{to} cannot be written: {error.strerror or error}.")


@dataclass(frozen=True)
class Exported:
    """Result of an export. `largest_difference` is that of the first output from ONNX Runtime's, if compared."""

    path: Path
    format: str
    largest_difference: float | None = None
    samples_compared: int = 0
    samples_kind: str = "real"
    notes: tuple[str, ...] = ()

    def write(self) -> dict[str, Any]:
        """Return the result as JSON, for `export --json` and `serve`."""
        return {
            "path": str(self.path),
            "format": self.format,
            "largest_difference": self.largest_difference,
            "samples": self.samples_compared,
            "samples_kind": self.samples_kind,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Source:
    """The project to export, the folder of its data (`base`), and its trained weights, if there are any."""

    project: Project
    base: Path
    weights: "dict[str, torch.Tensor] | None"
    notes: tuple[str, ...]
    title: str
    code_base: Path
    """Folder of the project's own code: for a run the run folder, which holds copies."""
    code: Mapping[str, Path] = field(default_factory=dict)


def read_source(path: Path, base: Path | None = None) -> Source:
    """Read a run folder or a project file; `base` is the folder of the project's files, if not beside it.

    Raises `UserError`.
    """
    if not path.is_dir():
        note = "The project has no trained weights of its own: fresh ones are exported. Export a run for trained ones."
        base = (base or path.parent).resolve()
        return Source(load(path).project, base, None, (note,), path.stem, base)
    from engine.lowering.weights import load as load_weights

    folder = open_run(path)
    kept = folder.kept()
    if kept is None:
        state = folder.state()
        way = " `netwright-engine resume` goes on with it." if state == "lost" else ""
        raise UserError(f"The run in {path} has no trained weights yet; its state is {state}.{way}")
    weights, manifest = load_weights(kept)
    info = folder.read_info()
    base = Path(info.base or path)
    note = f"Weights of the {'best validation' if kept == folder.best else 'last iteration'}"
    note += f", iteration {manifest['iteration']:,}." if "iteration" in manifest else "."
    project, title = load(folder.project).project, info.name or path.name
    return Source(project, base, weights, (note,), title, folder.path.resolve(), frozen_code(folder))


def export(
    path: Path, format: str, to: Path, *, trusted: bool = False, base: Path | None = None, replaces: bool = False
) -> Exported:
    """Export the network of a project or run to the file `to`. `trusted` lets its user code run this time,
    `replaces` files beside `to` be overwritten.

    `base` is the folder of the project's files, if not beside it. Raises `UserError`, with the reason, if
    the network cannot be exported.
    """
    source = read_source(path, base)
    network = source.project.network
    user_code.look(network, source.code_base, source.code)
    if trusted:
        user_code.grant(network)
    user_code.ready(network, source.code_base, source.code)
    facts, facts_note = _facts(source)
    result = check(source.project, facts)
    if result.analysis.has_errors:
        result.refuse_errors()
    analysis = result.analysis
    notes = (*source.notes, *facts_note, *_double_notes(source))
    title = source.title
    if format == "pytorch":
        from engine.exchange.pytorch_export import export_pytorch

        written = export_pytorch(network, source.weights, to, facts=facts, title=title, replaces=replaces)
        notes = (*_double_notes(source), *_pytorch_notes(source, facts, written))
        return Exported(written, format, notes=notes)
    from engine.exchange.onnx_export import export_onnx

    weights = source.weights if source.weights is not None else _fresh_weights(source.project, analysis)
    samples = _samples(source, facts)
    onnx_file = export_onnx(source.project.network, weights, to, facts=facts, samples=samples)
    kind = "real" if samples is not None else "random"
    compared = (onnx_file.largest_difference, onnx_file.samples_compared, kind)
    return Exported(onnx_file.path, format, *compared, (*notes, *onnx_file.notes))


def _double_notes(source: Source) -> list[str]:
    """Return a note for each input that has to be float64."""
    from engine.lowering.module import prefixes

    network, weights = source.project.network, source.weights or {}
    names = prefixes(network, analyse(network))
    shifts = {layer.name: weights.get(f"{names[layer.id][0]}.shift") for layer in network.inputs if names[layer.id]}
    return [
        f"The input '{name}' has to be float64: single precision cannot hold its numbers, such as seconds since 1970."
        for name, shift in shifts.items()
        if shift is not None and str(shift.dtype) == "torch.float64"
    ]


def _pytorch_notes(source: Source, facts: DatasetInfo | None, written: Path) -> list[str]:
    """Return notes for the person who loads the file."""
    if source.weights is not None:
        weights = written.with_suffix(".safetensors")
        notes = [*source.notes, f"Its weights are in {weights}; load() in the file takes them and needs safetensors."]
    else:
        notes = [
            "The project has no trained weights, so none are written: Network() starts with torch's initial weights. "
            "Export a run for trained ones; its load() needs the package safetensors."
        ]
    if facts is None:
        notes.append("The project's data cannot be read here: the file does not name the classes.")
    else:
        bindings = wanted_of(source.project.network, analyse(source.project.network), facts, is_padded=False)
        missing = {
            binding.folds
            for binding in bindings
            if binding.folds and not folded(source.project.network, {binding.port: binding.folds})
        }
        if missing:
            which = " and no ".join(sorted(missing))
            notes.append(f"The network has no {which} at its end: the file gives scores, not probabilities.")
    return notes


def _facts(source: Source) -> tuple[DatasetInfo | None, tuple[str, ...]]:
    """Return the dataset info, or None and a note if it is not available."""
    if source.project.data.source == "none" or source.project.data.problems():
        return None, ("The project has no data: compared on random samples, without class names.",)
    from engine.data.load import facts

    try:
        return facts(source.project.data, source.base), ()
    except UserError as error:
        return None, (f"The data cannot be read ({error}): compared on random samples, without class names.",)


def _fresh_weights(project: Project, analysis: "Analysis") -> "dict[str, torch.Tensor]":
    from engine.lowering.initialization import initialize, parameter_options
    from engine.lowering.module import build, prefixes
    from engine.network.analysis import type_at

    module, layers = build(project.network, analysis), prefixes(project.network, analysis)
    initialize(module, project.training.seed, parameter_options(module, layers, partial(type_at, project.network)))
    return module.state_dict()


def _samples(source: Source, facts: DatasetInfo | None) -> "tuple[np.ndarray, ...] | None":
    """Return up to `SAMPLES_TO_COMPARE` samples per input: of the test split, else validation, else training."""
    if facts is None:
        return None
    from engine.data.load import load as load_data

    part = next(name for name in ("test", "validation", "training") if facts.samples.get(name))
    data = load_data(source.project.data, source.base, is_streamed=True)
    inputs = data.split(part, data.wider).inputs
    return tuple(array[:SAMPLES_TO_COMPARE] for array in inputs)
