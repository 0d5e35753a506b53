"""Curves leave as files: pictures and drawings of what is shown, and all numbers as a table."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu, QProgressDialog, QPushButton

from netwright.app import messages
from netwright.app.plots.board import Board
from netwright.app.plots.plot_data import PlotData
from netwright.app.plots.series import Floats
from netwright.app.plots.timeline import Along, Timeline
from netwright.app.plots.traces import Curve, Trace
from netwright.designer.language import tr
from netwright.engine.core.csv_text import CsvWriter, csv_line

PLACES: tuple[Along, ...] = ("epochs", "time")

COLUMNS = ("step", "value", "epoch", "elapsed_s")


class Pictured(Protocol):
    """A card that leaves as a picture."""

    @property
    def title(self) -> str:
        """The title of the content."""

    def export_png(self, path: Path) -> None:
        """As a picture. Raises `OSError`."""

    def export_svg(self, path: Path) -> None:
        """As a drawing. Raises `OSError`."""


class ExportButton(QPushButton):
    """Asks for the kind of file and its name, and writes it."""

    def __init__(
        self, cards: Callable[[], Sequence[Pictured]], write: Callable[[Path], Iterator[int]], total: Callable[[], int]
    ) -> None:
        """`cards` are those that are shown now; `write` writes all numbers, and yields how many of `total` it has."""
        super().__init__(tr("Export"))
        self._cards, self._write, self._total = cards, write, total
        self.setToolTip(tr("Save the plots as PNG or SVG, or all values as CSV"))
        menu = QMenu(self)
        menu.addAction(tr("Plots as PNG…"), lambda: self.export_pictures("png"))
        menu.addAction(tr("Plots as SVG…"), lambda: self.export_pictures("svg"))
        menu.addAction(tr("Values as CSV…"), self.export_csv)
        self.setMenu(menu)

    def export_pictures(self, kind: str) -> None:
        """One file for each card that is shown."""
        name, _ = QFileDialog.getSaveFileName(self, tr("Export the curves"), f"curves.{kind}", f"*.{kind}")
        if not name:
            return
        base = Path(name).with_suffix("")
        targets = {base.with_name(f"{base.name}-{_file_word(card.title)}.{kind}"): card for card in self._cards()}
        existing = [target.name for target in targets if target.exists()]
        if existing and not messages.ask(self, tr("Replace these files?"), "\n".join(existing), tr("Replace")):
            return
        try:
            for target, card in targets.items():
                card.export_png(target) if kind == "png" else card.export_svg(target)
        except OSError as error:
            self._complain(name, error)

    def export_csv(self) -> None:
        """Every point, shown or not. Millions take a while: the window stays alive, and it can be cancelled."""
        name, _ = QFileDialog.getSaveFileName(self, tr("Export the curves"), "curves.csv", "*.csv")
        if not name:
            return
        path, total = Path(name), self._total()
        waiting = QProgressDialog(tr("Writing the curves…"), tr("Cancel"), 0, max(1, total), self)
        waiting.setWindowModality(Qt.WindowModality.WindowModal)
        waiting.setMinimumDuration(500)
        try:
            for count in self._write(path):
                waiting.setValue(min(count, total))
                if waiting.wasCanceled():
                    path.unlink(missing_ok=True)
                    break
        except OSError as error:
            self._complain(name, error)
        finally:
            waiting.reset()
            waiting.deleteLater()

    def _complain(self, name: str, error: OSError) -> None:
        messages.show_error(
            self,
            tr("The curves cannot be exported"),
            tr("{name} cannot be written: {strerror}.", name=name, strerror=error.strerror),
        )


def export_of(board: Board) -> ExportButton:
    """The button for the curves of a run."""

    def total() -> int:
        return sum(len(data.training) for data in board.plot_data.values())

    return ExportButton(
        lambda: board.cards, lambda path: write_csv(path, board.plot_data, board.x_axis.timeline), total
    )


def write_csv(path: Path, plot_data: Mapping[str, PlotData], timeline: Timeline) -> Iterator[int]:
    """Every point of every curve: curve, split, step, value, epoch, seconds of training. Yields from time to time how
    many are written. Raises `OSError`."""
    count = 0
    with open(path, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        CsvWriter(file).row(("curve", "split", *COLUMNS))
        for name, data in plot_data.items():
            for split, steps, values in data.chunks():
                places = [timeline.places(steps, along).tolist() for along in PLACES]
                file.writelines(_rows(csv_line((name, split)), steps.tolist(), values.tolist(), *places))
                count += len(steps)
                yield count


def count_of(traces: Sequence[Trace]) -> int:
    """So many training values there are."""
    return sum(len(curve.training) for trace in traces for curve in trace.curves.values())


def write_runs_csv(path: Path, traces: Sequence[Trace]) -> Iterator[int]:
    """Every point of every curve of every run: run, curve, split, step, value, epoch, seconds of training. Yields from
    time to time how many are written. Raises `OSError`."""
    count = 0
    with open(path, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        CsvWriter(file).row(("run", "curve", "split", *COLUMNS))
        for trace in traces:
            for name, curve in trace.curves.items():
                for split, steps, values in _chunks(curve):
                    places = [trace.places(steps, along).tolist() for along in PLACES]
                    head = csv_line((trace.folder.path.name, name, split))
                    file.writelines(_rows(head, steps.tolist(), values.tolist(), *places))
                    count += len(steps)
                    yield count


def _rows(head: str, *columns: Sequence[float]) -> Iterator[str]:
    """Yield a line per point: `head`, and the values of `COLUMNS`."""
    for step, value, epoch, elapsed in zip(*columns, strict=True):
        yield f"{head},{int(step)},{number_word(value)},{epoch:.6g},{elapsed:.6g}\n"


def _chunks(curve: Curve) -> Iterator[tuple[str, Floats, Floats]]:
    for steps, values in curve.training.chunks():
        yield "training", steps, values
    pairs = np.array(curve.validation.pairs(), np.float64).reshape(-1, 2)
    yield "validation", pairs[:, 0], pairs[:, 1]


def number_word(value: float) -> str:
    """A number of a table, with nine digits."""
    return f"{value:.9g}" if math.isfinite(value) else str(value)


def _file_word(title: str) -> str:
    return re.sub(r"[^\w²-]+", "-", title.lower()).strip("-")
