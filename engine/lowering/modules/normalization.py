"""Normalization and noise layers that torch has no module for."""

import torch
from torch import nn


class CrossChannelNorm(nn.Module):
    """Local response normalisation whose window goes from channel c - (size - 1) // 2 to c + size // 2."""

    def __init__(self, size: int, alpha: float, beta: float, k: float) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        squares = x.square().flatten(2).unsqueeze(1)
        around = nn.functional.pad(squares, (0, 0, (self.size - 1) // 2, self.size // 2))
        mean = nn.functional.avg_pool2d(around, (self.size, 1), stride=1).reshape(x.shape)
        return x / (self.k + self.alpha * mean) ** self.beta


class Normalize(nn.Module):
    """Input normalisation by one shift and scale per channel: y = (x - shift) * scale.

    A sample has `rank` axes; `dim` is that of the channels, the samples' axis being 0. The shift is float64 for numbers
    that single precision cannot hold, such as seconds since 1970: x is float64 then, too. y has the dtype of `scale`.
    """

    shift: torch.Tensor
    scale: torch.Tensor

    def __init__(self, channels: int, dim: int, rank: int) -> None:
        super().__init__()
        self.sizes = [channels if axis == dim else 1 for axis in range(1, rank + 1)]
        self.register_buffer("shift", torch.zeros(channels))
        self.register_buffer("scale", torch.ones(channels))

    def _load_from_state_dict(self, state_dict: dict[str, torch.Tensor], prefix: str, *args: object) -> None:
        shift = state_dict.get(f"{prefix}shift")
        if shift is not None and shift.dtype == torch.float64:
            self.shift = self.shift.double()
        super()._load_from_state_dict(state_dict, prefix, *args)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x - self.shift.view(self.sizes)
        return x.to(self.scale.dtype) * self.scale.view(self.sizes)


class NormalizeBy(Normalize):
    """Input normalisation by shifts and scales of other sizes: y = (x - shift) * scale.

    `sizes` are those of a sample, or 1 along axes that share their numbers. The numbers are given, or 0 and 1 until
    they are fitted.
    """

    def __init__(self, sizes: tuple[int, ...], shift: tuple[float, ...] = (), scale: tuple[float, ...] = ()) -> None:
        nn.Module.__init__(self)
        self.sizes = list(sizes)
        count = torch.Size(sizes).numel()
        self.register_buffer("shift", torch.tensor(shift) if shift else torch.zeros(count))
        self.register_buffer("scale", torch.tensor(scale) if scale else torch.ones(count))


class InverseNormalize(Normalize):
    """Turns normalised numbers back into units: y = x * scale + shift."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale.view(self.sizes) + self.shift.view(self.sizes)


class DropPath(nn.Module):
    """Zeroes whole samples at random in training, and scales the others up."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training or self.probability == 0.0:
            return x
        share = 1.0 - self.probability
        mask = torch.rand((x.shape[0], *[1] * (x.dim() - 1)), device=x.device) < share
        return x * mask / share


class GaussianNoise(nn.Module):
    """Adds normal random numbers in training."""

    def __init__(self, deviation: float) -> None:
        super().__init__()
        self.deviation = deviation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.deviation * torch.randn_like(x) if self.training else x
