"""Manual backward: forward, loss and backward of a plain chain of layers straight on torch's kernels, without autograd.

On small networks autograd takes a third of a step's time: it records what is computed and starts an engine that plays
the record back. For a chain of fully connected layers, activations and dropout the backward pass is known in advance,
and the same kernels in the same order give the same bits. Nothing is taken on trust: the kernels are tried before the
first step, the first batch of each size is computed both ways, and wherever loss, outputs or gradients differ in a
single bit the run stays with autograd.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch
from torch import fx, nn
from torch.nn import functional

from netwright.engine.data.loading.batches import Batch, Tensors
from netwright.engine.lowering.modules.normalization import Normalize, NormalizeBy

Loss = Callable[[Tensors, Tensors], torch.Tensor]
"""Given outputs and targets: the loss summed over samples. A supported one has a `formula`: its name and weight."""
aten = torch.ops.aten
_SUM = 2
"""The reduction of torch's kernels for losses."""


class LayerBackward(Protocol):
    """A layer of the chain with its backward pass."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, Any]:
        """Return the output, and what `backward` needs of this call."""

    def backward(self, gradient: torch.Tensor, saved: Any, *, needs_input_gradient: bool) -> torch.Tensor:
        """Set the gradients of the layer's weights and return that of its input, where it is needed."""


class _Linear:
    """A fully connected layer: y = x Wᵀ + b."""

    def __init__(self, module: nn.Linear) -> None:
        self._weight, self._bias = module.weight, module.bias

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return functional.linear(x, self._weight, self._bias), x

    def backward(self, gradient: torch.Tensor, saved: torch.Tensor, *, needs_input_gradient: bool) -> torch.Tensor:
        if self._weight.requires_grad:
            self._weight.grad = torch.mm(gradient.t(), saved)
        if self._bias is not None and self._bias.requires_grad:
            self._bias.grad = gradient.sum(0)
        return torch.mm(gradient, self._weight) if needs_input_gradient else gradient


class _Dropout:
    """Sets each number to zero with probability p, and scales the others by 1 / (1 - p)."""

    def __init__(self, module: nn.Dropout) -> None:
        self._keep_probability = 1.0 - module.p

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scale = torch.empty_like(x).bernoulli_(self._keep_probability).div_(self._keep_probability)
        return x * scale, scale

    def backward(self, gradient: torch.Tensor, saved: torch.Tensor, *, needs_input_gradient: bool) -> torch.Tensor:
        return gradient * saved


Derivative = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Of an activation: maps the gradient of its output, and its saved input or output, to the gradient of its input."""


class _Activation:
    """A function of each number."""

    def __init__(self, module: nn.Module, derivative: Derivative, *, of_output: bool = False) -> None:
        """`of_output`: the derivative is a function of the output instead of the input."""
        self._function, self._derivative, self._of_output = module.forward, derivative, of_output

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self._function(x)
        return y, y if self._of_output else x

    def backward(self, gradient: torch.Tensor, saved: torch.Tensor, *, needs_input_gradient: bool) -> torch.Tensor:
        return self._derivative(gradient, saved)


def _leaky_relu(module: Any, gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = aten.leaky_relu_backward.default(gradient, x, module.negative_slope, False)
    return result


def _elu(module: Any, gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = aten.elu_backward.default(gradient, module.alpha, 1.0, 1.0, False, x)
    return result


def _gelu(module: Any, gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = aten.gelu_backward.default(gradient, x, approximate=module.approximate)
    return result


def _relu(gradient: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = aten.threshold_backward.default(gradient, y, 0)
    return result


_MAKERS: dict[type[nn.Module], Callable[[Any], LayerBackward]] = {
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

LossBackward = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
"""Given an output `(N, C)`, its target and 1 / samples: returns the loss summed over samples, and the gradient of the
mean loss with respect to the output."""


def _cross_entropy(
    output: torch.Tensor, target: torch.Tensor, scale: torch.Tensor, weight: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    log_probabilities = torch.log_softmax(output, 1)
    loss, weights = aten.nll_loss_forward.default(log_probabilities, target, weight, _SUM, -100)
    gradient = aten.nll_loss_backward.default(scale, log_probabilities, target, weight, _SUM, -100, weights)
    return loss, aten._log_softmax_backward_data.default(gradient, log_probabilities, 1, output.dtype)


def _half_mse(output: torch.Tensor, target: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    difference = output - target
    return 0.5 * difference.square().sum(), (scale * 0.5) * (2.0 * difference)


def _mse(output: torch.Tensor, target: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    difference, width = output - target, target.shape[1]
    return difference.square().sum() / width, (scale / width) * (2.0 * difference)


def _loss_backward(loss: Loss) -> tuple[LossBackward, int] | None:
    """Return the loss with its gradient, and the number of dimensions of its targets; None for an unsupported loss."""
    name, weight = getattr(loss, "formula", ("", None))
    match name:
        case "cross-entropy":
            return partial(_cross_entropy, weight=weight), 1
        case "half-mse":
            return _half_mse, 2
        case "mse":
            return _mse, 2
    return None


@dataclass(frozen=True)
class LossAndOutput:
    """The mean loss of a batch and the network's output `(N, C)`, both detached from autograd."""

    loss: torch.Tensor
    output: torch.Tensor


