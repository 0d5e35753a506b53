"""The stages of a pipeline: shown on the canvas, changed by hand, balanced, or left to the engine.

`engine.project.stage_edits` defines every edit of a stage; here they are shown and applied, one undo step each.
"""

from collections.abc import Callable, Collection

from PySide6.QtCore import QObject, QTimer, Signal

from designer.editor import Editor
from designer.scene.scene import Scene
from engine.core.errors import UserError
from engine.network.analysis import Analysis
from engine.network.network import Network
from engine.project import stage_edits
from engine.project.environment import EnvironmentOptions
from engine.project.project import Project
from engine.project.stage_edits import Rule, Shown

SOON_MS = 60


class _Key:
    """What stages depend on. Networks and analyses are compared by identity, which costs nothing."""

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
    """The stages have changed, or whether they are shown."""

    def __init__(self, editor: Editor, scene: Scene, parent: QObject) -> None:
        super().__init__(parent)
        self._editor, self._scene = editor, scene
        self.is_on = False
        self.workers_of: Callable[[Project], int] = lambda project: stage_edits.asked_workers(project.environment) or 2
        """Returns the number of workers a project would have here; the window sets it, which knows the machine."""
        self._known: tuple[_Key, Shown] | None = None
        self._was_used = False
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self.refresh)
        for signal in (editor.project_changed, editor.analysis_changed, editor.scope_changed):
            signal.connect(self.look_again)
        scene.tint_changed.connect(lambda tint: self.show(False) if tint.kind else None)

    # What is seen

    @property
    def is_used(self) -> bool:
        """Whether the project is trained in stages."""
        return stage_edits.has_stages(self._editor.project.environment)

    @property
    def workers(self) -> int:
        """How many workers the project would have here."""
        return self.workers_of(self._editor.project)

    @property
    def analysis(self) -> Analysis:
        """That of the outermost network."""
        return self._editor.check_result.analysis

    @property
    def current(self) -> Shown:
        """The stages of the project as it is now."""
        project, analysis, workers = self._editor.project, self.analysis, self.workers
        key = _Key(project.network, analysis, project.environment, workers)
        if self._known is None or self._known[0] != key:
            self._known = key, stage_edits.shown_stages(project, analysis, workers)
        return self._known[1]

    def stage_of(self, ids: Collection[str]) -> int | None:
        """The one stage that these layers of the open network are in, from 0, or None."""
        stages = self.current.stages
        if stages is None:
            return None
        if self._editor.scope:
            return stages.of.get(self._editor.scope[0])
        numbers = {stages.of.get(id) for id in ids}
        return numbers.pop() if len(numbers) == 1 else None

    @property
    def selected(self) -> int | None:
        """The one stage that what is selected is in, from 0, or None."""
        return self.stage_of(self._editor.selection)

    def look_again(self, _: object = None) -> None:
        """Compute the stages soon: a large network is computed once edits pause."""
        if self.is_on or self.is_used or self._was_used:
            self._soon.start()

    def refresh(self) -> None:
        """Draw the stages as they are now."""
        shown: dict[str, int] = {}
        stages = self.current.stages if self.is_on else None
        if stages is not None:
            outer = self._editor.scope[:1]
            inside = stages.of.get(outer[0]) if outer else None
            shown = dict(stages.of) if not outer else {}
            if inside is not None:
                shown = dict.fromkeys(self._editor.network.layers, inside)
        self._was_used = self.is_used
        self._scene.show_stages(shown)
        self.changed.emit()

    def switch(self) -> None:
        """Show the stages, or no longer."""
        self.show(not self.is_on)

    def show(self, is_on: bool) -> None:
        """Show the stages or not; a tint by a figure gives way to them."""
        if is_on != self.is_on:
            self.is_on = is_on
            if is_on:
                self._scene.show_tint("")
            self.refresh()

    # What is changed

    def put(self, stage: int) -> None:
        """Put the selected layers into a stage, from 0; what a connection would lead backwards from or to goes
        along."""
        editor, ids = self._editor, self._editor.selection
        if editor.scope:
            block = editor.project.network.layers[editor.scope[0]].name
            editor.refused.emit(f"What is inside {block} is in its stage: a block is in one as a whole.")
        elif ids:
            what = editor.network.layers[next(iter(ids))].name if len(ids) == 1 else f"{len(ids)} layers"
            editor.edit(
                f"Put {what} into stage {stage + 1}",
                lambda project: stage_edits.put(project, self.analysis, ids, stage, self.workers),
            )
            self.refresh()

    def balance(self, rule: Rule = "work") -> None:
        """Give all stages as much to do, or as much to hold, and write it down."""

        def change(project: Project) -> Project:
            if self.analysis.has_errors:
                raise UserError("The network has errors; correct them first.")
            return stage_edits.balanced(project, self.analysis, self.workers, rule)

        self._editor.edit("Balance stages", change)
        self.refresh()

    def clear(self) -> None:
        """Leave the stages to the engine."""
        self._editor.edit("Clear stages", stage_edits.cleared)
        self.refresh()

    def use(self) -> None:
        """Train in stages."""
        self._editor.edit("Use a pipeline", stage_edits.with_pipeline)
        self.refresh()
