"""Where a run executes: the section `environment` of the project file."""

from typing import Any

from engine.errors import FieldError
from engine.fields import Choice, Int, Ints, Record

TARGETS = ("auto", "cpu", "multi-cpu", "gpu", "multi-gpu", "parallel")


def _target(*names: str) -> Any:
    return lambda options: options.target in names


class EnvironmentOptions(Record):
    """The execution environment and its few numbers. What they come to here is `environments.choose`'s answer."""

    target = Choice(
        "auto",
        options=TARGETS,
        notes={
            "auto": "The fastest that is here",
            "cpu": "One process on the CPU",
            "multi-cpu": "Several processes on the CPU, over gloo",
            "gpu": "One GPU",
            "multi-gpu": "Several GPUs of this machine, over nccl",
            "parallel": "A cluster, by a profile",
        },
        label="Execution environment",
        group="Environment",
    )
    num_workers = Int(
        0,
        low=0,
        high=1024,
        label="Workers",
        unit="workers",
        group="Environment",
        help="Processes that share each batch; 0: one a core, up to 8",
        visible_when=_target("multi-cpu"),
    )
    devices = Ints(
        (),
        low=0,
        high=1023,
        label="Devices",
        group="Environment",
        help="Numbers of the GPUs to use; empty: the first, or all for multi-gpu",
        visible_when=_target("gpu", "multi-gpu"),
    )
    threads = Int(
        0,
        low=0,
        high=1024,
        label="Threads a worker",
        unit="threads",
        group="Environment",
        help="0: a fair share of the cores",
        visible_when=_target("cpu", "multi-cpu"),
    )

    def problems(self) -> list[FieldError]:
        """Combinations that cannot be meant."""
        found = []
        if len(set(self.devices)) != len(self.devices):
            found.append(FieldError("devices", f"each device can be named once, received {list(self.devices)}."))
        if self.target == "multi-cpu" and self.num_workers == 1:
            message = "multi-cpu needs at least 2 workers (0: one a core). For one process choose cpu."
            found.append(FieldError("num_workers", message))
        return found
