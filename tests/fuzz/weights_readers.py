"""The readers of files of weights that somebody brings, and of the address book of published ones."""

import io
import json
import random
import zipfile
from collections.abc import Sequence
from pathlib import Path

import torch

from netwright.engine.core.files import ROOT
from netwright.engine.lowering.module import build
from netwright.engine.lowering.start_weights import start_report
from netwright.engine.lowering.weights_file import write_weights_file
from netwright.engine.network.analysis import analyse
from netwright.engine.project import published_weights
from netwright.engine.project.project import Project
from netwright.engine.project.published_weights import with_inputs_of
from netwright.engine.project.weights import WeightsOptions
from tests.builders import classifier
from tests.fuzz import mutate
from tests.fuzz.fuzzed_readers import reader

NETWORK = classifier()


def _state() -> dict[str, torch.Tensor]:
    return build(NETWORK, analyse(NETWORK)).state_dict()


def _started(folder: Path, name: str) -> None:
    """Match the weights of a file with a network, as a new training does."""
    project = Project(NETWORK, weights=WeightsOptions(file=name))
    json.dumps(start_report(project, folder).write(), allow_nan=False)


def _safetensors(folder: Path) -> list[bytes]:
    write_weights_file(folder / "w.safetensors", _state(), {"0": ["fully_connected"]})
    return [(folder / "w.safetensors").read_bytes()]


@reader("weights file", "w.safetensors", mutate.tensors_file, _safetensors)
def read_weights_file(folder: Path, generator: random.Random) -> None:
    _started(folder, "w.safetensors")


def _saved(folder: Path) -> list[bytes]:
    """Return state-dicts as `torch.save` writes them, alone and beside other things."""
    rooms = [io.BytesIO() for _ in range(3)]
    torch.save(_state(), rooms[0])
    torch.save({"epoch": 3, "state_dict": _state()}, rooms[1])
    torch.save(_state(), rooms[2], _use_new_zipfile_serialization=False)
    return [room.getvalue() for room in rooms]


def saved_file(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return a file of `torch.save` with other bytes in one of its members, or anywhere."""
    content = generator.choice(seeds)
    if generator.random() < 0.3 or not zipfile.is_zipfile(io.BytesIO(content)):
        return mutate.any_bytes(generator, [content])
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    for _ in range(generator.choice([1, 1, 2])):
        name = generator.choice([next(name for name in parts if name.endswith("data.pkl")), *parts])
        parts[name] = mutate.any_bytes(generator, [parts[name]])
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return whole.getvalue()


@reader("weights of torch", "w.pt", saved_file, _saved)
def read_saved(folder: Path, generator: random.Random) -> None:
    _started(folder, "w.pt")


def _address_book(folder: Path) -> list[bytes]:
    return [(ROOT / "resources" / published_weights.FILE).read_bytes()]


@reader("published weights", published_weights.FILE, mutate.json_file, _address_book)
def read_address_book(folder: Path, generator: random.Random) -> None:
    for entry in published_weights._read(folder / published_weights.FILE).values():
        json.dumps(entry.write())
        with_inputs_of(Project(NETWORK), entry)
