"""The first start of an installed application: says what has to be downloaded and how much, and installs it."""

import re
from collections.abc import Callable

from PySide6.QtCore import QObject, QProcess, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QProgressBar, QPushButton, QRadioButton, QVBoxLayout

from netwright.app.dialog import Dialog
from netwright.app.installation.engine_environment import BYTES_PER_MB, Environment, Step
from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import visible
from netwright.engine.core.nvidia_driver import Driver, NvidiaDriver

FIRST = noop(
    "Networks are trained by PyTorch, which is downloaded once, with the libraries "
    "that go with it. Nothing is downloaded before you press Install."
)
UPDATE = noop(
    "This version of Netwright needs other libraries beside PyTorch. PyTorch itself "
    "stays as it is. Nothing is downloaded before you press Install."
)
STOPPED = noop("Stopped. What was downloaded completely is used when you go on, now or at the next start.")
BUILDS = {"cpu": noop("For the processor alone"), "cuda": noop("For NVIDIA GPUs, and the processor")}
STEPS = {
    "python": noop("Making the environment"),
    "torch": noop("Installing PyTorch {version}"),
    "engine": noop("Installing the libraries of the engine"),
}
OLDEST_DRIVER = 580
"""The first driver of NVIDIA that has CUDA 13, which the builds of torch are made for."""
PATIENCE_MS = 3000
MOST_CHARACTERS = 300


def fitting_build(driver: Callable[[], Driver] = NvidiaDriver) -> tuple[str, str]:
    """Return the build of torch for the hardware that is there, and why."""
    try:
        version = driver().version
    except RuntimeError as error:
        return "cpu", tr("No NVIDIA GPU can be used: {error}.", error=error)
    if int(version.partition(".")[0]) < OLDEST_DRIVER:
        text = tr(
            "The NVIDIA driver is {version}; PyTorch needs {oldest} or newer to use the GPU.",
            version=version,
            oldest=OLDEST_DRIVER,
        )
        return "cpu", text
    return "cuda", tr("The NVIDIA driver {version} was found.", version=version)


def _gigabytes(megabytes: float) -> str:
    return f"{megabytes / 1000:.1f} GB"


class Installer(QObject):
    """Runs the steps of an installation, one after the other."""

    progressed = Signal(float, str)
    """Megabytes that were downloaded, and what is done now."""
    failed = Signal(str)
    finished = Signal()

    def __init__(self, environment: Environment, parent: QObject) -> None:
        super().__init__(parent)
        self._environment = environment
        self._build = ""
        self._steps: list[Step] = []
        self._before_mb = self._file_mb = self._planned_mb = 0.0
        self._error = self._last_line = ""
        self._process: QProcess | None = None

    @property
    def is_running(self) -> bool:
        """Whether an installation is under way."""
        return self._process is not None

    def start(self, build: str) -> None:
        """Begin, or go on where an earlier installation was stopped."""
        self._build, self._steps = build, self._environment.steps(build)
        self._before_mb = self._planned_mb = 0.0
        self._next()

    def stop(self) -> None:
        """End the step that runs."""
        process, self._process = self._process, None
        if process is not None:
            process.blockSignals(True)
            process.terminate()
            if not process.waitForFinished(PATIENCE_MS):
                process.kill()
                process.waitForFinished(PATIENCE_MS)
            process.deleteLater()

    @property
    def _text(self) -> str:
        """The step that runs, in words."""
        return translation(STEPS[self._steps[0].part]).format(version=self._environment.bundle.torch)

    def _next(self) -> None:
        if self._environment.has_python:
            self._environment.connect()  # pip is among the packages of the application
        if not self._steps:
            self._environment.finish(self._build)
            self.progressed.emit(self._before_mb, "")
            self.finished.emit()
            return
        step = self._steps[0]
        self._file_mb = 0.0
        self._error = self._last_line = ""
        self.progressed.emit(self._before_mb, self._text)
        process = self._process = QProcess(self)
        process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        process.start(step.command[0], list(step.command[1:]))

    def _read(self) -> None:
        process = self._process
        while process is not None and process.canReadLine():
            self._take(bytes(process.readLine().data()).decode(errors="replace").strip())

    def _take(self, line: str) -> None:
        """Take a line of pip."""
        if progress := re.fullmatch(r"Progress (\d+) of (\d+)", line):
            done, total = (int(number) / BYTES_PER_MB for number in progress.groups())
            self._file_mb = done
            if done >= total:
                self._before_mb, self._file_mb = self._before_mb + total, 0.0
            self.progressed.emit(self._before_mb + self._file_mb, "")
            return
        self._last_line = line or self._last_line
        if line.startswith("ERROR: ") and not self._error:
            self._error = line.removeprefix("ERROR: ")
        elif line.startswith("Installing collected packages"):
            self.progressed.emit(self._before_mb, tr("Unpacking"))
        elif package := re.match(r"(?:Collecting|Downloading) (\S+)", line):
            name = package[1].rpartition("/")[2]
            self.progressed.emit(self._before_mb, tr("{step}: {name}", step=self._text, name=name))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self._process is not None:
            self._fail(self._process.errorString())

    def _on_finished(self, code: int) -> None:
        self._read()
        process, self._process = self._process, None
        assert process is not None
        rest = bytes(process.readAll().data()).decode(errors="replace").strip()
        process.deleteLater()
        if code != 0:
            self._fail(self._error or rest or self._last_line or tr("the exit code is {code}", code=code))
            return
        self._planned_mb += self._steps.pop(0).download_mb
        self._before_mb = max(self._before_mb, self._planned_mb)  # nothing is said of files that were there already
        self._next()

    def _fail(self, reason: str) -> None:
        self._process = None
        self.failed.emit(tr("{step} failed: {reason}.", step=self._text, reason=reason[:MOST_CHARACTERS].rstrip(".")))


