"""The memory of a training step, estimated from the sizes alone. Pure, and cheap enough for every keystroke.

The estimate, with n(layer) the numbers that leave a layer per sample, P the weights of the network and F those of them
that are frozen:

    activations = batch · Σ bytes · n(layer)     what each layer gives, kept for the backward pass; of one piece where
                                                   the batch is computed in pieces
    weights     = 4 P                            twice where an average of them is kept
    gradients   = 4 (P - F)
    optimizer   = 4 (P - F) · states             sgdm 1 (0 without momentum), adam, adamw and nadam 2, rmsprop 1,
                                                   lbfgs 2 a step of its history, and 2; lm 4 P

Real numbers take 4 bytes (float32), indices 8 (int64), complex numbers 8; in double precision all but indices take
twice as much. In half precision (bf16, fp16) activations are taken to need half of it, and weights half more for their
rounded copies: about, since some layers compute in single precision all the same. Segments that are computed again
(Chen et al., 2016) are taken to be as long as each other, so that of n layers 2 / √n is held; of blocks, the largest
one and what leaves the others. What is left out: what a layer keeps besides its output (the gates of an LSTM, the mask
of a dropout), buffers such as running means, the work space of the kernels and of random changes of images (which is
free again before the activations come), and the data. What may be counted too much: outputs that share their memory
with the input (a reshape, an identity).
"""

import math
from dataclasses import dataclass, replace

from netwright.engine.core.text import format_bytes
from netwright.engine.network.analysis import Analysis, LayerShapes
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network

_BYTES = {"real": 4, "index": 8, "complex": 8}
_HALVES = ("bf16", "fp16")
_STATES = {"sgdm": 1, "adam": 2, "adamw": 2, "nadam": 2, "rmsprop": 1}


@dataclass(frozen=True)
class StepOptions:
    """The training options that determine the memory of a step."""

    micro_batches: int = 1
    precision: str = "fp32"
    recomputing: str = "off"
    has_average: bool = False

    @property
    def is_rough(self) -> bool:
        """Return whether the estimate uses a rule of thumb."""
        return self.precision in _HALVES or self.recomputing != "off"


USUAL_STEP = StepOptions()


@dataclass(frozen=True)
class Memory:
    """Bytes of a training step at a batch size. Without `is_whole` it is a lower bound: some size is not known."""

    batch: int
    activations: int
    weights: int
    gradients: int
    optimizer: int
    is_whole: bool
    is_rough: bool = False

    @property
    def total(self) -> int:
        """Return the sum in bytes."""
        return self.activations + self.weights + self.gradients + self.optimizer

    def describe(self) -> str:
        """Return `28 MiB at batch 128`, or `at least ...` where a size is not known, `about ...` by a rule of thumb."""
        return f"{self.hedge}{format_bytes(self.total)} at batch {self.batch:,}"

    @property
    def hedge(self) -> str:
        """Return the words before a figure that is not exact."""
        return "about " if self.is_whole and self.is_rough else "" if self.is_whole else "at least "


def activation_bytes(shapes: LayerShapes, batch: int) -> int | None:
    """Return the bytes kept of one layer's outputs, or None where a size is not known."""
    counts = [(type.count, _BYTES[type.kind]) for type in shapes.inner or shapes.outputs]
    return None if any(n is None for n, _ in counts) else sum(batch * n * size for n, size in counts if n is not None)


def optimizer_states(solver: str, momentum: float = 0.9, history: int = 10, parameters: int = 0) -> int:
    """Return the number of values that the solver keeps per learnable parameter; for `lbfgs` the largest number."""
    if solver == "lm":
        return 4 * parameters
    if solver == "lbfgs":
        return 2 * history + 2
    return 0 if solver == "sgdm" and momentum == 0 else _STATES[solver]


def all_known(network: Network, analysis: Analysis) -> bool:
    """Return whether every layer has shapes, also inside blocks, and there are no errors: only then are the sums
    complete.

    True for an empty network.
    """
    if network.layers and analysis.has_errors:
        return False
    for id, layer in network.layers.items():
        if id not in analysis.shapes:
            return False
        if isinstance(layer.type, Block) and not layer.bypassed and id in analysis.inside:
            inner = layer.type.network
            if not all(all_known(inner, copy) for copy in analysis.inside[id].copies):
                return False
    return True


def training_memory(
    analysis: Analysis,
    batch: int,
    states: int,
    frozen: int = 0,
    *,
    is_all_known: bool | None = None,
    step: StepOptions = USUAL_STEP,
) -> Memory:
    """Return the memory estimate of a whole network; `states` as in `optimizer_states`, `frozen`: parameters that do
    not learn.

    `is_all_known` is the result of `all_known`; without it errors alone decide.
    """
    micro_batch, scale = -(-batch // step.micro_batches), 2 if step.precision == "fp64" else 1
    counted = [shapes for shapes in analysis.shapes.values() if not shapes.is_port]
    unique_shapes = {id(shapes): shapes for shapes in counted}  # equal layers share theirs
    bytes_of = {key: _held(shapes, micro_batch, step) for key, shapes in unique_shapes.items()}
    activations = [bytes_of[id(shapes)] for shapes in counted]
    num_bytes = sum(bytes for bytes in activations if bytes is not None)
    if step.recomputing == "auto":
        num_bytes = min(num_bytes, round(2 * num_bytes / math.sqrt(max(1, len(counted)))))
    if step.recomputing == "blocks":
        copies = ((analysis.shapes[id], max(1, len(inside.copies))) for id, inside in analysis.inside.items())
        num_bytes += max(((activation_bytes(shapes, micro_batch) or 0) // count for shapes, count in copies), default=0)
    if step.precision in _HALVES:
        num_bytes //= 2
    weights, gradients = 4 * scale * analysis.parameters, 4 * scale * (analysis.parameters - frozen)
    of_weights = (1.5 if step.precision in _HALVES else 1.0) + step.has_average
    is_whole = None not in activations and (not analysis.has_errors if is_all_known is None else is_all_known)
    return Memory(
        batch,
        scale * num_bytes,
        int(weights * of_weights),
        gradients,
        states * gradients,
        is_whole,
        is_rough=step.is_rough,
    )


def _held(shapes: LayerShapes, batch: int, step: StepOptions) -> int | None:
    """Return the bytes held for one layer; for a recomputed block those of its outputs."""
    return activation_bytes(replace(shapes, inner=()) if step.recomputing == "blocks" else shapes, batch)
