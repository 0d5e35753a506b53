"""Random changes of images that do not go with the data."""

from dataclasses import replace
from typing import Any

import pytest

from netwright.engine.core.types import TensorType, features, image, sequence, volume
from netwright.engine.network.problems import Problem
from netwright.engine.project.check import check
from netwright.engine.project.check_augmentation import augmentation_problems
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.project import Project
from netwright.engine.project.relevance import unused_options
from tests.builders import chain, layer

GREY, COLOUR = image(1, 8, 12), image(3, 8, 12)


def facts(*types: TensorType, target: TargetInfo | None = None) -> DatasetInfo:
    targets = (target,) if target else classes_of("a", "b")
    return DatasetInfo(tuple(InputInfo(f"x{n}", type) for n, type in enumerate(types)), {"training": 200}, targets)


def told(known: DatasetInfo, **options: Any) -> list[Problem]:
    made = Project(chain(layer("image_input", size=8)))
    made = replace(made, training=made.training.replace(**options))
    found = list(augmentation_problems(made, known))
    for problem in found:
        assert problem.severity == "error"
        assert problem.fix is not None
        assert not list(augmentation_problems(problem.fix.edit(made), known)), "the fix helps"
    return found


@pytest.mark.parametrize("type", [features(4), sequence(9, 3), volume(1, 8, 8, 8)], ids=lambda type: type.layout)
def test_only_images_are_changed(type: TensorType) -> None:
    (problem,) = told(facts(type), rand_rotation=(-5, 5), noise_deviation=1.0)
    assert problem.field == "training.rand_rotation"
    assert f"the data gives {type}" in problem.message
    assert not told(facts(type))
    assert not told(facts(type, GREY), rand_rotation=(-5, 5)), "one input is an image"
    assert {"rand_rotation", "fill_value"} <= unused_options(facts(type))


def test_grey_has_no_hue() -> None:
    (problem,) = told(facts(GREY), jitter_hue=0.1, jitter_brightness=0.5)
    assert problem.message == "Grey has no hue: it takes images of 3 channels, the data has 1. Set it to 0."
    assert not told(facts(COLOUR), jitter_hue=0.1, jitter_saturation=0.1)
    assert "jitter_hue" in unused_options(facts(GREY))
    assert "jitter_hue" not in unused_options(facts(COLOUR))


def test_a_fill_fits_the_channels() -> None:
    (problem,) = told(facts(GREY), rand_rotation=(-5, 5), fill_value=(1, 2, 3))
    assert problem.message == "Expected one number or one per channel (1), received 3."
    assert not told(facts(COLOUR), rand_rotation=(-5, 5), fill_value=(1, 2, 3))
    assert not told(facts(GREY), jitter_brightness=0.1, fill_value=(1, 2, 3)), "nothing is filled"


def test_a_border_leaves_something_of_the_image() -> None:
    (problem,) = told(facts(GREY), rand_crop_padding=8)
    assert "narrower than the images, which have 8 pixels; received 8" in problem.message
    assert not told(facts(GREY), rand_crop_padding=7)


def test_pixels_of_targets_move_with_images_of_their_size() -> None:
    small = TargetInfo("mask", image(2, 4, 6), "classes", ("a", "b"))
    (problem,) = told(facts(GREY, target=small), rand_x_reflection=0.5, jitter_brightness=0.1)
    assert problem.field == "training.rand_x_reflection"
    assert "The pixels of 'mask' (2 × 4 × 6)" in problem.message
    assert not told(facts(GREY, target=small), jitter_brightness=0.1)
    assert not told(facts(GREY, target=TargetInfo("mask", image(2, 8, 12), "classes", ("a", "b"))), rand_rotation=9)


def test_only_one_class_a_sample_is_mixed_and_only_images() -> None:
    mixed = {"mixup_alpha": 0.4, "cutmix_alpha": 1.0}
    (problem,) = told(facts(GREY, target=TargetInfo("mask", image(2, 8, 12), "classes", ("a", "b"))), **mixed)
    assert problem.field == "training.mixup_alpha"
    assert "the data has 2 classes per pixel" in problem.message
    (problem,) = told(facts(GREY, features(4)), **mixed)
    assert "but not what stands beside them: 'x1', features of 4" in problem.message
    assert not told(facts(GREY), **mixed)
    assert "mixup_alpha" in unused_options(facts(GREY, target=numbers_of(2)[0]))
    assert "mixup_alpha" not in unused_options(facts(GREY))


def test_shares_of_two_classes_take_two_outputs() -> None:
    def found(outputs: int) -> list[str]:
        made = Project(chain(layer("image_input", size=8), layer("fully_connected", outputs=outputs)))
        made = replace(made, training=made.training.replace(mixup_alpha=0.4, loss="cross-entropy"))
        return [
            problem.message
            for problem in check(made, facts(image(1, 8, 8))).errors
            if "shares" in problem.message.lower()
        ]

    assert [message[:32] for message in found(1)] == ["Shares of two classes take two o"]
    assert found(2) == []


def test_check_tells_it() -> None:
    made = Project(chain(layer("feature_input", channels=4), layer("fully_connected", outputs=2)))
    made = replace(made, training=made.training.replace(rand_rotation=(-5, 5)))
    assert "training.rand_rotation" in [problem.field for problem in check(made, facts(features(4))).errors]
