"""Which network is kept, and when it is put down."""

import math
from collections.abc import Mapping
from typing import Any, cast

import pytest
import torch

from netwright.engine.parallel.strategies.strategy import State
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.best_model import BestModelTracker, Throttle
from netwright.engine.training.metrics import Accuracy, Metric, Rmse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.state import Evaluation


class FakeModel:
    """A network of one number."""

    def __init__(self) -> None:
        self.weight = 0.0
        self.new_statistics = 0.0

    def state(self) -> State:
        return {"w": torch.tensor(self.weight)}

    def load(self, state: State) -> None:
        self.weight = float(state["w"])

    def finalize(self) -> bool:
        self.weight += self.new_statistics
        return bool(self.new_statistics)


class RecordingStore:
    """Remembers what was put down."""

    def __init__(self) -> None:
        self.put_down: list[tuple[str, float, dict[str, Any]]] = []

    def put(self, name: str, state: State, moment: Mapping[str, Any]) -> None:
        self.put_down.append((name, float(state["w"]), dict(moment)))


def keeper(
    metric: Metric | None = None, *, has_validation: bool = True, **options: Any
) -> tuple[BestModelTracker, FakeModel, RecordingStore]:
    model, store = FakeModel(), RecordingStore()
    chosen = TrainingOptions(**options)
    made = BestModelTracker(
        cast(TrainedModel, model), chosen, metric or Accuracy(), store, has_validation=has_validation
    )
    return made, model, store


def consider(kept: BestModelTracker, model: FakeModel, *scores: tuple[float, float]) -> list[bool]:
    found = []
    for step, (loss, metric) in enumerate(scores):
        model.weight = float(step)
        found.append(kept.update(step, 1, Evaluation(loss, {"accuracy": metric, "rmse": metric})))
    return found


@pytest.mark.parametrize(
    ("options", "metric", "expected"),
    [
        ({}, Accuracy(), [True, True, False]),
        ({"objective_metric": "metric"}, Accuracy(), [True, False, True]),
        ({"objective_metric": "metric"}, Rmse(), [True, True, False]),
    ],
)
def test_loss_and_rmse_are_better_low_and_accuracy_high(options: dict, metric: Metric, expected: list[bool]) -> None:
    kept, model, _ = keeper(metric, **options)
    assert consider(kept, model, (1.0, 0.5), (0.8, 0.4), (0.9, 0.6)) == expected


def test_equal_is_not_better_and_a_number_is_better_than_none() -> None:
    kept, model, _ = keeper()
    assert consider(kept, model, (math.nan, 0.0), (1.0, 0.0), (1.0, 0.0), (math.nan, 0.0)) == [
        False,
        True,
        False,
        False,
    ]


def test_patience_counts_validations_in_a_row() -> None:
    kept, model, _ = keeper(validation_patience=2)
    consider(kept, model, (1.0, 0), (1.1, 0), (0.9, 0), (1.0, 0))
    assert not kept.is_out_of_patience
    consider(kept, model, (2.0, 0))
    assert kept.is_out_of_patience


def test_the_best_network_is_the_result() -> None:
    kept, model, store = keeper()
    consider(kept, model, (1.0, 0), (0.5, 0), (0.7, 0))
    assert kept.finish(9, 3) == "best"
    assert model.weight == 1.0
    assert [(name, weight) for name, weight, _ in store.put_down] == [("last", 2.0), ("best", 1.0)]
    assert store.put_down[1][2] == {"iteration": 1, "epoch": 1, "objective": "loss", "value": 0.5}


def test_what_a_network_gets_in_the_end_is_put_down_too() -> None:
    kept, model, store = keeper()
    consider(kept, model, (1.0, 0), (0.5, 0), (0.7, 0))
    kept.write_best()
    model.new_statistics = 0.25
    kept.finish(9, 3)
    assert kept.has_new_statistics
    assert [(name, weight) for name, weight, _ in store.put_down] == [("best", 1.0), ("last", 2.25), ("best", 1.25)]


@pytest.mark.parametrize(
    ("has_validation", "options"), [(True, {"output_network": "last-iteration"}), (False, {"output_network": "auto"})]
)
def test_the_last_network_is_the_result(has_validation: bool, options: dict) -> None:
    kept, model, store = keeper(has_validation=has_validation, **options)
    consider(kept, model, (1.0, 0), (2.0, 0))
    assert kept.finish(9, 3) == "last"
    assert model.weight == 1.0
    assert [name for name, _, _ in store.put_down] == ["last"]


def test_weights_that_are_no_numbers_replace_nothing() -> None:
    kept, model, store = keeper(has_validation=False)
    model.weight = math.nan
    kept.finish(1, 1)
    assert store.put_down == []


def test_putting_down_takes_a_small_share_of_all_time() -> None:
    now = [0.0]
    throttle = Throttle(2.0, 0.05, lambda: now[0])

    def is_due_at(moment: float) -> bool:
        now[0] = moment
        return throttle.is_due

    assert [is_due_at(moment) for moment in (0.0, 1.9, 2.0)] == [False, False, True]
    throttle.ran_for(0.5)
    assert [is_due_at(moment) for moment in (11.9, 12.1)] == [False, True]
