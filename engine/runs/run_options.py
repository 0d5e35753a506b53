"""Options in the frozen project of a run, and their differences from those of another run."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from netwright.engine.core.errors import FieldErrors
from netwright.engine.core.files import DEPTH_LIMIT, is_deeper
from netwright.engine.project.project import SECTIONS

Options = Mapping[str, Any]
"""Values as JSON by their `--set` paths, such as `training.max_epochs`; absent options have their defaults."""

NETWORK = "network"
LONGEST_VALUE = 60
_ABSENT = object()
_PLACES = ("at", "frames", "comments")


@dataclass(frozen=True)
class Change:
    """Difference of an option between two runs, as text. For `NETWORK`, only that the networks differ."""

    option: str
    before: str
    after: str

    def __str__(self) -> str:
        if self.option == NETWORK:
            return "another network"
        return f"{self.short}: {self.before} → {self.after}"

    @property
    def short(self) -> str:
        """Name of the option, without its section if that is training."""
        return self.option.removeprefix("training.")

    def write(self) -> dict[str, str]:
        """Return the difference as a JSON object."""
        return {"option": self.option, "before": self.before, "after": self.after}


def options_in(project: Any) -> dict[str, Any]:
    """Return the options in the JSON of a project file of any version; empty if it is not a project."""
    options: dict[str, Any] = {}
    for section in SECTIONS:
        values = project.get(section) if isinstance(project, dict) else None
        if isinstance(values, dict) and not is_deeper(values, DEPTH_LIMIT):
            options |= {f"{section}.{name}": value for name, value in values.items()}
    return options


def network_in(project: Any) -> str:
    """Return a hash of the network in the JSON of a project file, independent of the layout."""
    network = project.get("network") if isinstance(project, dict) else None
    try:
        return _fingerprint(json.dumps(network)) if network else ""
    except RecursionError:  # deeper than any project that can be opened
        return ""


@lru_cache(16)
def _fingerprint(network: str) -> str:
    """Return the hash of a network. Cached, as runs of a project often have the same network."""
    text = json.dumps(_without_places(json.loads(network)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(item) for key, item in value.items() if key not in _PLACES}
    return [_without_places(item) for item in value] if isinstance(value, list) else value


def changes(before: Options, after: Options) -> Iterator[Change]:
    """Yield the options whose values differ, in the order of `in_order`."""
    differing = [path for path in {*before, *after} if before.get(path, _ABSENT) != after.get(path, _ABSENT)]
    for path in in_order(differing):
        old_value, new_value = shown(before, path), shown(after, path)
        if old_value != new_value:
            yield Change(path, old_value, new_value)


_SHORT = {
    "training.initial_learn_rate": "rate",
    "training.mini_batch_size": "batch",
    "training.max_epochs": "epochs",
}
_MOST_IN_SHORT = 3


def in_short(differences: Iterable[Change]) -> str:
    """Return the options in which a run differs from another one: `rate 0.02, solver adam`; empty for none."""
    words = []
    for change in differences:
        name = _SHORT.get(change.option, change.short.replace("_", " "))
        words.append(str(change) if change.option == NETWORK else f"{name} {change.after}")
    more = len(words) - _MOST_IN_SHORT
    return ", ".join([*words[:_MOST_IN_SHORT], *([f"{more} more"] if more > 0 else [])])


def in_order(paths: Iterable[str]) -> list[str]:
    """The paths of options, training first, as the dialog has them."""
    return sorted(paths, key=_place)


def shown(options: Options, path: str) -> str:
    """Return the value of an option as a person would type it; its default where it has none."""
    section, _, name = path.partition(".")
    record = SECTIONS.get(section)
    field = record.fields.get(name) if record is not None else None
    if path in options:
        return _text(options[path])
    if record is None or field is None:
        return "not set"
    if not callable(field.default):
        return _text(field.write(field.default))
    section_values = {key.partition(".")[2]: value for key, value in options.items() if key.startswith(f"{section}.")}
    try:
        return _text(field.write(field.default_for(record.read(section_values, section, keep_unknown=True))))
    except FieldErrors:  # it follows another option, whose value this version does not know
        return "default"


def _text(value: Any) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _place(path: str) -> tuple[int, int, str]:
    """Training first, then data and environment; within them as the dialog has them."""
    section, _, name = path.partition(".")
    sections = ["training", *(section_name for section_name in SECTIONS if section_name != "training")]
    record = SECTIONS.get(section)
    names = list(record.fields) if record is not None else []
    at = sections.index(section) if section in sections else len(sections)
    return at, names.index(name) if name in names else len(names), path
