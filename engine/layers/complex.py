"""Layers of complex numbers, and the way there and back. Between them complex tensors flow; data, losses and all other
layers are real."""

from typing import Final

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Int
from netwright.engine.core.types import Sizes, TensorType, derive
from netwright.engine.layers.base import LayerType, Lowered, expect_real, function, method, module
from netwright.engine.layers.linear import inputs_count
from netwright.engine.layers.weighted import (
    BIAS_INITIALIZERS,
    NARROW,
    Weighted,
    WithWeightsAndBias,
    initializer_field,
    l2_field,
    rate_field,
)

OWN = "netwright.engine.lowering.modules.complex."
NO_ONNX: Final = "ONNX has no complex numbers. Export to PyTorch source, or use real layers with twice the channels."
COMPLEX_INITIALIZERS: Final = {
    "glorot": "Uniform parts, with variance 2 / (inputs + outputs) of the complex number",
    "he": "Normal parts, with variance 2 / inputs of the complex number",
    "narrow-normal": NARROW,
    "zeros": "All zero",
}


def expect_complex(x: TensorType, port: str = "in") -> None:
    """Raise `ShapeError` for an input that is not complex."""
    if x.kind != "complex":
        raise ShapeError(f"Expected complex numbers, received {x}. Put a real-to-complex layer before it.", port=port)
    if 0 in x.sizes:
        raise ShapeError(f"Expected at least one number along each axis, received {x}.", port=port)


def as_complex(x: TensorType) -> TensorType:
    """The type with complex numbers."""
    return TensorType(x.axes, x.sizes, "complex")


ORDERS = {
    "interleaved": "Real and imaginary parts alternate: channels 1 and 2 are one number, as in MATLAB",
    "halves": "The first half of the channels are real parts, the second half imaginary parts",
}


