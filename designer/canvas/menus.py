"""The context menus of one canvas, at a point and of the selection: the outline offers the same."""

from typing import Protocol

from PySide6.QtCore import QPointF, SignalInstance
from PySide6.QtWidgets import QMenu

from netwright.designer.canvas import context_menus
from netwright.designer.canvas.annotation_tools import AnnotationTools
from netwright.designer.canvas.keyboard import Keyboard, KeyCanvas
from netwright.designer.canvas.quick_add import Suggestions
from netwright.designer.canvas.viewport import Viewport
from netwright.designer.language import tr
from netwright.designer.scene.pipeline_view import PipelineStages
from netwright.engine.project.transferred_layers import freeze_up_to


class MenuCanvas(KeyCanvas, Protocol):
    """The interface of the view for its menus, beyond that for the keyboard."""

    annotation_tools: AnnotationTools
    keyboard: Keyboard
    stages: PipelineStages
    suggestions: Suggestions
    keep_requested: SignalInstance

    def layer_at(self, at: QPointF) -> str | None:
        """Return the layer at a point."""

    def replace_selected(self) -> None:
        """Suggest types to replace the selected layer with."""

    def arrange(self) -> None:
        """Lay out the whole network."""


class Menus:
    """Makes the menus. Each is made anew, and belongs to the canvas."""

    def __init__(self, view: Viewport, canvas: MenuCanvas) -> None:
        """`view` and `canvas` are the same widget: what it shows, and what it does."""
        self._view, self._canvas, self._editor = view, canvas, canvas.editor

    def at(self, at: QPointF) -> QMenu:
        """Select the item at a point and return its context menu."""
        canvas, editor = self._canvas, self._editor
        if (id := canvas.layer_at(at)) is not None:
            if id not in editor.selection:
                editor.set_selection({id})
            return self.of_selection()
        if (hit := canvas.annotation_tools.hit_at(at)) is not None:
            if hit.mark not in editor.selected_marks:
                editor.set_selection((), (), {hit.mark})
            return canvas.annotation_tools.menu_of(hit.mark)
        connection = canvas.network_scene.edges.at(at, canvas.reach)
        if connection is not None:
            editor.set_selection((), {connection})
            return context_menus.connection_menu(editor, self._view, connection)
        return self._of_ground(at)

    def of_selection(self) -> QMenu:
        """Return the menu of what is selected; that of the empty canvas while nothing is."""
        canvas, editor = self._canvas, self._editor
        if editor.selection:
            return self._of_layers()
        if editor.selected_marks:
            return canvas.annotation_tools.menu_of(next(iter(editor.selected_marks)))
        if editor.selected_connections:
            return context_menus.connection_menu(editor, self._view, next(iter(editor.selected_connections)))
        return self._of_ground(self._view.mapToScene(self._view.viewport().rect().center()))

    def freeze_selected(self) -> None:
        """Freeze the one selected layer and all layers that lead to it."""
        editor = self._editor
        if len(editor.selection) == 1:
            (id,) = editor.selection
            text = tr("Freeze up to {name}", name=editor.network.layers[id].name)
            editor.edit(text, lambda project: freeze_up_to(project, "/".join((*editor.scope, id))))

    def _of_layers(self) -> QMenu:
        canvas, keyboard = self._canvas, self._canvas.keyboard
        commands: context_menus.Commands = {
            "edit": canvas.edit_selected,
            "rename": canvas.rename_selected,
            "replace": canvas.replace_selected,
            "add": canvas.quick_add,
            "add_before": canvas.quick_add_before,
            "connect": keyboard.connect,
            "frame": canvas.annotation_tools.frame_selection,
            "keep": canvas.keep_requested.emit,
            "freeze": self.freeze_selected,
            "zoom": canvas.fit_selection,
            "up": lambda: keyboard.nudge(0, -1),
            "down": lambda: keyboard.nudge(0, 1),
            "left": lambda: keyboard.nudge(-1, 0),
            "right": lambda: keyboard.nudge(1, 0),
        }
        return context_menus.layer_menu(
            self._editor, self._view, commands, context_menus.stage_menu(canvas.stages, self._view)
        )

    def _of_ground(self, at: QPointF) -> QMenu:
        canvas = self._canvas
        return context_menus.canvas_menu(
            self._editor,
            self._view,
            at,
            canvas.fit,
            lambda: canvas.suggestions.at_ground(self._view.mapFromScene(at)),
            lambda: canvas.arrange(),
            lambda: canvas.annotation_tools.add_comment(at),
        )
