"""`devices [--test]`: what can train here, and how fast it is."""

import argparse

from engine.commands.common import Commands, print_json, table
from engine.errors import EXIT_DONE


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Show what can train on this machine, each environment with the reason if it cannot run here."
    command = commands.add_parser("devices", help="what can train here", description=text)
    command.add_argument("--test", action="store_true", help="also measure matrix products and copies")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Probe in processes of their own, and print."""
    from engine.environments.choose import available
    from engine.environments.devices import probe

    inventory = probe()
    environments = available(inventory)
    speeds = _speeds(["cpu", *(device.name for device in inventory.usable)]) if arguments.test else {}
    if arguments.json:
        print_json({**inventory.write(), "environments": environments, "speeds": speeds})
        return EXIT_DONE
    print(f"cpu     {inventory.cpu_model}, {inventory.num_cores} cores, {inventory.memory_bytes / 2**30:.1f} GiB")
    for device in inventory.devices:
        refused = f"  (cannot be used: {device.refusal})" if device.refusal else ""
        print(f"{device.name:7s} {device.model}, {device.memory_bytes / 2**30:.1f} GiB{refused}")
    if not inventory.devices:
        print(f"gpu     none: {inventory.no_devices_because}")
    print(f"torch   {inventory.torch_version}, workers joined by {', '.join(inventory.backends) or 'nothing'}")
    print()
    print("\n".join(table([(name, "yes" if why is None else f"no: {why}") for name, why in environments.items()])))
    for name, speed in speeds.items():
        print(
            f"\n{name}: {speed['matmul_gflops']:,.0f} GFLOP/s in float32 matrix products, {speed['copy_gbs']:.1f} GB/s"
        )
    return EXIT_DONE


def _speeds(names: list[str]) -> dict[str, dict[str, float]]:
    from engine.environments.speed import measure_in_process

    return {name: measure_in_process(name) for name in names}
