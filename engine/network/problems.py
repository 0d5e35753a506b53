"""A problem of a network or a project: severity, layer, field or port, message, and the edit that fixes it."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Fix:
    """An edit that removes a problem: the text of the button, a function from a project to a new one, and what the
    edit affects where the text of the button is too short to say so."""

    label: str
    edit: Callable[[Any], Any]
    detail: str = ""


@dataclass(frozen=True)
class Problem:
    """A problem: `layer` is the layer's id (empty for the whole project), `name` its name, `field` a field or port.

    For a layer inside a block both are paths: `stage/conv`.
    """

    severity: Severity
    layer: str
    name: str
    field: str
    message: str
    fix: Fix | None = dataclasses.field(default=None, compare=False)
    needs_trust: bool = dataclasses.field(default=False, compare=False)
    """Whether it is there because the project's own code may not run."""

    @property
    def path(self) -> tuple[str, ...]:
        """Return the ids of the blocks that lead to the layer, and its own."""
        return tuple(self.layer.split("/"))

    def with_message(self, severity: Severity, field: str, message: str) -> "Problem":
        """Return a problem at the same layer."""
        return dataclasses.replace(self, severity=severity, field=field, message=message)

    def lifted(self, id: str, name: str) -> "Problem":
        """Return the problem with its paths as seen from the network around the block with this id and name."""
        if not self.layer:
            return dataclasses.replace(self, layer=id, name=name)
        return dataclasses.replace(self, layer=f"{id}/{self.layer}", name=f"{name}/{self.name}")

    def write(self) -> dict[str, str]:
        """Return the problem as `check --json` prints it."""
        return {"severity": self.severity, "layer": self.name, "field": self.field, "message": self.message}
