"""How metrics are named and shown."""

import pytest

from netwright.engine.project.options.metric_options import (
    METRICS,
    in_a_line,
    is_better_low,
    is_share,
    of_training,
    title_of,
)


def test_what_is_known_of_a_metric_without_computing_it() -> None:
    assert [name for name in METRICS if is_better_low(name)] == ["rmse", "mae", "mape"]
    assert [name for name in METRICS if is_share(name)] == ["accuracy", "top-k"]
    assert [name for name in METRICS if not of_training(name)] == ["auc"]
    assert not is_better_low("loss")
    assert title_of("loss") == "loss"


@pytest.mark.parametrize(
    ("name", "words"),
    [("accuracy", "accuracy"), ("top-k", "top-k accuracy"), ("f-score", "F-score"), ("rmse", "RMSE"), ("r2", "R²")],
)
def test_a_name_among_other_words(name: str, words: str) -> None:
    assert in_a_line(name) == words
