"""Input layers."""

from typing import Any

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Choice, Int
from netwright.engine.core.list_fields import Floats, Size
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import LayerType, Lowered, module

NORMALIZATIONS = ("none", "zerocenter", "zscore", "rescale-zero-one", "rescale-symmetric")
NOTES = {
    "none": "The data unchanged",
    "zerocenter": "Minus the mean of the training split",
    "zscore": "Minus the mean, divided by the standard deviation of the training split",
    "rescale-zero-one": "Minimum and maximum of the training split become 0 and 1",
    "rescale-symmetric": "Minimum and maximum of the training split become -1 and 1",
}


DIMENSIONS = {
    "channel": "One shift and scale per channel",
    "element": "One per number of the input, such as each pixel",
    "all": "One for all numbers",
}


def _has_numbers(layer: Any) -> bool:
    return getattr(layer, "content", "numbers") == "numbers"


def _is_fitted(layer: Any) -> bool:
    return _has_numbers(layer) and layer.normalization != "none" and layer.statistics == "fitted"


def _normalization() -> Choice:
    return Choice(
        "zscore",
        label="Normalisation",
        options=NORMALIZATIONS,
        notes=NOTES,
        help="Statistics of the training split, which become part of the exported network",
        visible_when=_has_numbers,
    )


def _dimension(*options: str) -> Choice:
    return Choice(
        "channel",
        label="Normalised per",
        options=options,
        notes={option: DIMENSIONS[option] for option in options},
        help="Numbers that share a shift and a scale. Default channel. MATLAB: NormalizationDimension",
        visible_when=_is_fitted,
    )


def _statistics() -> Choice:
    return Choice(
        "fitted",
        options=("fitted", "given"),
        notes={
            "fitted": "Measured on the training split, or kept from the weights that a run starts from",
            "given": "The numbers below, such as those that a trained network was made with",
        },
        help="Source of the statistics. Default fitted. MATLAB: ResetInputNormalization is true, or false with Mean, "
        "StandardDeviation, Min and Max",
        visible_when=lambda layer: _has_numbers(layer) and layer.normalization != "none",
    )


def _given(noun: str, *methods: str) -> Floats:
    def is_needed(layer: Any) -> bool:
        return _has_numbers(layer) and layer.statistics == "given" and layer.normalization in methods

    return Floats((), help=f"{noun}, one number for all channels or one per channel", visible_when=is_needed)


def _mean() -> Floats:
    return _given("Mean of the data", "zerocenter", "zscore")


def _deviation() -> Floats:
    return _given("Standard deviation of the data", "zscore")


def _minimum() -> Floats:
    return _given("Minimum of the data", "rescale-zero-one", "rescale-symmetric")


def _maximum() -> Floats:
    return _given("Maximum of the data", "rescale-zero-one", "rescale-symmetric")


