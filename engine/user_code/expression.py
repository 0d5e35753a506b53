"""Expressions of tensors x1, x2, ... such as `x1 * torch.sigmoid(x2)`: checks, and their form in printed source."""

import ast
import hashlib
import re
from collections.abc import Sequence

from netwright.engine.core.errors import FieldError

LONGEST = 1000
KNOWN = ("torch", "math")
_ALLOWED = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.Call,
    ast.keyword,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.List,
    ast.Starred,
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
)


def tensor_names(count: int) -> tuple[str, ...]:
    """Return the names of the tensors: `x1`, `x2`, ..."""
    return tuple(f"x{number}" for number in range(1, count + 1))


def parsed(text: str, count: int) -> ast.Expression:
    """Return the syntax tree of an expression of `count` tensors. Raises `FieldError` if it is not valid."""
    if len(text) > LONGEST:
        raise FieldError("expression", f"expected at most {LONGEST:,} characters, received {len(text):,}.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise FieldError("expression", f"this is not a Python expression: {reason}.") from None
    except (RecursionError, MemoryError):
        raise FieldError("expression", "it is nested too deep.") from None
    names = tensor_names(count)
    used_names = set()
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            kind = type(node).__name__
            raise FieldError("expression", f"{kind} has no place in it. Put longer code into a function of a file.")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise FieldError("expression", f"'.{node.attr}' is private to Python. Use public functions and methods.")
        if isinstance(node, ast.Name):
            if node.id not in (*names, *KNOWN):
                raise FieldError(
                    "expression", f"there is no '{node.id}' in it; it has {', '.join((*names, *KNOWN))} to work with."
                )
            used_names.add(node.id)
    unused = [name for name in names if name not in used_names]
    if unused:
        raise FieldError(
            "expression", f"it does not use {' and '.join(unused)}. Use every tensor, or lower the inputs."
        )
    return tree


def spelled(text: str, tensors: Sequence[str]) -> str:
    """Return the expression with other names for its tensors, as it stands in printed source.

    Names are replaced in the text, because an expression of hundreds of signs is a tree too deep to walk recursively.
    """
    names = dict(zip(tensor_names(len(tensors)), tensors, strict=True))
    lines = text.strip().replace("\r\n", "\n").replace("\r", "\n").encode().split(b"\n")
    nodes = [node for node in ast.walk(parsed(text, len(tensors))) if isinstance(node, ast.Name) and node.id in names]
    for node in sorted(nodes, key=lambda node: node.col_offset, reverse=True):
        line, start = lines[node.lineno - 1], node.col_offset
        lines[node.lineno - 1] = line[:start] + names[node.id].encode() + line[start + len(node.id) :]
    renamed = b"\n".join(lines).decode()
    is_one_line = "\n" not in renamed and "#" not in renamed
    return renamed if is_one_line else f"(\n{renamed}\n)"


CODE = "code:"
EXPRESSION = "expression:"


def code_target(file: str, name: str) -> str:
    """Return the target of a class or function in a file."""
    return f"{CODE}{file}:{name}"


def expression_target(text: str, count: int) -> str:
    """Return the target of an expression of `count` tensors."""
    return f"{EXPRESSION}{count}:{text}"


def is_users(target: str) -> bool:
    """Return whether a target is user code."""
    return target.startswith((CODE, EXPRESSION))


def is_expression(target: str) -> bool:
    """Return whether a target is an expression."""
    return target.startswith(EXPRESSION)


def split_code(target: str) -> tuple[str, str]:
    """Return the file and the name of a target."""
    file, _, name = target.removeprefix(CODE).rpartition(":")
    return file, name


def companion(file: str) -> str:
    """Return the module name of a copy of `file` in an export: `custom_layers__swish` for `layers/swish.py`."""
    stem = file.removesuffix(".py")
    clean = re.sub(r"[^A-Za-z0-9_]", "_", stem.replace("/", "__"))
    suffix = "" if clean == stem.replace("/", "__") else f"_{hashlib.sha256(file.encode()).hexdigest()[:6]}"
    return f"custom_{clean}{suffix}"


def split_expression(target: str) -> tuple[str, int]:
    """Return the text and the number of tensors of a target."""
    count, _, text = target.removeprefix(EXPRESSION).partition(":")
    return text, int(count)
