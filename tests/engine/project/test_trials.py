"""Values of a trial in its project, and what is wrong with the definition of an experiment."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network import blocks
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.experiment import ExperimentOptions, Objective, Target
from netwright.engine.project.file import save
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.trials import (
    READY,
    definition_problems,
    field_of,
    fulfils,
    grid_size,
    objectives_of,
    ready,
    value_at,
    with_values,
)
from tests.builders import chain, layer

HERE = Path(__file__).parent


@pytest.fixture
def project() -> Project:
    network = chain(layer("image_input", size=8), layer("conv2d", filters=8), layer("relu"))
    return Project(network)


def problems(project: Project, **options: Any) -> list[str]:
    whole = replace(project, experiment=ExperimentOptions(**options))
    return [str(error) for error in definition_problems(whole, HERE)]


def test_options_and_fields_of_layers_are_set(project: Project) -> None:
    trial = with_values(project, {"training.momentum": 0.5, "network.conv_1.filters": 16}, HERE)
    assert trial.training.momentum == 0.5
    assert value_at(trial, "network.conv_1.filters") == 16
    assert value_at(project, "network.conv_1.filters") == 8


def test_a_layer_inside_a_block_is_found_by_its_names(project: Project) -> None:
    ids = [project.network.layer(name).id for name in ("conv_1", "relu_1")]
    network, layout, _ = blocks.group(project.network, project.layout, ids, "stage")
    project = replace(project, network=network, layout=layout)
    trial = with_values(project, {"network.stage/conv_1.filters": 32}, HERE)
    assert value_at(trial, "network.stage/conv_1.filters") == 32
    with pytest.raises(UserError, match=r"no layer \"conf_1\"\. Did you mean 'conv_1'"):
        field_of(project, "network.stage/conf_1.filters")


def test_a_whole_network_comes_from_a_project_file(project: Project, tmp_path: Path) -> None:
    other = chain(layer("image_input", size=8), layer("fully_connected", outputs=10))
    save(Project(other), tmp_path / "small.netwright")
    trial = with_values(project, {"network.fc_1.outputs": 5, "network": "small.netwright"}, tmp_path)
    assert value_at(trial, "network.fc_1.outputs") == 5
    assert trial.experiment == ExperimentOptions()


@pytest.mark.parametrize(
    ("parameter", "says"),
    [
        ("training.foo=1", "there is no such option"),
        ("trainning.momentum=1", "Did you mean 'training'"),
        ("experiment.trials=1,2", "nothing that can vary"),
        ("network.conf_1.filters=8,9", "Did you mean 'conv_1'"),
        ("network.conv_1.filtres=8,9", "has no field"),
        ("training.momentum=0.5..3", "up to 1"),
        ("training.solver=sgd,adam", "Did you mean 'sgdm'"),
        ("training.solver=1..2", "a range needs a number"),
        ("network=missing.netwright", "There is no file"),
    ],
)
def test_a_parameter_that_does_not_fit_is_named(project: Project, parameter: str, says: str) -> None:
    (problem,) = problems(project, parameters=[parameter])
    assert says in problem


def test_definitions_that_contradict_themselves(project: Project) -> None:
    assert "nothing varies" in problems(project)[0]
    assert problems(project, repeats=2) == []
    assert "at least 2 folds" in problems(project, folds=1)[0]
    assert "needs rows" in problems(project, strategy="table")[0]
    assert (
        "row 2" in problems(project, strategy="table", table=[{"training.momentum": 0.1}, {"training.momentum": 7}])[0]
    )
    many = [f"training.{name}=log 0.001..0.1:100" for name in ("initial_learn_rate", "l2_regularization", "momentum")]
    assert "more than 100,000" in problems(project, parameters=many)[0]
    several = {"parameters": ["training.momentum=0.1,0.2"], "objectives": ["validation.loss", "seconds"]}
    assert "not pruned" in problems(project, **several, pruning="median")[0]
    assert "one objective" in problems(project, **several, strategy="gp")[0]
    assert "nothing that a trial reaches" in problems(project, repeats=2, objectives=["accuracy"])[0]
    assert "expected a target" in problems(project, repeats=2, target="validation.accuracy")[0]


def test_constraints_use_values_of_the_trial_and_of_the_project(project: Project) -> None:
    options = ExperimentOptions(constraints=["network.conv_1.filters <= training.mini_batch_size / 8"])
    assert fulfils(project, options, {"training.mini_batch_size": 64})
    assert not fulfils(project, options, {"training.mini_batch_size": 64, "network.conv_1.filters": 9})


@pytest.mark.parametrize("name", READY)
def test_ready_definitions_fit_any_project(project: Project, name: str) -> None:
    assert problems(project, **dict(ready(name, project).changed())) == []
    assert grid_size(project, ready(name, project)) * ready(name, project).runs_per_trial > 1


def test_what_is_compared_follows_the_task(project: Project) -> None:
    assert objectives_of(project, None) == (Objective("validation.loss"),)
    assert objectives_of(project, DatasetInfo((), {"training": 4}, ())) == (Objective("training.loss"),)
    chosen = set_option(project, "experiment.objectives=test.rmse; parameters")
    assert [objective.is_low_better for objective in objectives_of(chosen, None)] == [True, True]
    assert not Objective.read("validation.accuracy").is_low_better


def test_a_target_is_reached_by_a_score() -> None:
    target = Target.read("validation.loss <= 0.5")
    assert target.is_reached({"validation.loss": 0.5})
    assert not target.is_reached({"validation.loss": 0.6})
    assert not target.is_reached({"training.loss": 0.1})
