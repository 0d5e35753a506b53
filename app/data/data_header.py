"""The head of the Data page: the name of the data, its sizes, and the way to other data and to all settings."""

from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from netwright.app.widgets import SidePanel
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.forms.form import Form
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.text import format_bytes
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo
from netwright.engine.project.sources.source_catalog import SOURCES

SIDE_WIDTH = 364


PER = {"step": noop("{targets} per step"), "pixel": noop("{targets} per pixel"), "voxel": noop("{targets} per voxel")}
"""Targets of parts of a sample."""


def title_of(options: DataOptions) -> str:
    """Return the name of the data: that of its file or folder, else of its source."""
    return Path(options.path).name or translation(SOURCES[options.source].label)


def summary_of(options: DataOptions, info: DatasetInfo) -> str:
    """Return the sizes of the data: `364 images in 3 classes · 48 × 48 in colour · 10 MiB in memory`."""
    samples, first = _counted(options.source, sum(info.samples.values())), info.targets[0]
    if info.forecast is not None:
        text = tr("{samples} of {columns}", samples=samples, columns=tr(", ").join(info.forecast.targets))
    elif len(info.targets) > 1:
        text = tr("{samples} with {count} targets", samples=samples, count=len(info.targets))
    elif first.is_one_class:
        text = tr("{samples} in {count:,} classes", samples=samples, count=first.outputs)
    else:
        text = tr("{samples} with {targets} to predict", samples=samples, targets=_described(first))
    parts = [text, *map(_size_of, info.inputs[:3])]
    if info.held_bytes:
        parts.append(tr("{size} in memory", size=format_bytes(info.held_bytes)))
    return " · ".join(parts)


def _counted(source: str, count: int) -> str:
    """Return a number of samples by what they are: `364 images`."""
    match source:
        case "images" | "digits":
            return tr("%n image(s)", "", count)
        case "table":
            return tr("%n row(s)", "", count)
        case "series":
            return tr("%n window(s)", "", count)
        case "sequences":
            return tr("%n sequence(s)", "", count)
        case "text":
            return tr("%n text(s)", "", count)
        case "audio":
            return tr("%n sound(s)", "", count)
    return tr("%n sample(s)", "", count)


def _described(target: TargetInfo) -> str:
    """Return a target in words: `2 numbers`, `5 classes per pixel`, as `TargetInfo.spoken` does in English."""
    match target.task:
        case "transcripts":
            return tr("transcripts of {count:,} classes", count=len(target.classes))
        case "classes":
            text = tr("%n class(es)", "", target.outputs)
        case "labels":
            text = tr("%n label(s)", "", target.outputs)
        case _:
            text = tr("%n number(s)", "", target.outputs)
    return text if target.per == "sample" else translation(PER[target.per]).format(targets=text)


def _size_of(info: InputInfo) -> str:
    """Return the size of an input: of images width × height, and whether they have colours."""
    if info.type.layout != "image":
        match info.type.layout:
            case "features":
                return tr("{size} inputs", size=info.short())
            case "tokens":
                low, _, high = info.short().partition(" to ")
                return tr("{size} tokens", size=tr("{low} to {high}", low=low, high=high) if high else low)
        return info.short()
    channels, height, width = info.type.sizes
    size = f"{width} × {height}"
    if info.sound is not None:
        return info.short()
    if channels == 1:
        return tr("{size} grey", size=size)
    return (
        tr("{size} in colour", size=size) if channels == 3 else tr("{size} {count} channels", size=size, count=channels)
    )


class DataHeader(QWidget):
    """Names the data; has buttons for other data, and a link that opens all settings."""

    def __init__(self) -> None:
        super().__init__()
        self.title, self.summary, self.count = ElidedLabel(""), ElidedLabel(""), QLabel()
        theme.mark(self.title, "role", "title")
        theme.mark(self.summary, "role", "muted")
        theme.mark(self.count, "role", "muted")
        self.title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.summary.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.other = QPushButton(tr("Change…"))
        self.other.setAccessibleName(tr("Choose other data…"))
        self.other.setToolTip(tr("Choose other data"))
        self.other.setMenu(QMenu(self.other))
        self.again = QPushButton(tr("Reload"))
        self.again.setToolTip(tr("Look at the files anew"))
        theme.mark(self.again, "role", "link")
        self.settings = QPushButton(tr("All settings"))
        self.settings.setCheckable(True)
        self.settings.setToolTip(tr("Show every option of the data beside the samples"))
        theme.mark(self.settings, "role", "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for widget in (self.title, self.summary, self.other, self.again):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.count)
        row.addWidget(self.settings)

    def show_data(self, options: DataOptions, info: DatasetInfo | None) -> None:
        """Show the name, the sizes where they are known, and how many options are changed."""
        self.title.setText(markup.visible(title_of(options)))
        self.title.setToolTip(markup.visible(options.path))
        self.summary.setText(markup.visible(summary_of(options, info) if info is not None else ""))
        names = [name for name in DataOptions.fields if options.is_visible(name) and name not in ("source", "path")]
        changed = sum(options.is_changed(name) for name in names)
        self.count.setText(tr("{changed} of {count} changed", changed=changed, count=len(names)) if changed else "")


class DataSettings(SidePanel):
    """All options of the data as a form; hidden until they are wanted."""

    def __init__(self, options: DataOptions) -> None:
        content = QWidget()
        self.form = Form(options)
        self.note = QLabel()
        self.note.setWordWrap(True)
        theme.mark(self.note, "role", "help")
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.form)
        column.addWidget(self.note)
        column.addStretch(1)
        super().__init__(content, SIDE_WIDTH)
        self.hide()

    def edit(self, name: str) -> None:
        """Put the keyboard into the field of an option, and show it."""
        row = self.form.rows.get(name)
        if row is not None and row.is_made:
            self.ensureWidgetVisible(row.widget, 0, 80)
            row.widget.setFocus()
