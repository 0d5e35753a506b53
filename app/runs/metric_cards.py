"""The curves of a run's metrics, and which class was taken for which: one card each, of which one is shown."""

from collections.abc import Mapping

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QStackedWidget, QWidget

from app.runs.confusion_chart import ConfusionCard
from app.runs.curves import CurveCard
from designer import theme
from engine.project.options.metrics import is_share, title_of
from engine.runs.confusion import Confusion

MOST_CARDS = 100


class MetricCards(QStackedWidget):
    """The main metric's card is always there; others come with the first points that bear their name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.main = CurveCard("Accuracy")
        self._others: dict[str, CurveCard] = {}
        self._tables: list[ConfusionCard] = []
        self._main_name = ""
        self._smoothing, self._expected_steps, self._epoch_steps = 0.0, 0, 0
        self.addWidget(self.main)
        self.choice = _Choice()
        self.choice.list.activated.connect(self._on_chosen)

    @property
    def cards(self) -> tuple[CurveCard, ...]:
        """All of them, the main one first."""
        return (self.main, *self._others.values())

    def set_main(self, name: str) -> None:
        """The name of the main metric."""
        self._main_name = name
        self.main.title = title_of(name)
        self.main.set_percent(is_share(name))
        self._list()

    def card(self, name: str) -> CurveCard | None:
        """The card of a metric, made where there is none yet, unless very many are there."""
        if name == self._main_name or not self._main_name:
            return self.main
        if name not in self._others:
            if len(self._others) >= MOST_CARDS:
                return None
            card = CurveCard(title_of(name))
            card.set_percent(is_share(name))
            card.set_smoothing(self._smoothing)
            card.set_expected_steps(self._expected_steps)
            card.set_epoch_steps(self._epoch_steps)
            self._others[name] = card
            self.insertWidget(len(self._others), card)
            self._list()
        return self._others[name]

    def set_confusions(self, tables: Mapping[str, Confusion]) -> None:
        """Which class the kept network took for which, by part of the data: the last entries of the list."""
        self._drop_tables()
        for part, table in tables.items():
            self._tables.append(ConfusionCard(f"Confusion matrix, {part}", table))
            self.addWidget(self._tables[-1])
        self._list()

    def _drop_tables(self) -> None:
        for table in self._tables:
            self.removeWidget(table)
            table.deleteLater()
        self._tables = []

    def show_metric(self, name: str) -> None:
        """Show the card of this metric, where there is one."""
        names = [self._main_name, *self._others]
        if name in names:
            self.choice.list.setCurrentIndex(names.index(name))
            self.setCurrentWidget(self.cards[names.index(name)])

    def set_expected_steps(self, count: int) -> None:
        """How long the run will be."""
        self._expected_steps = count
        for card in self.cards:
            card.set_expected_steps(count)

    def set_epoch_steps(self, count: int) -> None:
        """Steps an epoch."""
        self._epoch_steps = count
        for card in self.cards:
            card.set_epoch_steps(count)

    def set_smoothing(self, share: float) -> None:
        """The share of the previous value that the smoothed curves keep."""
        self._smoothing = share
        for card in self.cards:
            card.set_smoothing(share)

    def clear(self) -> None:
        """Forget all points, for another run: the metrics may be others."""
        self.main.clear()
        self._drop_tables()
        for card in self._others.values():
            card.shutdown()
            self.removeWidget(card)
            card.deleteLater()
        self._others = {}
        self.setCurrentWidget(self.main)
        self._list()

    def shutdown(self) -> None:
        """Let go of the plots."""
        for card in self.cards:
            card.shutdown()

    def _list(self) -> None:
        shown = self.currentIndex()
        self.choice.list.clear()
        self.choice.list.addItems([*(card.title for card in self.cards), *(table.title for table in self._tables)])
        self.choice.list.setCurrentIndex(shown)
        self.choice.setVisible(self.count() > 1)

    def _on_chosen(self, index: int) -> None:
        self.setCurrentIndex(index)


class _Choice(QWidget):
    """Which metric is shown; hidden where there is one alone."""

    def __init__(self) -> None:
        super().__init__()
        label = QLabel("Show")
        theme.mark(label, "role", "muted")
        self.list = QComboBox()
        self.list.setAccessibleName("What is shown above the loss")
        self.list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        label.setBuddy(self.list)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(label)
        row.addWidget(self.list)
        self.hide()
