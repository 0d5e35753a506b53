"""Whole runs with accelerations and without them: the same numbers to the bit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project, RunOptions
from tests.builders import chain, layer
from tests.runs import Done, train

ALONE = EnvironmentOptions(target="cpu", threads=1)
TWO = EnvironmentOptions(target="multi-cpu", num_workers=2, threads=1)
MATLAB = {"convention": "matlab", "l2_regularization": 0.3, "gradient_threshold": 0.5, "schedule": "cosine"}


def classes_of_features(folder: Path, environment: EnvironmentOptions) -> Project:
    """A plain chain of fully connected layers, and two batches of which the second is smaller."""
    random = np.random.default_rng(1)
    x = random.standard_normal((90, 8), dtype=np.float32)
    np.savez(folder / "data.npz", x=x, y=(x @ random.standard_normal((8, 3))).argmax(1))
    network = chain(
        layer("feature_input", channels=8),
        layer("fully_connected", outputs=16),
        layer("relu"),
        layer("fully_connected", outputs=3),
    )
    project = Project(network, environment=environment)
    data = project.data.replace(source="arrays", path=str(folder / "data.npz"))
    training = project.training.replace(solver="adam", max_epochs=6, mini_batch_size=40)
    return replace(project, data=data, training=training)


def numbers(run: Done) -> tuple[list[float], dict[int, float], object]:
    return run.losses, run.curve("validation", "loss"), run.result["test"]


@pytest.mark.parametrize(
    ("environment", "options"),
    [(ALONE, {}), (TWO, {}), (ALONE, {**MATLAB, "solver": "sgdm"}), (TWO, MATLAB)],
    ids=["alone", "two workers", "alone, as MATLAB", "two workers, as MATLAB"],
)
def test_all_of_them_give_the_numbers_of_none(
    environment: EnvironmentOptions, options: dict[str, Any], tmp_path: Path
) -> None:
    project = classes_of_features(tmp_path, environment)
    project = replace(project, training=project.training.replace(**options))
    fast = train(project, tmp_path / "fast")
    plain = train(replace(project, run=RunOptions(accelerations=("none",))), tmp_path / "plain")
    assert fast.result["state"] == plain.result["state"] == "finished"
    assert len(fast.losses) > 6
    assert numbers(fast) == numbers(plain)
    assert not [event for run in (fast, plain) for event in run.events("message") if "not used" in event["text"]]
