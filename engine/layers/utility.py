"""Layers that change numbers only while the network trains, or not at all."""

from engine.fields import Float
from engine.layers.base import LayerType, Lowered, channels_first, expect, expect_real, module
from engine.layers.types import TensorType


def _probability(help: str) -> Float:
    return Float(0.5, low=0.0, high=0.999, help=help)


class Dropout(LayerType):
    """Zeroes numbers at random while training, and scales the others up by 1 / (1 - probability)."""

    key, label, family, random = "dropout", "Dropout", "Utility", True
    probability = _probability("Chance of each number to become zero")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("Dropout", p=self.probability)

    def telling(self) -> str:
        return f"{self.probability:g}"


class SpatialDropout(LayerType):
    """Zeroes whole channels at random while training, and scales the others up by 1 / (1 - probability)."""

    key, label, family, random = "spatial_dropout", "Spatial dropout", "Utility", True
    probability = _probability("Chance of each channel of a sample to become zero")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image", "volume", "sequence")
        return x

    def lower(self, x: TensorType) -> Lowered:
        return channels_first(x, module(f"Dropout{len(x.spatial)}d", p=self.probability))

    def telling(self) -> str:
        return f"{self.probability:g}"


class Identity(LayerType):
    """Passes its input on unchanged, such as to give an output of the network a name."""

    key, label, family = "identity", "Identity", "Utility"

    def output(self, x: TensorType) -> TensorType:
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("Identity")
