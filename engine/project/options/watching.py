"""What a run watches beside its loss and its metrics. Nothing of it changes what is learned."""

from engine.errors import FieldError
from engine.fields import Bool, Record


class WatchingOptions(Record):
    """What a run watches beside its loss and its metrics. Nothing of it changes what is learned."""

    watch_gradient_norm = Bool(
        False,
        group="Watching",
        help="Report the norm of all gradients together at every step, before they are limited, as a curve of the "
        "Train tab; default off. torch: what clip_grad_norm_ returns; MATLAB has none",
    )
    watch_layers = Bool(
        False,
        group="Watching",
        help="Report from time to time for each layer the norm of its gradient, the size of its output, and the share "
        "of its units that give zero for every sample: marks on the canvas; default off. Neither torch nor MATLAB "
        "has it",
    )

    def problems(self) -> list[FieldError]:
        """The solver lm has no gradient."""
        found = super().problems()
        if self.watch_gradient_norm and getattr(self, "solver", "") == "lm":
            message = "the solver lm takes the error of each sample apart, and has no gradient. Switch it off."
            found.append(FieldError("watch_gradient_norm", message))
        return found
