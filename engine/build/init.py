"""Initial weights as MATLAB's deep learning layers have them, the same for the same seed on every device."""

import math
from collections.abc import Iterator

import torch
from torch import nn

_GLOROT = (
    nn.Linear,
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.ConvTranspose1d,
    nn.ConvTranspose2d,
    nn.ConvTranspose3d,
)


def initialize(module: nn.Module, seed: int) -> None:
    """Give every weight of the module its initial value.

    | module                           | initial value                                                                |
    |----------------------------------|------------------------------------------------------------------------------|
    | fully connected, convolution     | weights Glorot (uniform), biases zero                                        |
    | LSTM, GRU                        | input weights Glorot, recurrent weights orthogonal, biases zero, but one for |
    |                                  | the forget gate of an LSTM                                                   |
    | embedding                        | normal with a deviation of 0.01; the padding index stays zero                |
    | attention                        | projections Glorot, biases zero                                              |
    | anything else                    | as torch makes it (normalisation: scale one, shift zero)                     |

    Numbers are drawn on the CPU in the order of the module's attributes, so the device makes no difference.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for part in module.modules():
            for parameter, value in _initial_values(part, generator):
                parameter.copy_(value)


def _initial_values(part: nn.Module, generator: torch.Generator) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Each parameter of this module itself that gets a value here, with the value."""
    if isinstance(part, _GLOROT):
        yield part.weight, _glorot(part.weight, generator)
        if part.bias is not None:
            yield part.bias, torch.zeros(part.bias.shape)
    elif isinstance(part, nn.RNNBase):
        for name, parameter in part.named_parameters():
            yield parameter, _recurrent(part, name, parameter, generator)
    elif isinstance(part, nn.Embedding):
        value = torch.empty(part.weight.shape).normal_(0.0, 0.01, generator=generator)
        if part.padding_idx is not None:
            value[part.padding_idx] = 0.0
        yield part.weight, value
    elif isinstance(part, nn.MultiheadAttention):
        for parameter in part.parameters(recurse=False):
            one_each = torch.empty(parameter.shape).chunk(3) if parameter is part.in_proj_weight else ()
            values = [_glorot(block, generator) for block in one_each]
            yield parameter, torch.cat(values) if values else _glorot_or_zero(parameter, generator)


def _glorot(parameter: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Uniform within sqrt(6 / (inputs + outputs)), windows counted."""
    return nn.init.xavier_uniform_(torch.empty(parameter.shape), generator=generator)


def _glorot_or_zero(parameter: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return _glorot(parameter, generator) if parameter.dim() > 1 else torch.zeros(parameter.shape)


def _recurrent(part: nn.RNNBase, name: str, parameter: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One parameter of an LSTM or a GRU. torch adds two biases; only the one of the input starts at one."""
    if name.startswith("weight_hh"):
        return _orthogonal(parameter.shape, generator)
    if name.startswith("weight"):
        return _glorot(parameter, generator)
    bias = torch.zeros(parameter.shape)
    if isinstance(part, nn.LSTM) and name.startswith("bias_ih"):
        bias[part.hidden_size : 2 * part.hidden_size] = 1.0  # gates in torch's order: input, forget, cell, output
    return bias


def _orthogonal(shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    rows, columns = shape[0], math.prod(shape[1:])
    return nn.init.orthogonal_(torch.empty(rows, columns), generator=generator).view(shape)
