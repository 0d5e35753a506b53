"""The page of robustness: accuracy against the strength of noise, blur and attacks, and samples unlike the training
data."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app.analysis.evaluation_page import CardsPage
from netwright.app.analysis.result_cards import card, text_table
from netwright.app.plots.axes import Axis, Unit, figure, tick_labels, values_axis
from netwright.app.plots.card import PlotCard
from netwright.app.plots.comparison_plot import run_colour
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, Markers
from netwright.app.shell import Shell
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.markup import Markup
from netwright.engine.analysis.operations.robustness import OPERATION, RobustnessRequest
from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.files import write_atomically
from netwright.engine.core.text import format_figure, format_number, format_percent

HEIGHT = 240
DOT_PIXELS = 8
NAMES = {"noise": "Noise", "blur": "Blur", "fgsm": "FGSM", "pgd": "PGD"}
NOT_YET = (
    "Choose a run, then Measure: how its answers hold under noise, blur and attacks is shown here, and from which "
    "confidence on a sample counts as like the training data."
)
UNLIKE = "95 % of the validation samples lie above the threshold"
EXPORTS = (("PNG", "Picture (*.png)"), ("SVG", "Drawing (*.svg)"), ("CSV", "Table (*.csv)"))


class StrengthPlot(Plot):
    """Scores of a network against the strength of changes of its inputs, one line per kind of change."""

    def __init__(self, curves: Sequence[Mapping[str, Any]], *, is_percent: bool) -> None:
        """`curves` are some of the result of `netwright-engine robustness`, with the same strengths."""
        self.curves, self._is_percent = list(curves), is_percent
        self._strengths = np.array(curves[0]["strengths"], dtype=float)
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self._lines = [Line(self._strengths, np.array(curve["values"], dtype=float)) for curve in curves]
        self._dots = [Markers(x=self._strengths, y=np.array(curve["values"], dtype=float), size=6) for curve in curves]
        for item in (*self._lines, *self._dots):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName("Scores by strength of " + ", ".join(NAMES[curve["kind"]] for curve in curves))

    def dress(self) -> None:
        """A colour per kind of change."""
        for number, (line, dots) in enumerate(zip(self._lines, self._dots, strict=True)):
            colour = run_colour(2 * number)
            line.setPen(pg.mkPen(colour, width=1))
            dots.setPen(pg.mkPen(None))
            dots.setBrush(pg.mkBrush(colour))

    def draw(self) -> str:
        """Strengths from 0 on; shares from 0 to 100 %."""
        values = np.array([value for curve in self.curves for value in curve["values"]], dtype=float)
        y = values_axis(np.array([0.0, 1.0]) if self._is_percent else values, self.num_y_ticks)
        high = float(self._strengths[-1])
        is_share = self.curves[0]["unit"] != "pixels"
        x = values_axis(np.array([0.0, high]), self.num_x_ticks)
        x = Axis(low=0.0, high=high, ticks=(*(tick for tick in x.ticks if tick < high * 0.95), high))
        name = "% of the range" if is_share else "pixels"
        self.show_axes(
            x, Unit(name=name, divisor=0.01 if is_share else 1.0), y, tick_labels(y, is_percent=self._is_percent)
        )
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The nearest strength, with the score of each kind."""
        nearest = int(np.abs(self._strengths - place).argmin())
        strength = float(self._strengths[nearest])
        unit = self.curves[0]["unit"]
        at = f"{strength:g} px" if unit == "pixels" else format_percent(strength, 1)
        rows = [(NAMES[curve["kind"]], figure(curve["values"][nearest], self._is_percent)) for curve in self.curves]
        text = markup.filled("{}", at)
        for name, value in rows:
            text = markup.filled("{}<br>{} {}", text, name, value)
        return strength, text

    def csv(self) -> str:
        """Return strengths and scores as a table."""
        head = [self.curves[0]["unit"], *(curve["kind"] for curve in self.curves)]
        strengths = enumerate(self.curves[0]["strengths"])
        return csv_text(
            [head, *((strength, *(curve["values"][n] for curve in self.curves)) for n, strength in strengths)]
        )


class StrengthCard(PlotCard):
    """A plot of strengths under its title, with a legend and a menu to export it."""

    def __init__(self, shell: Shell, title: str, curves: Sequence[Mapping[str, Any]], *, is_percent: bool) -> None:
        self.strengths = StrengthPlot(curves, is_percent=is_percent)
        super().__init__(self.strengths)
        self._shell = shell
        self.title = title
        if len(curves) > 1:
            for number, curve in enumerate(curves):
                dot, name = QLabel(), QLabel(NAMES[curve["kind"]])
                dot.setPixmap(_dot(run_colour(2 * number)))
                theme.mark(name, "role", "muted")
                self.head.addSpacing(8)
                self.head.addWidget(dot)
                self.head.addWidget(name)
        self.head.addStretch(1)
        button, menu = QToolButton(), QMenu(self)
        button.setText("Export")
        button.setAccessibleName(f"Export {title}")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        for kind, pattern in EXPORTS:
            menu.addAction(f"{kind}…", self._export(kind.lower(), pattern))
        button.setMenu(menu)
        self.head.addWidget(button)

    def _export(self, kind: str, pattern: str) -> Callable[[], None]:
        def export() -> None:
            start = str(self._shell.documents.folder / f"{self.title.lower()}.{kind}")
            name, _ = QFileDialog.getSaveFileName(self, "Export plot", start, pattern)
            if not name:
                return
            path = Path(name) if Path(name).suffix else Path(f"{name}.{kind}")
            try:
                if kind == "csv":
                    write_atomically(path, self.strengths.csv().encode())
                else:
                    (self.export_png if kind == "png" else self.export_svg)(path)
            except OSError as error:
                self._shell.show_error("The plot cannot be exported", f"{path}: {error.strerror}.")
                return
            self._shell.hint(f"Wrote {path.name}.")

        return export


