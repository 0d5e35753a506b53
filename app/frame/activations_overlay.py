"""Pictures beside the layers for a sample and the newest run: outputs of layers, or where each looks for the answer."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QImage, qRgb

from netwright.app.frame.run_timeline import RunTimeline
from netwright.app.frame.tabs import DesignTab
from netwright.app.shell import Shell
from netwright.app.training import Training
from netwright.designer.language import listed, noop, tr, translation
from netwright.designer.scene.lens import NO_RUN, Lens, Remark
from netwright.engine.core.part_registry import entries, required
from netwright.engine.drawing.colour_maps import colours
from netwright.engine.network.network import Network
from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.history import in_order

if TYPE_CHECKING:
    from netwright.app.history.run_history import RunHistory
    from netwright.engine.runs.folder import RunFolder

SETTLE_MS = 150
METHODS: Mapping[Lens, str] = {"activations": "thumbnails", "attribution": "attributions"}
NO_PART = noop("This installation has no analysis of trained networks.")


class ActivationsOverlay(QObject):
    """Asks the engine for small pictures of all layers, of the newest run of the project that has ended, and shows them
    on the canvas; where the scrubber looks at an epoch, of the checkpoint of that epoch. To show them is a matter of
    the view: it changes neither the project nor its history."""

    def __init__(self, shell: Shell, design: DesignTab, training: Training, timeline: RunTimeline) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._design, self._lenses = shell, design, design.lenses
        self._training, self._timeline = training, timeline
        self._lens: Lens = "structure"
        """The lens whose pictures are shown."""
        self.run: Path | None = None
        self.iteration = 0
        """That of the checkpoint that is shown; 0 for the result of the run."""
        self.place, self._count = 0, 1
        self._pictures: dict[str, list[QImage]] = {}
        """Pictures by the path of ids."""
        self._history: RunHistory | None = None
        self._request: int | None = None
        self._folder = ""
        shell.editor.project_changed.connect(self._on_changed)
        shell.editor.scope_changed.connect(self._on_changed)
        shell.documents.changed.connect(self.hide)
        self._lenses.changed.connect(self._follow)
        self._lenses.sample_stepped.connect(self.step)
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.show)
        timeline.moved.connect(self._on_moved)
        self.offer()

    @property
    def is_on(self) -> bool:
        """Whether pictures are shown, or asked for."""
        return self._lens in METHODS

    def offer(self) -> None:
        """Let the lenses be chosen: whether there is a run is known once one is chosen."""
        has_part = "explain" in entries("operations")
        for lens in METHODS:
            self._lenses.refuse(lens, "" if has_part else NO_PART)

    def _follow(self) -> None:
        """Show the pictures of the lens, or remove them."""
        lens = self._lenses.current
        if lens == self._lens:
            return
        self._remove()
        self._lens = lens
        if self.is_on:
            self.show()

    def _on_moved(self) -> None:
        """Show another epoch, once the scrubber stands still."""
        if self.is_on:
            self._settle.start()

    def show(self) -> None:
        """Show the pictures of the layers for a sample: of the epoch that the scrubber looks at, else of the newest
        run, which is looked for."""
        if self._timeline.iterations is not None and (folder := self._training.run_folder) is not None:
            self._show_epoch(folder, self._timeline.iterations)
            return
        from netwright.app.history.run_history import RunHistory  # a start of the window does not pay for it

        if self._history is None:
            self._history = RunHistory(self)
            self._history.changed.connect(self._on_runs)
        self._tell(tr("Looking for the newest run…"))
        self._history.watch(self._shell.documents.key)
        if self._history.is_read:
            self._on_runs()

    def _show_epoch(self, folder: "RunFolder", iterations: range) -> None:
        """Show the pictures of the newest weights that were kept of an epoch, or say that there are none."""
        self._remove()
        best = self._training.monitor.facts.best_at if folder.best.is_dir() else 0
        steps = sorted({best, *(checkpoint.iteration for checkpoint in all_checkpoints(folder))} - {0})
        before, after = (
            [step for step in steps if (step < iterations.stop) == is_before] for is_before in (True, False)
        )
        if before and before[-1] in iterations:
            self.show_run(folder.path, before[-1])
            return
        per_epoch = self._timeline.strip.plot.steps_per_epoch
        epoch, *epochs = (-(-step // per_epoch) for step in (iterations.stop - 1, *before[-1:], *after[:1]))
        names = listed([f"{number:,}" for number in epochs]) if epochs else ""
        note = tr("The nearest epochs with weights: {epochs}.", epochs=names) if names else ""
        self._tell(tr("No weights of epoch {epoch:,} were kept.", epoch=epoch), note=note)

    def show_run(self, run: Path, iteration: int = 0) -> None:
        """Show the activations of the layers of a run, or of its checkpoint of an iteration."""
        self.run, self.iteration = run, iteration
        self.ask()

    def hide(self) -> None:
        """Show the structure instead of the pictures: another project is open, or there are none."""
        self.offer()
        if self.is_on:
            self._lenses.leave()

    def _remove(self) -> None:
        """Remove the pictures."""
        self.stop()
        if self._pictures:
            self._pictures = {}
            self._draw()
        self._tell("")

    def stop(self) -> None:
        """Cancel the request, and stop looking for runs."""
        if self._history is not None:
            self._history.close()
        self._cancel()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def _on_runs(self) -> None:
        """Take the newest run that has ended, once the runs are known."""
        history = self._history
        if history is None or not history.is_read or not self.is_on:
            return
        history.rest()
        ended = [run for run in in_order(history.runs.values()) if run.result is not None]
        newest = next((run for run in ended if history.is_of_project(run)), None)
        if newest is None:
            self.hide()
            for lens in METHODS:
                self._lenses.refuse(lens, NO_RUN)
            self._shell.hint(translation(NO_RUN))
        elif newest.path != self.run or self.iteration or not self._pictures:
            self.show_run(newest.path)

    # ---- asking ----

    def ask(self) -> None:
        """Ask for the pictures of the sample."""
        self._cancel()
        self._folder = self._folder or tempfile.mkdtemp(prefix="netwright-activations-")
        assert self.run is not None
        operation = required("operations", "explain")
        request = operation.request(
            model=self.run,
            method=METHODS[self._lens],
            sample=str(self.place),
            folder=Path(self._folder),
            iteration=self.iteration,
        )
        self._tell(tr("Looking at the layers…"))
        self._request = self._shell.server.ask(operation, request, self._take, self._on_error)

    def _cancel(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self._shell.server.cancel(request)

    def step(self, step: int) -> None:
        """Show the sample before or after."""
        self.place = (self.place + step) % self._count
        self.ask()

    def _on_error(self, message: str) -> None:
        self._request = None
        if self.iteration:  # another epoch may have what this one lacks
            self._remove()
            self._tell(message, note=message)
            return
        lens = self._lens
        self.hide()
        is_attribution = lens == "attribution"
        self._shell.show_error(
            (tr("The attribution cannot be shown") if is_attribution else tr("The activations cannot be shown")),
            message,
        )

    def _take(self, facts: dict[str, Any]) -> None:
        self._request = None
        sample = facts["sample"]
        self._count = max(1, int(sample.get("count", 1)))
        try:
            self._pictures = read_pictures(Path(facts["file"]), facts["layers"])
        except (OSError, ValueError, KeyError):
            self._on_error(tr("{file} cannot be read. Show them again.", file=facts["file"]))
            return
        self._draw()
        answer = sample["outputs"][0].get("class")
        label = tr("labelled {label}", label=sample["label"]) if sample.get("label") else ""
        reply = tr("answer {answer}", answer=answer) if answer is not None else ""
        note = ", ".join(filter(None, (self._timeline.moment_text if self.iteration else "", label, reply)))
        self._tell(note, tr("Sample {place:,} of {count:,}", place=sample["place"] + 1, count=self._count))

    # ---- the canvas ----

    def _tell(self, text: str, sample: str = "", note: str = "") -> None:
        """Say what is shown of which sample; without a sample what is under way."""
        remark = Remark(shown=text, sample=sample, note=note)
        for lens in METHODS:
            self._lenses.remark(lens, remark)

    def _on_changed(self, _project: object = None) -> None:
        if self._pictures:
            self._draw()

    def _draw(self) -> None:
        """Draw the pictures of the visible layers."""
        editor = self._shell.editor
        pictures = visible(self._pictures, editor.project.network, editor.scope)
        self._design.canvas.network_scene.show_activations(pictures)


def visible(
    pictures: Mapping[str, Sequence[QImage]], network: Network, scope: tuple[str, ...]
) -> dict[str, Sequence[QImage]]:
    """Return the pictures of the layers that are visible inside the block at a path of ids, or at the top level.

    A block has those of its last layer, a layer of a repeated block those of its last copy. `network` is the whole one.
    """
    from netwright.designer.scene.health_badges import without_copies

    visible_pictures: dict[str, Sequence[QImage]] = {}
    for path, images in pictures.items():
        ids, _ = without_copies(path.split("/"), network)
        if len(ids) > len(scope) and ids[: len(scope)] == list(scope):
            visible_pictures[ids[len(scope)]] = images
    return visible_pictures


def read_pictures(file: Path, layers: Sequence[Mapping[str, Any]]) -> dict[str, list[QImage]]:
    """Return pictures by the path of ids from the arrays of the method `thumbnails`. Raises `OSError`, `ValueError` and
    `KeyError` for a file that is none."""
    import numpy as np  # a start of the window does not pay for it

    table = [qRgb(*colour) for colour in colours("sequential")]
    pictures: dict[str, list[QImage]] = {}
    with np.load(file, allow_pickle=False) as stored:
        for number, layer in enumerate(layers):
            images = []
            for plane in stored[f"layer_{number}"]:
                pixels = np.ascontiguousarray(plane, np.uint8)
                high, wide = pixels.shape
                image = QImage(pixels.data, wide, high, wide, QImage.Format.Format_Indexed8).copy()
                image.setColorTable(table)
                images.append(image)
            pictures[str(layer["path"])] = images
    return pictures
