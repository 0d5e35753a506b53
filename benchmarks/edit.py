"""How long an edit takes to show: analysis and check of 1,000 layers, and reading and writing the file.

`python benchmarks/edit.py [LAYERS]` prints milliseconds, the median of twenty. The budget for an edit is 16 ms.
"""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from netwright.engine.network import edits
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.network import Connection, Network, Port
from netwright.engine.project.check import check
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project

REPEATS = 20


def chain(count: int) -> Network:
    """An image input and then convolutions and activations in turn."""
    network, last = edits.add_layer(Network.empty(), layer_type("image_input")())
    layers, links = dict(network.layers), []
    for index in range(1, count):
        type = layer_type("conv2d")(filters=8) if index % 2 else layer_type("relu")()
        network, layer = edits.add_layer(Network.empty(), type, f"layer_{index}", id=f"id{index}")
        layers[layer.id] = layer
        links.append((last, layer))
        last = layer
    connections = (Connection(Port(a.id, "out"), Port(b.id, "in")) for a, b in links)
    return Network(layers, tuple(connections))


def median_ms(act: Callable[[int], object]) -> float:
    """The median time of an act that is told the number of its repetition."""
    times = []
    for repeat in range(REPEATS):
        began = time.perf_counter()
        act(repeat)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def main(count: int) -> None:
    """Measure and print."""
    project = Project(chain(count))
    began = time.perf_counter()
    check(project)
    print(f"{count:,} layers")
    print(f"first check              {1000 * (time.perf_counter() - began):8.2f} ms")
    ids = list(project.network.layers)

    def edit_at(place: int) -> Callable[[int], object]:
        def act(repeat: int) -> object:
            network = edits.set_fields(project.network, ids[place], {"filters": 9 + repeat})
            return check(replace(project, network=network))

        return act

    print(f"edit and check, last     {median_ms(edit_at(len(ids) - 1 - len(ids) % 2)):8.2f} ms")
    print(f"edit and check, middle   {median_ms(edit_at(len(ids) // 2 | 1)):8.2f} ms")
    print(f"edit and check, first    {median_ms(edit_at(1)):8.2f} ms")
    renamed = median_ms(lambda r: check(replace(project, network=edits.rename(project.network, ids[1], f"name_{r}"))))
    print(f"rename and check         {renamed:8.2f} ms")
    text = dumps(project)
    print(f"write ({len(text) / 1024:,.0f} KiB)         {median_ms(lambda _: dumps(project)):8.2f} ms")
    print(f"read                     {median_ms(lambda _: loads(text)):8.2f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1000)
