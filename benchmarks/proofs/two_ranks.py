"""Two workers and one, by the real command: the loss of every step.

python -m benchmarks.proofs.two_ranks
"""

import tempfile
from pathlib import Path

from benchmarks.proofs.results import Proof, Row, prove
from benchmarks.proofs.runs import EXAMPLES, apart, losses, train

KINDS = {"digits": "convolutions, batch normalisation", "heating": "a table", "waves": "an LSTM"}
ONE = {"environment.target": "cpu", "environment.threads": 1}
TWO = {"environment.target": "multi-cpu", "environment.num_workers": 2, "environment.threads": 1}


def measure(quick: bool) -> list[Row]:
    """Train examples of three kinds with one worker and with two, in single and in double precision."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for example, kind in list(KINDS.items())[: 1 if quick else None]:
            row = [f"`{example}`, {kind}"]
            for precision in ("fp32", "fp64"):
                changes = {"training.precision": precision, "training.max_epochs": 1 if quick else 5}
                one, two = (
                    losses(train(EXAMPLES / f"{example}.netwright", Path(name, f"{example}{precision}{n}"), place))
                    for n, place in ((1, changes | ONE), (2, changes | TWO))
                )
                differences = apart(two, one)
                row += [f"{max(differences[:10]):.1e}", f"{max(differences):.1e}"]
            rows.append([row[0], f"{len(one)}", *row[1:]])
    return rows


PROOF = Proof(
    "two_ranks",
    "Two workers are one",
    "Shipped examples, trained by `netwright-engine train` by one process and by two that divide each mini-batch, sum "
    "their gradients and share the statistics of batch normalisation. Largest relative difference of the loss, over "
    "the first five epochs. Sums in another order are other roundings, which grow from step to step: in double "
    "precision two workers are one to 1e-6 over all steps; in single precision over the first ten, and the table over "
    "all. What grows is the example: a weight decay of 0.0001001 instead of 0.0001 moves the loss of one process in "
    "double precision by 1e-4 after 50 steps.",
    ("example", "steps", "fp32, first 10 steps", "fp32, all steps", "fp64, first 10 steps", "fp64, all steps"),
    measure,
)

if __name__ == "__main__":
    prove(PROOF)
