"""Assumptions about a network from elsewhere: an ONNX file that does not say how its inputs are prepared.

The record follows from the names, types and sizes of its inputs and outputs, and each assumption is told in words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.data.sources.source import Array
from netwright.engine.project.preparation import ColumnPreparation, InputPreparation, TargetPreparation
from netwright.engine.runs.model_files import Assumptions

SPANS: Mapping[str, tuple[float, float]] = {"0 to 1": (0.0, 1.0), "0 to 255": (0.0, 255.0), "-1 to 1": (-1.0, 1.0)}
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of the channels of red, green and blue, 0 to 1, as torchvision's weights expect them."""
USUAL_SIDE = 224
"""Height and width of pictures where a network takes any."""
TRIED_SIZE = 32
"""Size of an axis that may have any, in the sample that shows what the outputs are like."""
MOST_COLUMNS = 64
"""Numbers per sample that are named as columns of a table; more are arrays."""
AXES = {1: "C", 2: "TC", 3: "CHW", 4: "CDHW"}
NEAR_ONE = 1e-3


@dataclass(frozen=True)
class Port:
    """An input or output of an ONNX file: name, type such as `tensor(float)`, and sizes, None where any will do."""

    name: str
    type: str
    sizes: tuple[int | None, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers."""
        return "int" in self.type

    @property
    def dtype(self) -> str:
        """Its dtype in NumPy's words."""
        return {"float": "float32", "double": "float64"}.get(name := self.type[len("tensor(") : -1], name)

    @property
    def has_channels_last(self) -> bool:
        """Whether it takes images with their channels behind height and width, as TensorFlow has them."""
        return len(self.sizes) == 4 and self.sizes[3] in (1, 3) and self.sizes[1] not in (1, 3)


def assumed_input(port: Port, assumptions: Assumptions) -> tuple[InputPreparation, list[str]]:
    """Return the preparation assumed for an input, and the assumptions in words. Raises `UserError`."""
    name, sizes = printable(port.name), list(port.sizes[1:])
    if not 1 <= len(sizes) <= len(AXES):
        raise UserError(f"The input '{name}' has {len(port.sizes)} axes; expected 2 to 5, samples first.")
    if len(port.sizes) == 4 and (port.has_channels_last or sizes[0] in (1, 3)):
        return _picture(port, assumptions)
    if port.is_whole:
        axes = "T" if len(sizes) == 1 else AXES[len(sizes)]
        record = InputPreparation(
            name=port.name, axes=tuple(axes), sizes=tuple(sizes), content="indices", dtype="int64"
        )
        return record, [f"'{name}' takes whole numbers, such as indices of tokens, as they are."]
    if len(sizes) == 1 and sizes[0] is not None and sizes[0] <= MOST_COLUMNS:
        columns = tuple(ColumnPreparation(name=f"x{place + 1}") for place in range(sizes[0]))
        record = InputPreparation(name=port.name, reads="columns", axes=("C",), sizes=(sizes[0],), columns=columns)
        return record, [f"'{name}' takes {sizes[0]} numbers, named x1 to x{sizes[0]}, as they are."]
    record = InputPreparation(name=port.name, axes=tuple(AXES[len(sizes)]), sizes=tuple(sizes))
    return record, [f"'{name}' takes arrays as they are."]


def _picture(port: Port, assumptions: Assumptions) -> tuple[InputPreparation, list[str]]:
    channels, *sides = port.sizes[1:] if not port.has_channels_last else (port.sizes[3], *port.sizes[1:3])
    height, width = (side or USUAL_SIDE for side in sides)
    pixels = assumptions.pixels or ("0 to 255" if port.is_whole else "0 to 1")
    colours = "grey" if channels == 1 else "red, green, blue"
    words = [f"'{printable(port.name)}' takes pictures of {height} × {width} pixels ({colours})"]
    if None in sides:
        words[0] += f"; it takes any size, {USUAL_SIDE} was chosen"
    if port.has_channels_last:
        words[0] += "; the channels come last"
    scaled = "scaled by mean and standard deviation of ImageNet" if pixels == "ImageNet" else f"from {pixels}"
    record = InputPreparation(
        name=port.name,
        axes=("C", "H", "W"),
        sizes=(channels, height, width),
        span=SPANS.get(pixels, SPANS["0 to 1"]),
    )
    return record, [f"{words[0]}.", f"Pixels are {scaled}."]


def assumed_target(
    port: Port, output: Array, assumptions: Assumptions, *, is_open: bool = False
) -> tuple[TargetPreparation, list[str]]:
    """Return the preparation assumed for an output, and the assumptions in words. `output`: the output for one sample,
    samples first; `is_open` says that inputs may have other sizes. Raises `UserError`."""
    name, sizes = printable(port.name), output.shape[1:]
    if not 1 <= len(sizes) <= len(AXES):
        raise UserError(f"The output '{name}' has {output.ndim} axes; expected 2 to 5, samples first.")
    axes = tuple(AXES[len(sizes)])
    count = sizes[axes.index("C")]
    may_differ = {"T", *(axes if is_open else ())} - {"C"}
    open_sizes = tuple(None if axis in may_differ else size for axis, size in zip(axes, sizes, strict=True))
    if count < 2 or (len(sizes) == 2 and not assumptions.classes):
        return TargetPreparation(name=port.name, task="numbers", axes=axes, sizes=open_sizes), [
            f"'{name}' gives numbers."
        ]
    if assumptions.classes and len(assumptions.classes) != count:
        raise UserError(
            f"The output '{name}' has {count:,} classes; {len(assumptions.classes):,} names were given. "
            "Name each class."
        )
    total = output.astype(np.float64).sum(axes.index("C") + 1)
    is_probability = bool(output.min() >= 0 and np.abs(total - 1).max() < NEAR_ONE)
    classes = assumptions.classes or tuple(map(str, range(count)))
    words = [f"'{name}' gives one of {count:,} classes" + (" per pixel" if len(sizes) > 1 else "")]
    words[0] += "." if assumptions.classes else ", numbered from 0."
    if not is_probability:
        words.append("Its scores become probabilities by softmax.")
    target = TargetPreparation(
        name=port.name,
        task="classes",
        axes=axes,
        sizes=open_sizes,
        classes=classes,
        activation="" if is_probability else "softmax",
    )
    return target, words
