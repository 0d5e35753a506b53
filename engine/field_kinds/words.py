"""Fields of yes or no, of words, and of text."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from engine.errors import FieldError, did_you_mean
from engine.field_kinds.field import JSON, Field, Visible
from engine.field_kinds.quoting import is_unicode, quoted


class Bool(Field[bool]):
    """Yes or no."""

    expects = "true or false"

    def check(self, value: object) -> bool:
        if isinstance(value, str) and value.lower() in ("true", "false", "yes", "no", "on", "off"):
            value = value.lower() in ("true", "yes", "on")
        if not isinstance(value, bool):
            raise self.refuse(value)
        return value

    def show(self, value: bool) -> str:
        return "true" if value else "false"

    def limits_schema(self) -> dict[str, JSON]:
        return {"type": "boolean"}


class Choice(Field[str]):
    """One of a list of words. `notes` says what each word means; `offered` which of them go with a record's other
    values, where not all do: the form greys the others, and the record's `problems` say why."""

    def __init__(
        self,
        default: str,
        *,
        options: Sequence[str],
        notes: Mapping[str, str] | None = None,
        offered: Callable[[Any], Collection[str]] | None = None,
        **described: Any,
    ) -> None:
        super().__init__(default, **described)
        self.options = tuple(options)
        self.notes = dict(notes or {})
        self.offered = offered

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the options
        return "one of " + ", ".join(self.options)

    def check(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.options:
            hint = did_you_mean(value, self.options) if isinstance(value, str) else ""
            raise FieldError(self.name, f"expected {self.expects}, received {quoted(value)}.{hint}")
        return value

    def parse(self, text: str) -> str:
        return self.check(text)

    def limits_schema(self) -> dict[str, JSON]:
        return {"enum": list(self.options)}


class Choices(Field[tuple[str, ...]]):
    """One or more words of a list, in an order that counts; each once. `notes` says what each word means."""

    def __init__(
        self,
        default: Sequence[str],
        *,
        options: Sequence[str],
        notes: Mapping[str, str] | None = None,
        **described: Any,
    ) -> None:
        super().__init__(tuple(default), **described)
        self.options = tuple(options)
        self.notes = dict(notes or {})

    @property
    def expects(self) -> str:  # type: ignore[override]  # computed from the options
        return "one or more of " + ", ".join(self.options)

    def check(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = value.replace(",", " ").strip("[]() ").split()
        if not isinstance(value, (list, tuple)) or not value or not all(isinstance(word, str) for word in value):
            raise self.refuse(value)
        unknown = next((word for word in value if word not in self.options), None)
        if unknown is not None:
            hint = did_you_mean(unknown, self.options)
            raise FieldError(self.name, f"expected {self.expects}, received {quoted(unknown)}.{hint}")
        return tuple(dict.fromkeys(value))

    def write(self, value: tuple[str, ...]) -> JSON:
        return list(value)

    def show(self, value: tuple[str, ...]) -> str:
        return ", ".join(value)

    def limits_schema(self) -> dict[str, JSON]:
        word = {"enum": list(self.options)}
        return {"type": "array", "items": word, "minItems": 1, "uniqueItems": True}


class Text(Field[str]):
    """Free text of one line."""

    expects = "a text of at most 4,096 characters without line breaks"

    def check(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > 4096 or any(c in value for c in "\0\n\r"):
            raise self.refuse(value)
        if not is_unicode(value):
            raise FieldError(self.name, f"{quoted(value)} has characters that are not Unicode and cannot be saved.")
        return value

    def parse(self, text: str) -> str:
        return self.check(text)

    def limits_schema(self) -> dict[str, JSON]:
        return {"type": "string", "maxLength": 4096}


class FilePath(Text):
    """Where something lies: a file or a folder. Relative paths start at the project's folder."""

    def __init__(
        self,
        default: str = "",
        *,
        folder: bool = False,
        pattern: str = "",
        folder_when: Visible | None = None,
        pattern_for: Callable[[Any], str] | None = None,
        **described: Any,
    ) -> None:
        super().__init__(default, **described)
        self.folder = folder
        self.pattern = pattern
        self.folder_when = folder_when
        self.pattern_for = pattern_for

    def check(self, value: object) -> str:
        return super().check(str(value) if isinstance(value, PurePath) else value)
