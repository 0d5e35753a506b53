"""When the network is judged, and what follows from it."""

from engine.fields import Choice, Int, Record
from engine.project.options.metrics import METRICS, offered


class ValidationOptions(Record):
    """When the network is judged, and what follows from it."""

    validation_frequency = Int(
        50,
        low=1,
        group="Validation",
        help="Iterations, or epochs, between validations; default 50, as in MATLAB; also before the first "
        "iteration and after the last. torch has none",
    )
    validation_frequency_unit = Choice(
        "iterations",
        options=("iterations", "epochs"),
        label="Validation unit",
        group="Validation",
        help="What the validation frequency counts; default iterations, as in MATLAB",
    )
    validation_patience = Int(
        0,
        low=0,
        unit="validations",
        group="Validation",
        help="Stop after so many in a row that are not better than the best; default 0: never (MATLAB: Inf). "
        "torch has none",
    )
    objective_metric = Choice(
        "loss",
        options=("loss", "metric", *METRICS),
        notes={
            "loss": "Validation loss, lower is better",
            "metric": "The main metric, the first of the list, on the validation part",
            **{name: f"{kind.title} on the validation part" for name, kind in METRICS.items()},
        },
        offered=offered("loss", "metric"),
        group="Validation",
        help="What patience and the best network go by; default loss. MATLAB: ObjectiveMetricName",
    )
    output_network = Choice(
        "auto",
        options=("auto", "best-validation", "last-iteration"),
        notes={"auto": "best-validation where there is a validation part"},
        group="Validation",
        help="Which network is kept as the result; default auto. MATLAB: OutputNetwork; torch keeps the last",
    )
