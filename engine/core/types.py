"""Tensor type of a connection: named axes with sizes, without the batch axis, and the kind of number.

| layout    | axes      | meaning                                      |
|-----------|-----------|----------------------------------------------|
| features  | C         | one vector per sample                        |
| image     | C H W     |                                              |
| volume    | C D H W   |                                              |
| sequence  | T C       | steps first, then channels (batch first)     |
| tokens    | T         | a sequence of indices, kind `index`          |

A size is an integer or a `Symbol`, whose value is known only at run time. Arithmetic on a symbol gives a new symbol;
two sizes clash only if both are known.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from netwright.engine.core.errors import ShapeError

Kind = Literal["real", "index", "complex"]


@dataclass(frozen=True)
class Symbol:
    """Size that is known only at run time, such as the length of a sequence."""

    name: str

    def __str__(self) -> str:
        return self.name


Size = int | Symbol
Sizes = tuple[int, ...]

LAYOUTS = {"features": ("C",), "image": ("C", "H", "W"), "volume": ("C", "D", "H", "W"), "sequence": ("T", "C")}
NAMES = {axes: name for name, axes in LAYOUTS.items()} | {("T",): "tokens"}


def derive(rule: Callable[..., int], *sizes: Size) -> Size:
    """Compute a size from others: `rule(*sizes)` if all are known, else a new symbol."""
    if all(isinstance(size, int) for size in sizes):
        return rule(*sizes)
    symbol = next(size for size in sizes if isinstance(size, Symbol))
    return Symbol(symbol.name if symbol.name.endswith("'") else symbol.name + "'")


def clash(a: Size, b: Size) -> bool:
    """Return whether two sizes are both known and differ."""
    return isinstance(a, int) and isinstance(b, int) and a != b


def with_article(words: str) -> str:
    """Prefix the indefinite article: `an image`, `a sequence`; none for the plurals features and tokens."""
    if words.endswith(("features", "tokens")):
        return words
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


@dataclass(frozen=True)
class TensorType:
    """Type of a tensor without its batch axis: `axes` in the order of torch, a size per axis, and the kind."""

    axes: tuple[str, ...]
    sizes: tuple[Size, ...]
    kind: Kind = "real"

    @property
    def layout(self) -> str:
        """Name of the layout, such as `image`, or the names of the axes if they form no named layout."""
        return NAMES.get(self.axes, " ".join(self.axes))

    @property
    def rank(self) -> int:
        """Number of axes without the batch axis."""
        return len(self.axes)

    def __getitem__(self, axis: str) -> Size:
        return self.sizes[self.axes.index(axis)]

    def has(self, axis: str) -> bool:
        """Return whether the tensor has an axis of this name."""
        return axis in self.axes

    def dim(self, axis: str) -> int:
        """Return the dimension of an axis in the batched torch tensor (the batch axis is 0)."""
        return self.axes.index(axis) + 1

    @property
    def spatial(self) -> tuple[str, ...]:
        """Spatial axes, which a convolution slides over: H W, D H W, or T."""
        return tuple(axis for axis in self.axes if axis in "DHWT")

    def known(self, axis: str, why: str) -> int:
        """Return the size of an axis. Raises `ShapeError` with the reason `why` if the size is unknown."""
        size = self[axis]
        if isinstance(size, Symbol):
            raise ShapeError(f"The size of axis {axis} is not known before the network runs, but {why}.")
        return size

    @property
    def channels(self) -> int:
        """Number of channels, required by layers with weights. Raises `ShapeError` if unknown."""
        if not self.has("C"):
            raise ShapeError(f"Expected an input with channels, received {self}.")
        return self.known("C", "the number of channels decides the size of the weights")

    @property
    def count(self) -> int | None:
        """Number of elements per sample, or None if a size is unknown."""
        return math.prod(s for s in self.sizes if isinstance(s, int)) if self.is_known else None

    @property
    def is_known(self) -> bool:
        """True if all sizes are known."""
        return all(isinstance(size, int) for size in self.sizes)

    def with_sizes(self, **sizes: Size) -> "TensorType":
        """Return a type of kind real with the same axes and some sizes replaced."""
        return TensorType(self.axes, tuple(sizes.get(a, s) for a, s in zip(self.axes, self.sizes, strict=True)), "real")

    @property
    def is_open(self) -> bool:
        """True for a sequence whose length is known only at run time, and may differ between samples."""
        return self.has("T") and isinstance(self["T"], Symbol)

    def opened(self) -> "TensorType":
        """Return the type with a symbolic sequence length."""
        return TensorType(self.axes, tuple(Symbol("T") if a == "T" else s for a, s in self._named), self.kind)

    @property
    def _named(self) -> tuple[tuple[str, Size], ...]:
        return tuple(zip(self.axes, self.sizes, strict=True))

    def fits(self, other: "TensorType") -> bool:
        """Return whether the axes are equal and no sizes clash."""
        has_same_axes = self.axes == other.axes
        return has_same_axes and not any(clash(a, b) for a, b in zip(self.sizes, other.sizes, strict=True))

    def short(self) -> str:
        """Return the sizes as text, such as `8 × 28 × 28`, for the label of a connection."""
        return " × ".join(f"{size:,}" if isinstance(size, int) else str(size) for size in self.sizes)

    def __str__(self) -> str:
        kind = "" if self.kind == "real" or self.layout == "tokens" else f"{self.kind} "
        return f"{with_article(kind + self.layout)} of {self.short()} ({' × '.join(self.axes)})"


def features(channels: Size) -> TensorType:
    """Return the type of a feature vector: (C,)."""
    return TensorType(("C",), (channels,))


def image(channels: Size, height: Size, width: Size) -> TensorType:
    """Return the type of an image, channels first: (C, H, W)."""
    return TensorType(("C", "H", "W"), (channels, height, width))


def volume(channels: Size, depth: Size, height: Size, width: Size) -> TensorType:
    """Return the type of a volume, channels first: (C, D, H, W)."""
    return TensorType(("C", "D", "H", "W"), (channels, depth, height, width))


def sequence(steps: Size, channels: Size) -> TensorType:
    """Return the type of a sequence of vectors, steps first: (T, C)."""
    return TensorType(("T", "C"), (steps, channels))


def tokens(steps: Size) -> TensorType:
    """Return the type of a sequence of indices: (T,)."""
    return TensorType(("T",), (steps,), "index")
