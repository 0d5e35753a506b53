"""What stands over the samples of the Data tab: whether they are shown as training changes them at random."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QWidget

from app.elided import ElidedLabel
from designer import theme
from engine.project.options.augmentation import AUGMENTATION
from engine.project.project import Project
from engine.project.training import TrainingOptions

NOTHING_YET = "Training takes them as they are"


def changes_of(project: Project) -> tuple[object, ...]:
    """All that the changed samples of an epoch follow from, beside the data."""
    options = project.training
    return options.seed, *(getattr(options, name) for name in AUGMENTATION)


class AugmentedBar(QWidget):
    """A switch, the epoch whose changes are shown, and the way to the options."""

    epoch_chosen = Signal(int)
    """0: the samples as they are."""
    options_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._epoch = 0
        self.shown = QCheckBox("Show as augmented")
        self.shown.setToolTip("The samples of the training part as an epoch changes them at random")
        self.shown.toggled.connect(self._on_toggled)
        self.note = ElidedLabel("")
        self.again = QPushButton("Again")
        self.again.setToolTip("As the next epoch changes them")
        self.again.clicked.connect(lambda: self._choose(self._epoch + 1))
        self.options = QPushButton()
        self.options.clicked.connect(self.options_wanted)
        for link in (self.again, self.options):
            theme.mark(link, "role", "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addStretch(1)
        for widget in (self.shown, self.note, self.again, self.options):
            row.addWidget(widget)

    def show_state(self, options: TrainingOptions, problem: str, epoch: int) -> None:
        """Show what can be shown, and which epoch is; `problem` says why these options cannot be used."""
        self._epoch = epoch
        can_show = bool(options.augments) and not problem
        text = problem or (f"Epoch {epoch}" if epoch else "" if can_show else NOTHING_YET)
        theme.mark(self.note, "role", "error" if problem else "help")
        self.note.setText(text)
        self.note.setVisible(bool(text))
        self.shown.blockSignals(True)
        self.shown.setChecked(epoch > 0)
        self.shown.blockSignals(False)
        self.shown.setVisible(can_show)
        self.again.setVisible(epoch > 0)
        self.options.setText("Change…" if options.augments else "Augment…")
        self.options.setToolTip("The random changes, among the training options")

    def _on_toggled(self, is_on: bool) -> None:
        self._choose(1 if is_on else 0)

    def _choose(self, epoch: int) -> None:
        self.epoch_chosen.emit(epoch)