class ChainBackward:
    """Computes loss and gradients of a chain of layers. `before` are the layers in front of the first that learns."""

    def __init__(
        self, before: list[nn.Module], chain: list[LayerBackward], loss: LossBackward, target_dims: int
    ) -> None:
        self._before, self._chain = before, chain
        self._reversed = list(zip(reversed(chain), [True] * (len(chain) - 1) + [False], strict=True))
        self._loss, self._target_dims = loss, target_dims
        self._scales: dict[int, torch.Tensor] = {}

    @torch.no_grad()
    def __call__(self, batch: Batch) -> LossAndOutput:
        """Set the gradients of all weights that learn."""
        (x,), (target,) = batch.inputs, batch.targets
        for module in self._before:
            x = module(x)
        saved = []
        for layer in self._chain:
            x, needed = layer.forward(x)
            saved.append(needed)
        loss, gradient = self._loss(x, target, self._scale(x, batch.total))
        for layer, is_needed in self._reversed:
            gradient = layer.backward(gradient, saved.pop(), needs_input_gradient=is_needed)
        return LossAndOutput(loss / batch.total, x)

    def _scale(self, output: torch.Tensor, total: int) -> torch.Tensor:
        """Return 1 / samples, made once for each batch size."""
        if total not in self._scales:
            self._scales[total] = output.new_ones(()) / total
        return self._scales[total]

    def supports(self, batch: Batch) -> bool:
        """Return whether the batch has one input and one target of the right rank, and is not divided."""
        return (
            len(batch.inputs) == len(batch.targets) == 1
            and batch.targets[0].dim() == self._target_dims
            and batch.count == batch.total
        )


def chain_backward(network: nn.Module, loss: Loss) -> ChainBackward | None:
    """Return the backward pass of a network that is a chain; None for other networks, layers and losses."""
    loss_backward = _loss_backward(loss)
    modules = None if loss_backward is None else _chain(network)
    if loss_backward is None or modules is None or {p.device.type for p in network.parameters()} != {"cpu"}:
        return None
    first = next((n for n, module in enumerate(modules) if _learns(module)), len(modules))
    before, chain = modules[:first], modules[first:]
    parameters = [parameter for module in modules for parameter in module.parameters()]
    if not chain or len({id(parameter) for parameter in parameters}) < len(parameters):
        return None
    if not all(type(module) in (Normalize, NormalizeBy, *_MAKERS) and _is_plain(module) for module in before):
        return None
    if not all(type(module) in _MAKERS and _is_plain(module) for module in chain):
        return None
    return ChainBackward(before, [_MAKERS[type(module)](module) for module in chain], *loss_backward)


def _learns(module: nn.Module) -> bool:
    return any(parameter.requires_grad for parameter in module.parameters())


def _is_plain(module: nn.Module) -> bool:
    """Return whether the module computes what its type says and nothing else: no hooks, not in place."""
    if module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks:
        return False
    return not getattr(module, "inplace", False) and (not isinstance(module, nn.Dropout) or 0.0 < module.p < 1.0)


def _chain(network: nn.Module) -> list[nn.Module] | None:
    """Return the modules of a network that feeds each with the output of the one before; None for other networks."""
    if type(network) is nn.Sequential:
        return list(network)
    if not isinstance(network, fx.GraphModule):
        return None
    return list(modules) if (modules := _calls(network)) is not None else None


