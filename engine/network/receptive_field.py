"""Receptive field of each layer: the part of the input that one place of its output depends on.

A window of kernel k, stride s and dilation d behind a field of size r, whose places lie j input places apart, has the
field r + d (k - 1) j, and its places lie s j apart (Araujo, Norris, Sim: Computing receptive fields of convolutional
neural networks, Distill 2019). Borders are not taken off: a field may reach beyond the input.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from netwright.engine.layers.base import LayerType
from netwright.engine.layers.convolution_transposed import TransposedConvolution
from netwright.engine.layers.windows import reach_of
from netwright.engine.network.analysis import Analysis, LayerShapes, copy_path
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Network, Port

WINDOW_FAMILIES = ("Convolution", "Pooling")
LOCAL_FAMILIES = ("Activation", "Combination", "Utility")
"""Families whose layers compute each place of the output from the same place of their inputs."""
LOCAL = frozenset(
    [
        "batch_norm",
        "cross_channel_norm",
        "inverse_norm",
        "channel_shuffle",
        "scaling",
        "learned_scale",
        "math_function",
        "power",
        "pad1d",
        "pad2d",
        "pad3d",
        "crop2d",
        "crop3d",
        "embedding",
        "position_embedding",
        "sinusoidal_position",
        "cast",
    ]
)
NOT_LOCAL = frozenset(["cosine_similarity", "distance", "dot_product", "einsum", "matrix_product", "stack"])
PER_STEP = frozenset(("fully_connected", "layer_norm", "rms_norm"))
"""Layers that work on each step of a sequence by itself, but on an image as a whole."""


@dataclass(frozen=True)
class ReceptiveField:
    """Sizes of the field along the axes of the input, in its places, and the distance of neighbouring fields.

    The distance is below 1 behind layers that enlarge, such as a transposed convolution.
    """

    sizes: tuple[int, ...]
    strides: tuple[Fraction, ...]


Reach = ReceptiveField | None
"""None: the whole input, or what cannot be told."""


def receptive_fields(network: Network, analysis: Analysis) -> dict[str, Reach]:
    """Return the receptive field of each layer by its id path, as in `Analysis.all_shapes`; None where a place depends
    on the whole input."""
    return dict(_walk(network, analysis, {}, ""))


def _walk(network: Network, analysis: Analysis, inputs: Mapping[str, Reach], path: str) -> Iterator[tuple[str, Reach]]:
    """Yield paths and fields of the layers of a network, and of a block whose inputs have the fields `inputs`."""
    reach_of: dict[Port, Reach] = {}
    for id in network.order:
        layer, shapes = network.layers[id], analysis.shapes.get(id)
        type = layer.effective_type
        if shapes is None:
            continue
        before = [reach_of.get(port) for port in network.incoming[id].values()]
        reaches: list[Reach]
        if isinstance(type, BlockInput) and id in inputs:
            reaches = [inputs[id]]
        elif isinstance(type, BlockOutput):
            reaches = before
        elif isinstance(type, Block):
            inside = dict(_in_block(type, analysis, id, before, path))
            reaches = [inside.pop(f"{number}") for number in range(len(type.output_ports()))]
            yield from inside.items()
        else:
            reaches = [_after(type, shapes, before)] * max(1, len(type.output_ports()))
        reach_of |= {Port(id, name): reach for name, reach in zip(type.output_ports(), reaches, strict=False)}
        if not isinstance(type, Block):
            yield path + id, reaches[0]


def _in_block(block: Block, analysis: Analysis, id: str, before: list[Reach], path: str) -> Iterator[tuple[str, Reach]]:
    """Yield the paths and fields of the layers in a block, and the fields at its outputs under their numbers."""
    inputs, outputs = block.ids(BlockInput), block.ids(BlockOutput)
    copies = analysis.inside[id].copies
    is_plain = type(block) is Block
    for number, copy in enumerate(copies):
        inner = f"{path}{copy_path(id, number, len(copies))}/"
        fields = dict(zip(inputs, before, strict=False)) if is_plain else dict.fromkeys(inputs)
        reaches = dict(_walk(block.network, copy, fields, inner))
        after = [reaches.get(inner + output) for output in outputs]
        before = [*after, *before[len(after) :]]
        yield from reaches.items()
    yield from ((f"{number}", before[number] if is_plain else None) for number in range(len(outputs)))


def _after(type: LayerType, shapes: LayerShapes, before: list[Reach]) -> Reach:
    """Return the field behind a layer whose inputs have the fields `before`."""
    out = shapes.outputs[0] if shapes.outputs else None
    if not before and out is not None:
        count = len(out.spatial)
        return ReceptiveField((1,) * count, (Fraction(1),) * count) if count else None
    reaches = [reach for reach in before if reach is not None]
    if len(reaches) < len(before) or not reaches or len({len(reach.sizes) for reach in reaches}) > 1:
        return None
    whole = ReceptiveField(
        tuple(max(sizes) for sizes in zip(*(reach.sizes for reach in reaches), strict=True)),
        tuple(max(strides) for strides in zip(*(reach.strides for reach in reaches), strict=True)),
    )
    if isinstance(type, TransposedConvolution):
        return _enlarged(type, whole)
    if type.family in WINDOW_FAMILIES:
        return _slid(type, whole)
    is_sequence = bool(shapes.inputs) and shapes.inputs[0].layout == "sequence"
    is_local = type.key in LOCAL or (type.family in LOCAL_FAMILIES and type.key not in NOT_LOCAL)
    return whole if is_local or (is_sequence and type.key in PER_STEP) else None


def _slid(type: LayerType, reach: ReceptiveField) -> Reach:
    kernel, stride = getattr(type, "kernel", ()), getattr(type, "stride", ())
    if len(kernel) != len(reach.sizes) or len(stride) != len(kernel):
        return None  # a global or adaptive pooling
    dilation = getattr(type, "dilation", (1,) * len(kernel))
    covered = [reach_of(k, d) - 1 for k, d in zip(kernel, dilation, strict=True)]
    sizes = tuple(int(size + more * j) for size, more, j in zip(reach.sizes, covered, reach.strides, strict=True))
    return ReceptiveField(sizes, tuple(j * s for j, s in zip(reach.strides, stride, strict=True)))


def _enlarged(type: TransposedConvolution, reach: ReceptiveField) -> Reach:
    """A place of the output is reached from at most ceil(window / stride) places of the input."""
    windows = [reach_of(k, d) for k, d in zip(type.kernel, type.dilation, strict=True)]
    covered = [math.ceil(window / s) - 1 for window, s in zip(windows, type.stride, strict=True)]
    sizes = tuple(int(size + more * j) for size, more, j in zip(reach.sizes, covered, reach.strides, strict=True))
    return ReceptiveField(sizes, tuple(j / s for j, s in zip(reach.strides, type.stride, strict=True)))
