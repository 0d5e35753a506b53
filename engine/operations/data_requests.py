"""What the window asks about the data of the project that is open, and about the data of runs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from netwright.engine.core.part_registry import imported
from netwright.engine.operations.operation import Argument, Operation, Request, RunDir, of_window
from netwright.engine.project.data import NOT_READING, DataOptions
from netwright.engine.project.project import Project
from netwright.engine.project.sources.guess import guesses, not_understood
from netwright.engine.project.training import TrainingOptions

Options = Annotated[Mapping[str, Any], Argument("options of the section")]


def data_key(data: Mapping[str, Any], base: Path) -> tuple[Any, ...]:
    """Return the data set that options name. Those of the split, and how samples are loaded, do not count: they do not
    change what is read."""
    return "data", {name: data[name] for name in sorted(data) if name not in NOT_READING}, str(base)


def data_subject(data: Mapping[str, Any]) -> str:
    """Return what is read, for messages."""
    name = data.get("path") or data.get("source")
    return f"reading {name}" if name else ""


@dataclass(frozen=True, kw_only=True)
class DataRequest(Request):
    """Options of data, and the folder from which its path leads."""

    data: Options
    base: Annotated[Path, Argument("the folder from which relative paths lead")]

    @property
    def options(self) -> DataOptions:
        """The options. Raises `UserError`."""
        return DataOptions.read(self.data, "data")

    @property
    def subject(self) -> str:
        """The data."""
        return data_subject(self.data)


@dataclass(frozen=True, kw_only=True)
class FactsRequest(DataRequest):
    """Describe data: `DatasetInfo` as JSON."""

    @property
    def key(self) -> tuple[Any, ...]:
        """The data set."""
        return data_key(self.data, self.base)


@dataclass(frozen=True, kw_only=True)
class FirstSamplesRequest(DataRequest):
    """Show samples of the beginning of data, in a process of its own while another one reads all of it."""

    folder: Annotated[Path, Argument("where pictures are written")]
    count: Annotated[int, Argument("number of samples")] = 24
    is_refused: Annotated[bool, Argument("the data as a whole is refused: show the rows of a short file, too")] = False


@dataclass(frozen=True, kw_only=True)
class PreviewRequest(FirstSamplesRequest):
    """Show samples of data, or of its training split as an epoch changes them."""

    training: Options = field(default_factory=dict)
    epoch: Annotated[int, Argument("the epoch; 0 for samples as they are")] = 0
    split: Annotated[str, Argument("the split of the samples; empty for all")] = ""
    class_name: Annotated[str, Argument("the class of the samples; empty for all")] = ""
    draw: Annotated[int, Argument("which draw of samples; 0 for evenly spaced ones")] = 0

    @classmethod
    def of(cls, project: Project, base: Path, folder: str, count: int, epoch: int) -> "PreviewRequest":
        """Return the request about the data of a project."""
        data, training = project.data.write(), project.training.write()
        return cls(data=data, base=base, folder=Path(folder), count=count, training=training, epoch=epoch)

    @property
    def training_options(self) -> TrainingOptions:
        """The options of the training. Raises `UserError`."""
        return TrainingOptions.read(self.training, "training")

    @property
    def key(self) -> tuple[Any, ...]:
        """The data set."""
        return data_key(self.data, self.base)


@dataclass(frozen=True, kw_only=True)
class CheckDataRequest(DataRequest):
    """Check data before training, at a low priority: a training goes first."""

    labels: Annotated[bool, Argument("look for labels that similar samples contradict, too")] = False


@dataclass(frozen=True, kw_only=True)
class GuessRequest(Request):
    """Guess what kinds of data a file or folder may hold."""

    path: Annotated[Path, Argument("a file or folder")]


@dataclass(frozen=True, kw_only=True)
class DataChangesRequest(Request):
    """Say what has changed in the data of a run since it was recorded, a sentence per file or folder."""

    run_dir: RunDir


def guess(request: GuessRequest) -> Mapping[str, Any]:
    """Return the kinds that data may be of, the likeliest first, or why it is not understood."""
    kinds = guesses(request.path)
    return {"guesses": [asdict(kind) for kind in kinds], "refusal": "" if kinds else not_understood(request.path)}


def data_changes(request: DataChangesRequest) -> Mapping[str, Any]:
    """Return the changes."""
    return {"changes": list(imported("netwright.engine.runs.data_record:changes_since")(request.run_dir))}


ROOM = "netwright.engine.data.loading.named"
FACTS = of_window("facts", FactsRequest, f"{ROOM}:open_facts")
FIRST_SAMPLES = of_window("first_samples", FirstSamplesRequest, f"{ROOM}:first_open_samples")
PREVIEW = of_window("preview", PreviewRequest, f"{ROOM}:open_preview")
CHECK_DATA = of_window("check_data", CheckDataRequest, f"{ROOM}:check_open_data")
GUESS = Operation(name="guess", function=guess, faces=("window",))
DATA_CHANGES = Operation(name="data_changes", function=data_changes, faces=("window",))
