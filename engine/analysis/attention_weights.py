"""Attention weights: how much of each step every step takes, per layer and head."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import fx
from torch.overrides import TorchFunctionMode

from netwright.engine.analysis.activations import Found
from netwright.engine.analysis.subject import Sample, Subject
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.tokens import token_names
from netwright.engine.models.trained_model import DEVICE

MOST_STEPS = 512
"""Steps up to which weights are told whole; of more, evenly spaced ones."""
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


class _Watch(TorchFunctionMode):
    """Notes the weights of each attention that is computed inside."""

    def __init__(self) -> None:
        super().__init__()
        self.path = ""
        self.found: dict[str, list[torch.Tensor]] = {}

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
            self.found.setdefault(self.path, []).append(weights.detach().to(DEVICE))
        return result


class _Walk(fx.Interpreter):
    """Runs a module node by node, and says which layer of attention computes."""

    def __init__(self, module: fx.GraphModule, watch: _Watch, paths: set[str]) -> None:
        super().__init__(module)
        self._watch, self._paths = watch, paths

    def run_node(self, n: fx.Node) -> Any:
        path = n.meta.get("path", "")
        self._watch.path = path if path in self._paths else ""
        return super().run_node(n)


def attention(subject: Subject, sample: Sample, name: str) -> Found:
    """Return the attention weights of one layer, or of all: array `attention_n` (heads, queries, keys) for entry n of
    `told["layers"]`. `told["tokens"]` has the words or bytes of a text, where the input is one."""
    paths = {path for path, layer in subject.layers.items() if layer.family == "Attention"}
    watch = _Watch()
    with torch.no_grad(), watch:
        _Walk(subject.answering, watch, paths).run(*subject.placed(sample.inputs))
    findings = Found({"layers": [], "tokens": _tokens(subject, sample)})
    names = [subject.layers[path].name for path in watch.found]
    if not names:
        raise UserError(
            "This network has no attention layer. Use activations, which shows what any layer gives, or "
            "integrated_gradients and occlusion, which show what an answer follows from."
        )
    if name and name not in names and name not in watch.found:
        hint = did_you_mean(name, names)
        raise UserError(f"There is no attention layer {quoted(name)}.{hint} Choose one of {', '.join(names[:12])}.")
    for path, several in watch.found.items():
        layer = subject.layers[path].name
        for number, weights in enumerate(several):
            if name and name not in (layer, path):
                continue
            heads = weights[0].float().numpy()
            steps = [np.linspace(0, n - 1, min(n, MOST_STEPS)).round().astype(int) for n in heads.shape[1:]]
            findings.arrays[f"attention_{len(findings.told['layers'])}"] = heads[:, steps[0]][:, :, steps[1]]
            several_names = layer if len(several) == 1 else f"{layer}, {number + 1} of {len(several)}"
            findings.told["layers"].append({"name": several_names, "heads": len(heads), "steps": list(heads.shape[1:])})
    return findings


def _tokens(subject: Subject, sample: Sample) -> list[str]:
    """Return the tokens of the first text of a sample, empty where there is none."""
    for input_part, x in zip(subject.record.inputs, sample.inputs, strict=False):
        if input_part.text is not None:
            names = token_names(input_part.text)
            return [names[number] for number in x[0].tolist()[:MOST_STEPS]]
    return []
