"""Answers as jobs of a cluster, with an `ssh` and a Slurm that are scripts of the test, and the engine itself."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import netwright as nw
from netwright.engine.cli.main import main
from netwright.engine.cluster.answer_job import Parcel
from netwright.engine.cluster.profile_file import find_profile, save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.dataclass_json import to_json
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError
from netwright.engine.core.files import without_checksum, write_checked_json
from netwright.engine.experiments.operations.tune import Confirmation, Varied
from netwright.engine.operations.operation import installed_operation
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train

KINDS = ("ssh", "slurm")
SCRIPTS = {
    "ssh": 'while [ "$1" != -- ]; do shift; done\nexec sh -c "$3"',
    "sbatch": 'setsid sh "$2" > "${2%job.sh}output-1.txt" 2>&1 < /dev/null &\necho $!',
    "squeue": "kill -0 $3 2>/dev/null && echo RUNNING || { echo Invalid job id >&2; exit 1; }",
    "scancel": "kill -9 -- -$1",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project on a table beside it, and `run`, its run."""
    folder = tmp_path_factory.mktemp("answers")
    values = np.random.default_rng(1).normal(size=(80, 2))
    rows = "".join(f"{a:.4f},{b:.4f},{2 * a - b:.4f}\n" for a, b in values)
    (folder / "a.csv").write_text(f"x,y,z\n{rows}", encoding="utf-8")
    path = folder / "net.netwright"
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=1))
    data = DataOptions(source="table", path="a.csv", response="z")
    environment, training = EnvironmentOptions(target="cpu", threads=1), TrainingOptions(max_epochs=3)
    save(Project(network, data=data, environment=environment, training=training), path)
    train(load(path).project, folder / "run")
    return path


