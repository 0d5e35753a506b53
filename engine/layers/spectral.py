"""Convolutions in the frequency domain, for Fourier neural operators."""

import math
from typing import Any, ClassVar, Final

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Int
from netwright.engine.core.list_fields import Size
from netwright.engine.core.types import Sizes, TensorType
from netwright.engine.layers.base import Lowered, channels_first, expect, module
from netwright.engine.layers.weighted import NARROW, WithWeights, initializer_field

SPECTRAL_INITIALIZERS: Final = {
    "fourier": "Both parts uniform from 0 to 1 / (inputs · outputs), as in the paper's code",
    "glorot": "Uniform parts, with variance 2 / (inputs + outputs) of the complex number",
    "he": "Normal parts, with variance 2 / inputs of the complex number",
    "narrow-normal": NARROW,
    "zeros": "All zero",
}


def _modes(dims: int) -> Size:
    return Size(
        8,
        length=dims,
        help=(
            "Number of frequencies kept along each axis, from zero up; except on the last axis, as many negative ones"
        ),
    )


class _SpectralConvolution(WithWeights):
    dims: ClassVar[int] = 1
    modes: Any
    filters = Int(16, low=1, high=65536, help="Number of output channels")
    weights_initializer = initializer_field("weights", "fourier", SPECTRAL_INITIALIZERS, label="Initialiser")

    @property
    def _kept(self) -> Sizes:
        return (*(2 * count for count in self.modes[:-1]), self.modes[-1])

    def output(self, x: TensorType) -> TensorType:
        expect(x, ("sequence", "image", "volume")[self.dims - 1])
        for number, (axis, count) in enumerate(zip(x.spatial, self.modes, strict=True), 1):
            size = x[axis]
            most = size if not isinstance(size, int) else size // 2 + 1 if number == self.dims else size // 2
            if isinstance(most, int) and count > most:
                raise ShapeError(
                    f"{count:,} modes along axis {axis}, which has {most:,} frequencies: received {x}. "
                    f"Use at most {most:,}.",
                    field="modes",
                )
        return x.with_sizes(C=self.filters) if x.channels else x

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"weight": (self.filters, x.channels, *self._kept, 2)}

    def flops(self, x: TensorType) -> int:
        """Only the products with the matrices: torch's counter knows no Fourier transforms."""
        return 8 * self.filters * x.channels * math.prod(self._kept) if x.is_known else 0

    def lower(self, x: TensorType) -> Lowered:
        return channels_first(
            x,
            module(
                "netwright.engine.lowering.modules.signal.SpectralConv",
                in_channels=x.channels,
                out_channels=self.filters,
                modes=tuple(self.modes),
            ),
        )

    def lower_padded(self, x: TensorType) -> Lowered:
        if x.is_open:
            raise ShapeError("Each of its frequencies depends on the length of the whole sequence.")
        return self.lower(x)

    def short_value(self) -> str:
        return f"{self.filters:,} filter{'s' * (self.filters > 1)}"


class SpectralConv1d(_SpectralConvolution):
    """Convolves a whole sequence at once: its lowest frequencies are multiplied by learned matrices. (FNO)

        X[k] = sum over t of x[t] exp(-2πi k t / steps)
        Y[k] = W[k] X[k] for k < modes, else 0
        y[t] = what Y makes at step t (the inverse transform)

    W[k] is a complex matrix, outputs × inputs, for each frequency k. What it learns does not depend on the number of
    steps: a network can be trained on coarse data and used on fine data. The sequence counts as periodic. A sequence of
    any length that is too short for all modes uses those it has. High frequencies are dropped: add what a 1-D
    convolution of width 1 gives beside it.

    Exported to ONNX the transforms become products with cosines and sines.

    Input: (N, T, C). Output: (N, T, K) with K filters; the other sizes stay.

    Source: Li et al.: Fourier neural operator for parametric partial differential equations, 2021.
    """

    key, label, family, dims = "spectral_conv1d", "1-D spectral convolution", "Signal", 1
    matlab = "spectralConvolution1dLayer"
    modes = _modes(1)


class SpectralConv2d(_SpectralConvolution):
    """Convolves a whole image at once: its lowest frequencies are multiplied by learned matrices. (FNO)

        X = the 2-D Fourier transform of x
        Y[k, l] = W[k, l] X[k, l] for -m ≤ k < m (height) and 0 ≤ l < n (width), else 0
        y = the inverse transform of Y

    The modes are m and n. W[k, l] is a complex matrix, outputs × inputs, for each pair of frequencies.
    What it learns does not depend on the number of places: a network can be trained on coarse data and used on fine
    data. The image counts as periodic. High frequencies are dropped: add what a 2-D convolution of width 1 gives beside
    it.

    Exported to ONNX the transforms become products with cosines and sines.

    Input: (N, C, H, W). Output: (N, K, H, W) with K filters; the other sizes stay.

    Source: Li et al.: Fourier neural operator for parametric partial differential equations, 2021.
    """

    key, label, family, dims = "spectral_conv2d", "2-D spectral convolution", "Signal", 2
    matlab = "spectralConvolution2dLayer"
    modes = _modes(2)


class SpectralConv3d(_SpectralConvolution):
    """Convolves a whole volume at once: its lowest frequencies are multiplied by learned matrices. (FNO)

        X = the 3-D Fourier transform of x
        Y[j, k, l] = W[j, k, l] X[j, k, l] for -m ≤ j < m, -n ≤ k < n and 0 ≤ l < o, else 0
        y = the inverse transform of Y

    The modes are m, n and o. W[j, k, l] is a complex matrix, outputs × inputs, for each triple of
    frequencies. The volume counts as periodic. High frequencies are dropped: add what a 3-D convolution of width 1
    gives beside it.

    Exported to ONNX the transforms become products with cosines and sines.

    Input: (N, C, D, H, W). Output: (N, K, D, H, W) with K filters; the other sizes stay.

    Source: Li et al.: Fourier neural operator for parametric partial differential equations, 2021.
    """

    key, label, family, dims = "spectral_conv3d", "3-D spectral convolution", "Signal", 3
    matlab = "spectralConvolution3dLayer"
    modes = _modes(3)
