"""Experiments with real processes: trials side by side, added and tried again. Deaths in between: `tests/faults`."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_INPUT, EXIT_REQUIREMENT, EXIT_RUN_FAILED
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.events import Points
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import read_all
from netwright.engine.runs.machine_shares import QUEUE, MachineShare
from netwright.engine.runs.trial_marks import mark_trials
from netwright.engine.user_code import trust
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import wait_for
from tests.warm import Process

PATIENCE_S = 60
ROOT = Path(__file__).parents[2]
RATES = "training.initial_learn_rate=log 0.001..0.1:4"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))
    path = tmp_path / "small.netwright"
    training = TrainingOptions(max_epochs=2, mini_batch_size=256)
    cpu = EnvironmentOptions(target="cpu", threads=1)
    save(Project(network, data=DataOptions(source="digits"), training=training, environment=cpu), path)
    return path


def started(*arguments: str) -> Process:
    """A process of `experiment run`, whose death does not concern the runs of its trials."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        return Process(["experiment", "run", *arguments], stdout=null, stderr=null)
    finally:
        os.close(null)


def scores(folder: ExperimentFolder) -> list[tuple[dict[str, Any], str, dict[str, float]]]:
    return [(dict(trial.values), trial.state, trial.scores) for trial in folder.read_trials()]


