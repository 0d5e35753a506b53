"""Products with known matrices: fully connected layers."""

from string import ascii_lowercase

import numpy as np

from netwright.engine.core.types import LAYOUTS
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import MICROSOFT, OWN_DOMAIN, Node
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import parameter
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.lifts.normalisation_lifts import channels_last
from netwright.engine.exchange.importing.values import (
    BATCH,
    NotLiftable,
    Tensor,
    apart,
    epsilon_of,
    joined_with_batch,
    together,
)
from netwright.engine.layers.arithmetic import Scaling
from netwright.engine.layers.combination_products import EinsteinSum, MatrixProduct
from netwright.engine.layers.convolution import Conv2d, Conv3d
from netwright.engine.layers.linear import FullyConnected


@lift("Gemm", becomes=("fully_connected",), note="with a known second matrix")
def gemm(ctx: Context, node: Node) -> Tensor:
    """y = alpha · x W + beta · b; torch's weight is (outputs, inputs)."""
    if ctx.attribute(node, "transA", 0):
        raise NotLiftable("transposes its first matrix, whose rows are the samples")
    matrix = ctx.numbers(node, 1)
    weight = matrix if ctx.attribute(node, "transB", 0) else matrix.T
    alpha, beta = ctx.attribute(node, "alpha", 1.0), ctx.attribute(node, "beta", 1.0)
    bias = ctx.optional_numbers(node, 2)
    weight = weight if alpha == 1.0 else weight * np.float32(alpha)
    if bias is not None and beta != 1.0:
        bias = bias * np.float32(beta)
    return dense(ctx, node, ctx.tensor(node, 0), weight, bias)


@lift(
    "MatMul",
    becomes=("fully_connected", "conv2d", "matrix_product"),
    note="with a known matrix a fully connected layer",
)
def matmul(ctx: Context, node: Node) -> Tensor:
    """A product with a known matrix, or of two tensors."""
    if ctx.is_tensor(node, 0) and ctx.is_tensor(node, 1):
        return product(ctx, node, ctx.tensor(node, 0), ctx.tensor(node, 1))
    if ctx.is_tensor(node, 1):
        x = ctx.tensor(node, 1)
        return product(ctx, node, parameter(ctx, node, ctx.numbers(node, 0), x, "first"), x)
    matrix = ctx.numbers(node, 1)
    if matrix.ndim != 2:
        x = ctx.tensor(node, 0)
        return product(ctx, node, x, parameter(ctx, node, matrix, x, "second"))
    return dense(ctx, node, ctx.tensor(node, 0), matrix.T, None)


@lift("Dense", domain=OWN_DOMAIN, becomes=("fully_connected",))
def matmul_and_add(ctx: Context, node: Node) -> Tensor:
    """A product with a known matrix, plus a known vector: MatMul and Add."""
    return dense(ctx, node, ctx.tensor(node, 0), ctx.numbers(node, 1).T, ctx.numbers(node, 2))


def dense(ctx: Context, node: Node, x: Tensor, weight: np.ndarray, bias: np.ndarray | None) -> Tensor:
    """Return a fully connected layer on the last dimension; over the places of an image it is a 1 × 1 convolution."""
    outputs, inputs = weight.shape
    if bias is not None:
        if bias.size not in (1, outputs) or bias.shape[-1:] not in ((), (1,), (outputs,)):
            raise NotLiftable(f"adds numbers of the sizes {list(bias.shape)} to {outputs} outputs")
        bias = np.broadcast_to(bias.reshape(-1), (outputs,))
    x = channels_last(ctx, node, x)
    if x.type["C"] != inputs:
        raise NotLiftable(f"has a matrix for {inputs} numbers, and receives {x.type['C']}")
    weights = {"weight": weight} | ({} if bias is None else {"bias": bias})
    if x.type.layout in ("features", "sequence"):
        type = ctx.make(FullyConnected, outputs=outputs, bias=bias is not None)
        return ctx.add(node, type, x, weights=weights)
    kind, ones = (Conv2d, (1, 1)) if x.type.layout == "image" else (Conv3d, (1, 1, 1))
    type = ctx.make(kind, filters=outputs, kernel=ones, padding=(0,) * len(ones), bias=bias is not None)
    return ctx.add(node, type, x, weights={**weights, "weight": weight.reshape(outputs, inputs, *ones)})


def product(ctx: Context, node: Node, a: Tensor, b: Tensor) -> Tensor:
    """Return the product of two tensors as matrices: their last two dimensions are rows and columns."""
    if count := joined_with_batch(a, b):
        return together(product(ctx, node, apart(a), apart(b)), count)
    layouts = {3: (BATCH, "T", "C"), 4: (BATCH, "C", "H", "W"), 5: (BATCH, "C", "D", "H", "W")}
    if a.rank != b.rank or a.rank not in layouts:
        raise NotLiftable(f"multiplies tensors with {a.rank} and {b.rank} dimensions")
    want = layouts[a.rank]
    swapped = (*want[:-2], want[-1], want[-2])
    first, second = (x.dims == swapped for x in (a, b))
    a = a if first else ctx.relayout(node, a, want)
    b = b if second else ctx.relayout(node, b, want)
    type = MatrixProduct(transpose_first=first, transpose_second=second)
    return ctx.add(node, type, a, b, dims=want)


