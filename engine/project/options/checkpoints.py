"""What is kept to go on from when a run breaks off, and what becomes of a loss that is no number."""

from engine.fields import Choice, Float, Int, Record


class CheckpointOptions(Record):
    """What is kept to go on from when a run breaks off, and what becomes of a loss that is no number."""

    checkpoint_unit = Choice(
        "seconds",
        options=("seconds", "iterations", "epochs", "never"),
        notes={
            "seconds": "By time, and never for more than a hundredth of it",
            "iterations": "After so many iterations",
            "epochs": "At the end of every so many epochs, as in MATLAB by default",
            "never": "No checkpoint: a run that breaks off begins anew",
        },
        group="Checkpoints",
        help="What the checkpoint frequency counts; default seconds. MATLAB: CheckpointFrequencyUnit",
    )
    checkpoint_frequency = Int(
        60,
        low=1,
        high=100_000_000,
        group="Checkpoints",
        help="A checkpoint after so many of the unit, and one at the end; default 60. Keeps the complete state of "
        "training, to go on to the bit. torch has none",
        visible_when=lambda options: options.checkpoint_unit != "never",
    )
    checkpoints_kept = Int(
        2,
        low=1,
        high=10_000,
        unit="checkpoints",
        group="Checkpoints",
        help="Older ones are removed; default 2, so that one is there if the last is damaged. MATLAB keeps all",
        visible_when=lambda options: options.checkpoint_unit != "never",
    )

    non_finite_loss = Choice(
        "stop",
        options=("stop", "skip", "go-back"),
        notes={
            "stop": "The run ends and says where",
            "skip": "The step is left out; the run ends after a hundred in a row. Waits for the device at every step",
            "go-back": "To the last checkpoint, with a lower learn rate; run.max_restarts times at most",
        },
        label="Loss that is no number",
        group="Checkpoints",
        help="What happens when the loss or a gradient is NaN or infinite; default stop. Neither MATLAB nor torch asks",
        visible_when=lambda options: options.solver != "lm",
    )
    go_back_rate_factor = Float(
        0.5,
        above=0.0,
        high=1.0,
        group="Checkpoints",
        help="What the learn rate is multiplied by when the run goes back; default 0.5",
        visible_when=lambda options: options.solver != "lm" and options.non_finite_loss == "go-back",
    )
