"""Layers of complex numbers. Learned numbers are kept as pairs of real ones, so that every solver and every way of
sharing gradients takes them."""

import torch
from torch import nn


class ComplexLinear(nn.Module):
    """y = W x + b with complex numbers, on the last axis. The last axis of the weights is real and imaginary part."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        bound = (3.0 / (in_features + out_features)) ** 0.5
        self.weight = nn.Parameter(torch.empty(out_features, in_features, 2).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(out_features, 2)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        real, imaginary = self.weight.unbind(-1)
        rows = torch.cat((torch.cat((real, -imaginary), 1), torch.cat((imaginary, real), 1)))
        bias = None if self.bias is None else self.bias.t().flatten()
        both = nn.functional.linear(torch.cat((x.real, x.imag), -1), rows, bias)
        first, second = both.to(x.real.dtype).chunk(2, -1)
        return torch.complex(first, second)


class ModRelu(nn.Module):
    """(|z| + b) z / |z| where |z| + b is positive, else zero: a learned b for each channel; the phase stays."""

    def __init__(self, channels: int, dim: int, rank: int) -> None:
        super().__init__()
        self.sizes = [channels if axis == dim else 1 for axis in range(1, rank + 1)]
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = torch.sqrt(x.real.square() + x.imag.square() + 1e-12)
        return x * (torch.relu(size + self.bias.view(self.sizes)) / size)


def complex_relu(x: torch.Tensor) -> torch.Tensor:
    """ReLU of the real and of the imaginary part."""
    return torch.complex(torch.relu(x.real), torch.relu(x.imag))


def z_relu(x: torch.Tensor) -> torch.Tensor:
    """Passes numbers with no negative real or imaginary part; zero for others."""
    return x * ((x.real >= 0) & (x.imag >= 0))


def cardioid(x: torch.Tensor) -> torch.Tensor:
    """(1 + cos(phase)) / 2 times the number."""
    size = torch.sqrt(x.real.square() + x.imag.square() + 1e-12)
    return x * (0.5 + 0.5 * x.real / size)


def real_to_complex(x: torch.Tensor, dim: int, interleaved: bool = True) -> torch.Tensor:
    """Half as many channels: each a real and an imaginary part, beside each other, or all real parts first."""
    if x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    if interleaved:
        real, imaginary = torch.unflatten(x, dim, (-1, 2)).unbind(dim + 1)
    else:
        real, imaginary = x.chunk(2, dim)
    return torch.complex(real.contiguous(), imaginary.contiguous())


def complex_to_real(x: torch.Tensor, dim: int, gives: str = "interleaved") -> torch.Tensor:
    """Real and imaginary parts as channels beside each other (interleaved) or one half behind the other; or size
    (magnitude), its square (power), phase, or the real part alone."""
    if gives == "interleaved":
        return torch.stack((x.real, x.imag), dim + 1).flatten(dim, dim + 1)
    if gives == "halves":
        return torch.cat((x.real, x.imag), dim)
    if gives == "phase":
        return torch.angle(x)
    if gives == "real":
        return x.real.contiguous()
    power = x.real.square() + x.imag.square()
    return power if gives == "power" else torch.sqrt(power + 1e-12)
