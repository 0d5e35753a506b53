"""Print the size and the shape of the source: what is counted, and what `code_limits.toml` limits.

    python -m scripts.measure_code                  the table
    python -m scripts.measure_code --json           the same as JSON
    python -m scripts.measure_code --limits         what the limits do not allow; exit code 1 where there is any
    python -m scripts.measure_code --write-limits   lower the exceptions and ceilings to what is there

Modules of three lines or fewer (packages that hold a docstring) are in no figure of modules.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from statistics import median, quantiles

from scripts import code_limits
from scripts.code_facts import PREFIX, ROOMS, ROOT, Facts, closure, count_lines, cycles, import_graph, read_facts

Row = dict[str, float]
CLOSURES = ("netwright.engine.training.trainer", "netwright.app.window")
"""Modules of which the table says how much they import, also through others."""


def table(facts: list[Facts]) -> dict[str, Row]:
    """Return the rows of the table: the figures of each subject by their names."""
    return {**_size_rows(facts), **_unit_rows(facts), **_habit_rows(facts), **_import_rows(facts)}


def _size_rows(facts: list[Facts]) -> dict[str, Row]:
    rooms = {room: [file.num_lines for file in facts if file.path.startswith(f"{room}/")] for room in ROOMS}
    source, tests = sum(file.num_lines for file in facts), count_lines(ROOT / "tests")
    modules = [file.num_lines for file in facts if file.has_content]
    return {
        "source": {"lines": source, "files": len(facts)},
        "lines": {room: sum(lines) for room, lines in rooms.items()},
        "tests": {"lines": tests, "per line of source": round(tests / source, 3)},
        "packages": {"folders": code_limits.totals(facts)["ceilings"]["packages"]},
        "modules": {
            "over 3 lines": len(modules),
            "under 50": sum(lines < 50 for lines in modules),
            "under 100": sum(lines < 100 for lines in modules),
            "over 400": sum(lines > 400 for lines in modules),
            "over 450": sum(lines > 450 for lines in modules),
        },
        **{f"modules of {room}": _spread([lines for lines in rooms[room] if lines > 3]) for room in ROOMS},
    }


def _spread(numbers: list[int]) -> Row:
    return {"median": round(median(numbers)), "p90": round(quantiles(numbers, n=10)[-1]), "largest": max(numbers)}


def _unit_rows(facts: list[Facts]) -> dict[str, Row]:
    functions = [measure.value for file in facts for measure in file.functions]
    classes = [measure.value for file in facts for measure in file.classes]
    arguments = [measure.value for file in facts for measure in file.arguments]
    names = Counter(
        name for file in facts for name in {measure.name for measure in file.classes if "." not in measure.name}
    )
    return {
        "functions": {"number": len(functions), "over 30 lines": _over(30, functions), "over 60": _over(60, functions)},
        "lines of functions": _spread(functions),
        "classes": {
            "number": len(classes),
            "over 300 lines": _over(300, classes),
            "names in several modules": _over(1, names.values()),
        },
        "functions by arguments": {"7 or more": _over(6, arguments), "more than 7": _over(7, arguments)},
        "dict[str, Any]": {
            "all": sum(file.num_any_dicts for file in facts),
            "in public signatures": sum(measure.value for file in facts for measure in file.any_dict_signatures),
            "public functions with it": sum(len(file.any_dict_signatures) for file in facts),
        },
    }


def _over(limit: int, numbers: Iterable[int]) -> int:
    return sum(number > limit for number in numbers)


def _habit_rows(facts: list[Facts]) -> dict[str, Row]:
    repeated = code_limits.repeated_file_names(facts)
    return {
        "file names used twice or more": {"names": len(repeated), "modules": sum(repeated.values())},
        "filler names": {"per cent of variables": round(100 * code_limits.filler_share(facts), 2)},
        "docstrings": {"that begin 'What' or 'Return what'": sum(file.num_what_docstrings for file in facts)},
        "processes": {
            "programs": sum(file.is_program for file in facts),
            "Popen calls": sum(file.num_popens for file in facts),
            "cuts at line ends": sum(file.num_line_splitters for file in facts),
        },
        "files of POSIX alone": {"files": sum(file.is_posix for file in facts)},
        "hand-written JSON": {
            "write() -> dict": sum(file.num_writers for file in facts),
            "read(cls)": sum(file.num_readers for file in facts),
        },
    }


def _import_rows(facts: list[Facts]) -> dict[str, Row]:
    at_start, complete = import_graph(facts), import_graph(facts, in_functions=True, for_types=True)
    running = import_graph(facts, in_functions=True)
    lines = {file.module: file.num_lines for file in facts}
    in_functions = {(file.path, line.line) for file in facts for line in file.imports if line.is_in_function}
    users = Counter(target for targets in complete.values() for target in targets)
    rows: dict[str, Row] = {
        "imports in functions": {
            "all": len(in_functions),
            "of our own": sum(map(len, code_limits.lazy_imports(facts).values())),
        },
        "cycles of modules": {
            "at import": len(cycles(at_start)),
            "with imports in functions": len(cycles(running)),
            "with typing imports": len(cycles(complete)),
        },
        "largest fan-in": {name.removeprefix(PREFIX): count for name, count in users.most_common(5)},
    }
    for name in CLOSURES:
        modules = {name} | closure(at_start, name)
        title = f"imported with {name.removeprefix(PREFIX)}"
        rows[title] = {"modules": len(modules), "lines": sum(lines[module] for module in modules)}
    return rows


def _text(row: Row) -> str:
    return ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in row.items()
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="measure_code", description="Measure the source and hold its limits.")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--json", action="store_true", help="print the table as JSON")
    choice.add_argument("--limits", action="store_true", help="print what the limits do not allow")
    choice.add_argument("--write-limits", action="store_true", help="lower exceptions and ceilings to what is there")
    options = parser.parse_args(arguments)
    if options.limits or options.write_limits:
        lines = (
            code_limits.write_limits()
            if options.write_limits
            else code_limits.complaints(read_facts(), code_limits.read_limits())
        )
        print(*lines, sep="\n", end="\n" if lines else "")
        return 1 if lines else 0
    rows = table(read_facts())
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for subject, row in rows.items():
            print(f"{subject:40} {_text(row)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
