"""A refusal that every trial would meet is told before a folder is made, and one of some trials is left to them."""

from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import EXIT_UNAVAILABLE, UserError
from netwright.engine.experiments.begin import begin
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.project import Project
from tests.builders import chain, layer

RATES = "training.initial_learn_rate=log 0.001..0.1:40"
LAYERS = (layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))
NARROW = (LAYERS[0], layer("conv2d", kernel=50, padding=[0, 0]), *LAYERS[1:])


def project(*layers: Any, target: str = "cpu", **options: Any) -> Project:
    return Project(
        chain(*(layers or LAYERS)),
        data=DataOptions(source="digits"),
        environment=EnvironmentOptions(target=target),
        experiment=ExperimentOptions(**{"parameters": [RATES], **options}),
    )


def refusal(refused: Project, folder: Path) -> UserError:
    with pytest.raises(UserError) as caught:
        begin(refused, folder / "net.netwright")
    assert not (folder / "experiments").exists()
    return caught.value


@pytest.mark.parametrize("strategy", ["grid", "random", "table"])
def test_a_network_that_does_not_fit_is_refused_once(tmp_path: Path, strategy: str) -> None:
    rows = [{"training.initial_learn_rate": rate / 100} for rate in range(1, 5)]
    error = refusal(project(*NARROW, strategy=strategy, table=rows), tmp_path)
    assert str(error).startswith("No trial can be trained: conv_1, ")


def test_an_environment_that_is_not_here_is_refused_once(tmp_path: Path) -> None:
    error = refusal(project(target="gpu"), tmp_path)
    assert error.exit_code == EXIT_UNAVAILABLE
    assert "'gpu' is not available here" in str(error)


def test_weights_that_are_not_there_are_refused_once(tmp_path: Path) -> None:
    other = project()
    other = other.with_section("weights", other.weights.replace(file=str(tmp_path / "none.safetensors")))
    assert "none.safetensors cannot be read" in str(refusal(other, tmp_path))


def test_a_missing_library_is_refused_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    assert refusal(project(strategy="tpe"), tmp_path).code == "not_installed"


def test_trials_that_differ_are_begun(tmp_path: Path) -> None:
    kernels = "network.conv_1.kernel=50,40,3"
    begun = begin(project(*NARROW, parameters=[kernels, RATES]), tmp_path / "net.netwright")
    assert begun.info.is_file()
