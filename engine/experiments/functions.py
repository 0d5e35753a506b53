"""The user's own functions of an experiment: one that chooses the values of the next trial, and one that is called with
the values of each trial before it begins.

Each call is made in a process forked for it, so that whatever the code does, the runner can still start trials.
"""

import math
import numbers
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.project import user_code
from netwright.engine.project.project import Project
from netwright.engine.runs.trial_log import Trial

PATIENCE_S = 600.0
"""The longest time of one call, in seconds."""


class ByFunction:
    """Trials that a function of the user's own chooses. It is called with all trials so far."""

    def __init__(self, project: Project, base: Path, frozen: Mapping[str, Path] | None = None) -> None:
        self._project, self._base, self._frozen = project, base, frozen
        self._trials: dict[int, Trial] = {}

    def values_of(self, number: int) -> dict[str, Any] | None:
        """Return the values of the trial of this number, from 1; None where the function returns none. Raises
        `UserError`."""
        trials = [trial.write() for _, trial in sorted(self._trials.items())]
        return call(self._project, self._base, "strategy_function", trials, self._frozen)

    def began(self, trial: Trial) -> None:
        """Take note of a trial that has begun, also in an earlier process."""
        self._trials[trial.number] = trial

    def ended(self, trial: Trial) -> None:
        """Take note of a trial that has ended."""
        self._trials[trial.number] = trial


def initialized(
    project: Project, base: Path, values: Mapping[str, Any], frozen: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """Return the values of a trial as the user's initialization function changes them; unchanged where the experiment
    has none. Raises `UserError`."""
    if not project.experiment.initialization_function:
        return dict(values)
    changed = call(project, base, "initialization_function", dict(values), frozen)
    return dict(values) if changed is None else changed


def call(
    project: Project, base: Path, option: str, argument: Any, frozen: Mapping[str, Path] | None = None
) -> dict[str, Any] | None:
    """Call the function that an option names in a forked process; return the values by path that it returns, or None.
    `frozen` are copies of files of code by their paths in the project.

    Raises `UserError` where its code is not trusted, fails, takes too long, or returns something else.
    """
    file, name = user_code.experiment_reference(project.experiment, option)

    def work() -> dict[str, Any]:
        from netwright.engine.lowering.run_user_code import find, in_words
        from netwright.engine.user_code.expression import code_target

        if base.is_dir():
            os.chdir(base)  # as runs have it; the code may be that of a copy elsewhere
        user_code.look(project, base, frozen)
        function = find(code_target(file, name))
        with in_words(file):
            returned = function(argument)
        if returned is None:
            return {}
        if not isinstance(returned, Mapping) or not all(isinstance(path, str) for path in returned):
            raise UserError(
                f"{file}: {name} returned {type(returned).__name__}. Expected a dict of values by path, such as "
                "{'training.momentum': 0.9}, or None."
            )
        return {"values": {path: _plain(value, f"{file}: {name}", path) for path, value in returned.items()}}

    try:
        answer = run_in_child_process(work, PATIENCE_S)
    except RuntimeError as error:  # it ended the process
        raise UserError(f"{file}: {name} went wrong: {error}.") from None
    return {path: _tuples(value) for path, value in answer["values"].items()} if "values" in answer else None


def _plain(value: Any, where: str, path: str) -> Any:
    """Return a value as JSON holds it; numbers may be those of numpy or torch."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, where, path) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (bool, numbers.Integral)):
        return value if isinstance(value, bool) else int(value)
    if isinstance(value, numbers.Real) and math.isfinite(value):
        return float(value)
    raise UserError(f"{where} returned {value!r:.60} for {path}. Expected a finite number, a text, or a list of them.")


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
