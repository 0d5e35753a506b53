"""Training options: MATLAB's names in snake_case, its defaults where it has them, torch's words for the rest."""

import math
from typing import Any

from engine.errors import FieldError
from engine.fields import Bool, Choice, Float, Floats, Int, Record

DEFAULT_RATES = {"sgdm": 0.01, "adam": 0.001, "adamw": 0.001, "nadam": 0.002, "rmsprop": 0.001, "lbfgs": 1.0}
LOSSES = ("auto", "cross-entropy", "focal", "half-mse", "mse", "mae", "huber")
CLASS_LOSSES = ("cross-entropy", "focal")
METRICS = ("auto", "accuracy", "rmse", "mae")
CLASS_METRICS = ("accuracy",)


def _solver(*names: str) -> Any:
    return lambda options: options.solver in names


def _schedule(*names: str) -> Any:
    return lambda options: options.schedule in names


def _loss(*names: str) -> Any:
    return lambda options: options.loss in names


def _loss_of_classes(options: "TrainingOptions") -> bool:
    return options.loss in ("auto", *CLASS_LOSSES)


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
            "nadam": "Adam with Nesterov momentum",
            "rmsprop": "Root mean square propagation",
            "lbfgs": "Quasi-Newton with a line search; one iteration for each batch, best with all samples in one",
        },
        group="Solver",
        help="How the weights follow the gradient; default sgdm, as in MATLAB",
    )
    initial_learn_rate = Float(
        lambda options: DEFAULT_RATES[options.solver],
        above=0.0,
        high=1000.0,
        group="Solver",
        help="Step size at the start; default 0.01 for sgdm, 0.002 for nadam, 1 for lbfgs (the line search begins "
        "there), 0.001 for the others",
    )
    momentum = Float(
        0.9,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Share of the last step that is kept, 0 to 1; default 0.9",
        visible_when=_solver("sgdm"),
    )
    nesterov = Bool(
        False,
        group="Solver",
        help="Take the gradient as if the momentum's step were made; default off. torch: nesterov; MATLAB has none",
        visible_when=_solver("sgdm"),
    )
    gradient_decay_factor = Float(
        0.9,
        low=0.0,
        high=0.999999,
        group="Solver",
        help="Decay of the mean gradient, 0 to 1; default 0.9. torch: the first of betas",
        visible_when=_solver("adam", "adamw", "nadam"),
    )
    squared_gradient_decay_factor = Float(
        lambda options: 0.9 if options.solver == "rmsprop" else 0.999,
        low=0.0,
        high=0.999999,
        group="Solver",
        help="Decay of the mean squared gradient; default 0.9 for rmsprop (torch: alpha, 0.99), 0.999 for the others "
        "(torch: the second of betas)",
        visible_when=_solver("adam", "adamw", "nadam", "rmsprop"),
    )
    epsilon = Float(
        1e-8,
        above=0.0,
        high=1.0,
        group="Solver",
        help="Keeps the division by the root of the squared gradient finite; default 1e-8. torch: eps",
        visible_when=_solver("adam", "adamw", "nadam", "rmsprop"),
    )
    momentum_decay = Float(
        0.004,
        low=0.0,
        high=1.0,
        group="Solver",
        help="How quickly the momentum comes up to the gradient's decay; default 0.004. torch: momentum_decay",
        visible_when=_solver("nadam"),
    )
    line_search_method = Choice(
        "strong-wolfe",
        options=("strong-wolfe", "backtracking"),
        notes={
            "strong-wolfe": "Until loss and slope have fallen enough; torch's (MATLAB starts with weak-wolfe)",
            "backtracking": "The step is halved until the loss has fallen enough; torch has none",
        },
        label="Line search",
        group="Solver",
        help="How far to go along the direction; default strong-wolfe",
        visible_when=_solver("lbfgs"),
    )
    max_line_search_iterations = Int(
        20,
        low=1,
        high=1000,
        group="Solver",
        label="Max line search",
        help="Looks at the loss along one direction at most; default 20, MATLAB's. torch: max_eval - 1",
        visible_when=_solver("lbfgs"),
    )
    history_size = Int(
        10,
        low=1,
        high=1000,
        unit="steps",
        group="Solver",
        help="Steps that the curvature is estimated from; default 10 as in MATLAB, 100 in torch. Each takes memory",
        visible_when=_solver("lbfgs"),
    )
    gradient_tolerance = Float(
        1e-7,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Weights stay where no gradient is larger; default 1e-7. torch: tolerance_grad; MATLAB's is relative",
        visible_when=_solver("lbfgs"),
    )
    step_tolerance = Float(
        1e-9,
        low=0.0,
        high=1.0,
        group="Solver",
        help="A direction that promises less is not taken; default 1e-9. torch: tolerance_change; MATLAB's is relative",
        visible_when=_solver("lbfgs"),
    )
    loss = Choice(
        "auto",
        options=LOSSES,
        notes={
            "auto": "cross-entropy for classes, half-mse for numbers",
            "cross-entropy": "Mean negative log likelihood of the right class",
            "focal": "Cross-entropy that counts samples less the surer they are: (1 - p)^gamma times it",
            "half-mse": "MATLAB's mse: half the squared error, summed over responses, mean over samples",
            "mse": "torch's MSELoss: squared error, mean over all elements",
            "mae": "Absolute error, mean over all elements",
            "huber": "Half the square near zero, a line beyond, mean over all elements",
        },
        group="Solver",
        help="What is minimised; default auto",
    )
    class_weighting = Choice(
        "none",
        options=("none", "balanced", "given"),
        notes={
            "none": "All samples count the same",
            "balanced": "Each class counts the same: samples / (classes · samples of the class)",
            "given": "Each class counts as the class weights say",
        },
        group="Solver",
        help="How much samples of each class count; default none. The mean is over samples, as in MATLAB, where torch "
        "divides by the sum of their weights",
        visible_when=_loss("auto", "cross-entropy", "focal"),
    )
    class_weights = Floats(
        low=0.0,
        group="Solver",
        help="A weight for each class in the order of their names, such as 1, 2.5, 1; default none. torch: weight",
        visible_when=lambda options: options.class_weighting == "given" and _loss_of_classes(options),
    )
    label_smoothing = Float(
        0.0,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Share of each label that is spread evenly over all classes, 0 to 1; default 0. MATLAB has none",
        visible_when=_loss("auto", "cross-entropy"),
    )
    focal_gamma = Float(
        2.0,
        low=0.0,
        high=100.0,
        group="Solver",
        help="How much less sure samples count; default 2; 0 is cross-entropy. MATLAB: Gamma; for Alpha, class weights",
        visible_when=_loss("focal"),
    )
    huber_delta = Float(
        1.0,
        above=0.0,
        high=1e9,
        group="Solver",
        help="Error at which the square becomes a line; default 1. torch: delta; MATLAB: TransitionPoint",
        visible_when=_loss("huber"),
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
        help="What is watched beside the loss; default auto",
    )

    schedule = Choice(
        "none",
        options=("none", "piecewise", "warmup", "cosine", "exponential", "polynomial", "one-cycle", "plateau"),
        notes={
            "none": "The rate stays",
            "piecewise": "Multiplied by the drop factor every drop period (torch: StepLR)",
            "warmup": "Rises linearly over the warm-up, then stays",
            "cosine": "Falls along half a cosine over the run, or again and again with restarts",
            "exponential": "Multiplied by the decay over each epoch, a little at every iteration",
            "polynomial": "Falls to zero at the end of the run; with power 1 along a line",
            "one-cycle": "Rises to the initial learn rate, then falls far below where it began (torch: OneCycleLR)",
            "plateau": "Multiplied by the drop factor when validations get no better (torch: ReduceLROnPlateau)",
        },
        label="Learn rate schedule",
        group="Schedule",
        help="How the rate changes over the run; default none. All but none may begin with a warm-up",
    )
    warmup_iterations = Int(
        0,
        low=0,
        unit="iterations",
        label="Warm-up",
        group="Schedule",
        help="The rate rises linearly over so many, then the schedule begins; default 0. torch: LinearLR, then another",
        visible_when=lambda options: options.schedule != "none",
    )
    learn_rate_drop_factor = Float(
        0.1,
        above=0.0,
        high=1.0,
        group="Schedule",
        help="What the rate is multiplied by at a drop, 0 to 1; default 0.1. torch: gamma, or factor",
        visible_when=_schedule("piecewise", "plateau"),
    )
    learn_rate_drop_period = Int(
        10,
        low=1,
        unit="epochs",
        group="Schedule",
        help="Epochs between drops, from the end of the warm-up; default 10. torch: step_size",
        visible_when=_schedule("piecewise"),
    )
    learn_rate_decay = Float(
        0.95,
        above=0.0,
        high=1.0,
        group="Schedule",
        help="What is left of the rate after an epoch, 0 to 1; default 0.95. torch: gamma, which falls in stairs",
        visible_when=_schedule("exponential"),
    )
    polynomial_power = Float(
        1.0,
        above=0.0,
        high=100.0,
        group="Schedule",
        help="Power of the share of the run that is left; default 1, a line. torch: power",
        visible_when=_schedule("polynomial"),
    )
    restart_period = Int(
        0,
        low=0,
        high=1_000_000,
        unit="epochs",
        group="Schedule",
        help="After so many epochs the rate starts from the top again; default 0: never. torch: T_0",
        visible_when=_schedule("cosine"),
    )
    restart_period_factor = Int(
        1,
        low=1,
        high=1000,
        group="Schedule",
        help="Each period is so many times as long as the one before; default 1. torch: T_mult",
        visible_when=lambda options: options.schedule == "cosine" and options.restart_period > 0,
    )
    lowest_rate_factor = Float(
        0.0,
        low=0.0,
        high=1.0,
        group="Schedule",
        help="Lowest rate, as a share of the initial one; default 0. torch gives the rate itself: eta_min, min_lr",
        visible_when=_schedule("cosine", "plateau"),
    )
    one_cycle_rise = Float(
        0.3,
        low=0.0,
        high=0.999,
        group="Schedule",
        help="Share of the run over which the rate rises; default 0.3. torch: pct_start; momentum stays as it is here",
        visible_when=_schedule("one-cycle"),
    )
    one_cycle_start_divisor = Float(
        25.0,
        low=1.0,
        high=1e9,
        group="Schedule",
        help="The first rate is the highest, the initial learn rate, divided by this; default 25. torch: div_factor",
        visible_when=_schedule("one-cycle"),
    )
    one_cycle_end_divisor = Float(
        1e4,
        low=1.0,
        high=1e12,
        group="Schedule",
        help="The last rate is the first one divided by this; default 10000. torch: final_div_factor",
        visible_when=_schedule("one-cycle"),
    )
    plateau_patience = Int(
        10,
        low=0,
        unit="validations",
        group="Schedule",
        help="So many validations in a row may be no better; the next one drops the rate; default 10. torch: patience",
        visible_when=_schedule("plateau"),
    )
    plateau_threshold = Float(
        1e-4,
        low=0.0,
        high=1.0,
        group="Schedule",
        help="Better means by this share of the best; default 0.0001. torch: threshold, relative",
        visible_when=_schedule("plateau"),
    )

    max_epochs = Int(30, low=1, high=1_000_000, group="Batches", help="Passes over the training data; default 30")
    mini_batch_size = Int(
        128,
        low=1,
        unit="samples",
        label="Mini-batch size",
        group="Batches",
        help="Samples an optimizer step, over all workers; default 128. torch: batch_size is that of one worker",
    )
    shuffle = Choice(
        "once",
        options=("once", "every-epoch", "never"),
        group="Batches",
        help="When the training samples get a new order; default once, as in MATLAB. torch: shuffle, every epoch",
    )
    last_batch = Choice(
        "keep",
        options=("keep", "discard"),
        group="Batches",
        help="What becomes of an incomplete last batch; default keep. MATLAB discards it; torch: drop_last",
    )

    sequence_length = Choice(
        "longest",
        options=("longest", "shortest"),
        notes={
            "longest": "Batches are padded to their longest sequence; no layer, loss or metric sees the padding",
            "shortest": "While training, each batch is cut to its shortest sequence: what comes later is left out",
        },
        group="Batches",
        help="Where sequences differ in length; default longest. The side and the value of the padding play no part",
    )
    bucket_by_length = Bool(
        False,
        group="Batches",
        help="Puts sequences of like length into a batch, so that less is padded; default off. Samples are shuffled, "
        "sorted within 50 batches at a time, and the batches shuffled",
        visible_when=lambda options: options.shuffle != "never",
    )

    validation_frequency = Int(
        50,
        low=1,
        unit="iterations",
        group="Validation",
        help="Iterations between validations; default 50; also at start and end",
    )
    validation_patience = Int(
        0,
        low=0,
        unit="validations",
        group="Validation",
        help="Stop after so many without a better one; default 0: never (MATLAB: Inf)",
    )
    objective_metric = Choice(
        "loss",
        options=("loss", "metric"),
        notes={"loss": "Validation loss, lower is better", "metric": "The metric on the validation part"},
        group="Validation",
        help="What patience and the best network go by; default loss",
    )
    output_network = Choice(
        "auto",
        options=("auto", "best-validation", "last-iteration"),
        notes={"auto": "best-validation where there is a validation part"},
        group="Validation",
        help="Which network is kept as the result; default auto",
    )

    l2_regularization = Float(
        1e-4,
        low=0.0,
        high=1000.0,
        label="L2 regularization",
        group="Regularisation",
        help="Weight decay: factor on weights, not on biases or normalisation; default 0.0001. torch: weight_decay, 0",
    )
    gradient_threshold = Float(
        math.inf,
        above=0.0,
        infinite=True,
        group="Regularisation",
        help="Limit for clipping gradients; default Inf: none",
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
        help="What the threshold is compared with; default l2norm, as in MATLAB",
        visible_when=_clips,
    )

    seed = Int(
        0,
        low=0,
        group="Reproducibility",
        help="Initial weights, order of samples and dropout follow from it; default 0",
    )
    deterministic = Bool(
        False, group="Reproducibility", help="Only algorithms that repeat bit for bit, at a cost on GPUs; default off"
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
        if self.solver == "sgdm" and self.nesterov and self.momentum == 0:
            found.append(FieldError("nesterov", "Nesterov needs a momentum above 0."))
        if self.solver == "lbfgs" and _clips(self):
            message = "the line search of lbfgs needs gradients as they are. Set it to Inf, or choose another solver."
            found.append(FieldError("gradient_threshold", message))
        if self.class_weighting == "given" and _loss_of_classes(self) and not any(self.class_weights):
            found.append(FieldError("class_weights", "enter a weight for each class, and not all of them 0."))
        return found
