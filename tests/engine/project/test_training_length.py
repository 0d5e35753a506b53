"""How long a run goes on, and what its batches are."""

import pytest

from netwright.engine.project.training import TrainingOptions, batch_size, training_length, whole_batch_note


@pytest.mark.parametrize(("last", "steps"), [("keep", 3), ("discard", 2)])
def test_an_epoch_has_its_batches(last: str, steps: int) -> None:
    length = training_length(TrainingOptions(mini_batch_size=10, max_epochs=4, last_batch=last), 25)
    assert (length.batch, length.steps_per_epoch, length.total_steps) == (10, steps, 4 * steps)
    assert length.all_done == "all 4 epochs completed"


@pytest.mark.parametrize("solver", ["lbfgs", "lm"])
def test_a_full_batch_solver_takes_all_samples_and_counts_iterations(solver: str) -> None:
    """MATLAB: the entire training set in a single iteration, at most 1000 of them."""
    options = TrainingOptions(solver=solver, mini_batch_size=10, max_epochs=4, last_batch="discard")
    length = training_length(options, 25)
    assert (length.batch, length.steps_per_epoch, length.total_steps) == (25, 1, 1000)
    assert length.all_done == "all 1,000 iterations completed"
    assert training_length(options.replace(max_iterations=1), 25).all_done == "1 iteration completed"
    assert (batch_size(options, 25), batch_size(options, None)) == (25, 10)
    assert not any(options.is_visible(name) for name in ("mini_batch_size", "max_epochs", "shuffle", "last_batch"))


def test_a_mini_batch_larger_than_the_training_split_is_all_of_it() -> None:
    options = TrainingOptions(mini_batch_size=128, max_epochs=4, last_batch="discard")
    length = training_length(options, 105)
    assert (length.batch, length.steps_per_epoch, length.total_steps) == (105, 1, 4)
    assert (batch_size(options, 105), batch_size(options, None), batch_size(options, 500)) == (105, 128, 128)
    assert whole_batch_note(options, 105) == (
        "The training split has 105 samples, fewer than the mini-batch size of 128: each iteration takes all of them."
    )
    assert whole_batch_note(options, 128) == whole_batch_note(options.replace(solver="lbfgs"), 105) == ""
