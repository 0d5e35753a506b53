"""Examples of MathWorks' documentation whose data can be made here: what the shipped ones of the same kind reach.

python -m benchmarks.proofs.designer_examples
"""

import tempfile
from pathlib import Path

from benchmarks.proofs.results import Proof, Row, prove
from benchmarks.proofs.runs import EXAMPLES, train

HELP = "https://www.mathworks.com/help"
PAIRS = {
    "angles": (
        "Train Convolutional Neural Network for Regression",
        "deeplearning/ug/train-a-convolutional-neural-network-for-regression",
        "rmse",
    ),
    "shapes": (
        "Create Simple Semantic Segmentation Network",
        "vision/ug/create-simple-semantic-segmentation-network-in-deep-network-designer",
        "accuracy",
    ),
    "waves": (
        "Get Started with Deep Network Designer",
        "deeplearning/gs/get-started-with-deep-network-designer",
        "accuracy",
    ),
    "reports": (
        "Classify Text Data",
        "deeplearning/ug/classify-text-data-using-convolutional-neural-network",
        "accuracy",
    ),
}
"""By example: the title of MathWorks' page, its address, and the metric."""


def measure(quick: bool) -> list[Row]:
    """Train the examples as they are shipped, and take the metric of their test split."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for example, (title, page, metric) in list(PAIRS.items())[: 1 if quick else None]:
            changes = {"training.max_epochs": 1} if quick else {}
            run = train(EXAMPLES / f"{example}.netwright", Path(name, example), changes)
            value = (run.read_result() or {})["test"][metric]
            shown = f"RMSE {value:.2f} degrees" if metric == "rmse" else f"accuracy {100 * value:.1f} %"
            rows.append([f"[{title}]({HELP}/{page}.html)", f"[`{example}`](gallery/{example}.md)", shown, "not known"])
    return rows


PROOF = Proof(
    "designer_examples",
    "MathWorks' designer examples",
    "Examples of MathWorks' documentation whose data can be made here, and the shipped ones of the same kind, trained "
    "as they are on the data that comes with them. The data is not the same: compare the tasks, not the decimals. "
    "**What MathWorks' pages print stands beside none of them:** those figures could not be read from any source here, "
    "and none is invented. [Gallery](gallery.md#beside-mathworks-examples) tells how the data differs.",
    ("MathWorks", "here", "test split, here", "printed there"),
    measure,
)

if __name__ == "__main__":
    prove(PROOF)
