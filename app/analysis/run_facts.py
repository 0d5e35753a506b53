"""The facts of a run or a model that decide on what can be explained."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.app.runs.segments import OpenedModel
from netwright.engine.core.errors import UserError
from netwright.engine.network.analysis import analyse, named_path, type_at
from netwright.engine.project.file import load
from netwright.engine.project.preparation import Preparation
from netwright.engine.runs.data_record import read_record
from netwright.engine.runs.folder import RunFolder

CONVOLUTIONS = ("conv2d", "grouped_conv2d", "transposed_conv2d")


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run that decide on the choices: layers with type and layout, classes, samples per split."""

    layers: Sequence[tuple[str, str, str, str]] = ()
    """Name, key, family and layout of each."""
    classes: Sequence[str] = ()
    samples: Mapping[str, int] | None = None
    kind: str = ""
    """`image`, `table`, `text`, or `other`."""

    @classmethod
    def of_run(cls, run: Path) -> "RunFacts":
        """Read the files of a run; what cannot be read is left open."""
        layers: list[tuple[str, str, str, str]] = []
        classes: Sequence[str] = ()
        samples, kind = None, "other"
        with contextlib.suppress(UserError, OSError, ValueError):
            network = load(RunFolder(run).project).project.network
            for path, shapes in analyse(network).all_shapes():
                if shapes.outputs and not shapes.is_port:
                    type = type_at(network, path)
                    layers.append((named_path(network, path), type.key, type.family, shapes.output.layout))
        with contextlib.suppress(UserError, OSError, ValueError):
            record = Preparation.load(run)
            classes = record.targets[0].classes if record.targets else ()
            axes = [entry.axes for entry in record.inputs]
            kind = "image" if ("C", "H", "W") in axes else "table" if axes == [("C",)] * len(axes) else "other"
            kind = "text" if any(entry.text is not None for entry in record.inputs) else kind
        with contextlib.suppress(UserError, OSError, ValueError):
            data = read_record(run)
            samples = data.samples if data is not None else None
        return cls(tuple(layers), classes, samples, kind)

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> "RunFacts":
        """Return the facts in the card of a model."""
        layers = tuple((row["path"], row["type"], row["family"], row["layout"]) for row in card["layers"])
        layouts = {layout for _, _, family, layout in layers if family == "Input"}
        kind = "image" if "image" in layouts else "table" if layouts == {"features"} else "other"
        classes = card["outputs"][0]["classes"] if card["outputs"] else ()
        return cls(layers, classes, card.get("samples") or None, kind)

    @property
    def first_method(self) -> str:
        """The method that fits the network best."""
        if (
            any(family == "Attention" and key != "embedding" for _, key, family, _ in self.layers)
            and self.kind != "image"
        ):
            return "attention"
        methods = {"image": "gradcam", "table": "permutation", "text": "occlusion"}
        return methods.get(self.kind, "activations")

    def layers_for(self, method: str) -> list[str]:
        """Return the names of the layers that a method takes."""
        names = []
        for name, key, family, layout in self.layers:
            fits = {
                "gradcam": layout == "image" and family != "Input" and key != "softmax",
                "filters": key in CONVOLUTIONS,
                "attention": family == "Attention",
            }
            if fits.get(method, True):
                names.append(name)
        return names


def facts_of(run: Path | None, model: OpenedModel | None) -> RunFacts:
    """Return the facts of a model, else those of a run; none without either."""
    if model is not None:
        return RunFacts.of_card(model.card)
    return RunFacts.of_run(run) if run is not None else RunFacts()
