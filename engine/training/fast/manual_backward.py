"""Forward, loss and backward of a plain chain of layers straight on torch's kernels, without autograd.

On small networks autograd takes a third of a step's time: it notes down what is computed, and starts an engine that
reads the notes. Of a chain of fully connected layers, activations and dropout the way back is known in advance, and the
same kernels in the same order give the same bits. Nothing of that is taken on trust: the first batch of each size is
computed both ways, and wherever loss, outputs or gradients differ in a single bit the run stays with autograd.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch
from torch import fx, nn
from torch.nn import functional

from engine.data.batches import Batch
from engine.lowering.modules.normalization import Normalize
from engine.training.losses import Loss, SingleOutputLoss, cross_entropy, half_mse, mse

aten = torch.ops.aten
_SUM = 2
"""The reduction of torch's kernels for losses."""


class Link(Protocol):
    """A layer of the chain."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, Any]:
        """What comes out, and what the way back takes."""

    def backward(self, gradient: torch.Tensor, kept: Any, *, goes_on: bool) -> torch.Tensor:
        """Set the gradients of its weights; the gradient of what came in, where the way back goes on."""


class _Linear:
    """A fully connected layer: y = x Wᵀ + b."""

    def __init__(self, module: nn.Linear) -> None:
        self._weight, self._bias = module.weight, module.bias

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return functional.linear(x, self._weight, self._bias), x

    def backward(self, gradient: torch.Tensor, kept: torch.Tensor, *, goes_on: bool) -> torch.Tensor:
        if self._weight.requires_grad:
            self._weight.grad = torch.mm(gradient.t(), kept)
        if self._bias is not None and self._bias.requires_grad:
            self._bias.grad = gradient.sum(0)
        return torch.mm(gradient, self._weight) if goes_on else gradient


class _Dropout:
    """Each number is nothing with the probability p, and larger by 1 / (1 - p) else."""

    def __init__(self, module: nn.Dropout) -> None:
        self._stays = 1.0 - module.p

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        noise = torch.empty_like(x).bernoulli_(self._stays).div_(self._stays)
        return x * noise, noise

    def backward(self, gradient: torch.Tensor, kept: torch.Tensor, *, goes_on: bool) -> torch.Tensor:
        return gradient * kept


Slope = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Of an activation: the gradient of what came in, given that of what came out and what is kept."""


class _Activation:
    """A function of each number."""

    def __init__(self, module: nn.Module, slope: Slope, *, of_output: bool = False) -> None:
        """`of_output`: the way back takes what came out, not what came in."""
        self._function, self._slope, self._of_output = module.forward, slope, of_output

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self._function(x)
        return y, y if self._of_output else x

    def backward(self, gradient: torch.Tensor, kept: torch.Tensor, *, goes_on: bool) -> torch.Tensor:
        return self._slope(gradient, kept)


