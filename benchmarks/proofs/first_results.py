"""First results beside scikit-learn's defaults: the figures that `benchmarks/first_results.py` has measured.

    python -m benchmarks.proofs.first_results    # takes them over from benchmarks/RESULTS.md

To measure them anew, `python -m benchmarks.first_results`: half an hour, more on a busy machine.
"""

from benchmarks.proofs.results import Proof, Row, measured_table, prove

MEASURED = ("set", "after", "linear", "forest", "boosting", "MLP", "last value", "season", "Holt-Winters")
COLUMNS = ("set", "Netwright", *MEASURED[2:])


def measure(_quick: bool) -> list[Row]:
    """Return the table of the reported sets."""
    return [[cell.strip("*") for cell in row] for row in measured_table("First results", MEASURED)]


PROOF = Proof(
    "first_results",
    "First results beside scikit-learn",
    "`netwright-engine new --data X` and `train` with every default, judged on a quarter of the rows that neither "
    "sees, beside scikit-learn's models with theirs. Accuracy, R², and of forecasts the skill 1 - RMSE / RMSE of the "
    "better of the last value and the season; more is better. No option was tuned on these sets; of shapes, an assumed "
    "speed was corrected after a first result. One split each, so that one row of the small sets is two points. The "
    "figures are those of `benchmarks/RESULTS.md`, measured by `benchmarks/first_results.py` on another day, and only "
    "taken over here.",
    COLUMNS,
    measure,
    is_taken_over=True,
)

if __name__ == "__main__":
    prove(PROOF)
