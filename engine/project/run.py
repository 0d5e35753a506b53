"""How a run is kept alive: the section `run` of the project file."""

from engine.fields import Int, Record


class RunOptions(Record):
    """How a run is kept alive."""

    max_restarts = Int(
        3,
        low=0,
        high=1000,
        unit="restarts",
        group="Run",
        help="So often a run whose worker died or hangs goes on by itself from its last checkpoint; default 3. One "
        "that ran out of memory does not: it would again",
    )
