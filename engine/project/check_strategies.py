"""Checks of training options against the parallel strategy."""

from collections.abc import Iterator

from netwright.engine.core.errors import FieldError, UserError, plural
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.network import Network
from netwright.engine.project.environment import SEVERAL, EnvironmentOptions
from netwright.engine.project.pipeline_stages import Stages, balanced_stages, stages_by_hand
from netwright.engine.project.training import TrainingOptions

_PARTS = {"fully-sharded": "shards", "pipeline": "stages"}


def strategy_problems(environment: EnvironmentOptions, training: TrainingOptions) -> Iterator[FieldError]:
    """Return the problems of combinations of strategy and training options."""
    strategy = environment.strategy
    if strategy not in ("fully-sharded", "local-sgd", "pipeline") or environment.target in ("cpu", "gpu"):
        return
    if training.solver in ("lbfgs", "lm"):
        yield _problem(strategy, training.solver, "needs the gradients of all samples and weights in one place")
    if strategy != "fully-sharded" and training.weight_averaging != "none":
        yield _problem(strategy, f"weight averaging ({training.weight_averaging})", "needs all weights in one place")
    in_parts = strategy in ("fully-sharded", "pipeline")
    if in_parts and training.precision == "fp16":
        yield _problem(strategy, "fp16", "needs all gradients to choose its scale; bf16 needs none")
    if in_parts and training.gradient_checkpointing != "off":
        yield _problem(strategy, "gradient checkpointing", f"computes parts of the network past its {_PARTS[strategy]}")
    if in_parts and training.acceleration == "compile":
        yield _problem(strategy, "acceleration by compiling", f"would compile past its {_PARTS[strategy]}")
    if in_parts and training.step_function:
        yield _problem(strategy, "a training step of your own", "may use weights while they are elsewhere")
    if strategy == "pipeline" and training.distil_from:
        yield _problem(strategy, "a teacher", "would have to lie on one worker whole")
    if strategy in ("local-sgd", "pipeline") and training.batch_normalization_statistics == "population":
        yield _problem(strategy, "population statistics", "looks at all samples with the same weights")
    if strategy == "pipeline":
        yield from _pipeline_problems(environment, training)


def _pipeline_problems(environment: EnvironmentOptions, training: TrainingOptions) -> Iterator[FieldError]:
    if training.watch_layers:
        yield _problem("pipeline", "watching layers", "looks at all of them from one worker")
    if environment.target in SEVERAL and environment.worker_load != "equal":
        message = "the workers of a pipeline compute all samples of a batch, each with its own layers. Use equal."
        yield FieldError("environment.worker_load", message)


def pieces_of_batch(environment: EnvironmentOptions, accumulated: int, workers: int) -> int:
    """Return the number of micro-batches per batch, where gradient accumulation uses this many."""
    if environment.strategy != "pipeline" or workers == 1:
        return accumulated
    return max(accumulated, environment.pipeline_pieces or 2 * workers)


def stages_of(network: Network, analysis: Analysis, environment: EnvironmentOptions, workers: int) -> Stages:
    """Return the stages of a pipeline with this many workers. Raises `UserError` where the network cannot be divided
    so."""
    if not environment.stages.strip():
        return balanced_stages(network, analysis, workers)
    stages = stages_by_hand(network, analysis, environment.stages)
    if why := wrong_count(stages.count, workers):
        raise UserError(why)
    return stages


def wrong_count(stages: int, workers: int) -> str:
    """Return the reason why this number of workers does not fit this number of stages, or an empty text."""
    if stages == workers:
        return ""
    return (
        f"the layers are put into {plural(stages, 'stage')}, and there are {plural(workers, 'worker')}. "
        "Give each worker one stage."
    )


def _problem(strategy: str, subject: str, why: str) -> FieldError:
    return FieldError("environment.strategy", f"{strategy} does not go with {subject}, which {why}. Use data-parallel.")
