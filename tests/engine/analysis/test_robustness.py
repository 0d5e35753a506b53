"""Robustness: changes of inputs against hand-computed ones, thresholds that follow from validation, and its command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from netwright.engine.analysis.robustness import PGD_STEPS, Range, auroc, blur, fgsm, noise, pgd
from netwright.engine.cli.main import main
from netwright.engine.data.loading.batches import Tensors
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import Done, train

WEIGHTS = torch.tensor([2.0, -0.5, 0.0])
RANGE = Range(torch.tensor(-10.0), torch.tensor(10.0))


def linear_gradients(inputs: Tensors, targets: Tensors) -> list[torch.Tensor | None]:
    """The gradient of the loss w x."""
    return [WEIGHTS.expand_as(inputs[0])]


def test_fgsm_on_a_linear_network_adds_the_sign_of_its_weights() -> None:
    x = torch.tensor([[1.0, 2.0, 3.0]])
    (changed,) = fgsm([RANGE], linear_gradients, 0.05)((x,), ())
    assert torch.equal(changed - x, 0.05 * 20 * WEIGHTS.sign().expand_as(x))


def test_attacks_stay_in_the_range_and_within_their_strength() -> None:
    x = torch.tensor([[9.9, -9.9, 0.0]])
    (changed,) = fgsm([RANGE], linear_gradients, 0.05)((x,), ())
    assert changed.tolist() == [[10.0, -10.0, 0.0]]
    generator = torch.Generator().manual_seed(0)
    (changed,) = pgd([RANGE], linear_gradients, 0.01, generator)((torch.zeros(1, 3),), ())
    # A linear loss is worst at the corner, which the steps reach from any start.
    assert changed[0, :2].tolist() == pytest.approx([0.2, -0.2])
    assert abs(float(changed[0, 2])) <= 0.2
    assert PGD_STEPS > 1


def test_what_may_not_change_stays() -> None:
    x, lengths = torch.ones(2, 3), torch.tensor([3, 2])
    changed = noise([RANGE, None], 0.1, torch.Generator().manual_seed(0))((x, lengths), ())
    assert changed[1] is lengths
    assert not torch.equal(changed[0], x)


def test_blur_keeps_an_even_picture_and_spreads_a_point_by_a_gaussian() -> None:
    even = torch.full((1, 2, 5, 5), 3.0)
    span = Range(torch.tensor(0.0), torch.tensor(10.0))
    assert torch.allclose(blur([span], 1.0)((even,), ())[0], even)
    point = torch.zeros(1, 1, 9, 9)
    point[0, 0, 4, 4] = 1.0
    (spread,) = blur([span], 1.0)((point,), ())
    places = torch.arange(-3.0, 4.0)
    weights = torch.exp(-0.5 * places**2)
    weights /= weights.sum()
    assert spread[0, 0, 4, 1:8].tolist() == pytest.approx((weights * weights[3]).tolist(), abs=1e-6)


def test_auroc_counts_pairs() -> None:
    own, others = np.array([3.0, 2.0, 1.0]), np.array([2.0, 0.0])
    pairs = [(a > b) + 0.5 * (a == b) for a in own for b in others]
    assert auroc(own, others) == pytest.approx(np.mean(pairs))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run whose network is linear, on a table."""
    folder = tmp_path_factory.mktemp("robust")
    numbers = np.random.default_rng(0).standard_normal((300, 2))
    rows = [f"{a:.4f},{b:.4f},{'no' if a + b < 0 else 'yes'}" for a, b in numbers]
    (folder / "a.csv").write_text("\n".join(["a,b,y", *rows]))
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=2), layer("softmax"))
    project = Project(network)
    return train(
        replace(
            project,
            data=project.data.replace(source="table", path=str(folder / "a.csv")),
            training=project.training.replace(max_epochs=10, solver="adam", initial_learn_rate=0.1),
            environment=project.environment.replace(target="cpu", threads=1),
        ),
        folder / "run",
    )


def test_attacks_are_worse_than_noise_and_the_threshold_is_stored(
    done: Done, capsys: pytest.CaptureFixture[str]
) -> None:
    run = done.folder.path
    assert main(["robustness", str(run), "--json", "--store"]) == 0
    found = checked_output(capsys.readouterr().out)
    curves = {curve["kind"]: curve for curve in found["curves"]}
    assert set(curves) == {"noise", "fgsm", "pgd"}, "a table has nothing to blur"
    assert {curve["values"][0] for curve in found["curves"]} == {done.result["test"]["accuracy"]}
    attacked = curves["fgsm"]["values"]
    assert attacked == sorted(attacked, reverse=True)
    assert attacked[-1] < attacked[0]
    assert curves["pgd"]["values"][-1] <= attacked[-1] + 0.03
    softmax, energy = found["unlike_training"]
    assert (softmax["score"], energy["score"]) == ("max softmax", "energy")
    assert 0.93 <= softmax["kept_share"] <= 0.97
    kept = run / done.folder.read_info().kept
    assert Preparation.load(kept).targets[0].least_confidence == pytest.approx(softmax["threshold"])
    assert main(["robustness", str(run), "--json"]) == 0
    assert checked_output(capsys.readouterr().out) == {**found, "cached": True, "stored": False}


def test_predict_names_samples_unlike_the_training_data(
    done: Done, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = done.folder.path
    assert main(["robustness", str(run), "--store", "--json"]) == 0
    capsys.readouterr()
    near = [f"{step / 500},0" for step in range(-50, 51)]  # across the border between the classes
    (tmp_path / "b.csv").write_text("\n".join(["a,b", *near, "3,3"]))
    assert main(["predict", str(run), str(tmp_path / "b.csv"), "--json"]) == 0
    *unsure, sure = (one["outputs"][0] for one in json.loads(capsys.readouterr().out)["predictions"])
    assert "unlike_training" not in sure
    flagged = [one["top"][0]["probability"] for one in unsure if one.get("unlike_training")]
    others = [one["top"][0]["probability"] for one in unsure if not one.get("unlike_training")]
    assert flagged
    assert max(flagged) < min(others, default=1.0)
    assert main(["predict", str(run), str(tmp_path / "b.csv")]) == 0
    assert capsys.readouterr().out.count("unlike the training data") == len(flagged)
    assert main(["evaluate", str(run), "--reset", "--json"]) == 0
    capsys.readouterr()
    assert main(["predict", str(run), str(tmp_path / "b.csv"), "--json"]) == 0
    assert "unlike_training" not in capsys.readouterr().out


def test_wrong_numbers_are_refused(done: Done, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robustness", str(done.folder.path), "--samples", "0"]) == 2
    assert "at least 1 sample" in capsys.readouterr().err
