"""Check an ONNX file: run it with ONNX Runtime beside the torch module that it was made from.

Each channel of an output is compared relative to its spread over the samples, because a tolerance relative to 1 accepts
any weights where outputs are small, as those of an untrained network are. Probabilities are compared before their
softmax or sigmoid as well, which make large differences small.
"""

import contextlib
import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import fx, nn
from torch.overrides import TorchFunctionMode

from netwright.engine.core.errors import RunError
from netwright.engine.core.text import first_line
from netwright.engine.exchange.onnx_runner import PATIENCE_S, arrays_from_child
from netwright.engine.exchange.sample_inputs import Arrays, in_input_types
from netwright.engine.lowering.modules.normalization import Normalize
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator
from netwright.engine.lowering.modules.onnx_runtime import open_session

TOLERANCE = 1e-4
"""Largest accepted difference, relative to the spread of a channel over the samples."""
ROUNDING = 1e-5
"""Accepted besides, relative to the largest absolute value of the channel: about 80 units in the last place of float32,
which is what sums of many terms differ by when they are added up in another order."""
VARYING = 1e-3
"""Smallest spread, relative to the largest absolute value, that tells one file from another: a hundred times
`ROUNDING`."""
ERRORS_OF_TORCH = 10.0
"""A difference of so many rounding errors of torch itself, measured against float64, is accepted."""
SIGMOIDS = (torch.sigmoid, torch.Tensor.sigmoid)
PROBABILITIES = {nn.Softmax: "Softmax", nn.LogSoftmax: "LogSoftmax", nn.Sigmoid: "Sigmoid"}
"""Modules at an output, and the ONNX operators that they become, before which outputs are compared as well."""
GAINS = {nn.Softmax: 0.5, nn.LogSoftmax: 2.0, nn.Sigmoid: 0.25}
"""Largest change of a probability per largest change of the scores that it is computed from: p (1 - p) is 0.25 at
most, and the scores of a softmax may all move against its own. Scores of thousands that agree within their rounding,
0.004, give probabilities that differ by up to 0.002: random inputs times 10,000 do that to a U-Net, where torch is
farther from float64 than ONNX Runtime. Whether the weights are the same shows in the scores."""


class DifferenceError(RunError):
    """A file that gives other numbers than torch. `batch` is what it was given, `sample` the worst of it."""

    default_code = "other_numbers"

    def __init__(self, message: str, batch: Arrays, sample: int) -> None:
        super().__init__(message)
        self.batch = batch
        self.sample = sample


