"""The API for scripts: the example of its page on shipped data, stopping, errors, what it loads."""

import re
from pathlib import Path

import pytest

import netwright as nw
from netwright.engine.core.errors import UserError
from netwright.engine.project.data_hosts import granted
from tests import warm
from tests.architecture.test_repository import ROOT

PAGE = ROOT / "docs" / "api.md"
FORKED = """
import os
import torch
from netwright.engine.scripting import following
from netwright.engine.core.fork import fork
from netwright.engine.experiments import runner
from netwright.engine.experiments.runner import Runner
from netwright.engine.launch import coordinator, detached_coordinator
from netwright.engine.launch.coordinator import coordinate
from netwright.engine.launch.prepare import hold, lock_of


torch.set_num_threads(1)  # threads of a pool are not in a fork, which would wait for them


class Forked:
    all = []

    def __init__(self, work, keep=()):
        def become():
            os.setsid()
            work()
            return 0
        self.pid = fork(become, 1, keep=keep)
        Forked.all.append(self)

    def poll(self):
        return 0 if os.waitpid(self.pid, os.WNOHANG)[0] else None

    def wait(self):
        os.waitpid(self.pid, 0)


def announce(log, kind, path):
    with open("announced", "a") as file:
        print(kind, path, file=file)


coordinator.announce = runner.announce = announce


def start_detached(folder):
    lock = lock_of(folder)
    hold(folder, lock)
    Forked(lambda: coordinate(folder), keep=(lock,))
    os.close(lock_of(folder))


detached_coordinator.start_detached = start_detached
following.start_runner = lambda folder: Forked(lambda: Runner(folder).run())
"""
"""Runs and experiments in forks of this process, which has torch: a fresh one each would import it again."""
FURTHER = """
import json, math

assert run.state == "finished" and run.epochs == 3 and run.run.parent.name == "runs" and "test loss" in repr(run)
assert run.curves["training.loss"].steps == list(range(1, run.iterations + 1)), "a value per step"
json.dumps([run.to_dict(), project.to_dict(), found.to_dict(), answer.to_dict(), scores.to_dict()], allow_nan=False)
assert project.to_dict()["training"]["max_epochs"] == 3
assert abs(scores.metrics["accuracy"] - run.test["accuracy"]) < 1e-9 and scores.confusion.sum() == scores.samples
assert len(answer.top) == 3 and answer.label == max(answer.top, key=answer.top.get) and not answer.error
assert [trial.state for trial in found.trials] == ["finished"] * 2 and found.best.number in (1, 2)
assert stopped.state == "stopped" and 2 <= nw.load_run(training.run).epochs < 1000
assert nw.load_experiment(found.folder).to_dict() == found.to_dict()

assert "picture" in seen.arrays and seen.to_dict()["method"] == "gradcam" and "Explanation(" in repr(seen)
assert written.largest_difference < 1e-3 and written.opset == 17 and again.value.weights.file
json.dumps([seen.to_dict(), written.notes], allow_nan=False)
assert [row["amount"] for row in smaller.rows] == [0.0, 0.25] and nw.load(smaller.project).value.weights.file
assert nw.queue_list() == [entry] and entry.state == "waiting" and nw.jobs() == []

endless = project.with_options({"training.max_epochs": 100_000})

def interrupt(progress):
    assert progress.iterations > 100_000 and math.isfinite(progress.metrics["training.loss"])
    raise KeyboardInterrupt

assert nw.train(endless, interrupt).state == "stopped"
"""
ANNOUNCED = """
import contextlib
for process in Forked.all:
    with contextlib.suppress(ChildProcessError):
        process.wait()
ended = [f"run {run.run}", f"experiment {found.folder}", f"run {stopped.run}"]
assert open("announced").read().splitlines()[:3] == ended, "trials tell nobody: their experiment does"
"""
"""Who is told of ends: each run and the experiment."""
FAILING = """
def fail(progress):
    raise ZeroDivisionError
try:
    nw.train(endless, fail, run_dir="failed")
except ZeroDivisionError:
    assert nw.load_run("failed").state == "stopped"
else:
    raise AssertionError("the error of a callback goes on")
bad = {"training.initial_learn_rate": 1000, "training.solver": "sgdm", "training.l2_regularization": 1}
try:
    nw.train(project.with_options(bad))
except nw.RunError as error:
    assert error.hint and "finite" in str(error), error
else:
    raise AssertionError("a run that fails raises")
"""


def page_code() -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from netwright.engine.cli.main import main

    folder = tmp_path_factory.mktemp("api")
    assert main(["new", "digits", str(folder)]) == 0
    return folder / "digits.netwright"


@pytest.mark.parametrize("launch", [FORKED, pytest.param("", marks=pytest.mark.parity)], ids=["forked", "fresh"])
def test_the_example_of_the_page(launch: str, digits: Path) -> None:
    code = "\n".join([launch, page_code(), FURTHER, ANNOUNCED if launch else FAILING, 'print("done")'])
    done = warm.run([], code=code, cwd=digits.parent, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")


def test_options_are_values_by_path(digits: Path) -> None:
    project = nw.load(digits, {"training.max_epochs": 3, "network.conv_1.filters": 5})
    assert (project.value.training.max_epochs, project.value.network.by_name["conv_1"].type.write()["filters"]) == (
        3,
        5,
    )
    assert nw.load(digits).value.training.max_epochs == 12
    assert repr(project).startswith(f"Project('{digits}', 15 layers")


def test_errors_say_the_way_out(digits: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'max_epochs'"):
        nw.load(digits, {"training.max_epoch": 3})
    with pytest.raises(UserError, match=r'training.max_epochs: .*"many"'):
        nw.load(digits, {"training.max_epochs": "many"})
    with pytest.raises(UserError, match=r"does not exist|no file"):
        nw.load(tmp_path / "none.netwright")
    with pytest.raises(UserError, match="Give one of them"):
        nw.evaluate(tmp_path, "test", data="other.csv")
    with pytest.raises(UserError, match="definition stays"):
        nw.experiment(tmp_path, {"training.momentum": [0.8]})
    with pytest.raises(UserError, match="Did you mean 'precision'"):
        nw.export(tmp_path, "net.onnx", options={"precison": "float16"})
    with pytest.raises(UserError, match="does not say the format"):
        nw.export(digits, tmp_path / "net")
    with pytest.raises(UserError, match="Did you mean 'with_training'"):
        nw.export(digits, tmp_path / "net.py", with_traning=True)
    with pytest.raises(UserError, match="profile"):
        nw.submit(digits)
    with pytest.raises(UserError, match=r"experiment.strategy: .*gird"):
        nw.experiment(digits, {"training.momentum": [0.8, 0.9]}, strategy="gird")


def test_only_an_address_of_the_script_is_contacted(digits: Path) -> None:
    """That of the project file is a stranger's."""
    theirs = nw.load(digits, {"data.source": "table"}).with_options({"data.path": "train.csv"})
    theirs.save(digits)
    digits.write_text(digits.read_text().replace("train.csv", "https://a.example/train.csv"))
    with pytest.raises(UserError, match=r"The data is at a\.example, and nothing is fetched") as refused:
        nw.start(digits)
    assert refused.value.code == "host_not_allowed"
    nw.load(digits, {"data.path": "https://b.example/train.csv"})
    assert list(granted()) == ["b.example"]