class SetupDialog(Dialog):
    """Offers the builds of torch, with the one that fits the machine chosen, and installs. It is accepted when
    everything is there."""

    def __init__(self, environment: Environment) -> None:
        super().__init__()
        self._environment = environment
        self.installer = Installer(environment, self)
        self._text = ""
        self.setWindowTitle(tr("Set up Netwright"))
        self.setMinimumWidth(560)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(12)
        is_update = environment.build is not None
        column.addWidget(_label(tr("Install the engine") if not is_update else tr("Update the engine"), "title"))
        column.addWidget(_label(translation(UPDATE if is_update else FIRST)))
        self.choices = QButtonGroup(self)
        self._builds = [environment.build] if environment.build is not None else environment.bundle.builds
        if not is_update:
            self._offer_builds(column)
        free = _gigabytes(environment.free_mb)
        place = tr("It is installed in {folder}, where {size} are free.", folder=environment.folder, size=free)
        column.addWidget(_label(visible(place), "muted"))
        self.bar, self.state = QProgressBar(self), _label("")
        self.bar.setAccessibleName(tr("Download"))
        self.bar.hide()
        column.addWidget(self.bar)
        column.addWidget(self.state)
        column.addStretch(1)
        self.install, self.leave = QPushButton(tr("Install"), self), QPushButton(tr("Quit"), self)
        theme.mark(self.install, "primary", True)
        self.install.setDefault(True)
        self.leave.setAutoDefault(False)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.leave)
        row.addWidget(self.install)
        column.addLayout(row)
        self.install.clicked.connect(self._start)
        self.leave.clicked.connect(self._leave)
        self.installer.progressed.connect(self._show_progress)
        self.installer.failed.connect(self._show_stopped)
        self.installer.finished.connect(self.accept)

    @property
    def build(self) -> str:
        """The build that is chosen."""
        return self._builds[max(0, self.choices.checkedId())]

    def _offer_builds(self, column: QVBoxLayout) -> None:
        bundle = self._environment.bundle
        fitting, reason = fitting_build()
        for number, build in enumerate(self._builds):
            download, disk = (sizes["engine"] + sizes[build] for sizes in (bundle.download_mb, bundle.disk_mb))
            text = tr(
                "{build}: {download} to download, {disk} on the disk",
                build=translation(BUILDS[build]),
                download=_gigabytes(download),
                disk=_gigabytes(disk),
            )
            button = QRadioButton(text, self)
            button.setChecked(build == fitting or number == 0)
            self.choices.addButton(button, number)
            column.addWidget(button)
        column.addWidget(_label(reason, "muted"))

    def _start(self) -> None:
        needed_mb, free_mb = self._environment.needed_mb(self.build), self._environment.free_mb
        if free_mb < needed_mb:
            text = tr(
                "There is too little room: {needed} are needed and {free} are free in {folder}.",
                needed=_gigabytes(needed_mb),
                free=_gigabytes(free_mb),
                folder=self._environment.folder.parent,
            )
            self.state.setText(visible(text))
            return
        self.install.setEnabled(False)
        for button in self.choices.buttons():
            button.setEnabled(False)
        self.leave.setText(tr("Cancel"))
        self.bar.setMaximum(sum(step.download_mb for step in self._environment.steps(self.build)))
        self.bar.setValue(0)
        self.bar.show()
        self.installer.start(self.build)

    def _show_progress(self, downloaded_mb: float, text: str) -> None:
        self.bar.setValue(min(int(downloaded_mb), self.bar.maximum()))
        self._text = text or self._text
        progress = tr(
            "{step} ({done:,} of about {total:,} MB)", step=self._text, done=self.bar.value(), total=self.bar.maximum()
        )
        self.state.setText(visible(progress))

    def _show_stopped(self, text: str) -> None:
        self.state.setText(visible(text))
        self.bar.hide()
        self.install.setText(tr("Go on"))
        self.install.setEnabled(True)
        for button in self.choices.buttons():
            button.setEnabled(True)
        self.leave.setText(tr("Quit"))

    def _leave(self) -> None:
        if self.installer.is_running:
            self.installer.stop()
            self._show_stopped(translation(STOPPED))
        else:
            self.reject()

    def reject(self) -> None:
        """Stop the installation, too, where the dialog is closed by Escape or its frame."""
        self.installer.stop()
        super().reject()


def _label(text: str, role: str = "") -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        theme.mark(label, "role", role)
    return label
