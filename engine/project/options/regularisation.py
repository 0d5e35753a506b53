"""Options of regularisation, gradient clipping and weight averaging."""

import math
from typing import Any

from netwright.engine.core.errors import FieldError, plural
from netwright.engine.core.fields import Bool, Choice, Float, Int
from netwright.engine.core.records import Record


def _clips(options: "RegularisationOptions") -> bool:
    return math.isfinite(options.gradient_threshold)


def _averages(name: str) -> Any:
    return lambda options: options.weight_averaging == name


class RegularisationOptions(Record):
    """Options of regularisation, gradient clipping and weight averaging."""

    l2_regularization = Float(
        1e-4,
        low=0.0,
        high=1000.0,
        label="L2 regularisation",
        group="Regularisation",
        help="Weight decay: factor on weights, not on biases. Default 0.0001. It leaves normalisation out too. It "
        "adds to the gradient; with adamw it shrinks the weights directly",
        matlab="L2Regularization",
        torch="weight_decay (default 0), on all parameters",
    )
    gradient_threshold = Float(
        math.inf,
        above=0.0,
        infinite=True,
        group="Regularisation",
        help="Limit to which gradients are clipped. Default Inf: none",
        matlab="GradientThreshold",
        torch="max_norm of clip_grad_norm_, or clip_value",
    )
    gradient_threshold_method = Choice(
        "l2norm",
        options=("l2norm", "global-l2norm", "absolute-value"),
        notes={
            "l2norm": "Norm of each parameter's gradient",
            "global-l2norm": "Norm over all gradients (torch's clip_grad_norm_)",
            "absolute-value": "Absolute value of each element",
        },
        group="Regularisation",
        help="Norm that the threshold limits. Default l2norm",
        matlab="GradientThresholdMethod",
        torch="clip_grad_norm_ (global-l2norm), clip_grad_value_ (absolute-value)",
        visible_when=_clips,
    )
    weight_averaging = Choice(
        "none",
        options=("none", "ema", "swa", "lookahead"),
        notes={
            "none": "No average: the weights of the last step",
            "ema": "Exponential moving average, updated at each step",
            "swa": "Mean over the ends of the last epochs; stochastic weight averaging, at the SWA learn rate",
            "lookahead": "Slow weights that follow every few steps; training continues from them (Zhang et al., 2019)",
        },
        group="Regularisation",
        help="Average of weights that is tested and kept. Default none. It is validated too. Training continues with "
        "the weights themselves, but for lookahead",
        matlab="none",
        torch="AveragedModel",
    )
    ema_decay = Float(
        0.999,
        low=0.0,
        high=0.999999,
        label="EMA decay",
        group="Regularisation",
        help="Fraction of the average kept per step, 0 to 1. Default 0.999",
        matlab="none",
        torch="decay of get_ema_multi_avg_fn",
        visible_when=_averages("ema"),
    )
    ema_warmup = Bool(
        True,
        label="EMA warm-up",
        group="Regularisation",
        help="Lower decay in the first steps. Default on. After n steps it is at most (1 + n) / (10 + n), which soon "
        "removes the initial weights from the average",
        matlab="none",
        torch="none",
        visible_when=_averages("ema"),
    )
    swa_start_epoch = Int(
        lambda options: 1 + 3 * options.max_epochs // 4,
        low=1,
        high=1_000_000,
        label="SWA start epoch",
        group="Regularisation",
        help="First epoch whose final weights are averaged. Default after three quarters of all epochs",
        matlab="none",
        torch="left to the loop",
        visible_when=_averages("swa"),
    )
    swa_learn_rate = Float(
        lambda options: options.initial_learn_rate / 2,
        above=0.0,
        high=1000.0,
        label="SWA learn rate",
        group="Regularisation",
        help="Constant learn rate while weights are averaged. Default half the initial one",
        matlab="none",
        torch="swa_lr of SWALR",
        visible_when=_averages("swa"),
    )
    swa_anneal_epochs = Int(
        10,
        low=0,
        high=1_000_000,
        unit="epochs",
        label="SWA anneal epochs",
        group="Regularisation",
        help="Epochs from the schedule's rate to the SWA rate. Default 10. The rate moves along a cosine",
        matlab="none",
        torch="anneal_epochs of SWALR",
        visible_when=_averages("swa"),
    )
    lookahead_interval = Int(
        5,
        low=1,
        high=1_000_000,
        unit="steps",
        group="Regularisation",
        help="Steps between two updates of the slow weights. Default 5",
        matlab="none",
        torch="none",
        visible_when=_averages("lookahead"),
    )
    lookahead_decay = Float(
        0.5,
        low=0.0,
        high=0.999999,
        group="Regularisation",
        help="Fraction of the slow weights kept at each update, 0 to 1. Default 0.5. The rest are the weights of "
        "the step, which then become the slow ones",
        matlab="none",
        torch="none",
        visible_when=_averages("lookahead"),
    )
    lookahead_power = Float(
        0.0,
        low=0.0,
        high=100.0,
        group="Regularisation",
        help="Exponent with which the decay grows over the run. Default 0: it is constant. The decay is multiplied by "
        "the finished fraction of the run to this power; 3 in Jordan, 2024",
        matlab="none",
        torch="none",
        visible_when=_averages("lookahead"),
    )
    batch_normalization_statistics = Choice(
        "auto",
        label="Batch normalisation statistics",
        options=("auto", "moving", "population"),
        notes={
            "auto": "moving, as in torch",
            "moving": "Running mean and variance, updated at each step",
            "population": "Mean and variance over all training samples; from an additional pass after training",
        },
        group="Regularisation",
        help="Statistics that batch normalisation uses after training. Default auto. For swa they are always "
        "computed by a pass over the samples",
        matlab="BatchNormalizationStatistics, whose auto may choose population",
        torch="update_bn",
    )
    reset_input_normalization = Bool(
        False,
        group="Regularisation",
        help="Measures input statistics despite weights. Default off: those of the weights are "
        "kept, as the network was trained with them. Weights without such statistics keep none: they are measured",
        matlab="ResetInputNormalization (true)",
        torch="none",
    )

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = super().problems()
        if self.weight_averaging == "none":
            return errors
        solver = getattr(self, "solver", "")
        if solver in ("lbfgs", "lm"):
            message = f"the solver {solver} looks for the lowest loss by itself. Choose none, or another solver."
            errors.append(FieldError("weight_averaging", message))
        if self.weight_averaging == "swa":
            errors += self._swa_problems()
        return errors

    def _swa_problems(self) -> list[FieldError]:
        epochs = getattr(self, "max_epochs", self.swa_start_epoch)
        if self.swa_start_epoch > epochs:
            message = f"nothing would be averaged: the run has {plural(epochs, 'epoch')}. Use at most {epochs:,}."
            return [FieldError("swa_start_epoch", message)]
        if "plateau" in getattr(self, "schedules", ()):
            message = "swa has a separate learn rate, which validations do not lower. Choose another schedule."
            return [FieldError("weight_averaging", message)]
        return []
