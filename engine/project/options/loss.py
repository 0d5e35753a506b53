"""Options of the loss."""

import re
from typing import Any

from netwright.engine.core.errors import FieldError, did_you_mean
from netwright.engine.core.fields import Bool, Choice, FilePath, Float, Text
from netwright.engine.core.list_fields import Floats
from netwright.engine.core.records import Record
from netwright.engine.project.options.execution import PYTHON

LOSS_TASKS = {
    "cross-entropy": ("classes",),
    "index-cross-entropy": ("classes",),
    "binary-cross-entropy": ("labels", "classes"),
    "focal": ("classes",),
    "dice": ("classes", "labels"),
    "generalized-dice": ("classes", "labels"),
    "dice-cross-entropy": ("classes", "labels"),
    "ctc": ("transcripts",),
    "half-mse": ("numbers",),
    "mse": ("numbers",),
    "mae": ("numbers",),
    "huber": ("numbers",),
}
"""What the targets may ask for, for each loss."""
AUTO_LOSSES = {
    "classes": "cross-entropy",
    "numbers": "half-mse",
    "labels": "binary-cross-entropy",
    "transcripts": "ctc",
}
LOSSES = ("auto", *LOSS_TASKS, "custom")
CLASS_LOSSES = tuple(name for name, tasks in LOSS_TASKS.items() if "classes" in tasks)
OVERLAPS = ("dice", "generalized-dice", "dice-cross-entropy")
SQUARED_LOSSES = ("half-mse", "mse")
OUTPUT_LOSS = re.compile(r"(\w+)\s*[:=]\s*([a-z-]+)(?:\s*[*×]\s*(\d+(?:\.\d*)?(?:e-?\d+)?))?")


def _loss(*names: str) -> Any:
    return lambda options: any(name in names for name in options.losses)


def _loss_of_classes(options: "LossOptions") -> bool:
    return any(name in ("auto", *CLASS_LOSSES) for name in options.losses)


class OutputLosses(Text):
    """A loss and a weight for some outputs by name, such as `mask: dice * 0.5, kind: cross-entropy`."""

    expects = "a loss for each output by its name, such as mask: dice * 0.5, kind: cross-entropy"

    def check(self, value: object) -> str:
        if isinstance(value, dict):
            value = ", ".join(f"{name}: {term}" for name, term in value.items())
        text = super().check(value)
        return ", ".join(_spoken(name, *term) for name, term in self.read(text).items())

    def read(self, text: str) -> dict[str, tuple[str, float]]:
        """Loss and weight by the name of the output. Raises `FieldError`."""
        losses: dict[str, tuple[str, float]] = {}
        for part in text.split(",") if text.strip() else ():
            matched = OUTPUT_LOSS.fullmatch(part.strip())
            if matched is None:
                raise self.refuse(text)
            name, loss, weight = matched.groups()
            if loss not in LOSSES or loss == "custom":
                choices = [word for word in LOSSES if word != "custom"]
                hint = did_you_mean(loss, choices)
                raise FieldError(self.name, f"'{loss}' is no loss of one output: {', '.join(choices)}.{hint}")
            if name in losses:
                raise FieldError(self.name, f"output '{name}' is named twice.")
            losses[name] = loss, 1.0 if weight is None else Float(1.0, low=0.0).check(float(weight))
        return losses


def _spoken(name: str, loss: str, weight: float) -> str:
    return f"{name}: {loss}" + ("" if weight == 1.0 else f" * {weight:.12g}")


