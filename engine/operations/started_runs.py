"""What the window asks about runs: to start and resume them, and the devices and runs that there are."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from netwright.engine.core.part_registry import imported
from netwright.engine.operations.data_requests import data_key, data_subject
from netwright.engine.operations.operation import Argument, Operation, Request, RunDir, of_window

Inventory = Annotated[Mapping[str, Any] | None, Argument("the devices of this machine, where they are known")]


@dataclass(frozen=True, kw_only=True)
class TrainRequest(Request):
    """Start to train a project."""

    project: Annotated[str, Argument("the project itself")]
    project_path: Annotated[Path | None, Argument("its file")] = None
    run_dir: Annotated[Path | None, Argument("the folder of the run")] = None
    data: Annotated[Mapping[str, Any] | None, Argument("options of its data, of which facts were asked")] = None
    base: Annotated[Path | None, Argument("the folder from which relative paths of its data lead")] = None
    inventory: Inventory = None

    @property
    def subject(self) -> str:
        """The data."""
        return data_subject(self.data or {})

    @property
    def key(self) -> tuple[Any, ...]:
        """The data set."""
        return data_key(self.data, self.base) if self.data is not None and self.base is not None else ()


@dataclass(frozen=True, kw_only=True)
class ResumeRequest(Request):
    """Resume a run."""

    run_dir: RunDir
    settings: Annotated[tuple[str, ...], Argument("other values for options")] = ()
    allow_changed_data: Annotated[bool, Argument("resume although the data has changed since")] = False
    inventory: Inventory = None


@dataclass(frozen=True, kw_only=True)
class InventoryRequest(Request):
    """List the devices of this machine: `DeviceInventory` as JSON."""


def inventory(_: InventoryRequest) -> Mapping[str, Any]:
    """Return the devices. Raises `RunError`."""
    written: Mapping[str, Any] = imported("netwright.engine.hardware.devices:probe")().write()
    return written


@dataclass(frozen=True, kw_only=True)
class AliveRequest(Request):
    """List the runs of a project that are under way."""

    project_path: Annotated[Path | None, Argument("the file of the project")] = None
    project_id: Annotated[str, Argument("the identity of the project")] = ""


def alive(request: AliveRequest) -> Mapping[str, Any]:
    """Return the folders of the runs. Raises `UserError`."""
    key = imported("netwright.engine.runs.history:ProjectKey")(request.project_path, request.project_id)
    runs = imported("netwright.engine.runs.history:runs_of")(key)
    return {"runs": [str(run.path) for run in runs if run.is_alive]}


ROOM = "netwright.engine.launch.forked_coordinator"
TRAIN = of_window("train", TrainRequest, f"{ROOM}:train", starts_run=True)
RESUME = of_window("resume", ResumeRequest, f"{ROOM}:resume", starts_run=True)
INVENTORY = Operation(name="inventory", function=inventory, faces=("window",))
ALIVE = Operation(name="alive", function=alive, faces=("window",))
