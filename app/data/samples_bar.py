"""The bar over the samples: their split and class, other samples, and whether they are as training sees them."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QPushButton, QWidget

from netwright.app.widgets import FlowRow
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import noop, tr, translation
from netwright.designer.segment_row import SegmentRow
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.options.augmentation_options import AUGMENTATION
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions

ALL_CLASSES = noop("All classes")
MOST_CLASSES = 500
"""Classes in the list to choose from."""


def changes_of(project: Project) -> tuple[object, ...]:
    """Return the values that the augmented samples of an epoch depend on, beside the data."""
    options = project.training
    return options.seed, *(getattr(options, name) for name in AUGMENTATION)


class SamplesBar(QWidget):
    """Segments for the splits, a list of the classes, a switch to show samples as augmented, and a link to others."""

    selection_changed = Signal()
    """Another split, class or draw is wanted: `selection`."""
    epoch_chosen = Signal(int)
    """The epoch whose augmentation is shown; 0 for the samples as they are."""

    def __init__(self, samples: Mapping[str, int], classes: Sequence[str] = (), *, can_augment: bool = False) -> None:
        super().__init__()
        self._epoch = self._draw = 0
        self._can_augment = can_augment
        self.classes = QComboBox()
        self.classes.setAccessibleName(tr("Class of the samples"))
        self.classes.addItems([translation(ALL_CLASSES), *classes[:MOST_CLASSES]])
        if len(classes) < 2:
            self.classes.hide()
        self.classes.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.classes.setMaximumWidth(200)
        self.classes.activated.connect(lambda _: self.selection_changed.emit())
        self.shown = QCheckBox(tr("Show as augmented"))
        self.shown.setToolTip(tr("The samples of the training split as an epoch changes them at random"))
        self.shown.toggled.connect(lambda is_on: self.epoch_chosen.emit(1 if is_on else 0))
        self.shown.hide()
        self.note = ElidedLabel("")
        self.note.hide()
        self.again = QPushButton(tr("New samples"))
        self.again.setIcon(theme.icon("reset", "accent"))
        theme.mark(self.again, "role", "link")
        self.again.clicked.connect(self._on_again)
        self.row = FlowRow(has_end=True)
        segments = self._make_segments(samples)
        self.segments = segments.group
        self.segments.idClicked.connect(lambda _: self.selection_changed.emit())
        self.row.show_widgets([segments, self.classes, self.shown, self.note, self.again])
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.row)

    def _make_segments(self, samples: Mapping[str, int]) -> SegmentRow:
        row = SegmentRow()
        counts = {"All": sum(samples.values()), **{split.capitalize(): samples.get(split, 0) for split in SPLITS}}
        for number, (name, count) in enumerate(counts.items()):
            button = row.add(f"{translation(name)} {count:,}", is_on=number == 0)
            button.setEnabled(count > 0)
        return row

    @property
    def selection(self) -> dict[str, object]:
        """The samples that are wanted, as the engine is asked for them."""
        number = self.segments.checkedId()
        values = {
            "split": SPLITS[number - 1] if number > 0 else "",
            "class_name": self.classes.currentText() if self.classes.currentIndex() > 0 else "",
            "draw": self._draw,
        }
        return {name: value for name, value in values.items() if value}

    def show_state(self, options: TrainingOptions, problem: str, epoch: int) -> None:
        """Show which epoch is shown, if one can be; `problem` says why these options cannot be used."""
        self._epoch = epoch
        theme.mark(self.note, "role", "error" if problem else "help")
        self.note.setText(problem or (tr("Epoch {epoch}", epoch=epoch) if epoch else ""))
        self.note.setVisible(bool(self.note.text()))
        self.shown.blockSignals(True)
        self.shown.setChecked(epoch > 0)
        self.shown.blockSignals(False)
        self.shown.setVisible(self._can_augment and bool(options.augments) and not problem)
        for button in self.segments.buttons():
            button.setEnabled(not epoch and not button.text().endswith(" 0"))
        self.classes.setEnabled(not epoch)
        self.row.arrange()
        self.again.setToolTip(tr("As the next epoch changes them") if epoch else tr("Others, by chance"))

    def _on_again(self) -> None:
        if self._epoch:
            self.epoch_chosen.emit(self._epoch + 1)
            return
        self._draw += 1
        self.selection_changed.emit()
