"""Turn the classes of exported PyTorch source into a network, and read the weights beside it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import path_part
from netwright.engine.exchange.importing.report import OperatorRow, ReadNetwork
from netwright.engine.exchange.importing.source import original
from netwright.engine.exchange.importing.source.parsing import parse
from netwright.engine.exchange.importing.source.walker import Built, Walker
from netwright.engine.exchange.importing.values import BATCH, Tensor
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.weights import State
from netwright.engine.lowering.weights_file import read_weights_file
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network


def read(path: Path, sizes: Mapping[str, int]) -> ReadNetwork:
    """Return the network of exported source, with the weights of the `.safetensors` file of the same name beside it.

    Raises `UserError` with the line of what is not understood.
    """
    if sizes:
        raise UserError("The sizes of exported source stand in its docstring; change them there.")
    source = parse(path)
    walker = Walker(source, "Network", source.modules_of("Network", (), {}, 1), None)
    built = walker.run()
    network = _reaching(built)
    dropped = [layer.name for id, layer in built.layers.items() if id not in network.layers]
    notes = [f"left out, because nothing uses it: {', '.join(dropped[:10])}."] if dropped else []
    names = _names(network, built.attributes)
    file = path.with_suffix(".safetensors")
    beside = read_weights_file(file)[0] if file.exists() else None
    state, more = _weights(file.name, network, beside, names)
    ends = [Tensor(value.port, value.type, (BATCH, *value.type.axes)) for value in built.outputs]
    keys = {own: theirs for theirs, own in names.items()}
    counts = Counter(layer.type.label for layer in network.layers.values())
    rows = tuple(
        OperatorRow(label, count, count, 0, 0, 0, ((label, count),)) for label, count in sorted(counts.items())
    )
    return ReadNetwork(
        network,
        "Netwright as PyTorch source",
        "the source is not run.",
        state=state,
        rows=rows,
        outputs=tuple(value.port for value in built.outputs),
        notes=(*notes, *more),
        compare=lambda module: original.compared(path, module, network, ends, beside or {}, keys),
    )


def _reaching(built: Built) -> Network:
    """Return the network without layers that no output needs."""
    network = built.network
    waiting, kept = [value.port.layer for value in built.outputs], set[str]()
    while waiting:
        id = waiting.pop()
        if id not in kept:
            kept.add(id)
            waiting += [port.layer for port in network.incoming[id].values()]
    layers = {id: layer for id, layer in network.layers.items() if id in kept or layer.type.is_input}
    return Network(layers, tuple(c for c in network.connections if c.target.layer in layers))


def _names(network: Network, attributes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the prefixes of our keys by those of the class in the file."""
    ours = prefixes(network, analyse(network))
    return {
        theirs: own for id, prefix in ours.items() for theirs, own in zip(attributes.get(id, ()), prefix, strict=False)
    }


def _weights(
    file: str, network: Network, beside: Mapping[str, torch.Tensor] | None, names: Mapping[str, str]
) -> tuple[State, list[str]]:
    """Return the weights beside the source by our keys, and what is to be said about them: a layer whose sizes were
    changed by hand begins anew."""
    if beside is None:
        return {}, [f"There is no {file} beside the source, so the network has no weights yet."]
    found, left = original.with_prefixes(beside, names)
    with torch.device("meta"):
        own = build(network, analyse(network)).state_dict()
    state = {key: value for key, value in found.items() if key in own and own[key].shape == value.shape}
    changed = [key for key in found if key in own and key not in state]
    left += [key for key in found if key not in own]
    notes = []
    if left:
        belong = "belongs" if len(left) == 1 else "belong"
        notes.append(f"{plural(len(left), 'tensor')} of {file} {belong} to no layer: {_shown(left)}.")
    if changed:
        verb = "has" if len(changed) == 1 else "have"
        notes.append(
            f"{plural(len(changed), 'tensor')} of {file} {verb} other sizes than the layer and {verb} been left out: "
            f"{_shown(changed)}."
        )
    return state, notes


def _shown(keys: Sequence[str]) -> str:
    return ", ".join(path_part(key) for key in keys[:3]) + (", ..." if keys[3:] else "")
