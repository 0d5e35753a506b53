"""Compare an imported model with Keras, where Keras is installed: in a process of its own, with torch below it.

Keras makes objects of all that a file names, also by paths of modules, so a file is given to it only where it names
parts of Keras alone (`_is_plain`), after our own reader knew each of its layers.
"""

import importlib.util
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import fx

from netwright.engine.core.errors import RunError
from netwright.engine.core.process import module_command
from netwright.engine.exchange.importing.graph import Graph, Value
from netwright.engine.exchange.importing.parity import Parity, compare
from netwright.engine.exchange.importing.values import Tensor
from netwright.engine.network.network import Network

MISSING = "Keras is not installed here, so its numbers are not known. Compare some predictions yourself."
FOREIGN = (
    "the file is of an older Keras, or names code besides its own layers, which is not run. Compare some predictions "
    "yourself."
)
PATIENCE_S = 300.0
MODULES = re.compile(
    r"keras(\.src)?(\.(layers|models|initializers|regularizers|constraints|activations|dtype_policies)(\.\w+)*)?"
)
"""Modules of Keras whose classes hold layers and their settings; others, such as `keras.utils`, reach files."""


def compared(
    path: Path,
    config: Mapping[str, Any],
    module: fx.GraphModule,
    network: Network,
    inputs: Sequence[tuple[str, Tensor]],
    outputs: Sequence[tuple[str, Tensor]],
) -> Parity:
    """Compare the built module with Keras. Inputs and outputs are in Keras's order, with their dimensions there."""
    if importlib.util.find_spec("keras") is None:
        return Parity(refusal=MISSING)
    if not _is_plain(config):
        return Parity(refusal=FOREIGN)
    ports = [(Value(name, None, "int64" if x.type.kind == "index" else "float32"), x) for name, x in inputs]
    places = {port: at for at, port in enumerate(network.output_ports)}
    ends = [(name, tensor, places[tensor.port]) for name, tensor in outputs]

    def compute(feeds: Mapping[str, np.ndarray], _: Sequence[str]) -> list[np.ndarray]:
        return _run(path, [feeds[name] for name, _ in inputs])

    graph = Graph([], {}, (), (), 0, compute=compute)
    return compare(graph, module, network, ports, ends)


def _is_plain(value: Any) -> bool:
    """Return whether a part of the configuration names classes of Keras alone."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if not isinstance(value, dict):
        return True
    if "class_name" in value:
        name, module = value["class_name"], value.get("module")
        is_function = name == "function" and module == "builtins" and re.fullmatch(r"[a-z_0-9]+", str(value["config"]))
        is_shape = name in ("__tuple__", "__keras_tensor__", "__tensor__", "__numpy__") and module is None
        is_known = module is not None and re.fullmatch(MODULES, str(module)) and re.fullmatch(r"\w+", str(name))
        if name == "Lambda" or not (is_function or is_shape or is_known):
            return False
    return all(map(_is_plain, value.values()))


def _run(path: Path, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the outputs of the model as Keras computes them, in a process of its own. Raises `RunError`."""
    with tempfile.TemporaryDirectory() as folder:
        feeds, results = Path(folder) / "given.npz", Path(folder) / "found.npz"
        np.savez(feeds, *inputs)
        command = module_command(__name__, str(path.resolve()), str(feeds), str(results))
        environment = {**os.environ, "KERAS_BACKEND": "torch"}
        try:
            process = subprocess.run(
                command, capture_output=True, text=True, timeout=PATIENCE_S, env=environment, check=False
            )
        except subprocess.TimeoutExpired:
            raise RunError(f"Keras took longer than {PATIENCE_S:.0f} s with {path.name}.") from None
        if process.returncode < 0:
            raise RunError(f"Keras crashed with {path.name}.")
        if process.returncode:
            raise RunError(f"Keras cannot run {path.name}: {(process.stderr.strip().splitlines() or [''])[-1][:200]}")
        with np.load(results, allow_pickle=False) as arrays:
            return [arrays[f"arr_{number}"] for number in range(len(arrays))]


def main(arguments: list[str]) -> None:
    """Compute the outputs of a model: the paths of the model, of its inputs and of what is to be written."""
    import torch

    path, feeds, results = arguments
    keras = importlib.import_module("keras")
    model = keras.saving.load_model(path, compile=False, safe_mode=True)
    with np.load(feeds, allow_pickle=False) as stored:
        inputs = [stored[f"arr_{number}"] for number in range(len(stored))]
    arrays = [array.astype(np.int32) if array.dtype.kind == "i" else array for array in inputs]
    with torch.no_grad():
        outputs = model(arrays[0] if len(arrays) == 1 else arrays, training=False)
    np.savez(results, *(keras.ops.convert_to_numpy(output) for output in keras.tree.flatten(outputs)))
