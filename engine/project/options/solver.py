"""Options of the solvers."""

from typing import Any

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, Float, Int
from netwright.engine.core.records import Record

DEFAULT_RATES = {"sgdm": 0.01, "adam": 0.001, "adamw": 0.001, "nadam": 0.002, "rmsprop": 0.001, "lbfgs": 1.0, "lm": 1.0}
FULL_BATCH = ("lbfgs", "lm")
"""Solvers that look at all training samples in each iteration, and at several points before they move."""


def _solver(*names: str) -> Any:
    return lambda options: options.solver in names


class SolverOptions(Record):
    """Options of the solvers."""

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
        help="Optimization algorithm. Default sgdm",
        matlab="solverName, without adamw and nadam",
        torch="the optimizers of torch.optim, without lm",
    )
    initial_learn_rate = Float(
        lambda options: DEFAULT_RATES[options.solver],
        above=0.0,
        high=1000.0,
        group="Solver",
        help="Step size at the start. Default 0.01 for sgdm, 0.002 for nadam, 1 for lbfgs (where the line search "
        "begins), 0.001 for the others",
        matlab="InitialLearnRate",
        torch="lr (default 0.001 for sgd, 0.01 for rmsprop)",
        visible_when=lambda options: options.solver != "lm",
    )
    momentum = Float(
        0.9,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Fraction of the previous update kept, 0 to 1. Default 0.9",
        matlab="Momentum",
        torch="momentum (default 0)",
        visible_when=_solver("sgdm"),
    )
    nesterov = Bool(
        False,
        group="Solver",
        help="Nesterov momentum. Default off",
        matlab="none",
        torch="nesterov",
        visible_when=_solver("sgdm"),
    )
    gradient_decay_factor = Float(
        0.9,
        low=0.0,
        high=0.999999,
        group="Solver",
        help="Decay of the mean gradient, 0 to 1. Default 0.9",
        matlab="GradientDecayFactor",
        torch="the first of betas",
        visible_when=_solver("adam", "adamw", "nadam"),
    )
    squared_gradient_decay_factor = Float(
        lambda options: 0.9 if options.solver == "rmsprop" else 0.999,
        low=0.0,
        high=0.999999,
        group="Solver",
        help="Decay of the mean squared gradient, 0 to 1. Default 0.9 for rmsprop, 0.999 for the others",
        matlab="SquaredGradientDecayFactor",
        torch="alpha of rmsprop (default 0.99), otherwise the second of betas",
        visible_when=_solver("adam", "adamw", "nadam", "rmsprop"),
    )
    epsilon = Float(
        1e-8,
        above=0.0,
        high=1.0,
        group="Solver",
        help="Number added to the denominator of the update. Default 1e-8. It avoids division by zero",
        matlab="Epsilon",
        torch="eps",
        visible_when=_solver("adam", "adamw", "nadam", "rmsprop"),
    )
    momentum_decay = Float(
        0.004,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Decay in the schedule of the momentum. Default 0.004. The larger, the sooner the momentum reaches the "
        "gradient decay factor",
        matlab="none",
        torch="momentum_decay",
        visible_when=_solver("nadam"),
    )
    convention = Choice(
        "pytorch",
        options=("pytorch", "matlab"),
        notes={
            "pytorch": "Formulas of torch.optim and torch.nn",
            "matlab": "MATLAB's formulas; L2 before the gradient threshold, learn rate inside the velocity, Adam's "
            "epsilon before its correction of bias, one bias per LSTM",
        },
        group="Solver",
        help="Formulas to use where PyTorch and MATLAB differ. Default pytorch. The page docs/from-matlab.md lists the "
        "differences",
    )
    max_iterations = Int(
        1000,
        low=1,
        high=1_000_000,
        unit="iterations",
        group="Solver",
        help="Most iterations, each over all training samples. Default 1000. Replaces epochs and mini-batch size",
        matlab="MaxIterations",
        torch="max_iter (default 20), per step",
        visible_when=_solver(*FULL_BATCH),
    )
    gradient_tolerance = Float(
        1e-5,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Gradient below which the run ends. Default 1e-5; 0: no limit. It ends when no gradient exceeds this "
        "times max(1, min(loss, largest gradient at the start))",
        matlab="GradientTolerance",
        torch="tolerance_grad (default 1e-7), of the gradient",
        visible_when=_solver(*FULL_BATCH),
    )
    step_tolerance = Float(
        1e-5,
        low=0.0,
        high=1.0,
        group="Solver",
        help="Norm of a step over all weights at which the run ends. Default 1e-5; 0: no limit",
        matlab="StepTolerance",
        torch="tolerance_change (default 1e-9)",
        visible_when=_solver(*FULL_BATCH),
    )
    line_search_method = Choice(
        "weak-wolfe",
        options=("weak-wolfe", "strong-wolfe", "backtracking"),
        notes={
            "weak-wolfe": "Enough decrease and a smaller slope; halves and doubles the step",
            "strong-wolfe": "Enough decrease and a slope near zero; as in torch",
            "backtracking": "Halves the step until the loss has fallen enough",
        },
        label="Line search",
        group="Solver",
        help="Method that finds the step length. Default weak-wolfe. It searches along the direction of the solver",
        matlab="LineSearchMethod",
        torch="line_search_fn: none or strong_wolfe",
        visible_when=_solver("lbfgs"),
    )
    max_line_search_iterations = Int(
        20,
        low=1,
        high=1000,
        group="Solver",
        help="Maximum number of loss evaluations per line search. Default 20",
        matlab="MaxNumLineSearchIterations",
        torch="max_eval - 1",
        visible_when=_solver("lbfgs"),
    )
    history_size = Int(
        10,
        low=1,
        high=1000,
        unit="steps",
        group="Solver",
        help="Number of past steps used to estimate the curvature. Default 10. Each takes memory",
        matlab="HistorySize",
        torch="history_size (default 100)",
        visible_when=_solver("lbfgs"),
    )
    initial_inverse_hessian_factor = Float(
        1.0,
        above=0.0,
        high=1e100,
        group="Solver",
        label="Initial inverse Hessian factor",
        help="Factor from the gradient to the first direction. Default 1. It holds until a step has measured the "
        "curvature",
        matlab="InitialInverseHessianFactor",
        torch="always 1",
        visible_when=_solver("lbfgs"),
    )
    initial_damping_factor = Float(
        0.001,
        above=0.0,
        high=1e100,
        group="Solver",
        help="Damping at the start. Default 0.001. A small value gives a Gauss-Newton step, a large one a short "
        "gradient step. It is added to the curvature of the mean loss and so does not depend on the number "
        "of samples",
        matlab="InitialDampingFactor",
        torch="none",
        visible_when=_solver("lm"),
    )
    max_damping_factor = Float(
        1e10,
        above=0.0,
        high=1e100,
        group="Solver",
        help="Maximum damping. Default 1e10. The run ends if no step with less lowers the loss",
        matlab="MaxDampingFactor",
        torch="none",
        visible_when=_solver("lm"),
    )
    damping_increase_factor = Float(
        10.0,
        above=1.0,
        high=1e6,
        group="Solver",
        help="Factor on the damping after a failed step. Default 10. Such a step did not lower the loss and was undone",
        matlab="DampingIncreaseFactor",
        torch="none",
        visible_when=_solver("lm"),
    )
    damping_decrease_factor = Float(
        0.1,
        above=0.0,
        high=0.999999,
        group="Solver",
        help="Factor on the damping after a step that lowered the loss. Default 0.1",
        matlab="DampingDecreaseFactor",
        torch="none",
        visible_when=_solver("lm"),
    )

    @property
    def is_full_batch(self) -> bool:
        """Whether each iteration takes all training samples, and the run is counted in iterations."""
        return self.solver in FULL_BATCH

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = super().problems()
        if self.solver == "sgdm" and self.nesterov and self.momentum == 0:
            errors.append(FieldError("nesterov", "Nesterov needs a momentum above 0."))
        if self.solver == "lm" and self.max_damping_factor < self.initial_damping_factor:
            message = f"expected at least the initial damping factor, {self.initial_damping_factor:g}."
            errors.append(FieldError("max_damping_factor", message))
        return errors
