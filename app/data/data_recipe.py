"""The recipe of the data as one sentence, whose words are buttons: how samples are read, divided and augmented."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QPushButton, QWidget

from netwright.app.widgets import FlowRow
from netwright.designer import markup, theme
from netwright.designer.language import field_help, in_sentence, named, noop, tr, translation
from netwright.engine.core.fields import Choice, ColumnNames, Int
from netwright.engine.core.text import format_number
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.sources.images import READERS
from netwright.engine.project.training import TrainingOptions

AUGMENTED = "augmented"
"""Placeholder for the augmentation, which is no option of the data."""
SENTENCES = {
    "images": noop(
        "Read in {channels}, resized to {image_size}, classes from {inner_folders}, "
        "split {split}, augmented by {augmented}"
    ),
    "images, labels": noop(
        "Read in {channels}, resized to {image_size}, targets from {label_column}, split "
        "{split}, augmented by {augmented}"
    ),
    "images, masks": noop(
        "Read in {channels}, resized to {image_size}, masks from {masks}, split {split}, augmented by {augmented}"
    ),
    "images, target_images": noop(
        "Read in {channels}, resized to {image_size}, targets from {target_images}, "
        "split {split}, augmented by {augmented}"
    ),
    "table": noop(
        "Predict {response} from {left_out}, missing values {missing_values}, dates as {dates}, split {split}"
    ),
    "series": noop(
        "Forecast {response} for {horizon} from the last {lags}, in the order of "
        "{time_column}, one series per {group_column}, split {split}"
    ),
    "sequences": noop(
        "Predict {response} per {response_per}, in the order of {time_column}, split {split}, augmented by {augmented}"
    ),
    "text": noop("Learn {text_goal} from {tokens}, of each text at most {longest_text}, split {split}"),
    "text, tokens": noop("Learn {text_goal} from {tokens}, in {text_samples} of {block_length}, split {split}"),
    "audio": noop(
        "Read as {sound_features} in {sound_channels}, predict {response}, split {split}, augmented by {augmented}"
    ),
    "arrays": noop("Predict {response}, split {split}, augmented by {augmented}"),
    "": noop("Split {split}, augmented by {augmented}"),
}
"""The recipe by source, and by the kind of its targets where that matters."""
_PLACEHOLDER = re.compile(r"{(\w+)}")
_CLAUSE_END = re.compile(r"(, |，)")
"""Separator of the clauses of a sentence, in English and in Chinese."""
SHARES = ((0.15, 0.15), (0.1, 0.1), (0.2, 0.2), (0.2, 0.0))
"""Fractions for validation and test on offer."""
SIZES = (28, 32, 48, 64, 96, 128, 224)
STEPS = (1, 2, 6, 7, 12, 24, 48, 96, 168)
EMPTY = {
    "response": noop("the last column"),
    "left_out": noop("all other columns"),
    "time_column": noop("the rows"),
    "group_column": noop("file"),
    "label_column": noop("the table"),
}
"""Words for names of columns that are not set."""
AUTOMATIC = noop("automatic")


class Recipe(QFrame):
    """A sentence about the options of the data; each word of it that is an option opens a menu of its values."""

    edited = Signal(str, object)
    """A value was chosen: the label of the step, and the options to set, by name."""
    field_wanted = Signal(str)
    """The field of this name is to be edited among all settings."""
    augmentation_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        theme.mark(self, "role", "card")
        self.row = FlowRow(gap=8)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(16, 10, 12, 10)
        outer.setSpacing(12)
        outer.addWidget(self.row, 1)
        self.corner = QHBoxLayout()
        outer.addLayout(self.corner)
        self.buttons: dict[str, QPushButton] = {}
        self._options, self._columns = DataOptions(), tuple[str, ...]()
        self._shown: object = None
        self.hide()

    @property
    def text(self) -> str:
        """The sentence as it is read."""
        return "".join(w.text() for w in self.row.widgets if isinstance(w, (QLabel, QPushButton)))

    def show_options(
        self,
        options: DataOptions,
        info: DatasetInfo | None,
        training: TrainingOptions,
        columns: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Show the recipe of these options. `columns` are those of the data, as its preview names them."""
        self.setVisible(options.source != "none")
        self._options, self._columns = options, tuple(str(column["name"]) for column in columns)
        words = {name: word(name, options, info, columns) for name in _placeholders(options)}
        words[AUGMENTED] = augmentation_word(training)
        parts = list(_parts(options))
        if self._shown == (parts, words):
            return
        self._shown = (parts, words)
        self.buttons = {}
        widgets: list[QWidget] = []
        for text, name in parts:
            if text:
                widgets.append(_plain(text))
                widgets[-1].setProperty("closes", text.startswith((",", "，", "、")))
            if name:
                self.buttons[name] = self._button(name, words[name])
                widgets.append(self.buttons[name])
        self.row.show_widgets(widgets)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(markup.visible(text))
        button.setAccessibleName(named(_label(name), text))
        button.setProperty("strong", True)
        if name == AUGMENTED:
            button.setToolTip(tr("The random changes of training, among the training options"))
            button.clicked.connect(self.augmentation_wanted)
            return button
        button.setToolTip(markup.wrapped(field_help(DataOptions.fields[name])))
        menu = QMenu(button)
        theme.mark(menu, "role", "choices")
        menu.aboutToShow.connect(partial(self._fill_menu, menu, name))
        button.setMenu(menu)
        return button

    def _fill_menu(self, menu: QMenu, name: str) -> None:
        menu.clear()
        for text, values in choices(name, self._options, self._columns):
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(all(getattr(self._options, key) == value for key, value in values.items()))
            action.triggered.connect(partial(self._edit, name, values))
        menu.addSeparator()
        menu.addAction(tr("Other…"), partial(self.field_wanted.emit, name))

    def _edit(self, name: str, values: Mapping[str, Any], _checked: bool = False) -> None:
        self.edited.emit(tr("Change {fields}", fields=in_sentence(DataOptions.fields[name].label)), values)


