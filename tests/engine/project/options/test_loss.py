"""Losses of outputs by name: as a person types them, and in the project file."""

import pytest

from netwright.engine.core.errors import FieldErrors
from netwright.engine.project.options.loss import LossOptions


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("", ""),
        ("mask:dice", "mask: dice"),
        ("mask = dice*0.50,  kind: auto × 1", "mask: dice * 0.5, kind: auto"),
        ({"mask": "dice * 2"}, "mask: dice * 2"),
    ],
)
def test_losses_of_outputs_are_read_as_they_are_typed(typed: object, kept: str) -> None:
    options = LossOptions(output_losses=typed)
    assert options.output_losses == kept
    assert LossOptions.read(options.write(), "training") == options


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("mask", "expected a loss for each output by its name"),
        ("mask: dise", "'dise' is no loss of one output.*Did you mean 'dice'"),
        ("mask: dice, mask: mse", "output 'mask' is named twice"),
        ("mask: dice * -1", "expected a loss for each output"),
        ("mask: custom", "'custom' is no loss of one output"),
    ],
)
def test_what_cannot_be_read_is_said(typed: str, message: str) -> None:
    with pytest.raises(FieldErrors, match=message):
        LossOptions(output_losses=typed)


def test_fields_of_a_loss_show_where_some_output_has_it() -> None:
    assert not LossOptions().is_visible("ctc_blank")
    assert LossOptions(output_losses="text: ctc").is_visible("ctc_blank")
    assert LossOptions(loss="dice").is_visible("class_weighting")
