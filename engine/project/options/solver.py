"""How the weights follow the gradient: the solvers and what each of them takes."""

from typing import Any

from engine.errors import FieldError
from engine.fields import Bool, Choice, Float, Int, Record

DEFAULT_RATES = {"sgdm": 0.01, "adam": 0.001, "adamw": 0.001, "nadam": 0.002, "rmsprop": 0.001, "lbfgs": 1.0}


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

    def problems(self) -> list[FieldError]:
        """What does not go together among these, and no more."""
        found = super().problems()
        if self.solver == "sgdm" and self.nesterov and self.momentum == 0:
            found.append(FieldError("nesterov", "Nesterov needs a momentum above 0."))
        return found
