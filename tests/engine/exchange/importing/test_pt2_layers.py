"""Recurrent layers and attention of a program of torch.export come in as the layers that they were."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from netwright.engine.exchange.importing.importer import import_file
from netwright.engine.exchange.importing.pt2_file import mark
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network
from netwright.engine.project.file import load


def taken_in(model: nn.Module, example: torch.Tensor, folder: Path) -> Network:
    """Export a model with a free batch, import it, and return the network, whose numbers are those of the program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that a recurrent layer keeps a list of its weights
        program = torch.export.export(model.eval(), (example,), dynamic_shapes=({0: torch.export.Dim("n", min=1)},))
    torch.export.save(program, folder / "model.pt2")
    report = import_file(folder / "model.pt2", folder / "model.netwright")
    assert report.parity.agrees, report.warnings
    return load(folder / "model.netwright").project.network


def named(network: Network, name: str) -> Any:
    return network.by_name[name].type


def kinds(network: Network) -> list[str]:
    return [layer.type.key for layer in network.layers.values() if not layer.type.is_input]


class Recurrent(nn.Module):
    """Two directions over two layers, read at the end; stacked layers without biases; states that are handed on."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.LSTM(4, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.plain = nn.RNN(4, 5, num_layers=2, nonlinearity="relu", bias=False)
        self.reader = nn.GRU(4, 3, batch_first=True)
        self.writer = nn.GRU(4, 3, batch_first=True)
        self.head = nn.Linear(12 + 5 + 3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, (hidden, _) = self.both(x)
        _, last = self.plain(x.transpose(0, 1))
        _, state = self.reader(x)
        written, _ = self.writer(x, state)
        ends = torch.cat((hidden[-2], hidden[-1]), 1)
        return self.head(torch.cat((ends, last[-1], written[:, -1]), 1))


@pytest.mark.parity
def test_recurrent_layers(tmp_path: Path) -> None:
    network = taken_in(Recurrent(), torch.randn(2, 7, 4), tmp_path)
    both, plain = named(network, "both"), named(network, "plain")
    assert (both.key, both.layers, both.output_mode) == ("bilstm", 2, "last")
    assert (plain.key, plain.layers, plain.state_activation) == ("rnn", 2, "relu")
    assert named(network, "reader").state_outputs
    assert named(network, "writer").state_inputs


class Decoder(nn.Module):
    """What torch has as one module, with causal steps first; and a decoder, which is a block of its parts."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 12, activation="gelu", norm_first=True, layer_norm_eps=1e-6)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 4, 12, dropout=0.2, batch_first=True), 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        read = self.encoder(x.transpose(0, 1), mask=mask, is_causal=True).transpose(0, 1)
        return self.decoder(x, read)


@pytest.mark.parity
def test_transformers_are_repeated_blocks(tmp_path: Path) -> None:
    network = taken_in(Decoder(), torch.randn(2, 5, 8), tmp_path)
    encoder, decoder = named(network, "encoder"), named(network, "decoder")
    assert isinstance(encoder, Block)
    assert isinstance(decoder, Block)
    assert (encoder.repeat, decoder.repeat) == (2, 2)
    one = named(encoder.network, "transformer_encoder_layer")
    assert (one.heads, one.feedforward, one.mask, one.norm) == (2, 12, "causal", "before")
    assert (one.activation, one.epsilon, one.dropout) == ("gelu", 1e-6, 0.1)
    assert named(decoder.network, "multihead_attn").heads == 4
    assert named(decoder.network, "dropout1").probability == 0.2


