"""Asks whether code that lies in a folder may run, in words that say what that means."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.dialogs.messages import SHEET, breakable
from designer import theme

MOST_NAMES = 6
LONGEST_NAME = 44
"""As much as stands in one line of the box."""
WORDS = (
    "To learn the sizes of layers, to train and to export, Netwright has to run it. "
    "Code that runs has all your rights: it can read, change and delete your files, and reach the network.\n\n"
    "Trust it only if you know who wrote what is in the folder. Netwright remembers it, with all folders inside."
)


def ask_to_trust(parent: QWidget, names: Sequence[str], folders: Sequence[Path]) -> bool:
    """Whether these folders, which the named files and expressions belong to, are to be trusted from now on."""
    box = make_box(parent, names, folders)
    box.exec()
    is_trusted = box.clickedButton() is box.property("trust")
    box.deleteLater()
    return is_trusted


def make_box(parent: QWidget, names: Sequence[str], folders: Sequence[Path]) -> QMessageBox:
    """The question. Not to trust is what Return and Escape mean."""
    shown = [f"    {_short(name)}" for name in names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        shown.append(f"    and {len(names) - MOST_NAMES} more")
    where = "\n".join(f"    {_clean(str(folder))}" for folder in folders)  # in full: it is what is answered about
    box = QMessageBox(parent)
    box.setWindowTitle("Netwright")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setIconPixmap(theme.icon("warning", "warning").pixmap(32, 32))
    box.setText("This project brings Python code of its own. May it run?")
    many = "s" if len(folders) > 1 else ""
    listed = "\n".join(shown)
    box.setInformativeText(f"{listed}\n\nin the folder{many}\n\n{breakable(where)}\n\n{WORDS}")
    box.setStyleSheet(SHEET)
    trust = box.addButton(f"Trust the folder{many}", QMessageBox.ButtonRole.AcceptRole)
    refuse = box.addButton("Not now", QMessageBox.ButtonRole.RejectRole)
    box.setProperty("trust", trust)
    box.setDefaultButton(refuse)
    box.setEscapeButton(refuse)
    return box


def _clean(text: str) -> str:
    """Without characters that could change how the rest reads."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _short(text: str) -> str:
    """A name of a bearable length."""
    clean = _clean(text)
    return clean if len(clean) <= LONGEST_NAME else f"{clean[:16]} … {clean[-24:]}"
