"""Fields for a layer's weights: initializer, learn rate factor, L2 factor and freezing, with MATLAB's names and
meaning. The defaults are those of the modules, so that project files stay short.

A layer type with weights takes the base that has its kinds of parameters, beside or instead of `LayerType`:

    class Conv2d(WithWeightsAndBias)          weights and a bias: convolution, fully connected, attention
    class Embedding(WithWeights)              weights alone
    class BatchNorm(WithScaleAndOffset)       normalisation; `WithScale` where there is no offset
    class Lstm(WithRecurrentWeights)          input weights, recurrent weights, biases
    class Prelu(WithAlpha, Activation)        a learned slope

Another default is the same field again (`weights_initializer = weights_initializer_field("narrow-normal")`). A layer
with other parameters declares its fields with the helpers here, in the group `GROUP`, and answers `role`.
`netwright.engine.lowering.initialization` and `netwright.engine.training.solvers` obey these values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from netwright.engine.core.fields import Bool, Choice, Float, Visible
from netwright.engine.layers.base import LayerType

GROUP: Final = "Weights"

NARROW = "Normal with a standard deviation of 0.01"
WEIGHT_INITIALIZERS: Final[Mapping[str, str]] = {
    "glorot": "Uniform with variance 2 / (inputs + outputs), which preserves the scale of signals and gradients",
    "he": "Normal with variance 2 / inputs, for weights before a ReLU",
    "orthogonal": "Orthogonal rows or columns, from the QR decomposition of a normal random matrix",
    "narrow-normal": NARROW,
    "zeros": "All zero",
    "ones": "All one",
}
BIAS_INITIALIZERS: Final[Mapping[str, str]] = {"zeros": "All zero", "ones": "All one", "narrow-normal": NARROW}
SCALE_INITIALIZERS: Final[Mapping[str, str]] = {"ones": "All one", "zeros": "All zero", "narrow-normal": NARROW}
LSTM_BIAS_INITIALIZERS: Final[Mapping[str, str]] = {
    "unit-forget-gate": "One for the forget gate, zero for the others: the layer remembers at first",
    **BIAS_INITIALIZERS,
}


AS_MADE: Final = "as-made"
"""Not for a person to choose: the parameters of the user's own modules start as their constructor leaves them."""


@dataclass(frozen=True)
class ParameterOptions:
    """Options of the trainer for one parameter. Without an initializer it starts as its module makes it."""

    initializer: str = ""
    learn_rate_factor: float = 1.0
    l2_factor: float = 1.0


def initializer_field(
    noun: str, default: str, words: Mapping[str, str], *, label: str, visible_when: Visible | None = None
) -> Choice:
    """The initializer of parameters."""
    help = f"Initial values of the {noun}"
    return Choice(
        default, options=tuple(words), notes=words, label=label, help=help, group=GROUP, visible_when=visible_when
    )


def weights_initializer_field(default: str = "glorot") -> Choice:
    """The initializer of weights."""
    return initializer_field("weights", default, WEIGHT_INITIALIZERS, label="Initialiser")


def rate_field(noun: str, *, label: str, visible_when: Visible | None = None) -> Float:
    """The factor on the learn rate of parameters."""
    help = f"Multiplies the learn rate for the {noun}; 2 learns twice as fast, 0 not at all"
    return _factor(1.0, label, help, visible_when)


def l2_field(noun: str, default: float, *, label: str, visible_when: Visible | None = None, note: str = "") -> Float:
    """The factor on the L2 regularisation of parameters."""
    help = f"Multiplies the L2 regularisation of the training options for the {noun}{note}"
    return _factor(default, label, help, visible_when)


def _factor(default: float, label: str, help: str, visible_when: Visible | None) -> Float:
    def applies(layer: Any) -> bool:
        return not layer.frozen and (visible_when is None or visible_when(layer))

    return Float(default, low=0.0, label=label, help=help, group=GROUP, visible_when=applies)


def freeze_field(help: str, visible_when: Visible | None = None) -> Bool:
    """Whether training leaves a layer as it is."""
    return Bool(False, label="Freeze", help=help, group=GROUP, visible_when=visible_when)


class Weighted(LayerType):
    """A layer with learnable parameters. Their roles name the fields: `<role>_initializer`, `_learn_rate_factor`,
    `_l2_factor`."""

    frozen = freeze_field("Keeps the layer's weights fixed during training")

    def role(self, name: str) -> str:
        """The role of the parameter that `weights` calls so."""
        return "bias" if name.rpartition(".")[2].startswith("bias") else "weight"

    def parameter_options(self, name: str) -> ParameterOptions:
        """Return the options of a parameter by its name in `weights`."""
        role = self.role(name)
        initializer = "weights_initializer" if role == "weight" else f"{role}_initializer"
        return ParameterOptions(
            getattr(self, initializer, ""),
            getattr(self, f"{role}_learn_rate_factor", 1.0),
            getattr(self, f"{role}_l2_factor", 1.0),
        )


