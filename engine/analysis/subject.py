"""The subject of explanations: a trained network, samples of one split, and its answers for them."""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import fx, nn

from netwright.engine.analysis.evaluate import Evaluation, EvaluationData
from netwright.engine.analysis.predictions import batches_of, told
from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.fields import quoted
from netwright.engine.data.loading.apply_preparation import present
from netwright.engine.data.loading.batches import ResidentDataset, Tensors, as_tuple
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.preview import target_text
from netwright.engine.data.sources.source import Array
from netwright.engine.lowering.module import build
from netwright.engine.models.trained_model import DEVICE, Model, outputs_in_order
from netwright.engine.network.analysis import named_path, type_at
from netwright.engine.project.bindings import folding
from netwright.engine.project.preparation import InputPreparation
from netwright.engine.training.metrics import channels_last

PROBE = "netwright_probe"
Batch = tuple[list[int], Tensors, Tensors]
"""Places, inputs and targets of samples."""
MOST_ANSWERS = 5


@dataclass(frozen=True)
class Sample:
    """One sample as the network takes it: a batch of one per input, in the network's order."""

    inputs: Tensors
    told: Mapping[str, Any] = field(default_factory=dict)
    """Where it comes from: `place` in the split, `index` in the data, `name`, `label`, or `file`."""


@dataclass(frozen=True)
class Layer:
    """A layer of the built network: its id path, its path by names, and its declared output."""

    path: str
    name: str
    key: str
    family: str
    layout: str


@dataclass(frozen=True)
class Target:
    """The target of an explanation: the score of a class or label, or a number, by its place in the first output."""

    place: int
    name: str


