"""Values of a graph while it is lifted: a tensor of a layer, known numbers, or sizes that depend on the batch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netwright.engine.core.types import Symbol, TensorType
from netwright.engine.network.network import Port

BATCH, ONE = "N", "1"
LAST = {2: (BATCH, "C"), 3: (BATCH, "T", "C"), 4: (BATCH, "H", "W", "C"), 5: (BATCH, "D", "H", "W", "C")}
"""The dimensions of a tensor by rank with the channels last."""
LONGEST_SHAPE = 64


class NotLiftable(Exception):
    """An operator, as it is used here, has no layer. The text says why, as the end of a sentence.

    `entering` and `leaving` are values that it takes or gives and that have no place between two layers.
    """

    def __init__(self, text: str, *, entering: Sequence[str] = (), leaving: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.entering, self.leaving = tuple(entering), tuple(leaving)


class AcrossSamples(NotLiftable):
    """An operator gives other results for a sample beside others than for the sample alone."""


class Unavailable(NotLiftable):
    """An operator takes a value of an operator that was refused."""


@dataclass(frozen=True)
class Free:
    """A size that is known only when the network runs: a factor times names, such as 2 · N · T."""

    names: tuple[str, ...]
    factor: int = 1

    def __str__(self) -> str:
        return " · ".join((*((str(self.factor),) if self.factor != 1 else ()), *self.names))


Dim = int | Free


def product(dims: Iterable[Dim]) -> Dim:
    """Return the product of sizes."""
    factor = 1
    names: list[str] = []
    for dim in dims:
        if isinstance(dim, Free):
            factor *= dim.factor
            names += dim.names
        else:
            factor *= dim
    return Free(tuple(sorted(names)), factor) if names else factor


def divided(whole: Dim, part: Dim) -> Dim | None:
    """Return the quotient of two sizes, None where it is no whole number."""
    names = list(whole.names) if isinstance(whole, Free) else []
    for name in part.names if isinstance(part, Free) else ():
        if name not in names:
            return None
        names.remove(name)
    a = whole.factor if isinstance(whole, Free) else whole
    b = part.factor if isinstance(part, Free) else part
    if not b or a % b:
        return None
    return Free(tuple(names), a // b) if names else a // b


@dataclass(frozen=True)
class Sizes:
    """Whole numbers of which some depend on the batch or on a length: a shape, or part of one."""

    items: tuple[Dim, ...]
    is_scalar: bool = False


@dataclass(frozen=True)
class Tensor:
    """The output of a port of a layer, and its dimensions in the file.

    `dims` names, for each dimension that the file sees, the axis of the layer's `type` that it is: `N` for the batch,
    `1` for a dimension of size 1 that the layer's tensor does not have, `N*T` where batch and steps are one dimension.
    So a transposition of the file is no layer: it gives the same tensor with other `dims`.
    """

    port: Port
    type: TensorType
    dims: tuple[str, ...]
    name: str = ""
    """The value's name in the file, where it has one."""
    is_whole: bool = False
    """Whether the file holds whole numbers here, which it divides without a remainder."""

    @property
    def rank(self) -> int:
        """Return the number of dimensions that the file sees, with the batch."""
        return len(self.dims)

    def size(self, dim: int) -> Dim:
        """Return the size of a dimension, as the file sees it."""
        return product(self._factor(name) for name in self.dims[dim].split("*"))

    def _factor(self, name: str) -> Dim:
        if name == ONE:
            return 1
        if name == BATCH:
            return Free((BATCH,))
        size = self.type[name]
        return Free((size.name,)) if isinstance(size, Symbol) else size

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """Return all sizes, as the file sees them."""
        return tuple(self.size(dim) for dim in range(self.rank))

    def known(self, dim: int) -> int:
        """Return a size. Raises `NotLiftable` where it is not known."""
        size = self.size(dim)
        if isinstance(size, Free):
            raise NotLiftable(f"needs the size {size}, which is known only when the network runs")
        return size

    def viewed(self, dims: Sequence[str]) -> "Tensor":
        """Return the same tensor with other names of its dimensions."""
        return replace(self, dims=tuple(dims))

    def axis(self, dim: int) -> int:
        """Return a dimension counted from 0, of one that may count from the end. Raises `NotLiftable`."""
        if not -self.rank <= dim < self.rank:
            raise NotLiftable(f"names dimension {dim} of a tensor with {self.rank}")
        return dim % self.rank


