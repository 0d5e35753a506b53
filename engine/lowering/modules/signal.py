"""Short-time Fourier transforms and wavelet transforms. Tables that follow from the arguments are buffers, but no part
of the state. Exporters that know no complex numbers get the same sums as convolutions."""

import math

import torch
from torch import nn


class Stft(nn.Module):
    """Fourier transforms of overlapping windows: (batch, steps, channels) to (batch, channels, frequencies, windows),
    or with `as_sequence` to (batch, windows, channels · frequencies). Parts double the channels, a real one before each
    imaginary one."""

    window: torch.Tensor

    def __init__(
        self, window: str, length: int, hop: int, fft_length: int, gives: str = "magnitude", as_sequence: bool = False
    ) -> None:
        super().__init__()
        turn = torch.arange(length, dtype=torch.float64) * (2.0 * math.pi / length)
        shapes = {"hann": (0.5, 0.5), "hamming": (0.54, 0.46), "rectangular": (1.0, 0.0)}
        level, wave = shapes[window]
        self.register_buffer("window", (level - wave * turn.cos()).float(), persistent=False)
        self.hop, self.fft_length, self.gives, self.as_sequence = hop, fft_length, gives, as_sequence

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype in (torch.float16, torch.bfloat16):
            x = x.float()
        x = x.transpose(1, 2)
        if torch.compiler.is_exporting():
            size = self.window.shape[0]
            turns = torch.arange(self.fft_length // 2 + 1).unsqueeze(1) * torch.arange(size) % self.fft_length
            angles = turns.to(x.dtype) * (2.0 * math.pi / self.fft_length)
            rows = torch.cat((angles.cos(), -angles.sin())) * self.window
            products = nn.functional.conv1d(x.reshape(-1, 1, x.shape[2]), rows.unsqueeze(1), stride=self.hop)
            real, imaginary = torch.unflatten(products, 0, (-1, x.shape[1])).chunk(2, 2)
        else:
            frames = x.unfold(2, self.window.shape[0], self.hop) * self.window
            spectrum = torch.fft.rfft(frames, n=self.fft_length).transpose(2, 3)
            real, imaginary = spectrum.real, spectrum.imag
        if self.gives == "parts":
            y = torch.stack((real, imaginary), 2).flatten(1, 2)
        else:
            power = real.square() + imaginary.square() + 1e-12
            y = power if self.gives.endswith("power") else power.sqrt()
            y = y.log() if self.gives.startswith("log") else y
        return y.flatten(1, 2).transpose(1, 2) if self.as_sequence else y.contiguous()


class InverseStft(nn.Module):
    """The sequence (batch, steps, channels) whose short-time Fourier transform comes nearest to these parts (batch, 2 ·
    channels, frequencies, windows), or (batch, windows, 2 · channels · frequencies): overlapping windows are weighted
    and added, then divided by the sum of the squared windows; where that is below 1e-4, rounding would drown the rest,
    and zeros stand there."""

    window: torch.Tensor

    def __init__(self, window: str, length: int, hop: int, fft_length: int) -> None:
        super().__init__()
        turn = torch.arange(length, dtype=torch.float64) * (2.0 * math.pi / length)
        shapes = {"hann": (0.5, 0.5), "hamming": (0.54, 0.46), "rectangular": (1.0, 0.0)}
        level, wave = shapes[window]
        self.register_buffer("window", (level - wave * turn.cos()).float(), persistent=False)
        self.hop, self.fft_length = hop, fft_length

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype in (torch.float16, torch.bfloat16):
            x = x.float()
        size, half = self.window.shape[0], self.fft_length // 2 + 1
        if x.dim() == 3:
            x = torch.unflatten(x.transpose(1, 2), 1, (-1, half))
        x = torch.unflatten(x, 1, (-1, 2))
        count = x.shape[4]
        if torch.compiler.is_exporting():
            turns = torch.arange(half).unsqueeze(1) * torch.arange(size) % self.fft_length
            angles = turns.to(x.dtype) * (2.0 * math.pi / self.fft_length)
            twice = 2 * torch.arange(half)
            both = 1.0 + ((twice > 0) & (twice < self.fft_length)).to(x.dtype)  # for the frequencies below zero
            weight = (both / self.fft_length).unsqueeze(1)
            rows = torch.cat((angles.cos() * weight, -angles.sin() * weight)) * self.window
            frames = x.flatten(2, 3).flatten(0, 1)
            added = nn.functional.conv_transpose1d(frames, rows.unsqueeze(1), stride=self.hop)
            ones = torch.ones_like(frames[:1, :1])
            weights = nn.functional.conv_transpose1d(ones, self.window.square().view(1, 1, -1), stride=self.hop)
        else:
            spectrum = torch.complex(x[:, :, 0].contiguous(), x[:, :, 1].contiguous())
            windows = torch.fft.irfft(spectrum, n=self.fft_length, dim=2)[:, :, :size] * self.window.unsqueeze(1)
            steps = (1, (count - 1) * self.hop + size)
            added = nn.functional.fold(windows.flatten(0, 1), steps, (1, size), stride=(1, self.hop)).squeeze(2)
            squares = self.window.square().to(x.dtype).view(1, -1, 1).expand(1, size, count)
            weights = nn.functional.fold(squares, steps, (1, size), stride=(1, self.hop)).squeeze(2)
        y = added / weights.clamp(min=1e-4) * (weights > 1e-4)
        return torch.unflatten(y, 0, (-1, x.shape[1])).squeeze(2).transpose(1, 2)


class Cwt(nn.Module):
    """Continuous wavelet transform, periodic: (batch, steps, channels) to (batch, channels, scales, steps), or with
    `as_sequence` to (batch, steps, channels · scales). Parts double the channels, a real one before each imaginary one.
    Scales go from short ones (high frequencies) to long ones. With `inverse` the way back, from parts, by least
    squares."""

    bank: torch.Tensor

    def __init__(
        self,
        steps: int,
        wavelet: str,
        octaves: int,
        voices: int,
        symmetry: float = 3.0,
        time_bandwidth: float = 60.0,
        gives: str = "magnitude",
        as_sequence: bool = False,
        inverse: bool = False,
    ) -> None:
        super().__init__()
        omega = torch.arange(steps // 2 + 1, dtype=torch.float64) * (2.0 * math.pi / steps)
        scales = 2.0 ** (torch.arange(octaves * voices, dtype=torch.float64) / voices).unsqueeze(1)
        if wavelet == "morlet":
            shortest = (6.0 + math.sqrt(2.0 * math.log(2.0))) / math.pi
            bank = 2.0 * torch.exp(-0.5 * (shortest * scales * omega - 6.0).square())
            bank[:, 0] = 0.0
        else:
            beta = time_bandwidth / symmetry
            peak = (beta / symmetry) ** (1.0 / symmetry)
            low, high = 1.0, 2.0  # of the peak: where the shortest wavelet has half its height is the highest frequency
            height = 1.0
            while height > 0.5:
                high *= 2.0
                height = math.exp(beta * math.log(high) - (high * peak) ** symmetry + peak**symmetry)
            for _ in range(80):
                middle = 0.5 * (low + high)
                height = math.exp(beta * math.log(middle) - (middle * peak) ** symmetry + peak**symmetry)
                low, high = (middle, high) if height > 0.5 else (low, middle)
            ratio = low / math.pi * scales * omega
            bank = 2.0 * torch.exp(beta * ratio.log() - peak**symmetry * (ratio**symmetry - 1.0))
        if inverse:
            power = bank.square().sum(0)
            bank = bank * torch.where(
                power > 1e-3 * power.max(), 1.0 / power.clamp(min=1e-300), torch.zeros_like(power)
            )
        self.register_buffer("bank", bank.float(), persistent=False)
        self.steps, self.gives, self.as_sequence, self.inverse = steps, gives, as_sequence, inverse

    def waves(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The wavelets themselves, (scales, steps), as real and imaginary parts: for exporters without complex
        numbers."""
        places = torch.arange(self.steps)
        turns = torch.arange(self.bank.shape[1]).unsqueeze(1) * places % self.steps
        angles = turns.double() * (2.0 * math.pi / self.steps)
        bank = self.bank.double() / self.steps
        if self.inverse:
            twice = 2 * torch.arange(self.bank.shape[1])
            bank = bank * (1.0 + ((twice > 0) & (twice < self.steps)).double())
        return (bank @ angles.cos()).float(), (bank @ angles.sin()).float()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype in (torch.float16, torch.bfloat16):
            x = x.float()
        return self.backward_transform(x) if self.inverse else self.transform(x)

    def transform(self, x: torch.Tensor) -> torch.Tensor:
        x = x.transpose(1, 2)
        if torch.compiler.is_exporting():
            rows = torch.cat(self.waves()).flip(1).unsqueeze(1)
            spectrum = nn.functional.conv1d(torch.cat((x[:, :, 1:], x), 2).reshape(-1, 1, 2 * self.steps - 1), rows)
            real, imaginary = torch.unflatten(spectrum, 0, (-1, x.shape[1])).chunk(2, 2)
        else:
            products = torch.fft.rfft(x).unsqueeze(2) * self.bank
            spectrum = torch.fft.ifft(products, n=self.steps)
            real, imaginary = spectrum.real, spectrum.imag
        if self.gives == "parts":
            y = torch.stack((real, imaginary), 2).flatten(1, 2)
        else:
            power = real.square() + imaginary.square() + 1e-12
            y = power if self.gives == "power" else power.sqrt()
        return y.flatten(1, 2).transpose(1, 2) if self.as_sequence else y.contiguous()

    def backward_transform(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() == 3:
            x = torch.unflatten(x.transpose(1, 2), 1, (-1, self.bank.shape[0]))
        x = torch.unflatten(x, 1, (-1, 2))
        if torch.compiler.is_exporting():
            real, imaginary = self.waves()
            rows = torch.cat((real, -imaginary)).flip(1).unsqueeze(0)
            parts = x.flatten(2, 3).flatten(0, 1)
            y = nn.functional.conv1d(torch.cat((parts[:, :, 1:], parts), 2), rows)
            return torch.unflatten(y, 0, (-1, x.shape[1])).squeeze(2).transpose(1, 2)
        spectrum = torch.fft.fft(torch.complex(x[:, :, 0].contiguous(), x[:, :, 1].contiguous()))
        total = (spectrum[..., : self.bank.shape[1]] * self.bank).sum(2)
        signal: torch.Tensor = torch.fft.irfft(total, n=self.steps)
        return signal.transpose(1, 2)


class Modwt(nn.Module):
    """Maximal overlap discrete wavelet transform, periodic: (batch, steps, channels) to (batch, channels, levels + 1,
    steps), details from fine to coarse and then what is left; or with `as_sequence` to (batch, steps, channels ·
    (levels + 1)). With `analysis` each row is what it adds to the signal: their sum is the signal."""

    filters: torch.Tensor

    def __init__(
        self, levels: int, scaling: tuple[float, ...], analysis: bool = True, as_sequence: bool = False
    ) -> None:
        super().__init__()
        smooth = torch.tensor(scaling, dtype=torch.float64) / math.sqrt(2.0)
        signs = torch.tensor([(-1.0) ** index for index in range(len(scaling))], dtype=torch.float64)
        filters = torch.stack((signs * smooth.flip(0), smooth))
        self.register_buffer("filters", filters.float().unsqueeze(1), persistent=False)
        self.levels, self.analysis, self.as_sequence = levels, analysis, as_sequence

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype in (torch.float16, torch.bfloat16):
            x = x.float()
        steps, channels = x.shape[1], x.shape[2]
        approximation = x.transpose(1, 2).reshape(-1, 1, steps)
        whole = torch.arange(steps, device=x.device)[-1:] + 1  # the length as a tensor, which an exporter keeps free
        rows = []
        for level in range(self.levels):
            apart, reach = 2**level, (self.filters.shape[2] - 1) * 2**level
            around = torch.remainder(torch.arange(steps + reach, device=x.device) - reach, whole)
            both = nn.functional.conv1d(approximation.index_select(2, around), self.filters.flip(2), dilation=apart)
            detail, approximation = both.chunk(2, 1)
            rows.append(detail)
        if self.analysis:
            y = approximation
            for level in reversed(range(self.levels)):
                apart, reach = 2**level, (self.filters.shape[2] - 1) * 2**level
                around = torch.remainder(torch.arange(steps + reach, device=x.device), whole)
                coarse = y.index_select(2, around).reshape(-1, 1, steps + reach)
                coarse = nn.functional.conv1d(coarse, self.filters[1:], dilation=apart)
                fine = nn.functional.conv1d(rows[level].index_select(2, around), self.filters[:1], dilation=apart)
                y = torch.cat((fine, coarse.reshape(-1, self.levels - level, steps)), 1)
        else:
            y = torch.cat([*rows, approximation], 1)
        y = torch.unflatten(y, 0, (-1, channels))
        return y.flatten(1, 2).transpose(1, 2) if self.as_sequence else y


class SpectralConv(nn.Module):
    """Multiplies the lowest frequencies of (batch, channels, places ...) by learned complex matrices, and drops the
    others. The weights hold a matrix for each frequency: of all axes but the last those from zero up, then those below
    zero; their last axis is real and imaginary part."""

    def __init__(self, in_channels: int, out_channels: int, modes: tuple[int, ...]) -> None:
        super().__init__()
        self.modes = tuple(modes)
        sizes = [2 * count for count in modes[:-1]] + [modes[-1]]
        self.weight = nn.Parameter(torch.rand(out_channels, in_channels, *sizes, 2) / (in_channels * out_channels))

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
        stacked = torch.cat((real, imaginary), 1)
        mixed = torch.bmm(stacked.flatten(2).permute(2, 0, 1), rows.flatten(2).permute(2, 1, 0))
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
            a, b = real.transpose(dim, -1), imaginary.transpose(dim, -1)
            real = (a @ cos + b @ sin).transpose(dim, -1)
            imaginary = (b @ cos - a @ sin).transpose(dim, -1)
        return real, imaginary

    def real_inverse(self, real: torch.Tensor, imaginary: torch.Tensor, sizes: torch.Size) -> torch.Tensor:
        """The inverse transform of these frequencies at all places, by the definition."""
        for dim in range(2, real.dim() - 1):
            cos, sin = self.waves(sizes[dim - 2], dim, real)
            a, b = real.transpose(dim, -1), imaginary.transpose(dim, -1)
            real = ((a @ cos.t() - b @ sin.t()) / sizes[dim - 2]).transpose(dim, -1)
            imaginary = ((b @ cos.t() + a @ sin.t()) / sizes[dim - 2]).transpose(dim, -1)
        cos, sin = self.waves(sizes[-1], real.dim() - 1, real)
        size = torch.arange(sizes[-1], device=real.device)[-1:] + 1
        twice = 2 * torch.arange(self.modes[-1], device=real.device)
        both = 1.0 + ((twice > 0) & (twice < size)).to(real.dtype)  # for the frequencies below zero
        weight = torch.where(twice <= size, both, torch.zeros_like(both)) / size
        return (real * weight) @ cos.t() - (imaginary * weight) @ sin.t()
