"""What is known about a data source without holding its data: sizes of the parts, input types, classes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.layers.types import Symbol, TensorType

Task = Literal["classes", "numbers"]
PARTS = ("training", "validation", "test")


@dataclass(frozen=True)
class InputFacts:
    """One input of the data: its name (a network input of the same name takes it) and its type.

    All sizes are known, except where sequences differ in length: `lengths` then are the shortest and the longest.
    `columns` says what each number of a vector is, where that has a name: columns of a table, `facing=east` for one of
    the inputs that a column of texts became.
    """

    name: str
    type: TensorType
    columns: tuple[str, ...] = ()
    lengths: tuple[int, int] | None = None

    def short(self) -> str:
        """The sizes: `8 × 28 × 28`, and `3 to 40 × 2` where sequences have 3 to 40 steps."""
        if self.lengths is None:
            return self.type.short()
        steps = f"{self.lengths[0]:,} to {self.lengths[1]:,}"
        sizes = zip(self.type.axes, self.type.sizes, strict=True)
        return " × ".join(steps if axis == "T" else f"{size:,}" for axis, size in sizes)


@dataclass(frozen=True)
class DataFacts:
    """What the window and `check` need to know about the data.

    `samples` counts each of training, validation and test. For the task `classes`, `classes` are the names in sorted
    order; for `numbers`, `responses` counts the numbers to predict and `classes` is empty. `notes` are findings worth a
    line each (files left out, columns encoded).
    """

    inputs: tuple[InputFacts, ...]
    samples: Mapping[str, int]
    task: Task
    classes: tuple[str, ...] = ()
    responses: int = 1
    notes: tuple[str, ...] = field(default=())

    @property
    def outputs(self) -> int:
        """How many numbers the network has to give a sample."""
        return len(self.classes) if self.task == "classes" else self.responses

    def write(self) -> dict[str, Any]:
        """As JSON, for the answers of `serve`."""
        return {
            "inputs": [
                {
                    "name": i.name,
                    "axes": list(i.type.axes),
                    "sizes": [size if isinstance(size, int) else str(size) for size in i.type.sizes],
                    "kind": i.type.kind,
                    "columns": list(i.columns),
                    **({"lengths": list(i.lengths)} if i.lengths else {}),
                }
                for i in self.inputs
            ],
            "samples": dict(self.samples),
            "task": self.task,
            "classes": list(self.classes),
            "responses": self.responses,
            "notes": list(self.notes),
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "DataFacts":
        """From JSON that `write` made."""
        inputs = tuple(_read_input(given) for given in data["inputs"])
        return cls(
            inputs, data["samples"], data["task"], tuple(data["classes"]), data["responses"], tuple(data["notes"])
        )


def _read_input(given: Mapping[str, Any]) -> InputFacts:
    sizes = tuple(size if isinstance(size, int) else Symbol(size) for size in given["sizes"])
    lengths = given.get("lengths")
    type = TensorType(tuple(given["axes"]), sizes, given["kind"])
    return InputFacts(
        given["name"], type, tuple(given.get("columns", ())), (lengths[0], lengths[1]) if lengths else None
    )
