"""The lens of the canvas: the one thing that layers show beside their structure, such as their cost or their health."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from netwright.designer.language import noop, translation

if TYPE_CHECKING:
    from netwright.designer.scene.tint import Kind

Lens = Literal["structure", "cost", "time", "health", "activations", "attribution", "stages"]
LENSES: tuple[Lens, ...] = ("structure", "cost", "time", "health", "activations", "attribution", "stages")
LABELS: Mapping[Lens, str] = {
    "structure": noop("Structure"),
    "cost": noop("Cost"),
    "time": noop("Time"),
    "health": noop("Health"),
    "activations": noop("Activations"),
    "attribution": noop("Attribution"),
    "stages": noop("Stages"),
}
HELP: Mapping[Lens, str] = {
    "structure": noop("Parameters of each layer, sizes on the connections"),
    "cost": noop("Parameters, FLOPs or memory of each layer"),
    "time": noop("Measured time of each layer per step, forward and backward"),
    "health": noop("Gradient and dead units of each layer while a run trains"),
    "activations": noop("Outputs of each layer for a sample, as pictures beside the layer"),
    "attribution": noop("Where each layer looks for the answer to a sample, as pictures beside the layer"),
    "stages": noop("Which worker computes which layer, by colour and number"),
}
NO_LAYERS = noop("Add layers first.")
NO_TRAINING = noop("Train the network: its health is measured while it trains.")
NO_RUN = noop("Train the network first: this is shown for a run that has ended.")


@dataclass(frozen=True)
class Remark:
    """Texts of a lens: what is shown, for the bar; `note` and the text of a `link`, for the legend."""

    shown: str = ""
    note: str = ""
    link: str = ""
    sample: str = ""
    """The sample that is shown, which the bar offers to change."""


class Lenses(QObject):
    """The lens of one canvas. Whatever draws a lens follows `changed`, and tells its texts by `remark`."""

    changed = Signal()
    """Another lens, another figure of the cost, or another reason why a lens cannot be had."""
    remarked = Signal()
    link_clicked = Signal(str)
    """The link in the legend of this lens was clicked."""
    sample_stepped = Signal(int)
    """The sample before (-1) or after (1) is asked for."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.current: Lens = "structure"
        self.cost: Kind = "parameters"
        self.has_layers = False
        self._refusals: dict[Lens, str] = {"health": NO_TRAINING, "activations": NO_RUN, "attribution": NO_RUN}
        self.remarks: dict[Lens, Remark] = {}
        self._is_chosen = False

    @property
    def tint(self) -> "Kind":
        """The figure by which layers are tinted; empty for none."""
        return {"cost": self.cost, "time": "time"}.get(self.current, "")

    def choose(self, lens: Lens) -> None:
        """Show the canvas through a lens."""
        self._is_chosen = True
        self._show(lens)

    def leave(self) -> None:
        """Show the structure, because the lens can no longer be had."""
        self._show("structure")

    def choose_cost(self, kind: "Kind") -> None:
        """Show the cost by another figure."""
        if kind != self.cost:
            self.cost = kind
            self.changed.emit()

    def offer(self, lens: Lens) -> None:
        """Show a lens by itself, unless another one was chosen."""
        if not self._is_chosen:
            self._show(lens)

    def forget_choice(self) -> None:
        """Let the next lens that is offered be shown."""
        self._is_chosen = False

    def _show(self, lens: Lens) -> None:
        if lens != self.current:
            self.current = lens
            self.changed.emit()

    def refusal(self, lens: Lens) -> str:
        """Return the reason why a lens cannot be had; empty for one that can."""
        if lens == "structure":
            return ""
        return translation(self._refusals.get(lens, "") if self.has_layers else NO_LAYERS)

    def refuse(self, lens: Lens, reason: str) -> None:
        """Set the reason why a lens cannot be had, or an empty text."""
        if self._refusals.get(lens, "") != reason:
            self._refusals[lens] = reason
            self.changed.emit()

    def set_layers(self, *, has_layers: bool) -> None:
        """Set whether there is anything to look at."""
        if has_layers != self.has_layers:
            self.has_layers = has_layers
            self.changed.emit()

    def remark(self, lens: Lens, remark: Remark) -> None:
        """Set the texts of a lens."""
        if self.remarks.get(lens, Remark()) != remark:
            self.remarks[lens] = remark
            self.remarked.emit()
