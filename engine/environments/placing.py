"""From a project's options to the workers of a run on this machine: what is here, how fast it is, who gets what."""

from dataclasses import replace

from engine.environments.choose import Placement, resolve
from engine.environments.inventory import DeviceInventory
from engine.environments.machine.devices import probe
from engine.environments.machine.speed import measure_cores, measure_in_process
from engine.project.environment import SEVERAL, EnvironmentOptions
from engine.project.extent import batch_size
from engine.project.training import TrainingOptions


def place(
    environment: EnvironmentOptions, training: TrainingOptions, samples: int | None
) -> tuple[Placement, DeviceInventory]:
    """The placement for a training part of so many samples, and the machine it was made for. Measures devices where
    the shares are to follow their speeds. Raises as `resolve` does, and `RunError` for a device that does not answer.
    """
    inventory = probe()
    batch = batch_size(training, samples)
    placement = resolve(environment, inventory, batch, training.gradient_accumulation)
    if environment.worker_load == "measured" and environment.target in SEVERAL:
        inventory = with_speeds(inventory, placement)
        placement = resolve(environment, inventory, batch, training.gradient_accumulation)
    return placement, inventory


def with_speeds(inventory: DeviceInventory, placement: Placement) -> DeviceInventory:
    """The inventory with the speeds of what the placement uses."""
    if placement.resolved == "multi-cpu":
        return replace(inventory, core_speeds=measure_cores(inventory.cores or tuple(range(inventory.num_cores))))
    used = [worker.device for worker in placement.workers]
    speeds = {name: measure_in_process(name)["matmul_gflops"] for name in used}
    devices = (replace(device, speed=speeds.get(device.name, device.speed)) for device in inventory.devices)
    return replace(inventory, devices=tuple(devices))
