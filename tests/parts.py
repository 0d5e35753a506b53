"""Which tests belong to a part: without its folders they are not collected, and all others pass (`make without`)."""

from pathlib import Path

from netwright.engine.core.part_registry import parts

ROOT = Path(__file__).parent
FILES: dict[str, tuple[str, ...]] = {
    "experiments": (
        "engine/experiments",
        "app/experiments",
        "system/test_experiments_end_to_end.py",
        "system/test_ray_experiments.py",
        "faults/test_experiments_faults.py",
        "journeys/test_sweep.py",
        "engine/test_api.py",
    ),
}
"""Files and folders of tests by the part that they need. A single test elsewhere has the mark `part`."""


def missing() -> set[str]:
    """Return the parts that have tests and no folder."""
    return {*FILES} - {part.name for part in parts()}


def is_left_out(path: Path) -> bool:
    """Return whether a file or folder of tests needs a part that is missing."""
    return any(path == ROOT / file for name in missing() for file in FILES[name])
