"""Normalisation: numbers are shifted and scaled to mean 0 and variance 1, over different sets of them.

All of them: y = (x - mean) / sqrt(variance + epsilon) · scale + shift, with a learned scale and shift for each channel.
"""

from typing import Any

from engine.errors import MisfitError
from engine.fields import Bool, Choice, Float, Int
from engine.layers.base import Lowered, channels_first, expect, method, module
from engine.layers.types import Sizes, TensorType
from engine.layers.weighted import WithScaleAndOffset, freeze_field


class _Normalisation(WithScaleAndOffset):
    """What all of them share."""

    epsilon = Float(1e-5, above=0.0, high=1.0, help="Added to the variance, so that nothing is divided by zero")
    affine = Bool(True, label="Scale and shift", help="Learns a scale and a shift for each channel")

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"weight": (x.channels,), "bias": (x.channels,)} if self.affine else {}

    def _arguments(self, switch: str = "affine") -> dict[str, Any]:
        """The arguments that are not torch's defaults. `switch` is what torch calls scale and shift."""
        given: dict[str, Any] = {} if self.epsilon == 1e-5 else {"eps": self.epsilon}
        return given if self.affine else {**given, switch: False}


class BatchNorm(_Normalisation):
    """Normalises each channel over the batch and all places.

        y = (x - mean) / sqrt(variance + epsilon) · scale + shift

        running = (1 - decay) · running + decay · batch

    Mean and variance are those of the batch while training, of all workers together; otherwise the running ones, which
    follow them. The decay is torch's momentum and MATLAB's MeanDecay and VarianceDecay.
    A frozen one uses the running ones in training too, and moves neither them nor scale and shift.

    Source: Ioffe, Szegedy: Batch normalization, 2015.
    """

    key, label, family = "batch_norm", "Batch normalisation", "Normalisation"
    matlab = "batchNormalizationLayer"
    frozen = freeze_field(
        "Training leaves scale, shift and running statistics as they are, and normalises by the latter"
    )
    momentum = Float(
        0.1, above=0.0, high=1.0, label="Decay", help="How fast mean and variance follow the batch; torch's momentum"
    )

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        return x.with_sizes(C=x.channels)

    def lower(self, x: TensorType) -> Lowered:
        given = self._arguments() | ({} if self.momentum == 0.1 else {"momentum": self.momentum})
        dims = max(1, len(x.spatial))
        return channels_first(x, module(f"BatchNorm{dims}d", num_features=x.channels, **given))


OVER = {
    "auto": "Channels of features and sequences, channels and places of images and volumes",
    "channel-only": "The channels, at each place by itself",
    "batch-excluded": "All channels and places of a sample together",
}


class LayerNorm(_Normalisation):
    """Normalises each sample by itself, over its channels or over everything.

        y = (x - mean) / sqrt(variance + epsilon) · scale + shift

    At each step of a sequence over the channels; images and volumes over all channels and places, unless told
    otherwise. Scale and shift are one a channel either way.

    Source: Ba, Kiros, Hinton: Layer normalization, 2016.
    """

    key, label, family = "layer_norm", "Layer normalisation", "Normalisation"
    matlab = "layerNormalizationLayer"
    over = Choice("auto", options=tuple(OVER), notes=OVER, help="What the mean and the variance are taken over")

    def _whole(self, x: TensorType) -> bool:
        """Whether everything but the batch goes into one mean."""
        chosen = "batch-excluded" if x.layout in ("image", "volume") else "channel-only"
        return x.rank > 1 and (chosen if self.over == "auto" else self.over) == "batch-excluded"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        if self._whole(x):
            _refuse_single(x, x.channels, "over")
        return x.with_sizes(C=x.channels)

    def lower(self, x: TensorType) -> Lowered:
        if self._whole(x):
            return channels_first(x, module("GroupNorm", num_groups=1, num_channels=x.channels, **self._arguments()))
        norm = module("LayerNorm", normalized_shape=x.channels, **self._arguments("elementwise_affine"))
        if x.axes[-1] == "C":
            return norm
        last = x.rank
        there, back = (0, *range(2, last + 1), 1), (0, last, *range(1, last))
        return method("permute", *there), norm, method("permute", *back)


class GroupNorm(_Normalisation):
    """Normalises each sample over groups of its channels and all places.

        y = (x - mean) / sqrt(variance + epsilon) · scale + shift

    Mean and variance are taken over the channels of one group and all places of one sample, so the batch size makes no
    difference. One group is layer normalisation over everything, a group for each channel is instance normalisation.

    Source: Wu, He: Group normalization, 2018.
    """

    key, label, family = "group_norm", "Group normalisation", "Normalisation"
    matlab = "groupNormalizationLayer"
    groups = Int(1, low=0, high=1_000_000, help="Equal groups of channels; 1: all together, 0: every channel by itself")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence", "image", "volume")
        groups = self.groups or x.channels
        if x.channels % groups:
            raise MisfitError(
                f"The {x.channels:,} channels of the input cannot be divided into {groups:,} equal groups. "
                f"Use a divisor of {x.channels:,}.",
                field="groups",
            )
        _refuse_single(x, x.channels // groups, "groups")
        return x.with_sizes(C=x.channels)

    def lower(self, x: TensorType) -> Lowered:
        groups = self.groups or x.channels
        return channels_first(x, module("GroupNorm", num_groups=groups, num_channels=x.channels, **self._arguments()))

    def telling(self) -> str:
        return f"{self.groups:,} group{'s' * (self.groups > 1)}" if self.groups else "channel-wise"


class InstanceNorm(_Normalisation):
    """Normalises each channel of each sample over all places.

        y = (x - mean) / sqrt(variance + epsilon) · scale + shift

    Mean and variance are taken over the places of one channel of one sample, in training and afterwards alike; there
    are no running statistics.

    Source: Ulyanov, Vedaldi, Lempitsky: Instance normalization: the missing ingredient for fast stylization, 2016.
    """

    key, label, family = "instance_norm", "Instance normalisation", "Normalisation"
    matlab = "instanceNormalizationLayer"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence", "image", "volume")
        _refuse_single(x, 1, None)
        return x.with_sizes(C=x.channels)

    def lower(self, x: TensorType) -> Lowered:
        # torch learns nothing here unless told to, the other way round than its other normalisations
        given = {name: value for name, value in self._arguments().items() if name == "eps"}
        given |= {"affine": True} if self.affine else {}
        return channels_first(x, module(f"InstanceNorm{len(x.spatial)}d", num_features=x.channels, **given))


def _refuse_single(x: TensorType, channels: int, field: str | None) -> None:
    """Refuse to normalise one number by itself: the result would always be zero, and torch refuses it too."""
    places = [x[axis] for axis in x.spatial]
    if channels == 1 and all(size == 1 for size in places):
        raise MisfitError(
            f"Each mean would be taken over one number only, and the result would be zero. Received {x}. "
            "Use batch normalisation, or an input with more places or more channels together.",
            field=field,
            port=None if field else "in",
        )
