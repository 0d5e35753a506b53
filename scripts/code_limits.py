"""Compare the figures of the source with the limits in `code_limits.toml`, and lower its exceptions.

An exception and a ceiling say exactly what is there, so that they can only fall: a figure above them fails, and so does
one below, until their line is lowered or removed, which `python -m scripts.measure_code --write-limits` does.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.code_facts import ROOT, Facts, Measure, count_lines, cycles, import_graph, own_imports, read_facts

PATH = ROOT / "scripts" / "code_limits.toml"
COMMAND = "python -m scripts.measure_code --write-limits"
FILLERS = frozenset({
    "asked", "begun", "brought", "built", "called", "carried", "chosen", "done", "drawn", "found", "given", "gone",
    "held", "kept", "known", "left", "looked", "made", "met", "named", "one", "opened", "read", "said", "seen",
    "sent", "shown", "taken", "told", "tried", "used", "wanted", "what", "which",
})  # fmt: skip
"""Participles and words that stand where a noun would say what the value is."""
LINES_STEP = 500
UNITS = {
    "module_lines": "lines",
    "function_lines": "lines",
    "class_lines": "lines",
    "arguments": "arguments",
    "any_dicts": "`dict[str, Any]` in public signatures",
    "function_imports": "imports of our own modules in functions",
    "cycles": "modules in its cycle of imports",
}
"""What is limited, and what is counted for it. The last three are counted per module and should be 0."""


@dataclass(frozen=True)
class Figure:
    """What is counted at a place in the source, and the lines where it is."""

    value: int
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """A line of the file of limits: an exception, a ceiling or a floor."""

    section: str
    name: str
    value: float
    line: int


class Limits:
    """The file of limits, read."""

    def __init__(self, text: str) -> None:
        values = tomllib.loads(text)
        self.limits: dict[str, int] = values["limits"]
        self.lazy_seams: list[str] = values["lazy_seams"]
        self.entries = list(_entries(text))

    def section(self, name: str) -> dict[str, Entry]:
        """Return the entries of a section by their names."""
        return {entry.name: entry for entry in self.entries if entry.section == name}


def read_limits(path: Path = PATH) -> Limits:
    """Read the file of limits."""
    return Limits(path.read_text(encoding="utf-8"))


def _entries(text: str) -> Iterator[Entry]:
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("["):
            section = line.strip("[]")
        elif match := re.fullmatch(r'"?([^"=]+?)"? = ([\d.]+)', line):
            yield Entry(section, match[1], float(match[2]), number)


# ---- figures ----


def figures_of(facts: list[Facts], limits: Limits) -> dict[str, dict[str, Figure]]:
    """Return every figure over its limit, by kind and place."""
    figures: dict[str, dict[str, Figure]] = {kind: {} for kind in UNITS} | {
        "module_lines": {file.path: Figure(file.num_lines, (1,)) for file in facts},
        "any_dicts": {
            file.path: Figure(
                sum(measure.value for measure in file.any_dict_signatures),
                tuple(measure.line for measure in file.any_dict_signatures),
            )
            for file in facts
            if file.any_dict_signatures
        },
        "function_imports": {
            path: Figure(len(lines), tuple(sorted(lines)))
            for path, lines in lazy_imports(facts).items()
            if not any(_is_in(seam, path) for seam in limits.lazy_seams)
        },
        "cycles": _cycles(facts),
    }
    for file in facts:
        for kind, measures in _measures(file).items():
            for measure in measures:
                place = f"{file.path}:{measure.name}"
                # Overloads and the setter of a property share their place.
                figures[kind][place] = max(
                    (figures[kind].get(place, Figure(0, ())), Figure(measure.value, (measure.line,))),
                    key=lambda figure: figure.value,
                )
    return {
        kind: {place: figure for place, figure in places.items() if figure.value > limits.limits[kind]}
        for kind, places in figures.items()
    }


def _measures(file: Facts) -> dict[str, list[Measure]]:
    return {"function_lines": file.functions, "class_lines": file.classes, "arguments": file.arguments}


def lazy_imports(facts: list[Facts]) -> dict[str, set[int]]:
    """Return the lines of each file that import modules of ours in functions."""
    modules = {file.module for file in facts}
    lines = {file.path: {line.line for line, _ in own_imports(file, modules) if line.is_in_function} for file in facts}
    return {path: numbers for path, numbers in lines.items() if numbers}


def _is_in(seam: str, path: str) -> bool:
    return path == seam or (seam.endswith("/") and path.startswith(seam))


def _cycles(facts: list[Facts]) -> dict[str, Figure]:
    files = {file.module: file for file in facts}
    figures = {}
    for cycle in cycles(import_graph(facts, in_functions=True, for_types=True)):
        for module in cycle:
            file = files[module]
            lines = {line.line for line, target in own_imports(file, set(files)) if target in cycle}
            figures[file.path] = Figure(len(cycle), tuple(sorted(lines)))
    return figures


def totals(facts: list[Facts], root: Path = ROOT) -> dict[str, dict[str, float]]:
    """Return the totals that have ceilings or floors, rounded as they stand in the file of limits."""
    source_lines = sum(file.num_lines for file in facts)
    return {
        "ceilings": {
            "modules": sum(file.has_content for file in facts),
            "packages": len({Path(file.path).parent for file in facts if file.has_content}),
            "source_lines": math.ceil(source_lines / LINES_STEP) * LINES_STEP,
            "filler_names_percent": math.ceil(filler_share(facts) * 1000) / 10,
            "repeated_file_names": len(repeated_file_names(facts)),
            "what_docstrings": sum(file.num_what_docstrings for file in facts),
            "programs": sum(file.is_program for file in facts),
            "popen_calls": sum(file.num_popens for file in facts),
            "posix_files": sum(file.is_posix for file in facts),
            "write_read_methods": sum(file.num_writers + file.num_readers for file in facts),
        },
        "floors": {"tests_per_source": math.floor(count_lines(root / "tests") / max(source_lines, 1) * 100) / 100},
    }


def filler_share(facts: list[Facts]) -> float:
    """Return the share of variables and arguments whose names are fillers."""
    fillers = sum(file.names[word] for file in facts for word in FILLERS)
    return fillers / max(sum(file.names.total() for file in facts), 1)


def repeated_file_names(facts: list[Facts]) -> dict[str, int]:
    """Return the names that two or more modules share, with their number."""
    names = Counter(Path(file.path).stem for file in facts if file.has_content)
    return {name: count for name, count in names.items() if count > 1 and not name.startswith("__")}


# ---- comparison ----


def complaints(facts: list[Facts], limits: Limits, root: Path = ROOT) -> list[str]:
    """Return a sentence for each figure that the limits do not allow, and for each line of theirs that may fall."""
    return [*_excesses(facts, limits, root), *_slack(facts, limits, root)]


def _excesses(facts: list[Facts], limits: Limits, root: Path = ROOT) -> Iterator[str]:
    """Yield what is over its limit and its exception, its ceiling, or below its floor."""
    for kind, places in figures_of(facts, limits).items():
        exceptions = limits.section(f"exceptions.{kind}")
        for place, figure in places.items():
            exception = exceptions.get(place)
            if figure.value <= (exception.value if exception else 0):
                continue
            path, _, name = place.partition(":")
            allowed = f"its exception allows {exception.value:.0f}" if exception else f"limit {limits.limits[kind]}"
            others = f", also in lines {', '.join(map(str, figure.lines[1:]))}" if len(figure.lines) > 1 else ""
            subject = f"{path}:{figure.lines[0]}: {name or 'the module'}"
            yield f"{subject} has {figure.value} {UNITS[kind]} ({kind}: {allowed}){others}"
    for section, values in totals(facts, root).items():
        for entry in limits.section(section).values():
            value = values[entry.name]
            if (value > entry.value) if section == "ceilings" else (value < entry.value):
                side = "above its ceiling" if section == "ceilings" else "below its floor"
                yield f"{PATH.name}:{entry.line}: {entry.name} is {value:g}, {side} of {entry.value:g}"


def _slack(facts: list[Facts], limits: Limits, root: Path = ROOT) -> Iterator[str]:
    """Yield the lines of the file of limits that can be lowered, raised or removed."""
    for entry, value in _changes(facts, limits, root):
        verb = "Remove the line" if value is None else f"Write {value:g}"
        reason = "is no exception any more" if value is None else f"is {value:g} now"
        yield f"{PATH.name}:{entry.line}: {entry.name} = {entry.value:g} {reason}. {verb}, or run `{COMMAND}`."
    paths = lazy_imports(facts)
    for seam in limits.lazy_seams:
        if not any(_is_in(seam, path) for path in paths):
            yield f"{PATH.name}: the lazy seam {seam} imports nothing in a function. Remove it."


def _changes(facts: list[Facts], limits: Limits, root: Path) -> Iterator[tuple[Entry, float | None]]:
    """Yield the entries that are not strict enough, with the value that is; None for one that is needed no more."""
    figures = figures_of(facts, limits)
    values = totals(facts, root)
    for entry in limits.entries:
        section, _, kind = entry.section.partition(".")
        if section == "exceptions":
            figure = figures[kind].get(entry.name)
            if figure is None or figure.value < entry.value:
                yield entry, figure.value if figure else None
        elif section in values:
            value = values[section][entry.name]
            if (value < entry.value) if section == "ceilings" else (value > entry.value):
                yield entry, value


def lowered(text: str, facts: list[Facts], root: Path = ROOT) -> str:
    """Return the text of the file of limits with every line as strict as the source allows; none is added."""
    lines: list[str | None] = list(text.splitlines())
    for entry, value in _changes(facts, Limits(text), root):
        line = lines[entry.line - 1] or ""
        lines[entry.line - 1] = None if value is None else f"{line.rpartition(' = ')[0]} = {value:g}"
    return "".join(f"{line}\n" for line in lines if line is not None)


def write_limits(path: Path = PATH, root: Path = ROOT) -> list[str]:
    """Lower the lines of a file of limits; return what is still over its limits, for which no line is written."""
    facts = read_facts(root)
    path.write_text(lowered(path.read_text(encoding="utf-8"), facts, root), encoding="utf-8")
    return list(_excesses(facts, read_limits(path), root))
