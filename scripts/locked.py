"""Prints the part of lock.txt, with hashes, that Netwright with some extras needs: `locked.py gui,dev`.

torch and the libraries that its CUDA build alone brings are left out without `--torch`: another index may have the
build for a machine, with other hashes. Runs before anything is installed.
"""

import argparse
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = "netwright"
OF_TORCH = re.compile(r"torch|triton|(cuda|nvidia)-.*")


@dataclass(frozen=True)
class Locked:
    """A package of the lock: its lines for pip, and the packages that require it."""

    name: str
    version: str
    text: str
    parents: frozenset[str]

    @property
    def is_of_torch(self) -> bool:
        """Whether it is torch, or a library of a build of torch."""
        return OF_TORCH.fullmatch(self.name) is not None and not (OURS in self.parents and self.name != "torch")


def packages(text: str) -> dict[str, Locked]:
    """Return the packages of a lock by name."""
    found = {}
    for lines in re.findall(r"^[\w.-]+==.*\n(?:[ ].*\n)+", text, re.MULTILINE):
        name, version = re.match(r"([\w.-]+)==([\w.!+-]+)", lines).groups()  # type: ignore[union-attr]
        *_, parents = re.findall(r"# via (.*)", lines)
        found[name] = Locked(
            name, version, lines, frozenset(part.split()[0].split("[")[0] for part in parents.split(", "))
        )
    return found


def canonical(requirement: str) -> str:
    """Return the name in a requirement as the lock has it."""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def direct(extras: frozenset[str]) -> set[str]:
    """Return the names that pyproject.toml requires, with those of the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names: set[str] = set()
    waiting, done = ["", *extras], set()
    while waiting:
        extra = waiting.pop()
        if extra in done:
            continue
        done.add(extra)
        for requirement in project["optional-dependencies"][extra] if extra else project["dependencies"]:
            own = re.fullmatch(rf"{OURS}\[([\w,]+)\]", requirement)
            if own is not None:
                waiting += own[1].split(",")
            else:
                names.add(canonical(requirement))
    return names


def needed(lock: Mapping[str, Locked], extras: frozenset[str]) -> dict[str, Locked]:
    """Return the packages that Netwright with these extras needs, and what those need. What the lock lacks, such as
    the libraries of the extra `cluster`, is not among them."""
    names = direct(extras) & set(lock)
    while more := {name for name, package in lock.items() if package.parents & names} - names:
        names |= more
    return {name: package for name, package in lock.items() if name in names}


def read() -> dict[str, Locked]:
    """Return the packages of lock.txt."""
    return packages((ROOT / "lock.txt").read_text(encoding="utf-8"))


def main() -> None:
    """Print the lines."""
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("extras", type=lambda text: frozenset(filter(None, text.split(","))))
    command.add_argument("--torch", action="store_true", help="with torch and the libraries of its CUDA build")
    arguments = command.parse_args()
    for package in needed(read(), arguments.extras).values():
        if arguments.torch or not package.is_of_torch:
            print(package.text, end="")


if __name__ == "__main__":
    main()
