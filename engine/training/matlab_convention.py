"""MATLAB's formulas where torch's are others, for the option `convention`.

Source: MathWorks' pages of `trainingOptions` (stochastic gradient descent with momentum, RMSProp, Adam, gradient
clipping, L2 regularisation) and of `lstmLayer`.

- L2 regularisation is added to the gradient before the gradient threshold; torch's optimizers add it after.
- The velocity of sgdm contains the rate: w[t+1] = w[t] - rate · g + momentum · (w[t] - w[t-1]). After a drop of
  the rate the old rate goes on in it; torch multiplies its whole velocity by the new rate.
- Adam adds epsilon to the root of v before the bias of v is corrected (Kingma and Ba, the order at the end of section
  2); torch after. RMSProp adds it to the root in both.
- An LSTM has one bias; torch has two that are added, so that their sum learns twice as fast.

What MATLAB does not have (adamw, nadam, Nesterov momentum) keeps torch's formula.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from netwright.engine.lowering.modules.recurrent import LstmLoop
from netwright.engine.parallel.tensor_shards import local_shard
from netwright.engine.project.training import TrainingOptions

Group = dict[str, Any]


class MatlabConvention:
    """Changes gradients and settings of torch's optimizers so that their updates are MATLAB's."""

    def __init__(self, options: TrainingOptions, groups: list[Group]) -> None:
        """Take L2 regularisation out of the groups where the optimizer would add it at the wrong place.

        Without a threshold the place counts for sgdm alone. For adamw it is no part of the gradient.
        """
        self._options = options
        self._num_updates = 0
        self._l2: list[tuple[list[nn.Parameter], float]] = []
        is_limited = math.isfinite(options.gradient_threshold)
        if options.solver == "sgdm" or (is_limited and options.solver != "adamw"):
            self._l2 = [(group["params"], group["weight_decay"]) for group in groups if group["weight_decay"]]
            for group in groups:
                group["weight_decay"] = 0.0

    @torch.no_grad()
    def regularize(self) -> None:
        """Add L2 regularisation to the gradients."""
        for parameters, l2 in self._l2:
            with_gradients = [p for p in parameters if p.grad is not None]
            if with_gradients:
                weights = [local_shard(p.detach()) for p in with_gradients]
                torch._foreach_add_(list(_gradients(with_gradients)), weights, alpha=l2)

    @torch.no_grad()
    def before_update(self, groups: list[Group], rate: float) -> None:
        """Set what the next update needs; for sgdm the gradients are multiplied by the learn rate."""
        self._num_updates += 1
        if self._options.solver == "sgdm":
            for group in groups:
                group["lr"] = 1.0
                if gradients := list(_gradients(group["params"])):
                    torch._foreach_mul_(gradients, rate * group["learn_rate_factor"])
        elif self._options.solver == "adam":
            # m / (sqrt(v) + e) with corrected m and v is that with v as it is, where e is divided by the correction.
            correction = math.sqrt(1.0 - self._options.squared_gradient_decay_factor**self._num_updates)
            for group in groups:
                group["eps"] = self._options.epsilon / correction

    def load_optimizer_state(self, state: dict[str, Any]) -> None:
        """Count updates on from the state of an optimizer."""
        counts = [int(moments["step"]) for moments in state["state"].values() if "step" in moments]
        self._num_updates = max(counts, default=0)


def _gradients(parameters: list[nn.Parameter]) -> Iterator[torch.Tensor]:
    return (local_shard(p.grad) for p in parameters if p.grad is not None)


@torch.no_grad()
def join_biases(network: nn.Module) -> None:
    """Give each LSTM one bias that learns: that of the state is added to that of the input, becomes zero and stays so.

    A GRU keeps its two where MATLAB has them too (`recurrent-bias-after-multiplication`), and has one otherwise.
    """
    for module in network.modules():
        if not isinstance(module, nn.LSTM | LstmLoop):
            continue
        by_name = dict(module.named_parameters(recurse=False))
        for name, bias in by_name.items():
            if name.startswith("bias_hh") and bias.requires_grad:
                by_name[name.replace("_hh", "_ih")].add_(bias)
                bias.zero_()
                bias.requires_grad_(False)
