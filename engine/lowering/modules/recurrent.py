"""Recurrent layers that torch does not have, or that give and take their state as plain tensors.

A state is (batch, numbers): what torch keeps as (layers × directions, batch, hidden) lies side by side in it.
"""

import torch
from torch import nn


class StatefulRnn(nn.RNN):
    """torch's RNN that takes its state, if given, and returns the output, with the state if told to.

    `lengths` tell where the sequences of a batch end: the state is that of their last step.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        nonlinearity: str = "tanh",
        last: bool = False,
        states: bool = False,
    ) -> None:
        super().__init__(
            input_size, hidden_size, num_layers, nonlinearity, batch_first=True, bidirectional=bidirectional
        )
        self.last = last
        self.states = states

    def forward(self, x: torch.Tensor, hidden: torch.Tensor | None = None, lengths=None):  # type: ignore
        given = (
            None if hidden is None else torch.unflatten(hidden, 1, (-1, self.hidden_size)).transpose(0, 1).contiguous()
        )
        lengths = lengths[0] if isinstance(lengths, tuple) else lengths
        if lengths is None:
            y, h = super().forward(x, given)
        else:
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            rows, h = super().forward(packed, given)
            y = nn.utils.rnn.pad_packed_sequence(rows, batch_first=True, total_length=x.shape[1])[0]
        if self.last:
            y = h[-2:].transpose(0, 1).flatten(1) if self.bidirectional else h[-1]
        return (y, h.transpose(0, 1).flatten(1)) if self.states else y


class StatefulGru(nn.GRU):
    """torch's GRU that takes its state, if given, and returns the output, with the state if told to.

    `lengths` tell where the sequences of a batch end: the state is that of their last step.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        last: bool = False,
        states: bool = False,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, batch_first=True, bidirectional=bidirectional)
        self.last = last
        self.states = states

    def forward(self, x: torch.Tensor, hidden: torch.Tensor | None = None, lengths=None):  # type: ignore
        given = (
            None if hidden is None else torch.unflatten(hidden, 1, (-1, self.hidden_size)).transpose(0, 1).contiguous()
        )
        lengths = lengths[0] if isinstance(lengths, tuple) else lengths
        if lengths is None:
            y, h = super().forward(x, given)
        else:
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            rows, h = super().forward(packed, given)
            y = nn.utils.rnn.pad_packed_sequence(rows, batch_first=True, total_length=x.shape[1])[0]
        if self.last:
            y = h[-2:].transpose(0, 1).flatten(1) if self.bidirectional else h[-1]
        return (y, h.transpose(0, 1).flatten(1)) if self.states else y


