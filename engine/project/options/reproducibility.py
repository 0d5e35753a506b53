"""What makes a run repeatable."""

from engine.fields import Bool, Int, Record


class ReproducibilityOptions(Record):
    """What makes a run repeatable."""

    seed = Int(
        0,
        low=0,
        group="Reproducibility",
        help="Initial weights, order of samples and dropout follow from it; default 0. torch: manual_seed; MATLAB: rng",
    )
    deterministic = Bool(
        False,
        group="Reproducibility",
        help="Only algorithms that repeat bit for bit, at a cost on GPUs, and all threads of a worker always; "
        "default off. torch and MATLAB have a switch for it too",
    )
