"""Finding layers by what a person remembers of them: name, type, or what is wrong with them."""

from collections import defaultdict
from collections.abc import Iterable

from engine.network.network import Network
from engine.network.problems import Problem


def find_layers(network: Network, problems: Iterable[Problem], text: str) -> list[str]:
    """Ids of the layers in which every word of the text occurs, in the order of the data. Case does not count.

    A layer is searched by its name, the label, key and family of its type, and the severity and message of its
    problems. No text finds nothing.
    """
    words = text.lower().split()
    if not words:
        return []
    said: dict[str, list[str]] = defaultdict(list)
    for problem in problems:
        if problem.layer:
            said[problem.layer].append(f"{problem.severity} {problem.message}")
    ordered = set(network.order)
    found = []
    for id in (*network.order, *(id for id in network.layers if id not in ordered)):
        layer = network.layers[id]
        parts = (layer.name, layer.type.label, layer.type_key, layer.type.family, *said.get(id, ()))
        known = "\n".join(parts).lower()
        if all(word in known for word in words):
            found.append(id)
    return found
