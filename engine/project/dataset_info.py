"""Facts about a data source without loading it: sizes of the splits, input types, targets."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from netwright.engine.core.types import Symbol, TensorType, features
from netwright.engine.project.preparation import ColumnPreparation, SoundPreparation, TextPreparation

Task = Literal["classes", "numbers", "labels", "transcripts"]
SPLITS = ("training", "validation", "test")
IGNORED = -100
"""Value of class targets that the loss ignores: masked positions, and padding behind the end of a sequence. Targets of
numbers and labels have NaN there. The same as torch's ignore_index."""


@dataclass(frozen=True)
class InputInfo:
    """One input of the data: its name (a network input of the same name takes it) and its type.

    All sizes are known, except where sequences differ in length: `lengths` then are the shortest and the longest.
    `columns` says what each number of a vector is, where that has a name: columns of a table, `facing=east` for one of
    the inputs that a column of texts became. `span` holds the smallest and the largest value that the source allows,
    such as 0 and 255 for images; None where only the data tells. `prepared` is how the columns were fitted, `sound` and
    `text` how a sound or a text becomes numbers, for the preparation of a run (`netwright.engine.project.preparation`).
    """

    name: str
    type: TensorType
    columns: tuple[str, ...] = ()
    lengths: tuple[int, int] | None = None
    span: tuple[float, float] | None = None
    prepared: tuple[ColumnPreparation, ...] = ()
    sound: SoundPreparation | None = None
    text: TextPreparation | None = None

    @property
    def is_series(self) -> bool:
        """Return whether these are sequences of numbers, which can be augmented."""
        return self.type.layout == "sequence" and self.type.kind == "real"

    def short(self) -> str:
        """Return the sizes: `8 × 28 × 28`, and `3 to 40 × 2` where sequences have 3 to 40 steps."""
        return _short(self.type, self.lengths)


@dataclass(frozen=True)
class TargetInfo:
    """The target of one output of the network: its name (an output layer of the same name gives it) and its type.

    | task        | targets, samples first                  | type: what the output gives                      |
    |-------------|-----------------------------------------|--------------------------------------------------|
    | classes     | N, N T, N H W or N D H W: class numbers | one channel per class: C, T C, C H W or C D H W    |
    | numbers     | N R, N T R or N R H W                   | the same numbers                                 |
    | labels      | N K, or N T K: 0 or 1                   | one channel per label; several may be true         |
    | transcripts | N L: class numbers, in order            | T C: the classes and the blank, at any length    |

    `classes` are the names of classes or labels, in the order of their numbers. What does not count is `IGNORED` in
    class numbers and NaN in numbers and labels; padding is. `lengths` are the shortest and longest of the sequences of
    the target where they differ. `largest` is the largest size of the numbers to predict; 0 where nobody looked.
    """

    name: str
    type: TensorType
    task: Task
    classes: tuple[str, ...] = ()
    lengths: tuple[int, int] | None = None
    largest: float = 0.0

    @property
    def outputs(self) -> int:
        """Return the number of channels that the output must have."""
        return self.type.channels

    @property
    def per(self) -> str:
        """Return the unit that has its own target: `sample`, `step`, `pixel` or `voxel`."""
        if self.task == "transcripts":
            return "sample"
        return {"features": "sample", "sequence": "step", "image": "pixel"}.get(self.type.layout, "voxel")

    @property
    def is_one_class(self) -> bool:
        """Return whether each sample belongs to one class, so that samples can be counted by class."""
        return self.task == "classes" and self.per == "sample"

    def short(self) -> str:
        """Return the sizes: `3`, `5 × 28 × 28`, and `3 to 40 × 2` where sequences have 3 to 40 steps."""
        return _short(self.type, self.lengths if self.task != "transcripts" else None)

    def spoken(self) -> str:
        """Return a description: `3 classes`, `5 classes per pixel`, `2 numbers`, `4 labels`, `transcripts of 26
        classes`."""
        if self.task == "transcripts":
            return f"transcripts of {len(self.classes):,} classes"
        count = self.outputs
        noun = {"classes": "class", "labels": "label"}.get(self.task, "number")
        noun += "" if count == 1 else "es" if noun == "class" else "s"
        return f"{count:,} {noun}" + ("" if self.per == "sample" else f" per {self.per}")


def classes_of(*names: str, name: str = "y") -> tuple[TargetInfo, ...]:
    """Return a target of one of these classes per sample."""
    return (TargetInfo(name, features(len(names)), "classes", names),)


def numbers_of(count: int = 1, name: str = "y") -> tuple[TargetInfo, ...]:
    """Return a target of `count` numbers per sample."""
    return (TargetInfo(name, features(count), "numbers"),)


@dataclass(frozen=True)
class Forecast:
    """Windows of time series: the columns `targets` are predicted `horizon` steps ahead from the last `lags` steps.

    A window begins every `stride` steps. The target is one vector, step by step: all targets one step ahead, then two.
    `season` is the period of the data in steps that the options give, `period` the one that its values show; 0 where it
    is not known.
    """

    targets: tuple[str, ...]
    lags: int
    horizon: int
    stride: int = 1
    season: int = 0
    period: int = 0


