"""What flows along a connection: named axes with sizes, the batch implied, and the kind of number.

| layout    | axes      | meaning                                      |
|-----------|-----------|----------------------------------------------|
| features  | C         | one vector a sample                          |
| image     | C H W     |                                              |
| volume    | C D H W   |                                              |
| sequence  | T C       | steps first, then channels (batch first)     |
| tokens    | T         | a sequence of indices, kind `index`          |

A size is a number or a `Symbol`, whose value is known only when the network runs. Arithmetic on a symbol gives a fresh
symbol; two sizes clash only where both are known.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.core.errors import ShapeError

Kind = Literal["real", "index", "complex"]


@dataclass(frozen=True)
class Symbol:
    """A size that is known only at run time, such as the length of a sequence."""

    name: str

    def __str__(self) -> str:
        return self.name


Size = int | Symbol
Sizes = tuple[int, ...]

LAYOUTS = {"features": ("C",), "image": ("C", "H", "W"), "volume": ("C", "D", "H", "W"), "sequence": ("T", "C")}
NAMES = {axes: name for name, axes in LAYOUTS.items()} | {("T",): "tokens"}


def derive(rule: Callable[..., int], *sizes: Size) -> Size:
    """A size computed from others: a number where all are known, else a fresh symbol."""
    if all(isinstance(size, int) for size in sizes):
        return rule(*sizes)
    known = next(size for size in sizes if isinstance(size, Symbol))
    return Symbol(known.name if known.name.endswith("'") else known.name + "'")


def clash(a: Size, b: Size) -> bool:
    """Whether two sizes are known to differ."""
    return isinstance(a, int) and isinstance(b, int) and a != b


def with_article(words: str) -> str:
    """`an image`, `a sequence`; features and tokens are many and have no article."""
    if words.endswith(("features", "tokens")):
        return words
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


@dataclass(frozen=True)
class TensorType:
    """The type of one tensor, without its batch axis: `axes` in torch's order, one size each, and the kind."""

    axes: tuple[str, ...]
    sizes: tuple[Size, ...]
    kind: Kind = "real"

    @property
    def layout(self) -> str:
        """`image`, `sequence`, ..., or the axes themselves where they have no common name."""
        return NAMES.get(self.axes, " ".join(self.axes))

    @property
    def rank(self) -> int:
        """Number of axes without the batch."""
        return len(self.axes)

    def __getitem__(self, axis: str) -> Size:
        return self.sizes[self.axes.index(axis)]

    def has(self, axis: str) -> bool:
        """Whether there is an axis of this name."""
        return axis in self.axes

    def dim(self, axis: str) -> int:
        """The dimension of an axis in the batched torch tensor (the batch is 0)."""
        return self.axes.index(axis) + 1

    @property
    def spatial(self) -> tuple[str, ...]:
        """The axes a window slides over: H W, D H W, or T."""
        return tuple(axis for axis in self.axes if axis in "DHWT")

    def known(self, axis: str, why: str) -> int:
        """The size of an axis that must be a number. Raises `ShapeError`, which says why it must."""
        size = self[axis]
        if isinstance(size, Symbol):
            raise ShapeError(f"The size of axis {axis} is not known before the network runs, but {why}.")
        return size

    @property
    def channels(self) -> int:
        """The number of channels, which layers with weights must know."""
        if not self.has("C"):
            raise ShapeError(f"Expected an input with channels, received {self}.")
        return self.known("C", "the number of channels decides the size of the weights")

    @property
    def count(self) -> int | None:
        """Numbers per sample, or None where a size is unknown."""
        return math.prod(s for s in self.sizes if isinstance(s, int)) if self.is_known else None

    @property
    def is_known(self) -> bool:
        """Whether every size is a number."""
        return all(isinstance(size, int) for size in self.sizes)

    def with_sizes(self, **sizes: Size) -> "TensorType":
        """The same axes with some other sizes."""
        return TensorType(self.axes, tuple(sizes.get(a, s) for a, s in zip(self.axes, self.sizes, strict=True)), "real")

    @property
    def is_open(self) -> bool:
        """Whether it is a sequence whose length is known only when the network runs, and may differ by sample."""
        return self.has("T") and isinstance(self["T"], Symbol)

    def opened(self) -> "TensorType":
        """The same sequence with any length."""
        return TensorType(self.axes, tuple(Symbol("T") if a == "T" else s for a, s in self._named), self.kind)

    @property
    def _named(self) -> tuple[tuple[str, Size], ...]:
        return tuple(zip(self.axes, self.sizes, strict=True))

    def fits(self, other: "TensorType") -> bool:
        """Whether the axes are the same and no two sizes are known to differ."""
        same = self.axes == other.axes
        return same and not any(clash(a, b) for a, b in zip(self.sizes, other.sizes, strict=True))

    def short(self) -> str:
        """`8 × 28 × 28`, for the label of a connection."""
        return " × ".join(f"{size:,}" if isinstance(size, int) else str(size) for size in self.sizes)

    def __str__(self) -> str:
        kind = "" if self.kind == "real" or self.layout == "tokens" else f"{self.kind} "
        return f"{with_article(kind + self.layout)} of {self.short()} ({' × '.join(self.axes)})"


def features(channels: Size) -> TensorType:
    """A vector of this many numbers per sample."""
    return TensorType(("C",), (channels,))


def image(channels: Size, height: Size, width: Size) -> TensorType:
    """An image, channels first."""
    return TensorType(("C", "H", "W"), (channels, height, width))


def volume(channels: Size, depth: Size, height: Size, width: Size) -> TensorType:
    """A volume, channels first."""
    return TensorType(("C", "D", "H", "W"), (channels, depth, height, width))


def sequence(steps: Size, channels: Size) -> TensorType:
    """A sequence of vectors, steps first."""
    return TensorType(("T", "C"), (steps, channels))


def tokens(steps: Size) -> TensorType:
    """A sequence of indices."""
    return TensorType(("T",), (steps,), "index")
