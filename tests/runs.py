"""Real runs for tests, each in a process of its own, forked from one that has torch imported: see `tests/warm.py`."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from netwright.engine.launch.channel import SILENCE_S
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader
from tests import warm

ROOT = Path(__file__).parents[1]
PATIENCE_S = 100
RUNNER = """
import json, sys
from pathlib import Path
from netwright.engine.core.errors import UserError
from netwright.engine.project.file import load
from netwright.engine.launch.coordinator import coordinate, exit_code
from netwright.engine.launch.prepare import prepare

project, folder, strategy = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
limit, patience, hold_at = int(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6])
say = lambda **what: print(json.dumps(what), flush=True)
try:
    run = prepare(load(project).project, project, folder)
except UserError as error:
    say(refused=str(error), exit_code=error.exit_code)
    sys.exit(error.exit_code)
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
if hold_at:
    from tests.holding import hold
    hold(hold_at, folder.with_name(f"{folder.name}.go"))
result = coordinate(run, on_event=lambda event: say(event=event.write()), strategy=strategy, patience_s=patience)
say(result=result, exit_code=exit_code(run))
"""


def wait_for(fact: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """The fact, once there is one; one that never comes fails."""
    pause, deadline = threading.Event(), time.monotonic() + patience_s
    while not (found := fact()):
        assert time.monotonic() < deadline, f"never: {what}"
        pause.wait(0.005)
    return found


@dataclass(frozen=True)
class Done:
    """A run that has ended, or was refused."""

    folder: RunFolder
    said: list[dict[str, Any]]

    @property
    def result(self) -> dict[str, Any]:
        """What `coordinate` returned."""
        result: dict[str, Any] = self.said[-1]["result"]
        return result

    @property
    def exit_code(self) -> int:
        """The exit code that belongs to it."""
        return int(self.said[-1]["exit_code"])

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind, as the log has them."""
        written = [event.write() for event in EventReader(self.folder, 2**30).read()]
        return [event for event in written if event["kind"] == kind]

    def curve(self, split: str, name: str) -> dict[int, Any]:
        """All points of one curve by step, as they stand in the log."""
        points: dict[int, Any] = {}
        for event in self.events("points"):
            if event["split"] == split:
                for i, value in enumerate(event["values"].get(name, ())):
                    points[event["first_step"] + i * event["steps_apart"]] = value
        return points

    @property
    def losses(self) -> list[float]:
        """The training loss of every step, in order; a step without one fails."""
        curve = self.curve("training", "loss")
        return [curve[step] for step in range(1, len(curve) + 1)]


class Running:
    """A run in a process of its own, which says each event as it comes."""

    def __init__(
        self,
        project: Project,
        folder: Path,
        *,
        strategy: str = "",
        limit_bytes: int = 0,
        patience_s: float = SILENCE_S,
        hold_at: int = 0,
        command: Sequence[str] = (),
    ) -> None:
        """With `hold_at` the workers wait at the checkpoint of this iteration until `let_go`."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        file = folder.parent / f"{folder.name}.netwright"
        save(project, file)
        self.folder = RunFolder(folder)
        self.said: list[dict[str, Any]] = []
        arguments = [str(file), str(folder), strategy, str(limit_bytes), str(patience_s), str(hold_at)]
        starter = [*command, sys.executable, "-c", RUNNER, *arguments]
        self.process: subprocess.Popen[str] | warm.Process
        if command:
            self.process = subprocess.Popen(starter, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        else:
            self.process = warm.Process(arguments, code=RUNNER, cwd=ROOT, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        if isinstance(self.process, warm.Process):
            self.process.close()
        elif self.process.stdout is not None:
            self.process.stdout.close()

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it says, until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(json.loads(line))
            yield self.said[-1]

    def wait_for(self, fact: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first event that fulfils this; one that never comes fails."""
        for line in self.lines():
            if "event" in line and fact(line["event"]):
                event: dict[str, Any] = line["event"]
                return event
        raise AssertionError(f"The run ended before: {self.said[-1] if self.said else 'it said nothing'}")

    def wait_for_kind(self, kind: str) -> dict[str, Any]:
        """The first event of this kind."""
        return self.wait_for(lambda event: event["kind"] == kind)

    def wait_for_training(self) -> None:
        """Until several steps were reported, of a run that lasts."""
        self.wait_for(lambda event: event["kind"] == "progress" and event["iteration"] > 1)

    @property
    def workers(self) -> list[int]:
        """The process ids of the workers, as `run.json` lists them."""
        return list(self.folder.read_info().workers)

    def let_go(self) -> None:
        """A run that was to be held goes on."""
        self.folder.path.with_name(f"{self.folder.path.name}.go").touch()

    def kill(self, pid: int) -> None:
        """End a process of the run at once."""
        os.kill(pid, signal.SIGKILL)

    def finish(self) -> Done:
        """Wait until it has ended."""
        for _ in self.lines():
            pass
        self.process.wait(PATIENCE_S)
        return Done(self.folder, self.said)


def train(project: Project, folder: Path, *, strategy: str = "", end: str = "finished") -> Done:
    """Run to the end, which is to be this one, or to the refusal."""
    with Running(project, folder, strategy=strategy) as running:
        done = running.finish()
    log = folder / "engine.log"
    words = log.read_text(errors="replace")[-2000:] if log.exists() else ""
    assert "refused" in done.said[-1] or done.result["state"] == end, f"{done.result['reason']}\n{words}"
    return done