@lift("Einsum", becomes=("einsum", "fully_connected"), note="of one or two inputs, with the batch as one letter")
def einsum(ctx: Context, node: Node) -> Tensor:
    """Each letter that is no batch is an axis of the input, in the order of the layer."""
    terms, right = _terms(ctx.attribute(node, "equation").replace(" ", ""))
    if len(terms) != len(node.inputs) or len(terms) > 2:
        raise NotLiftable(f"multiplies {len(terms)} tensors")
    if len(terms) == 2 and not ctx.is_tensor(node, 1):
        return _contracted(ctx, node, ctx.tensor(node, 0), ctx.numbers(node, 1), terms, right)
    inputs = [ctx.tensor(node, at) for at in range(len(terms))]
    if count := joined_with_batch(*inputs):
        terms, right = _letters_apart(terms, right, count)
        return together(_summed(ctx, node, [apart(x) for x in inputs], terms, right), count)
    return _summed(ctx, node, inputs, terms, right)


def _letters_apart(terms: list[str], right: str, count: int) -> tuple[list[str], str]:
    """Return an equation with a letter for each dimension that the first one joins with the batch."""
    first = {term[0] for term in terms}
    letter = right[:1]
    free = [other for other in ascii_lowercase if other not in "".join(terms).lower()]
    if first != {letter} or len(free) < count or any(term.count(letter) != 1 for term in (*terms, right)):
        raise NotLiftable("sums over the batch, or takes it for another dimension")
    more = letter + "".join(free[:count])
    return [term.replace(letter, more) for term in terms], right.replace(letter, more)


def _summed(ctx: Context, node: Node, inputs: list[Tensor], terms: list[str], right: str) -> Tensor:
    """Return an Einstein sum of tensors, of which each letter but that of the batch is an axis."""
    tensors = [ctx.in_order(node, x) for x in inputs]
    batches = {term[x.dims.index(BATCH)] for term, x in zip(terms, tensors, strict=True) if len(term) == x.rank}
    if len(batches) != 1 or right.count(batch := batches.pop()) != 1:
        raise NotLiftable("sums over the batch, or takes it for another dimension")
    ours = []
    for term, x in zip(terms, tensors, strict=True):
        if len(term) != x.rank or set(x.dims) != {BATCH, *x.type.axes} or len(set(term)) < len(term):
            raise NotLiftable(f"has an equation that does not fit its inputs: {','.join(terms)}")
        ours.append("".join(term[x.dims.index(axis)] for axis in x.type.axes))
    out_letters = right.replace(batch, "")
    layout = next((name for name, axes in LAYOUTS.items() if len(axes) == len(out_letters)), None)
    if layout is None:
        raise NotLiftable(f"makes {len(right)} dimensions")
    names = dict(zip(out_letters, LAYOUTS[layout], strict=True))
    type = ctx.make(EinsteinSum, equation=f"{','.join(ours)}->{out_letters}".lower(), layout=layout)
    return ctx.add(node, type, *tensors, dims=[names.get(letter, BATCH) for letter in right])


def _terms(equation: str) -> tuple[list[str], str]:
    """Return the letters of each input and of the result, those that occur once where the equation does not say."""
    inputs, arrow, right = equation.partition("->")
    letters = inputs.replace(",", "")
    if "." in equation or not letters.isalpha() or len({letter.lower() for letter in letters}) < len(set(letters)):
        raise NotLiftable(f"has the equation {equation}")
    return inputs.split(","), right if arrow else "".join(
        sorted(letter for letter in letters if letters.count(letter) == 1)
    )


def _contracted(ctx: Context, node: Node, x: Tensor, matrix: np.ndarray, terms: list[str], right: str) -> Tensor:
    """Return a product with a known matrix over one letter of the input."""
    first, second = terms
    inner_letters = set(first) & set(second) - set(right)
    new = set(second) - set(first)
    if matrix.ndim != 2 or len(inner_letters) != 1 or len(new) != 1 or len(first) != x.rank:
        raise NotLiftable(f"has the equation {','.join(terms)}->{right} with known numbers")
    (inner,), (outer,) = inner_letters, new
    order = [first.index(letter) for letter in (*right.replace(outer, ""), inner)]
    if right.replace(outer, "") != first.replace(inner, "") or right[-1] != outer:
        raise NotLiftable("moves dimensions in a product with known numbers")
    weight = matrix if second == outer + inner else matrix.T
    return dense(ctx, node, x.viewed([x.dims[at] for at in order]), weight, None)


@lift("FusedMatMul", domain=MICROSOFT, becomes=("matrix_product", "scaling"), note="of two inputs")
def fused_matmul(ctx: Context, node: Node) -> Tensor:
    """A product of two tensors with the last two dimensions of either exchanged, times alpha."""
    if any(ctx.attribute(node, name, 0) for name in ("transBatchA", "transBatchB")):
        raise NotLiftable("transposes the batch")
    inputs = []
    for at, name in enumerate(("transA", "transB")):
        x = ctx.tensor(node, at)
        inputs.append(x.viewed([*x.dims[:-2], x.dims[-1], x.dims[-2]]) if ctx.attribute(node, name, 0) else x)
    alpha = float(ctx.attribute(node, "alpha", 1.0))
    out = product(ctx, node, *inputs)
    return out if alpha == 1.0 else ctx.add(node, ctx.make(Scaling, scale=epsilon_of(alpha)), out, name="alpha")
