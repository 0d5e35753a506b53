"""Immutable records with declared fields."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from netwright.engine.core.errors import FieldError, FieldErrors, did_you_mean
from netwright.engine.core.fields import JSON, Field, path_part, quoted

MOST_ERRORS = 20


class Record:
    """Immutable record with declared fields. Values equal to their default are neither stored nor written.

    Subclasses declare fields as class attributes. `fields` maps names to fields in the order of declaration: inherited
    fields first, in the order of the bases, and fields without a group before those with one. Records are equal if
    their types and values are equal.
    """

    fields: ClassVar[Mapping[str, Field[Any]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherited = dict.fromkeys(name for base in cls.__bases__ for name in getattr(base, "fields", {}))
        declared: dict[str, Field[Any]] = {name: getattr(cls, name) for name in inherited}
        declared |= {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        # In a form, a field without a group would appear to belong to the preceding group.
        cls.fields = dict(sorted(declared.items(), key=lambda item: bool(item[1].group)))

    def __init__(self, /, **values: object) -> None:
        errors: list[FieldError] = []
        self._values: dict[str, Any] = {}
        self._unknown: Mapping[str, JSON] = {}
        for name, value in values.items():
            field = self.fields.get(name)
            if len(errors) == MOST_ERRORS:
                errors.append(FieldError("", "... and perhaps more: the rest was not read."))
                break
            if field is None:
                hint = did_you_mean(name, self.fields)
                errors.append(FieldError(path_part(name), "there is no such field.", hint=hint))
                continue
            try:
                self._values[name] = field.check(value)
            except FieldError as error:
                errors.append(error)
        if errors:
            raise FieldErrors(errors)
        for name in list(self._values):
            if self._values[name] == self.fields[name].default_for(self):
                del self._values[name]
        self._key = (type(self), tuple(sorted(self._values.items())))
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Record) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._values.items())})"

    def replace(self, /, **values: object) -> Self:
        """Return a copy of the record with some values replaced. Raises `FieldErrors`."""
        record = type(self)(**{**self._values, **values})
        record._unknown = self._unknown
        return record

    def changed(self) -> dict[str, Any]:
        """Return the values that differ from their defaults, by field name."""
        return {name: self._values[name] for name in self.fields if name in self._values}

    def is_changed(self, name: str) -> bool:
        """Return whether the value of a field differs from its default."""
        return name in self._values

    def is_visible(self, name: str) -> bool:
        """Return whether a field applies, given the other values of the record."""
        rule = self.fields[name].visible_when
        return rule is None or rule(self)

    def without_hidden(self) -> Self:
        """Return the record without the values of fields that do not apply: they would be back, unseen, once they
        do."""
        record = self
        while hidden := [name for name in record.changed() if not record.is_visible(name)]:
            record = record.replace(**{name: record.fields[name].default_for(record) for name in hidden})
        return record

    def problems(self) -> list[FieldError]:
        """Return the errors across fields: values that are incompatible. Limits of a single field are checked by the
        field."""
        return []

    @classmethod
    def read(cls, data: object, where: str, *, keep_unknown: bool = False) -> Self:
        """Return the record from a JSON object. `where` prefixes the paths in errors. Unknown keys are an error, or
        kept with `keep_unknown`. Raises `FieldErrors`."""
        if not isinstance(data, dict):
            raise FieldErrors([FieldError(where, f"expected an object, received {quoted(data)}.")])
        unknown = {name: value for name, value in data.items() if name not in cls.fields}
        try:
            if unknown and not keep_unknown:
                cls(**data)  # raises all errors at once
            record = cls(**{name: value for name, value in data.items() if name in cls.fields})
        except FieldErrors as refused:
            raise FieldErrors(e.at(f"{where}.{e.path}" if e.path else "") for e in refused.errors) from None
        record._unknown = unknown
        return record

    def write(self) -> dict[str, JSON]:
        """Return the record as JSON: values that differ from their defaults, in order of declaration, then unknown
        keys."""
        values = {name: self.fields[name].write(value) for name, value in self.changed().items()}
        return {**values, **self._unknown}

    @classmethod
    def schema(cls) -> dict[str, JSON]:
        """Return the JSON Schema of the record."""
        properties = {name: field.schema() for name, field in cls.fields.items()}
        return {"type": "object", "properties": properties, "additionalProperties": False}


def set_by_text(record: Record, name: str, text: str, where: str) -> Any:
    """Return the record with a field set from typed text, for `--set`. Raises `UserError` with the path of the
    field."""
    field = record.fields.get(name)
    if field is None:
        hint = did_you_mean(name, record.fields) or f"The options of '{where}' are: {', '.join(record.fields)}."
        raise FieldError(f"{where}.{name}", "there is no such option.", hint=hint)
    try:
        return record.replace(**{name: field.parse(text)})
    except FieldError as error:
        raise error.at(f"{where}.{error.path}") from None


def all_problems(records: Iterable[tuple[str, Record]]) -> list[FieldError]:
    """Return the cross-field errors of several records; each path is prefixed with the name of its section."""
    return [e.at(f"{where}.{e.path}") for where, record in records for e in record.problems()]
