"""The readers of networks of other programs."""

import io
import json
import random
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from netwright.engine.exchange.importing import exported_source
from netwright.engine.exchange.importing.keras import convert_model
from netwright.engine.exchange.importing.pt2_file import graph_of, load_program
from netwright.engine.lowering.print_source import source
from netwright.engine.network.analysis import analyse
from netwright.engine.project.file import load
from netwright.engine.project.source_note import HEADING, joined, with_note
from tests.fuzz import mutate
from tests.fuzz.fuzzed_readers import TEMPLATES, reader

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
    convert_model.read(folder / "d.keras", {"height": 8} if generator.random() < 0.1 else {})


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
    graph_of(load_program(folder / "d.pt2", folder), folder)


def edited_lines(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return source with lines taken out, doubled or exchanged, with other words and numbers, or other bytes."""
    if generator.random() < 0.1:
        return mutate.any_bytes(generator, seeds)
    lines = generator.choice(seeds).decode().split("\n")
    words = ["self", "x", "0", "-1", "10**9", "None", "nn.ReLU()", "float('inf')", "(1, 2)", "torch.cat", "'a'", "**x"]
    for _ in range(generator.choice([1, 1, 2, 4])):
        at, other = generator.randrange(len(lines)), generator.randrange(len(lines))
        match generator.randrange(5):
            case 0:
                lines.pop(at)
            case 1:
                lines.insert(at, lines[other])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case _:
                parts = re.split(r"(\w+)", lines[at])
                parts[generator.randrange(len(parts))] = generator.choice([*words, str(generator.randrange(-5, 5000))])
                lines[at] = "".join(parts)
    return "\n".join(lines).encode()


def _sources(folder: Path) -> list[bytes]:
    projects = [load(TEMPLATES / f"{name}.netwright").project for name in ("mlp", "seq2seq", "squeezenet1_1")]
    return [with_note(source(one.network, analyse(one.network), title="t"), one).encode() for one in projects]


def edited_source(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return source with other lines, or with another project noted whose checksum fits."""
    if generator.random() < 0.3:
        return edited_lines(generator, seeds)
    code, _, tail = generator.choice(seeds).decode().rpartition(f"\n\n{HEADING}\n")
    note = "".join(line.removeprefix("# ") for line in tail.split("\n")[1:])
    value = mutate.mutated_value(generator, json.loads(note))
    return joined(code, value).encode()


@reader("exported source", "d.py", edited_source, _sources)
def read_source(folder: Path, generator: random.Random) -> None:
    exported_source.read(folder / "d.py", {})
