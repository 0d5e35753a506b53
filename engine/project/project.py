"""The project as a value: a network, where its layers stand, and the options of training it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.errors import FieldError, UserError, did_you_mean
from engine.fields import Record, all_problems, set_by_text
from engine.network.layout import Layout
from engine.network.network import Network
from engine.project.checks.strategies import strategy_problems
from engine.project.data import DataOptions
from engine.project.environment import EnvironmentOptions
from engine.project.migrations import FORMAT
from engine.project.run import RunOptions
from engine.project.training import TrainingOptions

SECTIONS: Mapping[str, type[Record]] = {
    "data": DataOptions,
    "training": TrainingOptions,
    "environment": EnvironmentOptions,
    "run": RunOptions,
}


@dataclass(frozen=True)
class Project:
    """Network, where its layers stand, data, training options, environment, how runs are kept alive.

    What a newer version wrote and this one does not know is kept and written back: `unknown` sections, keys
    `unknown_in_network`, and `unknown_in_layers` by the layer's id.
    """

    network: Network = field(default_factory=Network.empty)
    layout: Layout = field(default_factory=Layout)
    data: DataOptions = field(default_factory=DataOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)
    environment: EnvironmentOptions = field(default_factory=EnvironmentOptions)
    run: RunOptions = field(default_factory=RunOptions)
    version: tuple[int, int] = FORMAT
    unknown: Mapping[str, Any] = field(default_factory=dict, hash=False)
    unknown_in_network: Mapping[str, Any] = field(default_factory=dict, hash=False)
    unknown_in_layers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    def section(self, name: str) -> Record:
        """The options of one section, by its key in the file."""
        record: Record = getattr(self, name)
        return record

    def with_section(self, name: str, record: Record) -> "Project":
        """The project with other options in one section."""
        changes: dict[str, Any] = {name: record}
        return replace(self, **changes)

    def option_problems(self) -> list[FieldError]:
        """What does not go together within the options."""
        found = all_problems((name, self.section(name)) for name in SECTIONS)
        found += strategy_problems(self.environment, self.training)
        return found


def set_option(project: Project, assignment: str) -> Project:
    """The project with one `--set section.name=value` applied. Raises `UserError` that names what is wrong."""
    path, equals, text = assignment.partition("=")
    section, dot, name = path.strip().partition(".")
    if not equals or not dot:
        raise UserError(f"--set {assignment}: expected section.option=value, such as training.max_epochs=5.")
    if section not in SECTIONS:
        hint = did_you_mean(section, SECTIONS)
        raise UserError(
            f"--set {assignment}: there is no section '{section}'.{hint} Sections are: {', '.join(SECTIONS)}."
        )
    return project.with_section(section, set_by_text(project.section(section), name, text.strip(), section))
