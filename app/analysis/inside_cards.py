"""Cards with explanations: a heading, a picture, and a menu that copies or saves it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app import messages
from netwright.app.analysis.inside_views import OPACITY, Array, HeatView, MapTile, ScatterView, bars_of
from netwright.app.data.tiles import Tiles, class_colour
from netwright.app.plots.axes import Axis, Unit, tick_labels, values_axis
from netwright.app.plots.card import picture_of, png_of, svg_of
from netwright.app.plots.histogram_plot import HistogramPlot
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, table_markup
from netwright.designer import markup, theme
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_number, format_percent

SaveTable = Callable[[Path], None]
"""Writes the numbers of the explanation that is shown as a table."""
MAP_SIDE, LARGE_SIDE, SAMPLE_SIDE = 88, 184, 152
MOST_BARS, MOST_LINES = 40, 10
HEIGHT = 220
SIGNS = {
    "gradcam": "bright: supports the class",
    "integrated_gradients": "red: supports the class; blue: speaks against it",
    "occlusion": "red: the score falls without it; blue: it rises",
}


class FigureCard(QFrame):
    """A heading with a note, a picture, and a menu to copy or save it."""

    def __init__(self, content: QWidget, title: str, note: str, save_table: SaveTable, *controls: QWidget) -> None:
        """`controls` stand in the heading and are not part of the picture."""
        super().__init__()
        self.content, self.title, self._save_table = content, title, save_table
        theme.mark(self, "role", "card")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        heading, beside = QLabel(title), QLabel(note)
        theme.mark(heading, "role", "strong")
        theme.mark(beside, "role", "muted")
        beside.setWordWrap(True)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(heading)
        row.addWidget(beside, 1)
        for control in controls:
            row.addWidget(control)
        row.addWidget(self._make_menu())
        column.addLayout(row)
        column.addWidget(content)
        column.addStretch(1)
        content.setAccessibleName(title)

    def _make_menu(self) -> QToolButton:
        button, menu = QToolButton(), QMenu(self)
        button.setText("Export")
        button.setAccessibleName(f"Export {self.title}")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu.addAction("Copy picture", self.copy)
        menu.addAction("Save as PNG…", lambda: self._save("png", lambda path: path.write_bytes(png_of(self.content))))
        menu.addAction(
            "Save as SVG…", lambda: self._save("svg", lambda path: path.write_bytes(svg_of(self.content, self.title)))
        )
        menu.addAction("Save values as CSV…", lambda: self._save("csv", self._save_table))
        button.setMenu(menu)
        return button

    def copy(self) -> None:
        """Copy the picture."""
        QGuiApplication.clipboard().setPixmap(picture_of(self.content))

    def _save(self, kind: str, write: Callable[[Path], object]) -> None:
        name, _ = QFileDialog.getSaveFileName(self, f"Save {self.title}", f"{self.title.lower()}.{kind}", f"*.{kind}")
        if not name:
            return
        try:
            write(Path(name).with_suffix(f".{kind}"))
        except OSError as error:
            messages.show_error(self, "The picture cannot be saved", f"{name} cannot be written: {error.strerror}.")


class DependencePlot(Plot):
    """The mean answer over the values of a column, one line per output; of a single output with the range between the
    10 % and the 90 % curves of single samples."""

    def __init__(self, name: str, arrays: Mapping[str, Array], outputs: Sequence[str], *, is_share: bool) -> None:
        """`arrays` are `grid` (G), `mean`, `low` and `high` (G, K)."""
        self._name, self._arrays, self._outputs, self._is_share = name, arrays, list(outputs), is_share
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self._count = min(arrays["mean"].shape[1], MOST_LINES)
        self._lines = [Line() for _ in range(self._count)]
        self._ends = [Line(), Line()] if self._count == 1 else []
        self._band = pg.FillBetweenItem(*self._ends) if self._ends else None
        for item in filter(None, (self._band, *self._ends, *self._lines)):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName(markup.visible(f"Mean answer by {name}"))

    def dress(self) -> None:
        """Lines in the colours of their classes, the range in the accent colour."""
        palette = theme.current()
        for number, line in enumerate(self._lines):
            colour = palette.accent if self._count == 1 else class_colour(number)
            line.setPen(pg.mkPen(colour, width=1))
        for line in self._ends:
            line.setPen(pg.mkPen(None))
        if self._band is not None:
            self._band.setBrush(pg.mkBrush(palette.mixed(palette.accent, palette.panel, 0.22)))

    def draw(self) -> str:
        """Lay out the lines."""
        grid, mean = self._arrays["grid"].astype(float), self._arrays["mean"]
        values = np.concatenate(
            [mean.ravel(), *([self._arrays[k].ravel() for k in ("low", "high")] if self._ends else [])]
        )
        y = values_axis(values, self.num_y_ticks)
        ticks = values_axis(grid, max(4, self.num_x_ticks)).ticks
        low, high = float(grid.min()), float(grid.max())
        inner = tuple(tick for tick in ticks if low <= tick <= high)
        x = Axis(low=low, high=high if high > low else low + 1.0, ticks=inner or (low,))
        self.show_axes(x, Unit(name=""), y, tick_labels(y, is_percent=self._is_share))
        for number, line in enumerate(self._lines):
            self.lay(line, grid, mean[:, number])
        for line, key in zip(self._ends, ("low", "high"), strict=False):
            self.lay(line, grid, self._arrays[key][:, 0])
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The answers at the nearest value of the grid."""
        grid = self._arrays["grid"].astype(float)
        at = int(np.abs(grid - place).argmin())
        order = np.argsort(-self._arrays["mean"][at])[:5]
        means = {self._outputs[number]: float(self._arrays["mean"][at, number]) for number in order}
        rows = [(name, format_percent(x, 1) if self._is_share else format_number(x)) for name, x in means.items()]
        return float(grid[at]), table_markup(rows, caption=f"{self._name} {format_number(grid[at])}")


