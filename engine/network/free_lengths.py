"""The lengths that a network takes for sequences of any length."""

from netwright.engine.core.errors import UserError
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network

LENGTHS = (7, 16, 33, 64, 128, 256, 1024, 4096, 5, 4, 3, 2, 1)
"""Lengths to try for sequences of any length: windows may need many steps, position embeddings allow few."""


def accepted_lengths(network: Network) -> tuple[int, ...]:
    """Return the first two of `LENGTHS` that the network accepts; networks of fixed length accept any.

    Raises `UserError` if the network accepts none.
    """
    free = _free_inputs(network)
    accepted = []
    for steps in LENGTHS:
        if _accepts(network, dict.fromkeys(free, steps)):
            accepted.append(steps)
        if len(accepted) == 2:
            break
    if not accepted:
        raise UserError(f"The network takes no sequences of up to {max(LENGTHS):,} steps, so it cannot be tried out.")
    return tuple(accepted)


def lengths_by_input(network: Network) -> tuple[dict[str, int], dict[str, int]]:
    """Return two accepted lengths for each input layer of any length, by its id. Those of different inputs differ where
    the network allows it."""
    shorter, longer = (accepted_lengths(network) * 2)[:2]
    first, second = dict.fromkeys(_free_inputs(network), shorter), dict.fromkeys(_free_inputs(network), longer)
    for id in list(first)[1:]:
        if _accepts(network, {**first, id: longer}) and _accepts(network, {**second, id: shorter}):
            first[id], second[id] = longer, shorter
    return first, second


def _free_inputs(network: Network) -> list[str]:
    return [layer.id for layer in network.inputs if not layer.type.output().is_known]


def _accepts(network: Network, lengths: dict[str, int]) -> bool:
    for id, steps in lengths.items():
        network = edits.set_fields(network, id, {"length": steps})
    return not analyse(network).has_errors
