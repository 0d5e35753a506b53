"""Questions and messages that have to be answered before the user can go on."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QMessageBox, QScrollArea, QWidget

from netwright.app.widgets import room_on_screen
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import listed, noop, sentences, tr, translation
from netwright.designer.markup import visible
from netwright.engine.core.fields import printable
from netwright.engine.project.data_hosts import MOST_FILES

Answer = Literal["save", "discard", "cancel"]
LONGEST, LONG_WORD = 1200, 30
LEAST_TEXT, AROUND_TEXT = 340, 180
"""Width of a text, and what a box needs above and below it."""
SHEET = (
    f"QLabel#qt_msgbox_label {{ font-weight: 600; }} QLabel#qt_msgbox_informativelabel {{ min-width: {LEAST_TEXT}px; }}"
)


def ask_to_save(parent: QWidget, title: str) -> Answer:
    """Ask what to do with unsaved work."""
    box = _box(parent, tr("Save the changes to {title}?", title=title), tr("Without saving they are lost."), "save")
    buttons = QMessageBox.StandardButton
    box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
    box.setDefaultButton(buttons.Save)
    answers: dict[int, Answer] = {buttons.Save: "save", buttons.Discard: "discard"}
    keep_on_screen(box)
    answer = answers.get(box.exec(), "cancel")
    box.deleteLater()
    return answer


Leaving = Literal["keep", "stop", "cancel"]


def ask_to_leave_training(parent: QWidget, name: str, waiting: int = 0) -> Leaving:
    """Ask what to do with a run that is under way when the window closes."""
    text = tr(
        "The run can continue in the background; the next window shows it. The trained weights are kept either way."
    )
    if waiting:
        queue = tr(
            "In the queue: %n run(s), trained after it if it continues; otherwise the queue is kept for later.",
            "",
            waiting,
        )
        text = f"{text} {queue}"
    return _ask_to_leave(parent, tr("{name} is training.", name=name), text, (tr("Keep training"), tr("Stop training")))


def ask_to_leave_experiments(parent: QWidget, names: Sequence[str]) -> Leaving:
    """Ask what to do with experiments that are under way when the window closes."""
    title = tr("%n experiment(s) in progress: {names}.", "", len(names), names="; ".join(names))
    text = tr(
        "The trials can continue in the background; the start page of the next window "
        "shows how far they are. What they have reached is kept either way, and a "
        "stopped experiment can go on later."
    )
    return _ask_to_leave(parent, title, text, (tr("Keep running"), tr("Stop")))


def _ask_to_leave(parent: QWidget, title: str, text: str, labels: tuple[str, str]) -> Leaving:
    """Ask whether what is under way goes on or stops; `labels` are those of the two buttons."""
    box = _box(parent, title, text, "warning")
    keep = box.addButton(labels[0], QMessageBox.ButtonRole.AcceptRole)
    stop = box.addButton(labels[1], QMessageBox.ButtonRole.DestructiveRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(keep)
    keep_on_screen(box)
    box.exec()
    clicked = box.clickedButton()
    box.deleteLater()
    return "keep" if clicked == keep else "stop" if clicked == stop else "cancel"


def ask(parent: QWidget, title: str, text: str, do_it: str, *, refusal: str = "") -> bool:
    """Ask for confirmation of something that cannot be undone. The button that confirms is labelled with `do_it`, the
    other one with `refusal` instead of Cancel: for what somebody else has asked for."""
    box = _box(parent, title, text, "warning")
    yes = box.addButton(do_it, QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton(QMessageBox.StandardButton.Cancel)
    no.setText(refusal or no.text())
    box.setDefaultButton(no)
    keep_on_screen(box)
    box.exec()
    answer = box.clickedButton() == yes
    box.deleteLater()
    return answer


def ask_to_resume(parent: QWidget, changes: Sequence[str]) -> bool:
    """Ask whether a run may be resumed, although its data has changed."""
    mixed = tr("It goes on with the data as it is now. Samples that it has trained on may be in validation and test.")
    title = tr("The data of this run has changed since it trained")
    return ask(parent, title, "\n".join((*changes, mixed)), tr("Resume"))


Meaning = Literal["network", "data", "cancel"]


def ask_for_meaning(parent: QWidget, name: str) -> Meaning:
    """Ask whether a file that may be either holds a network to import, or data."""
    text = tr("It may hold a network, such as source that Netwright exported, or Python code that makes data.")
    box = _box(parent, tr("What is {name}?", name=name), text, "info")
    network = box.addButton(tr("Import the network"), QMessageBox.ButtonRole.AcceptRole)
    data = box.addButton(tr("Use it as data"), QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(network)
    keep_on_screen(box)
    box.exec()
    clicked = box.clickedButton()
    box.deleteLater()
    return "network" if clicked == network else "data" if clicked == data else "cancel"


def show_error(parent: QWidget, title: str, text: str) -> None:
    """Show a message that has to be confirmed."""
    text = message_text(text)
    box = _box(parent, title, text if len(text) <= LONGEST else text[:LONGEST] + " …", "warning")
    keep_on_screen(box)
    box.exec()
    box.deleteLater()


def breakable(text: str) -> str:
    """Return the text with invisible places to break in words longer than a line: paths and names of files."""
    places = re.compile(r"([/\\_.-]+|[^\W_]{36})")
    return re.sub(rf"\S{{{LONG_WORD},}}", lambda word: places.sub("\\1\u200b", word[0]), visible(text))


def keep_on_screen(box: QMessageBox) -> None:
    """Let a text that is higher than the screen scroll, so that the buttons stay on it."""
    label, grid = box.findChild(QLabel, "qt_msgbox_informativelabel"), box.layout()
    if label is None or not isinstance(grid, QGridLayout):
        return
    label.ensurePolished()
    width = max(label.minimumWidth(), LEAST_TEXT)
    room = room_on_screen(box).height() - AROUND_TEXT
    if label.heightForWidth(width) <= room:
        return
    place: tuple[int, int, int, int] = grid.getItemPosition(grid.indexOf(label))  # type: ignore[assignment]
    grid.removeWidget(label)
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidgetResizable(True)
    area.setWidget(label)
    area.setFixedSize(width + area.verticalScrollBar().sizeHint().width(), room)
    grid.addWidget(area, *place)


def _box(parent: QWidget, title: str, text: str, icon: str) -> QMessageBox:
    box = QMessageBox(parent)
    box.setWindowTitle("Netwright")
    box.setIconPixmap(theme.icon(icon, "warning" if icon == "warning" else "muted").pixmap(32, 32))
    box.setText(breakable(title))
    box.setInformativeText(breakable(text))
    box.setStyleSheet(SHEET)
    return box


def words_for_many(hosts: Mapping[str, int]) -> str:
    """Return a sentence per host that many files would be fetched from, one after the other."""
    return sentences(
        tr("{files:,} files are asked for there.", files=files)
        if len(hosts) == 1
        else tr("{files:,} files are asked for at {host}.", files=files, host=host)
        for host, files in hosts.items()
        if files > MOST_FILES
    )


def ask_to_fetch(parent: QWidget, hosts: Mapping[str, int], name: str) -> bool:
    """Ask whether the data of a run may be fetched from hosts, of which the number of files is told where it is
    large."""
    where = tr("The address is in {name}, and nothing was sent there yet.", name=printable(name))
    text = sentences((words_for_many(hosts), where, tr("Netwright remembers your answer for it.")))
    box = _box(parent, tr("The data is at {hosts}", hosts=listed(list(hosts))), text, "warning")
    fetch = box.addButton(tr("Fetch"), QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    box.exec()
    is_allowed = box.clickedButton() == fetch
    box.deleteLater()
    return is_allowed


MOST_NAMES = 6
LONGEST_NAME = 44
"""Characters that fit on one line of the box."""
WORDS = noop(
    "To learn the sizes of layers, to train and to export, Netwright has to run it. "
    "Code that runs has all your rights: it can read, change and delete your files, "
    "and reach the network.\n\nTrust it only if you know who wrote what is in the "
    "folder. Netwright remembers it, with all folders inside."
)


QUESTION = noop("This project brings Python code of its own. May it run?")


def ask_to_trust(parent: QWidget, names: Sequence[str], folders: Sequence[Path], question: str = QUESTION) -> bool:
    """Ask whether to trust these folders, which the named files and expressions belong to, from now on."""
    box = make_box(parent, names, folders)
    box.setText(translation(question))
    keep_on_screen(box)
    box.exec()
    is_trusted = box.clickedButton() is box.property("trust")
    box.deleteLater()
    return is_trusted


def make_box(parent: QWidget, names: Sequence[str], folders: Sequence[Path]) -> QMessageBox:
    """Make the question. Return and Escape mean not to trust."""
    rows = [f"    {_short(name)}" for name in names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        rows.append("    " + tr("and %n more", "", len(names) - MOST_NAMES))
    where = "\n".join(f"    {printable(str(folder))}" for folder in folders)  # in full: it is what is answered about
    box = QMessageBox(parent)
    box.setWindowTitle("Netwright")
    box.setIconPixmap(theme.icon("warning", "warning").pixmap(32, 32))
    box.setText(translation(QUESTION))
    inside = tr("in the folder(s)", "", len(folders))
    box.setInformativeText("\n\n".join(("\n".join(rows), inside, breakable(where), translation(WORDS))))
    box.setStyleSheet(SHEET)
    trust = box.addButton(tr("Trust the folder(s)", "", len(folders)), QMessageBox.ButtonRole.AcceptRole)
    refuse = box.addButton(tr("Not now"), QMessageBox.ButtonRole.RejectRole)
    box.setProperty("trust", trust)
    box.setDefaultButton(refuse)
    box.setEscapeButton(refuse)
    return box


def _short(text: str) -> str:
    """Shorten a name to `LONGEST_NAME` characters."""
    clean = printable(text)
    return clean if len(clean) <= LONGEST_NAME else f"{clean[:16]} … {clean[-24:]}"
