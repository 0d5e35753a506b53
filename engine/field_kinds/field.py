"""What every kind of field has in common."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from engine.errors import FieldError
from engine.field_kinds.quoting import quoted

if TYPE_CHECKING:
    from engine.field_kinds.record import Record

T = TypeVar("T")
JSON = Any
Visible = Callable[[Any], bool]


class Field(Generic[T]):
    """One declared value of a `Record`.

    `default` may be a function of the record, for defaults that follow another field (a rate that follows the solver).
    `check` takes what JSON or a form gives and returns the value, or raises `FieldError` in words.
    """

    name: str = ""
    expects: str = "a value"

    def __init__(
        self,
        default: T | Callable[[Any], T],
        *,
        label: str = "",
        help: str = "",
        unit: str = "",
        group: str = "",
        visible_when: Visible | None = None,
    ) -> None:
        self.default = default
        self.label = label
        self.help = help
        self.unit = unit
        self.group = group
        self.visible_when = visible_when

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.label = self.label or name.replace("_", " ").capitalize()

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: "Record", owner: type) -> T: ...
    def __get__(self, instance: "Record | None", owner: type) -> "Self | T":
        if instance is None:
            return self
        try:
            value: T = instance._values[self.name]
            return value
        except KeyError:
            return self.default_for(instance)

    def __set__(self, instance: "Record", value: T) -> None:
        raise AttributeError(f"{type(instance).__name__} is a value: use replace({self.name}=...).")

    def default_for(self, record: Any) -> T:
        """The default, given the other values of the record."""
        default = self.default
        return default(record) if callable(default) else default

    def refuse(self, received: object, expects: str = "") -> FieldError:
        """The error for a value that this field does not take; `expects` where there is more to say of this one."""
        return FieldError(self.name, f"expected {expects or self.expects}, received {quoted(received)}.")

    def check(self, value: object) -> T:
        """The value, as JSON or a form gave it, in this field's own type."""
        raise NotImplementedError

    def write(self, value: T) -> JSON:
        """The value as it stands in the project file."""
        return value

    def parse(self, text: str) -> T:
        """The value from text as a person types it, on the command line or in a form."""
        try:
            return self.check(json.loads(text))
        except (ValueError, RecursionError):
            return self.check(text)

    def show(self, value: T) -> str:
        """The value as a person would type it."""
        return str(value)

    def schema(self) -> dict[str, JSON]:
        """JSON Schema of this field."""
        described: dict[str, JSON] = {"title": self.label, **self.limits_schema()}
        if self.help:
            described["description"] = self.help
        if not callable(self.default):
            described["default"] = self.write(self.default)
        return described

    def limits_schema(self) -> dict[str, JSON]:
        """Type and limits for the JSON Schema."""
        return {}
