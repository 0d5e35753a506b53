"""The record in `run.json`: what a run is made from, where it executes, and how far it has come.

    {"project_path": "/nets/digits.netwright", "base": "/nets", "name": "digits", "project_sha256": "7809...",
     "environment": {...}, "places": [...], ..., "coordinator": 29197, "workers": [29203], "state": "running"}

Reading accepts any JSON object, also one of a stranger's or of another version: a value of an unexpected kind counts as
absent, and keys that this version does not know are kept and written back.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Self

from netwright.engine.core.files import number_in
from netwright.engine.placement.candidates import PlacementRecord
from netwright.engine.project.data_loading import Loading
from netwright.engine.runs.events import LARGEST, LATEST


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """Content of `run.json`. `PlacementRecord`'s keys stand beside the others in the file."""

    project_path: str | None = None
    """The project's file; null in the file for a project that has none."""
    project_id: str = ""
    """The identity of the project, by which its runs are found; empty where its file has none."""
    number: int = 0
    """The number of the run within its project, from 1; 0 for runs of older versions and of trials."""
    trial: int = 0
    """The number of the trial of an experiment that the run belongs to; 0 for none."""
    base: str = ""
    """The folder that relative paths of data start from."""
    name: str = ""
    project_sha256: str = ""
    """Of the frozen copy of the project."""
    placement: PlacementRecord = field(default_factory=PlacementRecord)
    candidates: tuple[PlacementRecord, ...] = ()
    """Placements among which the first worker still has to choose, by a placement trial."""
    weights: Mapping[str, Any] = field(default_factory=dict)
    """The weights that the run started from: file, SHA-256, layout, numbers of layers loaded, partly and fresh, and the
    names of the fresh ones; empty for random numbers."""
    code: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each file of the user's code, by its path in the project."""
    warnings: tuple[str, ...] = ()
    max_restarts: int = 0
    checkpoints_kept: int = 2
    loading: Loading = field(default_factory=partial(Loading, False, 0, 0))
    go_back: float = 0.0
    """The factor on the learn rate after a rollback from a non-finite loss; 0 where such a loss ends the run."""
    augments: tuple[str, ...] = ()
    strategy: str = ""
    seed: int = 0
    deterministic: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)
    host: str = ""
    boot: str = ""
    """The boot id of the host, which tells it apart from others of its name; empty where the system has none."""
    coordinator: int = 0
    """The process id of the coordinator."""
    workers: tuple[int, ...] = ()
    """The process ids of the workers, in the order of their ranks."""
    created: float = 0.0
    """Seconds since the epoch; 0 where it is unknown."""
    state: str = "starting"
    project_sha256_next: str | None = None
    """Of the copy that is about to replace the frozen one: a crash in between leaves either."""
    threads_are_chosen: bool = False
    """Whether the placement is the result of a trial, so that a resumed run keeps it."""
    released: bool = False
    """Whether the paused run has given back its memory."""
    resumed: str = ""
    """Why the run was resumed, in words; empty where it was not."""
    live_changes: Mapping[str, float] = field(default_factory=dict)
    """Settings last changed while the run trained: the learn rate from then on (`rate`), and the number of `epochs`."""
    exit_code: int | None = None
    kept: str = ""
    """The folder of the weights that count as the result: `best` or `last`; empty before the end."""
    unknown: Mapping[str, Any] = field(default_factory=dict)
    """Keys that this version does not know."""

    @property
    def is_undecided(self) -> bool:
        """Whether the first worker still has to choose a placement."""
        return bool(self.candidates)

    def decided(self, choice: int, threads: int) -> Self:
        """Return the record after a placement trial: with the candidate of this number, or -1 for the placement that is
        there, and so many `threads` per worker; 0 leaves them as they are."""
        placement = self.candidates[choice] if choice >= 0 else self.placement
        if threads:
            placement = replace(placement, places=tuple(replace(place, threads=threads) for place in placement.places))
        return replace(self, placement=placement, candidates=(), threads_are_chosen=bool(threads))

    def chosen_environment(self) -> Iterator[tuple[str, Any]]:
        """Yield the environment options that a resumed run keeps of its placement trial."""
        places = self.placement.places
        if self.threads_are_chosen and places:
            yield "threads", places[0].threads
            if len(places) > 1:
                yield "num_workers", len(places)
            yield "target", "multi-cpu" if len(places) > 1 else "cpu"

    def write(self) -> dict[str, Any]:
        """Return the record as JSON. What happens to few runs is written only where it happened."""
        data: dict[str, Any] = {}
        for name in _NAMES:
            value = getattr(self, name)
            if name == "placement":
                data |= self.placement.write()
            elif name == "candidates":
                data[name] = [candidate.write() for candidate in self.candidates]
            elif name == "loading":
                data[name] = self.loading.write()
            elif name not in RARE or value != RARE[name]:
                data[name] = list(value) if isinstance(value, tuple) else value
        return {**data, **self.unknown}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the record of a JSON object."""
        values = {name: value for name in _NAMES if (value := _read(name, data.get(name))) is not None}
        ours = {*_NAMES, *PlacementRecord().write()}
        values["placement"] = PlacementRecord.read(data)
        return cls(**values, unknown={key: value for key, value in data.items() if key not in ours})


_NAMES = tuple(f.name for f in fields(RunInfo) if f.name != "unknown")
RARE: Mapping[str, Any] = {
    "project_id": "",
    "number": 0,
    "trial": 0,
    "weights": {},
    "code": {},
    "project_sha256_next": None,
    "threads_are_chosen": False,
    "boot": "",
    "released": False,
    "resumed": "",
    "live_changes": {},
    "exit_code": None,
    "kept": "",
}
"""Keys that are written only where they differ from these."""


def _read(name: str, value: Any) -> Any:
    """Return the value of a key as the record holds it, or None for one that counts as absent."""
    match name:
        case "candidates":
            return tuple(map(PlacementRecord.read, value)) if _is_list(value, dict) else None
        case "loading":
            return Loading.read(value) if isinstance(value, dict) else None
        case "created":
            created = number_in(value)
            return created if created is not None and 0 < created < LATEST else None
        case "go_back":
            return number_in(value)
        case "deterministic" | "threads_are_chosen" | "released":
            return value if isinstance(value, bool) else None
        case "max_restarts" | "checkpoints_kept" | "seed" | "coordinator" | "exit_code" | "number" | "trial":
            return value if _is_int(value) else None
        case "workers":
            return tuple(value) if _is_list(value, int) and all(map(_is_int, value)) else None
        case "warnings" | "augments":
            return tuple(value) if _is_list(value, str) else None
        case "code" | "versions":
            return {str(key): str(item) for key, item in value.items()} if isinstance(value, dict) else None
        case "weights":
            return value if isinstance(value, dict) and _is_record_of_weights(value) else None
        case "live_changes":
            numbers = {str(key): number_in(item) for key, item in value.items()} if isinstance(value, dict) else {}
            return {key: number for key, number in numbers.items() if number is not None}
        case "placement":
            return None
    return value if isinstance(value, str) else None


def _is_record_of_weights(value: Mapping[str, Any]) -> bool:
    texts, counts = ("file", "sha256", "layout"), ("loaded", "partly", "fresh")
    is_whole = all(isinstance(value.get(key), str) for key in texts) and all(_is_int(value.get(key)) for key in counts)
    return is_whole and _is_list(value.get("fresh_layers"), str)


def _is_int(value: Any) -> bool:
    return type(value) is int and -LARGEST < value < LARGEST


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)
