"""The page of robustness: accuracy against the strength of noise, blur and attacks, and samples unlike the training
data."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from netwright.app.analysis.result_cards import CardsPage, card, split_in_line
from netwright.app.answer_device import answer_device
from netwright.app.plots.axes import Axis, Unit, tick_labels, values_axis
from netwright.app.plots.card import FigureCard, Rows
from netwright.app.plots.comparison_plot import run_colour
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Legend, Line, Markers
from netwright.app.plots.words import metric_in_a_line
from netwright.app.runs.background_answers import leave_in_background
from netwright.app.shell import Shell
from netwright.app.widgets import text_table
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_sentences
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import Markup
from netwright.engine.analysis.operations.robustness import OPERATION, RobustnessRequest
from netwright.engine.core.text import format_figure, format_number, format_percent, format_value
from netwright.engine.core.ticks import round_ticks

HEIGHT = 240
NAMES = {"noise": noop("Noise"), "blur": noop("Blur"), "fgsm": "FGSM", "pgd": "PGD"}
CANCELLED = noop("Measure shows how the answers hold under noise, blur and attacks.")
UNLIKE = noop("95 % of the validation samples lie above the threshold")


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
        kinds = tr(", ").join(translation(NAMES[curve["kind"]]) for curve in curves)
        self.setAccessibleName(tr("Scores by strength of {kinds}", kinds=kinds))

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
        x = Axis(low=0.0, high=high, ticks=tuple(round_ticks(0.0, high, self.num_x_ticks)))
        name = tr("% of the range") if is_share else tr("pixels")
        self.show_axes(
            x, Unit(name=name, divisor=0.01 if is_share else 1.0), y, tick_labels(y, is_percent=self._is_percent)
        )
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The nearest strength, with the score of each kind."""
        nearest = int(np.abs(self._strengths - place).argmin())
        strength = float(self._strengths[nearest])
        unit = self.curves[0]["unit"]
        at = tr("{strength:g} px", strength=strength) if unit == "pixels" else format_percent(strength, 1)
        told = partial(format_value, is_percent=self._is_percent, is_measured=True)
        rows = [(translation(NAMES[curve["kind"]]), told(curve["values"][nearest])) for curve in self.curves]
        text = markup.filled("{}", at)
        for name, value in rows:
            text = markup.filled("{}<br>{} {}", text, name, value)
        return strength, text

    def rows(self) -> Rows:
        """Yield strengths and scores as a table."""
        yield [self.curves[0]["unit"], *(curve["kind"] for curve in self.curves)]
        for number, strength in enumerate(self.curves[0]["strengths"]):
            yield [strength, *(curve["values"][number] for curve in self.curves)]

    def samples(self) -> dict[str, tuple[Line | None, Markers | None]]:
        """Return the sample of each curve for the legend; a single curve needs none."""
        self.ensure_dressed()
        items = zip(self.curves, self._lines, self._dots, strict=True)
        return (
            {translation(NAMES[curve["kind"]]): (line, dots) for curve, line, dots in items}
            if len(self.curves) > 1
            else {}
        )


class StrengthCard(FigureCard):
    """A plot of strengths under its title, with a legend."""

    def __init__(self, title: str, curves: Sequence[Mapping[str, Any]], *, is_percent: bool) -> None:
        self.strengths = StrengthPlot(curves, is_percent=is_percent)
        super().__init__(self.strengths, title, "", self.strengths.rows)
        legend = Legend()
        legend.show_samples(self.strengths.samples())
        self.head.insertWidget(1, legend)


