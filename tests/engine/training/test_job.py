"""The network that a training starts from: its normalisation is that of the training split."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from netwright.engine.data.loading.load import load
from netwright.engine.lowering.fitted import normalizations, trained_preparation
from netwright.engine.network.analysis import analyse
from netwright.engine.project.project import Project
from netwright.engine.project.starter import starter
from netwright.engine.training.job import TrainingJob, initial_network
from tests.builders import chain, layer


@pytest.mark.parametrize("per", ["channel", "element", "all", "given"])
def test_the_normalisation_is_fitted_per_channel_element_or_for_all(per: str, tmp_path: Path) -> None:
    values = (
        {"statistics": "given", "mean": 3.0, "deviation": 2.0} if per == "given" else {"normalization_dimension": per}
    )
    network = chain(layer("image_input", size=8, **values), layer("fully_connected", outputs=10))
    project = replace(Project(network), data=Project().data.replace(source="digits"))
    data = load(project.data, tmp_path)
    module = initial_network(TrainingJob(project, analyse(network), torch.device("cpu"), data))
    images = data.split("training").inputs[0]
    (pair,) = normalizations(network, module.state_dict()).values()
    shift, scale = (numbers.numpy() for numbers in pair)
    axes = {"channel": (0, 2, 3), "element": 0, "all": None, "given": ()}[per]
    if per == "given":
        assert (shift.tolist(), scale.tolist()) == ([3.0], [0.5])
    else:
        np.testing.assert_allclose(shift, images.mean(axes).reshape(-1), rtol=1e-5)
        deviation = images.std(axes).reshape(-1)
        np.testing.assert_allclose(scale, 1 / np.where(deviation == 0, 1, deviation), rtol=1e-4)
    (given,) = trained_preparation(project, data.facts, module.state_dict()).inputs
    assert given.normalization is not None
    assert given.normalization.per == (per if per != "given" else "channel")
    assert len(given.normalization.shift) == {"element": 64}.get(per, 1)


def test_a_forecast_is_scaled_as_the_column_that_it_continues(tmp_path: Path) -> None:
    """A network may then add what it predicts to the last value, also where the values rise."""
    rows = "".join(f"{step},{step * 2.5}\n" for step in range(200))
    (tmp_path / "s.csv").write_text(f"step,level\n{rows}")
    options = Project().data.replace(source="series", path="s.csv", time_column="step", horizon=3)
    data = load(options, tmp_path)
    fix = starter(data.facts)
    assert fix is not None
    project = fix.edit(Project().with_section("data", options))
    module = initial_network(TrainingJob(project, analyse(project.network), torch.device("cpu"), data))
    history = torch.from_numpy(np.arange(24, dtype=np.float32).reshape(1, 24, 1) * 2.5 + 1_000)
    torch.testing.assert_close(module(history), torch.full((1, 3), 1_057.5))
