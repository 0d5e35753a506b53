"""The curves of a run's metrics: one card each, one of them shown, chosen from a list where there are several."""

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QStackedWidget, QWidget

from app.runs.curves import CurveCard
from designer import theme
from engine.project.options.metrics import is_share, title_of


class MetricCards(QStackedWidget):
    """The main metric's card is always there; others come with the first points that bear their name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.main = CurveCard("Accuracy")
        self._others: dict[str, CurveCard] = {}
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

    def card(self, name: str) -> CurveCard:
        """The card of a metric, made where there is none yet."""
        if name == self._main_name or not self._main_name:
            return self.main
        if name not in self._others:
            card = CurveCard(title_of(name))
            card.set_percent(is_share(name))
            card.set_smoothing(self._smoothing)
            card.set_expected_steps(self._expected_steps)
            card.set_epoch_steps(self._epoch_steps)
            self._others[name] = card
            self.addWidget(card)
            self._list()
        return self._others[name]

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
        self.choice.list.addItems([card.title for card in self.cards])
        self.choice.list.setCurrentIndex(shown)
        self.choice.setVisible(bool(self._others))

    def _on_chosen(self, index: int) -> None:
        self.setCurrentWidget(self.cards[index])


class _Choice(QWidget):
    """Which metric is shown; hidden where there is one alone."""

    def __init__(self) -> None:
        super().__init__()
        label = QLabel("Metric")
        theme.mark(label, "role", "muted")
        self.list = QComboBox()
        self.list.setAccessibleName("Metric whose curve is shown")
        self.list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        label.setBuddy(self.list)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(label)
        row.addWidget(self.list)
        self.hide()
