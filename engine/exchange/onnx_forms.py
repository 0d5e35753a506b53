"""Forms of modules that the ONNX exporter supports for every batch size and length."""

import copy
import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx, nn
from torch._higher_order_ops.scan import scan
from torch.onnx.ops import symbolic, symbolic_multi_out

from netwright.engine.exchange.foreign_operators import ForeignOperator
from netwright.engine.lowering.module import LAYER
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator
from netwright.engine.lowering.modules.recurrent import PlainStates, RecurrentLoop

ADAPTIVE_POOLS: dict[type[nn.Module], bool] = {
    nn.AdaptiveAvgPool1d: False,
    nn.AdaptiveAvgPool2d: False,
    nn.AdaptiveAvgPool3d: False,
    nn.AdaptiveMaxPool1d: True,
    nn.AdaptiveMaxPool2d: True,
    nn.AdaptiveMaxPool3d: True,
}
TransposedConv = nn.ConvTranspose1d | nn.ConvTranspose2d | nn.ConvTranspose3d
TRANSPOSED: dict[type[nn.Module], Callable[..., torch.Tensor]] = {
    nn.ConvTranspose1d: nn.functional.conv_transpose1d,
    nn.ConvTranspose2d: nn.functional.conv_transpose2d,
    nn.ConvTranspose3d: nn.functional.conv_transpose3d,
}
Tensors = tuple[torch.Tensor, ...]
MARK = "__operation_"
"""Ends the names of further modules of one layer; a number follows."""
DIRECTIONS = {1: "forward", 2: "bidirectional"}
ORDERS = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN_TANH": (0,), "RNN_RELU": (0,)}
"""Rows of torch's gates in the order of ONNX: input, output, forget, cell of an LSTM; update, reset, new of a GRU."""


class AdaptivePool(nn.Module):
    """Adaptive pooling of one axis after the other: cell i of n spans floor(i size / n) to ceil((i + 1) size / n)."""

    def __init__(self, cells: tuple[int, ...], *, takes_max: bool) -> None:
        super().__init__()
        self.cells = cells
        self.takes_max = takes_max

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for dim, count in enumerate(self.cells, x.dim() - len(self.cells)):
            x = torch.stack([self._cell(x, dim, index, count) for index in range(count)], dim)
        return x

    def _cell(self, x: torch.Tensor, dim: int, index: int, count: int) -> torch.Tensor:
        size = x.shape[dim]
        start, end = index * size // count, ((index + 1) * size + count - 1) // count
        cell = x[(slice(None),) * dim + (slice(start, end),)]
        return cell.amax(dim) if self.takes_max else cell.mean(dim)


class LogSigmoid(nn.Module):
    """log(1 / (1 + exp(-x))) as -softplus(-x). The exporter's form, the logarithm of a sigmoid, is wrong below -18:
    there ONNX Runtime's sigmoid is constant."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        negative: torch.Tensor = symbolic("Softplus", (-x,), dtype=x.dtype, shape=x.shape)
        return -negative


class PaddedTransposedConv(nn.Module):
    """A transposed convolution of which `output_padding` reaches the stride, as torch allows below the dilation.

    ONNX Runtime 1.31 refuses such an operator. The output is the whole one, with its start cropped and its end cropped
    or padded with zeros, plus the bias.
    """

    def __init__(self, conv: TransposedConv) -> None:
        super().__init__()
        self.weight, self.bias = conv.weight, conv.bias
        self.options = {"stride": conv.stride, "groups": conv.groups, "dilation": conv.dilation}
        self.convolve = TRANSPOSED[type(conv)]
        pairs = list(zip(_sizes(conv.padding), conv.output_padding, strict=True))
        self.ends = [size for cropped, added in reversed(pairs) for size in (-cropped, added - cropped)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.pad(self.convolve(x, self.weight, **self.options), self.ends)
        return y if self.bias is None else y + self.bias.view(-1, *[1] * (y.dim() - 2))


def _sizes(padding: str | tuple[int, ...]) -> tuple[int, ...]:
    """Return the cropping of a transposed convolution, which torch does not name with words."""
    assert not isinstance(padding, str)
    return padding


def _is_refused(part: TransposedConv) -> bool:
    """Return whether ONNX Runtime refuses the operator of a transposed convolution."""
    return any(added >= int(step) for added, step in zip(part.output_padding, part.stride, strict=True))


def _scan(part: RecurrentLoop, name: str, state: Tensors, given: Tensors) -> tuple[Tensors, torch.Tensor]:
    """Compute a recurrent layer with a `scan` operator, for any number of steps, instead of an unrolled loop.

    Return the final state and the output of each step."""

    def step(state: Tensors, given: Tensors) -> tuple[Tensors, torch.Tensor]:
        after = part.step(name, state, given)
        return after, after[0].clone()

    end, rows = scan(step, tuple(part.clone() for part in state), given, dim=0)
    return end, rows


class Recurrent(nn.Module):
    """A recurrent layer of torch as operators of ONNX, one per stacked layer.

    The exporter's own form of torch's operators writes the length of the example into the shapes of what follows (seen
    in torch 2.13), so that two recurrent layers in series would run at that length alone.
    """

    def __init__(self, part: nn.RNNBase) -> None:
        super().__init__()
        self.mode, self.hidden_size, self.num_layers = part.mode, part.hidden_size, part.num_layers
        self.batch_first, self.directions = part.batch_first, 2 if part.bidirectional else 1
        for layer in range(part.num_layers):
            names = [f"l{layer}{suffix}" for suffix in ("", "_reverse")[: self.directions]]
            for kind in ("weight_ih", "weight_hh"):
                rows = [self._ordered(getattr(part, f"{kind}_{name}")) for name in names]
                self.register_buffer(f"{kind}_l{layer}", torch.stack(rows))
            biases = [
                torch.cat([self._ordered(getattr(part, f"{kind}_{name}")) for kind in ("bias_ih", "bias_hh")])
                for name in names
                if part.bias
            ]
            self.register_buffer(f"bias_l{layer}", torch.stack(biases) if biases else None)

    def _ordered(self, rows: torch.Tensor) -> torch.Tensor:
        gates = rows.detach().split(self.hidden_size)  # type: ignore[no-untyped-call]
        return torch.cat([gates[place] for place in ORDERS[self.mode]])

    def forward(
        self, x: torch.Tensor, state: torch.Tensor | Tensors | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | Tensors]:
        """Return what torch's layer returns: all outputs, and the state (layers · directions, N, H) at the end."""
        x = x.transpose(0, 1) if self.batch_first else x
        states = () if state is None else (state,) if isinstance(state, torch.Tensor) else state
        ends = []
        for layer in range(self.num_layers):
            start = slice(layer * self.directions, (layer + 1) * self.directions)
            y, *end = self._layer(x, layer, tuple(part[start] for part in states))
            x = y.transpose(1, 2).flatten(2)
            ends.append(end)
        after = tuple(torch.cat(parts) for parts in zip(*ends, strict=True))
        return (x.transpose(0, 1) if self.batch_first else x), after if len(after) > 1 else after[0]

    def _layer(self, x: torch.Tensor, layer: int, states: Tensors) -> Sequence[torch.Tensor]:
        """Return all outputs (T, directions, N, H) and the states (directions, N, H) at the end of one layer."""
        operator, _, activation = self.mode.partition("_")
        weights = (getattr(self, f"{kind}_l{layer}") for kind in ("weight_ih", "weight_hh", "bias"))
        attributes: dict[str, Any] = {"hidden_size": self.hidden_size, "direction": DIRECTIONS[self.directions]}
        attributes |= {"linear_before_reset": 1} if operator == "GRU" else {}
        attributes |= {"activations": [activation.capitalize()] * self.directions} if activation else {}
        end = (self.directions, x.shape[1], self.hidden_size)
        shapes = [(x.shape[0], *end), *[end] * (2 if operator == "LSTM" else 1)]
        inputs = (x, *weights, None, *states)
        return symbolic_multi_out(operator, inputs, attributes, dtypes=[x.dtype] * len(shapes), shapes=shapes)


