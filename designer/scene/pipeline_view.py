"""The stages of a pipeline: shown on the canvas, edited by hand, balanced, or left to the engine.

`netwright.engine.project.stage_edits` defines every edit of a stage; here they are shown and applied, one undo step
each.
"""

from collections.abc import Callable, Collection

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.designer.editor import Editor
from netwright.designer.language import tr
from netwright.designer.scene.lens import Lenses
from netwright.designer.scene.scene import Scene
from netwright.engine.core.errors import UserError
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.network import Network
from netwright.engine.project import stage_edits
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.stage_edits import Rule, Shown

SOON_MS = 60


class _Key:
    """Values on which the stages depend. Networks and analyses are compared by identity, which is cheap."""

    def __init__(self, network: Network, analysis: Analysis, environment: EnvironmentOptions, workers: int) -> None:
        self._same, self._equal = (network, analysis), (environment, workers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Key) or self._equal != other._equal:
            return False
        return all(mine is its for mine, its in zip(self._same, other._same, strict=True))

    __hash__ = None  # type: ignore[assignment]


class PipelineStages(QObject):
    """The stages of the editor's project, on one canvas."""

    changed = Signal()
    """Emitted when the stages, or their visibility, have changed."""

    def __init__(self, editor: Editor, scene: Scene, lenses: Lenses, parent: QObject) -> None:
        super().__init__(parent)
        self._editor, self._scene, self._lenses = editor, scene, lenses
        self._was_on = False
        self.workers_of: Callable[[Project], int] = lambda project: stage_edits.asked_workers(project.environment) or 2
        """Return the number of workers of a project on this machine; set by the window."""
        self._known: tuple[_Key, Shown] | None = None
        self._was_used = False
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self.refresh)
        for signal in (editor.project_changed, editor.analysis_changed, editor.scope_changed):
            signal.connect(self.look_again)
        lenses.changed.connect(self._follow)

    # What is seen

    @property
    def is_on(self) -> bool:
        """Whether the canvas shows stages."""
        return self._lenses.current == "stages"

    @property
    def is_used(self) -> bool:
        """Return whether the project uses the pipeline strategy."""
        return stage_edits.has_stages(self._editor.project.environment)

    @property
    def workers(self) -> int:
        """Return the number of workers that the project would have on this machine."""
        return self.workers_of(self._editor.project)

    @property
    def analysis(self) -> Analysis:
        """Return the analysis of the outermost network."""
        return self._editor.check_result.analysis

    @property
    def current(self) -> Shown:
        """Return the current stages of the project."""
        project, analysis, workers = self._editor.project, self.analysis, self.workers
        key = _Key(project.network, analysis, project.environment, workers)
        if self._known is None or self._known[0] != key:
            self._known = key, stage_edits.shown_stages(project, analysis, workers)
        return self._known[1]

    def stage_of(self, ids: Collection[str]) -> int | None:
        """Return the common stage of these layers of the open network, from 0, or None."""
        stages = self.current.stages
        if stages is None:
            return None
        if self._editor.scope:
            return stages.of.get(self._editor.scope[0])
        numbers = {stages.of.get(id) for id in ids}
        return numbers.pop() if len(numbers) == 1 else None

    @property
    def selected(self) -> int | None:
        """Return the common stage of the selection, from 0, or None."""
        return self.stage_of(self._editor.selection)

    def look_again(self, _: object = None) -> None:
        """Schedule an update of the stages: a large network is computed once edits pause."""
        if self.is_on or self.is_used or self._was_used:
            self._soon.start()

    def refresh(self) -> None:
        """Draw the current stages."""
        stage_of: dict[str, int] = {}
        stages = self.current.stages if self.is_on else None
        if stages is not None:
            outer = self._editor.scope[:1]
            inside = stages.of.get(outer[0]) if outer else None
            stage_of = dict(stages.of) if not outer else {}
            if inside is not None:
                stage_of = dict.fromkeys(self._editor.network.layers, inside)
        self._was_used = self.is_used
        self._scene.show_stages(stage_of)
        self.changed.emit()

    def _follow(self) -> None:
        """Show or hide the stages with their lens."""
        if self.is_on != self._was_on:
            self._was_on = self.is_on
            self.refresh()

    # What is changed

    def put(self, stage: int) -> None:
        """Put the selected layers into a stage, from 0; layers from or to which a connection would lead backwards are
        moved too."""
        editor, ids = self._editor, self._editor.selection
        if editor.scope:
            block = editor.project.network.layers[editor.scope[0]].name
            editor.refused.emit(
                tr("What is inside {block} is in its stage: a block is in one as a whole.", block=block)
            )
        elif ids:
            subject = editor.network.layers[next(iter(ids))].name if len(ids) == 1 else tr("%n layer(s)", "", len(ids))
            editor.edit(
                tr("Put {subject} into stage {stage}", subject=subject, stage=stage + 1),
                lambda project: stage_edits.put(project, self.analysis, ids, stage, self.workers),
            )
            self.refresh()

    def balance(self, rule: Rule = "work") -> None:
        """Balance the stages by work or by memory, and write them down."""

        def change(project: Project) -> Project:
            if self.analysis.has_errors:
                raise UserError(tr("The network has errors; correct them first."))
            return stage_edits.balanced(project, self.analysis, self.workers, rule)

        self._editor.edit(tr("Balance stages"), change)
        self.refresh()

    def clear(self) -> None:
        """Leave the stages to the engine."""
        self._editor.edit(tr("Clear stages"), stage_edits.cleared)
        self.refresh()

    def use(self) -> None:
        """Train in stages."""
        self._editor.edit(tr("Use a pipeline"), stage_edits.with_pipeline)
        self.refresh()
