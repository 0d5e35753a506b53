"""The public proofs: the page is what the results give, and the scripts still run."""

import json

from benchmarks.proofs import airbench94
from benchmarks.proofs.page import PAGE, PROOFS, page
from benchmarks.proofs.results import RESULTS
from netwright.engine.project.file import load
from scripts.make_templates import AIRBENCH94, triangle


def test_the_page_is_made_from_the_results() -> None:
    """Kills, two ranks and examples are what `tests/faults` and `tests/system` test: here they are only imported."""
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m benchmarks.proofs.page`"
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert results.keys() == {proof.name for proof in PROOFS}
    for proof in PROOFS:
        assert results[proof.name]["columns"] == list(proof.columns)
        rows = results[proof.name]["rows"]
        if proof.name in ("peers", "first_results"):
            rows = proof.measure(True)
            assert rows == results[proof.name]["rows"], f"run `python -m benchmarks.proofs.{proof.name}`"
        assert all(len(row) == len(proof.columns) for row in rows)
    assert load(airbench94.TEMPLATE).project.training == AIRBENCH94
    assert triangle(48, 10).startswith("cyclical 110 iterations")


def test_airbench94_is_its_loop_to_the_last_bits_of_double_precision() -> None:
    (row,) = airbench94.PROOF.measure(True)
    assert float(row[-1]) < 1e-12
