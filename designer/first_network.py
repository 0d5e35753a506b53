"""Makes a first network for the data of an empty project."""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from netwright.designer.editor import Editor
from netwright.designer.engine_messages import message_text
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.starter_options import with_small_shares

STEP = "first network"
"""Merges the edits into one undo step."""


class FirstNetwork(QObject):
    """Makes the network that the check offers, in one undo step.

    A small file keeps more samples to train on, and large images become smaller. Where the sizes of the network follow
    from these, as a vocabulary does, the data is changed first, and the network made once the facts about it are there.
    """

    made = Signal()

    def __init__(self, editor: Editor, parent: QObject) -> None:
        super().__init__(parent)
        self._editor = editor
        self._awaited: tuple[DataOptions, DatasetInfo | None] | None = None
        """The data as it is divided now, and the facts about it as it was divided before."""
        editor.analysis_changed.connect(self._on_checked)

    def make(self) -> None:
        """Make the network, now or once its data is read again; nothing where none is offered."""
        project, result = self._editor.project, self._editor.check_result
        starter, facts = result.starter, result.facts
        if starter is None or facts is None or (self._awaited is not None and project.data == self._awaited[0]):
            return
        edited = starter.edit(project).data
        data = with_small_shares(project.data, facts).replace(image_size=edited.image_size)
        is_resized = data.image_size != project.data.image_size
        if data == project.data or (edited.is_changed("test_share") and not is_resized):
            self._apply()
            return
        self._awaited = data, facts
        self._editor.edit(message_text(starter.label), lambda project: replace(project, data=data), merge=STEP)

    def _apply(self) -> None:
        starter = self._editor.check_result.starter
        self._awaited = None
        if starter is not None and self._editor.edit(message_text(starter.label), starter.edit, merge=STEP):
            self.made.emit()

    def _on_checked(self) -> None:
        """Go on once the data is read as it is divided now, unless the project is another one by then."""
        if self._awaited is None:
            return
        data, before = self._awaited
        result = self._editor.check_result
        if self._editor.project.data != data or result.facts is None:
            self._awaited = None
        elif result.facts is not before:
            self._apply()
