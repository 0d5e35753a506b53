"""Convolutions in the frequency domain."""

import math

import torch
from torch import nn


class SpectralConv(nn.Module):
    """Multiplies the lowest frequencies of (batch, channels, places ...) by learned complex matrices, and drops the
    others. The weights hold a matrix for each frequency: of all axes but the last those from zero up, then those below
    zero; their last axis is real and imaginary part."""

    def __init__(self, in_channels: int, out_channels: int, modes: tuple[int, ...]) -> None:
        super().__init__()
        self.modes = tuple(modes)
        kept = [2 * count for count in modes[:-1]] + [modes[-1]]
        self.weight = nn.Parameter(torch.rand(out_channels, in_channels, *kept, 2) / (in_channels * out_channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype in (torch.float16, torch.bfloat16):
            x = x.float()
        sizes = x.shape[2:]
        if torch.compiler.is_exporting():
            parts = self.mix(*self.real_transform(x))
            return self.real_inverse(*parts, sizes)
        spectrum = torch.fft.rfft(x, dim=-1)[..., : self.modes[-1]]
        for dim, count in enumerate(self.modes[:-1], 2):
            spectrum = torch.fft.fft(spectrum, dim=dim)
            spectrum = torch.cat((spectrum.narrow(dim, 0, count), spectrum.narrow(dim, -count, count)), dim)
        spectrum = torch.complex(*self.mix(spectrum.real, spectrum.imag))
        for dim, count in enumerate(self.modes[:-1], 2):
            low, high = spectrum.chunk(2, dim)
            between = list(spectrum.shape)
            between[dim] = sizes[dim - 2] - 2 * count
            spectrum = torch.fft.ifft(torch.cat((low, low.new_zeros(between), high), dim), dim=dim)
        y: torch.Tensor = torch.fft.irfft(spectrum, n=sizes[-1], dim=-1)
        return y

    def mix(self, real: torch.Tensor, imaginary: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The product of each frequency's channels with its matrix, in real numbers."""
        there, own = self.weight[..., : real.shape[-1], :].unbind(-1)
        rows = torch.cat((torch.cat((there, -own), 1), torch.cat((own, there), 1)))
        given = torch.cat((real, imaginary), 1)
        mixed = torch.bmm(given.flatten(2).permute(2, 0, 1), rows.flatten(2).permute(2, 1, 0))
        mixed = torch.unflatten(mixed.permute(1, 2, 0), 2, real.shape[2:]).to(real.dtype)
        first, second = mixed.chunk(2, 1)
        return first.contiguous(), second.contiguous()

    def waves(self, size: int, dim: int, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of an axis, (places, frequencies). Whole turns are taken off before they lose digits."""
        count = self.modes[dim - 2]
        frequencies = torch.arange(count, device=like.device)
        if dim - 1 < len(self.modes):
            frequencies = torch.cat((frequencies, frequencies + (size - count)))
        places = torch.arange(size, device=like.device)
        whole = places[-1:] + 1  # the size as a tensor, which an exporter keeps free
        angles = torch.remainder(places.unsqueeze(1) * frequencies, whole).to(like.dtype) * (2.0 * math.pi / whole)
        return angles.cos(), angles.sin()

    def real_transform(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The lowest frequencies by their definition, as real and imaginary parts: for exporters without complex
        numbers."""
        cos, sin = self.waves(x.shape[-1], x.dim() - 1, x)
        real, imaginary = x @ cos, -(x @ sin)
        for dim in range(2, x.dim() - 1):
            cos, sin = self.waves(x.shape[dim], dim, x)
            one, other = real.transpose(dim, -1), imaginary.transpose(dim, -1)
            real = (one @ cos + other @ sin).transpose(dim, -1)
            imaginary = (other @ cos - one @ sin).transpose(dim, -1)
        return real, imaginary

    def real_inverse(self, real: torch.Tensor, imaginary: torch.Tensor, sizes: torch.Size) -> torch.Tensor:
        """What these frequencies make at all places, by the definition."""
        for dim in range(2, real.dim() - 1):
            cos, sin = self.waves(sizes[dim - 2], dim, real)
            one, other = real.transpose(dim, -1), imaginary.transpose(dim, -1)
            real = ((one @ cos.t() - other @ sin.t()) / sizes[dim - 2]).transpose(dim, -1)
            imaginary = ((other @ cos.t() + one @ sin.t()) / sizes[dim - 2]).transpose(dim, -1)
        cos, sin = self.waves(sizes[-1], real.dim() - 1, real)
        size = torch.arange(sizes[-1], device=real.device)[-1:] + 1
        twice = 2 * torch.arange(self.modes[-1], device=real.device)
        both = 1.0 + ((twice > 0) & (twice < size)).to(real.dtype)  # for the frequencies below zero
        weight = torch.where(twice <= size, both, torch.zeros_like(both)) / size
        return (real * weight) @ cos.t() - (imaginary * weight) @ sin.t()
