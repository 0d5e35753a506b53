"""A run that goes on from a checkpoint goes on to the bit: losses, validations, weights, whatever the options.

In this process: a worker with a thread that does of the coordinator's work what a checkpoint needs.
"""

import importlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_json
from netwright.engine.core.process import MessageReader
from netwright.engine.launch.prepare import lock_of, prepare
from netwright.engine.launch.resume import prepare_resume
from netwright.engine.launch.worker import work
from netwright.engine.lowering.run_user_code import defined
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.network.network import Network
from netwright.engine.parallel.worker_spec import WorkerSpec
from netwright.engine.project.data import DataOptions
from netwright.engine.project.project import Project
from netwright.engine.runs.checkpoint_files import STATE, all_checkpoints, put_in_place, write_manifest
from netwright.engine.runs.events import Checkpointed, Event, Points, Requested, Started, read_event
from netwright.engine.runs.folder import RunFolder
from netwright.engine.user_code import trust
from tests.builders import chain, layer

ROOT = Path(__file__).parents[3]
TRAINING = ROOT / "engine" / "training"
SIZES = {"max_epochs": 2, "mini_batch_size": 300, "validation_frequency": 2, "deterministic": True}
AUGMENTED = {"rand_rotation": 20, "jitter_contrast": 0.3, "noise_deviation": 1.0, "mixup_alpha": 0.2}
MIDDLE = 4
"""Of five steps per epoch: in the middle of the first."""


def network() -> Network:
    """With all that has a state of its own: dropout draws, batch normalisation counts."""
    return chain(
        layer("image_input", size=8),
        layer("conv2d", filters=4, kernel=3),
        layer("batch_norm"),
        layer("relu"),
        layer("dropout", probability=0.3),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )


def project(**training: Any) -> Project:
    made = Project(network(), data=DataOptions(source="digits"))
    environment = made.environment.replace(target="cpu", threads=1)
    often = {"checkpoint_unit": "iterations", "checkpoint_frequency": MIDDLE, "checkpoints_kept": 9}
    return replace(made, training=made.training.replace(**{**SIZES, **often, **training}), environment=environment)


@dataclass
class Trained:
    """What a worker said and left."""

    folder: RunFolder
    events: list[Event]
    outcome: dict[str, Any]

    def curve(self, split: str, name: str = "loss") -> dict[int, float]:
        found = {}
        for points in self.events:
            if isinstance(points, Points) and points.split == split:
                for i, value in enumerate(points.values[name]):
                    found[points.first_step + i * points.steps_apart] = value
        return found

    def weights(self, name: str) -> dict[str, torch.Tensor]:
        return load_weights(self.folder.path / name)[0]


