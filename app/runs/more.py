"""What else can be asked of a run: the menu beside its buttons."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from designer import theme

WATCHABLE = {
    "gradient_norm": ("Watch the gradient norm", "The norm of all gradients at every step from now on, as a plot"),
    "layers": ("Watch layers", "Gradient, output and dead units of each layer from now on, as marks on the canvas"),
}
"""What a run may begin to watch while it trains, with words and tooltip."""


class MoreButton(QPushButton):
    """Three dots with a menu. `watch_clicked` tells what is to be watched, or no more."""

    release_clicked = Signal()
    checkpoint_clicked = Signal()
    validate_clicked = Signal()
    change_clicked = Signal()
    watch_clicked = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("⋯", parent)
        self.setAccessibleName("More")
        self.setFixedWidth(36)
        self.setStyleSheet("QPushButton { padding: 5px 0; } QPushButton::menu-indicator { width: 0; image: none; }")
        self.setToolTip("Free memory, save, validate, change the learn rate or the epochs, watch gradients or layers")
        menu = QMenu(self)
        theme.mark(menu, "role", "choices")
        menu.setToolTipsVisible(True)
        self.release = menu.addAction("Pause and free memory", self.release_clicked.emit)
        self.release.setToolTip("The run waits as a checkpoint on disk: its processes end, Resume starts them again")
        menu.addSeparator()
        self.checkpoint = menu.addAction("Save a checkpoint", self.checkpoint_clicked.emit)
        self.validate = menu.addAction("Validate now", self.validate_clicked.emit)
        self.change = menu.addAction("Change rate or epochs…", self.change_clicked.emit)
        menu.addSeparator()
        self.watches = {}
        for what, (text, tip) in WATCHABLE.items():
            action = self.watches[what] = menu.addAction(text)
            action.setToolTip(tip)
            action.setCheckable(True)
            action.triggered.connect(lambda is_on, what=what: self.watch_clicked.emit(what, is_on))
        self.setMenu(menu)

    def show_state(self, state: str, *, has_released: bool) -> None:
        """What the run is decides what can be asked of it. One that is on disk only takes notes until it goes on."""
        self.setEnabled(state in ("running", "paused"))
        self.release.setText("Free its memory" if state == "paused" else "Pause and free memory")
        for action in (self.release, self.checkpoint, self.validate):
            action.setEnabled(not has_released)

    def show_watched(self, what: str, *, is_on: bool) -> None:
        """What the run says that it watches."""
        if what in self.watches:
            self.watches[what].setChecked(is_on)
