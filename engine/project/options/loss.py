"""What is minimised."""

from typing import Any

from engine.errors import FieldError
from engine.fields import Bool, Choice, FilePath, Float, Floats, Record
from engine.project.options.code import PYTHON

LOSSES = ("auto", "cross-entropy", "focal", "half-mse", "mse", "mae", "huber", "custom")
CLASS_LOSSES = ("cross-entropy", "focal")
SQUARED_LOSSES = ("half-mse", "mse")


def _loss(*names: str) -> Any:
    return lambda options: options.loss in names


def _loss_of_classes(options: "LossOptions") -> bool:
    return options.loss in ("auto", *CLASS_LOSSES)


class LossOptions(Record):
    """What is minimised."""

    loss = Choice(
        "auto",
        options=LOSSES,
        notes={
            "auto": "cross-entropy for classes, half-mse for numbers",
            "cross-entropy": "Mean negative log likelihood of the right class",
            "focal": "Cross-entropy that counts samples less the surer they are: (1 - p)^gamma times it",
            "half-mse": "MATLAB's mse: half the squared error, summed over responses, mean over samples",
            "mse": "torch's MSELoss: squared error, mean over all elements",
            "mae": "Absolute error, mean over all elements",
            "huber": "Half the square near zero, a line beyond, mean over all elements",
            "custom": "A Python function of your own",
        },
        group="Loss",
        help="What is minimised; default auto. MATLAB: lossFcn; torch: a module such as CrossEntropyLoss, "
        "which takes logits: a softmax at the output is left out of the loss's input here, and kept in "
        "the network",
    )
    loss_function = FilePath(
        "",
        pattern=PYTHON,
        group="Loss",
        help="A Python file with a function loss(outputs, targets) that gives the mean over the samples; FILE.py:NAME "
        "where it has another name; default none. MATLAB: lossFcn",
        visible_when=_loss("custom"),
    )
    class_weighting = Choice(
        "none",
        options=("none", "balanced", "given"),
        notes={
            "none": "All samples count the same",
            "balanced": "Each class counts the same: samples / (classes · samples of the class)",
            "given": "Each class counts as the class weights say",
        },
        group="Loss",
        help="How much samples of each class count; default none. The mean is over samples, as in MATLAB, where torch "
        "divides by the sum of their weights",
        visible_when=_loss("auto", "cross-entropy", "focal"),
    )
    class_weights = Floats(
        low=0.0,
        group="Loss",
        help="A weight for each class in the order of their names, such as 1, 2.5, 1; default none. torch: "
        "weight; MATLAB: Weights of crossentropy",
        visible_when=lambda options: options.class_weighting == "given" and _loss_of_classes(options),
    )
    label_smoothing = Float(
        0.0,
        low=0.0,
        high=1.0,
        group="Loss",
        help="Share of each label that is spread evenly over all classes, 0 to 1; default 0. torch: "
        "label_smoothing; MATLAB has none",
        visible_when=_loss("auto", "cross-entropy"),
    )
    focal_gamma = Float(
        2.0,
        low=0.0,
        high=100.0,
        group="Loss",
        help="How much less sure samples count; default 2; 0 is cross-entropy. MATLAB: Gamma; for Alpha, class weights",
        visible_when=_loss("focal"),
    )
    huber_delta = Float(
        1.0,
        above=0.0,
        high=1e9,
        group="Loss",
        help="Error at which the square becomes a line; default 1. torch: delta; MATLAB: TransitionPoint",
        visible_when=_loss("huber"),
    )
    normalize_targets = Bool(
        False,
        group="Loss",
        label="Normalise targets",
        help="The loss compares normalised responses, so that its size does not depend on their units; metrics, and "
        "what is exported, keep the units; default off. The last layer must be an inverse normalisation with fitted "
        "numbers, whose kind says how. MATLAB: NormalizeTargets",
        visible_when=lambda options: options.loss not in CLASS_LOSSES,
    )

    def problems(self) -> list[FieldError]:
        """What does not go together among these, and no more."""
        found = super().problems()
        if self.loss == "custom" and not self.loss_function:
            found.append(FieldError("loss_function", "choose the Python file with your loss."))
        if self.class_weighting == "given" and _loss_of_classes(self) and not any(self.class_weights):
            found.append(FieldError("class_weights", "enter a weight for each class, and not all of them 0."))
        return found
