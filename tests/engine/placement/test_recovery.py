import math

import pytest

from netwright.engine.placement.recovery import best_interval_s, checkpoint_advice, lost_share


@pytest.mark.parametrize("checkpoint_s", [0.1, 5.0, 300.0])
@pytest.mark.parametrize("mtbf_s", [3_600.0, 86_400.0, 1e7])
def test_no_other_interval_loses_less(checkpoint_s: float, mtbf_s: float) -> None:
    best = best_interval_s(checkpoint_s, mtbf_s)
    least = lost_share(best, checkpoint_s, mtbf_s)
    for factor in (0.5, 0.8, 1.25, 2.0):
        assert lost_share(factor * best, checkpoint_s, mtbf_s) > least


def test_rare_failures_give_the_interval_of_young() -> None:
    assert best_interval_s(1.0, 1e8) == pytest.approx(math.sqrt(2 * 1.0 * 1e8), rel=1e-3)


def test_a_run_that_fails_before_a_checkpoint_is_saved_gets_nowhere() -> None:
    assert best_interval_s(100.0, 10.0) == 10.0
    assert lost_share(10.0, 1e5, 10.0) == 1.0


def test_the_advice_says_what_it_was_made_of() -> None:
    found = checkpoint_advice(1000, 2**30, 4.0, worker_hours=50_000.0)
    assert found.text == (
        "A checkpoint has 1.0 GiB and takes 4 s on the disk of the project. 1,000 workers that each fail once in "
        "50,000 hours stop the run about once in 50 h 0 m: a checkpoint every 19 m 57 s loses least, 0.68 % of the "
        "time."
    )
    assert found.settings == ("training.checkpoint_unit=seconds", "training.checkpoint_frequency=1197")
