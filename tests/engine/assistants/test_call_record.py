"""The record of calls: complete, bounded, and a condition of every call."""

import json
from pathlib import Path

import pytest

from netwright.engine.assistants import call_record
from netwright.engine.assistants.call_record import MOST_BYTES, NAME, OLDER, record, refuse_unrecorded
from netwright.engine.core.errors import UserError


def test_a_call_is_recorded_beside_the_runs_and_in_a_run(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "first"
    run.mkdir(parents=True)
    record(tmp_path, [run], {"tool": "show", "arguments": {"run_dir": "runs/first"}})
    record(tmp_path, [], {"tool": "options", "arguments": {"words": ["x" * 100_000]}})
    lines = (tmp_path / "runs" / NAME).read_text().splitlines()
    assert [json.loads(line)["tool"] for line in lines] == ["show", "options"]
    assert [json.loads(line)["tool"] for line in (run / NAME).read_text().splitlines()] == ["show"]
    assert len(lines[1]) < 2_000


def test_the_record_keeps_the_newest_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES == 2**20
    monkeypatch.setattr(call_record, "MOST_BYTES", 2_000)
    (tmp_path / "runs").mkdir()
    for number in range(200):
        record(tmp_path, [], {"number": number})
    files = [tmp_path / "runs" / name for name in (OLDER, NAME)]
    numbers = [json.loads(line)["number"] for path in files if path.exists() for line in path.read_text().splitlines()]
    assert numbers == [*range(numbers[0], 200)]
    assert 10 < len(numbers) < 150
    assert {path.name for path in (tmp_path / "runs").iterdir()} <= {OLDER, NAME}


def test_without_a_place_for_the_record_a_call_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("this is a file")
    with pytest.raises(UserError, match=r"the record of calls, cannot be written: .* can ask nothing without it"):
        refuse_unrecorded(tmp_path)