def train(
    folder: RunFolder, *, checkpoint: int = -1, ask: tuple[dict[str, Any], ...] = (), end: str = "done"
) -> Trained:
    """Be a worker, from the beginning or a checkpoint, to this end."""
    reading, reports = os.pipe()
    requests, asking = os.pipe()
    for request in ask:
        os.write(asking, f"{json.dumps(request)}\n".encode())
    said: list[dict[str, Any]] = []
    events: list[Event] = []

    def listen() -> None:
        lines = MessageReader(reading)
        os.set_blocking(reading, True)
        while lines.is_open:
            for message in lines.read():
                said.append(message)
                if "event" in message:
                    events.append(event := read_event(message["event"]))
                    if isinstance(event, Checkpointed):
                        put_in_place(folder, event.iteration, 99)

    coordinator = threading.Thread(target=listen)
    coordinator.start()
    code = work(WorkerSpec(str(folder.path), 0, "", reports, requests, os.getpid(), checkpoint=checkpoint))
    os.close(reports)
    coordinator.join()
    for descriptor in (reading, requests, asking):
        os.close(descriptor)
    assert code == 0 or end == "error", [message for message in said if "error" in message]
    return Trained(folder, events, next(m[end] for m in said if end in m))


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Threads and determinism are settings of the whole process."""
    threads = torch.get_num_threads()
    yield
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)


def prepared(path: Path, **training: Any) -> RunFolder:
    folder = prepare(project(**training), None, path)
    os.close(lock_of(folder))
    return folder


def same_weights(one: Trained, other: Trained, name: str) -> bool:
    a, b = one.weights(name), other.weights(name)
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "sgdm", "schedule": "plateau", "plateau_patience": 0, "warmup_iterations": 3},
        {"solver": "adam", "schedule": "plateau", "plateau_patience": 0, "gradient_threshold": 0.1},
        {"solver": "adamw", "schedule": "one-cycle", "shuffle": "every-epoch"},
        {"solver": "nadam", "schedule": "cosine", "last_batch": "discard"},
        {"solver": "rmsprop", "schedule": "warmup", "warmup_iterations": 6, **AUGMENTED},
        {"solver": "lbfgs", "history_size": 3},
        {"solver": "lbfgs", "line_search_method": "backtracking"},
        {"solver": "adam", "gradient_accumulation": 3},
    ],
    ids=lambda options: f"{options['solver']}-{options.get('schedule', options.get('line_search_method', 'none'))}",
)
def test_losses_and_weights_are_the_same_to_the_bit(tmp_path: Path, options: dict[str, Any]) -> None:
    whole = train(prepared(tmp_path / "run", **options))
    steps = [one.iteration for one in all_checkpoints(whole.folder)]
    assert MIDDLE in steps
    copy = tmp_path / "copy"
    shutil.copytree(whole.folder.path, copy, ignore=shutil.ignore_patterns("best", "last"))
    resumed = train(RunFolder(copy), checkpoint=MIDDLE)
    for split in ("training", "validation"):
        after = {step: loss for step, loss in whole.curve(split).items() if step > MIDDLE}
        assert resumed.curve(split) == after
    assert resumed.curve("test") == whole.curve("test")
    assert same_weights(resumed, whole, "last")
    assert same_weights(resumed, whole, "best")
    times = ("seconds", "samples_per_second", "time_shares")
    assert {k: v for k, v in resumed.outcome.items() if k not in times} == {
        k: v for k, v in whole.outcome.items() if k not in times
    }


def test_a_finished_run_goes_on_with_more_epochs(tmp_path: Path) -> None:
    whole = train(prepared(tmp_path / "whole", max_epochs=3))
    short = train(prepared(tmp_path / "run", max_epochs=2))
    last = all_checkpoints(short.folder)[0].iteration
    assert last == 2 * 5, "one is made at the end, whatever the frequency"
    prepare_resume(short.folder, ["training.max_epochs=3"])
    os.close(lock_of(short.folder))
    resumed = train(short.folder, checkpoint=last)
    assert resumed.curve("training") == {step: x for step, x in whole.curve("training").items() if step > last}
    assert resumed.outcome["reason"] == "all 3 epochs completed"
    assert same_weights(resumed, whole, "last")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("training.mini_batch_size=5", "a run cannot go on with another value of that"),
        ("data.source=images", "a run cannot go on with another value of that"),
        ("training.max_epochs=0", "max_epochs"),
        ("environment.target=moon", "environment.target"),
    ],
)
def test_what_cannot_change_is_refused_and_changes_nothing(tmp_path: Path, setting: str, words: str) -> None:
    folder = prepared(tmp_path / "run")
    before = {file: file.read_bytes() for file in folder.path.iterdir() if file.is_file()}
    with pytest.raises(UserError, match=words):
        prepare_resume(folder, [setting])
    assert {file: file.read_bytes() for file in folder.path.iterdir() if file.is_file()} == before
    os.close(lock_of(folder))


def test_a_complete_run_and_one_at_work_are_refused(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "run")
    write_json(folder.result, {"state": "finished", "epochs": 2})
    with pytest.raises(UserError, match=r"2 epochs done, and max_epochs is 2. .* --set training.max_epochs=4"):
        prepare_resume(folder)
    with pytest.raises(UserError, match=r"2 epochs done, and max_epochs is 1. .* --set training.max_epochs=4"):
        prepare_resume(folder, ["training.max_epochs=1"])
    write_json(folder.result, {"state": "stopped", "epochs": 300})
    frozen = folder.project.read_bytes()
    with pytest.raises(UserError, match=r"300 epochs done, and max_epochs is 1. .* --set training.max_epochs=600"):
        prepare_resume(folder, ["training.max_epochs=1"])
    assert folder.project.read_bytes() == frozen
    write_json(folder.result, {"state": "finished", "epochs": 2})
    lock = lock_of(folder)
    with pytest.raises(UserError, match="is at work: there is nothing to resume"):
        prepare_resume(folder)
    os.close(lock)


def test_requests_are_done_told_and_outlive_a_resume(tmp_path: Path) -> None:
    """Asked before the first step, they are done at the first report point."""
    folder = prepared(tmp_path / "run", checkpoint_unit="epochs", checkpoint_frequency=1, validation_frequency=100)
    asked = ({"do": "set", "rate_factor": 0.5}, {"do": "set", "epochs": 3}, {"do": "validate"})
    first = train(folder, ask=asked)
    told = {event.what: (event.iteration, event.value) for event in first.events if isinstance(event, Requested)}
    assert told == {"validate": (1, 0.0), "rate": (1, 0.005), "epochs": (1, 3.0)}
    assert list(first.curve("validation")) == [0, 1, 15]
    assert first.outcome["epochs"] == 3
    assert [one.iteration for one in all_checkpoints(folder)] == [15, 10, 5, 1], "what was asked for is saved at once"
    resumed = train(folder, checkpoint=5)
    (started,) = [event for event in resumed.events if isinstance(event, Started)]
    assert (started.epochs, started.iterations) == (3, 15), "the totals that hold now"
    assert resumed.curve("training") == {step: x for step, x in first.curve("training").items() if step > 5}
    assert same_weights(resumed, first, "last")


def test_every_piece_of_a_training_is_registered() -> None:
    """A class with a state of its own that nobody saves would make a resumed run another one."""
    files = (file.relative_to(ROOT).with_suffix("") for file in TRAINING.rglob("[!_]*.py"))
    modules = [importlib.import_module(".".join(("netwright", *file.parts))) for file in files]
    found = {
        name
        for module in modules
        for name, cls in vars(module).items()
        if isinstance(cls, type) and cls.__module__ == module.__name__ and not getattr(cls, "_is_protocol", False)
        if "state_dict" in vars(cls)
    }
    pieces = {"TrainedModel", "Schedule", "BestModelTracker", "Reporter", "Trainer", "RandomStates", "FileHooks"}
    in_unit = {"Solver", "LevenbergMarquardt", "Precision", "Average"}
    in_solver, in_reporter = {"Tolerance", "_Fused"}, {"Watch"}
    known = pieces | in_unit | in_solver | in_reporter
    assert found == known, "register it in netwright.engine.training.builder, or where its owner saves it"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("unit", "solver", "optimizer", "param_groups", 0, "lr"), "x"),
        (("trainer", "recent"), [1]),
        (("keeper", "best"), {}),
        (("keeper", "best_scores", "confusion", 0), [1]),
    ],
)
def test_wrong_kinds_behind_fitting_checksums_end_a_run_before_it_trains(
    tmp_path: Path, place: tuple[str | int, ...], value: Any
) -> None:
    """Such a run trained to its end, and failed there as a defect."""
    folder = prepared(tmp_path / "run", max_epochs=1)
    train(folder)
    path = all_checkpoints(folder)[-1].path
    state = json.loads((path / STATE).read_text())
    inner = state
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    (path / STATE).write_text(json.dumps(state))
    write_manifest(path, MIDDLE)
    error = train(folder, checkpoint=MIDDLE, end="error").outcome
    assert (error["exit_code"], error["defect"]) == (2, False)
    assert error["cause"].startswith("The checkpoint does not fit this run: its part '")


OWN = """
import copy
import torch
seen = []
def on_start(run):
    global teacher
    seen.append(("start", run.step, run.validation is None))
    teacher = copy.deepcopy(run.network).eval()
