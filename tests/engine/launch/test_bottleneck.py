"""Where the time of the steps went is measured, and what holds a run back is said in words."""

import math
from pathlib import Path

import pytest

from netwright.engine.launch.outcome import held_back_by
from netwright.engine.training.recorder import Clock
from tests.runs import train
from tests.system.test_training import TWO, digits, mlp


@pytest.mark.parametrize(("shares", "said"), [
    ({"data": 0.1, "communication": 0.1}, "Bottleneck: computing, 80 %"),
    ({"data": 0.1, "communication": "NaN"}, "Bottleneck: computing, including overlapped communication"),
    ({"data": 0.5, "communication": math.nan}, "Bottleneck: data. Waiting for data took 50 %"),
    ({"data": 0.3, "communication": 0.62}, "Bottleneck: other workers. Waiting for them took 62 % of the step time"),
    ({}, ""),
])  # fmt: skip
def test_what_takes_longest_is_named_with_a_way_out(shares: dict, said: str) -> None:
    sentence = held_back_by(shares)
    assert sentence.startswith(said)
    assert not said or sentence.endswith(" would be faster.")


def test_what_is_faster_depends_on_how_the_work_is_divided() -> None:
    sent = {"data": 0.0, "communication": 0.6}
    assert "more micro-batches (environment.pipeline_pieces)" in held_back_by(sent, strategy="pipeline")
    assert "or data-parallel" in held_back_by(sent, strategy="fully-sharded")
    assert "the strategy local-sgd" not in held_back_by(sent, strategy="local-sgd")


def test_of_a_run_that_took_no_time_nothing_is_said() -> None:
    assert held_back_by({"data": 0.5}, 9.0) == ""
    assert held_back_by({"data": 0.5}, 11.0)


def test_for_data_that_was_streamed_there_is_more_to_do() -> None:
    assert "data.decoded_cache" in held_back_by({"data": 0.5, "communication": 0.0}, is_streamed=True)


def test_random_changes_of_images_count_with_the_data() -> None:
    sentence = held_back_by({"data": 0.5}, augments=True)
    assert "Waiting for data and augmentation took 50 %" in sentence
    assert sentence.endswith("or fewer augmentations would be faster.")


def test_waiting_outside_of_steps_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now, sent = [0.0], [0.0]
    monkeypatch.setattr("netwright.engine.training.recorder.time.perf_counter", lambda: now[0])
    clock = Clock(communication_s=lambda: sent[0])

    def batches():
        for _ in range(2):
            now[0] += 1.0
            yield object()

    for _ in clock.fetching(batches()):
        now[0] += 3.0
        sent[0] += 0.5
        with clock.aside():
            now[0] += 10.0
            sent[0] += 5.0
    assert (clock.data_s, clock.communication_s, clock.training_s) == (2.0, 1.0, 8.0)
    clock.restore(10.0, 4.0, 3.0, 0.5)  # waiting before an interruption counts as well
    assert (clock.data_s, clock.communication_s, clock.training_s) == (5.0, 1.5, 14.0)


def test_a_result_says_where_the_time_of_the_steps_went(tmp_path: Path) -> None:
    result = train(digits(mlp(), max_epochs=3), tmp_path / "one").result
    one = result["time_shares"]
    assert result["held_back_by"] == held_back_by(one, result["seconds"])
    assert one["communication"] == 0
    assert 0 <= one["data"] < 1
    done = train(digits(mlp(), TWO, max_epochs=3), tmp_path / "two")
    two = done.result["time_shares"]
    assert 0 < two["communication"] < 1
    assert sum(two.values()) == pytest.approx(1, abs=0.01)
    assert all(0 <= event["communication_share"] <= 1 for event in done.events("progress"))
    sent = train(digits(mlp(), TWO, max_epochs=1), tmp_path / "ddp", strategy="ddp").result["time_shares"]
    assert (sent["communication"], sent["computing"]) == ("NaN", "NaN"), "sums overlap with the computing there"
