"""What one worker of a run is started with."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class WorkerSpec:
    """What a worker is told: the run, who it is, where the workers meet, its pipes, its parent."""

    folder: str
    rank: int
    meeting: str
    reports: int
    requests: int
    parent: int
    strategy: str = ""
    checkpoint: int = -1
    """The run goes on from the checkpoint after so many iterations; negative: it begins."""
    rate_factor: float = 1.0
    """What the learn rates of the checkpoint are multiplied by."""
    asked: str = ""
    """Requests, one a line, that are obeyed before the first step after a checkpoint."""

    def write(self) -> str:
        """As text, for the command line of a fresh interpreter."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> "WorkerSpec":
        """From the text of `write`."""
        return cls(**json.loads(text))
