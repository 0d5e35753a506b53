"""The undo history of an editor: its command, and the changes of a step in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from PySide6.QtGui import QUndoCommand

from netwright.designer.language import listed, noop, tr, translation
from netwright.engine.core.records import Record
from netwright.engine.project.project import Project

if TYPE_CHECKING:
    from netwright.engine.project.project_differences import Difference

Place = Literal["design", "data", "options"]
_SECTIONS = {
    "data": noop("Data"),
    "training": noop("Training options"),
    "environment": noop("Environment"),
    "weights": noop("Weights"),
}
_MOST = 3
"""Largest number of changes that a message names."""


class Stepped(Protocol):
    """The interface of the editor for commands."""

    @property
    def scope(self) -> tuple[str, ...]:
        """The path of the open block."""

    def show_step(self, project: Project, path: Sequence[str], *, select_new: bool) -> None:
        """Show the value of the project at one end of a step."""


class Replace(QUndoCommand):
    """The only undo command: one value of the project takes the place of another."""

    def __init__(self, editor: Stepped, text: str, before: Project, after: Project, merge: str) -> None:
        super().__init__(text)
        self._editor = editor
        self._before = before
        self._after = after
        self._scope = editor.scope
        self._merge = merge
        self._was_undone = False

    def redo(self) -> None:
        self._editor.show_step(self._after, self._scope, select_new=self._was_undone)

    def undo(self) -> None:
        self._was_undone = True
        self._editor.show_step(self._before, self._scope, select_new=True)

    def id(self) -> int:
        return hash(self._merge) & 0x7FFFFFFF if self._merge else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, Replace) or (other._merge, other._scope) != (self._merge, self._scope):
            return False
        self._after = other._after
        self.setText(other.text())
        self.setObsolete(self._after == self._before)  # typed back to what was there: no step is left
        return True


@dataclass(frozen=True)
class Step:
    """A step that was undone or redone: its changes, in words, and the tab that shows them."""

    text: str
    place: Place


def step(text: str, before: Project, after: Project, *, undone: bool) -> Step:
    """Describe a step by its name and the present values: `Redid: Training options: learn rate 0.01 → 0.05`, and
    `Undid: Training options: learn rate is 0.01 again`.

    `before` and `after` are the projects around the step as it was first taken.
    """
    from netwright.engine.project.project_differences import compare  # a start of the window does not pay for it

    verb = tr("Undid: {change}") if undone else tr("Redid: {change}")
    differences = compare(before, after).differences
    if before.network != after.network or before.layout != after.layout:
        return Step(verb.format(change=_edit_text(text, differences, undone=undone)), "design")
    sections = {difference.name.partition(".")[0] for difference in differences}
    title = tr(" and ").join(translation(_SECTIONS[name]) for name in _SECTIONS if name in sections) or text
    changes = _joined([_option_text(after, change, undone=undone) for change in differences])
    return Step(verb.format(change=f"{title}{changes}"), "data" if sections == {"data"} else "options")


def _values(name: str, difference: "Difference", *, undone: bool) -> str:
    """Return the present value as text: `learn rate is 0.01 again` where the step no longer holds."""
    text = tr("{name} is {before} again") if undone else "{name} {before} → {after}"
    return text.format(name=name, before=difference.before, after=difference.after)


def _joined(changes: Sequence[str]) -> str:
    """Return `: `, the first changes and the number of the others; an empty text without any."""
    if len(changes) > _MOST:
        changes = [*changes[: _MOST - 1], tr("%n more", "", len(changes) - _MOST + 1)]
    return f": {listed(changes)}" if changes else ""


def _option_text(project: Project, difference: "Difference", *, undone: bool) -> str:
    section, _, name = difference.name.partition(".")
    return _values(_label(project.section(section), name), difference, undone=undone)


def _label(record: Record, name: str) -> str:
    """Return the label of a field in the middle of a sentence: `learn rate`, but `L2 regularisation`."""
    label = translation(record.fields[name].label) if name in record.fields else name
    return label if label[1:2].isupper() or label[1:2].isdigit() else label[:1].lower() + label[1:]


def _edit_text(text: str, differences: Sequence["Difference"], *, undone: bool) -> str:
    """Return the name of an edit of the network with the values or the layers that it changed."""
    if all(difference.kind == "changed" for difference in differences):
        values = _joined(
            [_values(difference.name.replace(".", " "), difference, undone=undone) for difference in differences]
        )
        return (
            values.removeprefix(": ")
            if values and text.startswith(tr("Change {fields}").partition("{")[0])
            else f"{text}{values}"
        )
    names = [difference.name for difference in differences if difference.kind in ("added", "removed")]
    return text if all(name in text for name in names) else f"{text}{_joined(names)}"
