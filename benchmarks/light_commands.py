"""Processor time of commands that train nothing, as multiples of an idle interpreter: interleaved, medians.

    .venv/bin/python benchmarks/light_commands.py [--rounds 10] [--before FOLDER]

User and system time of each process and its children, which other work on the machine lengthens less than the clock.
`--before` names a folder with another checkout, measured in turns.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMANDS = (
    "--version",
    "notify",
    "options lr",
    "devices",
    "templates",
    "runs",
    "queue list",
    "schema",
    "jobs",
    "cluster list",
    "draw digits.netwright -o digits.svg",
    "train --help",
    "check digits.netwright --set data.source=none",
    "check digits.netwright",
)


def seconds(words: list[str], version: Path, folder: str) -> float:
    """Return the processor time of a fresh interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(version), "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's second start finds modules compiled
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Measure, and print a row of Markdown per command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--before", type=Path)
    arguments = parser.parse_args()
    versions = [ROOT, *([arguments.before.resolve()] if arguments.before else [])]
    found: dict[tuple[str, Path], list[float]] = {}
    bare: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "netwright.engine", "new", "digits", folder], cwd=ROOT, check=True)
        for place in range(arguments.rounds + 1):  # the first one compiles modules, and does not count
            times = [seconds(["-c", "pass"], ROOT, folder)]
            for command in COMMANDS:
                for version in versions:
                    busy = seconds(["-m", "netwright.engine", *command.split()], version, folder)
                    if place:
                        found.setdefault((command, version), []).append(busy)
            bare += times if place else []
    empty = statistics.median(bare)
    print(f"an interpreter that does nothing: {empty:.3f} s")
    for command in COMMANDS:
        medians = [statistics.median(found[command, version]) for version in versions]
        print(f"| `{command}` |", " | ".join(f"{median:.3f} s, {median / empty:.1f}" for median in medians), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
