"""Queue runner: starts the entries of a queue in order, as many at a time as the machine has room for.

python -m netwright.engine.core.child netwright.engine.launch.queue_runner FOLDER [AT_ONCE]

Each run is an independent process: if the queue runner dies, another one can continue.
"""

import contextlib
import subprocess
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from netwright.engine.core.errors import EXIT_DONE, RunError, UserError
from netwright.engine.core.platform import num_cores
from netwright.engine.launch.notification import announce
from netwright.engine.placement.inventory import DeviceInventory, Room, num_devices, room_for
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import loads
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.machine_shares import QUEUE, Holding, MachineShare, longest_waiting
from netwright.engine.runs.queue import Entry, Queue, is_due, start_entry

LOOK_S = 0.5
Tell = Callable[[Entry], None]
Watch = Callable[[Sequence[Entry]], None]
_HERE = DeviceInventory(num_cores=1)


class Worker:
    """Runner of one queue. `tell` is called with an entry whenever its state has changed, `watch` at each look with the
    entries that are trained."""

    def __init__(
        self,
        queue: Queue,
        at_once: int = 0,
        tell: Tell = lambda entry: None,
        watch: Watch = lambda entries: None,
    ) -> None:
        """Create a runner with `at_once` concurrent runs; 0: one per accelerator of this machine, at least one."""
        self._queue = queue
        self._at_once = at_once
        self._tell, self._watch = tell, watch
        self._inventory: DeviceInventory | None = None
        self._share = MachineShare(QUEUE)
        self._processes: dict[int, tuple[subprocess.Popen[bytes], Room]] = {}
        self._others: list[Holding] = []
        """The share of this machine that experiments take."""
        self._known: dict[int, str] = {}
        self._is_stopped = False

    def run(self) -> list[Entry]:
        """Run the queue until no entry waits or runs, or until asked to leave.

        Returns the entries that have ended meanwhile. Raises `RunError` if another process runs this queue.
        """
        ended: list[Entry] = []
        while True:
            with self._queue.at_work(), self._share:
                while self._step(ended):
                    time.sleep(LOOK_S)
            # Checked again without the lock: otherwise an entry added just before its release would not be started.
            is_left = self._is_stopped or self._queue.is_to_be_left()
            if is_left or not any(entry.is_waiting for entry in self._queue.entries()):
                if ended:
                    num_finished = sum(entry.state == "finished" for entry in ended)
                    announce(self._queue.folder / "work.log", "queue", str(len(ended)), str(num_finished))
                return ended

    def stop(self) -> None:
        """Start no more entries, and request the active runs to stop; `run` then waits for them."""
        self._is_stopped = True
        for entry in self._queue.entries():
            if entry.id in self._processes and entry.run_dir and not entry.is_over:
                with contextlib.suppress(UserError):
                    RunFolder(Path(entry.run_dir)).request("stop")

    def _step(self, ended: list[Entry]) -> bool:
        """Record the entries that have ended and start those that can start. Return whether work is left."""
        self._reap()
        entries = self._queue.entries()
        ended += self._told(entries)
        active = [entry for entry in entries if not (entry.is_waiting or entry.is_over) or entry.id in self._processes]
        self._watch(active)
        busy = [entry for entry in active if not _has_made_room(entry)]
        if self._queue.is_to_be_left():
            return False
        if self._is_stopped:
            return bool(self._processes)
        waiting = [entry for entry in entries if entry.is_waiting and entry.id not in self._processes]
        self._others = self._share.others()
        devices = {name for entry in busy for name in self._devices_of(entry)}
        rooms = [self._processes[entry.id][1] for entry in busy if entry.id in self._processes]
        needs: EnvironmentOptions | None = None
        for entry in filter(is_due, waiting):
            if len(busy) >= self._limit():
                break
            if (room := self._room(entry, devices, rooms)) is not None:
                self._begin(entry, room)
                busy.append(entry)
                devices |= set(room.devices)
                rooms.append(room)
            elif needs is None:
                needs = self._environment(entry)
        self._tell_share(devices, rooms, needs)
        return bool(active or waiting)

    def _tell_share(self, devices: Collection[str], rooms: Sequence[Room], needs: EnvironmentOptions | None) -> None:
        """Tell experiments what the runs take, and what the first one that has no room needs."""
        cores = sum(self._cores_of(room.environment) for room in rooms if not room.devices)
        changes: dict[str, object] = {"needs_devices": 0, "needs_cores": 0, "since": 0.0}
        if needs is not None and self._others:
            usable = len(self._machine().usable)
            count = min(usable, num_devices(needs, usable))
            changes = {"needs_devices": count, "needs_cores": 0 if count else self._cores_of(needs)}
            changes["since"] = self._share.holding.since or time.time()
        self._share.write(devices=tuple(sorted(devices)), cores=cores, **changes)

    def _cores_of(self, environment: EnvironmentOptions) -> int:
        """Return the cores of a run on the CPU beside an experiment: its threads, else half of the machine."""
        workers = max(1, environment.num_workers) if environment.target == "multi-cpu" else 1
        most = num_cores()
        return min(most, workers * environment.threads or max(workers, most // 2))

    def _told(self, entries: list[Entry]) -> list[Entry]:
        """Report the entries whose state has changed; return those of them that have ended."""
        changes = [entry for entry in entries if self._known.get(entry.id, "waiting") != entry.state]
        is_first = not self._known
        self._known = {entry.id: entry.state for entry in entries}
        changes = [entry for entry in changes if not (is_first and entry.is_over)]
        for entry in changes:
            self._tell(entry)
        return [entry for entry in changes if entry.is_over]

    def _limit(self) -> int:
        return self._at_once or max(1, len(self._machine().usable))

    def _machine(self) -> DeviceInventory:
        if self._inventory is None or (self._inventory is _HERE and self._others):
            from netwright.engine.hardware.devices import probe

            self._inventory = probe() if self._at_once != 1 or self._others else _HERE
        return self._inventory

    def _devices_of(self, entry: Entry) -> tuple[str, ...]:
        return self._processes[entry.id][1].devices if entry.id in self._processes else entry.devices

    def _environment(self, entry: Entry) -> EnvironmentOptions:
        """Return the environment of an entry; one whose project cannot be read goes anywhere, its process reports the
        error."""
        with contextlib.suppress(UserError):
            return loads(self._queue.project_text(entry.id)).project.environment
        return EnvironmentOptions(target="cpu")

    def _room(self, entry: Entry, devices: set[str], rooms: Sequence[Room]) -> Room | None:
        """Return the devices for an entry, or None if it has to wait."""
        environment = self._environment(entry)
        if not self._others:
            return Room(environment) if self._limit() == 1 else room_for(environment, self._machine(), devices)
        first = longest_waiting(self._others, self._share.holding.since)
        foreign = {name for other in self._others for name in other.devices}
        room = room_for(environment, self._machine(), devices | foreign)
        if room is None or room.devices:
            num_free = len(self._machine().usable) - len(devices | foreign) - (len(room.devices) if room else 0)
            return room if first is None or num_free >= first.needs_devices else None
        cores = sum(other.cores for other in self._others) + (first.needs_cores if first is not None else 0)
        needed = self._cores_of(environment)
        run_cores = sum(self._cores_of(holder.environment) for holder in rooms if not holder.devices)
        if cores and cores + run_cores + needed > num_cores():
            return None
        workers = max(1, environment.num_workers) if environment.target == "multi-cpu" else 1
        return Room(environment.replace(threads=max(1, needed // workers))) if cores else room

    def _begin(self, entry: Entry, room: Room) -> None:
        settings = []
        if room.devices:
            settings = [
                f"environment.target={room.environment.target}",
                f"environment.devices={list(room.environment.devices)}",
            ]
        elif room.environment.threads:
            settings = [f"environment.threads={room.environment.threads}"]
        process = start_entry(self._queue, entry.id, ",".join(room.devices) or "-", *settings)
        self._processes[entry.id] = process, room

    def _reap(self) -> None:
        """Remove the processes that have ended. An entry that still waits after its process failed is refused."""
        for id, (process, _) in list(self._processes.items()):
            if process.poll() is None:
                continue
            del self._processes[id]
            entry = self._queue.entry(id)
            if entry is not None and entry.is_waiting and process.returncode != EXIT_DONE:
                with contextlib.suppress(UserError), self._queue.claimed(id) as claim:
                    why = f"The process for it ended with code {process.returncode}; {self._queue.folder / 'work.log'}"
                    claim.change(state="refused", reason=f"{why} may say why.")


def _has_made_room(entry: Entry) -> bool:
    """Return whether the entry's run is paused and has released its memory.

    When it continues, it shares the machine with other runs.
    """
    with contextlib.suppress(UserError, OSError):
        return bool(entry.run_dir) and RunFolder(Path(entry.run_dir)).has_released()
    return False


def main(arguments: Sequence[str]) -> int:
    """Run the queue of a folder from the command line; return the exit code."""
    folder, at_once = (*arguments, "0")[:2]
    with contextlib.suppress(RunError):  # another process runs this queue
        Worker(Queue(Path(folder)), int(at_once)).run()
    return EXIT_DONE