def _leaky_relu(module: Any, gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    slope: torch.Tensor = aten.leaky_relu_backward.default(gradient, x, module.negative_slope, False)
    return slope


def _elu(module: Any, gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    slope: torch.Tensor = aten.elu_backward.default(gradient, module.alpha, 1.0, 1.0, False, x)
    return slope


def _gelu(module: Any, gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    slope: torch.Tensor = aten.gelu_backward.default(gradient, x, approximate=module.approximate)
    return slope


def _relu(gradient: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    slope: torch.Tensor = aten.threshold_backward.default(gradient, y, 0)
    return slope


_MAKERS: dict[type[nn.Module], Callable[[Any], Link]] = {
    nn.Linear: _Linear,
    nn.Dropout: _Dropout,
    nn.ReLU: lambda module: _Activation(module, _relu, of_output=True),
    nn.Tanh: lambda module: _Activation(module, aten.tanh_backward.default, of_output=True),
    nn.Sigmoid: lambda module: _Activation(module, aten.sigmoid_backward.default, of_output=True),
    nn.SiLU: lambda module: _Activation(module, aten.silu_backward.default),
    nn.LeakyReLU: lambda module: _Activation(module, partial(_leaky_relu, module)),
    nn.ELU: lambda module: _Activation(module, partial(_elu, module)),
    nn.GELU: lambda module: _Activation(module, partial(_gelu, module)),
}

LossAndSlope = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
"""Given an output, its target and 1 / samples: the sum over samples, and the gradient of the mean with regard to the
output."""


def _cross_entropy(
    output: torch.Tensor, target: torch.Tensor, part: torch.Tensor, weight: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    logs = torch.log_softmax(output, 1)
    loss, weights = aten.nll_loss_forward.default(logs, target, weight, _SUM, -100)
    slope = aten.nll_loss_backward.default(part, logs, target, weight, _SUM, -100, weights)
    return loss, aten._log_softmax_backward_data.default(slope, logs, 1, output.dtype)


def _half_mse(output: torch.Tensor, target: torch.Tensor, part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    apart = output - target
    return 0.5 * apart.square().sum(), (part * 0.5) * (2.0 * apart)


def _mse(output: torch.Tensor, target: torch.Tensor, part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    apart, width = output - target, target.shape[1]
    return apart.square().sum() / width, (part / width) * (2.0 * apart)


def _slope_of(loss: Loss) -> tuple[LossAndSlope, int] | None:
    """The same loss with its gradient, and how many dimensions its targets have; None where it is another one."""
    if not isinstance(loss, SingleOutputLoss):
        return None
    of_one = loss.loss
    if isinstance(of_one, partial) and of_one.func is cross_entropy and not of_one.keywords.get("smoothing"):
        return partial(_cross_entropy, weight=of_one.keywords.get("weight")), 1
    known: dict[Any, tuple[LossAndSlope, int]] = {cross_entropy: (_cross_entropy, 1), half_mse: (_half_mse, 2)}
    known[mse] = (_mse, 2)
    return known.get(of_one)


@dataclass(frozen=True)
class Answer:
    """The loss of a batch, mean over its samples, and the network's output, neither with a way back."""

    loss: torch.Tensor
    output: torch.Tensor


class Direct:
    """A chain of layers with its loss. `before` is called in front of the chain, and learns nothing."""

    def __init__(self, before: list[nn.Module], chain: list[Link], loss: LossAndSlope, target_dims: int) -> None:
        self._before, self._chain = before, chain
        self._back = list(zip(reversed(chain), [True] * (len(chain) - 1) + [False], strict=True))
        self._loss, self._target_dims = loss, target_dims
        self._parts: dict[int, torch.Tensor] = {}

    @torch.no_grad()
    def __call__(self, batch: Batch) -> Answer:
        """Set the gradients of all weights that learn."""
        (x,), (target,) = batch.inputs, batch.targets
        for module in self._before:
            x = module(x)
        kept = []
        for link in self._chain:
            x, one = link.forward(x)
            kept.append(one)
        loss, gradient = self._loss(x, target, self._part(x, batch.total))
        for link, goes_on in self._back:
            gradient = link.backward(gradient, kept.pop(), goes_on=goes_on)
        return Answer(loss / batch.total, x)

    def _part(self, output: torch.Tensor, total: int) -> torch.Tensor:
        """1 / samples, made once for each size of a batch."""
        if total not in self._parts:
            self._parts[total] = output.new_ones(()) / total
        return self._parts[total]

    def takes(self, batch: Batch) -> bool:
        """Whether it is made for such a batch."""
        return (
            len(batch.inputs) == len(batch.targets) == 1
            and batch.targets[0].dim() == self._target_dims
            and batch.count == batch.total
        )


def direct_for(network: nn.Module, loss: Loss) -> Direct | None:
    """The network as a chain, or None where it is none, or has a layer or a loss that is not known here."""
    known = _slope_of(loss)
    modules = None if known is None else _chain(network)
    if known is None or modules is None or {parameter.device.type for parameter in network.parameters()} != {"cpu"}:
        return None
    first = next((n for n, module in enumerate(modules) if _learns(module)), len(modules))
    before, chain = modules[:first], modules[first:]
    parameters = [parameter for module in modules for parameter in module.parameters()]
    if not chain or len({id(parameter) for parameter in parameters}) < len(parameters):
        return None
    if not all(type(module) in (Normalize, *_MAKERS) and _is_known(module) for module in before):
        return None
    if not all(type(module) in _MAKERS and _is_known(module) for module in chain):
        return None
    return Direct(before, [_MAKERS[type(module)](module) for module in chain], *known)


def _learns(module: nn.Module) -> bool:
    return any(parameter.requires_grad for parameter in module.parameters())


def _is_known(module: nn.Module) -> bool:
    """Whether it does what its type says, and nothing beside."""
    if module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks:
        return False
    return not getattr(module, "inplace", False) and (not isinstance(module, nn.Dropout) or 0.0 < module.p < 1.0)


def _chain(network: nn.Module) -> list[nn.Module] | None:
    """The modules of a network that are called one behind the other, each with what the one before it gives."""
    if type(network) is nn.Sequential:
        return list(network)
    if not isinstance(network, fx.GraphModule):
        return None
    return list(modules) if (modules := _calls(network)) is not None else None


def _calls(network: fx.GraphModule) -> Iterator[nn.Module] | None:
    entering, *called, leaving = network.graph.nodes
    before = [entering, *called]
    is_chain = (
        entering.op == "placeholder"
        and all(node.op == "call_module" and not node.kwargs for node in called)
        and all(node.args == (one,) for node, one in zip([*called, leaving], before, strict=True))
        and len({node.target for node in called}) == len(called)
    )
    return (network.get_submodule(str(node.target)) for node in called) if is_chain else None


class Checked:
    """A direct way that is compared with autograd at the first batch of each size."""

    def __init__(self, direct: Direct, parameters: Iterator[nn.Parameter]) -> None:
        self._direct = direct
        self._parameters = [parameter for parameter in parameters if parameter.requires_grad]
        self._sizes: set[torch.Size] = set()
        self.is_equal = True
        """Whether it has given the same as autograd so far; else it is not used any more."""

    def __call__(self, batch: Batch, by_autograd: Callable[[], Answer]) -> Answer:
        """The answer, with the gradients set. `by_autograd` gives the same in the usual way."""
        if not self.is_equal or not self._direct.takes(batch):
            return by_autograd()
        if (sizes := batch.inputs[0].shape) in self._sizes:
            return self._direct(batch)
        drawn = torch.get_rng_state()
        answer = by_autograd()
        gradients, after = [parameter.grad for parameter in self._parameters], torch.get_rng_state()
        torch.set_rng_state(drawn)
        self.is_equal = self._gives(batch, answer, gradients) and torch.equal(torch.get_rng_state(), after)
        torch.set_rng_state(after)
        self._sizes.add(sizes)
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient
        return answer

    def _gives(self, batch: Batch, answer: Answer, gradients: list[torch.Tensor | None]) -> bool:
        """Whether the direct way gives this, too, to the bit."""
        for parameter in self._parameters:
            parameter.grad = None
        try:
            found = self._direct(batch)
        except (AttributeError, RuntimeError, TypeError, ValueError):  # a torch whose kernels are called otherwise
            return False
        pairs = zip((parameter.grad for parameter in self._parameters), gradients, strict=True)
        same = _is_same(found.loss, answer.loss) and _is_same(found.output, answer.output)
        return same and all(_is_same(mine, theirs) for mine, theirs in pairs)


def _is_same(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    return one is not None and other is not None and torch.equal(one, other)
