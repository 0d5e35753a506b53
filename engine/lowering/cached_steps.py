"""A language model that computes its newest steps alone: attention keeps the keys and values of the steps before.

What the network gives for step t depends on the steps up to t where attention is causal and all other layers work on
each step by itself. Then keys and values of earlier steps never change, and a new token costs one step in place of a
whole sequence (Pope et al., Efficiently scaling transformer inference, 2022).
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import fx, nn
from torch.nn import functional

from netwright.engine.lowering.modules.arithmetic import add_all, average_of_all, geglu, squared_relu, swiglu
from netwright.engine.lowering.modules.attention import (
    GroupedAttention,
    PositionEmbedding,
    SelfAttention,
    SinusoidalPosition,
)
from netwright.engine.lowering.modules.normalization import DropPath, GaussianNoise
from netwright.engine.lowering.modules.transformers import TransformerEncoderLayer

CHANNELS = (2, -1)
"""The axis of the channels in sequences (batch, steps, channels)."""
STEPWISE = (nn.Linear, nn.Embedding, nn.Dropout, nn.AlphaDropout, nn.Identity, nn.LayerNorm, nn.RMSNorm)
OWN_STEPWISE = (DropPath, GaussianNoise)
ACTIVATIONS = "torch.nn.modules.activation"
FUNCTIONS = frozenset(
    {torch.add, torch.sub, torch.mul, torch.div, torch.neg, torch.exp, torch.clamp, torch.pow}
    | {add_all, average_of_all, squared_relu}
)
GATES = frozenset({swiglu, geglu})
METHODS = frozenset({"long", "float", "detach"})


class CachedNetwork:
    """A network of which each call computes the steps that follow those of the calls before."""

    def __init__(self, module: fx.GraphModule, memories: "list[Memory]") -> None:
        self._module, self._memories, self.num_seen = module, memories, 0
        self._device = next((parameter.device for parameter in module.parameters()), None)

    def forget(self) -> None:
        """Begin a new sequence."""
        self._go_on(0)

    @torch.inference_mode()
    def outputs(self, tokens: np.ndarray) -> np.ndarray:
        """Return the output (batch, T, classes) for the next tokens (batch, T)."""
        output: torch.Tensor = self._module(torch.from_numpy(tokens).to(self._device))
        self._go_on(self.num_seen + tokens.shape[1])
        array: np.ndarray = output.cpu().numpy()
        return array

    def _go_on(self, num_seen: int) -> None:
        self.num_seen = num_seen
        for memory in self._memories:
            memory.num_seen = num_seen


class Memory:
    """The steps before, as one layer keeps them: their number; and of attention, room for `most` keys and values."""

    def __init__(self, inner: Any, most: int) -> None:
        self.inner, self.most, self.num_seen = inner, most, 0
        self._kept: dict[str, torch.Tensor] = {}

    def with_earlier(self, name: str, new: torch.Tensor) -> torch.Tensor:
        """Keep the keys or values (batch, T, channels) of new steps, and return those of all steps so far."""
        room = self._kept.get(name)
        if room is None or len(room) != len(new):
            room = self._kept[name] = new.new_empty(len(new), self.most, new.shape[2])
        end = self.num_seen + new.shape[1]
        room[:, self.num_seen : end] = new
        return room[:, :end]

    def placed(self, x: torch.Tensor) -> torch.Tensor:
        """Compute a layer that tells positions, at the places of the new steps (batch, T, channels)."""
        y: torch.Tensor = self.inner(functional.pad(x, (0, 0, self.num_seen, 0)))
        return y[:, self.num_seen :]

    def attend(self, x: torch.Tensor, _: object = None) -> torch.Tensor:
        """Causal self-attention of new steps (batch, T, channels) to all steps so far."""
        inner, heads = self.inner, self.inner.heads
        key, value = (self.with_earlier(name, getattr(inner, name)(x)) for name in ("key", "value"))
        q, k, v = (torch.unflatten(part, 2, (heads, -1)).transpose(1, 2) for part in (inner.query(x), key, value))
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=self._mask(x, key))
        result: torch.Tensor = inner.result(mixed.transpose(1, 2).flatten(2))
        return result

    def attend_in_groups(self, x: torch.Tensor) -> torch.Tensor:
        """The same for attention whose heads share keys and values. Keys are kept as they are before they are
        turned."""
        inner = self.inner
        key, value = (
            torch.unflatten(self.with_earlier(name, getattr(inner, name)(x)), 2, (inner.groups, -1)).transpose(1, 2)
            for name in ("key", "value")
        )
        query = torch.unflatten(inner.query(x), 2, (inner.heads, -1)).transpose(1, 2)
        if inner.positions == "rotary":
            query = inner.turned(functional.pad(query, (0, 0, self.num_seen, 0)))[:, :, self.num_seen :]
            key = inner.turned(key)
        shares = inner.heads // inner.groups
        key, value = (part.repeat_interleave(shares, 1) for part in (key, value))
        mask = self._mask(x, key.transpose(1, 2))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        result: torch.Tensor = inner.result(mixed.transpose(1, 2).flatten(2))
        return result

    def _mask(self, x: torch.Tensor, keys: torch.Tensor) -> torch.Tensor | None:
        """Mask of the keys (batch, keys, ...) that each new step sees; None for one step, which sees all."""
        if x.shape[1] == 1:
            return None
        places = torch.arange(self.num_seen, self.num_seen + x.shape[1], device=x.device)
        return torch.arange(keys.shape[1], device=x.device) <= places.unsqueeze(1)


def cached(module: fx.GraphModule, most: int) -> CachedNetwork | None:
    """Return a network that computes its newest steps alone, of at most `most` in all, with the weights of `module`, as
    `netwright.engine.lowering.module.build` makes it. None where it has layers that look at other steps in ways that
    this does not know, or at later steps."""
    memories: list[Memory] = []
    held: dict[str, Any] = {}
    for node in module.graph.nodes:
        if node.op == "call_module":
            inner = module.get_submodule(str(node.target))
            twin = _twin(inner, most, memories)
            if twin is None:
                return None
            held[str(node.target)] = twin
        elif (node.op == "call_function" and not _is_stepwise(node)) or (
            node.op == "call_method" and node.target not in METHODS
        ):
            return None
    return CachedNetwork(fx.GraphModule(held, module.graph), memories)


def _twin(inner: nn.Module, most: int, memories: list[Memory]) -> nn.Module | None:
    """Return a module that computes new steps alone: the same one, or a copy with a memory."""
    if _is_known(inner):
        return inner
    way = _way(inner)
    if way is None:
        return None
    name, method = way
    memory = Memory(inner, most)
    memories.append(memory)
    twin = copy.copy(inner)
    twin.__dict__[name] = method.__get__(memory)
    return twin


def _way(inner: nn.Module) -> tuple[str, Callable[..., torch.Tensor]] | None:
    """Return which method of a layer has a form with a memory, and that form."""
    if isinstance(inner, PositionEmbedding | SinusoidalPosition):
        return "forward", Memory.placed
    if isinstance(inner, SelfAttention) and inner.causal and inner.scores == "none" and inner.scale is None:
        return "forward", Memory.attend
    if isinstance(inner, TransformerEncoderLayer) and inner.causal:
        return "self_attention", Memory.attend
    is_grouped = isinstance(inner, GroupedAttention) and inner.causal and inner.scores == "none"
    return ("forward", Memory.attend_in_groups) if is_grouped and inner.positions != "linear" else None


def _is_known(inner: nn.Module) -> bool:
    """Return whether a module works on each step by itself."""
    if isinstance(inner, nn.LayerNorm | nn.RMSNorm):
        return len(inner.normalized_shape) == 1
    if type(inner).__module__ == ACTIVATIONS and not isinstance(inner, nn.MultiheadAttention):
        return getattr(inner, "dim", -1) in CHANNELS and (not isinstance(inner, nn.PReLU) or inner.num_parameters == 1)
    return type(inner) in STEPWISE or isinstance(inner, OWN_STEPWISE)


def _is_stepwise(node: fx.Node) -> bool:
    """Return whether a function works on each step by itself."""
    return node.target in FUNCTIONS or (node.target in GATES and bool(node.args[1:]) and node.args[1] in CHANNELS)
