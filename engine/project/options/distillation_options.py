"""Learning from the answers of another run."""

from netwright.engine.core.fields import FilePath, Float
from netwright.engine.core.records import Record


class DistillationOptions(Record):
    """A trained network whose answers are learned beside the targets: knowledge distillation."""

    distil_from = FilePath(
        "",
        label="Teacher run",
        folder_when=lambda record: True,
        group="Distillation",
        help="Folder of a run whose answers are learned, too. Default none. Inputs and targets of the "
        "teacher must be those of this project. Relative to the project",
        matlab="a custom training loop",
        torch="a custom training loop",
    )
    distil_temperature = Float(
        4.0,
        low=0.1,
        high=1000.0,
        label="Temperature",
        group="Distillation",
        help="Divides the logits of both networks before their probabilities are compared. Default 4. Higher ones "
        "show more of what the teacher holds for similar. Without effect on numbers",
        torch="kl_div(log_softmax(x / T), softmax(t / T)) * T**2",
        visible_when=lambda options: bool(options.distil_from),
    )
    distil_weight = Float(
        0.5,
        low=0.0,
        high=1.0,
        label="Weight of the teacher",
        group="Distillation",
        help="Share of the teacher's answers in the loss, 0 to 1; the rest is the loss of the targets. Default 0.5",
        visible_when=lambda options: bool(options.distil_from),
    )
