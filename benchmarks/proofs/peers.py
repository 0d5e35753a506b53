"""Training beside hand-written loops and plain PyTorch: the figures that `benchmarks/peer.py` has measured.

    python -m benchmarks.proofs.peers    # takes them over from benchmarks/RESULTS.md

To measure them anew, as `benchmarks/peer.py` says, takes the shared benchmark and an hour on a quiet machine.
"""

from benchmarks.proofs.results import Proof, Row, measured_table, prove

COLUMNS = (
    "workload",
    "ideal, samples/s",
    "Netwright, times ideal (best epoch)",
    "plain PyTorch, times ideal",
    "memory, Netwright / plain",
)


def measure(_quick: bool) -> list[Row]:
    """Return the table of peers."""
    return measured_table("Training beside peers", COLUMNS)


PROOF = Proof(
    "peers",
    "As fast as a loop by hand",
    "The same data, network, solver and batch in one thread of a CPU. `ideal` is a hand-written loop over tensors in "
    "memory with torch's fused optimizer; plain PyTorch is a `DataLoader` and a usual loop. Netwright records every "
    "loss meanwhile. Medians of rounds in turns. The figures are those of `benchmarks/RESULTS.md`, measured by "
    "`benchmarks/peer.py` on another day, and only taken over here.",
    COLUMNS,
    measure,
    is_taken_over=True,
)

if __name__ == "__main__":
    prove(PROOF)
