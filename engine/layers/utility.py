"""Layers that change numbers only while the network trains, or not at all."""

from engine.fields import Float
from engine.layers.base import LayerType, Lowered, channels_first, expect, expect_real, module
from engine.layers.types import TensorType


def _probability(help: str) -> Float:
    return Float(0.5, low=0.0, high=0.999, help=help)


class Dropout(LayerType):
    """Zeroes numbers at random while training, and scales the others up by 1 / (1 - probability).

        y = x · mask / (1 - probability), each number of the mask 0 with the probability, else 1

    Otherwise y = x, so the expected value is the same; it is not in what is exported.

    Source: Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov: Dropout: a simple way to prevent neural networks
    from overfitting, 2014.
    """

    key, label, family, random = "dropout", "Dropout", "Utility", True
    matlab = "dropoutLayer"
    probability = _probability("Chance of each number to become zero")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("Dropout", p=self.probability)

    def telling(self) -> str:
        return f"{self.probability:g}"


class SpatialDropout(LayerType):
    """Zeroes whole channels at random while training, and scales the others up by 1 / (1 - probability).

        y[c] = x[c] · mask[c] / (1 - probability)

    Neighbouring places tell nearly the same: a place that is dropped alone would be known from them. Otherwise y = x.

    Source: Tompson, Goroshin, Jain, LeCun, Bregler: Efficient object localization using convolutional networks, 2015.
    """

    key, label, family, random = "spatial_dropout", "Spatial dropout", "Utility", True
    matlab = "spatialDropoutLayer"
    probability = _probability("Chance of each channel of a sample to become zero")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image", "volume", "sequence")
        return x

    def lower(self, x: TensorType) -> Lowered:
        return channels_first(x, module(f"Dropout{len(x.spatial)}d", p=self.probability))

    def telling(self) -> str:
        return f"{self.probability:g}"


class Identity(LayerType):
    """Passes its input on unchanged, such as to give an output of the network a name.

    Nothing of it is computed; in the exported source it stands as `nn.Identity`.
    """

    key, label, family = "identity", "Identity", "Utility"
    matlab = "identityLayer"

    def output(self, x: TensorType) -> TensorType:
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("Identity")