def opacity_slider(view: HeatView) -> QWidget:
    """Return a slider for the opacity of a heat map over its sample."""
    box, slider = QWidget(), QSlider(Qt.Orientation.Horizontal)
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    slider.setAccessibleName("Opacity of the heat map")
    slider.setRange(0, 100)
    slider.setFixedWidth(110)
    slider.setValue(OPACITY)
    slider.valueChanged.connect(view.set_opacity)
    row.addWidget(QLabel("Opacity"))
    row.addWidget(slider)
    return box


def cards_of(
    facts: Mapping[str, Any], arrays: Mapping[str, Array], save_table: SaveTable, choose: Callable[[int], None]
) -> list[QWidget]:
    """Return the cards of an explanation. `choose` takes the place in the split of a sample that is clicked."""
    make = {
        "gradcam": _heat_cards,
        "integrated_gradients": _heat_cards,
        "occlusion": _heat_cards,
        "activations": _activation_cards,
        "filters": _filter_cards,
        "max_activation": _map_cards,
        "permutation": _permutation_cards,
        "partial_dependence": _dependence_cards,
        "attention": _attention_cards,
        "sample": _heat_cards,
    }
    if facts["method"] == "embedding":
        view = ScatterView(arrays, facts["classes"], facts["texts"])
        view.chosen.connect(choose)
        shares = facts.get("explained")
        parts = [f"layer {facts['layer']}", f"{facts['samples']:,} of {facts['of']:,} samples"]
        if shares:
            parts.append(f"{format_percent(sum(shares), 1)} of the variance")
        title = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}[facts["reduction"]]
        return [FigureCard(view, f"{title} of the samples", ", ".join(parts), save_table)]
    return make[facts["method"]](facts, arrays, save_table)