def _calls(network: fx.GraphModule) -> Iterator[nn.Module] | None:
    placeholder, *modules, output = network.graph.nodes
    before = [placeholder, *modules]
    is_chain = (
        placeholder.op == "placeholder"
        and all(node.op == "call_module" and not node.kwargs for node in modules)
        and all(node.args == (previous,) for node, previous in zip([*modules, output], before, strict=True))
        and len({node.target for node in modules}) == len(modules)
    )
    return (network.get_submodule(str(node.target)) for node in modules) if is_chain else None


class ManualBackward:
    """A chain's backward pass that is compared with autograd at the first batch of each size."""

    def __init__(self, chain: ChainBackward, parameters: Iterable[nn.Parameter]) -> None:
        self._chain = chain
        self._parameters = [parameter for parameter in parameters if parameter.requires_grad]
        self._checked_shapes: set[torch.Size] = set()
        self.is_equal = True
        """Whether it has given the same bits as autograd so far; it is not used any more otherwise."""

    def __call__(self, batch: Batch, by_autograd: Callable[[], LossAndOutput]) -> LossAndOutput:
        """Set the gradients and return loss and output. `by_autograd` does the same with autograd."""
        if not self.is_equal or not self._chain.supports(batch):
            return by_autograd()
        if (shape := batch.inputs[0].shape) in self._checked_shapes:
            return self._chain(batch)
        random_state = torch.get_rng_state()
        expected = by_autograd()
        gradients, state_after = [parameter.grad for parameter in self._parameters], torch.get_rng_state()
        torch.set_rng_state(random_state)
        self.is_equal = self._reproduces(batch, expected, gradients) and torch.equal(torch.get_rng_state(), state_after)
        torch.set_rng_state(state_after)
        self._checked_shapes.add(shape)
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient
        return expected

    def _reproduces(self, batch: Batch, expected: LossAndOutput, gradients: list[torch.Tensor | None]) -> bool:
        """Return whether the chain gives the same loss, output and gradients, to the bit."""
        for parameter in self._parameters:
            parameter.grad = None
        try:
            result = self._chain(batch)
        except (AttributeError, RuntimeError, TypeError, ValueError):  # a torch with other kernels
            return False
        pairs = zip((parameter.grad for parameter in self._parameters), gradients, strict=True)
        same = _is_same(result.loss, expected.loss) and _is_same(result.output, expected.output)
        return same and all(_is_same(mine, theirs) for mine, theirs in pairs)


def _is_same(first: torch.Tensor | None, second: torch.Tensor | None) -> bool:
    return first is not None and second is not None and torch.equal(first, second)


def manual_backward(network: nn.Module, loss: Loss) -> ManualBackward | None:
    """Return the manual backward of a network; None where the network or the loss is not supported, or torch's kernels
    are not those that are known (`refusal`)."""
    chain = chain_backward(network, loss)
    return None if chain is None or refusal() else ManualBackward(chain, network.parameters())


@functools.cache
def refusal() -> str:
    """Return the reason why the manual backward fails with this version of torch, or an empty text: small chains, one
    for each kind of layer, are computed both ways."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        try:
            wrong = [kind.__name__ for kind in _MAKERS if not _equals_autograd(kind)]
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            return f"torch {torch.__version__} lacks what it takes: {error}"
    return f"torch {torch.__version__} computes {', '.join(wrong)} in another way" if wrong else ""


class _CrossEntropy:
    """The loss that the kernels are tried with."""

    formula = ("cross-entropy", None)

    def __call__(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        return functional.cross_entropy(outputs[0], targets[0], reduction="sum")


def _equals_autograd(kind: type[nn.Module]) -> bool:
    """Return whether a chain with such a layer gives the same bits both ways."""
    layer = nn.Linear(8, 8) if kind is nn.Linear else nn.Dropout(0.5) if kind is nn.Dropout else kind()
    network = nn.Sequential(nn.Linear(4, 8), layer, nn.Linear(8, 3))
    x, classes = torch.randn(16, 4), torch.arange(16) % 3
    batch, loss = Batch((x,), (classes,), len(x), len(x)), _CrossEntropy()

    def by_autograd() -> LossAndOutput:
        output = network(x)
        mean = loss((output,), batch.targets) / batch.total
        torch.autograd.backward(mean)
        return LossAndOutput(mean.detach(), output.detach())

    chain = chain_backward(network, loss)
    if chain is None:
        return False
    backward = ManualBackward(chain, network.parameters())
    backward(batch, by_autograd)
    return backward.is_equal
