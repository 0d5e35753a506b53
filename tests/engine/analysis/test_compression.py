"""Compression to a budget: which amounts are tried, which candidates form the front, and the project of a candidate."""

from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.engine.analysis.compression import GRID, Search
from netwright.engine.analysis.operations.compress import CompressRequest, read_bytes
from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_REQUIREMENT, UserError
from netwright.engine.project.file import load as load_project
from tests.engine.analysis.test_pruning import table_run
from tests.json_schema import checked_output

SIZES = [(1000 * (1 - amount), 1000 * (1 - amount)) for amount in GRID]


def measured(amount: float, score: float, milliseconds: float = 1.0) -> dict[str, Any]:
    """A candidate whose files have 4 and 1 bytes per weight, and 100 more."""
    parameters = int(1000 * (1 - amount))
    rows = [
        {
            "precision": precision,
            "size_bytes": 100 + each * parameters,
            "metrics": {"accuracy": score - (each == 1) * 0.002},
            "milliseconds": {"1": milliseconds * (1 - amount)},
            "split": "test",
        }
        for precision, each in (("float32", 4), ("int8-static", 1))
    ]
    return {"amount": amount, "parameters": parameters, "flops": parameters, "rows": rows}


def search(tmp_path: Path, *candidates: dict[str, Any], **budget: Any) -> Search:
    request = CompressRequest(model=tmp_path, **budget)
    facts = {"folder": str(tmp_path), "sizes": SIZES, "notes": []}
    return Search(request, facts, {each["amount"]: each for each in candidates})


def test_the_amount_that_a_size_or_a_time_needs_is_tried_first(tmp_path: Path) -> None:
    original = measured(0.0, 0.9)
    assert search(tmp_path, original, size="600").next_amount() == 0.5, "8-bit weights need less removed"
    assert search(tmp_path, original, time=0.4).next_amount() == 0.6
    tried = search(tmp_path, original, measured(0.5, 0.7), size="600")
    assert tried.next_amount() == 0.25, "too much was lost: halfway back"
    assert search(tmp_path, original, measured(0.5, 0.9)).next_amount() == 0.75, "no limit but the loss: halfway on"
    assert search(tmp_path, original, measured(0.03, 0.7)).next_amount() is None, "nothing between is left"


def test_the_front_and_the_best_candidate(tmp_path: Path) -> None:
    tried = (measured(0.0, 0.9), measured(0.4, 0.895), measured(0.6, 0.85, milliseconds=4.0))
    result = search(tmp_path, *tried, size="900").result()
    assert [row["number"] for row in result.rows if row["is_in_budget"]] == [3]
    assert (result.best, result.is_met) == (3, True)
    assert result.rows[3]["loss"] == pytest.approx(0.7)
    assert [row["is_on_front"] for row in result.rows] == [True, True, True, True, False, True]
    without = search(tmp_path, *tried, size="300").result()
    assert not without.is_met
    assert without.best == 3, "a size of 2.3 times the limit is nearer than a loss of 5.2 times"
    assert "No candidate is in the budget. The nearest is number" in without.reason


@pytest.mark.parametrize(("text", "size"), [("1MB", 10**6), ("1.5 KiB", 1536), ("200", 200), (".5mib", 2**19)])
def test_sizes_are_read(text: str, size: int) -> None:
    assert read_bytes(text) == size


def test_a_budget_that_is_none_is_refused(tmp_path: Path) -> None:
    for text in ("1 apple", "-5", "MB"):
        with pytest.raises(UserError, match="Expected a size such as 1MB"):
            read_bytes(text)
    with pytest.raises(UserError, match="--time: expected a number above 0, received 0"):
        CompressRequest(model=tmp_path, time=0.0).check()
    with pytest.raises(UserError, match="--pick says which"):
        CompressRequest(model=tmp_path, pick=1).check()


def test_a_candidate_trains_on_and_becomes_a_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table").mkdir()
    done = table_run(tmp_path / "table")
    run, to = str(done.folder.path), tmp_path / "small.netwright"
    asked = ["compress", run, "--size", "1", "--candidates", "1", "--epochs", "1", "-o", str(to), "--json"]
    assert main(asked) == EXIT_REQUIREMENT
    told = checked_output(capsys.readouterr().out)
    assert told["error"]["code"] == "budget"
    assert not to.exists()
    first, last = told["rows"][0], told["rows"][-1]
    assert (first["amount"], first["score"]) == (0.0, done.result["test"]["accuracy"])
    assert 0 < last["amount"] < 1
    assert last["parameters"] < first["parameters"]
    assert (last["precision"], last["number"]) == ("int8", len(told["rows"]) - 1)
    candidate = load_project(Path(told["folder"]) / f"{last['amount']:.4f}" / "candidate.netwright").project
    assert candidate.training.distil_from == run
    assert candidate.training.max_epochs == 1
    result = nw.compress(run, size=1, candidates=1, epochs=1, pick=last["number"], output=to)
    assert [row["bytes"] for row in result.rows] == [row["bytes"] for row in told["rows"]], "nothing is measured again"
    assert Path(result.onnx).stat().st_size == last["bytes"]
    assert nw.load_model(to).evaluate(data=done.folder.path.parent / "a.csv").metrics
    project = load_project(to).project
    assert (project.training.max_epochs, project.training.distil_from) == (2, "")
    with pytest.raises(UserError, match="There is no candidate 99"):
        nw.compress(run, candidates=1, epochs=1, pick=99, output=tmp_path / "other.netwright")
