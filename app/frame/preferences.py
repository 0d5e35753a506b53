"""The Preferences: what the user has chosen for the program, whatever project is open. A change holds at once."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app.answer_device import DEVICES, answer_device, choose_answer_device
from netwright.app.dialog import Dialog
from netwright.app.dialogs.grouped_area import GroupedArea
from netwright.app.dialogs.webhook_form import WebhookForm
from netwright.app.frame.actions import ACTIONS, Commands
from netwright.app.frame.shortcut_table import ShortcutTable
from netwright.app.messages import show_error
from netwright.app.widgets import Divider, within_screen
from netwright.designer import language, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.forms.row import section_label
from netwright.designer.language import noop, tr, translation
from netwright.designer.shortcuts import Shortcuts
from netwright.engine.core import folders
from netwright.engine.core.errors import UserError
from netwright.engine.core.part_registry import has_entry
from netwright.engine.user_code import trust

if TYPE_CHECKING:
    from netwright.designer.theme import Scheme

SCHEMES: dict["Scheme", str] = {
    "system": noop("Match system"),
    "light": noop("Light"),
    "dark": noop("Dark"),
    "contrast": noop("High contrast"),
}
_CONTENT_WIDTH, _FIELD_WIDTH, _NAME_WIDTH = 640, 200, 120
FOLDERS: tuple[tuple[str, str, Callable[[], Path]], ...] = (
    (noop("User data"), noop("Runs of projects without a file, presets, blocks"), folders.data_folder),
    (noop("Settings"), noop("Clusters, webhook, trusted code"), folders.config_folder),
    (noop("State"), noop("The queue, unsaved work after a crash"), folders.state_folder),
    (noop("Cache"), noop("Prepared data and pictures: can be deleted"), folders.cache_folder),
)
_ENGINE = noop("Execution environment, devices and threads belong to the project: each has its own")


class PreferencesDialog(Dialog):
    """Pages in a list at the left, as in the Training options."""

    def __init__(self, commands: Commands, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._commands = commands
        self.setWindowTitle(tr("Preferences"))
        self.setMinimumSize(560, 360)
        self.resize(within_screen(self, 860, 600))
        self._grouped = GroupedArea(self, _CONTENT_WIDTH + 48)
        self._grouped.groups.setAccessibleName(tr("Pages of preferences"))
        self.shortcuts = ShortcutTable(ACTIONS, shortcuts, self._grouped.holder)
        self.webhook = WebhookForm(commands.server, self._grouped.holder)
        self.pages: dict[str, QWidget] = {
            noop("General"): self._make_general(),
            noop("Engine"): self._make_engine(),
            noop("Folders"): self._make_folders(),
            noop("Notifications"): self._make_notifications(),
            noop("Shortcuts"): self.shortcuts,
        }
        inside = QVBoxLayout(self._grouped.holder)
        inside.setContentsMargins(24, 20, 24, 20)
        for page in self.pages.values():
            inside.addWidget(page)
        self._grouped.set_pages(self.pages)
        self._grouped.chosen.connect(self.show_page)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.rejected.connect(self._leave)
        self.buttons.setContentsMargins(24, 12, 24, 12)
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._grouped, 1)
        column.addWidget(Divider())
        column.addWidget(self.buttons)
        self.show_page("General")
        self._grouped.groups.setFocus()

    def show_page(self, name: str) -> None:
        """Show a page."""
        self._grouped.mark(name)
        for title, page in self.pages.items():
            page.setVisible(title == name)
        self._grouped.scroll_to_top()

    def _leave(self) -> None:
        """Close, unless the webhook is no address: it says so."""
        if self.webhook.store():
            self.accept()
        else:
            self.show_page("Notifications")

    def done(self, result: int) -> None:
        """Close; a test message that is on its way is not waited for."""
        self.webhook.close_request()
        super().done(result)

    # Pages

    def _make_general(self) -> QWidget:
        commands, documents = self._commands.theme, self._commands.documents
        self.scheme, self.text_size = QComboBox(), QComboBox()
        self.language, self.start = QComboBox(), QComboBox()
        for scheme, words in SCHEMES.items():
            self.scheme.addItem(translation(words), scheme)
        for words, pixels in theme.TEXT_SIZES.items():
            self.text_size.addItem(translation(words), pixels)
        for name, words in language.LANGUAGES.items():
            self.language.addItem(words or translation(SCHEMES["system"]), name)
        self.language.setCurrentIndex(self.language.findData(language.chosen()))
        self.language.activated.connect(lambda _: language.set_language(self.language.currentData()))
        self.scheme.setCurrentIndex(self.scheme.findData(commands.scheme))
        self.text_size.setCurrentIndex(self.text_size.findData(commands.text_size))
        self.scheme.activated.connect(lambda _: commands.choose(self.scheme.currentData()))
        self.text_size.activated.connect(lambda _: commands.choose_text_size(self.text_size.currentData()))
        self.start.addItems([tr("Start page"), tr("Last project")])
        self.start.setCurrentIndex(int(documents.reopens))
        self.start.activated.connect(lambda place: setattr(documents, "reopens", bool(place)))
        page, grid = _page(tr("Appearance"))
        _add_row(grid, tr("Theme"), self.scheme, tr("Match system: light, dark or high contrast, as the desktop is"))
        _add_row(grid, tr("Size of text"), self.text_size, tr("The canvas has a size of its own: zoom it"))
        _add_row(
            grid,
            tr("Language"),
            self.language,
            tr("Shown after a restart of Netwright. Commands, logs and files stay in English"),
        )
        grid.addWidget(section_label(tr("Start", "of the program")), grid.rowCount(), 0, 1, 2)
        _add_row(grid, tr("Begin with"), self.start, tr("Unsaved work after a crash comes first, whatever is chosen"))
        return page

    def _make_engine(self) -> QWidget:
        page, grid = _page(tr("Engine"))
        dialogs = self._commands.dialogs
        _add_link(grid, tr("New runs"), tr("Training options…"), translation(_ENGINE), dialogs.edit_training_options)
        self.answers = QComboBox()
        for word, words in DEVICES.items():
            self.answers.addItem(translation(words), word)
        self.answers.setCurrentIndex(self.answers.findData(answer_device()))
        self.answers.activated.connect(lambda _: choose_answer_device(self.answers.currentData()))
        about = tr("Scores, Predict and Robustness: networks in ONNX files are computed on the processor")
        _add_row(grid, tr("Answers computed on"), self.answers, about)
        about = tr("What this machine has, whether it works, and how fast it is")
        _add_link(grid, tr("This machine"), tr("Devices…"), about, dialogs.show_devices)
        if has_entry("dialogs", "clusters"):
            about = tr("Profiles of clusters: Slurm, hosts over ssh, Ray. Training options choose one of them")
            _add_link(grid, tr("Clusters"), tr("Clusters…"), about, dialogs.show_clusters)
        return page

    def _make_folders(self) -> QWidget:
        page, grid = _page(tr("Folders"))
        self.folders: dict[str, QPushButton] = {}
        for name, about, folder in FOLDERS:
            try:
                path = folder()
            except RuntimeError:  # a user without a home folder has none
                continue
            self.folders[name] = button = QPushButton(tr("Open"))
            button.setAccessibleName(tr("Open the folder {name}", name=translation(name)))
            button.clicked.connect(lambda _=False, path=path: self._open(path))
            _add_row(grid, translation(name), _folder_line(path, button), translation(about), is_wide=True)
        self.trusted: dict[Path, QPushButton] = {}
        if folders_trusted := trust.trusted_folders():
            grid.addWidget(section_label(tr("Folders whose code may run")), grid.rowCount(), 0, 1, 2)
            for path in folders_trusted:
                self.trusted[path] = button = QPushButton(tr("Trust no longer"))
                button.setAccessibleName(tr("Trust the folder {name} no longer", name=path.name))
                button.clicked.connect(lambda _=False, path=path: self._distrust(path))
                grid.addWidget(_folder_line(path, button), grid.rowCount(), 0, 1, 2)
        return page

    def _distrust(self, path: Path) -> None:
        """Let the code of a folder run no more."""
        try:
            trust.distrust(path)
        except UserError as error:
            show_error(self, tr("Trusted folders"), str(error))
            return
        self.trusted[path].setEnabled(False)
        self.trusted[path].setText(tr("Not trusted"))

    def _open(self, path: Path) -> None:
        """Open a folder in the file manager; it is made if nothing was written there yet."""
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))

    def _make_notifications(self) -> QWidget:
        notifier = self._commands.notifier
        self.message = QCheckBox(tr("Message on the desktop"))
        self.beep = QCheckBox(tr("Beep"))
        self.message.setChecked(notifier.has_message)
        self.beep.setChecked(notifier.has_beep)
        self.message.clicked.connect(lambda _: notifier.switch_message())
        self.beep.clicked.connect(lambda _: notifier.switch_beep())
        page, grid = _page(tr("When a run ends"))
        about = QLabel(tr("While another window is active"))  # a check box does not wrap
        about.setWordWrap(True)
        theme.mark(about, "role", "help")
        for row, part in enumerate((self.message, about, self.beep), start=1):
            grid.addWidget(part, row, 0, 1, 2)
        grid.setRowMinimumHeight(4, 12)
        grid.addWidget(self.webhook, 5, 0, 1, 2)
        return page


def _folder_line(path: Path, button: QPushButton) -> QWidget:
    """Return a line with the path of a folder, and a button about it at the right."""
    button.setAutoDefault(False)
    where = ElidedLabel(str(path))
    where.setToolTip(str(path))
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(where, 1)
    row.addWidget(button)
    return line


def _page(title: str) -> tuple[QWidget, QGridLayout]:
    """Return an empty page of rows with a heading; its rows stay at the top."""
    page = QWidget()
    column, grid = QVBoxLayout(page), QGridLayout()
    column.setContentsMargins(0, 0, 0, 0)
    column.addLayout(grid)
    column.addStretch(1)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(8)
    grid.setColumnStretch(1, 1)
    grid.addWidget(section_label(title), 0, 0, 1, 2)
    return page, grid


def _add_row(grid: QGridLayout, name: str, field: QWidget, about: str, *, is_wide: bool = False) -> None:
    """Add a row: the name at the left, the field at the right, a line of help below it."""
    line = grid.rowCount()
    label, help = QLabel(name), QLabel(about)
    label.setMinimumWidth(_NAME_WIDTH)
    help.setWordWrap(True)
    theme.mark(label, "role", "muted")
    theme.mark(help, "role", "help")
    help.setContentsMargins(0, 0, 0, 8)
    if not field.accessibleName():
        field.setAccessibleName(name)
    grid.addWidget(label, line, 0)
    if is_wide:
        grid.addWidget(field, line, 1)
    else:
        field.setMinimumWidth(_FIELD_WIDTH)
        grid.addWidget(field, line, 1, Qt.AlignmentFlag.AlignLeft)
    grid.addWidget(help, line + 1, 1)


def _add_link(grid: QGridLayout, name: str, text: str, about: str, act: Callable[[], object]) -> None:
    """Add a row with a button that opens a dialog."""
    button = QPushButton(text)
    button.setAutoDefault(False)
    button.clicked.connect(lambda: act())
    _add_row(grid, name, button, about)
