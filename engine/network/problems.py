"""What is wrong with a network or a project, or worth a note: which layer, which field or port, in words."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Fix:
    """An edit that removes a problem: what the button says, and a function from a project to a new one."""

    label: str
    edit: Callable[[Any], Any]


@dataclass(frozen=True)
class Problem:
    """`layer` is the layer's id (empty for the whole project), `name` its name, `field` a field or port."""

    severity: Severity
    layer: str
    name: str
    field: str
    message: str
    fix: Fix | None = dataclasses.field(default=None, compare=False)

    def write(self) -> dict[str, str]:
        """The problem as `check --json` prints it."""
        return {"severity": self.severity, "layer": self.name, "field": self.field, "message": self.message}
