"""The line below the Training Options: the number of changed options, actions for them, Cancel and OK."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QWidget

from netwright.designer import theme
from netwright.designer.language import tr
from netwright.engine.core.records import Record
from netwright.engine.project.presets import as_arguments, as_json


class OptionButtons(QWidget):
    """`sections` returns the records that the options belong to, by name. Whoever shows the line connects the
    buttons."""

    only_changed = Signal(bool)
    """Whether only the changed options are to be shown."""

    def __init__(self, sections: Callable[[], dict[str, Record]], parent: QWidget) -> None:
        super().__init__(parent)
        self._sections = sections
        self.count = QLabel()
        theme.mark(self.count, "role", "muted")
        self.changed = QPushButton(tr("Show only these"))
        self.changed.setCheckable(True)
        self.changed.toggled.connect(self._on_changed)
        self.copy = QPushButton(tr("Copy…"))
        self.copy.setToolTip(tr("Copy the options that differ from the defaults"))
        self.copy_menu = QMenu(self)
        for words, written in ((tr("Copy as JSON"), as_json), (tr("Copy as --set arguments"), as_arguments)):
            self.copy_menu.addAction(words).triggered.connect(lambda _=False, written=written: self._copy(written))
        self.copy.clicked.connect(self._show_copy_menu)
        self.reset = QPushButton(tr("Reset all"))
        self.trouble = QPushButton()
        self.trouble.setToolTip(tr("Go to the problem"))
        self.cancel, self.ok = QPushButton(tr("Cancel")), QPushButton(tr("OK"))
        self.ok.setMinimumWidth(64)
        theme.mark(self.ok, "primary", True)
        self.links = (self.changed, self.copy, self.reset, self.trouble)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 14, 24, 14)
        row.setSpacing(8)
        row.addWidget(self.count)
        for link in self.links:
            theme.mark(link, "role", "link")
            if link is self.trouble:
                row.addStretch(1)
            row.addWidget(link)
        row.addSpacing(8)
        for button in (self.cancel, self.ok):
            row.addWidget(button)
        for button in (*self.links, self.cancel, self.ok):
            button.setAutoDefault(False)  # Enter in a field must not close the dialog

    def show_all(self) -> None:
        """Show all options from now on, without saying so."""
        self.changed.blockSignals(True)
        self.changed.setChecked(False)
        self.changed.blockSignals(False)
        self._describe()

    def show_count(self, *, has_typed: bool) -> None:
        """Show the number of options that differ from the defaults. `has_typed`: whether there is a refused text."""
        count = sum(len(record.changed()) for record in self._sections().values())
        text = (
            tr("{count:,} changed from the defaults", count=count) if count else tr("All options have their defaults")
        )
        self.count.setText(text)
        self.reset.setVisible(bool(count) or has_typed)
        self.copy.setVisible(bool(count))
        self.changed.setVisible(bool(count) or self.changed.isChecked())

    def show_refusal(self, reason: str, place: str) -> None:
        """Keep OK from being pressed for a reason, and lead to the place of the problem."""
        self.ok.setEnabled(not reason)
        self.ok.setToolTip(reason)
        self.ok.setAccessibleDescription(reason)
        self.trouble.setText(tr("Go to {place}", place=place))
        self.trouble.setVisible(bool(reason))

    def _on_changed(self, is_only: bool) -> None:
        self._describe()
        self.only_changed.emit(is_only)

    def _describe(self) -> None:
        self.changed.setText(tr("Show all") if self.changed.isChecked() else tr("Show only these"))

    def _show_copy_menu(self) -> None:
        above = -self.copy_menu.sizeHint().height() - 4
        self.copy_menu.popup(self.copy.mapToGlobal(QPoint(0, above)))

    def _copy(self, written: Callable[..., str]) -> None:
        QGuiApplication.clipboard().setText(written(**self._sections()))
