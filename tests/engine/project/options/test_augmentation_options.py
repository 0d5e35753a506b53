"""Random changes of images: what they take, what counts, what cannot be meant."""

import pytest

from netwright.engine.core.errors import FieldError
from netwright.engine.core.records import set_by_text
from netwright.engine.project.options.augmentation_options import AUGMENTATION
from netwright.engine.project.training import TrainingOptions


def test_ranges_are_typed_in_many_ways() -> None:
    field = TrainingOptions.fields["rand_rotation"]
    for typed in ("-20, 20", "-20 20", "[-20, 20]", "20", "-20"):
        assert field.parse(typed) == (-20.0, 20.0)
    assert field.show((-20.0, 20.0)) == "-20, 20"
    assert field.parse("0") == (0.0, 0.0)
    assert field.show(field.parse("0")) == "0, 0"
    assert set_by_text(TrainingOptions(), "rand_scale", "0.8, 1.2", "training").rand_scale == (0.8, 1.2)


@pytest.mark.parametrize("typed", ["20, -20", "0, 361", "a", "", "1, 2, 3", "NaN", "Infinity", "null", "[true, 1]"])
def test_what_is_no_range_is_refused_in_words(typed: str) -> None:
    with pytest.raises(FieldError, match="two numbers from -360 to 360, the lower one first, or one number for both"):
        TrainingOptions.fields["rand_rotation"].parse(typed)


def test_one_number_is_no_range_of_factors() -> None:
    with pytest.raises(FieldError, match=r"two numbers from 0.01 to 100, the lower one first, received"):
        TrainingOptions.fields["rand_scale"].parse("1.2")


def test_by_default_nothing_is_changed() -> None:
    assert TrainingOptions().augments == ()
    assert set(AUGMENTATION) <= set(TrainingOptions.fields)
    assert not TrainingOptions().is_visible("fill_value")
    assert not TrainingOptions().is_visible("erasing_area")


def test_a_scale_of_both_sides_stands_before_that_of_each_as_in_matlab() -> None:
    apart = {"rand_x_scale": (0.5, 1), "rand_y_scale": (1, 2)}
    assert TrainingOptions(**apart).augments == ("rand_x_scale", "rand_y_scale")
    assert TrainingOptions(rand_scale=(1, 2), **apart).augments == ("rand_scale",)


def test_solvers_that_compare_iterations_take_samples_as_they_are() -> None:
    for solver in ("lbfgs", "lm"):
        (problem,) = TrainingOptions(solver=solver, jitter_hue=0.1, loss="mse").problems()
        assert problem.path == "jitter_hue"
        assert f"the solver {solver} needs the same samples" in problem.message
    assert not TrainingOptions(solver="lbfgs", erasing_area=(0.1, 0.2)).problems(), "nothing is erased"


def test_mixed_classes_go_with_cross_entropy_alone() -> None:
    (problem,) = TrainingOptions(mixup_alpha=0.2, loss="focal").problems()
    assert (problem.path, "which focal does not support" in problem.message) == ("mixup_alpha", True)
    (problem,) = TrainingOptions(cutmix_alpha=1.0, output_losses="kind: focal").problems()
    assert problem.path == "cutmix_alpha"
    (problem,) = TrainingOptions(mixup_alpha=0.2, step_function="own.py").problems()
    assert "a custom training step" in problem.message
    assert not TrainingOptions(mixup_alpha=0.2, cutmix_alpha=1.0, loss="cross-entropy").problems()