@pytest.fixture(autouse=True)
def profiles(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile per kind, whose hosts are this machine, and the folder of the project as the current one."""
    for name in ("CONFIG", "STATE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(project.parent)
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o700)
    for kind in KINDS:
        address = "anna@node" if kind == "ssh" else ""
        values = {"kind": kind, "address": address, "storage": f"{tmp_path}/jobs", "python": sys.executable}
        save_profile(ClusterProfile(name=kind, **values))


def both(capsys: pytest.CaptureFixture[str], kind: str, *words: str, outputs: tuple[str, ...] = ()) -> tuple[str, str]:
    """What a command prints here and as a job; its outputs, which must be the same, are those of the job then."""
    written, texts = [], []
    for profile in ((), ("--profile", kind)):
        for path in map(Path, outputs):
            path.unlink(missing_ok=True)
        assert main([*words, *profile]) == EXIT_DONE, capsys.readouterr().err
        texts.append(capsys.readouterr().out)
        written.append([Path(path).read_bytes() for path in outputs])
    assert written[0] == written[1]
    return texts[0], texts[1]


def test_an_evaluation_as_a_job_is_the_one_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here, there = both(capsys, "ssh", "evaluate", "run", "--fresh", "--json")
    assert checked_output(there) == checked_output(here)
    assert not [*(tmp_path / "jobs").iterdir()], "the folder of the job is deleted"


def test_files_come_back_under_their_names_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = tmp_path / "b.csv"
    elsewhere.write_text("x,y\n1,2\n", encoding="utf-8")
    both(capsys, "ssh", "predict", "run", "a.csv", str(elsewhere), "-o", "answers.csv", outputs=("answers.csv",))
    assert main(["report", "run", "--profile", "ssh"]) == EXIT_DONE
    assert str(tmp_path / "jobs") not in Path("run.html").read_text(encoding="utf-8")
    assert main(["prune", "run", "--amount", "0.5", "-o", "small.netwright", "--profile", "slurm"]) == EXIT_DONE
    capsys.readouterr()
    both(capsys, "ssh", "evaluate", "small.netwright", "--data", "a.csv", "--set", "data.response=z", "--json")
    assert load(Path("small.netwright")).project.environment == load(Path("net.netwright")).project.environment


def test_scripts_have_the_result_with_its_arrays() -> None:
    here = nw.explain("run", "partial_dependence", options={"column": "x"})
    file = next(Path("run/explanations").glob("*.npz"))
    there = nw.explain("run", "partial_dependence", options={"column": "x"}, profile="ssh")
    assert there.arrays.keys() == here.arrays.keys()
    assert all(np.array_equal(there.arrays[name], here.arrays[name]) for name in here.arrays)
    assert [*Path("run/explanations").glob("*.npz")] != [file], "what is new in the folder of the run comes, too"
    assert nw.evaluate("run", fresh=True, profile="ssh").metrics == nw.evaluate("run").metrics


def test_a_project_is_sent_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    here, there = both(capsys, "ssh", "tune", "net.netwright", "--set", "training.max_epochs=2", "--plan", "--json")
    told = [{**checked_output(text), "seconds": 0} for text in (here, there)]
    assert told[0] == told[1]


def test_experiments_come_back_with_paths_of_here(tmp_path: Path) -> None:
    declared, there = installed_operation("tune"), "/jobs/7/project/models/0"
    parcel = Parcel(find_profile("ssh"), "/jobs/7")
    parcel.packed(declared, declared.request(project=Path("net.netwright"), output=Path("tuned.netwright")))
    confirmation = Confirmation(float("inf"), 1.0, 1.0, 1.0, 3)
    values = {"conclusion": "improved", "reason": "", "metric": "loss", "values": {}, "trials": 1, "seconds": 1.0}
    values |= {
        "varied": [{"path": "a", "before": 1, "values": "b"}],
        "confirmation": to_json(confirmation),
        "output": None,
    }
    values["confirmation"] = to_json(confirmation)
    values["experiment_dirs"] = [f"{there}/experiments/one"]
    content = {"kind": "TuneResult", "values": values, "notices": []}
    (tmp_path / "result.json").write_text(json.dumps(content), encoding="utf-8")
    one = tmp_path / "answers/models/0/experiments/one"
    written = tmp_path / "answers/written/0/tuned.netwright"
    for folder in (one, written.parent):
        folder.mkdir(parents=True)
    write_checked_json(one / "experiment.json", {"base": there})
    save(replace(load(Path("net.netwright")).project, environment=EnvironmentOptions(target="multi-cpu")), written)
    result = parcel.unpacked(declared, tmp_path, "")
    assert result.varied == (Varied("a", 1, "b"),)
    assert result.confirmation == confirmation
    assert result.experiment_dirs == (str(Path.cwd() / "experiments/one"),)
    info = json.loads(Path("experiments/one/experiment.json").read_text(encoding="utf-8"))
    assert without_checksum(info) == {"base": str(Path.cwd())}
    assert load(Path("tuned.netwright")).project.environment.target == "cpu", "its own, not that of the cluster"


def test_refusals_are_those_of_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for profile in ((), ("--profile", "ssh")):
        assert main(["explain", "run", "--method", "attention", *profile]) == EXIT_INPUT
        said.append(capsys.readouterr().err.splitlines()[-1])
    assert said[0] == said[1]
    assert "no attention layer" in said[0]
    Path("a folder").mkdir(exist_ok=True)
    Path("a folder/file").touch()
    assert main(["predict", "run", "a.csv", "-o", "a folder", "--profile", "ssh"]) == EXIT_INPUT
    assert "a folder is not empty" in capsys.readouterr().err
    assert main(["evaluate", "run", "--profile", "laboratory"]) == EXIT_INPUT
    assert "no cluster profile 'laboratory'" in capsys.readouterr().err
    assert not [*(tmp_path / "jobs").iterdir()]
    with pytest.raises(UserError, match=r"Samples in memory are not sent to a cluster\. Name files"):
        nw.predict("run", np.zeros((2, 2)), profile="ssh")
    save_profile(ClusterProfile(name="ray", kind="ray", address="auto"))
    with pytest.raises(UserError, match="The profile 'ray' takes no jobs"):
        nw.evaluate("run", profile="ray")


def test_a_job_that_ends_without_an_answer_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    save_profile(ClusterProfile(name="bare", kind="ssh", address="anna@node", python="no-python"))
    assert main(["evaluate", "run", "--profile", "bare"]) != EXIT_DONE
    assert "There is no program no-python where the job runs" in capsys.readouterr().err
