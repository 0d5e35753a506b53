"""Where data enters a network."""

from engine.core.fields import Choice, Int
from engine.core.list_fields import Size
from engine.core.types import Symbol, TensorType, features, image, sequence, tokens, volume
from engine.layers.base import LayerType, Lowered, module

NORMALIZATIONS = ("none", "zerocenter", "zscore", "rescale-zero-one", "rescale-symmetric")
NOTES = {
    "none": "The data unchanged",
    "zerocenter": "Minus the mean of the training split",
    "zscore": "Minus the mean, divided by the standard deviation of the training split",
    "rescale-zero-one": "Minimum and maximum of the training split become 0 and 1",
    "rescale-symmetric": "Minimum and maximum of the training split become -1 and 1",
}


def _normalization() -> Choice:
    return Choice(
        "zscore",
        label="Normalisation",
        options=NORMALIZATIONS,
        notes=NOTES,
        help="Statistics of the training split per channel, which become part of the exported network",
    )


class InputLayer(LayerType):
    """A layer without inputs: its type is declared, its normalisation fitted on the training split of the data.

    The built module, `engine.lowering.modules.normalization.Normalize`, holds `shift` and `scale`, one number per
    channel, as buffers, so that weights and exports carry the fitted normalization: y = (x - shift) * scale.
    """

    is_input = True

    @property
    def normalization_kind(self) -> str:
        """One of `NORMALIZATIONS`."""
        return str(getattr(self, "normalization", "none"))

    def lower(self, *x: TensorType) -> Lowered:
        out = self.output()
        if self.normalization_kind == "none":
            return ()
        return module(
            "engine.lowering.modules.normalization.Normalize", channels=out.channels, dim=out.dim("C"), rank=out.rank
        )


class ImageInput(InputLayer):
    """Takes images, channels first.

        y = (x - shift) / scale

    Shift and scale are fitted once, on the training split of the data, one number per channel: `zscore` takes mean and
    standard deviation, `zerocenter` the mean only, the two `rescale` ways minimum and maximum. They are stored with
    the weights and part of every export.

    Source: LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998.
    """

    key, label, family = "image_input", "Image input", "Input"
    matlab = "imageInputLayer"
    found_as = "InputLayer"
    channels = Int(1, low=1, high=65536, help="1 for grey, 3 for colour")
    size = Size(28, length=2, help="Height × width")
    normalization = _normalization()

    def output(self, *x: TensorType) -> TensorType:
        return image(self.channels, *self.size)

    def short_value(self) -> str:
        return " × ".join(map(str, (self.channels, *self.size)))


class VolumeInput(InputLayer):
    """Takes volumes, such as scans or short films, channels first.

        y = (x - shift) / scale

    Shift and scale are fitted once, on the training split of the data, one number per channel: `zscore` takes mean and
    standard deviation, `zerocenter` the mean only, the two `rescale` ways minimum and maximum. They are stored with
    the weights and part of every export.

    Source: LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998.
    """

    key, label, family = "volume_input", "3-D image input", "Input"
    matlab = "image3dInputLayer"
    channels = Int(1, low=1, high=65536, help="Number of values per voxel")
    size = Size(28, length=3, help="Depth × height × width")
    normalization = _normalization()

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

    Shift and scale are fitted once, on the training split of the data, one number per channel: `zscore` takes mean and
    standard deviation, `zerocenter` the mean only, the two `rescale` ways minimum and maximum. They are stored with
    the weights and part of every export.

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
    normalization = Choice(
        "zscore",
        label="Normalisation",
        options=NORMALIZATIONS,
        notes=NOTES,
        help="Statistics of the training split per channel, which become part of the exported network",
        visible_when=lambda layer: layer.content == "numbers",
    )

    @property
    def normalization_kind(self) -> str:
        return self.normalization if self.content == "numbers" else "none"

    def output(self, *x: TensorType) -> TensorType:
        steps = self.length or Symbol("T")
        return tokens(steps) if self.content == "indices" else sequence(steps, self.channels)

    def short_value(self) -> str:
        return "indices" if self.content == "indices" else f"{self.channels:,} channel{'s' * (self.channels > 1)}"


class FeatureInput(InputLayer):
    """Takes one vector of numbers per sample, such as a row of a table.

        y = (x - shift) / scale

    Shift and scale are fitted once, on the training split of the data, one number per channel: `zscore` takes mean and
    standard deviation, `zerocenter` the mean only, the two `rescale` ways minimum and maximum. They are stored with
    the weights and part of every export.

    Source: LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998.
    """

    key, label, family = "feature_input", "Feature input", "Input"
    matlab = "featureInputLayer"
    found_as = "InputLayer"
    channels = Int(1, low=1, label="Features", help="Number of values per sample")
    normalization = _normalization()

    def output(self, *x: TensorType) -> TensorType:
        return features(self.channels)

    def short_value(self) -> str:
        return f"{self.channels:,} feature{'s' * (self.channels > 1)}"
