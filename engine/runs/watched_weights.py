"""How weights, gradients and activations of each layer are distributed, at some steps: `weights.jsonl` of a run folder.

    {"iteration": 40, "epoch": 4, "layers": {"conv_1": {"weights": [-0.4, ..., 0.5], "gradients": [...]}}}

A line per step. A distribution is its `POINTS` quantiles, evenly spaced from the least value to the largest: every
step between two of them holds as many values, so that medians are exact and no range has to be chosen beforehand.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from operator import le
from pathlib import Path
from typing import Any

from netwright.engine.core.files import read_file
from netwright.engine.runs.kept_steps import LIMIT_BYTES, has_place

FILE = "weights.jsonl"
POINTS = 41
"""Quantiles of a distribution: of 0, 2.5, 5 ... 100 % of the values."""
KINDS = ("weights", "gradients", "activations")
LARGEST = 3.5e38
"""No number of single precision is larger."""

Distribution = list[float]


@dataclass(frozen=True)
class WeightStep:
    """The distributions at a step, by the name of the layer, then by kind."""

    iteration: int
    epoch: int
    layers: Mapping[str, Mapping[str, Distribution]]

    @property
    def line(self) -> bytes:
        """The line of the file."""
        return json.dumps(vars(self), separators=(",", ":")).encode() + b"\n"


def read_weights(run: Path) -> list[WeightStep]:
    """Return the distributions that a run has kept, in order; none where the file is missing or too large. Damaged
    lines are skipped, and a line that is being written. Raises `OSError`."""
    try:
        lines = read_file(run / FILE, LIMIT_BYTES).split(b"\n")
    except FileNotFoundError:
        return []
    steps: list[WeightStep] = []
    for line in lines[:-1]:
        step = _step(line)
        if step is not None and (not steps or step.iteration > steps[-1].iteration):
            steps.append(step)
    return steps


def _step(line: bytes) -> WeightStep | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not has_place(entry) or not isinstance(entry.get("layers"), dict):
        return None
    layers: dict[str, dict[str, Distribution]] = {}
    for name, kinds in entry["layers"].items():
        if isinstance(kinds, dict):
            layers[_shown(name)] = {kind: kinds[kind] for kind in KINDS if is_distribution(kinds.get(kind))}
    return WeightStep(entry["iteration"], entry["epoch"], layers)


def _shown(name: str) -> str:
    """Return a name without lone surrogates, which cannot be written or shown."""
    return name.encode("utf-8", "replace").decode()


def is_distribution(value: Any) -> bool:
    """Return whether these are quantiles: finite numbers in order."""
    return (
        isinstance(value, list)
        and len(value) == POINTS
        and set(map(type, value)) <= {float, int}
        and value[0] >= -LARGEST
        and value[-1] <= LARGEST
        and all(map(le, value, value[1:]))  # of NaN nothing is less or equal
    )
