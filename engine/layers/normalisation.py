"""Normalisation: numbers are shifted and scaled to mean 0 and variance 1, over different sets of them.

All of them: y = (x - mean) / sqrt(variance + epsilon) · scale + shift, with a learned scale and shift for each channel.
"""

from dataclasses import replace
from typing import Any

from netwright.engine.core.errors import FieldError, ShapeError
from netwright.engine.core.fields import Bool, Choice, Float, Int
from netwright.engine.core.types import Sizes, TensorType
from netwright.engine.layers.base import (
    LENGTHS,
    Call,
    LayerType,
    Lowered,
    as_chain,
    channels_first,
    expect,
    expect_real,
    function,
    method,
    module,
    with_lengths,
)
from netwright.engine.layers.weighted import WithScale, WithScaleAndOffset, freeze_field


class _Normalisation(WithScaleAndOffset):
    """Base of normalisations."""

    epsilon = Float(1e-5, above=0.0, high=1.0, help="Constant added to the variance to avoid division by zero")
    affine = Bool(True, label="Scale and shift", help="Learns a scale and a shift for each channel")

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"weight": (x.channels,), "bias": (x.channels,)} if self.affine else {}

    def _arguments(self, switch: str = "affine") -> dict[str, Any]:
        """The arguments that are not torch's defaults. `switch` is what torch calls scale and shift."""
        arguments: dict[str, Any] = {} if self.epsilon == 1e-5 else {"eps": self.epsilon}
        return arguments if self.affine else {**arguments, switch: False}


class BatchNorm(_Normalisation):
    """Normalises each channel over the batch and all positions.

        y = (x - mean) / sqrt(variance + epsilon) · scale + shift

        running = (1 - decay) · running + decay · batch

    Mean and variance are those of the batch while training, of all workers together; otherwise the running ones, which
    follow them. The decay is torch's momentum and MATLAB's MeanDecay and VarianceDecay.
    A frozen one uses the running ones in training too, and moves neither them nor scale and shift.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Ioffe, Szegedy: Batch normalization, 2015.
    """

    key, label, family = "batch_norm", "Batch normalisation", "Normalisation"
    matlab = "batchNormalizationLayer"
    found_as = "bn BatchNormalization"
    frozen = freeze_field(
        "Keeps scale, shift and running statistics fixed during training, and normalises by the running statistics"
    )
    momentum = Float(
        0.1,
        above=0.0,
        high=1.0,
        label="Decay",
        help="Weight of the batch in the running mean and variance; torch: momentum",
    )

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        return x.with_sizes(C=x.channels)

    def lower(self, x: TensorType) -> Lowered:
        arguments = self._arguments() | ({} if self.momentum == 0.1 else {"momentum": self.momentum})
        dims = max(1, len(x.spatial))
        return channels_first(x, module(f"BatchNorm{dims}d", num_features=x.channels, **arguments))

    def lower_padded(self, x: TensorType) -> Lowered:
        return _padded(self.lower(x))


OVER = {
    "auto": "Channels of features and sequences; channels and positions of images and volumes",
    "channel-only": "The channels, separately at each position",
    "spatial-channel": "All channels and positions of an image or a volume; the channels of each step of a sequence",
    "batch-excluded": "All channels and positions of a sample together",
}


class LayerNorm(_Normalisation):
    """Normalises each sample by itself, over its channels or over everything.

        y = (x - mean) / sqrt(variance + epsilon) · scale + shift

    At each step of a sequence over the channels; images and volumes over all channels and places, unless told
    otherwise. Scale and shift are one per channel either way.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Ba, Kiros, Hinton: Layer normalization, 2016.
    """

    key, label, family = "layer_norm", "Layer normalisation", "Normalisation"
    matlab = "layerNormalizationLayer"
    found_as = "ln LayerNormalization"
    over = Choice("auto", options=tuple(OVER), notes=OVER, help="Axes over which mean and variance are computed")

    def _whole(self, x: TensorType) -> bool:
        """Whether everything but the batch goes into one mean."""
        if self.over in ("auto", "spatial-channel"):
            return x.layout in ("image", "volume")
        return x.rank > 1 and self.over == "batch-excluded"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        if self._whole(x):
            _refuse_single(x, x.channels, "over")
        return x.with_sizes(C=x.channels)

    def lower(self, x: TensorType) -> Lowered:
        if self._whole(x):
            return channels_first(x, module("GroupNorm", num_groups=1, num_channels=x.channels, **self._arguments()))
        return _channels_last(
            x, module("LayerNorm", normalized_shape=x.channels, **self._arguments("elementwise_affine"))
        )

    def lower_padded(self, x: TensorType) -> Lowered:
        return _padded(self.lower(x)) if self._whole(x) else self.lower(x)


def _padded(lowered: Lowered) -> Lowered:
    """The calls with the normalisation in them exchanged for one that looks at real steps only."""
    return tuple(
        with_lengths(replace(call, target=call.target.replace("torch.nn.", f"{LENGTHS}Padded")))
        if call.kind == "module"
        else call
        for call in as_chain(lowered)
    )


