"""Numbers that were fitted on the data and lie in the weights of a network: shifts and scales of its normalisations."""

from collections.abc import Mapping

import torch

from netwright.engine.lowering.module import prefixes
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.network import Network
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.preparation import MOST_NUMBERS, Preparation
from netwright.engine.project.preparing import FittedNumbers, preparation_of
from netwright.engine.project.project import Project

State = Mapping[str, torch.Tensor]
Pair = tuple[torch.Tensor, torch.Tensor]


def normalizations(network: Network, weights: State, analysis: Analysis | None = None) -> dict[str, Pair]:
    """Return shift and scale of each layer of the network that has fitted ones, by the layer's id."""
    modules = prefixes(network, analysis or analyse(network))
    pairs = {}
    for id in network.layers:
        keys = [f"{modules[id][0]}.{part}" for part in ("shift", "scale")] if modules.get(id) else []
        if keys and all(key in weights for key in keys):
            pairs[id] = weights[keys[0]], weights[keys[1]]
    return pairs


def trained_preparation(
    project: Project, facts: DatasetInfo | None, weights: State, analysis: Analysis | None = None
) -> Preparation:
    """Return the preparation of the data for the network of a project with these weights."""
    pairs = normalizations(project.network, weights, analysis)
    blank = project.training.ctc_blank
    numbers = {id: _numbers(*pair) for id, pair in pairs.items()}
    return preparation_of(project.network, project.data, facts, numbers, analysis=analysis, blank=blank)


def _numbers(shift: torch.Tensor, scale: torch.Tensor) -> FittedNumbers:
    is_double = shift.dtype == torch.float64
    if shift.numel() > MOST_NUMBERS:
        return FittedNumbers(is_double=is_double)
    shifts, scales = (tuple(numbers.double().reshape(-1).tolist()) for numbers in (shift, scale))
    return FittedNumbers(shifts, scales, is_double)
