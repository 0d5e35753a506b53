"""How large the batches of a run are and how long it goes on: pure functions of the options and the training part."""

from dataclasses import dataclass

from engine.errors import plural
from engine.project.training import TrainingOptions


@dataclass(frozen=True)
class Extent:
    """Samples a batch over all workers, steps an epoch, epochs. For a full-batch solver an epoch is one iteration."""

    batch: int
    steps_per_epoch: int
    epochs: int
    is_full_batch: bool = False

    @property
    def total_steps(self) -> int:
        """Iterations of the whole run, unless something ends it early."""
        return self.steps_per_epoch * self.epochs

    @property
    def all_done(self) -> str:
        """Why a run ends that went all the way."""
        what = plural(self.epochs, "iteration" if self.is_full_batch else "epoch")
        return f"{'all ' if self.epochs > 1 else ''}{what} done"


def batch_size(options: TrainingOptions, samples: int | None) -> int:
    """Samples of a full batch over all workers. The solvers that take all samples at once have no other batch; where
    nobody knows yet how many there are, the mini-batch stands in."""
    return samples if options.is_full_batch and samples else options.mini_batch_size


def extent(options: TrainingOptions, samples: int) -> Extent:
    """For so many training samples, at least one."""
    if options.is_full_batch:
        return Extent(samples, 1, options.max_iterations, is_full_batch=True)
    whole, rest = divmod(samples, options.mini_batch_size)
    steps = whole + (1 if rest and options.last_batch == "keep" else 0)
    return Extent(options.mini_batch_size, max(1, steps), options.max_epochs)
