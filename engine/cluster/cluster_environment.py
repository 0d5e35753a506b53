"""The cluster that a project means, as placement knows it."""

from dataclasses import replace

from netwright.engine.cluster.profile_file import find_profile, load_profiles
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.placement.inventory import ClusterSize, DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions


def profile_of(environment: EnvironmentOptions) -> ClusterProfile:
    """Return the profile that the options name, or the default one. Raises `UserError`."""
    return find_profile(environment.cluster)


def with_cluster(inventory: DeviceInventory, environment: EnvironmentOptions) -> DeviceInventory:
    """Return the inventory with the cluster of the options, or as it is where there is no profile at all.

    Raises `UserError` for a profile that is missing among others, or not chosen.
    """
    if not load_profiles():
        return inventory
    profile = profile_of(environment)
    size = ClusterSize(profile.name, profile.kind, profile.workers, profile.cores_per_worker, profile.gpus_per_worker)
    return replace(inventory, cluster=size)
