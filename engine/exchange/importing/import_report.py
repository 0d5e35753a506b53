"""What an import did: operators and their fates, outputs compared with the original, files written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import fx

from netwright.engine.exchange.importing.parity import Parity
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network, Port


@dataclass(frozen=True)
class OperatorRow:
    """Operators of one name: how many, and what became of them."""

    operator: str
    count: int
    lifted: int
    folded: int
    vanished: int
    opaque: int
    layers: tuple[tuple[str, int], ...] = ()

    def write(self) -> dict[str, Any]:
        """Return the row as JSON."""
        return {
            "operator": self.operator,
            "count": self.count,
            "lifted": self.lifted,
            "folded": self.folded,
            "removed": self.vanished,
            "opaque": self.opaque,
            "layers": dict(self.layers),
        }


@dataclass(frozen=True)
class ReadNetwork:
    """The result of reading a format with layers of its own: a network with its weights, by id path and name in the
    module of a layer, or already by key of the state-dict.

    `compare` compares the built module with the program that the file is for; without it, `reference` is the reason
    why its outputs are compared with nothing. `outputs` are the ports in the order of the file.
    """

    network: Network
    producer: str
    reference: str
    weights: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    state: Mapping[str, torch.Tensor] | None = None
    rows: tuple[OperatorRow, ...] = ()
    outputs: tuple[Port, ...] = ()
    notes: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    """Sentences on weights that layers share in the file, of which each has a copy here."""
    layout: Layout | None = None
    """Places of the layers, where the file says them."""
    compare: Callable[[fx.GraphModule], Parity] | None = None


@dataclass(frozen=True)
class ImportReport:
    """An imported file. `weights` and `constants` are None where there are none."""

    source: Path
    project: Path
    kind: str
    layers: int
    parameters: int
    weights: Path | None
    constants: Path | None
    producer: str
    opset: int
    operators: tuple[OperatorRow, ...]
    inputs: tuple[tuple[str, str, str], ...]
    """Name, sizes and normalisation of each."""
    parity: Parity
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    """Name of the layer that gives each output."""

    def write(self) -> dict[str, Any]:
        """Return the report as JSON, for `import --json` and `serve`."""
        return {
            "source": str(self.source),
            "project": str(self.project),
            "kind": self.kind,
            "layers": self.layers,
            "parameters": self.parameters,
            "weights": str(self.weights) if self.weights else None,
            "constants": str(self.constants) if self.constants else None,
            "producer": self.producer,
            "opset": self.opset,
            "operators": [row.write() for row in self.operators],
            "inputs": [dict(zip(("name", "sizes", "normalization"), row, strict=True)) for row in self.inputs],
            "agrees": self.parity.agrees,
            "samples": self.parity.samples,
            "outputs": [
                {
                    "name": output.name,
                    "difference": _finite(output.difference),
                    "spread": _finite(output.spread),
                    "agrees": output.is_close,
                    "layer": self.ends.get(output.name, ""),
                }
                for output in self.parity.outputs
            ],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


def inputs_of(network: Network) -> tuple[tuple[str, str, str], ...]:
    """Return name, sizes and normalisation of each input."""
    types = [(layer.name, layer.type) for layer in network.inputs]
    return tuple((name, type.output().short(), getattr(type, "normalization_kind", "none")) for name, type in types)


def warnings_on(parity: Parity) -> tuple[str, ...]:
    """Return sentences on what the comparison found, or why there is none."""
    warnings = []
    if parity.refusal:
        warnings.append(f"The outputs are not compared with the original: {parity.refusal}")
    for output in parity.outputs:
        if not output.is_close:
            share = f", {output.difference / output.spread:.2g} times its spread" if output.spread else ""
            warnings.append(f"The output '{output.name}' differs from the original by {output.difference:.3g}{share}.")
        elif not output.varies:
            warnings.append(
                f"The output '{output.name}' does not vary over the random inputs: equal numbers say little."
            )
    if parity.first:
        warnings.append(parity.first)
    return tuple(warnings)


def _finite(number: float) -> float | None:
    return number if abs(number) < float("inf") else None
