"""Makes the edit of a cure. Light: the window does it in its own process."""

from dataclasses import replace

from netwright.engine.doctor.operations.doctor import Cure
from netwright.engine.network import edits
from netwright.engine.project.project import Project, set_option


def with_cure(project: Project, cure: Cure) -> Project:
    """Return the project with the settings and the values of layers of a cure. Raises `UserError`, `FieldErrors`."""
    network = project.network
    for id, values in cure.layers.items():
        network = edits.set_fields(network, id, values)
    project = replace(project, network=network)
    for setting in cure.settings:
        project = set_option(project, setting)
    return project
