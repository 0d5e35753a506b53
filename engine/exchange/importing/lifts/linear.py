"""Products with known matrices: fully connected layers."""

import numpy as np

from engine.exchange.importing.context import Context
from engine.exchange.importing.graph import OWN_DOMAIN, Node
from engine.exchange.importing.registry import lift
from engine.exchange.importing.values import BATCH, NotLiftable, Tensor
from engine.layers.convolution import Conv2d, Conv3d
from engine.layers.linear import FullyConnected

LAST = {2: (BATCH, "C"), 3: (BATCH, "T", "C"), 4: (BATCH, "H", "W", "C"), 5: (BATCH, "D", "H", "W", "C")}
"""The dimensions of a tensor by rank with the channels last."""


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
    matrix = ctx.numbers(node, 1)
    if matrix.ndim != 2:
        raise NotLiftable(f"multiplies by known numbers with {matrix.ndim} dimensions")
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
    if x.dims[-1] != "C":
        if x.rank not in LAST:
            raise NotLiftable(f"works on {x.rank} dimensions")
        x = ctx.relayout(node, x, LAST[x.rank])
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
    from engine.layers.combination_products import MatrixProduct

    layouts = {3: (BATCH, "T", "C"), 4: (BATCH, "C", "H", "W"), 5: (BATCH, "C", "D", "H", "W")}
    if a.rank != b.rank or a.rank not in layouts:
        raise NotLiftable(f"multiplies tensors with {a.rank} and {b.rank} dimensions")
    want = layouts[a.rank]
    swapped = (*want[:-2], want[-1], want[-2])
    first, second = (one.dims == swapped for one in (a, b))
    a = a if first else ctx.relayout(node, a, want)
    b = b if second else ctx.relayout(node, b, want)
    type = MatrixProduct(transpose_first=first, transpose_second=second)
    return ctx.add(node, type, a, b, dims=want)
