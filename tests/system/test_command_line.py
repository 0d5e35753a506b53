"""The commands as users and CI run them: real processes, real data, exit codes, and what they print where."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from netwright.engine.lowering.modules.onnx_runtime import open_session
from netwright.engine.network.network import Network
from netwright.engine.placement.cluster_part import has_clusters
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.events import Progress
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader
from tests import warm
from tests.builders import chain, layer
from tests.json_schema import checked_output

ROOT = Path(__file__).parents[2]
SUMMARY_KEYS = {
    "state",
    "reason",
    "epochs",
    "iterations",
    "loss",
    "metrics",
    "validation",
    "test",
    "samples_per_second",
    "time_shares",
    "held_back_by",
    "environment",
    "run_dir",
    "project_sha256",
    "seconds",
    "baselines",
}


def engine(*arguments: str | Path, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end, in a fork of a process that has torch imported."""
    return warm.run(arguments, cwd=cwd, env=environment())


def fresh(*arguments: str | Path, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end, in a fresh interpreter."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, cwd=cwd, env=environment())


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "netwright.engine", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def network() -> Network:
    return chain(
        layer("image_input", channels=1, size=8),
        layer("fully_connected", outputs=32),
        layer("relu"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small network on the built-in digits."""
    path = tmp_path / "small.netwright"
    training = TrainingOptions(solver="adam", initial_learn_rate=0.01, max_epochs=4, shuffle="every-epoch")
    save(Project(network(), data=DataOptions(source="digits"), training=training), path)
    return path


def test_train_prints_one_object_and_keeps_the_promises_of_its_exit_codes(project: Path, tmp_path: Path) -> None:
    run, junit = tmp_path / "run", tmp_path / "junit.xml"
    arguments: list[str | Path] = [
        "train",
        project,
        "--environment",
        "multi-cpu",
        "--workers",
        "2",
        "--run-dir",
        run,
        "--json",
    ]
    done = fresh(*arguments, "--require", "accuracy>=0.8", "--require", "training.loss<1", "--junit", junit)

    assert done.returncode == 0, done.stderr
    result = checked_output(done.stdout)
    assert set(result) == {*SUMMARY_KEYS, "requirements", "schema_version", "command"}
    assert result["state"] == "finished"
    test_accuracy, training_loss = result["test"]["accuracy"], result["loss"]
    assert result.pop("requirements") == [
        {"text": "accuracy>=0.8", "split": "test", "value": test_accuracy, "passed": True},
        {"text": "training.loss<1", "split": "training", "value": training_loss, "passed": True},
    ]
    assert f"requirement met: test accuracy {test_accuracy:.6g}"[:35] in done.stderr
    assert result["environment"] == {
        "target": "multi-cpu",
        "resolved": "multi-cpu",
        "workers": 2,
        "backend": "gloo",
        "devices": ["cpu", "cpu"],
    }
    assert result["test"]["accuracy"] >= 0.8
    assert result["run_dir"] == str(run)
    assert RunFolder(run).read_result() == {key: result[key] for key in SUMMARY_KEYS}
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "0", "0")
    assert "samples/s" in done.stderr


def test_a_requirement_that_does_not_hold_is_exit_4(project: Path, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    done = engine(
        "train", project, "--set", "training.max_epochs=1", "--run-dir", tmp_path / "run",
        "--require", "validation.accuracy>1.5", "--junit", junit,
    )  # fmt: skip

    assert done.returncode == 4
    assert "requirement not met: validation accuracy 0." in done.stderr
    assert done.stderr.endswith(" <= 1.5\n")
    assert ElementTree.parse(junit).getroot().get("failures") == "1"
    done = engine("resume", tmp_path / "run", "--set", "training.max_epochs=2", "--require", "f-score>1")
    assert (done.returncode, done.stdout) == (2, ""), "refused before anything is trained"
    assert "this run has loss and accuracy, not f-score" in done.stderr
    done = engine(
        "resume", tmp_path / "run", "--set", "training.max_epochs=2",
        "--require", "accuracy>1.5", "--require", "loss<100", "--junit", junit, "--json",
    )  # fmt: skip
    told = checked_output(done.stdout)
    assert (done.returncode, told["epochs"], told["error"]["code"]) == (4, 2, "requirement_not_met")
    assert [requirement["passed"] for requirement in told["requirements"]] == [False, True]
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--set", "training.max_epoch=5", "--set", "data.sorce=x"], 2, "Did you mean 'source'?"),
        (["--environment", "parallel"], 5, "needs a cluster profile" if has_clusters() else "has no clusters part"),
        (["--environment", "gpu", "--set", "environment.devices=[97]"], 5, "not available here"),
        (["--environment", "multi-cpu", "--workers", "1"], 2, "needs at least 2 workers"),
        (
            ["--environment", "cpu", "--workers", "2"],
            2,
            "the execution environment is cpu. Add --environment multi-cpu",
        ),
        (["--detach", "--require", "accuracy>=0.9"], 2, "need the end of the run"),
        (["--detach", "--junit", "x.xml"], 2, "need the end of the run"),
        (["--junit", "/"], 2, "this is a folder. Name a file in it"),
        (["--require", "acuracy>=0.9"], 2, "Did you mean 'accuracy'?"),
        (["--require", "accuracy=0.9"], 2, "expected a condition"),
        (["--set", "data.source=table", "--set", "data.path=none.csv"], 2, "none.csv"),
    ],
)
def test_wrong_input_is_refused_in_words_before_anything_is_made(
    project: Path, tmp_path: Path, arguments: list[str], code: int, words: str
) -> None:
    done = engine("train", project, "--run-dir", tmp_path / "run", *arguments, cwd=tmp_path)

    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_notice_leaves_standard_output_to_the_result(project: Path, tmp_path: Path) -> None:
    newer = re.sub(r'"netwright": \[1, \d+\]', '"netwright": [1, 99]', project.read_text(encoding="utf-8"))
    project.write_text(newer, encoding="utf-8")
    chosen = ("max_epochs=1", "schedule=cosine", "warmup_iterations=9999")
    settings = [word for option in chosen for word in ("--set", f"training.{option}")]
    done = engine("train", project, "--json", *settings, "--run-dir", tmp_path / "run")

    assert done.returncode == 0, done.stderr
    assert checked_output(done.stdout)["reason"] == "1 epoch completed"
    assert "note: The file comes from a newer version" in done.stderr
    assert "warning: training.warmup_iterations: The run has" in done.stderr


def test_a_project_without_runs_has_an_empty_list(project: Path) -> None:
    done = fresh("runs", project)
    assert (done.returncode, done.stdout) == (0, f"There are no runs of {project}.\n")


def test_a_run_folder_in_use_is_refused(project: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("important")
    done = engine("train", project, "--run-dir", tmp_path / "mine")

    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "important"


def test_a_detached_run_is_followed_listed_stopped_and_exported(project: Path, tmp_path: Path) -> None:
    project = Path(shutil.copy(project, tmp_path / "a.netwright"))
    started = engine(
        "train",
        project,
        "--set",
        "training.max_epochs=100000",
        "--detach",
        "--json",
        "--run-dir",
        tmp_path / "runs" / "a",
    )
    assert started.returncode == 0, started.stderr
    run = checked_output(started.stdout)["run_dir"]
    follower = subprocess.Popen(
        command("follow", run), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    reader = EventReader(RunFolder(Path(run)))
    while not any(isinstance(event, Progress) and event.iteration > 10 for event in reader.read()):
        assert RunFolder(Path(run)).state() in ("starting", "running")

    (answer,) = checked_output(engine("set", run, "--rate-factor", "0.5", "--json").stdout)["requests"]
    assert answer["request"] == "rate"
    stopped = engine("stop", run)
    followed, _ = follower.communicate(timeout=60)

    assert (stopped.returncode, stopped.stdout) == (0, "stopped\n")
    assert (follower.returncode, followed.splitlines()[-1]) == (130, "stopped")
    listed = checked_output(engine("runs", tmp_path / "runs", "--json").stdout)["runs"]
    assert [(r["state"], r["environment"]) for r in listed] == [("stopped", "cpu")]
    of_project = checked_output(engine("runs", tmp_path / "a.netwright", "--json").stdout)["runs"]
    assert of_project == listed, "runs lie beside their project"
    again = engine("stop", run)
    assert again.returncode == 2
    assert "already ended: stopped" in again.stderr
    exported = engine("export", run, "--format", "pytorch", "-o", tmp_path / "net.py", "--json")
    assert exported.returncode == 0, exported.stderr
    alone = warm.run_file(tmp_path / "net.py")
    assert alone.stdout.strip() == "4 × 10", alone.stderr


def test_a_reader_who_leaves_ends_the_follower_and_not_the_run(project: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    started = engine("train", project, "--set", "training.max_epochs=1000000", "--detach", "--run-dir", run)
    assert started.returncode == 0, started.stderr
    reader = EventReader(RunFolder(run))
    while not any(isinstance(event, Progress) for event in reader.read()):
        assert RunFolder(run).state() in ("starting", "running")
    assert engine("pause", run).returncode == 0  # nothing more is printed
    line = f"{shlex.join(command('follow', run))} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment(), timeout=60)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1), done.stderr
    assert RunFolder(run).state() == "paused"
    assert engine("stop", run).returncode == 0


def test_ctrl_c_is_a_stop_request_and_exit_130(project: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with subprocess.Popen(
        command("train", project, "--set", "training.max_epochs=100000", "--run-dir", run),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as training:  # fmt: skip
        assert training.stderr is not None
        for line in training.stderr:
            if "iteration" in line or "epoch 1/" in line:
                break
        training.send_signal(signal.SIGINT)
        out, errors = training.communicate(timeout=60)

    assert training.returncode == 130, errors
    assert "stopped on request" in out
    assert "Traceback" not in errors
    assert RunFolder(run).kept() is not None


def test_the_onnx_file_alone_gives_class_probabilities(project: Path, tmp_path: Path) -> None:
    import onnx

    run, target = tmp_path / "run", tmp_path / "digits.onnx"
    assert engine("train", project, "--run-dir", run).returncode == 0
    done = engine("export", run, "--format", "onnx", "-o", target, "--json")

    assert done.returncode == 0, done.stderr
    answer = checked_output(done.stdout)
    assert answer["samples_kind"] == "real"
    assert answer["largest_difference"] < 1e-4
    model = onnx.load(target)
    assert json.loads({p.key: p.value for p in model.metadata_props}["classes"]) == [str(n) for n in range(10)]
    session = open_session(target)
    (given,) = session.get_inputs()
    assert (given.name, given.type) == ("image_1", "tensor(float)")
    images = np.random.default_rng(0).integers(0, 17, (3, 1, 8, 8)).astype(np.float32)
    probabilities = np.asarray(session.run(None, {"image_1": images})[0])
    assert probabilities.shape == (3, 10)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-5)


def test_a_table_leaves_with_the_names_of_its_columns(tmp_path: Path) -> None:
    import onnx

    example = ROOT / "resources" / "examples" / "heating.netwright"
    run, target = tmp_path / "run", tmp_path / "heat.py"
    assert engine("train", example, "--set", "training.max_epochs=2", "--run-dir", run).returncode == 0
    done = engine("export", run, "--format", "pytorch", "-o", target, "--json")
    assert done.returncode == 0, done.stderr
    assert any("heat.safetensors" in note for note in checked_output(done.stdout)["notes"])
    script = """
import sys
import torch
sys.path[0] = ""
import heat
print(len(heat.COLUMNS), heat.load()(torch.zeros(2, len(heat.COLUMNS))).shape[0])
"""
    alone = warm.run([], code=script, cwd=tmp_path)
    assert alone.stdout == "10 2\n", alone.stderr
    assert engine("export", run, "--format", "onnx", "-o", tmp_path / "heat.onnx").returncode == 0
    said = {p.key: p.value for p in onnx.load(tmp_path / "heat.onnx").metadata_props}
    (columns,) = json.loads(said["columns"]).values()
    assert columns[3:7] == ["facing=east", "facing=north", "facing=south", "facing=west"]


def test_export_says_what_it_cannot_do(project: Path, tmp_path: Path) -> None:
    into_nowhere = engine("export", project, "--format", "onnx", "-o", tmp_path / "no" / "x.onnx")
    no_run = engine("export", tmp_path, "--format", "onnx", "-o", tmp_path / "x.onnx")

    assert (into_nowhere.returncode, no_run.returncode) == (2, 2)
    assert "does not exist" in into_nowhere.stderr
    assert "is not a run" in no_run.stderr


def test_devices_gives_a_reason_for_each_environment_that_is_not_here() -> None:
    answer = checked_output(fresh("devices", "--json").stdout)

    assert set(answer["environments"]) == {"auto", "cpu", "multi-cpu", "gpu", "multi-gpu", "parallel"}
    assert answer["environments"]["cpu"] is None
    assert answer["environments"]["parallel"]
    assert answer["num_cores"] >= 1


def test_check_prints_the_contract(project: Path) -> None:
    done = fresh("check", project, "--json")
    answer = checked_output(done.stdout)

    assert done.returncode == 0
    envelope = {"schema_version", "command", "path"}
    assert set(answer) == {*envelope, "problems", "layers", "parameters", "flops", "memory_bytes"}
    assert answer["layers"][1] == {
        "name": "fc_1",
        "type": "fully_connected",
        "output": [32],
        "parameters": 64 * 32 + 32,
        "flops": 2 * 64 * 32,
        "activation_bytes": answer["layers"][1]["activation_bytes"],
    }


@pytest.mark.parametrize("workers", [1, 2])
def test_the_project_that_a_run_keeps_repeats_it_bit_for_bit(tmp_path: Path, workers: int) -> None:
    """From another folder, with data by a relative path, dropout and a new order each epoch."""
    numbers = np.random.default_rng(0).normal(size=(90, 3)).round(3)
    rows = "\n".join(",".join(map(str, (*row, row.sum()))) for row in numbers)
    (tmp_path / "t.csv").write_text(f"a,b,c,y\n{rows}\n", encoding="utf-8")
    layers = (layer("fully_connected", outputs=8), layer("tanh"), layer("dropout"), layer("fully_connected", outputs=1))
    chosen = DataOptions(source="table", path="t.csv", response="y")
    training = TrainingOptions(
        max_epochs=3, mini_batch_size=16, shuffle="every-epoch", deterministic=True, seed=7, validation_frequency=4
    )
    path = tmp_path / "own.netwright"
    save(Project(chain(layer("feature_input", channels=3), *layers), data=chosen, training=training), path)
    where = ["--environment", "multi-cpu", "--workers", "2"] if workers == 2 else ["--environment", "cpu"]
    done = engine("train", path, *where, "--json")
    assert done.returncode == 0, done.stderr
    first = RunFolder(Path(checked_output(done.stdout)["run_dir"]))
    again = engine("train", first.project, "--json", cwd=first.path)
    assert again.returncode == 0, again.stderr
    second = RunFolder(Path(checked_output(again.stdout)["run_dir"]))
    assert second.path.parent == first.path.parent == tmp_path / "runs"
    assert second.project.read_bytes() == first.project.read_bytes()
    one, two = first.read_info(), second.read_info()
    for name in ("base", "name", "seed", "deterministic", "versions", "placement", "project_sha256"):
        assert getattr(one, name) == getattr(two, name)
    assert one.deterministic
    for kept in ("best", "last"):
        files = sorted(file.name for file in (first.path / kept).iterdir() if file.suffix == ".safetensors")
        assert files
        for file in files:
            assert (first.path / kept / file).read_bytes() == (second.path / kept / file).read_bytes()


def test_largest_batch_and_advise_answer_in_json(project: Path) -> None:
    """Both try the project for real, in processes of their own; with one thread, since two wait long for each other on
    a busy machine."""
    alone = ("--set", "environment.threads=1")
    few = ("--set", "data.validation_share=0.48", "--set", "data.test_share=0.5")
    answer = checked_output(engine("largest-batch", project, *alone, *few, "--json").stdout)
    assert answer["largest"] == answer["tried"][-1]["batch"] > 30  # all of the training split
    answer = checked_output(
        engine("advise", project, *alone, "--set", "training.mini_batch_size=64", "--workers", "8", "--json").stdout
    )
    assert {way["name"] for way in answer["ways"]} >= {"cpu", "multi-cpu, data-parallel"}
    assert answer["advice"].startswith("Use ")
    checkpoints = answer["checkpoints"]
    assert (checkpoints["workers"], checkpoints["worker_hours"]) == (8, 50_000)
    assert checkpoints["interval_s"] > checkpoints["checkpoint_s"] > 0
    assert [path.name for path in project.parent.glob(".netwright-*")] == []
    refused = engine("largest-batch", project, "--share", "2")
    assert refused.returncode == 2
    assert "--share: expected a number above 0" in refused.stderr
    assert engine("largest-batch", project, "--set", "environment.target=parallel").returncode == 5
    refused = engine("advise", project, "--mtbf", "100")
    assert refused.returncode == 2
    assert "does not train on a cluster. Add --workers" in refused.stderr
