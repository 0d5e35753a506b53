"""Files from strangers: whatever stands in one, a reader reads it or says in a `UserError` what is wrong with it.

A short form runs with all tests; `make fuzz` gives each reader 10,000 files (`FUZZ_COUNT`, `FUZZ_SEED`, and at
most `FUZZ_SECONDS`).
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import tests.fuzz.hostile_names as known
from tests import warm

ROOT = Path(__file__).parents[2]
CHILD = """
import warnings
warnings.simplefilter("error")
from tests.fuzz.child import main
main()
"""
SHORT = 5
LONG = int(os.environ.get("FUZZ_COUNT", "10000"))


def fed(folder: Path, count: int, seed: int, names: list[str], patience_s: float) -> list[dict[str, Any]]:
    """What came of so many files for each of these readers, in a process with limits that has torch already."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    words = [str(folder), str(count), str(seed), *names]
    done = warm.run(words, code=CHILD, cwd=ROOT, env=environment, timeout=patience_s)
    assert done.returncode == 0, f"It died; the file it died of is the newest in {folder}.\n{done.stderr[-5000:]}"
    assert "Traceback" not in done.stderr, done.stderr[-5000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"reader"')]


def words(found: list[dict[str, Any]]) -> str:
    """What went wrong, with the number of the first file."""
    wrong = [(one["reader"], known) for one in found for known in one["wrong"].values()]
    return "\n".join(f"{name}, file {one['first']} and {one['count'] - 1} more: {one['said']}" for name, one in wrong)


@pytest.mark.parametrize("names", [known.ENGINE, known.WINDOW], ids=["engine", "window"])
def test_hostile_files_are_read_or_refused(tmp_path: Path, names: list[str]) -> None:
    found = fed(tmp_path / "fuzz", SHORT, 0, names, 280)
    assert [one["reader"] for one in found] == names
    assert not words(found)


@pytest.mark.fuzz
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize("name", [*known.ENGINE, *known.WINDOW])
def test_many_hostile_files(tmp_path: Path, name: str) -> None:
    found = fed(tmp_path / "fuzz", LONG, int(os.environ.get("FUZZ_SEED", "1")), [name], 5 * 3600)
    print(f"{name}: {found[0]['files']:,} files, {found[0]['read']:,} read, {found[0]['refused']:,} refused")
    assert not words(found)
