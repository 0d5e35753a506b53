"""Compare a network that was read from source with the class in the file: the class runs in a process of its own, and
only where its folder is trusted."""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import fx

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.exchange.importing.graph import Graph, Value
from netwright.engine.exchange.importing.module_file import built, failing
from netwright.engine.exchange.importing.parity import Parity, compare
from netwright.engine.exchange.importing.values import BATCH, Tensor
from netwright.engine.lowering.weights import State
from netwright.engine.network.network import Network, Port
from netwright.engine.user_code import trust

CLASS = "Network"
PATIENCE_S = 300.0


def compared(
    path: Path,
    module: fx.GraphModule,
    network: Network,
    outputs: Sequence[Tensor],
    beside: Mapping[str, torch.Tensor],
    attributes: Mapping[str, str],
) -> Parity:
    """Compare the built module with the class of the file. `outputs` are in the order in which its `forward` returns
    them, `beside` are the weights of the file beside the source, `attributes` are the prefixes of the class's keys by
    those of ours.

    The class gets the weights beside it; those that are not there, or have other sizes, are the module's.
    """
    if not trust.is_trusted(path):
        folder = Path(os.path.realpath(path)).parent
        return Parity(
            refusal=f"the class {CLASS} has to run for that, and the folder {folder} is not trusted. {trust.MEANING} "
            "Read the code, then import it again with --trust, or in the window with 'Run the class'."
        )
    weights, _ = with_prefixes(module.state_dict(), attributes)
    places = {port: at for at, port in enumerate(network.output_ports)}
    given = [_input(layer.id, layer.name, network) for layer in network.inputs]
    ends = [(network.layers[one.port.layer].name, one, places[one.port]) for one in outputs]

    def compute(feeds: Mapping[str, np.ndarray], _: Sequence[str]) -> list[np.ndarray]:
        return _run(path, [feeds[value.name] for value, _ in given], weights, beside)

    return compare(Graph([], {}, (), (), 0, compute=compute), module, network, given, ends)


def with_prefixes(state: Mapping[str, torch.Tensor], names: Mapping[str, str]) -> tuple[State, list[str]]:
    """Return tensors by keys with other prefixes, by the longest prefix in `names`, and the keys that have none."""
    found, left = {}, []
    for key, value in state.items():
        prefix = key
        while prefix and prefix not in names:
            prefix = prefix.rpartition(".")[0]
        if prefix:
            found[names[prefix] + key[len(prefix) :]] = value
        else:
            left.append(key)
    return found, left


def _input(id: str, name: str, network: Network) -> tuple[Value, Tensor]:
    type = network.layers[id].type.output()
    dtype = "int64" if type.kind == "index" else "float32"
    return Value(name, None, dtype), Tensor(Port(id, "out"), type, (BATCH, *type.axes))


def _run(
    path: Path, inputs: Sequence[np.ndarray], weights: Mapping[str, torch.Tensor], beside: Mapping[str, torch.Tensor]
) -> list[np.ndarray]:
    """Return what the class computes, in a process of its own. Raises `RunError` with the reason where it fails."""
    with tempfile.TemporaryDirectory(prefix="netwright-source-") as folder:
        found = Path(folder) / "found.npz"
        try:
            run_in_child_process(lambda: _computed(path, inputs, weights, beside, found), PATIENCE_S)
        except UserError as error:
            raise RunError(str(error)) from None
        except RuntimeError:
            raise RunError(f"the process that ran {path.name} ended before it was done.") from None
        with np.load(found, allow_pickle=False) as held:
            return [held[f"arr_{number}"] for number in range(len(held))]


# ---- in the throw-away process ----


def _computed(
    path: Path,
    inputs: Sequence[np.ndarray],
    weights: Mapping[str, torch.Tensor],
    beside: Mapping[str, torch.Tensor],
    found: Path,
) -> dict[str, object]:
    """Write the outputs of the class to `found`. What the code prints goes to standard error."""
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    torch.set_num_threads(1)  # threads do not survive a fork
    network = built(path, CLASS, ([], {}))
    own = network.state_dict()
    fitting = {
        key: value
        for state in (weights, beside)
        for key, value in state.items()
        if key in own and own[key].shape == value.shape
    }
    with failing(path, "it fails on inputs of the sizes in its docstring"), torch.no_grad():
        network.load_state_dict(fitting, strict=False)
        given = network(*map(torch.from_numpy, inputs))
        outputs = given if isinstance(given, tuple | list) else (given,)
        np.savez(found, *(one.numpy() for one in outputs))
    return {}