class DamageWarning(str):
    """The warning that files are left out because of damage. `paths` are those of the files, in the folder of the
    data."""

    def __new__(cls, text: str, paths: Sequence[str] = ()) -> "DamageWarning":
        """Add the paths to a text."""
        warning = super().__new__(cls, text)
        warning.paths = tuple(paths)
        return warning

    paths: tuple[str, ...]


@dataclass(frozen=True)
class DatasetInfo:
    """Facts about the data that the window and `check` need.

    `samples` counts those of training, validation and test. There is at least one target. `notes` are messages of one
    line each (files left out, columns encoded). `resident_because` is the reason why the samples can only be held in
    memory; empty where they can be read batch by batch. `held_bytes` is the memory of all samples where they share it,
    as windows of a series do; 0 where it follows from their sizes. `forecast` describes such windows.
    """

    inputs: tuple[InputInfo, ...]
    samples: Mapping[str, int]
    targets: tuple[TargetInfo, ...]
    notes: tuple[str, ...] = field(default=())
    resident_because: str = ""
    warnings: tuple[str, ...] = ()
    """Findings that the user should do something about, one line each."""
    held_bytes: int = 0
    forecast: Forecast | None = None

    @property
    def task(self) -> Task:
        """Return the task of the first target."""
        return self.targets[0].task

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the names of the first target's classes or labels, in the order of their numbers; empty for
        numbers."""
        return self.targets[0].classes

    @property
    def outputs(self) -> int:
        """Return the number of channels that the first output must have."""
        return self.targets[0].outputs

    def write(self) -> dict[str, Any]:
        """Return the value as JSON, for the answers of `serve`."""
        return {
            "inputs": [
                {
                    "name": i.name,
                    **_write_type(i.type, i.lengths),
                    "columns": list(i.columns),
                    "prepared": [column.write() for column in i.prepared],
                    "sound": i.sound.write() if i.sound else None,
                    "text": i.text.write() if i.text else None,
                    "span": list(i.span) if i.span else None,
                }
                for i in self.inputs
            ],
            "samples": dict(self.samples),
            "targets": [
                {
                    "name": t.name,
                    **_write_type(t.type, t.lengths),
                    "task": t.task,
                    "classes": list(t.classes),
                    "largest": t.largest,
                }
                for t in self.targets
            ],
            "notes": list(self.notes),
            "resident_because": self.resident_because,
            "warnings": list(self.warnings),
            "damaged": {warning: warning.paths for warning in self.warnings if isinstance(warning, DamageWarning)},
            **({"held_bytes": self.held_bytes} if self.held_bytes else {}),
            **({"forecast": asdict(self.forecast)} if self.forecast else {}),
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "DatasetInfo":
        """Return the value from JSON that `write` made."""
        inputs = tuple(
            InputInfo(
                i["name"],
                _read_type(i),
                tuple(i.get("columns", ())),
                _read_pair(i, "lengths"),
                _read_pair(i, "span"),
                tuple(ColumnPreparation.read(column) for column in i.get("prepared", ())),
                SoundPreparation.read(i["sound"]) if i.get("sound") else None,
                TextPreparation.read(i["text"]) if i.get("text") else None,
            )
            for i in data["inputs"]
        )
        targets = tuple(
            TargetInfo(
                t["name"],
                _read_type(t),
                t["task"],
                tuple(t["classes"]),
                _read_pair(t, "lengths"),
                t.get("largest", 0.0),
            )
            for t in data["targets"]
        )
        because, damaged = data.get("resident_because", ""), data.get("damaged", {})
        texts = data.get("warnings", ())
        warnings = tuple(DamageWarning(text, damaged[text]) if text in damaged else text for text in texts)
        forecast_data = data.get("forecast")
        forecast = Forecast(**{**forecast_data, "targets": tuple(forecast_data["targets"])}) if forecast_data else None
        num_bytes = data.get("held_bytes", 0)
        return cls(inputs, data["samples"], targets, tuple(data["notes"]), because, warnings, num_bytes, forecast)


def _short(type: TensorType, lengths: tuple[int, int] | None) -> str:
    if lengths is None:
        return type.short()
    steps = f"{lengths[0]:,} to {lengths[1]:,}"
    sizes = zip(type.axes, type.sizes, strict=True)
    return " × ".join(steps if axis == "T" else f"{size:,}" for axis, size in sizes)


def _write_type(type: TensorType, lengths: tuple[int, int] | None) -> dict[str, Any]:
    sizes = [size if isinstance(size, int) else str(size) for size in type.sizes]
    fields = {"axes": list(type.axes), "sizes": sizes, "kind": type.kind}
    return {**fields, "lengths": list(lengths)} if lengths else fields


def _read_type(data: Mapping[str, Any]) -> TensorType:
    sizes = tuple(size if isinstance(size, int) else Symbol(size) for size in data["sizes"])
    return TensorType(tuple(data["axes"]), sizes, data["kind"])


def _read_pair(data: Mapping[str, Any], name: str) -> Any:
    pair = data.get(name)
    return (pair[0], pair[1]) if pair else None