class Subject:
    """A trained network with the samples of one split."""

    def __init__(self, trained: Model, split: str = "", other: EvaluationData | None = None) -> None:
        self._evaluation = Evaluation(trained, split, other)
        self.trained = self._evaluation.trained
        self.record, self.facts = self.trained.preparation, self.trained.facts
        self.trained.refuse_without_targets()
        self.options, self.base, self.is_own_data = self._evaluation.options, self._evaluation.base, other is None

    # ---- samples ----

    def take_data(self, before: "Subject") -> None:
        """Take over the data of another checkpoint of the same run, as far as it was opened."""
        records = self.trained.data_record, before.trained.data_record
        own, other = (record.split_hash if record is not None else "" for record in records)
        if own == other and self.options == before.options:
            names = ("data", "split", "dataset")
            self.__dict__ |= {name: value for name, value in vars(before).items() if name in names}
            self.notes[:] = before.notes

    @cached_property
    def data(self) -> LoadedData:
        """The data, divided as the run divided it."""
        if self.options.source == "none":
            what = "The run" if self.trained.run is not None else str(self.trained.path)
            raise UserError(f"{what} has no data. Name a file of your own as the sample.")
        return self._evaluation.data

    @cached_property
    def split(self) -> str:
        """The split that samples are taken from."""
        return self._evaluation.split_of(self.data)

    @cached_property
    def dataset(self) -> ResidentDataset:
        """The samples of the split."""
        return self._evaluation.dataset(self.data, self.split)

    @property
    def notes(self) -> list[str]:
        """The notes about the data."""
        return self._evaluation.notes

    def places(self, most: int) -> list[int]:
        """Return places of at most `most` samples of the split, evenly spaced."""
        count = len(self.dataset)
        if count <= most:
            return list(range(count))
        return np.linspace(0, count - 1, most).round().astype(int).tolist()  # type: ignore[no-any-return]

    def indices(self, places: list[int]) -> Array:
        """Return the numbers in the data of samples of the split."""
        return np.asarray(self.data.numbers[self.split][places])

    def inputs_at(self, places: list[int]) -> tuple[Tensors, Tensors]:
        """Return inputs and targets of some samples of the split; sequences of one sample have no padding."""
        inputs, targets = self.dataset.at(torch.tensor(places))
        return inputs[: self.num_inputs] if len(places) == 1 else inputs, targets

    def batches(self, places: list[int], size: int) -> Iterator[Batch]:
        """Yield places, inputs and targets of samples in batches; one by one where sequences are padded."""
        step = 1 if self.trained.is_padded else size
        for start in range(0, len(places), step):
            some = places[start : start + step]
            yield some, *self.inputs_at(some)

    def sample(self, place: int) -> Sample:
        """Return a sample of the split by its place, from 0. Raises `UserError`."""
        count = len(self.dataset)
        if not 0 <= place < count:
            raise UserError(
                f"The {self.split} split has {plural(count, 'sample')}: expected a number from 0 to {count - 1:,}, "
                f"received {place:,}."
            )
        inputs, targets = self.inputs_at([place])
        index = int(self.data.numbers[self.split][place])
        name_of = getattr(self.data.inputs[0], "name_of", None)
        labels = [
            target_text(output.facts, target[0].numpy())
            for output, target in zip(self.trained.wanted, targets, strict=False)
        ]
        where = {"split": self.split, "place": place, "count": count, "index": index, "label": "; ".join(labels)}
        return Sample(inputs, {**where, **({"name": name_of(index)} if name_of is not None else {})})

    def sample_of(self, file: Path) -> Sample:
        """Return the first sample of a file, prepared as in training. Raises `UserError`."""
        batch = next(batches_of(self.record, [file], 1), None)
        if batch is None:
            raise UserError(f"{file} holds no sample.")
        inputs = tuple(torch.from_numpy(np.ascontiguousarray(array)) for array in batch.single(0))
        if self.trained.precision.name == "fp64":
            inputs = tuple(x.double() if x.dtype == torch.float32 else x for x in inputs)
        return Sample(inputs, {"file": str(file)})

    @property
    def num_inputs(self) -> int:
        """Number of inputs of the network."""
        return len(self.record.inputs)

    def main_input(self, method: str) -> tuple[int, InputPreparation]:
        """Return the first input of real numbers. Raises `UserError` where there is none."""
        for number, input_part in enumerate(self.record.inputs):
            if input_part.content == "numbers":
                return number, input_part
        raise UserError(
            f"{method} needs an input of numbers; this network takes indices, which have no slopes. "
            "Use attention, or the activations and the embedding of a layer."
        )

    def span(self, number: int, inputs: Tensors) -> tuple[float, float]:
        """Return the values of an input that are shown as black and white."""
        if self.record.inputs[number].span:
            low, high = self.record.inputs[number].span
            return low, high
        x = inputs[number]
        low, high = float(x.min()), float(x.max())
        if low >= 0.0 and 16.0 < high <= 255.0:
            return 0.0, 255.0
        return low, high if high > low else low + 1.0

    def picture(self, sample: Sample) -> Array | None:
        """Return the first image among the inputs as bytes (H, W), or (H, W, 3); None where there is none."""
        for number, input_part in enumerate(self.record.inputs):
            if input_part.axes == ("C", "H", "W") and input_part.content == "numbers":
                return as_picture(sample.inputs[number][0].numpy(), self.span(number, sample.inputs))
        return None

    # ---- the network ----

    @cached_property
    def module(self) -> fx.GraphModule:
        """The network as a module that gives logits and takes no lengths."""
        trained = self.trained
        network = trained.filled(build(trained.network, trained.analysis, logits=folding(trained.wanted)))
        assert isinstance(network, fx.GraphModule)
        return network.requires_grad_(False)

    @cached_property
    def answering(self) -> fx.GraphModule:
        """The network as it was designed: it gives probabilities where it ends in a softmax."""
        module = self.trained.answering
        assert isinstance(module, fx.GraphModule)
        return module

    @cached_property
    def layers(self) -> dict[str, Layer]:
        """The layers by id path, in the order of computation."""
        network, analysis = self.trained.network, self.trained.analysis
        shapes = dict(analysis.all_shapes())
        layer_by_path = {}
        for path in layer_nodes(self.answering, [layer.id for layer in network.inputs]):
            if path in shapes and shapes[path].outputs:
                type = type_at(network, path)
                layout = shapes[path].output.layout
                layer_by_path[path] = Layer(path, named_path(network, path), type.key, type.family, layout)
        return layer_by_path

    def layer(self, name: str, fits: Callable[[Layer], bool], kind: str) -> Layer:
        """Return a layer by its path of names or ids; without a name the last one that fits. `kind` says what fits, for
        messages. Raises `UserError`."""
        fitting = [layer for layer in self.layers.values() if fits(layer)]
        if not fitting:
            raise UserError(f"This network has no {kind}.")
        if not name:
            return fitting[-1]
        match = next((layer for layer in self.layers.values() if name in (layer.name, layer.path)), None)
        if match is None:
            hint = did_you_mean(name, [layer.name for layer in self.layers.values()])
            raise UserError(f"There is no layer {quoted(name)} in the network of the run.{hint}")
        if match not in fitting:
            names = ", ".join(layer.name for layer in fitting[-4:])
            raise UserError(f"The layer '{match.name}' is no {kind}. Choose one of these, such as {names}.")
        return match

    def outputs_at(self, module: fx.GraphModule, inputs: Tensors, paths: set[str]) -> dict[str, torch.Tensor]:
        """Return the outputs of some layers for inputs, by id path; the first output of a layer with several."""
        tapped = _Tapped(module, self._inputs, paths)
        return tapped.named(self.trained.outputs(tapped, inputs))[1]

    def layer_outputs(
        self, places: list[int], size: int, paths: set[str]
    ) -> Iterator[tuple[Batch, Tensors, dict[str, torch.Tensor]]]:
        """Yield `batches` with the answers of the network and the outputs of some layers, by id path, computed on all
        devices of the model."""
        tapped = _Tapped(self.answering, self._inputs, paths)
        batches = self.batches(places, size)
        for batch, outputs in outputs_in_order(self.trained, tapped, batches, lambda batch: batch[1]):
            yield batch, *tapped.named(outputs)

    def slopes_at(self, inputs: Tensors, place: int) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
        """Return the output of each layer for inputs that take part in the gradient, and the gradient of the score at a
        place with respect to it, by id path. Layers that the score does not depend on are left out."""
        tap = _Tap(self.module, self._nodes(self.module), set(self.layers))
        score = self.scores(self.module).of(tap.run(*self.placed(inputs)))[:, place].sum()
        outputs = {path: output for path, output in tap.found.items() if output.requires_grad}
        slopes = torch.autograd.grad(score, list(outputs.values()), allow_unused=True)
        pairs = zip(outputs.items(), slopes, strict=True)
        return {
            path: (output.detach().to(DEVICE), slope.to(DEVICE)) for (path, output), slope in pairs if slope is not None
        }

    def placed(self, inputs: Tensors) -> Tensors:
        """Return inputs on the device of the network. Gradients flow back."""
        return tuple(x.to(self.trained.device) for x in inputs)

    @property
    def _inputs(self) -> list[str]:
        """Ids of the input layers."""
        return [layer.id for layer in self.trained.network.inputs]

    def _nodes(self, module: fx.GraphModule) -> dict[str, fx.Node]:
        return layer_nodes(module, self._inputs)

    def probed(self, *paths: str) -> tuple[nn.Module, list[nn.Module]]:
        """Return the network, and per layer a module in it that the output of the layer passes through. Raises
        `UserError` for a layer that the loss includes."""
        module = fx.GraphModule(self.module, _copied(self.module.graph))
        nodes, probes = self._nodes(module), list[nn.Module]()
        for number, path in enumerate(paths):
            if path not in nodes:
                raise UserError(
                    f"The layer '{self.layers[path].name}' is part of the loss: it has no slope of its own. "
                    "Choose a layer before it."
                )
            node, name = nodes[path], f"{PROBE}_{number}"
            probes.append(nn.Identity())
            module.add_module(name, probes[-1])
            with module.graph.inserting_after(node):
                passed = module.graph.call_module(name, (node,))
            node.replace_all_uses_with(passed, delete_user_cb=partial(operator.is_not, passed))
        module.recompile()
        return module, probes

    def layers_behind(self, input: str) -> set[str]:
        """Return the paths of the layers that the values of an input reach, which is named by its id."""
        nodes = self._nodes(self.module)
        reached = {nodes[input]}
        for node in self.module.graph.nodes:
            if reached.intersection(node.all_input_nodes):
                reached.add(node)
        return {path for path, node in nodes.items() if node in reached}

    # ---- what is explained ----

    def answers(self, inputs: Tensors) -> list[dict[str, Any]]:
        """Return the answers of the network for one sample, per output."""
        outputs = self.trained.outputs(self.answering, inputs)
        return [told(output, 0, MOST_ANSWERS) for output in present(self.record, [x.numpy() for x in outputs])]

    def target(self, name: str, inputs: Tensors | None) -> Target:
        """Return the class or number of this name; without a name the answer of the network for these inputs. Raises
        `UserError`."""
        first = self.record.targets[0]
        names = list(first.classes or first.columns) or [first.source or first.name]
        if name:
            if name not in names:
                hint = did_you_mean(name, names)
                raise UserError(f"The network has no output {quoted(name)}.{hint} It has {', '.join(names[:12])}.")
            return Target(names.index(name), name)
        if not first.classes or inputs is None:
            return Target(0, names[0])
        with torch.no_grad():
            place = int(self.scores(self.module)(*inputs)[0].argmax())
        return Target(place, names[place])

    def scores(self, module: nn.Module) -> "Scores":
        """Return the module of one score per class or number."""
        return Scores(module, self.trained.device, self.trained.wanted[0].is_binary)

    def compared(self, sample: Sample) -> dict[str, Any]:
        """Return the facts about a sample: its origin, and the answers of the network."""
        return {"sample": {**sample.told, "outputs": self.answers(sample.inputs)}}