def _plain(text: str) -> QLabel:
    label = QLabel(text)
    theme.mark(label, "role", "muted")
    return label


def _label(name: str) -> str:
    return tr("Augmentation") if name == AUGMENTED else translation(DataOptions.fields[name].label)


def _key(options: DataOptions) -> str:
    """Return the key of the sentence for these options."""
    if options.source == "images" and options.target_kind in READERS:
        return f"images, {options.target_kind}"
    if options.source == "text" and not options.is_visible("longest_text"):
        return "text, tokens"
    return options.source if options.source in SENTENCES else ""


def _parts(options: DataOptions) -> Iterator[tuple[str, str]]:
    """Yield the texts of the sentence, each with the placeholder that follows it: the whole sentence is translated,
    which may change the order of its placeholders. A clause whose option does not apply is left out."""
    clauses = _CLAUSE_END.split(translation(SENTENCES[_key(options)]))
    separator = clauses[1] if len(clauses) > 1 else ""
    shown = [c for c in clauses[::2] if all(n == AUGMENTED or _applies(options, n) for n in _PLACEHOLDER.findall(c))]
    pieces = _PLACEHOLDER.split(separator.join(shown))
    for text, name in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        if text or name:
            yield text.strip(), name


def _applies(options: DataOptions, name: str) -> bool:
    return name == "split" or options.is_visible(name)


def _placeholders(options: DataOptions) -> list[str]:
    return [name for _, name in _parts(options) if name and name != AUGMENTED]


