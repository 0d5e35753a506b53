"""The names of all readers that are fed, without what they need: the engine's, and the window's, which need Qt."""

import importlib.util

ENGINE = [
    "project",
    "code",
    "presets",
    "run.json",
    "data.json",
    "result.json",
    "events.jsonl",
    "notes.json",
    "metrics.json",
    "control",
    "queue",
    "weights",
    "tensors",
    "checkpoint",
    "checkpoint tensors",
    "checkpoint manifest",
    "csv",
    "series",
    "sequences",
    "sequence file",
    "npz",
    "npy",
    "images",
    "masks",
    "data in safetensors",
    "hdf5",
    "matlab",
    "idx",
    "cifar",
    "sounds",
    "texts",
    "tokenizer.json",
]
WINDOW = ["block", "clipboard", "thumbnail", "events in the window"] if importlib.util.find_spec("PySide6") else []
