"""Turn the classes of exported PyTorch source into a network, and read the weights beside it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.core.errors import UserError, plural
from engine.core.fields import path_part
from engine.exchange.importing.report import OperatorRow, ReadNetwork
from engine.exchange.importing.source.parsing import parse
from engine.exchange.importing.source.walker import Built, Walker
from engine.lowering.module import prefixes
from engine.lowering.weights import State
from engine.lowering.weights_file import read_weights_file
from engine.network.analysis import analyse
from engine.network.network import Network


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
    state, more = _weights(path.with_suffix(".safetensors"), network, built.attributes)
    counts = Counter(layer.type.label for layer in network.layers.values())
    rows = tuple(
        OperatorRow(label, count, count, 0, 0, 0, ((label, count),)) for label, count in sorted(counts.items())
    )
    return ReadNetwork(
        network,
        "PyTorch source",
        "the source is not run. Its layers print as it stands.",
        state=state,
        rows=rows,
        outputs=tuple(value.port for value in built.outputs),
        notes=(*notes, *more),
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


def _weights(path: Path, network: Network, attributes: Mapping[str, Sequence[str]]) -> tuple[State, list[str]]:
    """Return the weights of the file beside the source by our keys, and what is to be said about it."""
    if not path.exists():
        return {}, [f"There is no {path.name} beside the source, so the network has no weights yet."]
    given, _ = read_weights_file(path)
    ours = prefixes(network, analyse(network))
    names = {
        theirs: own for id, prefix in ours.items() for theirs, own in zip(attributes.get(id, ()), prefix, strict=False)
    }
    state, left = {}, []
    for key, value in given.items():
        prefix = key
        while prefix and prefix not in names:
            prefix = prefix.rpartition(".")[0]
        if prefix:
            state[names[prefix] + key[len(prefix) :]] = value
        else:
            left.append(key)
    shown = ", ".join(path_part(key) for key in left[:3])
    notes = [f"{plural(len(left), 'tensor')} of {path.name} belong to no layer: {shown}."] if left else []
    return state, notes
