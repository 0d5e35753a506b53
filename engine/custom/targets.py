"""How a `Call` names code of the user's: `code:layers/swish.py:Swish`, `expression:2:x1 * torch.sigmoid(x2)`."""

import hashlib
import re

CODE = "code:"
EXPRESSION = "expression:"


def code_target(file: str, name: str) -> str:
    """The name of a class or function in a file."""
    return f"{CODE}{file}:{name}"


def expression_target(text: str, count: int) -> str:
    """The name of an expression of so many tensors."""
    return f"{EXPRESSION}{count}:{text}"


def is_users(target: str) -> bool:
    """Whether a call names code of the user's."""
    return target.startswith((CODE, EXPRESSION))


def is_expression(target: str) -> bool:
    """Whether a call names an expression."""
    return target.startswith(EXPRESSION)


def split_code(target: str) -> tuple[str, str]:
    """File and name."""
    file, _, name = target.removeprefix(CODE).rpartition(":")
    return file, name


def companion(file: str) -> str:
    """The module beside an exported file that holds a copy of this one: `layers/swish.py` as `custom_layers__swish`."""
    stem = file.removesuffix(".py")
    plain = re.sub(r"[^A-Za-z0-9_]", "_", stem.replace("/", "__"))
    other = "" if plain == stem.replace("/", "__") else f"_{hashlib.sha256(file.encode()).hexdigest()[:6]}"
    return f"custom_{plain}{other}"


def split_expression(target: str) -> tuple[str, int]:
    """Text and number of tensors."""
    count, _, text = target.removeprefix(EXPRESSION).partition(":")
    return text, int(count)