class RobustnessPage(CardsPage):
    """Measures a run in a process of its own. Results are kept in the folder of the run."""

    title: ClassVar[str] = noop("Robustness")

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(shell, translation(CANCELLED), parent)
        self._request: int | None = None
        self._is_asked = False
        """Whether the run was measured, or is to be only when the button is clicked."""
        self.button, self.store = QPushButton(tr("Measure")), QPushButton(tr("Store threshold"))
        self.leave = QPushButton(tr("In the background"))
        self.state = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.button.clicked.connect(self._on_clicked)
        self.store.clicked.connect(lambda: self.measure(stores=True))
        self.store.setToolTip(tr("Keep the threshold with the network: predictions then name samples below it"))
        self.leave.clicked.connect(self.leave_in_background)
        self.leave.setToolTip(tr("Measure on, also when the window is closed; the list of runs has the result"))
        theme.mark(self.state, "role", "muted")
        for widget in (self.button, self.leave, self.store):
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

    def arrive(self) -> None:
        """Measure the run, unless that is done."""
        if self.run is not None and not self._is_asked and not self.lacks_data:
            self.measure()

    def shutdown(self) -> None:
        """End the process."""
        self._end()

    def measure(self, *, stores: bool = False) -> None:
        """Measure the run that is chosen, and store the threshold if asked to."""
        if self.run is None:
            return
        self._end()
        self._is_asked = True
        request = RobustnessRequest(**self.named, store=stores, device=answer_device())
        self._request = self.shell.server.ask(OPERATION, request, self.show_result, self._on_failed)
        self.button.setText(tr("Cancel"))
        self.leave.show()
        self.state.setText(tr("Measuring: attacks take some seconds…"))
        if self.pages.currentIndex() == 0:
            self.say(tr("Measuring…"))

    def leave_in_background(self) -> None:
        """Measure on in a process that outlives the window."""
        self._forget()
        self._is_asked = True
        leave_in_background(self.shell, OPERATION, RobustnessRequest(**self.named, device=answer_device()))
        self.say(tr("It is measured in the background; the list of runs has the result."))

    def _on_clicked(self) -> None:
        if self._request is not None:
            self._forget()
            self._is_asked = True
        else:
            self.measure()

    def _forget(self) -> None:
        """Remove the results, which belong to another run."""
        self._end()
        self.clear()
        self._is_asked = False
        self.button.setText(tr("Measure"))
        self.button.setEnabled(self.run is not None and (self.model is None or self.model.has_data))
        self.store.hide()
        self.state.setText("")
        self.say(translation(CANCELLED))

    def _end(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self.shell.server.cancel(request)
        self.button.setText(tr("Measure again"))
        self.leave.hide()

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
            (tr("Attacks"), attacks),
            *((translation(NAMES[kind]), [by_kind[kind]]) for kind in ("noise", "blur") if kind in by_kind),
        ]
        cards: list[QWidget] = [StrengthCard(title, curves, is_percent=is_percent) for title, curves in groups]
        if result["unlike_training"]:
            cards.append(
                card(unlike_table(result["unlike_training"]), tr("Unlike the training data"), translation(UNLIKE))
            )
        self.show_cards([cards[start : start + 2] for start in range(0, len(cards), 2)])
        self.store.setVisible(bool(result["unlike_training"]) and self.model is None)
        self.store.setEnabled(not result["stored"])
        notes = message_sentences(result["notes"])
        text = tr(
            "{metric} on %n sample(s) of the {split}",
            "",
            result["samples"],
            metric=metric_in_a_line(result["metric"]),
            split=Path(self.model.data).name
            if self.model is not None and self.model.data
            else split_in_line(result["split"]),
        )
        if result["stored"]:
            text = tr("{text}, the threshold is stored", text=text)
        elif result["cached"]:
            text = tr("{text}, as measured before", text=text)
        self.state.setText(text, note=f"{text}. {notes}" if notes else "")


def unlike_table(rows: Sequence[Mapping[str, Any]]) -> QWidget:
    """Return a table of the scores that tell samples unlike the training data."""
    names = {"max softmax": tr("Largest probability"), "energy": tr("Energy")}
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
    return text_table((tr("Score"), tr("Threshold"), tr("Validation above"), tr("Noise below"), "AUROC"), cells)
