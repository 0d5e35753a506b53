"""Other names of a layer type: in MATLAB, in torch, and for the search."""

import re
from collections.abc import Iterator
from functools import cache

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType, features, image, sequence, tokens, volume
from netwright.engine.layers.base import REGISTRY, Call, LayerType

_SAMPLES: tuple[TensorType, ...] = (
    features(64),
    sequence(16, 64),
    tokens(16),
    image(8, 32, 32),
    volume(8, 16, 16, 16),
)
"""What a layer may be asked about to learn which call it becomes."""


def matlab_name(type: type[LayerType]) -> str:
    """Return MATLAB's name of the type, by default made from its label: `2-D convolution`, `convolution2dLayer`."""
    if type.matlab:
        return type.matlab
    dimension = re.match(r"(\d)-D ", type.label)
    words = re.sub(r"^\d-D |[^A-Za-z ]", "", type.label).replace("isation", "ization").split()
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return f"{name[:1].lower()}{name[1:]}{dimension[1] + 'd' if dimension else ''}Layer"


def torch_names(type: type[LayerType]) -> tuple[str, ...]:
    """The calls of torch that a layer with default values becomes, by what it is given: `torch.nn.BatchNorm1d`, `2d`,
    `3d`. A chain in which no call is the layer itself has no name, nor has a class of our own."""
    all_names: dict[str, None] = {}
    for calls in _lowered(type):
        names = [name for call in calls if (name := _of_torch(call))]
        modules = [name for name in names if name.startswith("torch.nn.")]
        all_names |= dict.fromkeys(modules[:1] or (names if len(names) == 1 else ()))
    return tuple(all_names)


def _lowered(type: type[LayerType]) -> Iterator[tuple[Call, ...]]:
    """The calls of a layer with default values, for each thing it takes."""
    layer = type()
    count = len(layer.input_ports())
    for sample in _SAMPLES:
        inputs = [sample] * count
        try:
            layer.output(*inputs)
            lowered = layer.lower(*inputs)
        except (UserError, NotImplementedError):
            continue
        yield (lowered,) if isinstance(lowered, Call) else tuple(lowered)
        if not count:
            return


def _of_torch(call: Call) -> str:
    if call.kind == "method":
        return f"torch.Tensor.{call.target}"
    return call.target if call.target.startswith("torch.") else ""


@cache
def search_text(key: str) -> str:
    """Return the text for the search of layer types: label, key, family, summary, and names in MATLAB and torch."""
    type = REGISTRY[key]
    plain = f"{type.label} {type.key} {type.key.replace('_', ' ')} {type.family} {type.summary()}"
    american = plain.replace("isation", "ization").replace("ise", "ize") if "is" in plain else ""
    return f"{plain} {american} {matlab_name(type)} {type.found_as} {' '.join(torch_names(type))}".lower()


def search_rank(key: str, text: str) -> int:
    """Return the rank of a layer type for a search text, 0 the best: one of its names is the text, begins with it, its
    label contains it, or its description does."""
    label, names = REGISTRY[key].label.lower(), short_names(key)
    if text in (label, key) or text in names:
        return 0
    if any(name.startswith(text) for name in (label, key, *names)):
        return 1
    return 2 if text in label or text in key else 3


@cache
def short_names(key: str) -> tuple[str, ...]:
    """Every name of a layer type in lower case, MATLAB's with and without `Layer`, torch's without its module."""
    type = REGISTRY[key]
    matlab = matlab_name(type).lower()
    torch = (name.rpartition(".")[2].lower() for name in torch_names(type))
    return (matlab, matlab.removesuffix("layer"), *type.found_as.lower().split(), *torch)
