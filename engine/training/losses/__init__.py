"""What is minimised. Each loss gives the sum over samples of what counts a sample, so that shares of a batch add up.

What counts a sample is the mean over its steps, pixels or voxels that count: those of padding, and those marked so in
the data, do not. Functions of one output and its target take channels second, samples × channels × places, and class
numbers without channels; `loss_for` makes a `Loss` of them, which is given all outputs and all targets.
"""

from engine.training.losses.choosing import Loss, LossOfOne, loss_for, of_first
from engine.training.losses.classes import class_weights, cross_entropy, focal
from engine.training.losses.ends import Ends
from engine.training.losses.labels import binary_cross_entropy, positive_weights
from engine.training.losses.numbers import half_mse, huber, mae, mse
from engine.training.losses.overlap import dice, generalized_dice
from engine.training.losses.transcripts import ctc

__all__ = [
    "Ends",
    "Loss",
    "LossOfOne",
    "binary_cross_entropy",
    "class_weights",
    "cross_entropy",
    "ctc",
    "dice",
    "focal",
    "generalized_dice",
    "half_mse",
    "huber",
    "loss_for",
    "mae",
    "mse",
    "of_first",
    "positive_weights",
]
