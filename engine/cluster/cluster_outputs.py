"""JSON of the commands about cluster profiles."""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict


class ClusterProfile(TypedDict):
    """A cluster profile."""

    name: str
    is_default: bool
    profile: Mapping[str, Any]
    """Values that differ from their defaults."""


class ProfileList(TypedDict):
    """The cluster profiles of the user."""

    path: str
    """File of the profiles."""
    profiles: list[ClusterProfile]
    local_ray: str | None
    """Address of a Ray that runs on this machine and that no profile names."""


class ExportedProfile(TypedDict):
    """A profile as a file."""

    path: str | None
    """Null for standard output."""
    text: str


class ImportedProfiles(TypedDict):
    """Profiles that were taken from a file."""

    profiles: list[str]


class Stage(TypedDict):
    """A stage of a validation."""

    stage: str
    title: str
    state: Literal["passed", "failed", "skipped"]
    detail: str
    """What was found, or why it failed."""
    hint: str
    """The way out; empty where none is needed or known."""
    seconds: float


class ValidatedStage(TypedDict):
    """A stage that has ended."""

    result: Stage


class Validation(TypedDict):
    """Whether a cluster can be used."""

    profile: str
    passed: bool
    stages: list[Stage]


OUTPUTS: Mapping[str, tuple[type, ...]] = {
    "cluster list": (ProfileList,),
    "cluster add": (ClusterProfile,),
    "cluster edit": (ClusterProfile,),
    "cluster default": (ProfileList,),
    "cluster validate": (ValidatedStage, Validation),
    "cluster install": (ClusterProfile,),
    "cluster remove": (ProfileList,),
    "cluster import": (ImportedProfiles,),
    "cluster export": (ExportedProfile,),
}
"""What the commands about profiles print with `--json`."""
