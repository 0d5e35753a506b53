"""JSON Schema of declared types: typed dictionaries, dataclasses, literals and collections.

Descriptions are the texts below the fields of a class. Schemas are open, as readers have to accept further keys; with
`is_closed` they allow no other ones, which tests use.
"""

import ast
import dataclasses
import inspect
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
NON_FINITE: Schema = {"enum": ["NaN", "Infinity", "-Infinity"]}
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    float: {"anyOf": [{"type": "number"}, NON_FINITE]},
    Any: {},
    object: {},
}


def schema_of(annotation: Any, *, is_closed: bool = False) -> Schema:
    """Return the schema of the JSON that values of a type are written as. Numbers may be the strings that stand for
    non-finite ones. Raises `TypeError` for a type that has no JSON."""
    if annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    kind, arguments = get_origin(annotation), get_args(annotation)
    if kind in (Union, UnionType):
        return {"anyOf": [schema_of(argument, is_closed=is_closed) for argument in arguments]}
    if kind is Literal:
        return {"enum": list(arguments)}
    if kind in (list, tuple, Sequence, Iterable):
        return {"type": "array", "items": schema_of(arguments[0], is_closed=is_closed)}
    if kind in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1], is_closed=is_closed)}
    if is_typeddict(annotation):
        return object_of(annotation, annotation.__required_keys__, is_closed=is_closed)
    if dataclasses.is_dataclass(annotation):
        without = getattr(annotation, "unwritten", ())
        return object_of(annotation, always_written(annotation), without, is_closed=is_closed)
    raise TypeError(f"{annotation} has no JSON Schema.")


def always_written(cls: Any) -> set[str]:
    """Return the fields of a dataclass that its JSON always has: all, or with `omits_defaults` those without one, as
    `dataclass_json.to_json` writes it."""
    omits = getattr(cls, "omits_defaults", False)
    missing = dataclasses.MISSING
    return {
        field.name
        for field in dataclasses.fields(cls)
        if not omits or field.default is field.default_factory is missing
    }


def object_of(
    cls: Any,
    required: Collection[str],
    without: Collection[str] = (),
    *,
    is_closed: bool = False,
) -> Schema:
    """Return the schema of an object with the fields of a class, in the order of their declaration."""
    descriptions = field_texts(cls)
    properties: Schema = {}
    for name, annotation in get_type_hints(cls).items():
        if name in without or get_origin(annotation) is ClassVar:
            continue
        if getattr(cls, "omits_defaults", False) and getattr(cls, name, ...) is None:
            annotation = Union[tuple(part for part in get_args(annotation) if part is not NoneType)]  # noqa: UP007
        properties[name] = schema_of(annotation, is_closed=is_closed)
        if name in descriptions:
            properties[name]["description"] = descriptions[name]
    schema: Schema = {"type": "object", "required": [name for name in properties if name in required]}
    if text := inspect.getdoc(cls):
        schema["description"] = " ".join(text.split())
    return {**schema, "properties": properties, **({"additionalProperties": False} if is_closed else {})}


def field_texts(cls: type) -> dict[str, str]:
    """Return the texts below the fields of a class, and of its bases in the same module."""
    classes = _classes(cls.__module__)
    texts: dict[str, str] = {}
    node = classes.get(cls.__name__)
    if node is None:
        return texts
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            texts |= _texts(classes[base.id])
    return texts | _texts(node)


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _texts(node: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for before, after in zip(node.body, node.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name) and isinstance(after, ast.Expr):
            texts[before.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return texts
