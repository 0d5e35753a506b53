"""Attention weights of a lowered network: how much of each step every step takes, per layer and head."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import fx
from torch.overrides import TorchFunctionMode

MOST_STEPS = 512
"""Steps up to which weights are given whole; of more, evenly spaced ones."""
SCORE_AXES = 4
"""Scores of attention are (batch, heads, queries, keys)."""


def weights_of(
    query: torch.Tensor,
    key: torch.Tensor,
    mask: torch.Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> torch.Tensor:
    """Return the weights (..., queries, keys) that `scaled_dot_product_attention` uses; each row adds to one."""
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        causal_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~causal_mask, float("-inf"))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    return scores.softmax(-1)


def attention_weights(
    module: fx.GraphModule, inputs: Sequence[torch.Tensor], paths: Collection[str]
) -> dict[str, list[torch.Tensor]]:
    """Return the weights (heads, queries, keys) of the first sample in each attention that the layers with these id
    paths compute, on the CPU. Runs the module once, without gradients, and without a compiler or the hooks of DDP."""
    watch = _Watch()
    with torch.no_grad(), watch:
        _Walk(module, watch, paths).run(*inputs)
    return watch.weights


def spaced(weights: torch.Tensor, most: int = MOST_STEPS) -> np.ndarray[Any, Any]:
    """Return weights (heads, queries, keys) of at most so many queries and keys, evenly spaced."""
    rows, columns = (np.linspace(0, n - 1, min(n, most)).round().astype(int) for n in weights.shape[1:])
    heads: np.ndarray[Any, Any] = weights.float().numpy()
    return heads[:, rows][:, :, columns]


class _Watch(TorchFunctionMode):
    """Notes the weights of each attention that is computed inside."""

    def __init__(self) -> None:
        super().__init__()
        self.path = ""
        self.weights: dict[str, list[torch.Tensor]] = {}

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        keywords = dict(kwargs or {})
        result = func(*args, **keywords)
        weights = None
        if func is torch.nn.functional.scaled_dot_product_attention:
            mask = args[3] if len(args) > 3 else keywords.get("attn_mask")
            weights = weights_of(args[0], args[1], mask, bool(keywords.get("is_causal")), keywords.get("scale"))
        elif func is torch.Tensor.softmax and result.ndim == SCORE_AXES:
            weights = result
        if weights is not None and self.path:
            self.weights.setdefault(self.path, []).append(weights[0].detach().cpu())
        return result


class _Walk(fx.Interpreter):
    """Runs a module node by node, and says which layer of attention computes."""

    def __init__(self, module: fx.GraphModule, watch: _Watch, paths: Collection[str]) -> None:
        super().__init__(module)
        self._watch, self._paths = watch, paths

    def run_node(self, n: fx.Node) -> Any:
        path = n.meta.get("path", "")
        self._watch.path = path if path in self._paths else ""
        return super().run_node(n)
