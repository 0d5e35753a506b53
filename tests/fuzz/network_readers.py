"""The readers of networks of other programs."""

import io
import json
import random
import zipfile
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from engine.exchange.importing.keras import convert
from engine.exchange.importing.pt2_file import load_program
from tests.fuzz import mutate
from tests.fuzz.readers import reader

GOLDEN = Path(__file__).parents[1] / "golden"


def archive(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return a zip file with other bytes, other members, or other values in its JSON documents."""
    if generator.random() < 0.2:
        return mutate.any_bytes(generator, seeds)
    with zipfile.ZipFile(io.BytesIO(generator.choice(seeds))) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    documents = [name for name, content in parts.items() if name.endswith(".json") and len(content) > 100]
    for _ in range(generator.choice([1, 1, 2, 5])):
        name = generator.choice([*documents, *documents, *parts])
        if name in documents:
            value = json.loads(parts[name])
            parts[name] = mutate.as_bytes(generator, mutate.mutated_value(generator, value))
            documents.remove(name)  # perhaps no JSON any more
            if not documents:
                break
        elif generator.random() < 0.2:
            parts[f"{name}{generator.choice(['', 'x', '/../../x'])}"] = parts[name]
        else:
            parts[name] = mutate.any_bytes(generator, [parts[name]])
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return whole.getvalue()


def _keras(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((GOLDEN / "keras").glob("*.keras"))]


@reader("keras", "d.keras", archive, _keras)
def read_keras(folder: Path, generator: random.Random) -> None:
    convert.read(folder / "d.keras", {"height": 8} if generator.random() < 0.1 else {})


def _programs(folder: Path) -> list[bytes]:
    model = nn.Sequential(nn.Conv1d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2)).eval()
    example = torch.randn(2, 2, 6)
    model(example)
    found = []
    for sizes in (None, ({0: torch.export.Dim("n")},)):
        whole = io.BytesIO()
        torch.export.save(torch.export.export(model, (example,), dynamic_shapes=sizes), whole)
        found.append(whole.getvalue())
    return found


@reader("pt2", "d.pt2", archive, _programs)
def read_program(folder: Path, generator: random.Random) -> None:
    load_program(folder / "d.pt2", folder)