def on_step(run):
    for slow, fast in zip(teacher.parameters(), run.network.parameters()):
        slow.data.lerp_(fast.data, 0.1)
def on_checkpoint(run):
    seen.append(("checkpoint", run.step))
def state_dict():
    return {"teacher": teacher.state_dict()}
def load_state_dict(state):
    teacher.load_state_dict(state["teacher"])
def training_step(network, inputs, targets, loss):
    outputs = network(*inputs)
    with torch.no_grad():
        taught = teacher(*inputs)
    return loss(outputs, targets) + (outputs - taught).square().mean()
"""


def test_what_a_file_of_hooks_keeps_goes_on_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(trust.GRANTS, "[]")
    trust.grant(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    own = str(tmp_path / "own.py")
    whole = train(prepared(tmp_path / "run", hooks_file=own, step_function=own))
    seen = defined(own, ["on_start"])["on_start"].__globals__["seen"]
    assert seen == [("start", 0, True), ("checkpoint", 4), ("checkpoint", 8), ("checkpoint", 10)]
    copy = tmp_path / "copy"
    shutil.copytree(whole.folder.path, copy, ignore=shutil.ignore_patterns("best", "last"))
    resumed = train(RunFolder(copy), checkpoint=MIDDLE)
    assert seen[4:] == [("start", 4, False), ("checkpoint", 8), ("checkpoint", 10)]
    assert resumed.curve("training") == {step: loss for step, loss in whole.curve("training").items() if step > MIDDLE}
    assert same_weights(resumed, whole, "last")