def _dot(colour: QColor) -> QPixmap:
    """Return a dot of a colour, for a legend."""
    pixmap = QPixmap(DOT_PIXELS * 2, DOT_PIXELS * 2)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(0, 0, DOT_PIXELS, DOT_PIXELS)
    painter.end()
    return pixmap


class RobustnessPage(CardsPage):
    """Measures a run in a process of its own. Results are kept in the folder of the run."""

    title: ClassVar[str] = "Robustness"

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(shell, NOT_YET, parent)
        self._request: int | None = None
        self.button, self.store = QPushButton("Measure"), QPushButton("Store threshold")
        self.state = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.button.clicked.connect(self._on_clicked)
        self.store.clicked.connect(lambda: self.measure(stores=True))
        self.store.setToolTip("Keep the threshold with the network: predictions then name samples below it")
        theme.mark(self.state, "role", "muted")
        for widget in (self.button, self.store):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self.state, 1)
        column.addLayout(row)
        column.addWidget(self.pages, 1)
        self._forget()

    def set_run(self, run: Path | None) -> None:
        """Set the run; the results of another one are removed."""
        super().set_run(run)
        self._forget()

    def shutdown(self) -> None:
        """End the process."""
        self._end()

    def measure(self, *, stores: bool = False) -> None:
        """Measure the run that is chosen, and store the threshold if asked to."""
        if self.run is None:
            return
        self._end()
        asked = RobustnessRequest(run_dir=self.run.absolute(), store=stores)
        self._request = self.shell.server.ask(OPERATION, asked, self.show_result, self._on_failed)
        self.button.setText("Cancel")
        self.state.setText("Measuring: attacks take some seconds…")
        if self.pages.currentIndex() == 0:
            self.say("Measuring…")

    def _on_clicked(self) -> None:
        if self._request is not None:
            self._forget()
        else:
            self.measure()

    def _forget(self) -> None:
        """Remove the results, which belong to another run."""
        self._end()
        self.clear()
        self.button.setEnabled(self.run is not None)
        self.store.hide()
        self.state.setText("")
        self.say(NOT_YET)

    def _end(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self.shell.server.cancel(request)
        self.button.setText("Measure")

    def _on_failed(self, reason: str) -> None:
        self._end()
        self.clear()
        self.store.hide()
        self.state.setText("")
        self.say(reason, refused=True)

    def show_result(self, result: Mapping[str, Any]) -> None:
        """Show the result of `netwright-engine robustness`."""
        self._end()
        is_percent = result["metric"] == "accuracy"
        by_kind = {curve["kind"]: curve for curve in result["curves"]}
        attacks = [by_kind[kind] for kind in ("fgsm", "pgd") if kind in by_kind]
        groups = [
            ("Attacks", attacks),
            *((NAMES[kind], [by_kind[kind]]) for kind in ("noise", "blur") if kind in by_kind),
        ]
        cards: list[QWidget] = [
            StrengthCard(self.shell, title, curves, is_percent=is_percent) for title, curves in groups
        ]
        if result["unlike_training"]:
            cards.append(card(unlike_table(result["unlike_training"]), "Unlike the training data", UNLIKE))
        self.show_cards([cards[start : start + 2] for start in range(0, len(cards), 2)])
        self.store.setVisible(bool(result["unlike_training"]))
        self.store.setEnabled(not result["stored"])
        metric = "accuracy" if is_percent else "RMSE"
        stored = ", the threshold is stored" if result["stored"] else ""
        cached = ", as measured before" if result["cached"] and not result["stored"] else ""
        notes = " ".join(result["notes"])
        text = f"{metric} on {result['samples']:,} samples of the {result['split']} split{stored}{cached}"
        self.state.setText(text, note=f"{text}. {notes}" if notes else "")


def unlike_table(rows: Sequence[Mapping[str, Any]]) -> QWidget:
    """Return a table of the scores that tell samples unlike the training data."""
    names = {"max softmax": "Largest probability", "energy": "Energy"}
    cells = [
        (
            names.get(str(row["score"]), str(row["score"])),
            format_number(row["threshold"]),
            format_percent(row["kept_share"], 1),
            format_percent(row["flagged_noise"], 1),
            format_figure(row["auroc"]),
        )
        for row in rows
    ]
    return text_table(("Score", "Threshold", "Validation above", "Noise below", "AUROC"), cells)