class RealToComplex(LayerType):
    """Makes complex numbers of pairs of channels; the output has half as many channels.

        interleaved: y[c] = x[2c] + i x[2c + 1]
        halves: y[c] = x[c] + i x[c + channels / 2]

    Radio samples (I and Q), Fourier coefficients and pairs of coordinates enter a complex network here.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: complex numbers of the same shape with C / 2
    channels.
    """

    key, label, family, onnx_refusal = "real_to_complex", "Real to complex", "Signal", NO_ONNX
    matlab = "realToComplexLayer"
    order = Choice("interleaved", options=tuple(ORDERS), notes=ORDERS, help="Channels that form a complex number")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        if x.channels % 2:
            raise ShapeError(
                f"Expected an even number of channels, a real and an imaginary part each, received {x}.", port="in"
            )
        return as_complex(x.with_sizes(C=x.channels // 2))

    def lower(self, x: TensorType) -> Lowered:
        halves = {} if self.order == "interleaved" else {"interleaved": False}
        return function(f"{OWN}real_to_complex", dim=x.dim("C"), **halves)


GIVES = {
    **ORDERS,
    "magnitude": "√(real² + imaginary²); 10⁻⁶ at zero, so that the gradient stays finite",
    "power": "real² + imaginary²",
    "phase": "The angle, from -π to π",
    "real": "The real part alone",
}
_DOUBLED = ("interleaved", "halves")


class ComplexToReal(LayerType):
    """Makes real numbers of complex ones: both parts as channels, or magnitude, power or phase.

        interleaved: y[2c] = Re x[c], y[2c + 1] = Im x[c]
        halves: y[c] = Re x[c], y[c + channels] = Im x[c]
        magnitude: y = √(Re(x)² + Im(x)²)

    Both parts take twice as many channels; everything else as many as before. The end of a complex network.

    Input: complex numbers of any shape with channels. Output: the same shape, with 2 C channels for both parts.
    """

    key, label, family, onnx_refusal = "complex_to_real", "Complex to real", "Signal", NO_ONNX
    matlab = "complexToRealLayer"
    gives = Choice("interleaved", options=tuple(GIVES), notes=GIVES, help="Output for each complex number")

    def output(self, x: TensorType) -> TensorType:
        expect_complex(x)
        if not x.has("C"):
            raise ShapeError(f"Expected an input with channels, received {x}.", port="in")
        return x.with_sizes(C=derive(lambda count: 2 * count, x["C"]) if self.gives in _DOUBLED else x["C"])

    def lower(self, x: TensorType) -> Lowered:
        return function(f"{OWN}complex_to_real", dim=x.dim("C"), gives=self.gives)

    def short_value(self) -> str:
        return "" if self.gives in _DOUBLED else self.gives


class ComplexFullyConnected(WithWeightsAndBias):
    """Multiplies by a learned complex matrix and adds a complex bias: y = W x + b.

        Re y = Re W Re x - Im W Im x + Re b
        Im y = Re W Im x + Im W Re x + Im b

    Images and volumes are flattened first; on a sequence it works at every step by itself. Parts of the weights are
    learned as real numbers, the last axis of the weights, so every solver can be used.

    Input: complex numbers (N, C) or (N, T, C), or of other shapes, flattened. Output: (N, K), or (N, T, K) for
    sequences.

    Source: Trabelsi et al.: Deep complex networks, 2018.
    """

    key, label, family = "complex_fully_connected", "Complex fully connected", "Signal"
    matlab, onnx_refusal = "complexFullyConnectedLayer", NO_ONNX
    outputs = Int(10, low=1, help="Number of complex outputs")
    bias = Bool(True, help="Adds a learned complex bias to each output")
    weights_initializer = initializer_field("weights", "glorot", COMPLEX_INITIALIZERS, label="Initialiser")

    def output(self, x: TensorType) -> TensorType:
        expect_complex(x)
        inputs_count(x)
        if x.layout == "sequence":
            return as_complex(x.with_sizes(C=self.outputs))
        return TensorType(("C",), (self.outputs,), "complex")

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        weight: dict[str, Sizes] = {"weight": (self.outputs, inputs_count(x), 2)}
        return {**weight, "bias": (self.outputs, 2)} if self.bias else weight

    def flops(self, x: TensorType) -> int:
        steps = x["T"] if x.layout == "sequence" else 1
        return 8 * steps * inputs_count(x) * self.outputs if isinstance(steps, int) else 0

    def lower(self, x: TensorType) -> Lowered:
        arguments = {} if self.bias else {"bias": False}
        linear = module(f"{OWN}ComplexLinear", in_features=inputs_count(x), out_features=self.outputs, **arguments)
        return linear if x.layout in ("features", "sequence") else (method("flatten", 1), linear)

    def short_value(self) -> str:
        return f"{self.outputs:,} output{'s' * (self.outputs > 1)}"


class _ComplexActivation(LayerType):
    """Anything that keeps the sizes of its one complex input."""

    onnx_refusal = NO_ONNX

    def output(self, x: TensorType) -> TensorType:
        expect_complex(x)
        return x


class ComplexRelu(_ComplexActivation):
    """A ReLU of the real and of the imaginary part, each by itself.

        y = max(0, Re x) + i max(0, Im x)

    Input: complex numbers of any shape. Output: the same shape.

    Source: Trabelsi et al.: Deep complex networks, 2018.
    """

    key, label, family = "complex_relu", "Complex ReLU", "Signal"
    matlab = "complexReluLayer"

    def lower(self, *x: TensorType) -> Lowered:
        return function(f"{OWN}complex_relu")


class ZRelu(_ComplexActivation):
    """Passes complex numbers of which neither part is negative, zero otherwise.

        y = x where Re x ≥ 0 and Im x ≥ 0, else 0

    Phases from 0 to π / 2 pass, and stay as they are.

    Input: complex numbers of any shape. Output: the same shape.

    Source: Guberman: On complex valued convolutional neural networks, 2016.
    """

    key, label, family = "z_relu", "zReLU", "Signal"
    matlab = "zreluLayer"

    def lower(self, *x: TensorType) -> Lowered:
        return function(f"{OWN}z_relu")


class ComplexCardioid(_ComplexActivation):
    """Weighs complex numbers by their phase: positive reals pass, negative ones become zero.

        y = (1 + cos(phase of x)) / 2 · x

    The phase stays. On real numbers it is a ReLU. The magnitude in the cosine is √(Re² + Im² + 10⁻¹²).

    Input: complex numbers of any shape. Output: the same shape.

    Source: Virtue, Yu, Lustig: Better than real: complex-valued neural nets for MRI fingerprinting, 2017.
    """

    key, label, family = "complex_cardioid", "Complex cardioid", "Signal"

    def lower(self, *x: TensorType) -> Lowered:
        return function(f"{OWN}cardioid")


class ModRelu(_ComplexActivation, Weighted):
    """A ReLU of the magnitude with a learned threshold for each channel; the phase stays.

        y = max(0, |x| + b) · x / |x|

    With b below zero, small numbers become zero. It starts at zero, where everything passes. The magnitude is
    √(Re² + Im² + 10⁻¹²).

    Input: complex numbers of any shape. Output: the same shape.

    Source: Arjovsky, Shah, Bengio: Unitary evolution recurrent neural networks, 2016.
    """

    key, label, family = "mod_relu", "modReLU", "Signal"
    bias_initializer = initializer_field("thresholds", "zeros", BIAS_INITIALIZERS, label="Initialiser")
    bias_learn_rate_factor = rate_field("thresholds", label="Learn rate factor")
    bias_l2_factor = l2_field("thresholds", 0.0, label="L2 factor")

    def output(self, x: TensorType) -> TensorType:
        expect_complex(x)
        return as_complex(x.with_sizes(C=x.channels))

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"bias": (x.channels,)}

    def lower(self, x: TensorType) -> Lowered:
        return module(f"{OWN}ModRelu", channels=x.channels, dim=x.dim("C"), rank=x.rank)
