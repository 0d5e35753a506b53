"""How the Predict page shows an answer: classes as bars, numbers, masks over their picture, forecasts as plots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from netwright.app.analysis.forecast_plot import forecast_plots
from netwright.app.data.tiles import Sparkline, Tiles, class_colour
from netwright.app.plots.bar_rows import BarRow, BarRows, BarStyle, Column
from netwright.app.plots.card import FINENESS, drawn_whole, picture_of, png_of, svg_of
from netwright.app.widgets import ValueTable
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.files import write_atomically
from netwright.engine.core.text import format_percent, format_value

ROW, BAR, MOST_NAME, VALUE = 26, 12, 220, 64
MOST_WIDTH = 720
PICTURE, BESIDE = 320, 224
MOST_VALUES = 40
"""Numbers of one answer that are listed; the answers that are saved have all."""
PIXELS = {"lowest": noop("lowest"), "mean": noop("mean"), "highest": noop("highest")}
"""What is told of the numbers of pixels."""
OPACITY = 55
Answer = Mapping[str, Any]


def show_classes(bars: BarRows, top: Sequence[Mapping[str, Any]], chosen: Sequence[str]) -> None:
    """Show classes and probabilities; those that are chosen stand out."""
    rows = []
    for one in top:
        name, share, is_chosen = str(one["class"]), float(one["probability"]), one["class"] in chosen
        colour = "accent" if is_chosen else "muted"
        rows.append(BarRow((name, format_percent(share, 1)), ((share, colour),), is_strong=is_chosen))
    bars.show_rows(rows, (0.0, 1.0))


def class_bars() -> BarRows:
    """Return bars for the likeliest classes, on a scale from 0 to 100 %."""
    bars = BarRows((Column(most=MOST_NAME), Column(is_right=True)), BarStyle(row=ROW, bar=BAR, has_track=True))
    bars.setMaximumWidth(MOST_WIDTH)
    bars.setAccessibleName(tr("Likeliest classes"))
    return bars


class PictureView(QWidget):
    """A picture, and over it the class of each pixel in the colours of the classes."""

    def __init__(self) -> None:
        super().__init__()
        self.opacity = OPACITY / 100
        self._picture, self._mask = QPixmap(), QPixmap()
        self.setAccessibleName(tr("Sample"))
        self.setToolTip(tr("The sample as the network gets it"))

    def show_picture(self, file: str, mask: str = "", side: int = 0) -> None:
        """Show files; an empty name for none. `side`: longest side in pixels, 0 for the usual one."""
        self._picture = QPixmap(file) if file else QPixmap()
        self._mask = QPixmap.fromImage(coloured(mask)) if mask else QPixmap()
        size = (self._picture if not self._picture.isNull() else self._mask).size()
        side = side or (PICTURE if self._mask.width() else PICTURE // 2)
        self.setFixedSize(size.scaled(QSize(side, side), Qt.AspectRatioMode.KeepAspectRatio))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture, small ones without smoothing, and the mask over it."""
        painter = QPainter(self)
        is_large = self._picture.width() > self.width()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_large)
        painter.drawPixmap(self.rect(), self._picture)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.setOpacity(self.opacity)
        painter.drawPixmap(self.rect(), self._mask)
        painter.setOpacity(1.0)
        painter.setPen(theme.current().line)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


def coloured(mask: str) -> QImage:
    """Return a file of class numbers in the colours of the classes."""
    grey = QImage(mask).convertToFormat(QImage.Format.Format_Grayscale8)
    size = (grey.width(), grey.height(), grey.bytesPerLine())
    image = QImage(grey.constBits(), *size, QImage.Format.Format_Indexed8).copy()
    image.setColorTable([class_colour(number).rgba() for number in range(255)] + [0])
    return image


