"""Options that `tune` varies, with ranges for the project, the number of its samples and a range test."""

from collections.abc import Iterator, Sequence
from itertools import islice

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.project.parameters import Parameter
from netwright.engine.project.project import Project
from netwright.engine.project.trials import value_at

RATE, BATCH, SOLVER, L2 = (
    f"training.{name}" for name in ("initial_learn_rate", "mini_batch_size", "solver", "l2_regularization")
)
AROUND = 30.0
"""Factor of the learn rate of the project, down and up, without a range test."""
BELOW, ABOVE = 30.0, 10.0
"""Factors of the learn rate of a range test, down and up."""
HIGHEST_RATE = 1000.0
FACTORS = (0.25, 0.5, 1, 2, 4)
"""Factors of the mini-batch size of the project."""
LEAST_BATCH, LEAST_STEPS = 8, 8
"""Smallest mini-batch, and steps per epoch below which a mini-batch is too large."""
LOWEST_L2, HIGHEST_L2 = 1e-6, 1e-2
DROPOUT = ("dropout", "spatial_dropout", "alpha_dropout")
LOWEST_DROPOUT, HIGHEST_DROPOUT = 0.05, 0.6
MOST_DROPOUTS = 3
"""Dropout layers that are varied: each further one would need many more trials."""


def space_of(project: Project, samples: int, rates: tuple[float, float] | None) -> tuple[Parameter, ...]:
    """Return the parameters. `samples`: those of the training. `rates`: the learn rate that a range test advises, and
    the one from which on the loss diverges, where there was a test."""
    options = project.training
    solver = options.solver
    other = f"training.solver != '{solver}'" if options.is_full_batch else ""
    solvers = tuple(dict.fromkeys((solver, "adam", "sgdm")))
    parameters = [Parameter(SOLVER, solvers), _rates(options.initial_learn_rate, rates, other)]
    sizes = {round(options.mini_batch_size * factor) for factor in FACTORS}
    largest = max(samples // LEAST_STEPS, LEAST_BATCH)
    least = max(LEAST_BATCH, options.gradient_accumulation)
    batches = sorted({options.mini_batch_size, *(size for size in sizes if least <= size <= largest)})
    if len(batches) > 1:
        parameters.append(Parameter(BATCH, tuple(batches), when=other))
    l2 = options.l2_regularization
    high = max(HIGHEST_L2, l2)
    parameters.append(Parameter(L2, low=min(LOWEST_L2, l2) or LOWEST_L2, high=high, is_log=True))
    return (*parameters, *islice(_dropouts(project), MOST_DROPOUTS))


def _rates(own: float, rates: tuple[float, float] | None, when: str) -> Parameter:
    low, high = own / AROUND, own * AROUND
    if rates is not None:
        advised, diverges = rates
        low, high = advised / BELOW, min(advised * ABOVE, diverges / 2)
        if low / ABOVE <= own <= high * ABOVE:  # one that is far off need not be in the range: it is the first trial
            low, high = min(low, own / 3), max(high, own)
    low, high = (float(f"{end:.1g}") for end in (low, min(high, HIGHEST_RATE)))
    return Parameter(RATE, low=low, high=max(high, 2 * low), is_log=True, when=when)


def _dropouts(project: Project) -> Iterator[Parameter]:
    for layer in project.network.layers.values():
        if layer.type.key in DROPOUT:
            own = value_at(project, path := f"network.{layer.name}.probability")
            yield Parameter(path, low=min(LOWEST_DROPOUT, own), high=max(HIGHEST_DROPOUT, own))


def without(parameters: Sequence[Parameter], keeps: Sequence[str]) -> tuple[Parameter, ...]:
    """Return the parameters without those that stay as they are. Raises `UserError` for one that does not vary, and
    where none is left."""
    paths = [parameter.path for parameter in parameters]
    for path in keeps:
        if path not in paths:
            raise UserError(f"{quoted(path)} is not varied.", hint=f"Varied are: {', '.join(paths)}.")
    if not (rest := tuple(parameter for parameter in parameters if parameter.path not in keeps)):
        raise UserError("Nothing is left to vary.", hint="Keep fewer options.")
    return rest
