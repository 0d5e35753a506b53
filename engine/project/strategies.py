"""Which training options do not go with which way of dividing the work."""

from collections.abc import Iterator

from engine.errors import FieldError
from engine.project.environment import EnvironmentOptions
from engine.project.training import TrainingOptions


def strategy_problems(environment: EnvironmentOptions, training: TrainingOptions) -> Iterator[FieldError]:
    """What cannot be meant together."""
    strategy = environment.strategy
    if strategy not in ("fully-sharded", "local-sgd") or environment.target in ("cpu", "gpu"):
        return
    if training.solver in ("lbfgs", "lm"):
        yield _problem(strategy, training.solver, "needs the gradients of all samples and weights in one place")
    if training.weight_averaging != "none":
        yield _problem(strategy, f"weight averaging ({training.weight_averaging})", "needs all weights in one place")
    if strategy == "fully-sharded" and training.precision == "fp16":
        yield _problem(strategy, "fp16", "needs all gradients to choose its scale; bf16 needs none")
    if strategy == "fully-sharded" and training.gradient_checkpointing != "off":
        yield _problem(strategy, "gradient checkpointing", "computes parts of the network past its shards")
    if strategy == "fully-sharded" and training.step_function:
        yield _problem(strategy, "a training step of your own", "may use weights while they are elsewhere")
    if strategy == "local-sgd" and training.batch_normalization_statistics == "population":
        yield _problem(strategy, "population statistics", "looks at all samples with the same weights")


def _problem(strategy: str, what: str, why: str) -> FieldError:
    return FieldError("environment.strategy", f"{strategy} does not go with {what}, which {why}. Use data-parallel.")
