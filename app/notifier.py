"""Says that a run has ended to somebody who looks elsewhere: a message of the desktop, and a beep if wanted."""

from PySide6.QtCore import QObject, QSettings, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QSystemTrayIcon

from designer import theme

SHOWN_MS = 10_000
MESSAGE, BEEP = "runs/message_at_end", "runs/beep_at_end"


class Herald(QObject):
    """Of one window. Messages are on until they are switched off, the beep is off until it is switched on."""

    def __init__(self, window: QMainWindow, settings: QSettings) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        self._icon: QSystemTrayIcon | None = None
        self._gone = QTimer(self, singleShot=True, interval=2 * SHOWN_MS)
        self._gone.timeout.connect(self._hide)

    @property
    def has_message(self) -> bool:
        """Whether a message comes."""
        return bool(self._settings.value(MESSAGE, True, bool))

    @property
    def has_beep(self) -> bool:
        """Whether a beep comes."""
        return bool(self._settings.value(BEEP, False, bool))

    def switch_message(self) -> None:
        """A message from now on, or none."""
        self._settings.setValue(MESSAGE, not self.has_message)

    def switch_beep(self) -> None:
        """A beep from now on, or none."""
        self._settings.setValue(BEEP, not self.has_beep)
        if self.has_beep:
            QApplication.beep()

    def tell(self, name: str, sentence: str, *, is_bad: bool = False) -> None:
        """A run has ended. Whoever has the window before them sees it there, and needs no message."""
        if self.has_beep:
            QApplication.beep()
        if self.has_message and not self._window.isActiveWindow():
            self._show(name, sentence, is_bad)

    def _show(self, name: str, sentence: str, is_bad: bool) -> None:
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            QApplication.alert(self._window)  # where there is no tray: the window's entry asks for attention
            return
        if self._icon is None:
            icon = self._window.windowIcon()
            self._icon = QSystemTrayIcon(theme.icon("play") if icon.isNull() else icon, self)
            self._icon.setToolTip("Netwright")
            self._icon.messageClicked.connect(self._come)
            self._icon.activated.connect(self._come)
        kinds = QSystemTrayIcon.MessageIcon
        kind = kinds.Critical if is_bad else kinds.Information
        self._icon.show()
        self._icon.showMessage(name, sentence, kind, SHOWN_MS)
        self._gone.start()

    def _come(self) -> None:
        self._hide()
        self._window.showNormal() if self._window.isMinimized() else self._window.show()
        self._window.raise_()
        self._window.activateWindow()

    def _hide(self) -> None:
        self._gone.stop()
        if self._icon is not None:
            self._icon.hide()
