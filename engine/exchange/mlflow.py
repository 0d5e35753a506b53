"""The file store of MLflow ("mlruns"), written without it: what `mlflow ui --backend-store-uri DIR` reads.

    EXPERIMENT/meta.yaml
    EXPERIMENT/RUN/meta.yaml
    EXPERIMENT/RUN/metrics/SPLIT/NAME    a line a point: milliseconds since the epoch, value, step
    EXPERIMENT/RUN/params/NAME  tags/NAME  artifacts/

The layout is that of `mlflow/store/tracking/file_store.py`, the numbers those of `mlflow/protos/service.proto` of
MLflow (Apache 2.0). Late versions of MLflow 3 read it where MLFLOW_ALLOW_FILE_STORE=true is set.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.core.files import write_atomically

RUNNING, FINISHED, FAILED, KILLED = 1, 3, 4, 5
_LOCAL = 4
_LONGEST_NAME, _LONGEST_VALUE = 100, 5000
_LARGEST_STEP = 2**53


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What holds runs together. Its number follows from its name, so that later runs join it."""

    name: str
    time: float

    @property
    def number(self) -> str:
        """Eighteen digits, as MLflow gives them itself."""
        return str(10**17 + int(hashlib.sha256(self.name.encode("utf-8", "replace")).hexdigest(), 16) % (9 * 10**17))


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run; `identity` is what makes it another one than the next. Times are in seconds since the epoch."""

    identity: str
    name: str
    status: int
    started: float
    ended: float | None
    params: Mapping[str, str]
    tags: Mapping[str, str]

    @property
    def number(self) -> str:
        """Its id in MLflow: 32 hexadecimal digits."""
        return hashlib.sha256(self.identity.encode("utf-8", "replace")).hexdigest()[:32]


def write_experiment(target: Path, experiment: Experiment) -> Path:
    """Make the folder of an experiment, or find it. Raises `OSError`."""
    folder = target.resolve() / experiment.number
    folder.mkdir(parents=True, exist_ok=True)
    made = {"creation_time": _milliseconds(experiment.time), "last_update_time": _milliseconds(experiment.time)}
    _write_yaml(
        folder / "meta.yaml",
        {
            "artifact_location": folder.as_uri(),
            **made,
            "experiment_id": experiment.number,
            "lifecycle_stage": "active",
            "name": experiment.name or "untitled",
        },
    )
    return folder


def write_run(experiment: Path, run: Run, metrics: Mapping[str, Iterable[bytes]]) -> Path:
    """Write a run into the folder of an experiment, in place of what was exported of it before. Raises `OSError`."""
    folder = experiment / run.number
    for part in ("metrics", "params", "tags"):
        if (folder / part).exists():
            shutil.rmtree(folder / part)
        (folder / part).mkdir(parents=True)
    (folder / "artifacts").mkdir(exist_ok=True)
    for name, lines in metrics.items():
        path = folder / "metrics" / name
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, b"".join(lines))
    for part, values in (("params", run.params), ("tags", run.tags)):
        for name, value in zip(unique(values), values.values(), strict=True):
            write_atomically(folder / part / name, _cut(value).encode("utf-8", "replace"))
    _write_yaml(
        folder / "meta.yaml",
        {
            "artifact_uri": (folder / "artifacts").as_uri(),
            "end_time": None if run.ended is None else _milliseconds(run.ended),
            "entry_point_name": "",
            "experiment_id": experiment.name,
            "lifecycle_stage": "active",
            "run_id": run.number,
            "run_name": run.name,
            "run_uuid": run.number,
            "source_name": "",
            "source_type": _LOCAL,
            "source_version": "",
            "start_time": _milliseconds(run.started),
            "status": run.status,
            "tags": [],
            "user_id": "",
        },
    )
    return folder


def metric(value: float, step: float, time: float) -> bytes:
    """One point of a curve."""
    step = max(-_LARGEST_STEP, min(_LARGEST_STEP, step))
    return f"{_milliseconds(time)} {value!r} {int(step)}\n".encode()


def unique(names: Iterable[str]) -> Iterator[str]:
    """The names, cleaned, each another one."""
    seen: set[str] = set()
    for name in names:
        wanted = found = clean(name)
        at = 1
        while found.casefold() in seen:
            at += 1
            found = f"{wanted}_{at}"
        seen.add(found.casefold())
        yield found


def clean(name: str) -> str:
    """What MLflow takes for a name and every disk for a file: ASCII letters, digits, `_`, `-`, `.` and spaces."""
    found = re.sub(r"[^A-Za-z0-9_\-. ]", "_", name)[:_LONGEST_NAME].strip()
    return re.sub(r"^\.+", "_", found) or "_"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _milliseconds(time: float) -> int:
    return round(time * 1000)


def _write_yaml(path: Path, values: Mapping[str, str | int | list[str] | None]) -> None:
    text = "".join(f"{name}: {_yaml(value)}\n" for name, value in values.items())
    write_atomically(path, text.encode("utf-8", "replace"))


def _yaml(value: str | int | list[str] | None) -> str:
    """As JSON, which is YAML but for characters that YAML wants escaped in its own way."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in text)