def joined_with_batch(*tensors: Tensor) -> int:
    """Return how many dimensions the first of each tensor joins with the batch; 0 where they are not as many, or do not
    broadcast to each other."""
    counts = {len(x.dims[0].split("*")) - 1 if x.dims[0].split("*")[0] == BATCH else 0 for x in tensors}
    count = counts.pop() if len(counts) == 1 else 0
    sizes = zip(*(apart(x).sizes[1 : count + 1] for x in tensors), strict=True)
    return count if all(len({*several} - {1}) <= 1 for several in sizes) else 0


def apart(x: Tensor) -> Tensor:
    """Return a tensor with the dimensions apart that its first one joins."""
    return x.viewed([*x.dims[0].split("*"), *x.dims[1:]])


def together(x: Tensor, count: int) -> Tensor:
    """Return a tensor with the dimensions behind the batch joined with it."""
    return x.viewed(["*".join(x.dims[: count + 1]), *x.dims[count + 1 :]])


@dataclass(frozen=True, eq=False)
class Factor:
    """A factor of an axis, or all of it. Two with equal sizes are not the same."""

    axis: str
    size: Dim


@dataclass(frozen=True)
class Headed:
    """A tensor, the factors that make up each dimension that the file sees, and those of each axis, outermost first."""

    tensor: Tensor
    dims: tuple[tuple[Factor, ...], ...]
    factors: Mapping[str, tuple[Factor, ...]]

    @classmethod
    def of(cls, x: Tensor) -> "Headed":
        """Return a tensor with each axis as one factor."""
        sizes: dict[str, Dim] = {BATCH: Free((BATCH,))}
        for axis, size in zip(x.type.axes, x.type.sizes, strict=True):
            sizes[axis] = Free((size.name,)) if isinstance(size, Symbol) else size
        factors = {axis: Factor(axis, size) for axis, size in sizes.items()}
        dims = tuple(tuple(factors[name] for name in dim.split("*") if name != ONE) for dim in x.dims)
        return cls(x, dims, {axis: (factor,) for axis, factor in factors.items()})

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """Return all sizes, as the file sees them."""
        return tuple(product(factor.size for factor in dim) for dim in self.dims)

    def whole(self) -> Tensor | None:
        """Return the tensor where each dimension is made of whole axes, else None."""
        dims = []
        for dim in self.dims:
            names: list[str] = []
            rest = list(dim)
            while rest:
                own = self.factors[rest[0].axis]
                if tuple(rest[: len(own)]) != own:
                    return None
                names.append(rest[0].axis)
                rest = rest[len(own) :]
            dims.append("*".join(names) or ONE)
        return self.tensor.viewed(dims)


Known = np.ndarray | Sizes
Held = Tensor | np.ndarray | Sizes


def as_sizes(value: Held | None) -> Sizes | None:
    """Return whole numbers of at most one dimension as sizes, None for anything else."""
    if isinstance(value, Sizes):
        return value
    if not isinstance(value, np.ndarray) or value.ndim > 1 or value.size > LONGEST_SHAPE:
        return None
    if value.dtype.kind in "iub" or (value.dtype.kind == "f" and np.all(value == np.round(value))):
        return Sizes(tuple(int(number) for number in value.reshape(-1)), is_scalar=value.ndim == 0)
    return None


def epsilon_of(value: float) -> float:
    """Return an epsilon as its shortest decimal: 1e-05 for the single-precision number next to it."""
    return float(str(np.float32(value)))