class LossOptions(Record):
    """Options of the loss."""

    loss = Choice(
        "auto",
        options=LOSSES,
        notes={
            "auto": "Chosen by the targets; cross-entropy for classes, half-mse for numbers, binary-cross-entropy for "
            "labels, ctc for transcripts",
            "cross-entropy": "Mean negative log likelihood of the true class; includes a softmax at the output",
            "index-cross-entropy": "Cross-entropy under MATLAB's name for class numbers",
            "binary-cross-entropy": "Of each label, or of two classes by one output; includes a sigmoid at the "
            "output. torch: BCEWithLogitsLoss",
            "focal": "Cross-entropy times (1 - p)^gamma; confident samples count less",
            "dice": "1 - overlap; 2 Σ p t / (Σ p² + Σ t²), mean over classes, per sample",
            "generalized-dice": "Overlap of all classes, weighted by 1 / size²; MATLAB's generalizedDice",
            "dice-cross-entropy": "Sum of dice and cross-entropy; for labels, binary cross-entropy",
            "ctc": "Transcripts without alignment; negative log likelihood, mean over samples, as in MATLAB. torch "
            "divides that of each sample by the length of its transcript",
            "half-mse": "MATLAB's mse: half the squared error; summed over responses, mean over samples",
            "mse": "torch's MSELoss: squared error, mean over all elements",
            "mae": "Absolute error, mean over all elements",
            "huber": "Half the square near zero, a line beyond; mean over all elements",
            "custom": "Your own Python function",
        },
        group="Loss",
        help="Function to minimise. Default auto. For steps, pixels and voxels it is the mean over the counted "
        "ones of a sample, then over samples",
        matlab="lossFcn",
        torch="a module such as CrossEntropyLoss, on logits and with the mean over the batch; a softmax or "
        "sigmoid at the output is left out before the loss here, and kept in the network",
    )
    output_losses = OutputLosses(
        "",
        group="Loss",
        help="Loss and weight per output. Default none: each output has the loss above where it fits, else auto, "
        "and weight 1. By the name of the output or its target, such as mask: dice * 0.5, kind: "
        "cross-entropy",
        matlab="a function that adds them up",
        torch="a function that adds them up",
    )
    ctc_blank = Choice(
        "first",
        options=("first", "last"),
        label="CTC blank",
        group="Loss",
        help="Channel of the output that represents the blank. Default first",
        matlab="BlankIndex",
        torch="blank (default 0)",
        visible_when=_loss("ctc"),
    )
    loss_function = FilePath(
        "",
        pattern=PYTHON,
        group="Loss",
        help="Python file with a function loss(outputs, targets). Default none. It returns the mean over the "
        "samples; FILE.py:NAME for a function of another name",
        matlab="lossFcn",
        torch="a function",
        visible_when=_loss("custom"),
    )
    class_weighting = Choice(
        "none",
        options=("none", "balanced", "given"),
        notes={
            "none": "Equal weight per sample",
            "balanced": "Equal weight per class; samples / (classes · samples of the class)",
            "given": "The class weights below",
        },
        group="Loss",
        help="Weights of the samples (steps, pixels) of each class. Default none. For labels, of the label where "
        "it is true. The mean is over samples",
        matlab="Weights of crossentropy",
        torch="weight, whose mean divides by the sum of the weights",
        visible_when=_loss_of_classes,
    )
    class_weights = Floats(
        low=0.0,
        group="Loss",
        help="Weight per class, in the order of names: 1, 2.5, 1. Default none",
        matlab="Weights of crossentropy",
        torch="weight",
        visible_when=lambda options: options.class_weighting == "given" and _loss_of_classes(options),
    )
    label_smoothing = Float(
        0.0,
        low=0.0,
        high=1.0,
        group="Loss",
        help="Fraction of each label spread over all classes, 0 to 1. Default 0",
        matlab="none",
        torch="label_smoothing",
        visible_when=_loss(
            "auto", "cross-entropy", "index-cross-entropy", "binary-cross-entropy", "dice-cross-entropy"
        ),
    )
    focal_gamma = Float(
        2.0,
        low=0.0,
        high=100.0,
        group="Loss",
        help="Exponent that lowers the weight of sure samples. Default 2. The factor is (1 - p) to this power; 0 is "
        "cross-entropy",
        matlab="Gamma (for Alpha, class weights)",
        visible_when=_loss("focal"),
    )
    huber_delta = Float(
        1.0,
        above=0.0,
        high=1e9,
        group="Loss",
        help="Error at which the loss changes from quadratic to linear. Default 1",
        matlab="TransitionPoint",
        torch="delta",
        visible_when=_loss("huber"),
    )
    normalize_targets = Bool(
        False,
        group="Loss",
        label="Normalise targets",
        help="Computes the loss on normalised responses. Default off. Its size then does not depend on their "
        "units; metrics and exports keep the units. The last layer must be an inverse normalisation with "
        "fitted numbers, which sets the kind",
        matlab="NormalizeTargets",
        visible_when=lambda options: options.loss not in CLASS_LOSSES,
    )

    @property
    def named_losses(self) -> dict[str, tuple[str, float]]:
        """Loss and weight of the outputs that are named."""
        return OutputLosses("").read(self.output_losses)

    @property
    def losses(self) -> tuple[str, ...]:
        """All losses that are chosen: that of all outputs, and those of outputs by name."""
        return (self.loss, *(loss for loss, _ in self.named_losses.values()))

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = super().problems()
        if self.loss == "custom" and not self.loss_function:
            errors.append(FieldError("loss_function", "choose the Python file with your loss."))
        if self.class_weighting == "given" and _loss_of_classes(self) and not any(self.class_weights):
            errors.append(FieldError("class_weights", "enter a weight for each class, and not all of them 0."))
        return errors
