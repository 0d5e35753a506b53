"""Types that are in no catalog: one for a layer whose type is not known, one for what a bypassed layer does."""

from typing import Any

from engine.errors import MisfitError
from engine.layers.base import LayerType, Lowered
from engine.layers.catalog import add_ons
from engine.layers.types import TensorType


class Passing(LayerType):
    """Passes its input on. It has no calls: nothing of it is in the built module or the source."""

    label = "Bypassed layer"
    family = "Utility"

    def output(self, x: TensorType) -> TensorType:
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return ()


class Placeholder(LayerType):
    """Stands in for a layer type that is not installed. It keeps its fields and ports, so that saving loses nothing."""

    label = "Unknown layer"
    family = "Utility"

    def __init__(self, type_key: str, raw: dict[str, Any], inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        super().__init__()
        self.type_key = type_key
        self.raw = raw
        self._inputs = inputs
        self._outputs = outputs
        self._key = (type(self), (("type", type_key), ("raw", repr(raw)), ("ports", (inputs, outputs))))
        self._hash = hash(self._key)

    def input_ports(self) -> tuple[str, ...]:
        return self._inputs

    def output_ports(self) -> tuple[str, ...]:
        return self._outputs

    def telling(self) -> str:
        return self.type_key

    def output(self, *x: TensorType) -> TensorType:
        broken = " ".join(add_on.refusal for add_on in add_ons() if add_on.error)
        raise MisfitError(
            f"This version of Netwright has no layer type '{self.type_key}'. "
            f"Install the add-on or the version that brings it, or replace the layer.{f' {broken}' if broken else ''}"
        )

    def write(self) -> dict[str, Any]:
        return self.raw
