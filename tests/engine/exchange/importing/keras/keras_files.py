"""Small `.keras` files in Keras's layout, written by hand."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

Weights = Mapping[str, Sequence[np.ndarray]]


def layer(kind: str, name: str, sources: Sequence[Any] = (), **config: Any) -> dict[str, Any]:
    """Return a layer of Keras 3 that is called on the outputs of the layers `sources`."""
    tensors = [
        {"class_name": "__keras_tensor__", "config": {"keras_history": [source, 0, 0]}}
        if isinstance(source, str)
        else source
        for source in sources
    ]
    args = [tensors] if len(tensors) > 1 else tensors
    nodes: list[Any] = [{"args": args, "kwargs": {}}] if sources else []
    return {"module": "keras.layers", "class_name": kind, "config": {"name": name, **config}, "inbound_nodes": nodes}


def functional(layers: list[dict[str, Any]], outputs: Sequence[str], name: str = "model") -> dict[str, Any]:
    """Return a Functional model whose first layer is its input."""
    inputs = [layers[0]["config"]["name"], 0, 0]
    ends = [[output, 0, 0] for output in outputs]
    config = {"name": name, "layers": layers, "input_layers": [inputs], "output_layers": ends}
    return {"module": "keras.src.models.functional", "class_name": "Functional", "config": config}


def sequential(layers: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Return a Sequential model."""
    return {"module": "keras", "class_name": "Sequential", "config": {"name": "model", "layers": layers}, **more}


def weights_file(weights: Weights, root: str = "layers") -> bytes:
    """Return an HDF5 file with the variables of each layer under `root`."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.create_group(root)
        for path, variables in weights.items():
            for number, values in enumerate(variables):
                file[f"{root}/{path}/vars/{number}"] = values
    return buffer.getvalue()


def write(
    path: Path, config: Any, weights: Weights | bytes | None = None, version: str = "3.15.1", root: str = "layers"
) -> Path:
    """Write a `.keras` file and return its path."""
    stored = weights if isinstance(weights, bytes) else weights_file(weights or {}, root)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": version}))
        archive.writestr("config.json", config if isinstance(config, str) else json.dumps(config))
        archive.writestr("model.weights.h5", stored)
    return path
