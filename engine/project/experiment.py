"""Project section `experiment`: the varied values, the strategy that chooses them, and the objectives.

"experiment": {"parameters": [{"path": "training.initial_learn_rate", "low": 0.0001, "high": 0.1, "log": true},
                              {"path": "network.conv_1.filters", "values": [8, 16, 32]}],
               "strategy": "random", "trials": 30, "repeats": 3}
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from netwright.engine.core.errors import FieldError, UserError
from netwright.engine.core.fields import Bool, Choice, FilePath, Float, Int, Text, quoted
from netwright.engine.core.formula import Formula
from netwright.engine.core.list_fields import Texts
from netwright.engine.core.records import Record
from netwright.engine.project.options.execution import PYTHON
from netwright.engine.project.options.metric_options import is_better_low
from netwright.engine.project.parameters import MOST_TRIALS, Parameters, Rows

GROUP, COMPARED, REPEATED, LIMITS = "How", "What is compared", "Repeats", "Limits"
CODE = "Constraints and code"
LISTED = ("grid", "table")
NEEDS_OPTUNA = ("tpe", "gp", "nsga2")
SPLITS = ("training", "validation", "test")
MEASURED = ("parameters", "seconds", "flops")
"""What can be compared of a trial beside losses and metrics: number of parameters, time of the run, FLOPs per sample;
less is better."""


def _strategy(*names: str) -> Any:
    return lambda options: options.strategy in names


class ExperimentOptions(Record):
    """The trials of an experiment: parameters, strategy, budget and objectives."""

    parameters = Parameters(
        (),
        group=GROUP,
        help="Values that differ between trials: options, fields of layers (network.conv_1.filters), or whole "
        "networks (network=a.netwright,b.netwright)",
        matlab="hyperparameters of Experiment Manager",
    )
    strategy = Choice(
        "grid",
        options=("grid", "random", "sobol", *NEEDS_OPTUNA, "table", "function"),
        notes={
            "grid": "Every combination; ranges at evenly spaced points. MATLAB: exhaustive sweep",
            "random": "Random values",
            "sobol": "Evenly spread points of a Sobol sequence",
            "tpe": "Bayesian: tree-structured Parzen estimator. Needs optuna",
            "gp": "Bayesian: Gaussian process. Needs optuna",
            "nsga2": "Genetic, for several objectives. Needs optuna",
            "table": "The rows of a table, one per trial",
            "function": "A function of your own, called with the trials so far",
        },
        words={
            "grid": "Every combination",
            "random": "Random values",
            "sobol": "Sobol sequence",
            "tpe": "Bayesian, Parzen estimator",
            "gp": "Bayesian, Gaussian process",
            "nsga2": "Genetic, NSGA-II",
            "table": "Rows of a table",
            "function": "A function of your own",
        },
        group=GROUP,
        help="How the values of a trial are chosen. Default grid",
        matlab="exhaustive sweep, random sampling, Bayesian optimization",
    )
    table = Rows(
        (),
        group=GROUP,
        help="The trials of the strategy table: a value by path in each row",
        visible_when=_strategy("table"),
    )
    strategy_function = FilePath(
        "",
        pattern=PYTHON,
        group=GROUP,
        help="Python file with a function next_values(trials). Default none. It returns the values of the next trial "
        "by path, or None to end; FILE.py:NAME for a function of another name",
        visible_when=_strategy("function"),
    )
    initialization_function = FilePath(
        "",
        pattern=PYTHON,
        group=CODE,
        help="Python file with a function initialize(values), called before each trial. Default none. It may return "
        "other values by path; FILE.py:NAME for a function of another name",
        matlab="initialization function",
    )
    trials = Int(
        20,
        low=1,
        high=MOST_TRIALS,
        unit="trials",
        group=GROUP,
        help="Number of trials. Default 20. Grid and table have at most as many as they have rows",
        matlab="Maximum number of trials",
        visible_when=lambda options: not options.is_listed,
    )
    baseline = Bool(
        False,
        group=GROUP,
        label="Begin with the project",
        help="Whether the first trial has the values of the project. Default no",
        visible_when=_strategy("random", "sobol", *NEEDS_OPTUNA),
    )
    constraints = Texts(
        (),
        group=CODE,
        help="Conditions that the values of a trial fulfil: network.conv_1.filters <= network.conv_2.filters",
        matlab="Deterministic constraints",
    )
    seed = Int(
        0,
        low=0,
        group=CODE,
        help="Seed of the values that are chosen. Default 0. It is not the seed of the training",
        visible_when=lambda options: not options.is_listed,
    )
    objectives = Texts(
        (),
        group=COMPARED,
        help="What is compared: validation.accuracy, validation.loss, parameters, seconds, flops. Default: the main "
        "metric of the validation, else its loss. Several: a Pareto front",
        matlab="Optimize metric",
    )
    repeats = Int(
        1,
        low=1,
        high=1000,
        unit="runs",
        group=REPEATED,
        help="Runs per trial with different seeds of the training. Default 1. Their mean is compared",
    )
    folds = Int(
        0,
        low=0,
        high=1000,
        zero="none",
        unit="folds",
        group=REPEATED,
        help="Runs per trial by k-fold cross-validation: each part validates once. Default none. Their mean is "
        "compared",
    )
    pruning = Choice(
        "none",
        options=("none", "median", "successive-halving", "hyperband"),
        notes={
            "none": "Every trial is trained to its end",
            "median": "A trial that is worse than the median of the others at the same epoch is stopped",
            "successive-halving": "Of each group of trials the better part goes on (ASHA)",
            "hyperband": "Successive halving with several first lengths",
        },
        words={"none": "Run to the end", "median": "Stop below the median"},
        label="Weak trials",
        group=COMPARED,
        help="Whether trials that fall behind are stopped, by their validation curves. Default none",
    )
    prune_from_epoch = Int(
        1,
        low=1,
        high=1_000_000,
        unit="epochs",
        label="Prune from epoch",
        group=COMPARED,
        help="Epochs that every trial is trained before it can be stopped. Default 1",
        visible_when=lambda options: options.pruning != "none",
    )
    max_hours = Float(
        0.0,
        low=0.0,
        high=1e6,
        unit="h",
        label="Time limit",
        group=LIMITS,
        help="Time after which no trial is started. Default 0: no limit",
        matlab="Maximum time",
    )
    target = Text(
        "",
        label="Stop at",
        group=COMPARED,
        help="Ends the experiment once a trial reaches it, such as validation.accuracy>=0.98. Default: none",
    )
    at_once = Int(
        0,
        low=0,
        high=1024,
        zero="auto",
        unit="trials",
        label="Trials at once",
        group=LIMITS,
        help="Trials at the same time. Default auto: one per GPU; without a GPU one per core",
        matlab="simultaneous",
    )
    gpus_per_trial = Int(
        1,
        low=1,
        high=64,
        unit="GPUs",
        label="GPUs per trial",
        group=LIMITS,
        help="GPUs of each trial. Default 1. With several, a trial is data parallel",
    )
    trials_per_gpu = Int(
        1,
        low=1,
        high=64,
        unit="trials",
        label="Trials per GPU",
        group=LIMITS,
        help="Trials that share a GPU. Default 1. Small networks leave most of a GPU unused",
        visible_when=lambda options: options.gpus_per_trial == 1,
    )
    gpus = Int(
        0,
        low=0,
        high=1024,
        zero="all",
        unit="GPUs",
        label="GPUs in use",
        group=LIMITS,
        help="GPUs that the trials may use together. Default all, or those that the environment names",
    )
    cores = Int(
        0,
        low=0,
        high=4096,
        zero="all",
        unit="cores",
        label="Cores in use",
        group=LIMITS,
        help="CPU cores that trials on the CPU may use together. Default all",
    )
    memory_per_trial = Float(
        0.0,
        low=0.0,
        high=1e6,
        unit="GB",
        label="Free memory",
        group=LIMITS,
        help="Free memory needed to start a further trial. Default 0: 0.5 GB",
    )

    @property
    def is_listed(self) -> bool:
        """Whether the definition lists all trials, so that their number is not limited."""
        return self.strategy in LISTED

    @property
    def runs_per_trial(self) -> int:
        """Number of runs of each trial: repeats times folds."""
        return self.repeats * max(1, self.folds)

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = super().problems()
        if self.folds == 1:
            errors.append(FieldError("folds", "cross-validation needs at least 2 folds, or none."))
        for name, texts in (("constraints", self.constraints), ("objectives", self.objectives)):
            for text in texts:
                try:
                    Formula(text) if name == "constraints" else Objective.read(text)
                except UserError as error:
                    errors.append(FieldError(name, str(error)))
        if self.target:
            try:
                Target.read(self.target)
            except UserError as error:
                errors.append(FieldError("target", str(error)))
        if len(self.objectives) > 1 and self.pruning != "none":
            errors.append(FieldError("pruning", "trials with several objectives are not pruned. Use none."))
        if len(self.objectives) > 1 and self.strategy == "gp":
            errors.append(FieldError("strategy", "gp has one objective. Use tpe or nsga2 for several."))
        if self.strategy == "function" and not self.strategy_function:
            errors.append(FieldError("strategy_function", "choose the Python file with your function."))
        if self.strategy == "table" and not self.table:
            errors.append(FieldError("table", "the strategy table needs rows, one per trial."))
        return errors


@dataclass(frozen=True)
class Objective:
    """The objective of an experiment: a loss or metric of a split, or one of `MEASURED`."""

    name: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the objective of a text. Raises `UserError`."""
        split, dot, metric = text.partition(".")
        if text not in MEASURED and not (dot and split in SPLITS and re.fullmatch(r"[\w-]+", metric)):
            raise UserError(
                f"{quoted(text)} is nothing that a trial reaches. Expected a split and a metric, such as "
                f"validation.accuracy, or one of {', '.join(MEASURED)}."
            )
        return cls(text)

    @property
    def is_low_better(self) -> bool:
        """Whether the trial with the lower value is the better one."""
        metric = self.name.partition(".")[2]
        return self.name in MEASURED or metric == "loss" or is_better_low(metric)


@dataclass(frozen=True)
class Target:
    """A value with which an experiment ends, such as `validation.accuracy>=0.98`."""

    name: str
    is_least: bool
    limit: float

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the target of a text. Raises `UserError`."""
        match = re.fullmatch(r"\s*([\w.-]+?)\s*(>=|<=)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*", text)
        if match is None:
            raise UserError(f"{quoted(text)}: expected a target such as validation.accuracy>=0.98.")
        return cls(Objective.read(match[1]).name, match[2] == ">=", float(match[3]))

    def is_reached(self, values: Mapping[str, float]) -> bool:
        """Return whether the scores of a trial reach the target."""
        value = values.get(self.name)
        return value is not None and (value >= self.limit if self.is_least else value <= self.limit)


def rows_in(options: ExperimentOptions) -> Sequence[Mapping[str, Any]]:
    """Return the rows of the table as values by path."""
    return [dict(row) for row in options.table]
