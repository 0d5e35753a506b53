"""What every proof has in common: its table, `results.json`, from which a page of the docs is made, and its command."""

import argparse
import datetime
import importlib.metadata
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from netwright.engine.core.files import write_atomically

RESULTS = Path(__file__).with_name("results.json")
MEASURED = Path(__file__).parents[1] / "RESULTS.md"
Row = list[str]


@dataclass(frozen=True)
class Proof:
    """One proof: the name of its script, and what the page says about it. `quick` takes seconds and proves less."""

    name: str
    title: str
    text: str
    columns: tuple[str, ...]
    measure: Callable[[bool], list[Row]]
    """Takes whether to be quick, returns the rows of the table."""
    is_taken_over: bool = False
    """Whether the figures are those of `benchmarks/RESULTS.md`."""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def prove(proof: Proof) -> None:
    """Measure, print the table, and note it in `results.json`, unless it is quick."""
    parser = argparse.ArgumentParser(description=proof.title)
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes; nothing is noted")
    quick = parser.parse_args().quick
    rows = proof.measure(quick)
    print(table(proof.columns, rows))
    if quick:
        return
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results[proof.name] = {
        "date": datetime.date.today().isoformat(),
        "torch": importlib.metadata.version("torch").partition("+")[0],
        "cores": os.cpu_count(),
        "columns": list(proof.columns),
        "rows": rows,
    }
    write_atomically(RESULTS, (json.dumps(results, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode())


def measured_table(section: str, columns: Sequence[str], header: str = "") -> list[Row]:
    """Return these columns of a table of `benchmarks/RESULTS.md`: the first one of the section that begins so, or the
    first one there whose header begins with `header`."""
    found = re.search(rf"^## {re.escape(section)}.*?(?=^## |\Z)", MEASURED.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None, f"{MEASURED.name} has no section '{section}'"
    for lines in re.findall(r"(?:^\|.*\n?)+", found[0], re.MULTILINE):
        names, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines())
        if names[0].startswith(header) and set(columns) <= set(names):
            return [[row[names.index(column)] for column in columns] for row in rows]
    raise AssertionError(f"section '{section}' has no table with {', '.join(columns)}")
