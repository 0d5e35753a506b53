"""How good a network is, in the words of its task.

A metric is a sum over samples and what is made of it in the end, so that steps, pieces and workers add up exactly; the
area under a curve alone needs all outputs at once, and comes from torchmetrics.
"""

from engine.training.metrics.choosing import confusion_for, metrics_for, named
from engine.training.metrics.classwise import ClassFigure, Confusion
from engine.training.metrics.errors import R2, Mae, Mape, Rmse
from engine.training.metrics.hits import Accuracy, LabelAccuracy, TopK
from engine.training.metrics.jury import Jury
from engine.training.metrics.metric import Metric, Summed, Whole, on_curve, summed, whole
from engine.training.metrics.ranking import Auc

__all__ = [
    "R2",
    "Accuracy",
    "Auc",
    "ClassFigure",
    "Confusion",
    "Jury",
    "LabelAccuracy",
    "Mae",
    "Mape",
    "Metric",
    "Rmse",
    "Summed",
    "TopK",
    "Whole",
    "confusion_for",
    "is_summed",
    "metrics_for",
    "named",
    "on_curve",
    "summed",
    "whole",
]
