"""What will be used for a training, in words: where it executes, its batches and rate, or why it cannot be."""

import html
import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from designer import theme
from engine.environments.arithmetic import rate_factor, words
from engine.environments.choose import resolve
from engine.environments.inventory import DeviceInventory
from engine.errors import UserError
from engine.network.analysis import Analysis, analyse
from engine.network.network import Network
from engine.project.extent import batch_size
from engine.project.project import Project

_LOOKING = "Looking for the devices of this machine…"


class PlacementWords(QWidget):
    """Two paragraphs under the cards. `refusal` says why the environment cannot be used, if so; `rate_scale` is what
    the learn rates are multiplied by."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.refusal = ""
        self.rate_scale = 1.0
        self._analysed: tuple[Network, Analysis] | None = None
        self.sentence, self.numbers = QLabel(self), QLabel(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for label in (self.sentence, self.numbers):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)
        theme.mark(self.numbers, "role", "muted")

    def show_project(
        self, project: Project, inventory: DeviceInventory | None, samples: int | None, refusal: str = ""
    ) -> None:
        """Say it for a project with so many training samples, on a machine that may not be known yet; or what is wrong
        with options of the environment that are not to be seen, if there is something."""
        self.refusal, self.rate_scale = refusal, 1.0
        said = ""
        if refusal:
            self._say(html.escape(refusal), "error")
        elif inventory is None:
            self._say(_LOOKING)
        else:
            training = project.training
            batch = batch_size(training, samples)
            try:
                placement = resolve(project.environment, inventory, batch, training.gradient_accumulation)
                self._say(f"Will use {self._strong(placement.sentence)}")
                said = words(placement, project, samples, self._analysis(project.network))
                self.rate_scale = rate_factor(project.environment, len(placement.workers))
            except UserError as refused:
                self.refusal = str(refused)
                self._say(html.escape(self.refusal), "error")
        self.numbers.setText(said)
        self.numbers.setVisible(bool(said))

    def _say(self, text: str, role: str = "muted") -> None:
        theme.mark(self.sentence, "role", role)
        self.sentence.setText(text)

    def _strong(self, sentence: str) -> str:
        """What stands out is the first part, up to the end of a sentence at most."""
        said = re.sub(r"^One process", "one process", sentence)
        main = re.split(r";|\.(?:\s|$)", said, maxsplit=1)[0]
        colour = theme.current().text.name()
        return f'<b style="color: {colour}">{html.escape(main)}</b>{html.escape(said[len(main) :])}'

    def _analysis(self, network: Network) -> Analysis:
        if self._analysed is None or self._analysed[0] is not network:
            self._analysed = (network, analyse(network))
        return self._analysed[1]
