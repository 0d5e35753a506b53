"""Formulas over named values, such as `training.solver == 'adam' and training.momentum < 0.9`: conditions of parameters
and constraints of an experiment. Nothing but arithmetic and comparisons is computed, so that a formula from a
stranger's file can do no harm."""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted

MOST_CHARACTERS = 1000
MOST_DEPTH = 40
LARGEST = 1e300
_BRACED = re.compile(r"\{([^{}]*)\}")
_OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, among: value in among,
    ast.NotIn: lambda value, among: value not in among,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs, "len": len}
EXPECTS = "a condition such as training.solver == 'adam' or network.conv_1.filters <= 2 * network.conv_2.filters"


class Formula:
    """A parsed formula. `names` are the values that it uses, in the order in which they stand in it.

    A name with characters other than letters, digits, underscores and dots stands in braces:
    `{network.block_1/conv.filters}`. Raises `UserError` for what is not a formula.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: tuple[str, ...] = ()
        self._braced: dict[str, str] = {}
        if len(text) > MOST_CHARACTERS:
            raise UserError(f"{quoted(text)} has {len(text):,} characters; a formula has at most {MOST_CHARACTERS:,}.")
        try:
            tree = ast.parse(_BRACED.sub(self._name, text).strip(), mode="eval")
            self._check(tree.body, 0)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise UserError(f"{quoted(text)} is not a formula: expected {EXPECTS}.") from None
        self._body = tree.body

    def _name(self, match: re.Match[str]) -> str:
        key = f"_braced_{len(self._braced)}"
        self._braced[key] = match[1].strip()
        return key

    def _check(self, node: ast.AST, depth: int) -> None:
        """Refuse all but values, arithmetic and comparisons, with `ValueError`. Collects the names."""
        if depth > MOST_DEPTH:
            raise ValueError
        inner: Sequence[ast.AST] = ()
        match node:
            case ast.Constant(value=str() | int() | float() | bool()):
                pass
            case ast.Name() | ast.Attribute():
                self.names = tuple(dict.fromkeys((*self.names, self._path(node))))
            case ast.BoolOp():
                inner = node.values
            case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.UAdd()):
                inner = [node.operand]
            case ast.BinOp() if type(node.op) in _OPERATORS:
                inner = [node.left, node.right]
            case ast.Compare() if all(type(op) in _OPERATORS for op in node.ops):
                inner = [node.left, *node.comparators]
            case ast.List() | ast.Tuple():
                inner = node.elts
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS and node.args:
                inner = node.args
            case _:
                raise ValueError
        for part in inner:
            self._check(part, depth + 1)

    def _path(self, node: ast.AST) -> str:
        match node:
            case ast.Name():
                return self._braced.get(node.id, node.id)
            case ast.Attribute():
                return f"{self._path(node.value)}.{node.attr}"
        raise ValueError

    def value(self, look_up: Callable[[str], Any]) -> Any:
        """Return the value, with `look_up` for the value of each name. Raises `UserError` where values do not go
        together, such as a number compared with a text."""
        try:
            return self._value(self._body, look_up)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise UserError(f"{quoted(self.text)} cannot be computed: {error}.") from None

    def holds(self, look_up: Callable[[str], Any]) -> bool:
        """Return whether the condition holds. Raises `UserError` as `value` does."""
        return bool(self.value(look_up))

    def _value(self, node: ast.AST, look_up: Callable[[str], Any]) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name() | ast.Attribute():
                return look_up(self._path(node))
            case ast.BoolOp():
                together = all if isinstance(node.op, ast.And) else any
                return together(self._value(part, look_up) for part in node.values)
            case ast.UnaryOp():
                value = self._value(node.operand, look_up)
                return not value if isinstance(node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else value
            case ast.BinOp():
                left, right = self._value(node.left, look_up), self._value(node.right, look_up)
                if not all(isinstance(side, int | float) and abs(side) < LARGEST for side in (left, right)):
                    raise TypeError("only numbers can be added, multiplied and divided")
                return _OPERATORS[type(node.op)](left, right)
            case ast.Compare():
                left = self._value(node.left, look_up)
                for op, part in zip(node.ops, node.comparators, strict=True):
                    right = self._value(part, look_up)
                    if not _OPERATORS[type(op)](left, right):
                        return False
                    left = right
                return True
            case ast.List() | ast.Tuple():
                return tuple(self._value(part, look_up) for part in node.elts)
            case ast.Call(func=ast.Name(id=name)):
                return _FUNCTIONS[name](*(self._value(part, look_up) for part in node.args))
        raise ValueError("this is not a formula")