def _channels_last(x: TensorType, norm: Call) -> Lowered:
    """The call, with the channels moved behind all places before it, and back after it."""
    if x.axes[-1] == "C":
        return norm
    last = x.rank
    there, back = (0, *range(2, last + 1), 1), (0, last, *range(1, last))
    return method("permute", *there), norm, method("permute", *back)


class RmsNorm(WithScale):
    """Scales the channels of each place so that their root mean square is 1. (RMSNorm)

        y = x / sqrt(mean over the channels of x² + epsilon) · scale

    Layer normalisation without the mean and without the shift: cheaper, and as good in many transformers. Each step of
    a sequence and each place of an image stands by itself.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Zhang, Sennrich: Root mean square layer normalization, 2019.
    """

    key, label, family = "rms_norm", "RMS normalisation", "Normalisation"
    epsilon = Float(1e-5, above=0.0, high=1.0, help="Constant added to the mean square to avoid division by zero")
    affine = Bool(True, label="Scale", help="Learns a scale for each channel")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        return x.with_sizes(C=x.channels)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"weight": (x.channels,)} if self.affine else {}

    def lower(self, x: TensorType) -> Lowered:
        arguments: dict[str, Any] = {"normalized_shape": x.channels, "eps": self.epsilon}
        if not self.affine:
            arguments["elementwise_affine"] = False
        return _channels_last(x, module("RMSNorm", **arguments))


