"""Training options: MATLAB's names in snake_case, its defaults where it has them, torch's words for the rest."""

import math
from typing import Any

from engine.errors import FieldError
from engine.fields import Bool, Choice, Float, Int, Record

DEFAULT_RATES = {"sgdm": 0.01, "adam": 0.001, "adamw": 0.001, "rmsprop": 0.001}
LOSSES = ("auto", "cross-entropy", "half-mse", "mse", "mae", "huber")
CLASS_LOSSES = ("cross-entropy",)
METRICS = ("auto", "accuracy", "rmse", "mae")
CLASS_METRICS = ("accuracy",)


def _solver(*names: str) -> Any:
    return lambda options: options.solver in names


def _schedule(*names: str) -> Any:
    return lambda options: options.schedule in names


def _clips(options: "TrainingOptions") -> bool:
    return math.isfinite(options.gradient_threshold)


class TrainingOptions(Record):
    """How the network is trained. The section `training` of the project file."""

    solver = Choice(
        "sgdm",
        options=tuple(DEFAULT_RATES),
        notes={
            "sgdm": "Stochastic gradient descent with momentum",
            "adam": "Adaptive moments",
            "adamw": "Adam with decoupled weight decay",
            "rmsprop": "Root mean square propagation",
        },
        group="Solver",
        help="How the weights follow the gradient",
    )
    initial_learn_rate = Float(
        lambda options: DEFAULT_RATES[options.solver],
        above=0.0,
        high=1000.0,
        group="Solver",
        help="Step size at the start; default 0.01 for sgdm, 0.001 for the others",
    )
    momentum = Float(
        0.9, low=0.0, high=1.0, group="Solver", help="Share of the last step that is kept", visible_when=_solver("sgdm")
    )
    gradient_decay_factor = Float(
        0.9,
        low=0.0,
        high=0.999999,
        group="Solver",
        help="Decay of the mean gradient (beta 1)",
        visible_when=_solver("adam", "adamw"),
    )
    squared_gradient_decay_factor = Float(
        lambda options: 0.9 if options.solver == "rmsprop" else 0.999,
        low=0.0,
        high=0.999999,
        group="Solver",
        help="Decay of the mean squared gradient (beta 2; alpha of rmsprop)",
        visible_when=_solver("adam", "adamw", "rmsprop"),
    )
    epsilon = Float(
        1e-8,
        above=0.0,
        high=1.0,
        group="Solver",
        help="Keeps the division by the squared gradient finite",
        visible_when=_solver("adam", "adamw", "rmsprop"),
    )
    loss = Choice(
        "auto",
        options=LOSSES,
        notes={
            "auto": "cross-entropy for classes, half-mse for numbers",
            "cross-entropy": "Mean negative log likelihood of the right class",
            "half-mse": "MATLAB's mse: half the squared error, summed over responses, mean over samples",
            "mse": "torch's MSELoss: squared error, mean over all elements",
            "mae": "Absolute error, mean over all elements",
            "huber": "Squared near zero, absolute beyond 1, mean over all elements",
        },
        group="Solver",
        help="What is minimised",
    )
    metric = Choice(
        "auto",
        options=METRICS,
        notes={
            "auto": "accuracy for classes, rmse for numbers",
            "accuracy": "Share of samples whose class is right",
            "rmse": "Root of the squared error, mean over samples and responses",
            "mae": "Absolute error, mean over samples and responses",
        },
        label="Metric",
        group="Solver",
        help="What is watched beside the loss",
    )

    schedule = Choice(
        "none",
        options=("none", "piecewise", "warmup", "cosine"),
        notes={
            "none": "The rate stays",
            "piecewise": "Multiplied by the drop factor every drop period",
            "warmup": "Rises linearly over the warm-up, then stays",
            "cosine": "Rises over the warm-up, if any, then falls along a half cosine to zero",
        },
        label="Learn rate schedule",
        group="Schedule",
        help="How the rate changes over the run",
    )
    learn_rate_drop_factor = Float(
        0.1, above=0.0, high=1.0, group="Schedule", help="0 to 1", visible_when=_schedule("piecewise")
    )
    learn_rate_drop_period = Int(
        10, low=1, unit="epochs", group="Schedule", help="Epochs between drops", visible_when=_schedule("piecewise")
    )
    warmup_iterations = Int(
        0,
        low=0,
        unit="iterations",
        label="Warm-up",
        group="Schedule",
        help="Iterations over which the rate rises",
        visible_when=_schedule("warmup", "cosine"),
    )

    max_epochs = Int(30, low=1, high=1_000_000, group="Batches", help="Passes over the training data")
    mini_batch_size = Int(
        128,
        low=1,
        unit="samples",
        label="Mini-batch size",
        group="Batches",
        help="Samples an optimizer step, over all workers",
    )
    shuffle = Choice(
        "once",
        options=("once", "every-epoch", "never"),
        group="Batches",
        help="When the training samples get a new order",
    )
    last_batch = Choice(
        "keep",
        options=("keep", "discard"),
        group="Batches",
        help="What becomes of an incomplete last batch (MATLAB discards it)",
    )

    validation_frequency = Int(
        50, low=1, unit="iterations", group="Validation", help="Iterations between validations; also at start and end"
    )
    validation_patience = Int(
        0, low=0, unit="validations", group="Validation", help="Stop after so many without a better one; 0: never"
    )
    objective_metric = Choice(
        "loss",
        options=("loss", "metric"),
        notes={"loss": "Validation loss, lower is better", "metric": "The metric on the validation part"},
        group="Validation",
        help="What patience and the best network go by",
    )
    output_network = Choice(
        "auto",
        options=("auto", "best-validation", "last-iteration"),
        notes={"auto": "best-validation where there is a validation part"},
        group="Validation",
        help="Which network is kept as the result",
    )

    l2_regularization = Float(
        1e-4,
        low=0.0,
        high=1000.0,
        label="L2 regularization",
        group="Regularisation",
        help="Weight decay: factor on weights, not on biases or normalisation",
    )
    gradient_threshold = Float(
        math.inf, above=0.0, infinite=True, group="Regularisation", help="Limit for clipping gradients; Inf: none"
    )
    gradient_threshold_method = Choice(
        "l2norm",
        options=("l2norm", "global-l2norm", "absolute-value"),
        notes={
            "l2norm": "Norm of each parameter's gradient",
            "global-l2norm": "Norm over all gradients (torch's clip_grad_norm_)",
            "absolute-value": "Each element by itself",
        },
        group="Regularisation",
        help="What the threshold is compared with",
        visible_when=_clips,
    )

    seed = Int(0, low=0, group="Reproducibility", help="Initial weights, order of samples and dropout follow from it")
    deterministic = Bool(
        False, group="Reproducibility", help="Only algorithms that repeat bit for bit, at a cost on GPUs"
    )

    def metric_for(self, task: str) -> str:
        """The metric by name, for data whose task is `classes` or `numbers`."""
        return self.metric if self.metric != "auto" else "accuracy" if task == "classes" else "rmse"

    def problems(self) -> list[FieldError]:
        """Combinations that cannot be meant."""
        found = []
        if self.schedule == "warmup" and self.warmup_iterations == 0:
            message = "the warm-up schedule needs at least 1 iteration of warm-up."
            found.append(FieldError("warmup_iterations", message))
        return found
