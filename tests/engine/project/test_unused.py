"""Which options a form leaves out for the data there is."""

from netwright.engine.core.types import features, image, sequence
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of, numbers_of
from netwright.engine.project.relevance import unused_options
from netwright.engine.project.training import TrainingOptions


def test_images_have_no_length_and_classes_no_units() -> None:
    found = unused_options(DatasetInfo((InputInfo("x", image(1, 8, 8)),), {}, classes_of("a", "b")))
    assert {"sequence_length", "bucket_by_length", "normalize_targets", "output_losses"} <= found
    assert "class_weights" not in found


def test_numbers_for_sequences_have_no_classes() -> None:
    found = unused_options(DatasetInfo((InputInfo("x", sequence(5, 3)),), {}, numbers_of(2)))
    assert {"class_weighting", "label_smoothing"} <= found
    assert not {"sequence_padding", "normalize_targets"} & found


def test_two_targets_have_losses_each() -> None:
    targets = (*classes_of("a", "b"), *numbers_of(1))
    found = unused_options(DatasetInfo((InputInfo("x", features(4)),), {}, targets))
    assert "output_losses" not in found
    assert not {"class_weighting", "normalize_targets"} & found


def test_without_data_nothing_is_left_out() -> None:
    assert unused_options(None) == frozenset()


def test_only_options_that_there_are() -> None:
    found = unused_options(DatasetInfo((InputInfo("x", image(1, 8, 8)),), {}, numbers_of(1)))
    assert found <= set(TrainingOptions.fields)