class SigmoidOfOnnxRuntime(TorchFunctionMode):
    """Computes a sigmoid as 0.5 + 0.5 tanh(x / 2), which is wrong by 2^-25 of 1 where a gate is almost closed, or is 0.

    ONNX Runtime computes it as 0.5 + p / q. torch keeps the small numbers: 1e-14 for -32, which a state of 1e8 makes
    count.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return 0.5 + 0.5 * torch.tanh(0.5 * args[0]) if func in SIGMOIDS else func(*args, **(kwargs or {}))


class Comparison:
    """A file in memory and its module, compared batch by batch. Raises `DifferenceError` at the first difference.

    `data` is the content of the file, or the file, whose weights lie beside it. `dims` are the dimensions of the
    channels per output, None for an output without channels. A file for a fixed batch size gets batches of `batch`.
    """

    def __init__(self, module: fx.GraphModule, data: bytes | Path, dims: list[int | None], batch: int = 0) -> None:
        watched, before = with_scores(module)
        model_with_scores, shown_before = showing_scores(data)
        rows = [index for index in before if index in shown_before]
        count = len(dims)
        self.module = watched
        self.precise: fx.GraphModule | None = None
        self.session = open_session(model_with_scores if rows else data)
        self.batch = batch
        names = [output.name for output in self.session.get_outputs()[:count]]
        words = (PROBABILITIES[_last(module, index)].lower() for index in rows)
        self.names = [*names, *(f"{names[index]} (before its {word})" for index, word in zip(rows, words, strict=True))]
        self.dims = [*dims, *(dims[index] for index in rows)]
        self.torch_places = [*range(count), *(count + before.index(index) for index in rows)]
        self.onnx_places = [*range(count), *(count + shown_before.index(index) for index in rows)]
        self.scores = {index: (count + place, GAINS[_last(module, index)]) for place, index in enumerate(rows)}
        self.is_probability = [index in self.scores for index in range(len(self.names))]
        self.varied: list[np.ndarray | None] = [None] * len(self.names)

    def run(self, batch: Arrays, *, is_extreme: bool = False) -> float:
        """Compare one batch; return the largest difference of the first output. Raises `RunError`. In an `is_extreme`
        batch numbers that overflow on either side do not count."""
        expected = self._torch(self.module, batch)
        received = self._onnx(batch)
        rounding: list[np.ndarray] | None = None
        for index, (one, other) in enumerate(zip(expected, received, strict=True)):
            if one.shape != other.shape:
                raise self._refusal(index, f"has the shape {list(other.shape)}, and {list(one.shape)} in torch", batch)
            apart = _apart(one, other, is_extreme=is_extreme)
            difference = per_channel(apart, self.dims[index])
            spread, size = spread_and_size(one, self.dims[index])
            is_varied = spread > VARYING * size
            accepted = accepted_difference(spread, size)
            if self.is_probability[index]:
                place, gain = self.scores[index]
                moved = _apart(expected[place], received[place], is_extreme=is_extreme).max(initial=0.0)
                accepted = np.full_like(size, TOLERANCE * size.max(initial=0.0) + gain * moved)
            elif (difference > accepted).any():
                rounding = rounding if rounding is not None else self._rounding(batch, expected)
                noise = ERRORS_OF_TORCH * _noise(per_channel(rounding[index], self.dims[index]))
                is_varied, accepted = is_varied & (noise < 0.1 * spread), accepted + noise
            if (difference > accepted).any():
                worst = int(np.argmax(np.where(np.isfinite(difference), difference / (accepted + 1e-300), np.inf)))
                sample = int(apart.reshape(len(apart), -1).max(1).argmax()) if apart.ndim else 0
                raise self._refusal(index, _difference(difference[worst], spread[worst]), batch, sample)
            self._remember(index, is_varied)
        return float(distances(expected[0], received[0]).max(initial=0.0))

    def _remember(self, index: int, is_varied: np.ndarray) -> None:
        """Note the channels that varied; where their number depends on the length, whether all of them did."""
        before = self.varied[index]
        same = before is not None and len(before) == len(is_varied)
        self.varied[index] = before | is_varied if same else is_varied

    @property
    def has_varied(self) -> bool:
        """Whether every channel of every output varied over the samples of some batch."""
        pairs = zip(self.varied, self.is_probability, strict=True)
        return all(varied is not None and varied.all() for varied, is_probability in pairs if not is_probability)

    def notes(self) -> tuple[str, ...]:
        """Return a sentence per output that does not vary over the samples, so that it tells nothing of the weights."""
        notes = []
        for name, varied, is_probability in zip(self.names, self.varied, self.is_probability, strict=True):
            if is_probability or varied is None or varied.all():
                continue
            subject = "It" if not varied.any() else f"{int((~varied).sum()):,} of its {len(varied):,} channels"
            verb = "does" if subject == "It" or (~varied).sum() == 1 else "do"
            notes.append(
                f"Output {name} is not comparable in full. {subject} {verb} not vary over the samples tried: other "
                f"weights could give the same numbers."
            )
        return tuple(notes)

    def _torch(self, module: fx.GraphModule, batch: Arrays) -> list[np.ndarray]:
        with torch.no_grad():
            result = module(*(torch.from_numpy(array) for array in batch))
        outputs = result if isinstance(result, tuple) else (result,)
        return [outputs[place].numpy().astype(np.float64) for place in self.torch_places]

    def _onnx(self, batch: Arrays) -> list[np.ndarray]:
        try:
            outputs = run_session(self.session, batch, self.batch)
        except Exception as error:  # ONNX Runtime has a class per status and no base of its own
            shapes = ", ".join(" × ".join(map(str, array.shape)) for array in batch)
            raise RunError(
                f"ONNX Runtime cannot run the exported network on inputs of {shapes}: {first_line(error)} "
                "The file was not kept."
            ) from error
        return [np.asarray(outputs[place]).astype(np.float64) for place in self.onnx_places]

    def _rounding(self, batch: Arrays, expected: list[np.ndarray]) -> list[np.ndarray]:
        """Return the rounding errors of torch's outputs: their distance from those in float64, if the network can
        compute them, or from those with the sigmoid of ONNX Runtime, whichever is larger."""
        with SigmoidOfOnnxRuntime():
            coarse = self._torch(self.module, batch)
        errors = [distances(one, other) for one, other in zip(expected, coarse, strict=True)]
        try:
            if self.precise is None:
                self.precise = copy.deepcopy(self.module).double()
            precise = self._torch(self.precise, tuple(array.astype(np.float64) for array in batch))
        except Exception:  # user code may make float32 tensors, which do not mix with float64
            return errors
        pairs = zip(errors, expected, precise, strict=True)
        return [np.maximum(error, distances(one, other)) for error, one, other in pairs]

    def _refusal(self, index: int, fact: str, batch: Arrays, sample: int = 0) -> DifferenceError:
        text = f"ONNX Runtime gives other numbers than torch: output {self.names[index]} {fact}. The file was not kept."
        return DifferenceError(text, batch, sample)


def _difference(difference: float, spread: float) -> str:
    share = f", {difference / spread:.2g} times its spread over the samples" if spread and np.isfinite(spread) else ""
    return f"differs by {difference:.3g}{share}"


def spread_and_size(values: np.ndarray, dim: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return, per channel, the root mean square distance from the mean over samples, and the largest absolute value.

    Values that are not finite do not count.
    """
    finite = np.where(np.isfinite(values), values, 0.0)
    squares = (finite - finite.mean(0, keepdims=True)) ** 2
    return np.sqrt(per_channel(squares, dim, np.mean)), per_channel(np.abs(finite), dim)


