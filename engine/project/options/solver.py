"""How the weights follow the gradient: the solvers and what each of them takes."""

from typing import Any

from engine.core.errors import FieldError
from engine.core.fields import Bool, Choice, Float, Int
from engine.core.records import Record

DEFAULT_RATES = {"sgdm": 0.01, "adam": 0.001, "adamw": 0.001, "nadam": 0.002, "rmsprop": 0.001, "lbfgs": 1.0, "lm": 1.0}
FULL_BATCH = ("lbfgs", "lm")
"""Solvers that look at all training samples in each iteration, and at several points before they move."""


def _solver(*names: str) -> Any:
    return lambda options: options.solver in names


class SolverOptions(Record):
    """How the weights follow the gradient: the solvers and what each of them takes."""

    solver = Choice(
        "sgdm",
        options=tuple(DEFAULT_RATES),
        notes={
            "sgdm": "Stochastic gradient descent with momentum",
            "adam": "Adaptive moments",
            "adamw": "Adam with decoupled weight decay",
            "nadam": "Adam with Nesterov momentum",
            "rmsprop": "Root mean square propagation",
            "lbfgs": "Quasi-Newton with a line search; each iteration takes all samples",
            "lm": "Levenberg-Marquardt, for regressions of few weights; each iteration takes all samples",
        },
        group="Solver",
        help="Optimization algorithm. Default sgdm. MATLAB: solverName, without adamw and nadam; torch: the "
        "optimizers of torch.optim, without lm",
    )
    initial_learn_rate = Float(
        lambda options: DEFAULT_RATES[options.solver],
        above=0.0,
        high=1000.0,
        group="Solver",
        help="Step size at the start. Default 0.01 for sgdm, 0.002 for nadam, 1 for lbfgs (where the line search "
        "begins), 0.001 for the others, as in MATLAB where it has them. torch: lr, 0.001 for sgd, 0.01 for "
        "rmsprop",
        visible_when=lambda options: options.solver != "lm",
    )
    momentum = Float(
        0.9,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Fraction of the previous update kept, 0 to 1. Default 0.9, as in MATLAB. torch: momentum, 0",
        visible_when=_solver("sgdm"),
    )
    nesterov = Bool(
        False,
        group="Solver",
        help="Use Nesterov momentum. Default off. torch: nesterov; MATLAB has none",
        visible_when=_solver("sgdm"),
    )
    gradient_decay_factor = Float(
        0.9,
        low=0.0,
        high=0.999999,
        group="Solver",
        help="Decay rate of the moving average of the gradient, 0 to 1. Default 0.9, as in MATLAB. torch: the "
        "first of betas",
        visible_when=_solver("adam", "adamw", "nadam"),
    )
    squared_gradient_decay_factor = Float(
        lambda options: 0.9 if options.solver == "rmsprop" else 0.999,
        low=0.0,
        high=0.999999,
        group="Solver",
        help="Decay rate of the moving average of the squared gradient. Default 0.9 for rmsprop (torch: alpha, "
        "0.99), 0.999 for the others (torch: the second of betas)",
        visible_when=_solver("adam", "adamw", "nadam", "rmsprop"),
    )
    epsilon = Float(
        1e-8,
        above=0.0,
        high=1.0,
        group="Solver",
        help="Added to the denominator of the update to avoid division by zero. Default 1e-8, as in MATLAB. torch: eps",
        visible_when=_solver("adam", "adamw", "nadam", "rmsprop"),
    )
    momentum_decay = Float(
        0.004,
        low=0.0,
        high=1.0,
        group="Solver",
        help="How quickly the momentum reaches the gradient decay factor. Default 0.004. torch: momentum_decay; "
        "MATLAB has no nadam",
        visible_when=_solver("nadam"),
    )
    convention = Choice(
        "pytorch",
        options=("pytorch", "matlab"),
        notes={
            "pytorch": "As torch.optim and torch.nn compute",
            "matlab": "L2 before the gradient threshold, learning rate inside the velocity, Adam's epsilon before its "
            "correction of bias, one bias per LSTM",
        },
        group="Solver",
        help="Whose formulas are used where PyTorch's and MATLAB's differ; docs/from-matlab.md says by how much. "
        "Default pytorch",
    )
    max_iterations = Int(
        1000,
        low=1,
        high=1_000_000,
        unit="iterations",
        group="Solver",
        help="Maximum number of iterations, each over all training samples. Default 1000, as in MATLAB. Replaces "
        "epochs and mini-batch size. torch: max_iter, 20, per step",
        visible_when=_solver(*FULL_BATCH),
    )
    gradient_tolerance = Float(
        1e-5,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Ends the run when no gradient is larger than this times max(1, min(loss, largest gradient at the "
        "start)). Default 1e-5; 0: never. MATLAB: GradientTolerance; torch: tolerance_grad, 1e-7, of the "
        "gradient",
        visible_when=_solver(*FULL_BATCH),
    )
    step_tolerance = Float(
        1e-5,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Ends the run after a step whose norm over all weights is at most this. Default 1e-5; 0: never. "
        "MATLAB: StepTolerance; torch: tolerance_change, 1e-9",
        visible_when=_solver(*FULL_BATCH),
    )
    line_search_method = Choice(
        "weak-wolfe",
        options=("weak-wolfe", "strong-wolfe", "backtracking"),
        notes={
            "weak-wolfe": "Until the loss has fallen enough and is less steep; by halves and doubles",
            "strong-wolfe": "Until the loss has fallen enough and its slope is nearly flat; torch's",
            "backtracking": "The step is halved until the loss has fallen enough; torch has none",
        },
        label="Line search",
        group="Solver",
        help="How the step length along the search direction is found. Default weak-wolfe, as in MATLAB. torch: "
        "line_search_fn, none or strong_wolfe",
        visible_when=_solver("lbfgs"),
    )
    max_line_search_iterations = Int(
        20,
        low=1,
        high=1000,
        group="Solver",
        help="Maximum number of loss evaluations per line search. Default 20. MATLAB: MaxNumLineSearchIterations; "
        "torch: max_eval - 1",
        visible_when=_solver("lbfgs"),
    )
    history_size = Int(
        10,
        low=1,
        high=1000,
        unit="steps",
        group="Solver",
        help="Number of past steps used to estimate the curvature. Default 10 as in MATLAB, 100 in torch. Each "
        "takes memory",
        visible_when=_solver("lbfgs"),
    )
    initial_inverse_hessian_factor = Float(
        1.0,
        above=0.0,
        high=1e100,
        group="Solver",
        label="Initial inverse Hessian factor",
        help="Factor that turns the gradient into the first search direction, before a step has measured the "
        "curvature. Default 1, as in MATLAB. torch: always 1",
        visible_when=_solver("lbfgs"),
    )
    initial_damping_factor = Float(
        0.001,
        above=0.0,
        high=1e100,
        group="Solver",
        help="Damping at the start: small is Gauss-Newton's step, large a short one along the gradient. Default 0.001, "
        "as in MATLAB. It is added to the curvature of the mean loss, so it means the same for any number of samples",
        visible_when=_solver("lm"),
    )
    max_damping_factor = Float(
        1e10,
        above=0.0,
        high=1e100,
        group="Solver",
        help="Ends the run when no step with a damping up to this lowers the loss. Default 1e10, as in MATLAB",
        visible_when=_solver("lm"),
    )
    damping_increase_factor = Float(
        10.0,
        above=1.0,
        high=1e6,
        group="Solver",
        help="Factor on the damping after a step that did not lower the loss and was undone. Default 10, as in MATLAB",
        visible_when=_solver("lm"),
    )
    damping_decrease_factor = Float(
        0.1,
        above=0.0,
        high=0.999999,
        group="Solver",
        help="Factor on the damping after a step that lowered the loss. Default 0.1. MATLAB: DampingDecreaseFactor",
        visible_when=_solver("lm"),
    )

    @property
    def is_full_batch(self) -> bool:
        """Whether each iteration takes all training samples, and the run is counted in iterations."""
        return self.solver in FULL_BATCH

    def problems(self) -> list[FieldError]:
        """What does not go together among these, and no more."""
        found = super().problems()
        if self.solver == "sgdm" and self.nesterov and self.momentum == 0:
            found.append(FieldError("nesterov", "Nesterov needs a momentum above 0."))
        if self.solver == "lm" and self.max_damping_factor < self.initial_damping_factor:
            message = f"expected at least the initial damping factor, {self.initial_damping_factor:g}."
            found.append(FieldError("max_damping_factor", message))
        return found
