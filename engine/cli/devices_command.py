"""`devices [--test]`: what can train here, whether it works, and how fast it is."""

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from netwright.engine.cli.answers import add_json, print_json, table
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.printing import is_terminal, say
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.placement.inventory import DeviceInventory

_SIGNS = {"ok": "ok", "failed": "FAILED", "none": "-"}


def register(commands: Commands) -> None:
    """Add the command."""
    text = "List the devices of this machine, and each execution environment with the reason if it cannot run here."
    command = commands.add_parser("devices", description=text)
    test = (
        "also check driver, torch, each device and how workers meet, and measure matrix products, convolutions and "
        "copies in each precision and sums over two workers"
    )
    command.add_argument("--test", action="store_true", help=test)
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Probe in processes of their own, and print."""
    from netwright.engine.hardware.devices import lines_of, probe
    from netwright.engine.placement.choose import available
    from netwright.engine.placement.cluster_part import with_cluster
    from netwright.engine.project.environment import EnvironmentOptions

    inventory = probe()
    try:
        environments = available(with_cluster(inventory, EnvironmentOptions()))
    except UserError as refused:
        environments = {**available(inventory), "parallel": str(refused)}
    reports: Iterator[dict[str, Any]] = lines_of("netwright.engine.launch.machine_test") if arguments.test else iter(())
    if arguments.json:
        lists: dict[str, list[Any]] = {"device": [], "check": [], "figure": []}
        for report in reports:
            for kind in lists.keys() & report.keys():
                lists[kind].append(report[kind])
        named = {"tested": lists["device"], "checks": lists["check"], "figures": lists["figure"]}
        print_json(arguments, {**inventory.write(), "environments": environments, **(named if arguments.test else {})})
        return EXIT_DONE
    can = [(name, "yes" if why is None else f"no: {why}") for name, why in environments.items()]
    if is_terminal(sys.stdout):
        print_table([("device", "model", "memory", "state"), *_device_rows(inventory)], right=(2,))
        say(f"torch {inventory.torch_version}, workers joined by {', '.join(inventory.backends) or 'nothing'}", "")
        print_table([("environment", "can run here"), *can])
    else:
        _print_inventory(inventory)
        say("")
        say(*table(can))
    if arguments.test:
        say("")
    for report in reports:
        if words := _words(report):
            say(words, flush=True)
    return EXIT_DONE


def _device_rows(inventory: DeviceInventory) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row per device: name, model, memory, and whether it can be used."""
    memory = f"{inventory.memory_bytes / 2**30:.1f} GiB"
    yield "cpu", f"{inventory.cpu_model}, {inventory.num_cores} cores", memory, "ok"
    for device in inventory.devices:
        state = f"refused: {device.refusal}" if device.refusal else "ok"
        yield device.name, device.model, f"{device.memory_bytes / 2**30:.1f} GiB", state
    if not inventory.devices:
        yield "gpu", "none", "", inventory.no_devices_because


def _print_inventory(inventory: DeviceInventory) -> None:
    say(f"cpu     {inventory.cpu_model}, {inventory.num_cores} cores, {inventory.memory_bytes / 2**30:.1f} GiB")
    for device in inventory.devices:
        refused = f"  (cannot be used: {device.refusal})" if device.refusal else ""
        say(f"{device.name:7s} {device.model}, {device.memory_bytes / 2**30:.1f} GiB{refused}")
    if not inventory.devices:
        say(f"gpu     none: {inventory.no_devices_because}")
    say(f"torch   {inventory.torch_version}, workers joined by {', '.join(inventory.backends) or 'nothing'}")


def _words(report: dict[str, Any]) -> str:
    """One line of an examination."""
    if (check := report.get("check")) is not None:
        where = f" of {check['device']}" if check["device"] else ""
        return f"{_SIGNS[check['state']]:8s}{check['layer']}{where}: {check['words']}"
    if (figure := report.get("figure")) is not None:
        value = figure["refusal"] or f"{figure['value']:,.3g} {figure['unit']}"
        return f"{figure['device']:8s}{figure['work']}, {figure['kind']}: {value}"
    device = report.get("device", {})
    facts = [f"driver {device['driver']}"] if device.get("driver") else []
    facts += [f"capability {device['capability']}"] if device.get("capability") else []
    facts += [f"{device['utilisation']} % busy"] if device.get("utilisation") is not None else []
    facts += [f"{device['temperature']} °C"] if device.get("temperature") is not None else []
    return f"{device['name']:8s}{', '.join(facts)}" if facts else ""