def _read(
    recurrent: Recurrent, x: torch.Tensor, state: torch.Tensor | Tensors | None, _lengths: None
) -> tuple[torch.Tensor, torch.Tensor | Tensors]:
    """Compute a layer of `PlainStates`, whose sequences have one length in an export."""
    results: tuple[torch.Tensor, torch.Tensor | Tensors] = recurrent(x, state)
    return results


class Operation(nn.Module):
    """A function, or a method of a tensor, as a module: the exporter names what it computes after the module."""

    def __init__(self, node: fx.Node) -> None:
        super().__init__()
        self.target: Callable[..., Any] | str = node.target

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the function of the arguments, or the method of the first one."""
        if isinstance(self.target, str):
            return getattr(args[0], self.target)(*args[1:], **kwargs)
        return self.target(*args, **kwargs)


def exportable(module: fx.GraphModule) -> fx.GraphModule:
    """Return a copy of the network that shares its weights, with modules that the exporter supports. Layers that are
    functions become modules of their names."""
    copied = copy.deepcopy(module, {id(p): p for p in (*module.parameters(), *module.buffers())})
    for name, part in module.named_modules():
        if type(part) in ADAPTIVE_POOLS:
            dims = int(type(part).__name__[-2])
            output_size = part.output_size
            cells = output_size if isinstance(output_size, tuple) else (output_size,) * dims
            copied.set_submodule(name, AdaptivePool(cells, takes_max=ADAPTIVE_POOLS[type(part)]))
        elif isinstance(part, nn.LogSigmoid):
            copied.set_submodule(name, LogSigmoid())
        elif isinstance(part, TransposedConv) and _is_refused(part):
            copied.set_submodule(name, PaddedTransposedConv(part))
        elif isinstance(part, nn.RReLU):
            copied.set_submodule(name, nn.LeakyReLU((part.lower + part.upper) / 2))
        elif isinstance(part, nn.RNNBase) and not part.proj_size:
            recurrent = Recurrent(part)
            if isinstance(part, PlainStates):
                stateful = copied.get_submodule(name)
                stateful.operators = recurrent
                stateful.read = functools.partial(_read, recurrent)  # type: ignore[assignment]
            else:
                copied.set_submodule(name, recurrent)
        elif isinstance(part, OnnxOperator):
            copied.set_submodule(name, ForeignOperator(part, name))
        elif isinstance(part, RecurrentLoop):
            loop = copied.get_submodule(name)
            loop.walk = functools.partial(_scan, loop)  # type: ignore[arg-type, assignment]
    _wrap_operations(copied)
    return copied


def _wrap_operations(module: fx.GraphModule) -> None:
    """Replace the calls of functions and methods by modules, in place."""
    for node in list(module.graph.nodes):
        layer = node.meta.get(LAYER)
        if node.op not in ("call_function", "call_method") or node.target is operator.getitem or layer is None:
            continue
        module_names = {name for name, _ in module.named_modules()}
        path = layer.replace("/", ".")
        names = itertools.chain((path,), (f"{path}{MARK}{number}" for number in itertools.count(2)))
        name = next(name for name in names if name not in module_names)
        module.add_submodule(name, Operation(node))
        with module.graph.inserting_before(node):
            call = module.graph.call_module(name, node.args, node.kwargs)
        call.meta = node.meta
        node.replace_all_uses_with(call)
        module.graph.erase_node(node)
    module.recompile()
