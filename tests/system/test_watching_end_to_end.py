"""Whole runs that watch gradients and layers: nothing of it changes what is learned, and workers agree."""

from pathlib import Path
from typing import Any

import pytest

from netwright.engine.runs.watched_answers import read_watched
from netwright.engine.runs.watched_weights import KINDS, read_weights
from tests.runs import train
from tests.system.test_training import TWO, digits, mlp


def test_watching_changes_nothing_and_two_workers_see_what_one_sees(tmp_path: Path) -> None:
    options: dict[str, Any] = {"max_epochs": 2, "mini_batch_size": 100, "gradient_threshold": 0.05}
    plain = train(digits(mlp(), **options, watch_answers="none"), tmp_path / "plain")
    watched = {**options, "watch_gradient_norm": True, "watch_layers": True, "watch_weights": "all"}
    one = train(digits(mlp(), **watched), tmp_path / "one")
    two = train(digits(mlp(), TWO, **watched), tmp_path / "two")
    assert one.losses == plain.losses
    assert not plain.events("health")
    assert read_watched(plain.folder.path) == read_weights(plain.folder.path) == []
    norms = one.curve("training", "gradient_norm")
    assert list(norms) == list(range(1, len(one.losses) + 1))
    assert min(norms.values()) > 0.05, "as they are before they are limited"
    assert two.curve("training", "gradient_norm") == pytest.approx(norms, rel=1e-3)
    for run in (one, two):
        health = run.events("health")[0]
        assert health["iteration"] == 1
        assert list(health["layers"]) == ["id1", "id2", "id3", "id4"], "softmax is part of the loss"
        norm, size, dead = health["layers"]["id2"]
        assert norm > 0
        assert size > 0
        assert dead == 0
        assert health["layers"]["id3"][0] == -1
    weights = [read_weights(run.folder.path) for run in (one, two)]
    for alone, shared in zip(*([steps[0], steps[-1]] for steps in weights), strict=True):
        assert (alone.iteration, alone.epoch) == (shared.iteration, shared.epoch)
        first = [*alone.layers][1]  # behind the input
        assert [*alone.layers[first]] == [*KINDS]
        for kind in KINDS[:2]:  # of its own samples a worker has other activations, and of all the same gradients
            assert shared.layers[first][kind] == pytest.approx(alone.layers["fc_1"][kind], rel=0.02, abs=1e-3)
    assert weights[0][-1].iteration == len(one.losses)
    answers = [read_watched(run.folder.path) for run in (one, two)]
    assert [step.iteration for step in answers[0]] == list(one.curve("validation", "loss"))
    for alone, shared in zip(*answers, strict=True):  # the first worker of two has the first half of the samples
        assert shared.iteration == alone.iteration
        assert shared.answer["rows"][0]["index"] == alone.answer["rows"][0]["index"]
        assert shared.answer["rows"][0]["loss"] == pytest.approx(alone.answer["rows"][0]["loss"], rel=1e-3)


def test_samples_that_are_not_for_validation_are_refused(tmp_path: Path) -> None:
    project = digits(mlp(), max_epochs=1, watch_answers="chosen", watched_samples="5000")
    done = train(project, tmp_path / "run", end="failed")
    assert "None of the samples 5000 is for validation" in done.result["reason"]


def test_chosen_samples_that_are_not_for_validation_are_named_in_a_note(tmp_path: Path) -> None:
    first = train(digits(mlp(), max_epochs=1), tmp_path / "first")
    watched = read_watched(first.folder.path)[0].answer["rows"][0]["index"] + 1
    project = digits(mlp(), max_epochs=1, watch_answers="chosen", watched_samples=f"5000, {watched}, 6000")
    done = train(project, tmp_path / "run")
    assert "The samples 5000, 6000 are not for validation, so that no answers are kept for them." in [
        message["text"] for message in done.events("message")
    ]
    assert [row["index"] + 1 for row in read_watched(done.folder.path)[-1].answer["rows"]] == [watched]
