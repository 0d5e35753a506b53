"""How quick the layer library is with many layer types: made, and filtered at each letter; median ms.

    .venv/bin/python benchmarks/palette.py [--types 150 300]

A letter counts until the rows are found, laid out and painted. It is the processor's time that counts, since machines
are shared. The types that are not there yet are made up.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parents[1]))

from PySide6.QtWidgets import QApplication

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.panels.library_panel import LibraryPanel
from netwright.engine.network.catalog import catalog

TYPED = ("convolution", "relu", "batchnorm", "maxPooling2d", "probabilities", "lstm")


def fill(count: int) -> None:
    """Make up layer types, as many as are missing."""
    types = catalog()
    known = list(types.values())
    for number in range(len(known), count):
        base = known[number % len(known)]
        words = {"key": f"{base.key}_{number}", "label": f"{base.label} {number}", "__doc__": base.__doc__}
        made = type(f"{base.__name__}{number}", (base,), words)
        types[made.key] = made


def milliseconds(since: float) -> float:
    """From then to now."""
    return (time.process_time() - since) * 1e3


def measure(application: QApplication) -> tuple[float, float, float, float]:
    """The library made and shown, the first letter, the median letter, the worst."""
    start = time.process_time()
    palette = LibraryPanel(Editor())
    palette.resize(232, 800)
    palette.show()
    application.processEvents()
    made = milliseconds(start)
    until = time.monotonic() + 0.6
    while time.monotonic() < until:  # nobody types at once; meanwhile the words are gathered
        application.processEvents()
    letters = []
    for word in TYPED:
        for length in range(1, len(word) + 1):
            start = time.process_time()
            palette.search.setText(word[:length])
            application.processEvents()
            letters.append(milliseconds(start))
        palette.search.clear()
        application.processEvents()
    palette.close()
    palette.deleteLater()
    application.processEvents()
    return made, letters[0], statistics.median(letters[1:]), max(letters[1:])


def main() -> None:
    """Print one line for each number of types."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--types", type=int, nargs="+", default=[len(catalog()), 150, 300])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    application = QApplication([])
    theme.apply(application, "dark")
    for _ in range(2):
        measure(application)  # fonts and style are loaded
    for count in sorted(arguments.types):
        fill(count)
        rounds = [measure(application) for _ in range(arguments.rounds)]
        made, first, letter, worst = (statistics.median(values) for values in zip(*rounds, strict=True))
        quick = f"first letter {first:5.1f}, others {letter:5.1f}, worst {worst:5.1f}"
        print(f"{len(catalog()):4} types: made {made:5.1f}, {quick}")


if __name__ == "__main__":
    main()
