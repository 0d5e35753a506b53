"""Functions of the part for clusters, found by its manifest, and its absence in words."""

from dataclasses import replace
from typing import Any

from netwright.engine.core.errors import UnavailableError
from netwright.engine.core.part_registry import entry, has_entry
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions

ABSENT = "this installation has no clusters part"


def has_clusters() -> bool:
    """Return whether the part for clusters is installed."""
    return has_entry("functions", "cluster_size")


def cluster_function(name: str) -> Any:
    """Return a function of the part for clusters. Raises `UnavailableError` where that is not installed."""
    if (function := entry("functions", name)) is None:
        raise UnavailableError(
            f"{ABSENT[:1].upper()}{ABSENT[1:]}, which the execution environment parallel and runs on clusters need.",
            hint="Choose another execution environment, or install Netwright with all its parts.",
        )
    return function


def with_cluster(inventory: DeviceInventory, environment: EnvironmentOptions) -> DeviceInventory:
    """Return the inventory with the cluster of the options, or as it is where there is no profile at all, or no part
    for clusters.

    Raises `UserError` for a profile that is missing among others, or not chosen.
    """
    size = cluster_function("cluster_size")(environment) if has_clusters() else None
    return inventory if size is None else replace(inventory, cluster=size)