class StatefulLstm(nn.LSTM):
    """torch's LSTM that takes its hidden and cell state, if given, and returns the output, with both if told to.

    `lengths` tell where the sequences of a batch end: the states are those of their last step.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        last: bool = False,
        states: bool = False,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, batch_first=True, bidirectional=bidirectional)
        self.last = last
        self.states = states

    def forward(self, x: torch.Tensor, hidden=None, cell=None, lengths=None):  # type: ignore
        given = None
        if hidden is not None and cell is not None:
            h, c = (torch.unflatten(state, 1, (-1, self.hidden_size)).transpose(0, 1) for state in (hidden, cell))
            given = (h.contiguous(), c.contiguous())
        lengths = lengths[0] if isinstance(lengths, tuple) else lengths
        if lengths is None:
            y, (h, c) = super().forward(x, given)
        else:
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            rows, (h, c) = super().forward(packed, given)
            y = nn.utils.rnn.pad_packed_sequence(rows, batch_first=True, total_length=x.shape[1])[0]
        if self.last:
            y = h[-2:].transpose(0, 1).flatten(1) if self.bidirectional else h[-1]
        return (y, h.transpose(0, 1).flatten(1), c.transpose(0, 1).flatten(1)) if self.states else y


class LstmLoop(nn.Module):
    """An LSTM that goes step by step: with other activations, peepholes, or projected weights. Slower than torch's.

    Gates stand in torch's order, input, forget, cell, output; peepholes in the order input, forget, output. Behind the
    end of a sequence that `lengths` tell of, the state stays.
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
        super().__init__()
        self.hidden_size = hidden_size
        self.gate_activation = gate_activation
        self.state_activation = state_activation
        self.last = last
        self.states = states
        self.suffixes = ("", "_reverse") if bidirectional else ("",)
        self.num_layers = num_layers
        for layer in range(num_layers):
            reads = hidden_size * len(self.suffixes) if layer else input_size
            for suffix in self.suffixes:
                name = f"l{layer}{suffix}"
                self.add(f"weight_ih_{name}", 4 * hidden_size, input_projector or reads)
                self.add(f"weight_hh_{name}", 4 * hidden_size, output_projector or hidden_size)
                self.add(f"bias_ih_{name}", 4 * hidden_size)
                self.add(f"bias_hh_{name}", *((4 * hidden_size,) if recurrent_bias else ()))
                self.add(f"peephole_{name}", *((3 * hidden_size,) if peephole else ()))
                self.add(f"input_projector_{name}", *((reads, input_projector) if input_projector else ()))
                self.add(f"output_projector_{name}", *((hidden_size, output_projector) if output_projector else ()))

    def add(self, name: str, *sizes: int) -> None:
        """A parameter, small and random as in torch's recurrent layers; none without sizes."""
        bound = self.hidden_size**-0.5
        self.register_parameter(name, nn.Parameter(torch.empty(sizes).uniform_(-bound, bound)) if sizes else None)

    def forward(
        self,
        x: torch.Tensor,
        hidden: torch.Tensor | None = None,
        cell: torch.Tensor | None = None,
        lengths: torch.Tensor | tuple[torch.Tensor | None, ...] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, ...]:
        lengths = lengths[0] if isinstance(lengths, tuple) else lengths
        x = x.transpose(0, 1)
        count = self.num_layers * len(self.suffixes)
        none = torch.zeros((x.shape[1], self.hidden_size * count), dtype=x.dtype, device=x.device)
        hiddens = (none if hidden is None else hidden).chunk(count, 1)
        cells = (none if cell is None else cell).chunk(count, 1)
        inside: tuple[torch.Tensor, ...] = ()
        if lengths is not None:
            inside = ((torch.arange(x.shape[0], device=x.device).unsqueeze(1) < lengths).unsqueeze(2),)
        ends: list[tuple[torch.Tensor, ...]] = []
        for layer in range(self.num_layers):
            rows = []
            for suffix in self.suffixes:
                start = (hiddens[len(ends)], cells[len(ends)])
                end, y = self.read(x, f"l{layer}{suffix}", start, inside)
                ends.append(end)
                rows.append(y)
            x = torch.cat(rows, 2)
        h, c = (torch.cat([end[index] for end in ends], 1) for index in range(2))
        y = h[:, -self.hidden_size * len(self.suffixes) :] if self.last else x.transpose(0, 1)
        return (y, h, c) if self.states else y

    def read(
        self, x: torch.Tensor, name: str, start: tuple[torch.Tensor, ...], inside: tuple[torch.Tensor, ...]
    ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """One layer in one direction over steps × batch × channels: the state at the end, and what each step gives."""
        projector = getattr(self, f"input_projector_{name}")
        x = x if projector is None else x @ projector
        given = nn.functional.linear(x, getattr(self, f"weight_ih_{name}"), getattr(self, f"bias_ih_{name}"))
        if not name.endswith("_reverse"):
            return self.walk(name, start, (given, *inside))
        end, y = self.walk(name, start, (given.flip(0), *(part.flip(0) for part in inside)))
        return end, y.flip(0)

    def walk(
        self, name: str, state: tuple[torch.Tensor, ...], given: tuple[torch.Tensor, ...]
    ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """The state after all steps, and its first tensor after each."""
        rows = []
        for now in zip(*(part.unbind(0) for part in given), strict=True):
            state = self.step(name, state, now)
            rows.append(state[0])
        return state, torch.stack(rows)

    def step(
        self, name: str, state: tuple[torch.Tensor, ...], given: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, ...]:
        """The state after one step. It stays where a second given tensor is not true."""
        h, c = state
        projector, peephole = getattr(self, f"output_projector_{name}"), getattr(self, f"peephole_{name}")
        shown = h if projector is None else h @ projector
        of_h = nn.functional.linear(shown, getattr(self, f"weight_hh_{name}"), getattr(self, f"bias_hh_{name}"))
        i, f, g, o = (given[0] + of_h).chunk(4, 1)
        if peephole is not None:
            i = i + peephole[: self.hidden_size] * c
            f = f + peephole[self.hidden_size : 2 * self.hidden_size] * c
        new = self.gate(f) * c + self.gate(i) * self.squash(g)
        if peephole is not None:
            o = o + peephole[2 * self.hidden_size :] * new
        after = self.gate(o) * self.squash(new), new
        return tuple(torch.where(given[1], a, b) for a, b in zip(after, state, strict=True)) if given[1:] else after

    def gate(self, x: torch.Tensor) -> torch.Tensor:
        """From 0 to 1. MATLAB's hard sigmoid rises by 0.2, torch's by 1/6."""
        return x.sigmoid() if self.gate_activation == "sigmoid" else (0.2 * x + 0.5).clamp(0.0, 1.0)

    def squash(self, x: torch.Tensor) -> torch.Tensor:
        """What enters and leaves the memory."""
        if self.state_activation == "softsign":
            return x / (1.0 + x.abs())
        return x.relu() if self.state_activation == "relu" else x.tanh()


class GruLoop(nn.Module):
    """A GRU that goes step by step: with other reset gates or activations, or projected weights. Slower than torch's.

    Gates stand in torch's order, reset, update, new. `reset_first`: the reset gate works on the state before it is
    multiplied. Behind the end of a sequence that `lengths` tell of, the state stays.
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
        super().__init__()
        self.hidden_size = hidden_size
        self.gate_activation = gate_activation
        self.state_activation = state_activation
        self.reset_first = reset_first
        self.last = last
        self.states = states
        self.suffixes = ("", "_reverse") if bidirectional else ("",)
        self.num_layers = num_layers
        for layer in range(num_layers):
            reads = hidden_size * len(self.suffixes) if layer else input_size
            for suffix in self.suffixes:
                name = f"l{layer}{suffix}"
                self.add(f"weight_ih_{name}", 3 * hidden_size, input_projector or reads)
                self.add(f"weight_hh_{name}", 3 * hidden_size, output_projector or hidden_size)
                self.add(f"bias_ih_{name}", 3 * hidden_size)
                self.add(f"bias_hh_{name}", *((3 * hidden_size,) if recurrent_bias else ()))
                self.add(f"input_projector_{name}", *((reads, input_projector) if input_projector else ()))
                self.add(f"output_projector_{name}", *((hidden_size, output_projector) if output_projector else ()))

    def add(self, name: str, *sizes: int) -> None:
        """A parameter, small and random as in torch's recurrent layers; none without sizes."""
        bound = self.hidden_size**-0.5
        self.register_parameter(name, nn.Parameter(torch.empty(sizes).uniform_(-bound, bound)) if sizes else None)

    def forward(
        self,
        x: torch.Tensor,
        hidden: torch.Tensor | None = None,
        lengths: torch.Tensor | tuple[torch.Tensor | None, ...] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, ...]:
        lengths = lengths[0] if isinstance(lengths, tuple) else lengths
        x = x.transpose(0, 1)
        count = self.num_layers * len(self.suffixes)
        none = torch.zeros((x.shape[1], self.hidden_size * count), dtype=x.dtype, device=x.device)
        hiddens = (none if hidden is None else hidden).chunk(count, 1)
        inside: tuple[torch.Tensor, ...] = ()
        if lengths is not None:
            inside = ((torch.arange(x.shape[0], device=x.device).unsqueeze(1) < lengths).unsqueeze(2),)
        ends: list[torch.Tensor] = []
        for layer in range(self.num_layers):
            rows = []
            for suffix in self.suffixes:
                end, y = self.read(x, f"l{layer}{suffix}", hiddens[len(ends)], inside)
                ends.append(end)
                rows.append(y)
            x = torch.cat(rows, 2)
        h = torch.cat(ends, 1)
        y = h[:, -self.hidden_size * len(self.suffixes) :] if self.last else x.transpose(0, 1)
        return (y, h) if self.states else y

    def read(
        self, x: torch.Tensor, name: str, start: torch.Tensor, inside: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """One layer in one direction over steps × batch × channels: the state at the end, and what each step gives."""
        projector = getattr(self, f"input_projector_{name}")
        x = x if projector is None else x @ projector
        given = nn.functional.linear(x, getattr(self, f"weight_ih_{name}"), getattr(self, f"bias_ih_{name}"))
        if not name.endswith("_reverse"):
            (end,), y = self.walk(name, (start,), (given, *inside))
            return end, y
        (end,), y = self.walk(name, (start,), (given.flip(0), *(part.flip(0) for part in inside)))
        return end, y.flip(0)

    def walk(
        self, name: str, state: tuple[torch.Tensor, ...], given: tuple[torch.Tensor, ...]
    ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """The state after all steps, and its first tensor after each."""
        rows = []
        for now in zip(*(part.unbind(0) for part in given), strict=True):
            state = self.step(name, state, now)
            rows.append(state[0])
        return state, torch.stack(rows)

    def step(
        self, name: str, state: tuple[torch.Tensor, ...], given: tuple[torch.Tensor, ...]
    ) -> tuple[torch.Tensor, ...]:
        """The state after one step. It stays where a second given tensor is not true."""
        h, size = state[0], self.hidden_size
        in_r, in_z, in_n = given[0].chunk(3, 1)
        if self.reset_first:
            of_r, of_z = self.product(name, h, 0, 2 * size).chunk(2, 1)
            of_n = self.product(name, self.gate(in_r + of_r) * h, 2 * size, 3 * size)
        else:
            of_r, of_z, of_n = self.product(name, h, 0, 3 * size).chunk(3, 1)
            of_n = self.gate(in_r + of_r) * of_n
        z, n = self.gate(in_z + of_z), self.squash(in_n + of_n)
        after = (1.0 - z) * n + z * h
        return (torch.where(given[1], after, h) if given[1:] else after,)

    def product(self, name: str, h: torch.Tensor, start: int, end: int) -> torch.Tensor:
        """Some rows of what the state gives."""
        projector, bias = getattr(self, f"output_projector_{name}"), getattr(self, f"bias_hh_{name}")
        shown = h if projector is None else h @ projector
        rows = getattr(self, f"weight_hh_{name}")[start:end]
        return nn.functional.linear(shown, rows, None if bias is None else bias[start:end])

    def gate(self, x: torch.Tensor) -> torch.Tensor:
        """From 0 to 1. MATLAB's hard sigmoid rises by 0.2, torch's by 1/6."""
        return x.sigmoid() if self.gate_activation == "sigmoid" else (0.2 * x + 0.5).clamp(0.0, 1.0)

    def squash(self, x: torch.Tensor) -> torch.Tensor:
        """What the new state is made by."""
        if self.state_activation == "softsign":
            return x / (1.0 + x.abs())
        return x.relu() if self.state_activation == "relu" else x.tanh()
