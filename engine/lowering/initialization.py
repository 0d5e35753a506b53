"""Initial weights as MATLAB's deep learning layers have them, the same for the same seed on every device."""

import math
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import nn

from netwright.engine.layers.base import LayerType
from netwright.engine.layers.weighted import AS_MADE, ParameterOptions, Weighted
from netwright.engine.lowering.modules.recurrent import GruLoop
from netwright.engine.lowering.modules.signal import SpectralConv

_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_GLOROT = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, *_TRANSPOSED)
_TABLES = (nn.Embedding, nn.EmbeddingBag)
NARROW = 0.01
"""Standard deviation of the narrow normal distribution."""
Prefixes = Mapping[str, tuple[str, ...]]
"""Per id path of a layer, the attributes of the module that hold its weights
(`netwright.engine.lowering.module.prefixes`)."""


def initialize(module: nn.Module, seed: int, options: Mapping[str, ParameterOptions] | None = None) -> None:
    """Set every parameter of the module to its initial value: by the initializer in `options` under its name, or else

    | module                           | initial value                                                                |
    |----------------------------------|------------------------------------------------------------------------------|
    | fully connected, convolution     | weights Glorot (uniform), biases zero                                        |
    | LSTM, GRU                        | input weights Glorot, recurrent weights orthogonal, biases zero, but one for |
    |                                  | the forget gate of an LSTM                                                   |
    | embedding                        | normal with a deviation of 0.01; the padding index stays zero                |
    | attention                        | projections Glorot, biases zero                                              |
    | anything else                    | as torch makes it (normalisation: scale one, shift zero)                     |

    Random numbers are drawn on the CPU in the order of the module's attributes, so they do not depend on the device.
    """
    generator = torch.Generator().manual_seed(seed)
    options_by_name = options or {}
    with torch.no_grad():
        for path, part in module.named_modules():
            for name, parameter in part.named_parameters(recurse=False):
                own_options = options_by_name.get(f"{path}.{name}" if path else name)
                initializer = (own_options.initializer if own_options else "") or _usual(part, name, parameter)
                if initializer and initializer != AS_MADE:
                    parameter.copy_(_value(part, name, parameter, initializer, generator))


def _usual(part: nn.Module, name: str, parameter: torch.Tensor) -> str:
    """Return the default initializer of a parameter, or '' to keep the values that torch sets."""
    if isinstance(part, nn.RNNBase):
        if name.startswith("weight"):
            return "orthogonal" if name.startswith("weight_hh") else "glorot"
        return "unit-forget-gate" if isinstance(part, nn.LSTM) else "zeros"
    if isinstance(part, _TABLES):
        return "narrow-normal"
    if isinstance(part, (*_GLOROT, nn.MultiheadAttention)):
        return "glorot" if parameter.dim() > 1 else "zeros"
    return ""


def _value(
    part: nn.Module, name: str, parameter: torch.Tensor, initializer: str, generator: torch.Generator
) -> torch.Tensor:
    """Return the initial value of one parameter, of its shape."""
    shape = parameter.shape
    if name.startswith("bias_hh") and not isinstance(part, nn.GRU | GruLoop):
        return torch.zeros(shape)  # torch has two biases where MATLAB has one: the initializer sets that of the input
    if isinstance(part, nn.MultiheadAttention) and parameter is part.in_proj_weight:
        matrix_shape = torch.Size((shape[0] // 3, *shape[1:]))  # query, key and value are stacked along dim 0
        return torch.cat([_INITIALIZERS[initializer](part, matrix_shape, generator) for _ in range(3)])
    value = _INITIALIZERS[initializer](part, shape, generator)
    if isinstance(part, SpectralConv) and initializer in ("glorot", "he"):
        value *= math.sqrt(math.prod(shape[2:-1]))  # each frequency has a matrix of its own: no kernel window
    if isinstance(part, _TABLES) and part.padding_idx is not None:
        value[part.padding_idx] = 0.0
    return value


def _glorot(part: nn.Module, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """Return uniform values within ±sqrt(6 / (inputs + outputs)), both multiplied by the kernel size."""
    return nn.init.xavier_uniform_(torch.empty(shape), generator=generator)


def _he(part: nn.Module, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """Return normal values with variance 2 / inputs, where inputs are multiplied by the kernel size."""
    inputs = math.prod(shape[1:])
    if isinstance(part, _TRANSPOSED):
        inputs = shape[0] // part.groups * math.prod(shape[2:])
    elif isinstance(part, _TABLES):
        inputs = shape[0]  # an embedding multiplies a one-hot vector
    return torch.empty(shape).normal_(0.0, math.sqrt(2.0 / inputs), generator=generator)


def _orthogonal(part: nn.Module, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """Return Q of the QR decomposition of normal values, with one row per output."""
    flat = torch.empty(shape[0], math.prod(shape[1:]))
    return nn.init.orthogonal_(flat, generator=generator).view(shape)


def _narrow_normal(part: nn.Module, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    return torch.empty(shape).normal_(0.0, NARROW, generator=generator)


def _fourier(part: nn.Module, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """Return uniform values from 0 to 1 / (inputs · outputs)."""
    return torch.empty(shape).uniform_(0.0, 1.0 / (shape[0] * shape[1]), generator=generator)


def _zeros(part: nn.Module, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    return torch.zeros(shape)


def _ones(part: nn.Module, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    return torch.ones(shape)


def _unit_forget_gate(part: nn.Module, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    """Return one for the forget gate and zero elsewhere; torch's order of gates is input, forget, cell, output."""
    bias = torch.zeros(shape)
    size = shape[0] // 4
    bias[size : 2 * size] = 1.0
    return bias


def parameter_options(
    module: nn.Module, prefixes: Prefixes, type_at: Callable[[str], LayerType]
) -> dict[str, ParameterOptions]:
    """Return the options of each parameter by its name in the module, for layers of a `Weighted` type."""
    return {
        f"{prefix}.{name}": type.parameter_options(name)
        for prefix, type in _weighted(prefixes, type_at)
        for name, _ in module.get_submodule(prefix).named_parameters()
    }


def frozen_modules(module: nn.Module, prefixes: Prefixes, type_at: Callable[[str], LayerType]) -> tuple[nn.Module, ...]:
    """Return the modules of frozen layers, which training does not change."""
    return tuple(module.get_submodule(prefix) for prefix, type in _weighted(prefixes, type_at) if type.frozen)


def _weighted(prefixes: Prefixes, type_at: Callable[[str], LayerType]) -> Iterator[tuple[str, Weighted]]:
    for path, attributes in prefixes.items():
        type = type_at(path)
        if isinstance(type, Weighted):
            yield from ((attribute, type) for attribute in attributes)


_INITIALIZERS: dict[str, Callable[[nn.Module, torch.Size, torch.Generator], torch.Tensor]] = {
    "glorot": _glorot,
    "he": _he,
    "orthogonal": _orthogonal,
    "narrow-normal": _narrow_normal,
    "fourier": _fourier,
    "zeros": _zeros,
    "ones": _ones,
    "unit-forget-gate": _unit_forget_gate,
}