class Scores(nn.Module):
    """Scores (N, K) of classes or numbers: the first output, averaged over steps, pixels or voxels. Inputs and scores
    are on the CPU, the module is on a device."""

    def __init__(self, module: nn.Module, device: torch.device, is_binary: bool = False) -> None:
        super().__init__()
        self.module, self.device, self.is_binary = module, device, is_binary

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.of(self.module(*(x.to(self.device) for x in inputs))).to(DEVICE)

    def of(self, outputs: Any) -> torch.Tensor:
        """Return the scores of outputs of the module."""
        output = channels_last(as_tuple(outputs)[0])
        means = output.reshape(len(output), -1, output.shape[-1]).mean(1)
        return torch.cat([-means, means], 1) if self.is_binary else means


class _Tap(fx.Interpreter):
    """Runs a module node by node, and keeps the outputs of some layers."""

    def __init__(self, module: fx.GraphModule, nodes: Mapping[str, fx.Node], paths: set[str]) -> None:
        super().__init__(module)
        self._wanted = {nodes[path].name: path for path in paths & nodes.keys()}
        self.found: dict[str, torch.Tensor] = {}

    def run_node(self, n: fx.Node) -> Any:
        result = super().run_node(n)
        if n.name in self._wanted:
            self.found[self._wanted[n.name]] = result[0] if isinstance(result, tuple) else result
        return result


