"""Run folders from strangers: whatever their files hold, the list shows it, finds in it, writes it, and goes on."""

import json
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.cli.answers import print_json
from netwright.engine.operations.runs import _as_json, run_rows
from netwright.engine.runs.history import list_runs
from netwright.engine.runs.query import as_csv, matching, order_by
from netwright.engine.runs.summary import summary_from

ODD = st.sampled_from(
    [10**400, -(10**400), 1e308, float("nan"), float("inf"), "Infinity", True, "\ud800", "", -1, "x" * 500]
)
ANYTHING = st.recursive(st.none() | st.floats() | st.text(max_size=8) | ODD, lambda some: st.lists(some, max_size=3))
NAMES = (
    "name",
    "state",
    "created",
    "environment",
    "project_path",
    "epochs",
    "seconds",
    "loss",
    "metrics",
    "note",
    "tags",
)
PARTS = ("validation", "test", "metrics", "training", "data", "network", "environment")
OBJECT = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), ANYTHING, max_size=6)
WHOLE = st.builds(lambda a, b: {**a, **b}, OBJECT, st.dictionaries(st.sampled_from(PARTS), OBJECT, max_size=4))
FILES = ("run.json", "result.json", "notes.json", "project.netwright", "events.jsonl")


def use(folder: Path) -> list[Any]:
    """Everything that is done with a list of runs."""
    runs = list_runs(folder)
    again = list_runs(folder)
    assert [repr(run.write()) for run in runs] == [repr(run.write()) for run in again]
    for run in runs:
        assert repr(summary_from(json.loads(json.dumps(run.write()))).write()) == repr(run.write())
    for text in ("x", "loss<1", "epochs>0", "training.max_epochs=30", "state:failed"):
        matching(runs, text)
    for key in ("created", "name", "seconds", "changes", "tags"):
        order_by(key, ()).sorted(runs)
    run_rows(runs)
    as_csv(runs).encode("utf-8", "backslashreplace")
    print_json(Namespace(command="runs"), {"runs": [_as_json(run) for run in runs]})
    return runs


@given(files=st.dictionaries(st.sampled_from(FILES), WHOLE | ANYTHING))
def test_any_values(files: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for run in ("first", "second"):
            (Path(folder) / run).mkdir()
            (Path(folder) / run / "run.json").write_text("{}")
            for name, value in files.items():
                (Path(folder) / run / name).write_text(json.dumps(value))
        assert len(use(Path(folder))) == 2


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff" * 5000,
        b"[" * 100_000,
        b'{"a":' * 60 + b"1" + b"}" * 60,
        b'{"a":' * 900 + b"1" + b"}" * 900,
        b'{"network": ' * 90 + b"1" + b"}" * 90,
    ],
    ids=["empty", "noise", "brackets", "deep", "deeper", "network"],
)
def test_any_bytes(tmp_path: Path, name: str, content: bytes) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text('{"state": "finished"}')
    (run / name).write_bytes(content)
    assert len(use(tmp_path)) == 1


def test_a_folder_with_a_name_that_is_no_text(tmp_path: Path) -> None:
    run = tmp_path / "run_\udcff"
    run.mkdir()
    (run / "run.json").write_text('{"state": "finished"}')
    assert [one.path for one in use(tmp_path)] == [run]