class InputLayer(LayerType):
    """A layer without inputs: its type is declared, its normalisation fitted on the training split of the data.

    The built module, `Normalize` or `NormalizeBy` of `netwright.engine.lowering.modules.normalization`, holds `shift`
    and `scale` as buffers, so that weights and exports carry the fitted normalization: y = (x - shift) * scale.
    """

    is_input = True

    @property
    def normalization_kind(self) -> str:
        """One of `NORMALIZATIONS`."""
        return str(getattr(self, "normalization", "none")) if _has_numbers(self) else "none"

    @property
    def is_fitted(self) -> bool:
        """Whether shift and scale are measured on the training split."""
        return self.normalization_kind != "none" and _is_fitted(self)

    @property
    def normalized_per(self) -> str:
        """One of `DIMENSIONS`."""
        return str(getattr(self, "normalization_dimension", "channel")) if self.is_fitted else "channel"

    def problems(self) -> list[FieldError]:
        if self.normalized_per == "element" and not self.output().is_known:
            why = "sequences of any length have no fixed number of elements. Set the length, or choose channel."
            return [FieldError("normalization_dimension", why)]
        if self.normalization_kind == "none" or self.is_fitted:
            return []
        needed = [name for name in ("mean", "deviation", "minimum", "maximum") if self.is_visible(name)]
        channels = self.output().channels
        expected = "1 number" if channels == 1 else f"1 or {channels:,} numbers"
        for name in needed:
            if (count := len(getattr(self, name))) not in (1, channels):
                return [FieldError(name, f"expected {expected}, received {count:,}.")]
        if "deviation" in needed and min(self.deviation) <= 0:  # type: ignore[attr-defined]  # of the subclasses
            return [FieldError("deviation", "expected numbers above 0.")]
        if "maximum" in needed and min(self._given_numbers()[1]) <= 0:
            return [FieldError("maximum", "expected more than the minimum.")]
        return []

    def _given_numbers(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the shift and the spread of each channel that the fields give."""
        fields = {name: getattr(self, name) for name in ("mean", "deviation", "minimum", "maximum")}
        channels = self.output().channels
        mean, deviation, low, high = (
            values * channels if len(values) == 1 else values or (0.0,) * channels for values in fields.values()
        )
        match self.normalization_kind:
            case "zerocenter":
                return mean, (1.0,) * channels
            case "zscore":
                return mean, deviation
            case "rescale-zero-one":
                return low, tuple(b - a for a, b in zip(low, high, strict=True))
        pairs = list(zip(low, high, strict=True))
        return tuple((a + b) / 2 for a, b in pairs), tuple((b - a) / 2 for a, b in pairs)

    def lower(self, *x: TensorType) -> Lowered:
        out, per = self.output(), self.normalized_per
        if self.normalization_kind == "none":
            return ()
        own = "netwright.engine.lowering.modules.normalization."
        by_channel = tuple(out.channels if axis == "C" else 1 for axis in out.axes)
        if not self.is_fitted:
            shift, spread = self._given_numbers()
            scale = tuple(1.0 / size for size in spread)
            return module(f"{own}NormalizeBy", sizes=by_channel, shift=shift, scale=scale)
        if per == "channel":
            return module(f"{own}Normalize", channels=out.channels, dim=out.dim("C"), rank=out.rank)
        sizes = tuple(size if isinstance(size, int) and per == "element" else 1 for size in out.sizes)
        return module(f"{own}NormalizeBy", sizes=sizes)


class ImageInput(InputLayer):
    """Takes images, channels first.

        y = (x - shift) / scale

    Shift and scale are fitted before training, on the training split of the data, one number per channel, per element
    or for all: `zscore` takes mean and standard deviation, `zerocenter` the mean only, the two `rescale` ways minimum
    and maximum. They may be given instead. They are stored with the weights and part of every export.

    Output: (N, C, H, W).

    Source: LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998.
    """

    key, label, family = "image_input", "Image input", "Input"
    matlab = "imageInputLayer"
    found_as = "InputLayer"
    channels = Int(1, low=1, high=65536, help="1 for grey, 3 for colour")
    size = Size(28, length=2, help="Height × width")
    normalization = _normalization()
    normalization_dimension = _dimension("channel", "element", "all")
    statistics = _statistics()
    mean, deviation = _mean(), _deviation()
    minimum, maximum = _minimum(), _maximum()

    def output(self, *x: TensorType) -> TensorType:
        return image(self.channels, *self.size)

    def short_value(self) -> str:
        return " × ".join(map(str, (self.channels, *self.size)))


class VolumeInput(InputLayer):
    """Takes volumes, such as scans or short films, channels first.

        y = (x - shift) / scale

    Shift and scale are fitted before training, on the training split of the data, one number per channel, per element
    or for all: `zscore` takes mean and standard deviation, `zerocenter` the mean only, the two `rescale` ways minimum
    and maximum. They may be given instead. They are stored with the weights and part of every export.

    Output: (N, C, D, H, W).

    Source: LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998.
    """

    key, label, family = "volume_input", "3-D image input", "Input"
    matlab = "image3dInputLayer"
    channels = Int(1, low=1, high=65536, help="Number of values per voxel")
    size = Size(28, length=3, help="Depth × height × width")
    normalization = _normalization()
    normalization_dimension = _dimension("channel", "element", "all")
    statistics = _statistics()
    mean, deviation = _mean(), _deviation()
    minimum, maximum = _minimum(), _maximum()

    def output(self, *x: TensorType) -> TensorType:
        return volume(self.channels, *self.size)

    def short_value(self) -> str:
        return " × ".join(map(str, (self.channels, *self.size)))


class SequenceInput(InputLayer):
    """Takes sequences: vectors of numbers, or indices such as words.

    Steps first, then channels. With a length of 0 a sequence may have any length. Indices are whole numbers from 0
    (MATLAB counts from 1) and go to an embedding; they are not normalised. Complex data comes as twice the channels,
    each real part before its imaginary part (MATLAB's SplitComplexInputs); a real-to-complex layer takes them so.

    If the sequences of the data differ in length, a batch is padded at their ends to its longest. Layers do not see
    padding: each sequence has the result that it has alone. An exported network takes sequences of any length, too, but
    of equal length within a batch.

        y = (x - shift) / scale

    Shift and scale are fitted before training, on the training split of the data, one number per channel, per element
    or for all: `zscore` takes mean and standard deviation, `zerocenter` the mean only, the two `rescale` ways minimum
    and maximum. They may be given instead. They are stored with the weights and part of every export.

    Output: numbers (N, T, C), or indices (N, T).

    Source: LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998.
    """

    key, label, family = "sequence_input", "Sequence input", "Input"
    matlab = "sequenceInputLayer"
    found_as = "InputLayer"
    content = Choice(
        "numbers",
        options=("numbers", "indices"),
        notes={"numbers": "A vector of numbers per step", "indices": "One whole number per step, for an embedding"},
        help="Content of each step",
    )
    channels = Int(
        1, low=1, high=65536, help="Number of values per step", visible_when=lambda layer: layer.content == "numbers"
    )
    length = Int(0, low=0, high=10_000_000, unit="steps", help="Number of steps; 0: any length")
    normalization = _normalization()
    normalization_dimension = _dimension("channel", "element", "all")
    statistics = _statistics()
    mean, deviation = _mean(), _deviation()
    minimum, maximum = _minimum(), _maximum()

    def output(self, *x: TensorType) -> TensorType:
        steps = self.length or Symbol("T")
        return tokens(steps) if self.content == "indices" else sequence(steps, self.channels)

    def short_value(self) -> str:
        return "indices" if self.content == "indices" else f"{self.channels:,} channel{'s' * (self.channels > 1)}"


class FeatureInput(InputLayer):
    """Takes one vector of numbers per sample, such as a row of a table.

        y = (x - shift) / scale

    Shift and scale are fitted before training, on the training split of the data, one number per channel, per element
    or for all: `zscore` takes mean and standard deviation, `zerocenter` the mean only, the two `rescale` ways minimum
    and maximum. They may be given instead. They are stored with the weights and part of every export.

    Output: (N, C).

    Source: LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998.
    """

    key, label, family = "feature_input", "Feature input", "Input"
    matlab = "featureInputLayer"
    found_as = "InputLayer"
    channels = Int(1, low=1, label="Features", help="Number of values per sample")
    normalization = _normalization()
    normalization_dimension = _dimension("channel", "all")
    statistics = _statistics()
    mean, deviation = _mean(), _deviation()
    minimum, maximum = _minimum(), _maximum()

    def output(self, *x: TensorType) -> TensorType:
        return features(self.channels)

    def short_value(self) -> str:
        return f"{self.channels:,} feature{'s' * (self.channels > 1)}"
