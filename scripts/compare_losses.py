"""Compare the losses of two runs, step by step; exit with 1 where they differ by more than 1e-5 of the value.

python scripts/compare_losses.py RUN RUN
"""

import sys
from pathlib import Path

from netwright.engine.runs.events import Points
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import read_all

TOLERANCE = 1e-5


def losses(path: Path) -> dict[tuple[str, int], float]:
    """Return the losses of a run by split and step."""
    found: dict[tuple[str, int], float] = {}
    for event in read_all(RunFolder(path)):
        if isinstance(event, Points):
            for place, value in enumerate(event.values["loss"]):
                found[event.split, event.first_step + place * event.steps_apart] = float(value)
    return found


def main(first: Path, second: Path) -> int:
    """Return 0 where both runs have the same steps and losses."""
    one, other = losses(first), losses(second)
    if not one or one.keys() != other.keys():
        print(f"{first} has losses of {len(one)} steps, {second} of {len(other)}.")
        return 1
    largest = max(abs(one[step] - other[step]) / max(1.0, abs(one[step])) for step in one)
    print(f"largest difference {largest:.1e} over {len(one)} losses")
    return int(largest > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
