"""Recurrent layers that torch does not have, or that take and return their states as plain tensors.

Inputs are (N, T, C). A state is (N, layers · directions · H): what torch keeps as (layers · directions, N, H) lies side
by side in it. `lengths` (N) say how many steps of each sequence are real; the states are those of the last real step.
"""

import torch
from torch import nn


class PlainStates(nn.Module):
    """Mixin before a recurrent layer of torch: plain tensors as states, and sequences of different lengths.

    `last` returns the hidden state of the last layer in place of all steps, `states` the states behind the output.
    """

    hidden_size: int
    bidirectional: bool

    def __init__(self, *sizes: int, last: bool = False, states: bool = False, **options) -> None:  # type: ignore
        super().__init__(*sizes, batch_first=True, **options)
        self.last = last
        self.states = states

    def forward(self, x: torch.Tensor, hidden: torch.Tensor | None = None, lengths=None):  # type: ignore
        y, end = self.read(x, None if hidden is None else self.stacked(hidden), lengths)
        return self.result(y, end)

    def read(self, x: torch.Tensor, state, lengths):  # type: ignore
        """Run torch's layer over the real steps: all outputs (N, T, C), and torch's state at the end."""
        lengths = lengths[0] if isinstance(lengths, tuple) else lengths
        if lengths is None:
            return super().forward(x, state)
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        rows, end = super().forward(packed, state)
        return nn.utils.rnn.pad_packed_sequence(rows, batch_first=True, total_length=x.shape[1])[0], end

    def stacked(self, state: torch.Tensor) -> torch.Tensor:
        """A plain state as torch takes it, (layers · directions, N, H)."""
        return torch.unflatten(state, 1, (-1, self.hidden_size)).transpose(0, 1).contiguous()

    def result(self, y: torch.Tensor, *ends: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """The output, with the plain states if they are asked for. The first of torch's states is the hidden one."""
        if self.last:
            y = ends[0][-2:].transpose(0, 1).flatten(1) if self.bidirectional else ends[0][-1]
        return (y, *(end.transpose(0, 1).flatten(1) for end in ends)) if self.states else y


class StatefulRnn(PlainStates, nn.RNN):  # type: ignore
    """torch's RNN with a plain hidden state as optional input and output."""


class StatefulGru(PlainStates, nn.GRU):  # type: ignore
    """torch's GRU with a plain hidden state as optional input and output."""


class StatefulLstm(PlainStates, nn.LSTM):
    """torch's LSTM with a plain hidden and cell state as optional inputs and outputs."""

    def forward(self, x: torch.Tensor, hidden=None, cell=None, lengths=None):  # type: ignore
        has_state = hidden is not None and cell is not None
        y, (h, c) = self.read(x, (self.stacked(hidden), self.stacked(cell)) if has_state else None, lengths)
        return self.result(y, h, c)


class RecurrentLoop(nn.Module):
    """Base of recurrent layers that go step by step, with weights named as torch names them. Slower than torch's.

    A subclass computes one step in `step`; its state is a tuple whose first tensor is the hidden state. Behind the end
    of a sequence the state stays as it is.
    """

    def __init__(
        self,
        gates: int,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        bidirectional: bool,
        gate_activation: str,
        state_activation: str,
        recurrent_bias: bool,
        peephole: bool,
        input_projector: int,
        output_projector: int,
        last: bool,
        states: bool,
    ) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.gate_activation = gate_activation
        self.state_activation = state_activation
        self.last = last
        self.states = states
        self.suffixes = ("", "_reverse") if bidirectional else ("",)
        self.num_layers = num_layers
        rows = gates * hidden_size
        for layer in range(num_layers):
            reads = hidden_size * len(self.suffixes) if layer else input_size
            for suffix in self.suffixes:
                name = f"l{layer}{suffix}"
                self.add(f"weight_ih_{name}", rows, input_projector or reads)
                self.add(f"weight_hh_{name}", rows, output_projector or hidden_size)
                self.add(f"bias_ih_{name}", rows)
                self.add(f"bias_hh_{name}", *((rows,) if recurrent_bias else ()))
                self.add(f"peephole_{name}", *((3 * hidden_size,) if peephole else ()))
                self.add(f"input_projector_{name}", *((reads, input_projector) if input_projector else ()))
                self.add(f"output_projector_{name}", *((hidden_size, output_projector) if output_projector else ()))

    def add(self, name: str, *sizes: int) -> None:
        """Add a parameter, small and random as in torch's recurrent layers; None without sizes."""
        bound = self.hidden_size**-0.5
        self.register_parameter(name, nn.Parameter(torch.empty(sizes).uniform_(-bound, bound)) if sizes else None)

    def run(
        self,
        x: torch.Tensor,
        states: tuple[torch.Tensor | None, ...],
        lengths: torch.Tensor | tuple[torch.Tensor | None, ...] | None,
    ) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """Run all layers over (N, T, C), from zero where a state is None: the output, with the states if asked for."""
        lengths = lengths[0] if isinstance(lengths, tuple) else lengths
        x = x.transpose(0, 1)
        count = self.num_layers * len(self.suffixes)
        zeros = torch.zeros((x.shape[1], self.hidden_size * count), dtype=x.dtype, device=x.device)
        starts = [(zeros if state is None else state).chunk(count, 1) for state in states]
        inside: tuple[torch.Tensor, ...] = ()
        if lengths is not None:
            inside = ((torch.arange(x.shape[0], device=x.device).unsqueeze(1) < lengths).unsqueeze(2),)
        ends: list[tuple[torch.Tensor, ...]] = []
        for layer in range(self.num_layers):
            rows = []
            for suffix in self.suffixes:
                start = tuple(chunks[len(ends)] for chunks in starts)
                end, y = self.read(x, f"l{layer}{suffix}", start, inside)
                ends.append(end)
                rows.append(y)
            x = torch.cat(rows, 2)
        after = tuple(torch.cat(parts, 1) for parts in zip(*ends, strict=True))
        y = after[0][:, -self.hidden_size * len(self.suffixes) :] if self.last else x.transpose(0, 1)
        return (y, *after) if self.states else y

    def read(
        self, x: torch.Tensor, name: str, start: tuple[torch.Tensor, ...], inside: tuple[torch.Tensor, ...]
    ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """Run one layer in one direction over (T, N, C): the state at the end, and the hidden state of each step."""
        projector = getattr(self, f"input_projector_{name}")
        x = x if projector is None else x @ projector
        inputs = nn.functional.linear(x, getattr(self, f"weight_ih_{name}"), getattr(self, f"bias_ih_{name}"))
        if not name.endswith("_reverse"):
            return self.walk(name, start, (inputs, *inside))
        end, y = self.walk(name, start, (inputs.flip(0), *(mask.flip(0) for mask in inside)))
        return end, y.flip(0)

    def walk(
        self, name: str, state: tuple[torch.Tensor, ...], inputs: tuple[torch.Tensor, ...]
    ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """Go through all steps: the state after the last, and the hidden state after each."""
        rows = []
        for now in zip(*(part.unbind(0) for part in inputs), strict=True):
            state = self.step(name, state, now)
            rows.append(state[0])
        return state, torch.stack(rows)

    def step(
        self, name: str, state: tuple[torch.Tensor, ...], inputs: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, ...]:
        """Return the state after one step. `inputs` are the gates' share of the input (N, gates · H) and, where
        sequences differ in length, which of them have this step (N, 1)."""
        raise NotImplementedError

    def gate(self, x: torch.Tensor) -> torch.Tensor:
        """From 0 to 1. MATLAB's hard sigmoid rises by 0.2, torch's by 1/6."""
        return x.sigmoid() if self.gate_activation == "sigmoid" else (0.2 * x + 0.5).clamp(0.0, 1.0)

    def squash(self, x: torch.Tensor) -> torch.Tensor:
        """The activation of the state."""
        if self.state_activation == "softsign":
            return x / (1.0 + x.abs())
        return x.relu() if self.state_activation == "relu" else x.tanh()


class LstmLoop(RecurrentLoop):
    """An LSTM with other activations, peepholes or projected weights.

    Gates stand in torch's order, input, forget, cell, output; peepholes in the order input, forget, output.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        gate_activation: str = "sigmoid",
        state_activation: str = "tanh",
        recurrent_bias: bool = True,
        peephole: bool = False,
        input_projector: int = 0,
        output_projector: int = 0,
        last: bool = False,
        states: bool = False,
    ) -> None:
        sizes = (input_size, hidden_size, num_layers, bidirectional)
        activations = (gate_activation, state_activation)
        projectors = (input_projector, output_projector)
        super().__init__(4, *sizes, *activations, recurrent_bias, peephole, *projectors, last, states)

    def forward(
        self,
        x: torch.Tensor,
        hidden: torch.Tensor | None = None,
        cell: torch.Tensor | None = None,
        lengths: torch.Tensor | tuple[torch.Tensor | None, ...] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, ...]:
        return self.run(x, (hidden, cell), lengths)

    def step(
        self, name: str, state: tuple[torch.Tensor, ...], inputs: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, ...]:
        h, c = state
        projector, peephole = getattr(self, f"output_projector_{name}"), getattr(self, f"peephole_{name}")
        projected = h if projector is None else h @ projector
        of_h = nn.functional.linear(projected, getattr(self, f"weight_hh_{name}"), getattr(self, f"bias_hh_{name}"))
        i, f, g, o = (inputs[0] + of_h).chunk(4, 1)
        if peephole is not None:
            i = i + peephole[: self.hidden_size] * c
            f = f + peephole[self.hidden_size : 2 * self.hidden_size] * c
        new = self.gate(f) * c + self.gate(i) * self.squash(g)
        if peephole is not None:
            o = o + peephole[2 * self.hidden_size :] * new
        after = self.gate(o) * self.squash(new), new
        return tuple(torch.where(inputs[1], a, b) for a, b in zip(after, state, strict=True)) if inputs[1:] else after


class GruLoop(RecurrentLoop):
    """A GRU with other reset gates or activations, or projected weights.

    Gates stand in torch's order, reset, update, new. `reset_first`: the reset gate works on the state before it is
    multiplied.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        gate_activation: str = "sigmoid",
        state_activation: str = "tanh",
        recurrent_bias: bool = True,
        reset_first: bool = False,
        input_projector: int = 0,
        output_projector: int = 0,
        last: bool = False,
        states: bool = False,
    ) -> None:
        sizes = (input_size, hidden_size, num_layers, bidirectional)
        activations = (gate_activation, state_activation)
        projectors = (input_projector, output_projector)
        super().__init__(3, *sizes, *activations, recurrent_bias, False, *projectors, last, states)
        self.reset_first = reset_first

    def forward(
        self,
        x: torch.Tensor,
        hidden: torch.Tensor | None = None,
        lengths: torch.Tensor | tuple[torch.Tensor | None, ...] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, ...]:
        return self.run(x, (hidden,), lengths)

    def step(
        self, name: str, state: tuple[torch.Tensor, ...], inputs: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, ...]:
        h, size = state[0], self.hidden_size
        in_r, in_z, in_n = inputs[0].chunk(3, 1)
        if self.reset_first:
            of_r, of_z = self.product(name, h, 0, 2 * size).chunk(2, 1)
            of_n = self.product(name, self.gate(in_r + of_r) * h, 2 * size, 3 * size)
        else:
            of_r, of_z, of_n = self.product(name, h, 0, 3 * size).chunk(3, 1)
            of_n = self.gate(in_r + of_r) * of_n
        z, n = self.gate(in_z + of_z), self.squash(in_n + of_n)
        after = (1.0 - z) * n + z * h
        return (torch.where(inputs[1], after, h) if inputs[1:] else after,)

    def product(self, name: str, h: torch.Tensor, start: int, end: int) -> torch.Tensor:
        """Multiply the hidden state by these rows of the recurrent weights."""
        projector, bias = getattr(self, f"output_projector_{name}"), getattr(self, f"bias_hh_{name}")
        projected = h if projector is None else h @ projector
        rows = getattr(self, f"weight_hh_{name}")[start:end]
        return nn.functional.linear(projected, rows, None if bias is None else bias[start:end])
