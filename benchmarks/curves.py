"""Live curves: milliseconds of the processor an update and bytes a point, over ever longer histories.

Two layouts of 1000 x 500 pixels: the four curves of a run (accuracy and loss, training and validation each,
smoothed lines included) and, harder, four cards with a training curve each. An update appends 250 points to
every training curve, shows the new figures and repaints. Budget: under 8 ms, under 8 bytes a point.

    QT_QPA_PLATFORM=offscreen OMP_NUM_THREADS=1 python -m benchmarks.curves
"""

import statistics
import sys
import time

import numpy as np
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from netwright.app.plots.curve_card import CurveCard
from netwright.app.plots.series import Series
from netwright.designer import theme

HISTORIES = (10_000, 100_000, 1_000_000, 10_000_000)
ADDED = 250
UPDATES = 60
BUDGET_MS, BUDGET_BYTES = 8.0, 8.0


def cards(columns: int, rows: int, length: int, has_validation: bool) -> tuple[QWidget, list[CurveCard]]:
    """A window of 1000 x 500 with a grid of cards that hold a history each."""
    window = QWidget()
    window.resize(1000, 500)
    grid = QGridLayout(window)
    random = np.random.default_rng(0)
    result = []
    for number in range(columns * rows):
        card = CurveCard(f"Loss {number}")
        steps = np.arange(1, length + 1)
        card.data.training.append(1 + 2 * np.exp(-4 * steps / length) + 0.2 * random.normal(size=length))
        if has_validation:
            apart = length // 50
            card.append("validation", apart, apart, [1.0 + 2 / (n + 1) for n in range(50)])
        grid.addWidget(card, number // columns, number % columns)
        result.append(card)
    return window, result


def measure(app: QApplication, columns: int, rows: int, length: int, has_validation: bool) -> tuple[float, float]:
    """Median and worst milliseconds an update."""
    window, shown = cards(columns, rows, length, has_validation)
    window.show()
    app.processEvents()
    picture = QPixmap(window.size())
    taken = []
    values = (1 + 0.2 * np.random.default_rng(1).normal(size=ADDED)).tolist()
    for number in range(UPDATES + 5):
        begin = time.process_time()
        for card in shown:
            card.append("training", length + number * ADDED + 1, 1, values)
            card.flush()
        window.render(picture)
        taken.append(1000 * (time.process_time() - begin))
    window.close()
    window.deleteLater()
    app.processEvents()
    return statistics.median(taken[5:]), max(taken[5:])


def bytes_a_point(length: int) -> float:
    """Memory beyond the values themselves."""
    series = Series()
    for start in range(0, length, 50_000):
        series.append(np.zeros(min(50_000, length - start)))
    return series.overhead_bytes / length


def main() -> int:
    """Prints the table; 1 if a median or the memory is over the budget."""
    app = QApplication(["curves"])
    theme.apply(app, "dark")
    names = ("history", "4 curves on 2 cards, ms (worst)", "4 cards, ms (worst)", "bytes a point")
    print("  ".join(f"{name:>32}" for name in names))
    is_over = False
    for length in HISTORIES:
        two, two_worst = measure(app, 1, 2, length, True)
        four, four_worst = measure(app, 2, 2, length, False)
        extra = bytes_a_point(length)
        cells = (f"{length:,}", f"{two:.1f} ({two_worst:.1f})", f"{four:.1f} ({four_worst:.1f})", f"{extra:.2f}")
        print("  ".join(f"{cell:>32}" for cell in cells))
        is_over |= max(two, four) >= BUDGET_MS or extra >= BUDGET_BYTES
    print(f"budget: {BUDGET_MS:g} ms, {BUDGET_BYTES:g} bytes: {'EXCEEDED' if is_over else 'kept'}")
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())