class Legend(QWidget):
    """Classes of pixels, each with its colour and its share, the most frequent first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[int, str, float]] = []
        self.setAccessibleName(tr("Classes of the pixels"))

    def show_shares(self, shares: Mapping[str, float]) -> None:
        """Show the classes that occur, by their share of the pixels."""
        rows = [(number, name, share) for number, (name, share) in enumerate(shares.items()) if share]
        self.rows = sorted(rows, key=lambda row: -row[2])
        self.setAccessibleDescription(
            markup.visible(", ".join(f"{name} {format_percent(share, 1)}" for _, name, share in self.rows))
        )
        self.setFixedHeight(ROW * len(self.rows))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a row per class."""
        painter, palette, middle = QPainter(self), theme.current(), Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.figures(self.font()))
        width = min(self.width(), MOST_WIDTH // 3)
        for row, (number, name, share) in enumerate(self.rows):
            painter.fillRect(QRectF(0, row * ROW + 7, BAR, BAR), class_colour(number))
            painter.setPen(palette.text)
            room = max(40, width - VALUE - BAR - 8)
            label = markup.elided(painter.fontMetrics(), name, Qt.TextElideMode.ElideMiddle, room)
            painter.drawText(QRectF(BAR + 8, row * ROW, room, ROW), middle, label)
            right = middle | Qt.AlignmentFlag.AlignRight
            painter.drawText(QRectF(width - VALUE, row * ROW, VALUE, ROW), right, format_percent(share, 1))
        painter.end()


class AnswerView(QWidget):
    """A view of the answer of the network for one sample."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: Answer | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._body: QWidget | None = None
        self._heads: list[QLabel] = []
        self.bars: list[BarRows] = []
        self.picture: PictureView | None = None

    def show_answer(self, answer: Answer) -> None:
        """Show an answer of `netwright-engine predict`, or its error."""
        if self.answer is None or not self._renew(self.answer, answer):
            if self._body is not None:
                self._column.removeWidget(self._body)
                self._body.hide()
                self._body.deleteLater()
            self._heads, self.bars, self.picture = [], [], None
            self._body = self._made(answer)
            self._column.addWidget(self._body)
        self.answer = answer

    def picture_of(self) -> QPixmap:
        """Return a picture of the view, twice as fine as on the screen."""
        with drawn_whole(self, FINENESS):
            return picture_of(self, theme.current().panel)

    def export_png(self, path: Path) -> None:
        """Write the view as a picture. Raises `OSError`."""
        with drawn_whole(self, FINENESS):
            write_atomically(path, png_of(self, theme.current().panel))

    def export_svg(self, path: Path) -> None:
        """Write the view as a vector drawing. Raises `OSError`."""
        with drawn_whole(self):
            write_atomically(path, svg_of(self, tr("Answer")))

    def _renew(self, before: Answer, answer: Answer) -> bool:
        """Show other classes in the widgets of before, so that nothing flickers while one draws or types. Return
        whether that is possible."""
        if _form(before) != _form(answer) or None in _form(answer):
            return False
        for head, bars, output in zip(self._heads, self.bars, answer["outputs"], strict=True):
            head.setText(markup.visible(answer_text(output)))
            show_classes(bars, output["top"], _chosen(output))
        if self.picture is not None:
            self.picture.show_picture(str(answer["picture"]), "")
        return True

    def _made(self, answer: Answer) -> QWidget:
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        outputs = answer.get("outputs", ())
        mask = next((str(entry["mask"]) for entry in outputs if "mask" in entry), "")
        picture = str(answer.get("picture", ""))
        if (picture or mask) and not any("answer" in entry for entry in outputs):
            self.picture = PictureView()
            self.picture.show_picture(picture, mask)
            row.addWidget(self._with_slider(self.picture) if mask else self.picture, 0, Qt.AlignmentFlag.AlignTop)
        right = QVBoxLayout()
        right.setSpacing(8)
        if "error" in answer:
            label = QLabel(markup.visible(str(answer["error"])))
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            theme.mark(label, "role", "error")
            right.addWidget(label)
        if "warnings" in answer:
            label = QLabel(markup.visible("\n".join(map(message_text, answer["warnings"]))))
            label.setWordWrap(True)
            theme.mark(label, "role", "warning")
            right.addWidget(label)
        for output in outputs:
            if len(outputs) > 1:
                heading = QLabel(markup.visible(str(output["name"])))
                theme.mark(heading, "role", "strong")
                right.addWidget(heading)
            for widget in self._widgets_of(answer, output):
                right.addWidget(widget)
        right.addStretch(1)
        row.addLayout(right, 1)
        return body

    @staticmethod
    def _with_slider(picture: PictureView) -> QWidget:
        """Return the picture with a slider below, which makes its mask fainter."""
        holder, slider = QWidget(), QSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, 100)
        slider.setValue(OPACITY)
        slider.setFixedWidth(picture.width())
        slider.setAccessibleName(tr("Strength of the classes over the picture"))
        slider.setToolTip(slider.accessibleName())

        def fade(value: int) -> None:
            picture.opacity = value / 100
            picture.update()

        slider.valueChanged.connect(fade)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(picture)
        column.addWidget(slider)
        return holder

    def _widgets_of(self, answer: Answer, output: Answer) -> list[QWidget]:
        """Return the widgets for one output."""
        if "top" in output:
            bars, head = class_bars(), large(markup.visible(answer_text(output)))
            show_classes(bars, output["top"], _chosen(output))
            self.bars.append(bars)
            self._heads.append(head)
            return [head, *self._series(answer), bars]
        if "shares" in output:
            legend = Legend()
            legend.show_shares(output["shares"])
            return [legend]
        if "answer" in output:
            return [_side_by_side(answer, output), values_table(named_values(output))]
        if plots := forecast_plots(answer, output):
            widgets: list[QWidget] = []
            for plot in plots:
                heading = QLabel(markup.visible(plot.heading))
                theme.mark(heading, "role", "strong")
                widgets += [heading, plot]
            return [*widgets, values_table(named_values(output))]
        values = named_values(output)
        if len(values) == 1:
            label = QLabel(markup.visible(values[0][0]))
            theme.mark(label, "role", "muted")
            return [label, large(values[0][1])]
        return [*self._series(answer), values_table(values)]

    @staticmethod
    def _series(answer: Answer) -> list[QWidget]:
        """Return the sequence of the sample as lines."""
        if not (series := answer.get("series")):
            return []
        return [Tiles([Sparkline(series["values"], ", ".join(series["names"]))])]


def _side_by_side(answer: Answer, output: Answer) -> QWidget:
    """Return the pictures of the sample, of the answer, and of the target where it is known, beside each other."""
    holder = QWidget()
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    pictures = ((tr("Sample"), answer.get("picture")), (tr("Answer"), output["answer"]))
    for column, (name, file) in enumerate((*pictures, (tr("Target"), output.get("target")))):
        if file:
            label, view = QLabel(name), PictureView()
            theme.mark(label, "role", "muted")
            view.show_picture(str(file), side=BESIDE)
            view.setAccessibleName(name)
            view.setToolTip("")
            grid.addWidget(label, 0, column)
            grid.addWidget(view, 1, column, Qt.AlignmentFlag.AlignTop)
    grid.setColumnStretch(3, 1)
    return holder


def _form(answer: Answer) -> tuple[object, ...]:
    """Return a key for the widgets of an answer: the number of classes of each output, None where it gives others."""
    if "series" in answer or "error" in answer or "warnings" in answer:
        return (None,)
    counts = (len(output["top"]) if "top" in output else None for output in answer["outputs"])
    return ("picture" in answer, *counts)


def _chosen(output: Answer) -> Sequence[str]:
    """Return the class of an answer, or its labels."""
    return [str(label) for label in output["labels"]] if "labels" in output else [str(output["class"])]


def large(text: str) -> ElidedLabel:
    """Return a heading that is elided where it is long."""
    label = ElidedLabel(text)
    theme.mark(label, "role", "large")
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def values_table(values: Sequence[tuple[str, str]]) -> QWidget:
    """Return names and values in columns, the first of many."""
    holder = QWidget()
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(32)
    rows = list(values[:MOST_VALUES])
    parts = 1 if len(rows) <= 8 else 3
    each = -(-len(rows) // parts) or 1
    for place in range(parts):
        part = rows[place * each : (place + 1) * each]
        table = ValueTable(tr("Values") if place == 0 else "", tuple(map(str, range(len(part)))))
        table.show_rows(part)
        grid.addWidget(table, 0, place, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(place, 1)
    if len(values) > len(rows):
        note = QLabel(
            tr("The first {count:,} of {total:,}. Saved answers have all.", count=len(rows), total=len(values))
        )
        theme.mark(note, "role", "help")
        grid.addWidget(note, 1, 0, 1, parts)
    return holder


def named_values(output: Answer, digits: int = 3) -> list[tuple[str, str]]:
    """Return names and texts of the numbers, classes or tokens of an answer."""
    value = output.get("text", output.get("value", output.get("classes", output.get("transcript"))))
    if isinstance(value, Mapping):
        names = [translation(PIXELS[name]) if "answer" in output else str(name) for name in value]
        return [(name, format_value(item, digits=digits)) for name, item in zip(names, value.values(), strict=True)]
    if isinstance(value, list):
        return [(f"{place + 1:,}", format_value(item, digits=digits)) for place, item in enumerate(value)]
    return [(str(output["name"]), format_value(value, digits=digits))]


def answer_text(output: Answer, digits: int = 3) -> str:
    """Return an answer in a few words, for a heading or a cell."""
    if "class" in output:
        return str(output["class"])
    if "labels" in output:
        return ", ".join(map(str, output["labels"])) or tr("none")
    if "text" in output:
        return str(output["text"])
    if "shares" in output:
        shares = sorted(output["shares"].items(), key=lambda pair: -pair[1])
        return ", ".join(f"{name} {format_percent(share, 1)}" for name, share in shares[:3] if share)
    values = named_values(output, digits)
    if len(values) == 1:
        return values[0][1]
    is_named = isinstance(output.get("value"), Mapping)
    words = [f"{name} {text}" if is_named else text for name, text in values[:4]]
    return ", ".join(words) + (", …" if len(values) > len(words) else "")
