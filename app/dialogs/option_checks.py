"""Checks of training options against data, network and user code, beyond what the options check themselves."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from netwright.designer.engine_messages import message_text
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.problems import Problem
from netwright.engine.project import user_code
from netwright.engine.project.check import check
from netwright.engine.project.check_outputs import loss_problems
from netwright.engine.project.check_strategies import strategy_problems
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions

SECTION, ENVIRONMENT = "training.", "environment."


class OptionChecker:
    """Checks options for one project, whose network and data stay as they are. All texts are those of `check`."""

    def __init__(self, project: Project, facts: DatasetInfo | None, base: Path | None) -> None:
        """`base` is the folder that the project's files lie in."""
        self._project, self._facts, self._base = project, facts, base

    def problems(self, options: TrainingOptions) -> dict[str, str]:
        """Return the errors that prevent a run, by field."""
        return {**self._beside_data(options), **self._in_code(options)}

    def warnings(self, project: Project) -> dict[str, str]:
        """Return the warnings about valid options, by field, as `train` prints them before it begins."""
        return _by_name(check(project, self._facts).option_warnings)

    def of_environment(self, project: Project) -> dict[str, str]:
        """Return conflicts of the environment with the other options, by field."""
        problems = reversed([*strategy_problems(project.environment, project.training)])
        return {problem.path.removeprefix(ENVIRONMENT): message_text(problem.message) for problem in problems}

    @cached_property
    def _analysis(self) -> Analysis:
        return analyse(self._project.network)

    def _beside_data(self, options: TrainingOptions) -> dict[str, str]:
        """Return conflicts with the data. Of the network only the outputs are checked: it has its own list of
        problems."""
        if self._facts is None:
            return {}
        candidate = Project(data=self._project.data, training=options)
        meant = replace(self._project, training=options)
        problems = (*check(candidate, self._facts).problems, *loss_problems(meant, self._analysis, self._facts))
        errors = (p for p in problems if p.severity == "error" and p.field.startswith(SECTION))
        # Code is looked at when saved. What was received stands in the field right above the message.
        messages = _by_name(p for p in errors if p.field.removeprefix(SECTION) not in user_code.FIELDS)
        return {
            name: re.sub(r"(?:, received|，收到) [\d,]+([.。])$", r"\1", message) for name, message in messages.items()
        }

    def _in_code(self, options: TrainingOptions) -> dict[str, str]:
        """Return the problems in the user's files. Nothing of them is run."""
        if self._base is None:
            return {}
        problems = user_code.problems(options, user_code.look_in(self._base))
        return _by_name(p for p in problems if p.severity == "error")


def _by_name(problems: Iterable[Problem]) -> dict[str, str]:
    return {problem.field.removeprefix(SECTION): message_text(problem.message) for problem in problems}
