"""Print the test files that an uncommitted or unpushed change can break first, for `make check`.

    python scripts/affected_tests.py [BASE]

A file counts as changed when it differs from BASE (default: the merge base with the remote's main branch, else HEAD).
Chosen are changed tests, tests of the same path as a changed module, and tests that import a changed module directly,
nearest first, up to `MOST_FILES`; the tests of the architecture always. Tests with whole runs (`tests/system`,
`tests/faults`, `tests/fuzz`) are left to `make test`. What is left out is said on standard error.
"""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("app", "designer", "engine")
MOST_FILES = 20
LONG = ("system", "faults", "fuzz")


def git(*arguments: str) -> str:
    """The output of a git command, or nothing where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def changed_files(base: str) -> set[Path]:
    """Python files that differ from the base, or that git does not track yet."""
    listed = git("diff", "--name-only", "--diff-filter=d", base) + git("ls-files", "--others", "--exclude-standard")
    return {Path(name) for name in listed.splitlines() if name.endswith(".py")}


def module_name(path: Path) -> str:
    """The dotted name of a source file."""
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    return f"netwright.{name}" if path.parts[0] in ROOMS else name


def imports_of(path: Path) -> set[str]:
    """Every module and every name in a module that a file imports."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def affected(changed: set[Path]) -> list[Path]:
    """The tests that the changed files can break, nearest first."""
    tests = [path.relative_to(ROOT) for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    sources = {path for path in changed if path.parts[0] in ROOMS}
    modules = {module_name(path) for path in changed}
    mirrored = {Path("tests", *path.parts[:-1], f"test_{path.name}") for path in sources}
    ranks = {}
    for test in tests:
        if test.parts[1] in LONG:
            continue
        if test in changed:
            ranks[test] = 0
        elif test in mirrored:
            ranks[test] = 1
        elif imports_of(test) & modules:
            ranks[test] = 2
    return sorted(ranks, key=lambda test: (ranks[test], str(test)))


def main(arguments: list[str]) -> None:
    """Print the chosen files on one line."""
    base = arguments[0] if arguments else git("merge-base", "HEAD", "@{upstream}").strip() or "HEAD"
    chosen = affected(changed_files(base))
    if len(chosen) > MOST_FILES:
        print(f"check: {len(chosen) - MOST_FILES} more test files are left to `make test`", file=sys.stderr)
    print("tests/architecture", *chosen[:MOST_FILES])


if __name__ == "__main__":
    main(sys.argv[1:])