class WithWeights(Weighted):
    """Weights without a bias."""

    weights_initializer = weights_initializer_field()
    weight_learn_rate_factor = rate_field("weights", label="Learn rate factor")
    weight_l2_factor = l2_field("weights", 1.0, label="L2 factor")


def _has_bias(layer: Any) -> bool:
    return bool(getattr(layer, "bias", True))


class WithWeightsAndBias(WithWeights):
    """Weights, and biases unless a field `bias` says that there are none."""

    bias_initializer = initializer_field(
        "bias", "zeros", BIAS_INITIALIZERS, label="Bias initialiser", visible_when=_has_bias
    )
    bias_learn_rate_factor = rate_field("bias", label="Bias rate factor", visible_when=_has_bias)
    bias_l2_factor = l2_field("bias", 0.0, label="Bias L2 factor", visible_when=_has_bias)


def _has_affine(layer: Any) -> bool:
    return bool(getattr(layer, "affine", True))


_NO_L2 = "; 0, where MATLAB starts with 1: normalisation is not regularised unless asked for"


class WithScale(Weighted):
    """A scale for each channel, unless a field `affine` says that there is none."""

    frozen = freeze_field("Keeps scale and shift fixed during training", _has_affine)
    scale_initializer = initializer_field(
        "scale", "ones", SCALE_INITIALIZERS, label="Scale initialiser", visible_when=_has_affine
    )
    scale_learn_rate_factor = rate_field("scale", label="Scale rate factor", visible_when=_has_affine)
    scale_l2_factor = l2_field("scale", 0.0, label="Scale L2 factor", visible_when=_has_affine, note=_NO_L2)

    def role(self, name: str) -> str:
        return "offset" if name.rpartition(".")[2] == "bias" else "scale"


class WithScaleAndOffset(WithScale):
    """A scale and an offset (shift) for each channel, unless a field `affine` says that there are none."""

    offset_initializer = initializer_field(
        "shift", "zeros", BIAS_INITIALIZERS, label="Shift initialiser", visible_when=_has_affine
    )
    offset_learn_rate_factor = rate_field("shift", label="Shift rate factor", visible_when=_has_affine)
    offset_l2_factor = l2_field("shift", 0.0, label="Shift L2 factor", visible_when=_has_affine, note=_NO_L2)


class WithRecurrentWeights(Weighted):
    """Weights of the input, weights of the state, and biases, named as torch's recurrent modules name them."""

    input_weights_initializer = initializer_field(
        "input weights", "glorot", WEIGHT_INITIALIZERS, label="Input initialiser"
    )
    input_weights_learn_rate_factor = rate_field("input weights", label="Input rate factor")
    input_weights_l2_factor = l2_field("input weights", 1.0, label="Input L2 factor")
    recurrent_weights_initializer = initializer_field(
        "recurrent weights", "orthogonal", WEIGHT_INITIALIZERS, label="State initialiser"
    )
    recurrent_weights_learn_rate_factor = rate_field("recurrent weights", label="State rate factor")
    recurrent_weights_l2_factor = l2_field("recurrent weights", 1.0, label="State L2 factor")
    bias_initializer = initializer_field("biases", "zeros", BIAS_INITIALIZERS, label="Bias initialiser")
    bias_learn_rate_factor = rate_field("biases", label="Bias rate factor")
    bias_l2_factor = l2_field("biases", 0.0, label="Bias L2 factor")

    def role(self, name: str) -> str:
        last = name.rpartition(".")[2]
        if last.startswith("bias"):
            return "bias"
        return "recurrent_weights" if last.startswith("weight_hh") else "input_weights"


def lstm_bias_field() -> Choice:
    """The initializer of the biases of an LSTM; by default its forget gate is open."""
    return initializer_field("biases", "unit-forget-gate", LSTM_BIAS_INITIALIZERS, label="Bias initialiser")


class WithAlpha(Weighted):
    """A learned slope; a field of the layer says where it starts."""

    alpha_learn_rate_factor = rate_field("slope", label="Learn rate factor")
    alpha_l2_factor = l2_field("slope", 0.0, label="L2 factor")

    def role(self, name: str) -> str:
        return "alpha"
