"""Where a training is, and why it ends."""

from netwright.engine.project.training import TrainingLength
from netwright.engine.training.state import TrainingState


def course(**state: object) -> TrainingState:
    found = TrainingState(TrainingLength(batch=4, steps_per_epoch=3, epochs=2), 3)
    for name, value in state.items():
        setattr(found, name, value)
    return found


def test_epochs_are_counted_from_one_and_end_with_their_last_step() -> None:
    assert [course(step=step).epoch for step in (0, 1, 3, 4)] == [0, 1, 1, 2]
    assert [course(step=step).is_at_epoch_end for step in (1, 3, 6)] == [False, True, True]
    assert course(epochs_done=2).is_complete
    assert not course(epochs_done=1).is_complete


def test_the_first_reason_stands_but_a_request_comes_before_it() -> None:
    run = course()
    run.end("")
    run.end("no better loss")
    run.end("time is up")
    assert run.end_reason == "no better loss"
    assert not run.is_stopped
    run.stop("stopped on request")
    assert run.end_reason == "stopped on request"
    assert run.is_stopped


def test_a_paused_run_waits_until_it_ends() -> None:
    run = course(is_paused=True)
    assert run.is_waiting()
    run.stop("stopped on request")
    assert not run.is_waiting()
