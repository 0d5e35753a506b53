"""The head of the page of a run: its name, its state, what is known of it in a line, and its two figures."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from netwright.app.plots.words import metric_in_a_line
from netwright.app.runs.run_buttons import RunButtons
from netwright.app.runs.run_texts import ago, first_score
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import duration_text, message_text
from netwright.designer.language import listed, tr, translation
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.runs.summary import RunSummary

BAR_WIDTH, NARROW = 320, 720
ACCUMULATION = "training.gradient_accumulation"


class RunHeader(QWidget):
    """Name, state and progress of a run at the left, its figures at the right, its controls below them."""

    offer_clicked = Signal(str)
    """A setting with which the run may be resumed."""

    def __init__(self) -> None:
        super().__init__()
        self._summary: RunSummary | None = None
        self._samples = self._place = self._offer = ""
        self._has_best = False
        self.name, self.status, self.about = ElidedLabel(), QLabel(), ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        theme.mark(self.name, "role", "figure")
        theme.mark(self.about, "role", "help")
        self.bar, self.epoch, self.left = QProgressBar(), QLabel(), QLabel()
        self.bar.setTextVisible(False)
        self.bar.setMaximum(1000)
        self.bar.setMaximumWidth(BAR_WIDTH)
        self.bar.setAccessibleName(tr("Progress of the run"))
        self.reason, self.data_changes = QLabel(), QLabel()
        self.why = QPushButton(tr("Why?"))
        self.why.setToolTip(tr("Look for the cause: Run > Doctor, at this finding"))
        self.why.hide()
        for label in (self.reason, self.data_changes):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        theme.mark(self.data_changes, "role", "warning")
        self.offer = QPushButton()
        self.offer.setToolTip(tr("Less memory, the same mini-batch, the same numbers"))
        self.offer.clicked.connect(lambda: self.offer_clicked.emit(self._offer))
        self.buttons = RunButtons()
        self._figures = QGridLayout()
        self._figures.setHorizontalSpacing(24)
        self._figures.setVerticalSpacing(0)
        self.figures = [(QLabel(), QLabel()) for _ in range(2)]
        self._make()

    def show_offer(self, setting: str) -> None:
        """Offer a setting with which a failed run may be resumed, or none."""
        self._offer = setting
        name, _, value = setting.partition("=")
        is_pieces = name == ACCUMULATION and value.isdecimal()
        if is_pieces and self.buttons.has_checkpoint:
            text = tr("Resume with {count:,} micro-batches per step", count=int(value))
        elif is_pieces:
            text = tr("Start again with {count:,} micro-batches per step", count=int(value))
        elif self.buttons.has_checkpoint:
            text = tr("Resume with {setting}", setting=setting)
        else:
            text = tr("Start again with {setting}", setting=setting)
        self.offer.setText(markup.without_mnemonic(text))
        self.offer.setVisible(bool(setting))

    def show_reason(self, text: str, role: str) -> None:
        """Show why the run is as it is."""
        self.reason.setText(markup.visible(text))
        theme.mark(self.reason, "role", role)
        self.reason.setVisible(bool(text))
        self.why.hide()

    def show_warning(self, text: str) -> None:
        """Show what is wrong with the run, and offer to look for the cause."""
        self.show_reason(message_text(text), "warning")
        self.why.setVisible(bool(text))

    def _make(self) -> None:
        title = QHBoxLayout()
        title.setSpacing(12)
        title.addWidget(self.name)
        title.addWidget(self.status)
        title.addStretch(1)
        progress = QHBoxLayout()
        progress.setSpacing(12)
        for label in (self.epoch, self.left):
            theme.mark(label, "role", "muted")
        progress.addWidget(self.bar, 1)
        progress.addWidget(self.epoch)
        progress.addWidget(self.left)
        progress.addStretch(1)
        for column, (value, name) in enumerate(self.figures):
            theme.mark(value, "role", "figure")
            theme.mark(name, "role", "help")
            value.setFont(theme.figures(value.font()))
            for row, label in enumerate((value, name)):
                self._figures.addWidget(label, row, column, Qt.AlignmentFlag.AlignRight)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addLayout(title)
        words.addWidget(self.about)
        words.addLayout(progress)
        line = QHBoxLayout()
        line.setSpacing(24)
        line.addLayout(words, 1)
        line.addLayout(self._figures)
        line.addWidget(self.buttons.controls)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addLayout(line)
        reason = QHBoxLayout()
        reason.setSpacing(12)
        reason.addWidget(self.reason, 1)
        reason.addWidget(self.why, 0, Qt.AlignmentFlag.AlignTop)
        whole.addLayout(reason)
        whole.addWidget(self.data_changes)
        whole.addWidget(self.offer, 0, Qt.AlignmentFlag.AlignLeft)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the figures out where the controls take their room."""
        super().resizeEvent(event)
        self._show_figures()

    # ---- what is known ----

    def reset(self, name: str) -> None:
        """Show another run, of which nothing is known but the name."""
        self._summary, self._samples, self._place, self._has_best = None, "", "", False
        self.name.setText(name)
        self.bar.setValue(0)
        for label in (self.epoch, self.left):
            label.clear()
        self._show()

    def show_summary(self, summary: RunSummary) -> None:
        """Show what the files of the run say."""
        self._summary = summary
        self._show()

    def show_place(self, samples: str, place: str) -> None:
        """Show the samples of each split, and where the run trains."""
        self._samples, self._place = samples, place
        self._show()

    def show_best(self) -> None:
        """Say that the validation is that of the best weights."""
        self._has_best = True
        self._show()

    def _show(self) -> None:
        run = self._summary
        parts = [self._samples, self._place or (run.environment if run is not None else "")]
        scores: dict[str, float] = {}
        if run is not None:
            epochs, seconds = run.number("epochs"), run.number("seconds")
            length = tr("%n epoch(s)", "", int(epochs)) if epochs is not None else ""
            if seconds is not None and length:
                length = tr("{epochs} in {time}", epochs=length, time=duration_text(seconds))
            parts = [length if not run.is_alive else "", ago(run.created), *parts]
            scores = run.scores
        self.about.setText(" · ".join(filter(None, parts)))
        self.about.setVisible(bool(self.about.text()))
        names = [first_score(run, split) for split in ("validation", "test")] if run is not None else ["", ""]
        for (value, label), split, name in zip(self.figures, ("validation", "test"), names, strict=True):
            value.setText(format_score(name, scores[name]) if name else "")
            metric = name.rpartition(".")[2]
            words = translation("best validation" if split == "validation" and self._has_best else split)
            if metric != "accuracy":
                words = tr("{metric}, {split}", metric=metric_in_a_line(metric), split=words)
            label.setText(markup.visible(words))
        self._show_figures()

    def _show_figures(self) -> None:
        has_room = self.width() >= NARROW or self.buttons.controls.isHidden()
        for value, label in self.figures:
            for widget in (value, label):
                widget.setVisible(bool(value.text()) and has_room)


def samples_text(samples: Mapping[str, int]) -> str:
    """Return the number of samples of each split: `1,257 training and 270 test samples`."""
    counts = counts_of(samples)
    return tr("{counts} samples", counts=listed(counts)) if counts else ""


def counts_of(samples: Mapping[str, int]) -> list[str]:
    """Return the number of samples of each split that has any: `1,257 training`."""
    used = {split: count for split, count in samples.items() if count}
    return [tr("{count:,} {split}", count=count, split=translation(split)) for split, count in used.items()]
