"""Unpooling: numbers go back to the places that max pooling took them from."""

from engine.errors import MisfitError
from engine.layers.base import LayerType, Lowered, expect_real, module
from engine.layers.types import LAYOUTS, TensorType, clash


class MaxUnpool2d(LayerType):
    """Puts each number back to the place in an image that max pooling took it from; the other places are zero.

        y[c, indices[c, i, j]] += x[c, i, j], places counted row by row from 0

    `indices` come from a 2-D max pooling layer with indices, whose places they are. `like` decides height and width:
    connect what went into that pooling layer, or anything of its size; its numbers do not matter. Where windows
    overlap, numbers for the same place are added; torch keeps one of them, MATLAB refuses. (MATLAB takes the size
    itself in place of `like`, and counts from 1)

    Source: Zeiler, Taylor, Fergus: Adaptive deconvolutional networks for mid and high level feature learning, 2011.
    """

    key, label, family = "max_unpool2d", "2-D max unpooling", "Pooling"
    matlab = "maxUnpooling2dLayer"

    def input_ports(self) -> tuple[str, ...]:
        return ("in", "indices", "like")

    def output(self, x: TensorType, indices: TensorType, like: TensorType) -> TensorType:
        for port, given in (("in", x), ("indices", indices), ("like", like)):
            if given.axes != LAYOUTS["image"]:
                raise MisfitError(f"Expected an image (C × H × W), received {given}.", port=port)
        expect_real(x)
        expect_real(like, "like")
        if indices.kind != "index":
            raise MisfitError(
                f"Expected the second output of a max pooling layer with indices, received {indices}.", port="indices"
            )
        if any(clash(a, b) for a, b in zip(x.sizes, indices.sizes, strict=True)):
            raise MisfitError(f"Expected one index for each number, {x.short()}, received {indices}.", port="indices")
        for axis in x.spatial:
            small, large = x[axis], like[axis]
            if isinstance(small, int) and isinstance(large, int) and large < small:
                raise MisfitError(
                    f"Expected what went into the max pooling layer: at least {small:,} along axis {axis}, "
                    f"received {like}.",
                    port="like",
                )
        return like.with_sizes(C=x["C"])

    def lower(self, *x: TensorType) -> Lowered:
        return module("engine.build.modules.pooling.MaxUnpool2d")
