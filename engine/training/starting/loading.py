"""How a run loads its data: decided once, before its workers begin, so that all of them do the same."""

from pathlib import Path

from engine.data.facts import DataFacts
from engine.data.load import LoadedData, load
from engine.data.sources.places import free_memory
from engine.environments.choose import Placement
from engine.environments.inventory import DeviceInventory
from engine.project.loading import Loading, loading
from engine.project.project import Project

MOST_OF_FREE = 0.25
"""So much of the free memory may be filled with decoded pictures, however much is wished for."""


def loading_of(project: Project, facts: DataFacts, placement: Placement, inventory: DeviceInventory) -> Loading:
    """By the size of the data, the free memory of now, and the workers that each need a copy."""
    used = {worker.device for worker in placement.workers}
    devices = [device.memory_bytes for device in inventory.devices if device.name in used]
    return loading(
        project.data,
        project.training,
        facts,
        free_bytes=free_memory(),
        workers=len(placement.workers),
        device_bytes=min(devices, default=0),
    )


def loaded(project: Project, base: Path, how: Loading, workers: int) -> LoadedData:
    """The data of a run for one of so many workers. Raises `UserError`."""
    wanted = project.data.decoded_cache * 2**20 if project.data.is_visible("decoded_cache") else 0
    cache = min(wanted, int(MOST_OF_FREE * free_memory())) // workers
    return load(project.data, base, is_streamed=how.is_streamed, cache_bytes=cache)
