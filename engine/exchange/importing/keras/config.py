"""The architecture in `config.json` of a `.keras` file as plain values: layers, their calls, inputs and outputs.

Keras 3 writes tensors as `__keras_tensor__` objects within `args`, Keras 2 as lists of name, node and index. Both name
the layer, the number of its call and the index of the output.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable

MODELS = ("Functional", "Sequential", "Model")
MOST_LAYERS = 20_000
DEPTH_LIMIT = 8
Json = dict[str, Any]


@dataclass(frozen=True)
class Ref:
    """One tensor: the layer that gives it, which of its calls, and which output."""

    layer: str
    call: int = 0
    output: int = 0


@dataclass(frozen=True)
class Call:
    """One call of a layer: positional arguments in order, and the others by name. A tensor is a `Ref`."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def tensors(self) -> tuple[Ref, ...]:
        """Return all tensors among the positional arguments, and those of lists in them."""
        return tuple(_tensors(self.args))

    def used(self) -> tuple[Ref, ...]:
        """Return all tensors of the call, those by name included."""
        return (*self.tensors(), *_tensors(list(self.kwargs.values())))


@dataclass(frozen=True)
class KerasLayer:
    """One layer of a model; `model` is there where the layer is a model itself."""

    name: str
    class_name: str
    config: Json
    calls: tuple[Call, ...]
    shape: tuple[int | None, ...] | None = None
    """Shape that enters the layer, batch axis excluded, where the file says it."""
    is_custom: bool = False
    is_operation: bool = False
    model: "KerasModel | None" = None


@dataclass(frozen=True)
class KerasModel:
    """Layers in the order of the file, the tensors that enter, and those that leave."""

    name: str
    layers: tuple[KerasLayer, ...]
    inputs: tuple[Ref, ...]
    outputs: tuple[Ref, ...]

    def layer(self, name: str) -> KerasLayer:
        """Return the layer with this name. Raises `UserError`."""
        match = next((layer for layer in self.layers if layer.name == name), None)
        if match is None:
            raise UserError(f"The Keras model refers to a layer '{printable(name)[:80]}', which it does not have.")
        return match


