"""Cards with explanations: a heading, a picture, and a menu that copies or saves it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QWidget

from netwright.app.analysis.inside_views import OPACITY, Array, HeatView, MapTile, ScatterView, bars_of
from netwright.app.analysis.result_cards import split_in_line
from netwright.app.analysis.words_view import WordsView
from netwright.app.data.tiles import Tiles, class_colour
from netwright.app.plots.axes import Axis, Unit, tick_labels, values_axis
from netwright.app.plots.card import FigureCard
from netwright.app.plots.histogram_plot import HistogramPlot
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, table_markup
from netwright.designer import markup, theme
from netwright.designer.engine_messages import part_text
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_number, format_percent
from netwright.engine.core.ticks import round_ticks

SaveTable = Callable[[Path], None]
"""Writes the numbers of the explanation that is shown as a table."""
MAP_SIDE, LARGE_SIDE, SAMPLE_SIDE = 88, 184, 152
MOST_BARS, MOST_LINES = 40, 10
HEIGHT = 220
SIGNS = {
    "gradcam": noop("bright: supports the class"),
    "integrated_gradients": noop("red: supports the class; blue: speaks against it"),
    "occlusion": noop("red: the score falls without it; blue: it rises"),
}


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
        self.setAccessibleName(markup.visible(tr("Mean answer by {name}", name=name)))

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
        low, high = float(grid.min()), float(grid.max())
        ticks = round_ticks(low, high, max(4, self.num_x_ticks))
        x = Axis(low=low, high=high if high > low else low + 1.0, ticks=tuple(ticks))
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
    slider.setAccessibleName(tr("Opacity of the heat map"))
    slider.setRange(0, 100)
    slider.setFixedWidth(110)
    slider.setValue(OPACITY)
    slider.valueChanged.connect(view.set_opacity)
    row.addWidget(QLabel(tr("Opacity")))
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
        count = tr("{count:,} of {total:,} samples", count=facts["samples"], total=facts["of"])
        parts = [tr("layer {name}", name=facts["layer"]), count]
        if shares:
            parts.append(tr("{share} of the variance", share=format_percent(sum(shares), 1)))
        title = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}[facts["reduction"]]
        return [
            FigureCard(
                view,
                tr("{method} of the samples", method=title),
                tr(", ", "between facts").join(parts),
                save_table=save_table,
            )
        ]
    return make[facts["method"]](facts, arrays, save_table)


def _heat_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    """Return one card: a heat map over the sample, over steps, or bars by column."""
    note, title = translation(SIGNS.get(facts["method"], "")), translation(facts["title"])
    of = facts.get("target", "")
    if of:
        title = tr("{method} for {target}", method=title, target=of)
    if "heat" in arrays:
        heat = arrays["heat"]
        picture = arrays.get("picture")
        if picture is not None and picture.shape[:2] != heat.shape:
            picture = None
        view = HeatView(heat, picture, is_signed=bool(facts["is_signed"]))
        layer = tr("layer {name}", name=facts["layer"]) if facts.get("layer") else ""
        card = FigureCard(view, title, tr(", ", "between facts").join(filter(None, (note, layer))), save_table=save)
        if picture is not None:
            card.add_control(opacity_slider(view))
        return [card]
    if "words" in facts:
        remark = tr("compared with the {baseline}", baseline=part_text(facts["baseline"]))
        return [FigureCard(WordsView(facts["words"]), title, tr("; ").join((note, remark)), save_table=save)]
    if "features" in facts:
        rows = sorted(facts["features"], key=lambda row: -abs(row["value"])) if of else facts["features"]
        remark = ""
        if of and facts.get("baseline"):
            remark = tr("what each column adds, compared with the {baseline}", baseline=part_text(facts["baseline"]))
        elif of:
            remark = tr("what each column adds")
        return [FigureCard(bars_of(rows[:MOST_BARS]), title, remark, save_table=save)]
    if "matrix" in arrays:
        view = HeatView(arrays["matrix"], None, is_signed=bool(arrays["matrix"].min() < 0))
        return [FigureCard(view, title, tr("; ").join(filter(None, (note, tr("channels by steps")))), save_table=save)]
    if "picture" in arrays:
        tiles = Tiles([MapTile(arrays["picture"], "", SAMPLE_SIDE)])
        tiles.setMinimumWidth(SAMPLE_SIDE)
        return [FigureCard(tiles, title, "", save_table=save)]
    return []


def _histograms(facts: Mapping[str, Any], save: SaveTable) -> list[QWidget]:
    cards: list[QWidget] = []
    first = (tr("Weights"), tr("all filters")) if facts["method"] == "filters" else (tr("Values"), tr("this sample"))
    for key, title, of in (("histogram", *first), ("split_histogram", tr("Values over samples"), "")):
        histogram = facts.get(key)
        if histogram and histogram["counts"]:
            where = of or tr("%n sample(s)", "", histogram["samples"])
            cards.append(
                FigureCard(HistogramPlot(histogram, "", tr("values"), is_whole=False), title, where, save_table=save)
            )
    return cards


def _reach(facts: Mapping[str, Any]) -> str:
    field = facts.get("receptive_field")
    sizes = " × ".join(str(size) for size in field["sizes"]) if field else tr("the whole input")
    return tr("receptive field {sizes}", sizes=sizes)


def _activation_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    title = tr("Activations of {layer}", layer=facts["layer"])
    zeros = tr("{share} zeros", share=format_percent(facts["zeros"], 1))
    parts = [tr("{count:,} channels", count=facts["channels"]), _reach(facts), zeros]
    if facts.get("dead_channels"):
        parts.append(tr("{count} channels are 0 for all samples", count=facts["dead_channels"]))
    note = tr(", ", "between facts").join(parts)
    if "maps" in arrays:
        tiles = Tiles([MapTile(image, f"{at + 1}", MAP_SIDE) for at, image in enumerate(arrays["maps"])])
        cards: list[QWidget] = [FigureCard(tiles, title, note, save_table=save)]
    elif "matrix" in arrays:
        matrix = arrays["matrix"]
        view = HeatView(matrix, None, is_signed=bool(matrix.min() < 0))
        cards = [FigureCard(view, title, tr("{note}; channels by steps", note=note), save_table=save)]
    else:
        rows = [
            {"name": tr("channel {number}", number=at + 1), "value": v}
            for at, v in enumerate(arrays["values"].tolist())
        ]
        rows = sorted(rows, key=lambda row: -abs(float(row["value"])))[:MOST_BARS] if len(rows) > MOST_BARS else rows
        cards = [FigureCard(bars_of(rows), title, note, save_table=save)]
    return [*cards, *_histograms(facts, save)]


def _filter_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    tiles = Tiles([MapTile(image, f"{at + 1}", MAP_SIDE) for at, image in enumerate(arrays["maps"])])
    note = tr(
        "{filters:,} filters over {channels:,} channels, {reach}",
        filters=facts["channels"],
        channels=facts["input_channels"],
        reach=_reach(facts),
    )
    title = tr("Filters of {layer}", layer=facts["layer"])
    return [FigureCard(tiles, title, note, save_table=save), *_histograms(facts, save)]


def _map_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    names = zip(arrays["maps"], facts["names"], arrays["reached"].tolist(), strict=True)
    tiles = Tiles([MapTile(image, f"{name} ({format_number(reached)})", LARGE_SIDE) for image, name, reached in names])
    if "layer" in facts:
        note = tr(
            "images that the channels of {layer} answer to most strongly, and the score or activation that they reach",
            layer=facts["layer"],
        )
    else:
        note = tr("images that the classes answer to most strongly, and the score or activation that they reach")
    return [FigureCard(tiles, translation(facts["title"]), note, save_table=save)]


def _permutation_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    parts = [
        tr("how much the RMSE rises where a column is shuffled")
        if facts["measured"] == "RMSE"
        else tr("how much the accuracy falls where a column is shuffled"),
        tr("{count:,} samples, {times} times", count=facts["samples"], times=facts["repeats"]),
    ]
    bars = bars_of(facts["features"][:MOST_BARS])
    return [FigureCard(bars, translation(facts["title"]), tr("; ").join(parts), save_table=save)]


def _dependence_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    """Return a card per column, that with the largest effect first."""
    cards: list[QWidget] = []
    order = sorted(range(len(facts["columns"])), key=lambda number: -facts["columns"][number]["spread"])
    for number in order:
        column = facts["columns"][number]
        own = {name: arrays[f"{name}_{number}"] for name in ("grid", "mean", "low", "high")}
        subject = facts["outputs"][0] if len(facts["outputs"]) == 1 else tr("the answers")
        note = tr("mean of {subject}, which moves by {spread}", subject=subject, spread=format_number(column["spread"]))
        content: QWidget
        if column["labels"]:
            place = int(np.ptp(own["mean"], axis=0).argmax())
            note = tr("mean of {subject}", subject=facts["outputs"][place])
            means = zip(column["labels"], own["mean"][:, place].tolist(), strict=True)
            content = bars_of([{"name": label, "value": value} for label, value in means])
        else:
            content = DependencePlot(column["name"], own, facts["outputs"], is_share=facts["is_share"])
        cards.append(FigureCard(content, column["name"], note, save_table=save))
    return cards


def _attention_cards(facts: Mapping[str, Any], arrays: Mapping[str, Array], save: SaveTable) -> list[QWidget]:
    """Return a card per layer with a map per head: queries in rows, keys in columns."""
    cards: list[QWidget] = []
    for number, layer in enumerate(facts["layers"]):
        heads = arrays[f"attention_{number}"]
        tiles = Tiles([MapTile(head, tr("head {number}", number=at + 1), LARGE_SIDE) for at, head in enumerate(heads)])
        steps = tr(
            "{rows:,} steps (rows) take from {columns:,} (columns)", rows=layer["steps"][0], columns=layer["steps"][1]
        )
        cards.append(FigureCard(tiles, tr("Attention of {layer}", layer=layer["name"]), steps, save_table=save))
    return cards


def sample_line(facts: Mapping[str, Any]) -> str:
    """Return which sample is explained, its label, and the answers of the network."""
    sample = facts.get("sample")
    if not sample:
        return ""
    if sample.get("file"):
        where = Path(sample["file"]).name
    else:
        where = tr("Sample {place:,} of the {split}", place=sample["place"] + 1, split=split_in_line(sample["split"]))
        where = tr(", ", "between facts").join(filter(None, (where, sample.get("name", ""))))
    if sample.get("label"):
        where = tr("{sample}, labelled {label}", sample=where, label=sample["label"])
    return tr("{sample}. Answer: {answer}.", sample=where, answer=_answer(sample["outputs"][0]))


def _answer(output: Mapping[str, Any]) -> str:
    if top := output.get("top"):
        likely = [entry for entry in top[:3] if entry["probability"] >= 0.005 or entry is top[0]]
        return tr(", ").join(f"{entry['class']} ({format_percent(entry['probability'], 1)})" for entry in likely)
    if shares := output.get("shares"):
        first = sorted(shares.items(), key=lambda pair: -pair[1])[:3]
        return ", ".join(f"{name} {format_percent(share, 1)}" for name, share in first if share)
    value = output.get("text", output.get("value", output.get("classes", output.get("transcript", ""))))
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    texts = [format_number(entry) if isinstance(entry, float) else str(entry) for entry in list(values)[:6]]
    return ", ".join(texts) + (", …" if len(list(values)) > 6 else "")
