"""The Data page of a project without data: ways to choose some."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from netwright.app.data.option_words import noun_of
from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.engine.project.sources.source_catalog import SOURCES

PLACES = ((noop("File…"), noop("Choose a file…"), False), (noop("Folder…"), noop("Choose a folder…"), True))
"""The ways to a dialog, as an entry of a menu and as a button, and whether a folder is chosen there."""


class EmptyPage(QWidget):
    """Offers to choose a file, a folder, or data that Netwright has."""

    place_wanted = Signal(bool)
    """A file is to be chosen in a dialog; a folder where true."""
    source_chosen = Signal(str)
    """The key of a source that needs no path."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.addStretch(1)
        title = QLabel(tr("Choose the data the network learns from"))
        theme.mark(title, "role", "title")
        column.addWidget(title, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(
            _line(tr("Drop a file or a folder anywhere in the window, or choose one: Netwright finds out what it is."))
        )
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for _, text, is_folder in PLACES:
            button = QPushButton(translation(text))
            button.clicked.connect(lambda _=False, is_folder=is_folder: self.place_wanted.emit(is_folder))
            row.addWidget(button)
        for source in SOURCES.values():
            if source.takes == "nothing":
                button = QPushButton(translation(source.label))
                button.clicked.connect(lambda _=False, key=source.key: self.source_chosen.emit(key))
                row.addWidget(button)
        row.addStretch(1)
        column.addSpacing(16)
        column.addLayout(row)
        column.addSpacing(16)
        kinds = [noun_of(source) for source in SOURCES.values() if source.takes != "nothing"]
        column.addWidget(_line(tr("Supported: {kinds}.", kinds=tr(", ").join(kinds))))
        column.addStretch(2)

    def fill_menu(self, menu: QMenu) -> None:
        """Add the same ways to a menu."""
        for text, _, is_folder in PLACES:
            menu.addAction(translation(text), lambda is_folder=is_folder: self.place_wanted.emit(is_folder))
        for source in SOURCES.values():
            if source.takes == "nothing":
                menu.addAction(translation(source.label), lambda key=source.key: self.source_chosen.emit(key))


def _line(text: str) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    theme.mark(label, "role", "muted")
    return label
