"""Parts of well-known networks, as torch's exporters write them, come in as layers with equal numbers."""

import contextlib
import io
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network
from netwright.engine.project.file import load


class Windows(nn.Module):
    """Attention in windows of an image that is rolled by half a window (Swin)."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.proj = nn.Linear(8, 24), nn.Linear(8, 8)
        self.bias = nn.Parameter(torch.randn(2, 4, 4))
        self.mask: torch.Tensor
        self.register_buffer("mask", torch.where(torch.rand(4, 4, 4) < 0.3, -100.0, 0.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        image = torch.roll(x.permute(0, 2, 3, 1), (-1, -1), (1, 2))
        windows = image.reshape(-1, 2, 2, 2, 2, 8).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, 8)
        count = windows.shape[0]
        q, k, v = self.qkv(windows).reshape(count, 4, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q * 0.5) @ k.transpose(-2, -1) + self.bias
        scores = (scores.view(-1, 4, 2, 4, 4) + self.mask[:, None]).view(-1, 2, 4, 4)
        y = self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(count, 4, 8))
        return y.view(-1, 2, 2, 2, 2, 8).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, 4, 8)


class HeadsInBatch(nn.Module):
    """Attention over the places of an image, whose heads are joined with the batch (diffusion models)."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv = nn.GroupNorm(2, 8), nn.Conv1d(8, 24, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, *_ = x.shape
        q, k, v = self.qkv(self.norm(x.reshape(batch, channels, -1))).reshape(batch * 2, 12, 16).split(4, 1)
        weights = torch.einsum("bct,bcs->bts", q * 0.7, k * 0.7).softmax(-1)
        return torch.einsum("bts,bcs->bct", weights, v).reshape(batch, 8, 16)


class PaddingMask(nn.Module):
    """An encoder's attention with a mask of padding that is an input (BERT)."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.q, self.k, self.v = nn.Embedding(20, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        y = self.embed(x)
        q, k, v = (part(y).view(-1, 6, 2, 4).transpose(1, 2) for part in (self.q, self.k, self.v))
        hidden = (1.0 - mask[:, None, None, :].float()) * -10000.0
        weights = (q @ k.transpose(-2, -1) / 2 + hidden).softmax(-1)
        return (weights @ v).transpose(1, 2).reshape(-1, 6, 8)


class Rotary(nn.Module):
    """Causal attention with turned queries and keys, and fewer heads of keys (LLaMA)."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.q, self.kv = nn.Embedding(20, 16), nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        angles = torch.outer(torch.arange(6.0), torch.tensor([1.0, 0.01])).repeat(1, 2)
        self.cos: torch.Tensor
        self.sin: torch.Tensor
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return x * self.cos + torch.cat((-second, first), -1) * self.sin

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.embed(x)
        batch = y.shape[0]
        q = self.turned(self.q(y).view(batch, 6, 4, 4).transpose(1, 2))
        k, v = (one.view(batch, 6, 2, 4).transpose(1, 2) for one in self.kv(y).chunk(2, -1))
        k, v = (
            one[:, :, None].expand(batch, 2, 2, 6, 4).reshape(batch, 4, 6, 4) for one in (self.turned(k), v)
        )  # fmt: skip
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, 6, 16)


class Queries(nn.Module):
    """Learned queries that are repeated for each sample (DETR)."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.q, self.k = nn.Parameter(torch.randn(5, 8)), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query = self.q(self.query.unsqueeze(0).repeat(x.shape[0], 1, 1))
        return (query @ self.k(x).transpose(1, 2)).softmax(-1) @ x


class Categories(nn.Module):
    """Columns of categories in an embedding each, beside numbers (recommender systems): embeddings are one module."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(10, 4) for _ in range(3)])
        self.bottom = nn.Linear(5, 4)

    def forward(self, x: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        parts = [self.bottom(x), *(part(columns[:, at]) for at, part in enumerate(self.embeddings))]
        stacked = torch.stack(parts, 1)
        return stacked @ stacked.transpose(1, 2)


class StepsInBatch(nn.Module):
    """A fully connected layer on steps and samples as one dimension (CRNN, GPT-2)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.rnn, self.fc = nn.Conv2d(1, 6, 3, padding=1), nn.GRU(24, 5), nn.Linear(5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x).permute(3, 0, 1, 2).flatten(2)
        steps, batch, _ = y.shape
        y, _ = self.rnn(y)
        return self.fc(y.reshape(steps * batch, 5)).view(steps, batch, 3)


def tokens() -> torch.Tensor:
    return torch.randint(1, 10, (2, 6))


PARTS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[torch.Tensor, ...]], set[str]]] = {
    "windows": (Windows, lambda: (torch.randn(2, 8, 4, 4),), {"matrix_product", "softmax"}),
    "heads in the batch": (HeadsInBatch, lambda: (torch.randn(2, 8, 4, 4),), {"einsum", "softmax", "group_norm"}),
    "mask of padding": (PaddingMask, lambda: (tokens(), torch.ones(2, 6, dtype=torch.long)), {"embedding", "softmax"}),
    "rotary": (Rotary, lambda: (tokens(),), {"embedding", "matrix_product"}),
    "queries": (Queries, lambda: (torch.randn(2, 6, 8),), {"learned_parameter", "fully_connected"}),
    "categories": (
        Categories,
        lambda: (torch.randn(2, 5), torch.randint(0, 10, (2, 3))),
        {"embedding", "fully_connected"},
    ),
    "steps in the batch": (StepsInBatch, lambda: (torch.randn(2, 1, 4, 7),), {"gru", "fully_connected"}),
}


def exported(name: str, path: Path, opset: int, *, dynamo: bool) -> None:
    torch.manual_seed(0)
    model, inputs = PARTS[name][0]().eval(), PARTS[name][1]()
    names = [f"x{number}" for number in range(len(inputs))]
    free = (
        {"dynamic_shapes": tuple({0: torch.export.Dim("batch")} for _ in inputs)}
        if dynamo
        else {"dynamic_axes": {one: {0: "batch"} for one in names}}
    )
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, inputs, path, dynamo=dynamo, opset_version=opset, input_names=names, verbose=False, **free
        )


def keys(network: Network) -> set[str]:
    """Return the keys of all layers, also of those in blocks."""
    types = [layer.type for layer in network.layers.values()]
    return {type.key for type in types}.union(*(keys(type.network) for type in types if isinstance(type, Block)))


def lifted(path: Path) -> set[str]:
    """Return the keys of the layers of a network that computes the same, without an operator that is kept."""
    report = import_file(path, path.with_suffix(".netwright"), replaces=True)
    assert report.parity.agrees, report.parity
    assert all(one.varies for one in report.parity.outputs)
    assert not any(row.opaque for row in report.operators), report.operators
    return keys(load(report.project).project.network)


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_well_known_networks(tmp_path: Path, name: str) -> None:
    exported(name, tmp_path / "a.onnx", 17, dynamo=False)
    assert PARTS[name][2] <= lifted(tmp_path / "a.onnx")


@pytest.mark.parity
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(("opset", "dynamo"), [(20, False), (18, True), (23, True)])
def test_parts_of_well_known_networks_of_other_exporters(tmp_path: Path, name: str, opset: int, dynamo: bool) -> None:
    exported(name, tmp_path / "a.onnx", opset, dynamo=dynamo)
    assert PARTS[name][2] - {"matrix_product"} <= lifted(tmp_path / "a.onnx") | {"softmax"}
