"""The stage of the selected layers, as a field of the properties, where a project is trained in stages."""

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from designer import theme
from designer.editor import Editor
from designer.forms.form import Form
from designer.panel_parts import section
from designer.staging import Staging
from engine.fields import Int, Record


class _Staged(Record):
    """The stage of layers, as a form has it."""

    stage = Int(
        1,
        low=1,
        high=9999,
        label="Stage",
        help="The worker of the pipeline that computes the selected layers. Layers that a connection would lead "
        "backwards from or to go along; View > Stages shows all of them",
    )


class StageRow(QWidget):
    """A part of the properties of its own: hidden unless a run of the project has stages."""

    def __init__(self, editor: Editor, staging: Staging) -> None:
        super().__init__()
        self._editor, self._staging = editor, staging
        self.form = Form(_Staged(), has_headings=False)
        self.form.rows["stage"].has_default = False
        self.form.changed.connect(self._on_edited)
        self.words = QLabel()
        self.words.setWordWrap(True)
        theme.mark(self.words, "role", "help")
        part, column = section("Pipeline", 6)
        column.addWidget(self.form)
        column.addWidget(self.words)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(part)
        editor.selection_changed.connect(lambda _: self.refresh())
        staging.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the stage that the selected layers are in."""
        staging = self._staging
        found = staging.found if staging.is_used and self._editor.selection else None
        self.setVisible(found is not None)
        if found is None:
            return
        stage = staging.selected
        can_edit = found.stages is not None and not self._editor.scope
        self.form.setVisible(can_edit)
        if can_edit:
            self.form.set_record(_Staged(stage=1 if stage is None else stage + 1), keep_typing=False)
            self.form.set_several({"stage"} if stage is None else set())
        self.words.setText(self._said(stage))

    def _said(self, stage: int | None) -> str:
        found = self._staging.found
        if found.stages is None:
            return found.refusal
        if self._editor.scope:
            block = self._editor.project.network.layers[self._editor.scope[0]].name
            return f"{block} is in stage {(stage or 0) + 1} as a whole."
        how = "balanced by the engine" if found.is_automatic else "put by hand"
        return f"{found.stages.count:,} stages, {how}."

    def _on_edited(self, record: _Staged, _field: str) -> None:
        self._staging.put(record.stage - 1)