def test_a_grid_is_trained_and_its_best_trial_becomes_a_project(
    project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = ["experiment", "run", str(project), "--vary", RATES, "--vary", "network.fc_1.bias=true,false"]
    assert main([*run, "--require", "validation.accuracy>=1.1", "--json"]) == EXIT_REQUIREMENT
    told = checked_output(capfd.readouterr().out)
    assert (told["state"], len(told["trials"]), told["error"]["code"]) == ("finished", 8, "requirement_not_met")
    assert [trial["state"] for trial in told["trials"]] == ["finished"] * 8
    best = next(trial for trial in told["trials"] if trial["trial"] == told["best"])
    assert best["scores"]["validation.accuracy"] == max(t["scores"]["validation.accuracy"] for t in told["trials"])
    folder = open_experiment(project)
    record = RunFolder(folder.run_path("1")).read_info()
    assert (record.trial, record.number) == (1, 0)
    chosen = tmp_path / "best.netwright"
    assert main(["experiment", "best", str(project), "-o", str(chosen), "--json"]) == 0
    assert checked_output(capfd.readouterr().out)["best"]["trial"] == told["best"]
    value = load(chosen).project.training.initial_learn_rate
    assert value == best["values"]["training.initial_learn_rate"]
    for way, output in (("status", "trials"), ("list", "experiments")):
        assert main(["experiment", way, str(project), "--json"]) == 0
        assert checked_output(capfd.readouterr().out)[output]
    mark_trials(folder, [1], note="try longer", tags=("paper", "wide"), cell=("validation.loss", "odd"))
    assert main(["experiment", "status", str(project), "--json"]) == 0
    noted = checked_output(capfd.readouterr().out)["trials"][0]
    assert (noted["tags"], noted["note"]) == (["paper", "wide"], "try longer")
    assert noted["cell_notes"] == {"validation.loss": "odd"}
    assert main(["experiment", "export", str(project)]) == 0
    rows = capfd.readouterr().out.splitlines()
    assert len(rows) == 9
    assert rows[1].endswith('"paper, wide",try longer')
    assert rows[0].startswith("trial,state,training.initial_learn_rate,network.fc_1.bias,")


def test_repeats_and_folds_have_a_mean_and_a_spread(project: Path) -> None:
    settings = ["--set", "experiment.repeats=2", "--set", "experiment.folds=2", "--set", "training.max_epochs=1"]
    assert main(["experiment", "run", str(project), *settings]) == 0
    (trial,) = open_experiment(project).read_trials()
    assert [run.name for run in sorted(trial.runs, key=lambda run: run.name)] == ["1_1", "1_2", "1_3", "1_4"]
    spread = trial.spread("validation.loss")
    assert spread is not None
    assert spread[0] > 0


def test_a_trial_that_fails_is_said_and_can_be_tried_again(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    broken = project.with_name("other.netwright")
    save(Project(chain(layer("image_input", size=9)), data=DataOptions(source="digits")), broken)
    run = ["experiment", "run", str(project), "--vary", "network=small.netwright,other.netwright"]
    assert main(run) == 0
    folder = open_experiment(project)
    assert [trial.state for trial in folder.read_trials()] == ["finished", "refused"]
    assert "8" in folder.read_trials()[1].reason
    save(load(project).project, broken)
    assert main(["experiment", "again", str(folder.path)]) == 0
    assert main(["experiment", "run", str(folder.path)]) == 0
    one, two = folder.read_trials()
    assert two.state == "finished"
    assert two.scores == one.scores


def test_trials_are_added_and_one_and_then_all_are_stopped(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    endless = ["--set", "training.max_epochs=100000", "--at-once", "1"]
    process = started(
        str(project), *endless, "--vary", "training.momentum=0..0.9", "--strategy", "random", "--trials", "2"
    )
    wait_for(lambda: list((project.parent / "experiments").glob("*/runs/1/run.json")), "a trial")
    folder = open_experiment(project)
    assert main(["experiment", "append", str(folder.path), "--trials", "3"]) == 0
    wait_for(lambda: load(folder.project).project.experiment.trials == 5, "more trials")
    assert main(["experiment", "stop", str(folder.path), "--trial", "1"]) == 0
    wait_for(lambda: list(folder.path.glob("runs/2/run.json")), "the second trial")
    assert folder.read_trials()[0].state == "stopped"
    assert main(["experiment", "stop", str(folder.path), "--trial", "1"]) == EXIT_INPUT
    assert main(["experiment", "again", str(folder.path), "--trial", "2"]) == EXIT_INPUT
    assert main(["experiment", "again", str(folder.path), "--trial", "1"]) == 0
    wait_for(lambda: folder.read_trials()[0].state == "running", "the first trial again")
    assert main(["experiment", "stop", str(folder.path)]) == 0
    process.wait(PATIENCE_S)
    process.close()
    assert folder.state() == "stopped"
    capfd.readouterr()
    assert main(["experiment", "stop", str(folder.path), "--json"]) == EXIT_INPUT
    assert "No process is at work" in json.loads(capfd.readouterr().out)["error"]["message"]
    assert folder.read_trials()[1].state == "running", "it goes on with the experiment"


def test_functions_of_the_users_own_need_trust_before_anything_begins(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(trust.GRANTS, "[]")
    project.with_name("own.py").write_text(
        "def next_values(trials):\n"
        "    return {'training.momentum': len(trials) / 10} if len(trials) < 2 else None\n"
        "def initialize(values):\n"
        "    return {**values, 'training.max_epochs': 1}\n"
    )
    run = ["experiment", "run", str(project), "--strategy", "function", "--at-once", "1"]
    run += ["--set", "experiment.strategy_function=own.py", "--set", "experiment.initialization_function=own.py"]
    assert main([*run, "--detach"]) == EXIT_INPUT
    assert "is not trusted" in capfd.readouterr().err
    assert not (project.parent / "experiments").exists()
    assert main([*run, "--trust"]) == 0
    values = [dict(trial.values) for trial in open_experiment(project).read_trials()]
    assert values == [{"training.momentum": m, "training.max_epochs": 1} for m in (0.0, 0.1)]
    folder = open_experiment(project)
    project.with_name("own.py").write_text("def next_values(trials):\n    return {'training.momentum': 0.9}\n")
    capfd.readouterr()
    assert main(["experiment", "run", str(folder.path), "--trust"]) == 0
    assert "own.py has changed since the experiment began" in capfd.readouterr().err
    assert len(folder.read_trials()) == 2, "it goes on with the functions that it began with"


def test_an_experiment_waits_for_the_cores_that_the_queue_takes(project: Path) -> None:
    with MachineShare(QUEUE) as share:
        share.write(cores=10_000)
        process = started(str(project), "--vary", "training.momentum=0.5", "--set", "training.max_epochs=1")
        wait_for(lambda: any(other.needs_cores for other in share.others()), "it waits")
        folder = open_experiment(project)
        wait_for(lambda: "queue: 10000 cores" in folder.read_info().waits, "it says for what it waits")
        assert folder.read_trials() == []
    process.wait(PATIENCE_S)
    process.close()
    assert [trial.state for trial in folder.read_trials()] == ["finished"]
    assert folder.read_info().waits == ""


def test_the_budget_of_an_experiment_is_changed(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = ["experiment", "run", str(project), "--vary", "training.momentum=0,0.5"]
    assert main([*run, "--set", "experiment.max_hours=1e-9"]) == EXIT_RUN_FAILED
    folder = open_experiment(project)
    assert (folder.state(), folder.read_info().reason) == ("finished", "the time of the experiment is over")
    assert folder.read_trials() == []
    assert main(["experiment", "append", str(folder.path), "--hours", "1", "--at-once", "1"]) == 0
    assert main(["experiment", "run", str(folder.path)]) == 0
    assert [trial.state for trial in folder.read_trials()] == ["finished"] * 2
    assert folder.read_info().reason == ""
    assert load(folder.project).project.experiment.at_once == 1


def test_a_loss_that_is_not_finite_ends_its_trial_alone(project: Path) -> None:
    rates = ["--vary", "training.initial_learn_rate=1000,0.01", "--set", "training.l2_regularization=100"]
    assert main(["experiment", "run", str(project), *rates, "--set", "training.max_epochs=30"]) == 0
    broken, whole = open_experiment(project).read_trials()
    assert (broken.state, whole.state) == ("failed", "finished")
    assert "The loss became" in broken.reason


def test_trials_that_fall_behind_are_pruned_however_fast_they_are(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Decisions depend on curves alone: a trial that ends before it is judged counts up to where it fell behind."""
    rates = [0.1, 0.09, 0.08, 0.07, 0.06, 1e-7]
    save(replace(load(project).project, experiment=ExperimentOptions(strategy="table", pruning="median")), project)
    rows = json.dumps([{"training.initial_learn_rate": rate} for rate in rates])
    search = ["--set", f"experiment.table={rows}", "--set", "training.max_epochs=3", "--at-once", "2", "--json"]
    search += ["--set", "training.validation_frequency=1"]
    assert main(["experiment", "run", str(project), *search]) == 0
    told = checked_output(capfd.readouterr().out)
    assert [trial["state"] for trial in told["trials"]] == ["finished"] * 5 + ["pruned"]
    *_, last = open_experiment(project).read_trials()
    assert (last.reason, last.runs[0].epoch) == ("behind the others after epoch 1", 1)
    curve = read_all(RunFolder(open_experiment(project).run_path("6")))
    points = [event for event in curve if isinstance(event, Points) and event.split == "validation"]
    assert last.scores["validation.accuracy"] in {value for event in points for value in event.values["accuracy"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--vary", "training.momentum=2"], "up to 1, received 2"),
        (["--vary", "training.momentom=0.2"], "Did you mean 'momentum'"),
        ([], "nothing varies"),
        (["--strategy", "tpee", "--vary", "training.momentum=0.2"], "Did you mean 'tpe'"),
    ],
)
def test_a_wrong_definition_is_refused_before_a_folder_is_made(
    project: Path, arguments: list[str], says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["experiment", "run", str(project), *arguments]) == EXIT_INPUT
    told = capfd.readouterr().err
    assert says in told
    assert "starting" not in told
    assert not (project.parent / "experiments").exists()
