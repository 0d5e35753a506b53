"""The accelerations of a run: those that its project switches on and that work with this version of torch."""

from collections.abc import Callable, Mapping

from netwright.engine.project.project import RunOptions
from netwright.engine.training.fast import fused_optimizers, manual_backward

CHECKS: Mapping[str, Callable[[], str]] = {
    "manual-backward": lambda: manual_backward.refusal(),
    "fused-optimizers": lambda: fused_optimizers.refusal(),
}
"""Return why an acceleration cannot be used here, or nothing. Shared memory and placement trials are tried by all
workers together, when the process group is made and before the first step."""


class Accelerations:
    """Answers which accelerations to use. Each is checked when it is first asked for."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._refusals: dict[str, str] = {}

    def uses(self, name: str) -> bool:
        """Return whether the acceleration is switched on and works here."""
        if not self._options.accelerates(name):
            return False
        if name not in self._refusals:
            self._refusals[name] = CHECKS[name]() if name in CHECKS else ""
        return not self._refusals[name]

    def notes(self) -> list[str]:
        """Return a sentence for each acceleration that was asked for, and does not work here."""
        return [f"The acceleration {name} is not used: {why}." for name, why in self._refusals.items() if why]