def _noise(rounding: np.ndarray) -> np.ndarray:
    """Return the rounding errors per channel, at least their lower quartile: a channel that an activation cut off in
    most samples shows few of its own."""
    measured = rounding[rounding > 0.0]
    return np.maximum(rounding, np.quantile(measured, 0.25, method="lower")) if measured.size else rounding


def accepted_difference(spread: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the largest accepted difference of each channel, from its spread and its largest absolute value."""
    is_varied = spread > VARYING * size
    return np.where(is_varied, TOLERANCE * spread + ROUNDING * size, TOLERANCE * size.max(initial=0.0))


def per_channel(values: np.ndarray, dim: int | None, reduce=np.max) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Reduce all axes but the channels', or all where there are none, to one number per channel."""
    if not values.size:
        return np.zeros(1)
    rows = values.reshape(1, -1) if dim is None else np.moveaxis(values, dim, 0).reshape(values.shape[dim], -1)
    return np.asarray(reduce(rows, axis=1))


def distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the absolute differences; equal infinities and two NaN do not differ, others differ by infinity."""
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        distance = np.where(same, 0.0, np.abs(one - other))
    return np.where(np.isnan(distance), np.inf, distance)


def _apart(one: np.ndarray, other: np.ndarray, *, is_extreme: bool) -> np.ndarray:
    """Return the absolute differences; in an extreme batch numbers that overflow on either side do not differ."""
    apart = distances(one, other)
    return np.where(np.isfinite(one) & np.isfinite(other), apart, 0.0) if is_extreme else apart


def _outputs(module: fx.GraphModule) -> tuple[fx.Node, ...]:
    (result,) = next(node for node in module.graph.nodes if node.op == "output").args
    return result if isinstance(result, tuple) else (result,)


def _last(module: fx.GraphModule, index: int) -> type[nn.Module]:
    """Return the class of the module that gives an output."""
    return type(module.get_submodule(str(_outputs(module)[index].target)))


def with_scores(module: fx.GraphModule) -> tuple[fx.GraphModule, list[int]]:
    """Return the module with what enters the softmax or sigmoid at its outputs as further outputs, and which outputs
    have one. Weights are shared."""
    graph = fx.Graph()
    places: dict[fx.Node, fx.Node] = {}
    graph.graph_copy(module.graph, places)
    indices = [
        index
        for index, node in enumerate(_outputs(module))
        if node.op == "call_module" and type(module.get_submodule(str(node.target))) in PROBABILITIES
    ]
    scores = [node.args[0] for index, node in enumerate(_outputs(module)) if index in indices]
    graph.output(tuple(places[node] for node in (*_outputs(module), *scores)))  # type: ignore[index]
    return fx.GraphModule(module, graph, "Watched").eval(), indices


def showing_scores(data: bytes | Path) -> tuple[bytes | Path, list[int]]:
    """Return the file with what enters the softmax or sigmoid at its outputs as further outputs, and which have one. A
    file on disk is written again beside itself, because its weights are there."""
    model = read_model(data)
    makers = {name: node for node in model.graph.node for name in node.output}
    value_names = {value.name for value in (*model.graph.output, *model.graph.input, *model.graph.initializer)}
    indices = []
    for index, output in enumerate(list(model.graph.output)):
        node = makers.get(output.name)
        if node is not None and node.op_type in PROBABILITIES.values() and node.input[0] not in value_names:
            indices.append(index)
            value_names.add(node.input[0])
            model.graph.output.append(onnx.ValueInfoProto(name=node.input[0]))
    return (changed_copy(model, data) if indices else data), indices


def read_model(data: bytes | Path) -> onnx.ModelProto:
    """Return the model of a file, without the weights that lie beside it."""
    return onnx.load_from_string(data) if isinstance(data, bytes) else onnx.load(data, load_external_data=False)


def changed_copy(model: onnx.ModelProto, data: bytes | Path) -> bytes | Path:
    """Return a changed model as its content, or as a file beside the original, where its weights are."""
    content: bytes = model.SerializeToString()
    if isinstance(data, bytes):
        return content
    beside = data.with_name(f"watched_{data.name}")
    beside.write_bytes(content)
    return beside


def run_session(session: Any, batch: Arrays, size: int = 0, names: Sequence[str] | None = None) -> list[np.ndarray]:
    """Run all samples, in batches of exactly `size` where it is not 0, the last one filled up with the first samples.
    Inputs that are float16 in the file get that."""
    ends = session.get_inputs()
    kinds = [np.float16 if value.type == "tensor(float16)" else None for value in ends]
    total, step = len(batch[0]), size or len(batch[0])
    results = []
    for start in range(0, total, step):
        places = np.arange(start, start + step) % total
        arrays = [array if not size else array[places] for array in batch]
        arrays = [array if kind is None else array.astype(kind) for array, kind in zip(arrays, kinds, strict=True)]
        results.append(session.run(names, {value.name: array for value, array in zip(ends, arrays, strict=True)}))
    return [np.concatenate([np.asarray(part) for part in parts])[:total] for parts in zip(*results, strict=True)]


def refuse_crash(module: fx.GraphModule, data: bytes | Path, batch: Arrays, size: int = 0) -> None:
    """Run a file, and the operators of other files in its module, in a child process first. Raises `RunError` where
    that crashes or hangs, which would take this process along; other errors are for the comparison to tell."""

    def work() -> list[np.ndarray]:
        torch.set_num_threads(1)  # the threads of OpenMP do not survive a fork
        with contextlib.suppress(Exception):
            run_session(open_session(data), batch, size)
            if any(isinstance(part, OnnxOperator) for part in module.modules()):
                with torch.no_grad():
                    module(*(torch.from_numpy(array) for array in batch))
        return []

    try:
        arrays_from_child(work, "it ran the exported network", PATIENCE_S)
    except RunError as error:
        raise RunError(f"{error} The file was not kept.") from None


def in_units(module: fx.GraphModule, batch: Arrays) -> Arrays:
    """Return normalised inputs in the units of the data: the normalisation that each input goes through, undone."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    undone = tuple(_undone(module, node, array) for node, array in zip(inputs, batch, strict=True))
    return in_input_types(module, undone)


def _undone(module: fx.GraphModule, node: fx.Node, array: np.ndarray) -> np.ndarray:
    for user in node.users:
        part = module.get_submodule(str(user.target)) if user.op == "call_module" else None
        if isinstance(part, Normalize):
            scale = part.scale.view(part.sizes).numpy()
            shift = part.shift.view(part.sizes).numpy()
            undone: np.ndarray = array / np.where(scale == 0.0, 1.0, scale).astype(np.float64) + shift
            return undone
    return array
