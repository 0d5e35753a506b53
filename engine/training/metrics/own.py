"""A metric of the user's own: `metric(outputs, targets)`, see docs/hooks.md."""

from collections.abc import Sequence

import torch

from engine.build.user_code import find
from engine.custom.targets import split_code
from engine.errors import RunError
from engine.training.batching.batches import Tensors, plain
from engine.training.custom.own_code import failure
from engine.training.metrics.hits import ratio
from engine.training.metrics.metric import sums_of_runs


class OwnMetric:
    """The mean over samples of what the user's function gives: one number a sample, or their mean."""

    name = "custom"
    width = 2

    def __init__(self, target: str, *, higher_is_better: bool) -> None:
        """`target` names the function. Raises `UserError`."""
        self.higher_is_better = higher_is_better
        self._file, self._function_name = split_code(target)
        self._function = find(target)
        self._gives_mean = False

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """The sum over samples, and over how many. Raises `RunError` for a function that gives something else."""
        if not self._gives_mean:
            found = self._of(outputs, targets)
            if found.dim() == 1:
                return sums_of_runs(torch.stack([found, torch.ones_like(found)], dim=1), counts)
            self._gives_mean = True
        sizes = counts.tolist()
        parts = [zip(*(torch.split(x, sizes) for x in given), strict=True) for given in (outputs, targets)]
        means = [self._of(*part).mean() for part in zip(*parts, strict=True)]
        return torch.stack([torch.stack(means) * counts, counts.double()], dim=1)

    def _of(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """What the function gives; zero for no samples."""
        count = len(targets[0])
        if count == 0:
            return torch.zeros((0,) if not self._gives_mean else (1,), dtype=torch.double, device=targets[0].device)
        try:
            found = self._function(plain(outputs), plain(targets))
        except BaseException as error:
            raise failure(error, self._file) from error
        if isinstance(found, int | float):
            found = torch.tensor(found, dtype=torch.double, device=targets[0].device)
        if not isinstance(found, torch.Tensor) or tuple(found.shape) not in ((), (count,)):
            got = (
                f"a tensor of {tuple(found.shape)}" if isinstance(found, torch.Tensor) else f"a {type(found).__name__}"
            )
            raise RunError(
                f"{self._file}: {self._function_name} returned {got} for {count} samples. Return one number, the mean "
                "over the samples, or one number a sample."
            )
        return found.detach().double()

    def value(self, sums: Sequence[float]) -> float:
        """The mean."""
        return ratio(*sums)
