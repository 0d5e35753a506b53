"""Desktop notifications: tells that a run or an experiment has ended while the user looks elsewhere."""

from PySide6.QtCore import QObject, QSettings, QTimer, Signal
from PySide6.QtWidgets import QApplication, QMainWindow, QSystemTrayIcon

from netwright.designer import markup, theme
from netwright.designer.canvas.spoken import announce
from netwright.designer.engine_messages import message_text
from netwright.designer.language import named, noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.experiments import ExperimentFolder

SHOWN_MS = 10_000
WATCH_MS = 1000
MESSAGE, BEEP = "runs/message_at_end", "runs/beep_at_end"
ENDED = {
    "finished": noop("Experiment finished"),
    "stopped": noop("Experiment stopped"),
    "failed": noop("Experiment failed"),
    "lost": noop("Experiment lost"),
}


class Notifier(QObject):
    """Shows a message on the desktop, and beeps. Messages are on by default, the beep is off."""

    changed = Signal()
    """The message or the beep was switched on or off."""

    def __init__(self, window: QMainWindow, settings: QSettings) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        self._icon: QSystemTrayIcon | None = None
        self._timer = QTimer(self, singleShot=True, interval=2 * SHOWN_MS)
        self._timer.timeout.connect(self._hide)
        self._watched: list[_Watched] = []
        self._watching = QTimer(self, interval=WATCH_MS)
        self._watching.timeout.connect(self._look)

    @property
    def has_message(self) -> bool:
        """Whether a message is shown."""
        return bool(self._settings.value(MESSAGE, True, bool))

    @property
    def has_beep(self) -> bool:
        """Whether there is a beep."""
        return bool(self._settings.value(BEEP, False, bool))

    def switch_message(self) -> None:
        """Switch the message on or off."""
        self._settings.setValue(MESSAGE, not self.has_message)
        self.changed.emit()

    def switch_beep(self) -> None:
        """Switch the beep on or off; when it is switched on it is heard."""
        self._settings.setValue(BEEP, not self.has_beep)
        if self.has_beep:
            QApplication.beep()
        self.changed.emit()

    def watch(self, folder: ExperimentFolder) -> None:
        """Tell the end of an experiment that was started by this window, whichever page is shown by then."""
        self._watched.append(_Watched(folder))
        self._watching.start()

    @property
    def watched(self) -> list[ExperimentFolder]:
        """The experiments that were started by this window and have not ended, as far as is known."""
        return [watched.folder for watched in self._watched]

    def _look(self) -> None:
        for watched in self._watched[:]:
            if (state := watched.look()) is not None:
                self._watched.remove(watched)
                self.notify(*_told(watched.folder, state), is_bad=state in ("failed", "lost"))
        if not self._watched:
            self._watching.stop()

    def notify(self, name: str, sentence: str, *, is_bad: bool = False) -> None:
        """Tell that a run has ended. There is no message while the window is active: it is seen there, and heard with
        a screen reader."""
        announce(self._window, named(name, sentence))
        if self.has_beep:
            QApplication.beep()
        if self.has_message and not self._window.isActiveWindow():
            self._show(name, sentence, is_bad)

    def _show(self, name: str, sentence: str, is_bad: bool) -> None:
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            QApplication.alert(self._window)  # no tray: the window's entry in the task bar asks for attention
            return
        if self._icon is None:
            icon = self._window.windowIcon()
            self._icon = QSystemTrayIcon(theme.icon("play") if icon.isNull() else icon, self)
            self._icon.setToolTip("Netwright")
            self._icon.messageClicked.connect(self._raise_window)
            self._icon.activated.connect(self._raise_window)
        kinds = QSystemTrayIcon.MessageIcon
        kind = kinds.Critical if is_bad else kinds.Information
        self._icon.show()
        self._icon.showMessage(markup.notification(name), markup.notification(sentence), kind, SHOWN_MS)
        self._timer.start()

    def _raise_window(self) -> None:
        self._hide()
        self._window.showNormal() if self._window.isMinimized() else self._window.show()
        self._window.raise_()
        self._window.activateWindow()

    def _hide(self) -> None:
        self._timer.stop()
        if self._icon is not None:
            self._icon.hide()


class _Watched:
    """An experiment that is looked at until it ends. Its runner takes a moment to begin."""

    def __init__(self, folder: ExperimentFolder) -> None:
        self.folder = folder
        self._has_lived = False

    def look(self) -> str | None:
        """Return the state of an experiment that has ended, or whose runner is gone; else None."""
        try:
            state = self.folder.state()
        except UserError:  # the folder was deleted
            return "lost"
        self._has_lived |= state != "lost"
        return state if state in ENDS and self._has_lived else None


def _told(folder: ExperimentFolder, state: str) -> tuple[str, str]:
    """Return the name of an experiment, and the sentence about its end."""
    try:
        trials, info = folder.read_trials(), folder.read_info()
    except (OSError, UserError):
        return folder.path.name, f"{translation(ENDED[state])}."
    over = sum(trial.is_over for trial in trials)
    ended = tr("{over:,} of %n trial(s) ended.", "", len(trials), over=over)
    return info.name or folder.path.name, named(
        translation(ENDED[state]), f"{ended} {message_text(info.reason)}".strip()
    )