def _heat_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    """Return one card: a heat map over the sample, over steps, or bars by column."""
    note = SIGNS.get(facts["method"], "")
    of = f" for {facts['target']}" if facts.get("target") else ""
    where = f", layer {facts['layer']}" if facts.get("layer") else ""
    title = f"{facts['title']}{of}"
    if "heat" in arrays:
        heat = arrays["heat"]
        picture = arrays.get("picture")
        if picture is not None and picture.shape[:2] != heat.shape:
            picture = None
        view = HeatView(heat, picture, is_signed=bool(facts["is_signed"]))
        controls = [opacity_slider(view)] if picture is not None else []
        return [FigureCard(view, title, f"{note}{where}", save, *controls)]
    if "features" in facts:
        rows = sorted(facts["features"], key=lambda row: -abs(row["value"])) if of else facts["features"]
        baseline = f", compared with the {facts['baseline']}" if facts.get("baseline") else ""
        return [FigureCard(bars_of(rows[:MOST_BARS]), title, f"what each column adds{baseline}" if of else "", save)]
    if "matrix" in arrays:
        view = HeatView(arrays["matrix"], None, is_signed=bool(arrays["matrix"].min() < 0))
        return [FigureCard(view, title, "; ".join(filter(None, (note, "channels by steps"))), save)]
    if "picture" in arrays:
        tiles = Tiles([MapTile(arrays["picture"], "", SAMPLE_SIDE)])
        tiles.setMinimumWidth(SAMPLE_SIDE)
        return [FigureCard(tiles, title, "", save)]
    return []


def _histograms(facts: Mapping[str, Any], save: SaveTable) -> list[QWidget]:
    cards: list[QWidget] = []
    first = ("Weights", "all filters") if facts["method"] == "filters" else ("Values", "this sample")
    for key, title, of in (("histogram", *first), ("split_histogram", "Values over samples", "")):
        histogram = facts.get(key)
        if histogram and histogram["counts"]:
            where = of or f"{histogram['samples']:,} samples"
            cards.append(FigureCard(ValuesPlot(histogram), title, where, save))
    return cards