def test_layers_of_torch_are_marked_by_name() -> None:
    """The short form of the tests above: what is marked, without torch's exporter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recurrent = torch.export.export(Recurrent().eval(), (torch.randn(2, 7, 4),))
    transformer = torch.export.export(Decoder().eval(), (torch.randn(2, 5, 8),))
    expected = {
        recurrent: ["nn.LSTM", "nn.RNN", "nn.GRU", "nn.GRU"],
        transformer: ["nn.TransformerEncoderLayer"] * 2 + ["nn.MultiheadAttention"] * 4 + ["nn.Dropout"] * 8,
    }
    for program, names in expected.items():
        mark(program)
        nodes = [node for node in program.graph.nodes if "_symbolic_multi_out" in str(node.target)]
        assert sorted(node.args[1] for node in nodes) == sorted(names)


class Cross(nn.Module):
    """Attention to another sequence with its weights apart, whose scores leave the network."""

    def __init__(self) -> None:
        super().__init__()
        self.other = nn.Linear(8, 6)
        self.attend = nn.MultiheadAttention(8, 2, kdim=6, vdim=6, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        other = self.other(x)
        mixed, scores = self.attend(x, other, other)
        return mixed + x, scores


@pytest.mark.parity
def test_attention_to_another_sequence(tmp_path: Path) -> None:
    network = taken_in(Cross(), torch.randn(2, 5, 8), tmp_path)
    block = named(network, "attend")
    assert isinstance(block, Block)
    assert "multihead_attention" in kinds(block.network)


class Written(nn.Module):
    """Attention of one's own; `attend` is what is done with queries, keys and values of each head."""

    def __init__(self, attend: Callable[..., torch.Tensor], *, is_packed: bool) -> None:
        super().__init__()
        self.attend, self.is_packed = attend, is_packed
        self.parts: Any = nn.Linear(8, 24) if is_packed else nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.result = nn.Linear(8, 8)
        self.register_buffer("mask", torch.tril(torch.ones(5, 5)).view(1, 1, 5, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, steps, channels = x.shape
        if self.is_packed:
            q, k, v = self.parts(x).reshape(batch, steps, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        else:
            q, k, v = (part(x).view(batch, steps, 2, 4).transpose(1, 2) for part in self.parts)
        mixed = self.attend(q, k, v, self.mask)
        return self.result(mixed.transpose(1, 2).reshape(batch, steps, channels)) + x


def fused(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask > 0)


def by_hand(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    scores = (q @ k.transpose(-2, -1)) / 4**0.5
    return functional.dropout(scores.masked_fill(mask == 0, float("-inf")).softmax(-1), 0.1, training=False) @ v


def scaled(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v, scale=0.3)


@pytest.mark.parametrize(
    ("attend", "is_packed"),
    [
        (by_hand, True),
        pytest.param(by_hand, False, marks=pytest.mark.parity),
        pytest.param(fused, True, marks=pytest.mark.parity),
        pytest.param(fused, False, marks=pytest.mark.parity),
    ],
)
def test_attention_by_hand(attend: Callable[..., torch.Tensor], is_packed: bool, tmp_path: Path) -> None:
    network = taken_in(Written(attend, is_packed=is_packed), torch.randn(2, 5, 8), tmp_path)
    found: Any = next(layer.type for layer in network.layers.values() if layer.type.key == "self_attention")
    assert kinds(network) == ["self_attention", "addition"]
    assert (found.heads, found.mask) == (2, "causal")


@pytest.mark.parity
def test_another_scale_leaves_the_projections_apart(tmp_path: Path) -> None:
    network = taken_in(Written(scaled, is_packed=False), torch.randn(2, 5, 8), tmp_path)
    found: Any = next(layer.type for layer in network.layers.values() if layer.type.key == "attention")
    assert (found.heads, found.mask) == (2, "none")
    assert found.scale == pytest.approx(0.3)


def first_hidden(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    hidden = torch.zeros(5, 5, dtype=torch.bool)
    hidden[:, 0] = True
    return ((q @ k.transpose(-2, -1)) / 4**0.5).masked_fill(hidden, -1e9).softmax(-1) @ v


@pytest.mark.parity
def test_a_mask_that_is_filled_in_place_stays(tmp_path: Path) -> None:
    network = taken_in(Written(first_hidden, is_packed=True), torch.randn(2, 5, 8), tmp_path)
    assert "where" in kinds(network)


def dropped(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return functional.dropout((q @ k.transpose(-2, -1) / 2).softmax(-1), 0.1, training=False) @ v


@pytest.mark.parity
def test_attention_by_hand_without_a_mask(tmp_path: Path) -> None:
    network = taken_in(Written(dropped, is_packed=False), torch.randn(2, 5, 8), tmp_path)
    assert kinds(network) == ["self_attention", "addition"]
