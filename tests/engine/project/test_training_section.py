"""What the training options say of themselves."""

import pytest

from netwright.engine.core.fields import Bool, Field
from netwright.engine.project.options.solver import DEFAULT_RATES
from netwright.engine.project.training import TrainingOptions

FIELDS = TrainingOptions.fields


@pytest.mark.parametrize("name", FIELDS)
def test_the_help_says_the_default(name: str) -> None:
    field: Field[object] = FIELDS[name]
    if callable(field.default):
        return  # it follows the solver: below
    default = field.default
    said = ("on" if default else "off") if isinstance(field, Bool) else field.show(default) or "none"
    assert f"Default {said.replace('e-0', 'e-')}" in field.help, field.help


def test_the_help_of_the_rate_says_that_of_each_solver() -> None:
    words = FIELDS["initial_learn_rate"].help
    for solver, rate in DEFAULT_RATES.items():
        if solver == "lm":
            assert not TrainingOptions(solver=solver).is_visible("initial_learn_rate")
            continue
        assert TrainingOptions(solver=solver).initial_learn_rate == rate
        assert f"{rate:g} for {solver}" in words or rate == 0.001
    assert "0.001 for the others" in words


def test_every_option_belongs_to_a_group() -> None:
    groups = list(dict.fromkeys(field.group for field in FIELDS.values()))
    assert groups == [
        "Solver",
        "Loss",
        "Metrics",
        "Schedule",
        "Batches",
        "Augmentation",
        "Validation",
        "Stopping",
        "Regularisation",
        "Distillation",
        "Precision and memory",
        "Checkpoints",
        "Reproducibility",
        "Monitoring",
        "Custom code",
    ]


def test_what_goes_by_a_metric_names_one_that_is_chosen() -> None:
    (problem,) = TrainingOptions(metrics=("accuracy", "auc"), objective_metric="f-score").problems()
    assert problem.path == "objective_metric"
    assert problem.message == "f-score is not among the metrics (accuracy, auc). Add it to them, or choose one of them."
    assert not TrainingOptions(metrics=("auto", "auc"), objective_metric="auc", target_metric="none").problems()
    assert not TrainingOptions(objective_metric="rmse").problems(), "auto may be rmse: the data decides"
    offered = FIELDS["objective_metric"].offered  # type: ignore[attr-defined]  # it is a Choice
    assert set(offered(TrainingOptions(metrics=("mae", "r2")))) == {"loss", "metric", "mae", "r2"}


def test_a_solver_that_compares_losses_computes_with_all_digits_unless_asked() -> None:
    assert {name: TrainingOptions(solver=name).fitting_precision for name in ("sgdm", "lbfgs", "lm")} == {
        "sgdm": "auto",
        "lbfgs": "fp32",
        "lm": "fp32",
    }
    assert TrainingOptions(solver="lbfgs", precision="fp64").fitting_precision == "fp64"


def test_checkpoints_by_epoch_are_saved_after_each_one() -> None:
    """As in MATLAB, whose unit is the epoch and whose frequency is 1."""
    assert TrainingOptions(checkpoint_unit="epochs").checkpoint_frequency == 1
    assert TrainingOptions(checkpoint_unit="seconds").checkpoint_frequency == 60
    assert TrainingOptions(checkpoint_unit="epochs", checkpoint_frequency=5).checkpoint_frequency == 5