class ValuesPlot(HistogramPlot):
    """A histogram of numbers that are not counts of anything."""

    def __init__(self, counted: Mapping[str, Any]) -> None:
        super().__init__(counted, "", "values")

    def draw(self) -> str:
        """Round numbers on both axes."""
        edges = np.array([self._edges[0], self._edges[-1]])
        x, y = values_axis(edges, self.num_x_ticks), values_axis(np.append(self._counts, 0.0), 3)
        self.show_axes(x, Unit(name=""), y, tick_labels(y))
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The bin under the pointer."""
        number = int(np.clip(np.searchsorted(self._edges, place) - 1, 0, len(self._counts) - 1))
        low, high = self._edges[number], self._edges[number + 1]
        text = markup.filled(
            "{} to {}<br>{} values", format_number(low), format_number(high), f"{self._counts[number]:,.0f}"
        )
        return float(low + high) / 2, text


def _reach(facts: Mapping[str, Any]) -> str:
    field = facts.get("receptive_field")
    sizes = " × ".join(str(size) for size in field["sizes"]) if field else "the whole input"
    return f"receptive field {sizes}"


def _activation_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    title = f"Activations of {facts['layer']}"
    parts = [f"{facts['channels']:,} channels", _reach(facts), f"{format_percent(facts['zeros'], 1)} zeros"]
    if facts.get("dead_channels"):
        parts.append(f"{facts['dead_channels']} channels are 0 for all samples")
    note = ", ".join(parts)
    if "maps" in arrays:
        tiles = Tiles([MapTile(image, f"{at + 1}", MAP_SIDE) for at, image in enumerate(arrays["maps"])])
        cards: list[QWidget] = [FigureCard(tiles, title, note, save)]
    elif "matrix" in arrays:
        matrix = arrays["matrix"]
        view = HeatView(matrix, None, is_signed=bool(matrix.min() < 0))
        cards = [FigureCard(view, title, f"{note}; channels by steps", save)]
    else:
        rows = [{"name": f"channel {at + 1}", "value": v} for at, v in enumerate(arrays["values"].tolist())]
        rows = sorted(rows, key=lambda row: -abs(float(row["value"])))[:MOST_BARS] if len(rows) > MOST_BARS else rows
        cards = [FigureCard(bars_of(rows), title, note, save)]
    return [*cards, *_histograms(facts, save)]


def _filter_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    tiles = Tiles([MapTile(image, f"{at + 1}", MAP_SIDE) for at, image in enumerate(arrays["maps"])])
    note = f"{facts['channels']:,} filters over {facts['input_channels']:,} channels, {_reach(facts)}"
    return [FigureCard(tiles, f"Filters of {facts['layer']}", note, save), *_histograms(facts, save)]


def _map_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    names = zip(arrays["maps"], facts["names"], arrays["reached"].tolist(), strict=True)
    tiles = Tiles([MapTile(image, f"{name} ({format_number(reached)})", LARGE_SIDE) for image, name, reached in names])
    of = f"channels of {facts['layer']}" if "layer" in facts else "classes"
    note = f"images that the {of} answer to most strongly, and the score or activation that they reach"
    return [FigureCard(tiles, facts["title"], note, save)]


def _permutation_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    how = "the RMSE rises" if facts["measured"] == "RMSE" else "the accuracy falls"
    note = f"how much {how} where a column is shuffled; {facts['samples']:,} samples, {facts['repeats']} times"
    return [FigureCard(bars_of(facts["features"][:MOST_BARS]), facts["title"], note, save)]


def _dependence_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    """Return a card per column, that with the largest effect first."""
    cards: list[QWidget] = []
    order = sorted(range(len(facts["columns"])), key=lambda number: -facts["columns"][number]["spread"])
    for number in order:
        column = facts["columns"][number]
        own = {name: arrays[f"{name}_{number}"] for name in ("grid", "mean", "low", "high")}
        subject = facts["outputs"][0] if len(facts["outputs"]) == 1 else "the answers"
        note = f"mean of {subject}, which moves by {format_number(column['spread'])}"
        content: QWidget
        if column["labels"]:
            place = int(np.ptp(own["mean"], axis=0).argmax())
            note = f"mean of {facts['outputs'][place]}"
            means = zip(column["labels"], own["mean"][:, place].tolist(), strict=True)
            content = bars_of([{"name": label, "value": value} for label, value in means])
        else:
            content = DependencePlot(column["name"], own, facts["outputs"], is_share=facts["is_share"])
        cards.append(FigureCard(content, column["name"], note, save))
    return cards


def _attention_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    """Return a card per layer with a map per head: queries in rows, keys in columns."""
    cards: list[QWidget] = []
    for number, layer in enumerate(facts["layers"]):
        heads = arrays[f"attention_{number}"]
        tiles = Tiles([MapTile(head, f"head {at + 1}", LARGE_SIDE) for at, head in enumerate(heads)])
        steps = f"{layer['steps'][0]:,} steps (rows) take from {layer['steps'][1]:,} (columns)"
        cards.append(FigureCard(tiles, f"Attention of {layer['name']}", steps, save))
    return cards


def sample_line(facts: Mapping[str, Any]) -> str:
    """Return which sample is explained, its label, and the answers of the network."""
    sample = facts.get("sample")
    if not sample:
        return ""
    if sample.get("file"):
        where = Path(sample["file"]).name
    else:
        name = f", {sample['name']}" if sample.get("name") else ""
        where = f"Sample {sample['place']:,} of the {sample['split']} split{name}"
    label = f", labelled {sample['label']}" if sample.get("label") else ""
    return f"{where}{label}. Answer: {_answer(sample['outputs'][0])}."


def _answer(output: Mapping[str, Any]) -> str:
    if top := output.get("top"):
        likely = [entry for entry in top[:3] if entry["probability"] >= 0.005 or entry is top[0]]
        return ", ".join(f"{entry['class']} ({format_percent(entry['probability'], 1)})" for entry in likely)
    if shares := output.get("shares"):
        first = sorted(shares.items(), key=lambda pair: -pair[1])[:3]
        return ", ".join(f"{name} {format_percent(share, 1)}" for name, share in first if share)
    value = output.get("value", output.get("classes", output.get("transcript", "")))
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    texts = [format_number(entry) if isinstance(entry, float) else str(entry) for entry in list(values)[:6]]
    return ", ".join(texts) + (", …" if len(list(values)) > 6 else "")
