"""A non-finite loss at one step, and the three policies for it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.project.project import Project, RunOptions
from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.events import Message
from tests.builders import chain, layer
from tests.faults.harness import Broken, Workshop, assert_over
from tests.system.test_training import TWO
from tests.system.test_training_kinds import project_of

STEPS = 12


def one_bad_row(folder: Path, policy: str, **more: str) -> Project:
    """Twelve steps, saved after every second one; a zero in one row, of which a layer takes one over it."""
    random = np.random.default_rng(6)
    x = random.uniform(1, 2, (20 * STEPS, 2))
    x[150, 1] = 0
    np.savez(folder / "data.npz", x=x, y=random.normal(size=20 * STEPS))
    network = chain(
        layer("feature_input", channels=2, normalization="none"),
        layer("power", exponent=-1.0),
        layer("fully_connected", outputs=1),
    )
    data = {"source": "arrays", "path": "data.npz", "task": "numbers", "validation_share": 0, "test_share": 0}
    training = {"max_epochs": 1, "mini_batch_size": 20, "initial_learn_rate": 1e-3, "non_finite_loss": policy}
    saved = {"checkpoint_unit": "iterations", "checkpoint_frequency": 2, "deterministic": True} | more
    return replace(project_of(network, data, TWO, {**training, **saved}), run=RunOptions(max_restarts=2))


def bad_steps(run: Broken) -> list[int]:
    curve = run.end().curve("training", "loss")
    return [step for step, loss in curve.items() if isinstance(loss, str)]


@pytest.mark.parametrize("policy", ["stop", "skip", "go-back"])
def test_a_loss_that_is_no_number(workshop: Workshop, tmp_path: Path, policy: str) -> None:
    run = workshop.train(one_bad_row(tmp_path, policy), tmp_path / "run")
    (bad,) = bad_steps(run)
    assert_over(run)
    reason = run.said()["result"]["reason"]
    warnings = [e.text for e in run.events if isinstance(e, Message) and e.severity == "warning"]
    if policy == "skip":
        assert run.folder.state() == "finished", reason
        assert any(f"1 step skipped from iteration {bad} on" in text for text in warnings)
        assert any("The first layer with a non-finite output is power_1." in text for text in warnings)
        return
    assert run.folder.state() == "failed"
    assert f" at iteration {bad} (epoch 1)" in reason
    # Going back, the guard finds it before it does harm; else the steps are gone through again from a checkpoint.
    assert "The first layer with a non-finite output is power_1." in reason
    newest = (bad - 1) // 2 * 2
    assert [one.iteration for one in all_checkpoints(run.folder)] == [newest, newest - 2], "none of it is saved"
    assert ("was restarted 2 times" in reason) == (policy == "go-back"), "the data is to blame, and no rate helps"


def test_the_layer_is_named_from_the_first_weights_where_no_checkpoint_is(workshop: Workshop, tmp_path: Path) -> None:
    run = workshop.train(one_bad_row(tmp_path, "stop", checkpoint_unit="never"), tmp_path / "run")
    bad = bad_steps(run)[0]  # it is found at the next report, some steps later
    assert_over(run)
    reason = run.said()["result"]["reason"]
    assert f" at iteration {bad} (epoch 1)" in reason
    assert "The first layer with a non-finite output is power_1." in reason


@pytest.mark.parametrize("strategy", ["fully-sharded", "pipeline", "local-sgd"])
def test_workers_that_are_not_alike_find_the_layer_together(workshop: Workshop, tmp_path: Path, strategy: str) -> None:
    """Each has a part of the network, or weights of its own for some steps."""
    bad = one_bad_row(tmp_path, "stop", **({"checkpoint_unit": "never"} if strategy == "local-sgd" else {}))
    network = chain(
        layer("feature_input", channels=2, normalization="none"),
        layer("power", exponent=-1.0),
        layer("fully_connected", outputs=4),
        layer("tanh"),
        layer("fully_connected", outputs=1),
    )
    more = {"averaging_interval": 3} if strategy == "local-sgd" else {}
    environment = bad.environment.replace(strategy=strategy, **more)
    run = workshop.train(replace(bad, network=network, environment=environment), tmp_path / "run")
    assert bad_steps(run)
    assert_over(run)
    reason = run.said()["result"]["reason"]
    assert reason.endswith("The first layer with a non-finite output is power_1."), reason
