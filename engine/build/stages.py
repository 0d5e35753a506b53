"""A built network cut into stages, each a module with its own layers alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import fx, nn

from engine.errors import UserError


@dataclass(frozen=True)
class Stage:
    """One of them. Its module takes all inputs of the network and behind them what the stage before gives, and gives
    what the stages behind need, or as the last one what the network does. The layers in it are the network's own, under
    the same names."""

    module: fx.GraphModule
    num_entering: int
    num_leaving: int


def cut(network: fx.GraphModule, stage_of: Mapping[str, int], count: int) -> list[Stage]:
    """The stages of a network made by `engine.build.module.build`, by the stage of each layer (by id, from 0).

    What a later stage than the next one needs goes through those between. Raises `UserError` for layers that share
    weights and are in different stages.
    """
    nodes = list(network.graph.nodes)
    at = {node: stage_of[node.meta["layer"]] for node in nodes if node.op not in ("placeholder", "output")}
    # What the network gives leaves with the last stage, wherever it was made.
    needed = {node: max((at.get(user, count - 1) for user in node.users), default=0) for node in at}
    leaving = [[node for node in at if at[node] <= number < needed[node]] for number in range(count)]
    stages = []
    for number in range(count):
        graph = fx.Graph()
        known = {node: graph.placeholder(node.name) for node in nodes if node.op == "placeholder"}
        entering = leaving[number - 1] if number else []
        known |= {node: graph.placeholder(node.name) for node in entering}
        for node in nodes:
            if at.get(node) == number:
                known[node] = graph.node_copy(node, lambda used, known=known: known[used])  # type: ignore[misc]
        if number < count - 1:
            graph.output(tuple(known[node] for node in leaving[number]))
        else:
            graph.output(fx.map_arg(nodes[-1].args[0], lambda used, known=known: known[used]))  # type: ignore[misc]
        module = fx.GraphModule(network, graph, "Stage")
        stages.append(Stage(module, len(entering), len(leaving[number])))
    _refuse_shared(stages)
    return stages


def _refuse_shared(stages: list[Stage]) -> None:
    owner: dict[nn.Parameter, tuple[int, str]] = {}
    for number, stage in enumerate(stages):
        for name, parameter in stage.module.named_parameters():
            first, known_as = owner.setdefault(parameter, (number, name))
            if first != number:
                raise UserError(
                    f"{known_as} of stage {first + 1} and {name} of stage {number + 1} are the same weights. Put these "
                    "layers into one stage."
                )
