"""Writes docs/proofs.md from the proofs and `results.json`: `python -m benchmarks.proofs.page`."""

import json
from pathlib import Path
from typing import Any

from benchmarks.proofs import airbench94, designer_examples, first_results, kills, peers, two_ranks
from benchmarks.proofs.results import RESULTS, Proof, table
from netwright.engine.core.files import write_atomically

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"
PROOFS = tuple(module.PROOF for module in (airbench94, two_ranks, kills, peers, first_results, designer_examples))
INTRODUCTION = (
    "# Proofs\n\n"
    "What Netwright promises, as figures that anybody can take again: one script each in `benchmarks/proofs`, run from "
    "a checkout after `make setup`. Each prints its table and notes it in `benchmarks/proofs/results.json`, from which "
    "`python -m benchmarks.proofs.page` writes this page. `--quick` takes seconds and notes nothing.\n\n"
    "All was run on a shared machine with two cores and no GPU, beside much other work: nothing here is a time, but "
    "for the tables that are taken over from `benchmarks/RESULTS.md`. What was not run is said to be so.\n"
)


def section(proof: Proof, result: dict[str, Any]) -> str:
    """Return what the page says of one proof."""
    ran = f"Run on {result['date']}, torch {result['torch']}, {result['cores']} cores."
    return "\n\n".join(
        (
            f"## {proof.title}",
            proof.text,
            table(result["columns"], result["rows"]),
            f"    python -m benchmarks.proofs.{proof.name}",
            f"Taken over on {result['date']}." if proof.is_taken_over else ran,
        )
    )


def page() -> str:
    """Return the page."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    return "\n".join((INTRODUCTION, "\n\n".join(section(proof, results[proof.name]) for proof in PROOFS), ""))


if __name__ == "__main__":
    write_atomically(PAGE, page().encode())
