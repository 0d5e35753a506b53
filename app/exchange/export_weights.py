"""The part of the export dialog that chooses weights: those of a run as they are now, or initial ones."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QVBoxLayout, QWidget

from netwright.app.exchange.export_parts import choice_row
from netwright.app.messages import breakable
from netwright.designer.engine_messages import title_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import title_of

RESULT, UNTRAINED, OTHER = 0, 1, 2
"""Ids of the buttons: the weights that a run names as its result, initial ones, and the run's others."""
WEIGHTS = {
    "best": (noop("Best"), noop("The best validation result of {run}")),
    "last": (noop("Last"), noop("The last iteration of {run}")),
    "": (noop("Trained"), noop("As trained in {run}")),
}
NO_RUN = noop("No run of this project has trained weights yet")
NOT_YET = noop("{run} has no weights yet: they can be exported once it has saved some")


class WeightsChoice(QWidget):
    """Offers the weights of a run that are there, its result first, and initial ones. `changed` is emitted when others
    are chosen, or the run has others."""

    changed = Signal()

    def __init__(self, run: RunFolder | None) -> None:
        super().__init__()
        self.group = QButtonGroup(self)
        self._run: RunFolder | None = None
        self._weights = {RESULT: "", OTHER: ""}
        self._was_chosen = self._has_run = False
        self._rows: dict[int, tuple[QRadioButton, QLabel]] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for id in (RESULT, OTHER, UNTRAINED):
            column.addWidget(self._row(id))
        self._rows[UNTRAINED][1].setText(tr("The network on the canvas with initial weights"))
        self._rows[UNTRAINED][0].setText(tr("Untrained"))
        self.group.idClicked.connect(self._on_clicked)
        self.show_run(run)

    def _row(self, id: int) -> QWidget:
        row = QWidget()
        layout, help = choice_row(self.group, id)
        layout.setContentsMargins(0, 0, 0, 0)
        row.setLayout(layout)
        button = self.group.button(id)
        assert isinstance(button, QRadioButton)
        self._rows[id] = button, help
        return row

    def _show(self, id: int, *, is_shown: bool) -> None:
        row = self._rows[id][0].parentWidget()
        assert row is not None
        row.setVisible(is_shown)

    def _say(self, id: int, label: str, text: str) -> None:
        button, help = self._rows[id]
        button.setText(label)
        help.setText(text)

    # ---- the run ----

    def show_run(self, run: RunFolder | None) -> None:
        """Offer the weights of a run as they are now. A choice made by hand stays while it exists."""
        kind = _kept(run) if run is not None else None
        other = {"best": "last", "last": "best"}.get(kind or "", "")
        if run is None or not (run.path / other).is_dir():
            other = ""
        self._has_run = run is not None
        self._run = run if kind is not None else None
        self._weights = {RESULT: kind or "", OTHER: other}
        name = breakable(title_text(title_of(run))) if run is not None else ""
        for id, weights in self._weights.items():
            label, text = WEIGHTS[weights]
            self._say(id, translation(label), translation(text).format(run=name))
        if kind is None:
            text = translation(NOT_YET).format(run=name) if run is not None else translation(NO_RUN)
            self._say(RESULT, tr("Trained"), text)
        self._rows[RESULT][0].setEnabled(kind is not None)
        self._show(OTHER, is_shown=bool(other))
        self._choose(has_result=kind is not None, has_other=bool(other))
        self.changed.emit()

    def _choose(self, *, has_result: bool, has_other: bool) -> None:
        """Select the result of the run if there is one, unless another choice was clicked. Of a run that has saved
        nothing yet none is selected: nobody is given initial weights for it who has not asked for them."""
        current = self.group.checkedId()
        is_there = {RESULT: has_result, OTHER: has_other, UNTRAINED: True}
        if self._was_chosen and is_there.get(current, False):
            return
        self.group.setExclusive(False)
        for id, (button, _) in self._rows.items():
            button.setChecked(id == (RESULT if has_result else UNTRAINED if not self._has_run else None))
        self.group.setExclusive(True)

    def _on_clicked(self) -> None:
        self._was_chosen = True
        self.changed.emit()

    # ---- what is chosen ----

    @property
    def run(self) -> RunFolder | None:
        """The run whose weights are chosen; None for initial ones."""
        return self._run if self.group.checkedId() != UNTRAINED else None

    def text(self, id: int) -> str:
        """Return the text of a choice."""
        return self._rows[id][1].text().replace("\u200b", "")

    @property
    def kept(self) -> str:
        """`best` or `last`, where the run has a choice; else empty."""
        return self._weights.get(self.group.checkedId(), "")


def _kept(run: RunFolder) -> str | None:
    """Return the name of the weights that are the result of a run, None where there are none yet; empty where its files
    are damaged, which the export says."""
    try:
        folder = run.kept()
    except UserError:
        return ""
    return folder.name if folder is not None else None