class GroupNorm(_Normalisation):
    """Normalises each sample over groups of its channels and all positions.

        y = (x - mean) / sqrt(variance + epsilon) · scale + shift

    Mean and variance are taken over the channels of one group and all positions of one sample, so the batch size makes
    no difference. One group is layer normalisation over everything, a group for each channel is instance normalisation.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Wu, He: Group normalization, 2018.
    """

    key, label, family = "group_norm", "Group normalisation", "Normalisation"
    matlab = "groupNormalizationLayer"
    found_as = "gn GroupNormalization"
    groups = Int(
        1,
        low=0,
        high=1_000_000,
        help="Number of equal groups of channels; 1: all channels together, 0: one group per channel",
    )

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        groups = self.groups or x.channels
        if x.channels % groups:
            raise ShapeError(
                f"The {x.channels:,} channels of the input cannot be divided into {groups:,} equal groups. "
                f"Use a divisor of {x.channels:,}.",
                field="groups",
            )
        _refuse_single(x, x.channels // groups, "groups")
        return x.with_sizes(C=x.channels)

    def lower(self, x: TensorType) -> Lowered:
        groups = self.groups or x.channels
        return channels_first(x, module("GroupNorm", num_groups=groups, num_channels=x.channels, **self._arguments()))

    def lower_padded(self, x: TensorType) -> Lowered:
        return _padded(self.lower(x))

    def short_value(self) -> str:
        return f"{self.groups:,} group{'s' * (self.groups > 1)}" if self.groups else "channel-wise"


class InstanceNorm(_Normalisation):
    """Normalises each channel of each sample over all positions.

        y = (x - mean) / sqrt(variance + epsilon) · scale + shift

    Mean and variance are taken over the places of one channel of one sample, in training and afterwards alike; there
    are no running statistics.

    Input: (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Ulyanov, Vedaldi, Lempitsky: Instance normalization: the missing ingredient for fast stylization, 2016.
    """

    key, label, family = "instance_norm", "Instance normalisation", "Normalisation"
    matlab = "instanceNormalizationLayer"
    found_as = "in"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence", "image", "volume")
        _refuse_single(x, 1, None)
        return x.with_sizes(C=x.channels)

    def lower(self, x: TensorType) -> Lowered:
        # torch learns nothing here unless told to, the other way round than its other normalisations
        arguments = {name: value for name, value in self._arguments().items() if name == "eps"}
        arguments |= {"affine": True} if self.affine else {}
        return channels_first(x, module(f"InstanceNorm{len(x.spatial)}d", num_features=x.channels, **arguments))

    def lower_padded(self, x: TensorType) -> Lowered:
        return _padded(self.lower(x))


class CrossChannelNorm(LayerType):
    """Divides each number by the size of its neighbours in other channels at the same place. (Local response, LRN)

        y[c] = x[c] / (K + alpha / n · sum of x[c']² over the n channels c' around c) ^ beta

    The window goes from c - floor((n - 1) / 2) to c + floor(n / 2), as in MATLAB and ONNX; channels beyond the first
    and the last count as zero, and the sum is divided by n there too. Where n is even, torch's own LocalResponseNorm
    looks the other way. K is 2 as in MATLAB and the source; torch and ONNX start with 1. Nothing is learned.

    Input: (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, 2012. There
    alpha is not divided by n: its 1e-4 with n = 5 is an alpha of 5e-4 here.
    """

    key, label, family = "cross_channel_norm", "Cross-channel normalisation", "Normalisation"
    matlab = "crossChannelNormalizationLayer"
    found_as = "lrn LocalResponseNorm"
    window = Int(
        5,
        low=1,
        high=10_000,
        unit="channels",
        help="Number of channels in the window around each channel, itself included",
    )
    alpha = Float(1e-4, low=0.0, high=1e6, help="Factor of the mean square of the window")
    beta = Float(0.75, low=0.01, high=100.0, help="Exponent of the divisor")
    k = Float(2.0, low=1e-5, high=1e6, label="K", help="Constant added to the divisor to avoid division by zero")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image", "volume", "sequence")
        return x

    def lower(self, x: TensorType) -> Lowered:
        arguments = {"size": self.window, "alpha": self.alpha, "beta": self.beta, "k": self.k}
        name = (
            "LocalResponseNorm"
            if self.window % 2
            else "netwright.engine.lowering.modules.normalization.CrossChannelNorm"
        )
        return channels_first(x, module(name, **arguments))

    def short_value(self) -> str:
        return f"{self.window:,} channel{'s' * (self.window > 1)}"


INVERSES = {
    "zscore": "x · deviation + mean: the reverse of zscore",
    "zerocenter": "x + mean: the reverse of zerocenter",
    "rescale-zero-one": "0 and 1 become minimum and maximum",
    "rescale-symmetric": "-1 and 1 become minimum and maximum",
}


def _number(default: float, help: str, *kinds: str, above: float | None = None) -> Float:
    low = -1e30 if above is None else above

    def is_given(layer: Any) -> bool:
        return not layer.is_fitted and layer.kind in kinds

    return Float(default, low=low, above=above, high=1e30, help=help, visible_when=is_given)


NUMBERS = {
    "given": "The values below, for all channels",
    "fitted": "Statistics of the responses in the training split, one value per channel, stored with the weights",
}


class InverseNorm(LayerType):
    """Turns normalised numbers back into units, such as at the end of a regression.

        zscore: y = x · deviation + mean
        zerocenter: y = x + mean
        rescale-zero-one: y = x · (maximum - minimum) + minimum
        rescale-symmetric: y = (x + 1) · (maximum - minimum) / 2 + minimum

    The reverse of what an input layer does, with numbers that are given here and hold for all channels, or `fitted`
    ones: those of the responses in the training split, one for each channel, found before training begins. Then it must
    be the last layer. The network before it works with numbers around zero, which train well; the output, and every
    export, has the units of the data. The loss compares in these units, or, with the training option "Normalise
    targets", in normalised ones, so that responses of different sizes count the same. (MATLAB: NormalizeTargets, which
    takes the numbers of this layer from the responses)

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.
    """

    key, label, family = "inverse_norm", "Inverse normalisation", "Normalisation"
    matlab = "inverseNormalizationLayer"
    kind = Choice("zscore", options=tuple(INVERSES), notes=INVERSES, help="Normalisation to invert")
    numbers = Choice(
        "given", options=tuple(NUMBERS), notes=NUMBERS, help="Source of the mean, the standard deviation and the limits"
    )
    mean = _number(0.0, "Mean of the responses, in their units", "zscore", "zerocenter")
    deviation = _number(1.0, "Standard deviation of the responses, in their units", "zscore", above=0.0)
    minimum = _number(0.0, "Minimum of the responses, in their units", "rescale-zero-one", "rescale-symmetric")
    maximum = _number(1.0, "Maximum of the responses, in their units", "rescale-zero-one", "rescale-symmetric")

    def problems(self) -> list[FieldError]:
        if self.is_visible("maximum") and self.maximum <= self.minimum:
            message = f"expected more than the minimum, {self.minimum:g}, received {self.maximum:g}."
            return [FieldError("maximum", message)]
        return []

    @property
    def is_fitted(self) -> bool:
        """Whether the numbers come from the responses in the training split."""
        return bool(self.numbers == "fitted")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x.with_sizes(C=x.channels) if self.is_fitted else x

    def _line(self) -> tuple[float, float]:
        """Scale and shift: y = x · scale + shift."""
        match self.kind:
            case "zscore":
                return self.deviation, self.mean
            case "zerocenter":
                return 1.0, self.mean
            case "rescale-zero-one":
                return self.maximum - self.minimum, self.minimum
        return (self.maximum - self.minimum) / 2, (self.maximum + self.minimum) / 2

    def lower(self, x: TensorType) -> Lowered:
        if self.is_fitted:
            name = "netwright.engine.lowering.modules.normalization.InverseNormalize"
            return module(name, channels=x.channels, dim=x.dim("C"), rank=x.rank)
        scale, shift = self._line()
        return function("torch.mul", scale), function("torch.add", shift)

    def short_value(self) -> str:
        return self.kind


def _refuse_single(x: TensorType, channels: int, field: str | None) -> None:
    """Refuse to normalise one number by itself: the result would always be zero, and torch refuses it too."""
    places = [x[axis] for axis in x.spatial]
    if channels == 1 and all(size == 1 for size in places):
        raise ShapeError(
            f"Each mean would be taken over one number only, and the result would be zero. Received {x}. "
            "Use batch normalisation, or an input with more places or more channels together.",
            field=field,
            port=None if field else "in",
        )
