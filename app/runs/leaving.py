"""Curves leave as files: pictures and drawings of what is shown, and all numbers as a table."""

import csv
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu, QProgressDialog, QPushButton

from app.dialogs import messages
from app.runs.board import Board
from app.runs.drawing import Drawing
from app.runs.timeline import Along, Timeline

PLACES: tuple[Along, ...] = ("epochs", "time")


class ExportButton(QPushButton):
    """Asks for the kind of file and its name, and writes it."""

    def __init__(self, board: Board) -> None:
        super().__init__("Export")
        self._board = board
        self.setToolTip("The curves as pictures, drawings or numbers")
        menu = QMenu(self)
        menu.addAction("Pictures (PNG)…", lambda: self.export_pictures("png"))
        menu.addAction("Drawings (SVG)…", lambda: self.export_pictures("svg"))
        menu.addAction("Numbers (CSV)…", self.export_csv)
        self.setMenu(menu)

    def export_pictures(self, kind: str) -> None:
        """One file for each card that is shown."""
        name, _ = QFileDialog.getSaveFileName(self, "Export the curves", f"curves.{kind}", f"*.{kind}")
        if not name:
            return
        base = Path(name).with_suffix("")
        try:
            for card in self._board.cards:
                target = base.with_name(f"{base.name}-{_file_word(card.title)}.{kind}")
                card.export_png(target) if kind == "png" else card.export_svg(target)
        except OSError as error:
            self._complain(name, error)

    def export_csv(self) -> None:
        """Every point, shown or not. Millions take a while: the window stays alive, and it can be cancelled."""
        name, _ = QFileDialog.getSaveFileName(self, "Export the curves", "curves.csv", "*.csv")
        if not name:
            return
        path, drawings = Path(name), self._board.drawings
        total = sum(len(drawing.training) for drawing in drawings.values())
        waiting = QProgressDialog("Writing the curves…", "Cancel", 0, max(1, total), self)
        waiting.setWindowModality(Qt.WindowModality.WindowModal)
        waiting.setMinimumDuration(500)
        try:
            for done in write_csv(path, drawings, self._board.across.timeline):
                waiting.setValue(min(done, total))
                if waiting.wasCanceled():
                    path.unlink(missing_ok=True)
                    break
        except OSError as error:
            self._complain(name, error)
        finally:
            waiting.reset()
            waiting.deleteLater()

    def _complain(self, name: str, error: OSError) -> None:
        messages.show_error(self, "The curves cannot be exported", f"{name} cannot be written: {error.strerror}.")


def write_csv(path: Path, drawings: Mapping[str, Drawing], timeline: Timeline) -> Iterator[int]:
    """Every point of every curve: curve, split, step, value, epoch, seconds of training. Yields from time to time how
    many are written. Raises `OSError`."""
    done = 0
    with open(path, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.writer(file)
        writer.writerow(("curve", "split", "step", "value", "epoch", "elapsed_s"))
        for name, drawing in drawings.items():
            for split, steps, values in drawing.chunks():
                places = [timeline.places(steps, along).tolist() for along in PLACES]
                for step, value, epoch, elapsed in zip(steps.tolist(), values.tolist(), *places, strict=True):
                    writer.writerow((name, split, int(step), _number(value), f"{epoch:.6g}", f"{elapsed:.6g}"))
                done += len(steps)
                yield done


def _number(value: float) -> str:
    return f"{value:.9g}" if math.isfinite(value) else str(value)


def _file_word(title: str) -> str:
    return re.sub(r"[^\w²-]+", "-", title.lower()).strip("-")