def _tensors(value: Any) -> Iterator[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def read_model(data: Json, depth: int = 0) -> KerasModel:
    """Return a model from its JSON object. Raises `UserError` for another kind of object, or a damaged one."""
    class_name, config = data.get("class_name"), data.get("config")
    if depth > DEPTH_LIMIT:
        raise UserError(f"The models of the file stand more than {DEPTH_LIMIT} deep in each other.")
    if class_name not in MODELS or not isinstance(config, dict) or not isinstance(config.get("layers"), list):
        label = printable(str(data.get("registered_name") or class_name))[:80]
        raise UserError(
            f"The model is a '{label}', a class of its own, whose code is not in the file and is not run. "
            "A Sequential or Functional model can be imported.",
            hint="Build the same network as a Functional model (keras.Model(inputs, outputs)) and save that, or export "
            "it as ONNX: model.export('NAME.onnx', format='onnx').",
        )
    if len(config["layers"]) > MOST_LAYERS:
        raise UserError(f"The model has {len(config['layers']):,} layers; a network has at most {MOST_LAYERS:,}.")
    name = str(config.get("name") or class_name)
    if class_name == "Sequential":
        return _sequential(name, config, data, depth)
    layers = tuple(_layer(item, depth) for item in config["layers"])
    return KerasModel(name, layers, _ends(config, "input_layers"), _ends(config, "output_layers"))


def _ends(config: Json, key: str) -> tuple[Ref, ...]:
    ends = tuple(_triples(config.get(key)))
    if not ends:
        raise UserError(f"The Keras model names no {key.replace('_', ' ')}.")
    return ends


def _triples(value: Any) -> Iterator[Ref]:
    """Yield the tensors of nested lists of (layer, call, output)."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return
    if _is_triple(value):
        yield Ref(*value[:3])
        return
    for item in value:
        yield from _triples(item)


def _is_triple(value: list[Any]) -> bool:
    return len(value) in (3, 4) and isinstance(value[0], str) and all(isinstance(n, int) for n in value[1:3])


def _layer(item: Any, depth: int) -> KerasLayer:
    if not isinstance(item, dict) or not isinstance(item.get("config"), dict):
        raise UserError("A layer of the Keras model is damaged: it has no config.")
    config = item["config"]
    name = str(item.get("name") or config.get("name") or "")
    class_name = str(item.get("class_name"))
    module, registered = str(item.get("module") or ""), item.get("registered_name")
    is_ours = module.startswith(("keras", "tf_keras")) or not module
    is_custom = not is_ours or (isinstance(registered, str) and ">" in registered)
    calls = tuple(_call(node) for node in item.get("inbound_nodes") or ())
    shape = _shape((item.get("build_config") or {}).get("input_shape"))
    model = read_model(item, depth + 1) if class_name in MODELS and not is_custom else None
    return KerasLayer(name, class_name, config, calls, shape, is_custom, ".ops" in module, model)


def _shape(value: Any) -> tuple[int | None, ...] | None:
    """Return a shape without its batch axis."""
    if not isinstance(value, list) or not all(size is None or isinstance(size, int) for size in value):
        return None
    return tuple(value[1:])


def _call(node: Any) -> Call:
    if isinstance(node, dict):  # Keras 3
        kwargs = node.get("kwargs") or {}
        return Call(tuple(map(_argument, node.get("args") or ())), {key: _argument(v) for key, v in kwargs.items()})
    if isinstance(node, list):  # Keras 2: [[name, call, output, kwargs], ...]
        kwargs = next((item[3] for item in node if isinstance(item, list) and len(item) > 3), {})
        tensors = tuple(_triples(node))
        keywords = {key: _older(value) for key, value in (kwargs or {}).items()}
        return Call((tensors[0] if len(tensors) == 1 else tensors,), keywords)
    raise UserError("A layer of the Keras model is damaged: what enters it cannot be read.")


def _older(value: Any) -> Any:
    """Return a value of Keras 2, where a tensor is a list of its layer, call and output."""
    return Ref(*value[:3]) if isinstance(value, list) and _is_triple(value) else value


def _argument(value: Any) -> Any:
    if isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
        history = (value.get("config") or {}).get("keras_history")
        if not isinstance(history, list) or not _is_triple(history):
            raise UserError("A layer of the Keras model is damaged: the origin of a tensor cannot be read.")
        return Ref(*history[:3])
    if isinstance(value, (list, tuple)):
        return tuple(map(_argument, value))
    if isinstance(value, dict):
        return {key: _argument(item) for key, item in value.items()}
    return value


def _sequential(name: str, config: Json, data: Json, depth: int) -> KerasModel:
    """Return a Sequential model: each layer is called once, on what the layer before it gives."""
    layers = [_layer(item, depth) for item in config["layers"]]
    if not layers:
        raise UserError(f"The model '{printable(name)[:80]}' has no layers.")
    if layers[0].class_name != "InputLayer":
        layers.insert(0, _input_of(layers[0], config, data))
    chained = [layers[0]]
    for layer in layers[1:]:
        chained.append(_called(layer, Ref(chained[-1].name)))
    return KerasModel(name, tuple(chained), (Ref(layers[0].name),), (Ref(layers[-1].name),))


def _called(layer: KerasLayer, source: Ref) -> KerasLayer:
    calls = (Call((source,)),)
    return KerasLayer(
        layer.name,
        layer.class_name,
        layer.config,
        calls,
        layer.shape,
        layer.is_custom,
        layer.is_operation,
        layer.model,
    )


def _input_of(first: KerasLayer, config: Json, data: Json) -> KerasLayer:
    """Return the input layer that a Sequential model without one has by its sizes."""
    shapes = (
        config.get("build_input_shape"),
        (data.get("build_config") or {}).get("input_shape"),
        first.config.get("batch_input_shape"),
        first.config.get("batch_shape"),
    )
    shape = next((value for value in shapes if isinstance(value, list)), None)
    if shape is None and first.shape is not None:
        shape = [None, *first.shape]
    return KerasLayer("input", "InputLayer", {"name": "input", "batch_shape": shape}, ())
