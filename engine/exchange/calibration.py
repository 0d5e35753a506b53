"""The stored temperature of a network in the files that are exported: its scores are divided before the softmax.

Source: Guo, Pleiss, Sun, Weinberger: On Calibration of Modern Neural Networks, ICML 2017.
"""

from dataclasses import replace

from netwright.engine.layers.arithmetic import Scaling
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse, folded
from netwright.engine.network.network import Connection, Network, Port
from netwright.engine.project.bindings import wanted_of
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.preparation import Preparation

DIGITS = 9


def calibrated(
    network: Network, record: Preparation, facts: DatasetInfo
) -> tuple[Network, Preparation, tuple[str, ...]]:
    """Return the network whose scores are divided by the temperatures in the record, the record without those, and a
    note for each. A layer is put before the softmax or sigmoid of an output; where that is missing or lies in a block,
    the temperature stays in the record, which whoever applies the activation follows."""
    notes, targets = [], list(record.targets)
    for place, one in enumerate(wanted_of(network, analyse(network), facts, is_padded=False)):
        if place >= len(targets) or targets[place].temperature == 1.0 or not one.folds:
            continue
        value = targets[place].temperature
        ends = [id for id in folded(network, {one.port: one.folds}) if id in network.layers]
        if not ends:
            notes.append(
                f"The scores of '{one.name}' are not divided by the stored temperature {value:.4g}: no {one.folds} of "
                "its own follows them. The preparation has it."
            )
            continue
        network = _with_scale(network, ends[0], 1.0 / value)
        targets[place] = replace(targets[place], temperature=1.0)
        notes.append(
            f"The probabilities of '{one.name}' are calibrated: its scores are divided by the stored temperature "
            f"{value:.4g}. --temperature outside leaves them as trained."
        )
    return network, replace(record, targets=tuple(targets)), tuple(notes)


def _with_scale(network: Network, end: str, scale: float) -> Network:
    """Return the network with a factor before the layer `end`, which has one input."""
    layer = network.layers[end]
    (port,) = layer.type.input_ports()
    source, target = network.incoming[end][port], Port(end, port)
    name = f"{layer.name}_temperature"
    name = name if name not in network.by_name else ""
    network, factor = edits.add_layer(network, Scaling(scale=float(f"{scale:.{DIGITS}g}")), name)
    network = edits.disconnect(network, [Connection(source, target)])
    network = edits.connect(network, source, Port(factor.id, "in"))
    return edits.connect(network, Port(factor.id, "out"), target)
