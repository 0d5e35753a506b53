"""Options of validation, and of early stopping."""

import math

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Choice, Float, Int
from netwright.engine.core.records import Record
from netwright.engine.project.options.metric_options import AT_MOST_ONE, METRICS, in_a_line, offered


class ValidationOptions(Record):
    """Options of validation: its times, and its effects."""

    validation_frequency = Int(
        50,
        low=1,
        group="Validation",
        help="Iterations, or epochs, between validations. Default 50. One more precedes the first iteration and "
        "one follows the last",
        matlab="ValidationFrequency",
        torch="none",
    )
    validation_frequency_unit = Choice(
        "iterations",
        options=("iterations", "epochs"),
        label="Validation unit",
        group="Validation",
        help="Unit of the validation frequency. Default iterations",
        matlab="iterations",
    )
    validation_patience = Int(
        0,
        low=0,
        zero="never",
        unit="validations",
        group="Validation",
        help="Validations without progress that end the run. Default never. They are counted in a row",
        matlab="ValidationPatience (Inf for never)",
        torch="none",
    )
    objective_metric = Choice(
        "loss",
        options=("loss", "metric", *METRICS),
        notes={
            "loss": "Validation loss, lower is better",
            "metric": "Main metric (the first of the list) on the validation split",
            **{name: f"{kind.title} on the validation split" for name, kind in METRICS.items()},
        },
        offered=offered("loss", "metric"),
        group="Validation",
        help="Value that decides patience and the best network. Default loss",
        matlab="ObjectiveMetricName",
    )
    output_network = Choice(
        "auto",
        options=("auto", "best-validation", "last-iteration"),
        notes={"auto": "That of the best validation if there is a validation split"},
        group="Validation",
        help="Network kept as the result. Default auto",
        matlab="OutputNetwork",
        torch="the last",
    )


class EndingOptions(Record):
    """Options that end a run before its last epoch, besides patience."""

    max_time = Float(
        math.inf,
        above=0.0,
        high=1e9,
        infinite=True,
        label="Time limit",
        group="Stopping",
        help="Time limit. Default Inf: none. The run ends at the first iteration that exceeds it, validates once "
        "more and keeps the network",
        matlab="none",
        torch="none",
    )
    max_time_unit = Choice(
        "minutes",
        options=("seconds", "minutes", "hours"),
        label="Time limit unit",
        group="Stopping",
        help="Unit of the time limit. Default minutes",
        visible_when=lambda options: math.isfinite(options.max_time),
    )
    target_metric = Choice(
        "none",
        options=("none", "loss", "metric", *METRICS),
        notes={
            "none": "No target",
            "loss": "Validation loss, at most the target value",
            "metric": "Main metric of the validation split; at least the target value, or at most if lower is better",
            **{name: f"{kind.title} on the validation split" for name, kind in METRICS.items()},
        },
        offered=offered("none", "loss", "metric"),
        label="Target",
        group="Stopping",
        help="Metric that ends the run at its target value. Default none. It is checked at each validation after the "
        "first iteration",
        matlab="an OutputFcn that returns true",
    )
    target_value = Float(
        0.0,
        group="Stopping",
        help="Value of the target metric, such as 0.95. Default 0",
        visible_when=lambda options: options.target_metric != "none",
    )

    def problems(self) -> list[FieldError]:
        """Return the errors of these options, such as a target without a value."""
        errors = super().problems()
        if self.target_metric != "none" and self.target_value == 0:
            message = "enter what is good enough, such as 0.95 for an accuracy; nothing is measured to be exactly 0."
            errors.append(FieldError("target_value", message))
        elif self.target_metric in AT_MOST_ONE and self.target_value > 1:
            message = f"{in_a_line(self.target_metric)} is at most 1: enter 0.95 where you mean 95 %."
            errors.append(FieldError("target_value", message))
        return errors
