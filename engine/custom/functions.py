"""The functions in the text of a Python file that a project may name, read with `ast`: nothing of it runs.

A project names a function as `losses.py:huberish`, or as `losses.py` where the name is the usual one.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MANY = sys.maxsize


@dataclass(frozen=True)
class Named:
    """A name that can be called: how many arguments by position it takes, and the line where it is defined.

    Of what is assigned or imported nothing but the name is known, so any number is taken to do.
    """

    line: int
    least: int = 0
    most: int = MANY
    must_be_named: str = ""
    """A parameter without a default that can only be given by its name."""


def split_reference(text: str, usual: str) -> tuple[str, str]:
    """File and function: `steps.py:mixup`, or `steps.py` for the usual name. A drive such as `C:` is no file."""
    file, colon, name = text.rpartition(":")
    if colon and name.isidentifier() and len(file) > 1:
        return file, name
    return text, usual


def read_functions(tree: ast.Module) -> Mapping[str, Named]:
    """What a file defines at its top, by name; of several of one name the last."""
    return dict(_named(tree))


def _named(tree: ast.Module) -> Iterator[tuple[str, Named]]:
    for node in tree.body:
        match node:
            case ast.FunctionDef():
                yield node.name, _shape(node)
            case ast.ClassDef():
                yield node.name, Named(node.lineno)
            case ast.Assign():
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        yield target.id, Named(node.lineno)
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, Named(node.lineno)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield (alias.asname or alias.name).partition(".")[0], Named(node.lineno)


def _shape(node: ast.FunctionDef) -> Named:
    given = node.args
    count = len(given.posonlyargs) + len(given.args)
    missing = (arg.arg for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None)
    most = MANY if given.vararg else count
    return Named(node.lineno, count - len(given.defaults), most, next(missing, ""))