def word(name: str, options: DataOptions, info: DatasetInfo | None, columns: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the text of an option in the sentence: `48 × 48`, `70 / 15 / 15 at random`."""
    field, value = DataOptions.fields[name], getattr(options, name)
    match name:
        case "split":
            return split_word(options)
        case "channels" if value == "auto" and info is not None and info.inputs[0].type.layout == "image":
            return tr("grey") if info.inputs[0].type.channels == 1 else tr("colour")
        case "image_size" if info is not None and info.inputs[0].type.layout == "image":
            height, width = info.inputs[0].type.sizes[1:]
            return f"{width} × {height}"
        case "inner_folders" if options.class_pattern:
            return tr("file names")
        case "inner_folders":
            if value == "leave-out":
                return tr("folder names")
            return tr("outer folder names") if value == "class" else tr("folder paths")
        case "response" if not value:
            names = [str(column["name"]) for column in columns if column["role"] == "response"]
            return ", ".join(names) or (tr("the folder") if _is_folder(options) else translation(EMPTY[name]))
        case "left_out" if value:
            return tr("all but {columns}", columns=value)
    if isinstance(field, Choice):
        text = translation(field.word(value))
        is_english = text == field.word(value) and not text.isupper()
        return text[:1].lower() + text[1:] if is_english else text
    if isinstance(field, Int):
        return _amount(field, value) if value or not field.zero else translation(field.zero)
    return str(value).rsplit("/", 1)[-1] or translation(EMPTY.get(name, AUTOMATIC))


def _amount(field: Int, value: int) -> str:
    """Return a number with its unit."""
    unit = translation(field.unit)
    return f"{value:,} {unit.removesuffix('s') if value == 1 and unit == field.unit else unit}".strip()


def _is_folder(options: DataOptions) -> bool:
    return options.source in ("audio", "text", "sequences") and not options.path.lower().endswith((".csv", ".tsv"))


def split_word(options: DataOptions) -> str:
    """Return the division in words: `70 / 15 / 15 at random`."""
    if options.division == "k-fold":
        return tr("fold {fold} of {folds}", fold=options.fold, folds=options.folds)
    parts = [
        format_number(round(100 * share, 1))
        for share in (1 - options.validation_share - options.test_share, options.validation_share, options.test_share)
    ]
    shares = " / ".join(parts)
    match options.division:
        case "random":
            return tr("{shares} at random", shares=shares)
        case "grouped":
            groups = options.split_column or options.group_pattern
            return tr("{shares} by groups of {column}", shares=shares, column=groups)
        case "ordered" | "in-time":
            return tr("{shares} in order of time", shares=shares)
        case "column":
            return tr("by the column {column}", column=options.split_column)
    return tr("by folders")


def augmentation_word(options: TrainingOptions) -> str:
    """Return the random changes in words: `nothing`, `rotation`, `3 changes`."""
    names = list(options.augments)
    if not names:
        return tr("nothing")
    label = in_sentence(TrainingOptions.fields[names[0]].label)
    return label if len(names) == 1 else tr("%n change(s)", "", len(names))


def choices(name: str, options: DataOptions, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the values on offer for an option: the words, and the options to set."""
    field = DataOptions.fields[name]
    if name == "split":
        for validation, test in SHARES:
            parts = (1 - validation - test, validation, test)
            shares: dict[str, Any] = {"validation_share": validation, "test_share": test}
            yield " / ".join(f"{100 * part:.0f}" for part in parts), shares
        for kind in () if options.division == "in-time" else DataOptions.split.options:
            values = {"split": kind}
            if not options.replace(**values).problems():
                yield translation(DataOptions.split.word(kind)), values
    elif isinstance(field, Choice):
        for option in field.options:
            yield translation(field.word(option)), {name: option}
    elif isinstance(field, ColumnNames):
        yield translation(EMPTY.get(name, AUTOMATIC)).capitalize(), {name: ""}
        for column in columns:
            yield (tr("All but {column}", column=column) if name == "left_out" else column), {name: column}
    elif name == "image_size":
        yield tr("The most frequent size"), {name: 0}
        for size in SIZES:
            yield f"{size} × {size}", {name: size}
    elif isinstance(field, Int):
        for number in STEPS if field.unit == "steps" else (64, 128, 256, 512):
            yield _amount(field, number), {name: number}
