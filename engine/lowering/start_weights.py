"""Weights that a network starts from: read from a run, a weights file, or a state-dict of another program."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.layers.inputs import InputLayer
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator
from netwright.engine.lowering.torch_file import read_torch_file
from netwright.engine.lowering.weights_file import Layers, read_weights_file
from netwright.engine.lowering.weights_folder import MANIFEST, WEIGHTS, State, load, sha256
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from netwright.engine.project.target_scale import fitted_outputs
from netwright.engine.project.weights import SUFFIXES, weights_path
from netwright.engine.project.weights_matching import COUNTERS, MatchReport, Side, match

MORE_THAN_WEIGHTS = "Save the weights alone: torch.save(model.state_dict(), FILE)."
WRAPPERS = ("state_dict", "model_state_dict", "model", "net", "network", "weights")
"""Keys under which training scripts save a state-dict beside other things."""


# ---- reading ----


def read_source(path: Path, expected_sha256: str = "") -> tuple[State, Layers]:
    """Return the tensors of a file by key, and the beginnings of the keys per id path of a layer where it says so.

    path: `weights.safetensors` of a run, a safetensors file, or a state-dict that `torch.save` wrote. Nothing in it is
    executed. Raises `UserError`, also where the SHA-256 is another one than expected (empty: any).
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(
            f"{path} is no file of weights: its name ends in '{printable(path.suffix)}'.",
            hint=f"Expected {', '.join(SUFFIXES)}, or the folder of a run.",
        )
    if path.suffix.lower() != ".safetensors":
        refuse_changed(path, expected_sha256)
        return _tensors(read_torch_file(path, MORE_THAN_WEIGHTS), path), {}
    if path.name == WEIGHTS and (path.parent / MANIFEST).is_file():
        refuse_changed(path, expected_sha256)
        state, manifest = load(path.parent)
        return state, _layers(manifest.get("layers"))
    refuse_changed(path, expected_sha256)
    return read_weights_file(path)


def refuse_changed(path: Path, expected_sha256: str) -> None:
    """Raise `UserError` if the SHA-256 of a file is another one than expected (empty: any), or it cannot be read."""
    try:
        if not expected_sha256 or sha256(path) == expected_sha256:
            return
    except OSError as error:
        raise UserError(
            f"The weights {path} cannot be read: {error.strerror or error}.",
            hint="Bring them back, choose other ones, or start without: --set weights.file=",
        ) from error
    raise UserError(
        f"The weights {path} changed since they were chosen: their SHA-256 is not {expected_sha256[:16]}...",
        hint="Bring the old file back, or choose the weights again; --set weights.sha256= takes them as they are.",
        code="changed",
    )


def _layers(value: Any) -> Layers:
    """Return the layers of a manifest, without what is no list of beginnings."""
    rows = value.items() if isinstance(value, dict) else ()
    return {
        str(id): tuple(names)
        for id, names in rows
        if isinstance(names, list) and all(isinstance(n, str) for n in names)
    }


def _tensors(content: Any, path: Path) -> State:
    """Return the tensors of a state-dict, also where a training script saved it beside other things."""
    for _ in range(3):
        if isinstance(content, Mapping):
            state = {str(key): value for key, value in content.items() if isinstance(value, torch.Tensor)}
            if state:
                return state
            content = next((content[name] for name in WRAPPERS if isinstance(content.get(name), Mapping)), None)
    raise UserError(
        f"{path} holds no tensors by name.", hint="Save the weights as torch.save(model.state_dict(), FILE)."
    )


# ---- matching ----


def start_report(project: Project, base: Path) -> MatchReport:
    """Return the report on the weights that a project starts from; relative paths start at `base`. Builds no numbers.

    Raises `UserError` where the weights are missing, changed or damaged.
    """
    path = weights_path(project.weights, base).absolute()
    state, layers = read_source(path, project.weights.sha256)
    network, analysis = project.network, analyse(project.network)
    has_own_code = any(layer.type.family == "Custom" for layer in network.layers.values())
    with torch.device("cpu" if has_own_code else "meta"):
        module = build(network, analysis)
    report = _matched(project, analysis, module, state, layers)
    return replace(report, file=str(path), sha256=project.weights.sha256 or sha256(path))


def fill_from(project: Project, analysis: Analysis, module: nn.Module, path: Path, expected_sha256: str) -> MatchReport:
    """Load the weights of a file into a built network, as far as they belong to it, and return what was loaded.

    What does not match keeps its values. Raises `UserError`.
    """
    state, layers = read_source(path, expected_sha256)
    report = _matched(project, analysis, module, state, layers)
    own = module.state_dict()
    values: State = {}
    for pair in report.matched:
        tensor = state[pair.source.key]
        if pair.source.parts > 1:
            tensor = tensor.chunk(pair.source.parts)[pair.source.part]
        values[pair.key] = tensor.reshape(own[pair.key].shape)
    module.load_state_dict(values, strict=False)
    return replace(report, file=str(path), sha256=expected_sha256)


def _matched(project: Project, analysis: Analysis, module: nn.Module, state: State, layers: Layers) -> MatchReport:
    modules = prefixes(project.network, analysis)
    fitted = measured_keys(project.network, modules)
    operators = [name for name, part in module.named_modules() if isinstance(part, OnnxOperator)]
    own_shapes = _shapes(module.state_dict())
    constants = {key for key in own_shapes if key.rpartition(".")[0] in operators}  # a file of their own has them
    own = Side(own_shapes, modules, fitted | constants)
    # Whole numbers are counters, or codes of quantised weights, which are no weights of ours.
    tensors = {key: value for key, value in state.items() if not _is_whole(value) or key.endswith(COUNTERS)}
    names = dict(project.weights.map)
    if project.training.reset_input_normalization:
        inputs = [id for id, layer in project.network.layers.items() if isinstance(layer.type, InputLayer)]
        reset = {key for key in fitted if any(key.startswith(f"{name}.") for id in inputs for name in modules[id])}
        names |= dict.fromkeys(reset, "")
    return match(own, Side(_shapes(tensors), layers), names.items())


def _is_whole(value: torch.Tensor) -> bool:
    return not (value.is_floating_point() or value.is_complex())


def _shapes(state: Mapping[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {key: tuple(value.shape) for key, value in state.items()}


def measured_keys(network: Network, modules: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return the keys that are measured on the data unless weights hold them: shift and scale of inputs and outputs."""
    inputs = (id for id, layer in network.layers.items() if isinstance(layer.type, InputLayer))
    names = [name for id in (*inputs, *fitted_outputs(network).values()) for name in modules.get(id, ())]
    return frozenset(f"{name}.{part}" for name in names for part in ("shift", "scale"))


def loaded_layers(report: MatchReport) -> frozenset[str]:
    """Return the id paths of the layers whose weights were all loaded."""
    return frozenset(layer.id for layer in report.layers if layer.state == "loaded")
