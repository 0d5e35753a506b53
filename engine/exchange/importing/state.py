"""The weights of an imported network as the state-dict of the module that it is built to."""

from collections.abc import Mapping

import numpy as np
import torch

from engine.core.errors import UserError
from engine.lowering.module import build, prefixes
from engine.lowering.weights import State
from engine.network.analysis import Analysis
from engine.network.network import Network


def state_of(network: Network, analysis: Analysis, weights: Mapping[str, Mapping[str, np.ndarray]]) -> State:
    """Return the state-dict of the built module. `weights` are arrays by id path of a layer, and by their name in its
    module (`weight`, `running_mean`).

    Counters of batches begin at zero. Raises `UserError` for a weight that has no place, or a place without a weight.
    """
    with torch.device("meta"):
        own = build(network, analysis).state_dict()
    attributes = prefixes(network, analysis)
    state: State = {}
    for path, arrays in weights.items():
        for name, array in arrays.items():
            keys = [f"{attribute}.{name}" for attribute in attributes.get(path, ())]
            key = next((key for key in keys if key in own), None)
            if key is None or tuple(own[key].shape) != array.shape:
                raise UserError(f"The weights '{name}' of the layer '{path}' have no place in the network.")
            state[key] = torch.from_numpy(np.ascontiguousarray(array)).to(own[key].dtype)
    for key, value in own.items():
        if key.endswith("num_batches_tracked"):
            state.setdefault(key, torch.zeros(value.shape, dtype=value.dtype))
        elif key not in state:
            raise UserError(f"The imported file has no weights for '{key}'.")
    return state
