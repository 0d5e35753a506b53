"""Mathematical functions of each number."""

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.registry import lift
from netwright.engine.exchange.importing.values import Tensor
from netwright.engine.layers.arithmetic import MathFunction


def _function(ctx: Context, node: Node) -> Tensor:
    return ctx.add(node, MathFunction(function=node.op.lower()), ctx.tensor(node, 0))


lift("Tan", "Atan", "Sinh", "Cosh", "Asinh", "Erf", becomes=("math_function",))(_function)
lift("Asin", "Acos", "Acosh", "Atanh", becomes=("math_function",), note="where they are defined")(_function)