class _Tapped(nn.Module):
    """A module that gives the outputs of some of its layers after its own. Copies of it are as good."""

    def __init__(self, module: fx.GraphModule, inputs: list[str], paths: set[str]) -> None:
        super().__init__()
        self.module, self.inputs = module, inputs
        self.paths = [path for path in layer_nodes(module, inputs) if path in paths]

    def forward(self, *inputs: torch.Tensor) -> Tensors:
        tap = _Tap(self.module, layer_nodes(self.module, self.inputs), {*self.paths})
        outputs = as_tuple(tap.run(*inputs))
        return (*outputs, *(tap.found[path] for path in self.paths))

    def named(self, outputs: Tensors) -> tuple[Tensors, dict[str, torch.Tensor]]:
        """Return the outputs of the module, and those of layers by path."""
        count = len(outputs) - len(self.paths)
        return outputs[:count], dict(zip(self.paths, outputs[count:], strict=True))


def layer_nodes(module: fx.GraphModule, inputs: list[str]) -> dict[str, fx.Node]:
    """Return the last node of each layer by id path, in the order of computation; `inputs` are the ids of the input
    layers, whose nodes are the placeholders."""
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    nodes: dict[str, fx.Node] = dict(zip(inputs, placeholders, strict=False))
    for node in module.graph.nodes:
        if "path" in node.meta:
            nodes.pop(node.meta["path"], None)
            nodes[node.meta["path"]] = node
    return nodes


def _copied(graph: fx.Graph) -> fx.Graph:
    copy = fx.Graph()
    copy.output(copy.graph_copy(graph, {}))
    return copy


def as_picture(values: Array, span: tuple[float, float]) -> Array:
    """Return an image (C, H, W) as bytes: (H, W, 3) of three channels, else (H, W) of the first."""
    black, white = span
    planes = values[: 3 if len(values) == 3 else 1].astype(np.float64)
    levels = np.clip(np.rint((planes - black) * (255.0 / (white - black))), 0, 255).astype(np.uint8)
    return levels[0] if len(levels) == 1 else np.ascontiguousarray(levels.transpose(1, 2, 0))


def rows_of(x: torch.Tensor) -> torch.Tensor:
    """Return an output of a layer with one vector per sample (N, C): the mean over steps, pixels or voxels."""
    last = channels_last(x)
    return last.reshape(len(last), -1, last.shape[-1]).mean(1)
