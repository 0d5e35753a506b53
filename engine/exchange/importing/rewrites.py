"""Rewrites: several operators that are one layer become one node before they are lifted.

A rewrite is registered for the operator with which its pattern begins, and is called with each such node:

    @rewrite("MatMul")
    def dense(match: Match, node: Node) -> Node | None

It returns the node that stands for all of them, whose outputs are those of the last one, or None where the pattern
does not match. `match.only_user` steps forward to the one node that takes a value (None where there are several, or
where the value is an output), `match.maker` back; `match.constant` and `match.number` give known numbers. The nodes in
between vanish by themselves, because nothing needs them any more; `parts` names the operators for the report.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Constant, Graph, Node

Rewrite = Callable[["Match", Node], Node | None]
REWRITES: dict[str, list[Rewrite]] = {}


def rewrite(*ops: str) -> Callable[[Rewrite], Rewrite]:
    """Register a rewrite for the operators that its pattern begins with."""

    def register(function: Rewrite) -> Rewrite:
        for op in ops:
            REWRITES.setdefault(op, []).append(function)
        return function

    return register


class Match:
    """A graph that rewrites look through."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.makers = graph.makers()
        self.users = graph.users()
        self.outputs = {value.name for value in graph.outputs}

    def maker(self, name: str, *ops: str) -> Node | None:
        """Return the node that computes a value, if it is one of these operators."""
        node = self.makers.get(name)
        return node if node is not None and (not ops or node.op in ops) else None

    def only_user(self, name: str, *ops: str) -> Node | None:
        """Return the one node that takes the numbers of a value, if it is one of these operators."""
        users = [user for user in self.users.get(name, []) if user.op != "CastLike" or user.inputs[0] == name]
        if len(users) != 1 or name in self.outputs or (ops and users[0].op not in ops):
            return None
        return users[0]

    def user(self, name: str, *ops: str) -> Node | None:
        """Return the one node of these operators among those that take a value."""
        nodes = [node for node in self.users.get(name, []) if node.op in ops]
        return nodes[0] if len(nodes) == 1 else None

    def constant(self, name: str) -> Constant | None:
        """Return known numbers."""
        return self.graph.constants.get(name)

    def whole(self, name: str) -> Constant | None:
        """Return known whole numbers."""
        constant = self.constant(name)
        return constant if constant is not None and constant.dtype.kind in "iu" else None

    def number(self, name: str) -> float | None:
        """Return one known number, None for anything else."""
        constant = self.constant(name)
        if constant is None or constant.count != 1 or constant.dtype.kind not in "fiu":
            return None
        return float(constant.array().reshape(()))

    def is_known(self, name: str, depth: int = 40) -> bool:
        """Return whether a value follows from constants and from sizes alone."""
        if name in self.graph.constants:
            return True
        node = self.makers.get(name)
        if node is None or depth == 0:
            return False
        return node.op == "Shape" or (
            bool(node.inputs) and all(not source or self.is_known(source, depth - 1) for source in node.inputs)
        )

    def with_number(
        self, node: Node | None, value: float | None = None, rtol: float = 1e-3
    ) -> tuple[str, float] | None:
        """Return the other input and the number of a node that takes one number (about `value`) and one tensor."""
        if node is None or len(node.inputs) != 2:
            return None
        for at in (0, 1):
            number = self.number(node.inputs[at])
            if number is not None and (value is None or np.isclose(number, value, rtol=rtol, atol=1e-8)):
                return node.inputs[1 - at], number
        return None

    def other(self, node: Node, name: str) -> str:
        """Return the other input of a node with two inputs; the same where both are."""
        return node.inputs[1] if node.inputs[0] == name else node.inputs[0]


def merged(
    last: Node,
    op: str,
    inputs: Sequence[str],
    parts: Iterable[Node],
    *,
    scope_of: Node | None = None,
    **attributes: object,
) -> Node:
    """Return a node of our own domain in the place of the last of several."""
    of = scope_of or last
    return Node(
        op=op,
        inputs=list(inputs),
        outputs=list(last.outputs),
        attributes=dict(attributes),
        name=of.name,
        domain=OWN_DOMAIN,
        scope=of.scope,
        parts=tuple(part for node in parts for part in (node.parts or (node.op,))),
    )
