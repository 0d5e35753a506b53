"""What the commands about a trained network print with `--json`."""

from typing import TypedDict


class Reported(TypedDict):
    """A report that was written."""

    path: str
    run_dir: str
    bytes: int
    split: str
    """The split that was evaluated; empty for other data, and without an evaluation."""
    has_evaluation: bool
    missing: str
    """Why the report has no evaluation; empty where it has one, or none was asked for."""
