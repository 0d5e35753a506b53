"""Quantisation of tensors: rounded to what an integer format holds, and kept as real numbers."""

from dataclasses import replace

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Node
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import affine
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import NotLiftable, Tensor
from netwright.engine.layers.arithmetic import MathFunction
from netwright.engine.layers.utility import FakeQuantization

FORMATS = {"uint8": (8, False), "int8": (8, True), "uint16": (16, False), "int16": (16, True)}


@lift("FakeQuantization", domain=OWN_DOMAIN, becomes=("fake_quantization",))
def fake_quantization(ctx: Context, node: Node) -> Tensor:
    """Quantised and back: rounded to multiples of the scale."""
    type, _, _ = _format(ctx, node)
    return ctx.add(node, type, ctx.tensor(node, 0))


@lift("QuantizeLinear", becomes=("fake_quantization",), note="with one known scale; the whole numbers are kept as real")
def quantize(ctx: Context, node: Node) -> Tensor:
    """Rounded to multiples of the scale, then counted from the zero point."""
    type, scale, zero = _format(ctx, node)
    rounded = ctx.add(node, type, ctx.tensor(node, 0))
    counted = affine(ctx, node, rounded, np.asarray(1.0 / scale, np.float32), np.asarray(zero, np.float32))
    return replace(ctx.add(node, MathFunction(function="round"), counted, name="whole"), is_whole=True)


@lift("DequantizeLinear", becomes=("scaling",), note="of weights at the import, else with one known scale")
def dequantize(ctx: Context, node: Node) -> Tensor:
    """scale · (x - zero point)."""
    _, scale, zero = _scale(ctx, node)
    out = affine(ctx, node, ctx.tensor(node, 0), np.asarray(scale, np.float32), np.asarray(-zero * scale, np.float32))
    return replace(out, is_whole=False)


def _scale(ctx: Context, node: Node) -> tuple[str, float, int]:
    """Return the number format of the whole numbers, the scale and the zero point."""
    scale, zero = ctx.numbers(node, 1), ctx.optional_numbers(node, 2)
    if scale.size != 1:
        raise NotLiftable("has several scales")
    return (
        "uint8" if zero is None else str(zero.dtype),
        float(scale.reshape(())),
        int(0 if zero is None else zero.reshape(())),
    )


def _format(ctx: Context, node: Node) -> tuple[FakeQuantization, float, int]:
    dtype, scale, zero = _scale(ctx, node)
    if node.attributes.get("output_dtype", 2) != 2:  # TensorProto.UINT8
        raise NotLiftable("names its number format")
    if dtype not in FORMATS:
        raise NotLiftable(f"makes numbers of the format {dtype}")
    bits, is_signed = FORMATS[dtype]
    type = ctx.make(FakeQuantization, scale=scale, zero_point=zero, bits=bits, signed=is_signed)
    assert isinstance(type, FakeQuantization)
    return type, scale, zero
