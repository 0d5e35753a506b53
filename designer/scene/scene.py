"""Draws the editor's network and answers hit tests. Owns no state: it receives a new value and draws the difference.

The network is a few items (frames and comments, connections, layers, marks of a gesture), not one per layer: thousands
of layers are then a few calls to paint, and a lookup goes through a grid.
"""

import gc
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QGraphicsScene

from netwright.designer import theme
from netwright.designer.editor import Editor
from netwright.designer.scene import geometry, pictures
from netwright.designer.scene.activation_strips import ActivationStrips
from netwright.designer.scene.annotation_items import Annotations
from netwright.designer.scene.content import Content, complaints_of, content_of
from netwright.designer.scene.edges import Edges
from netwright.designer.scene.feedback import Feedback, FeedbackItem
from netwright.designer.scene.health_badges import HealthBadge
from netwright.designer.scene.idle import IdleWork
from netwright.designer.scene.node_items import Node, Nodes, PortHit
from netwright.designer.scene.router import Router
from netwright.designer.scene.size_labels import SizeLabels
from netwright.designer.scene.tint import Kind, Tint, tint_by
from netwright.engine.network.analysis import LayerShapes
from netwright.engine.network.layout import Difference, Flow, Layout, Position, difference, moved
from netwright.engine.network.network import Connection, Layer, Port
from netwright.engine.project.check import CheckResult
from netwright.engine.project.project import Project
from netwright.engine.project.transferred_layers import frozen_layers

_FEW, _MANY = 60, 200


class Scene(QGraphicsScene):
    """The network on the canvas."""

    tint_changed, health_changed = Signal(object), Signal()
    """The current `Tint`."""

    def __init__(self, editor: Editor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.editor = editor
        self.edges, self.nodes, self.feedback = Edges(), Nodes(), FeedbackItem()
        self.annotations, self.strips = Annotations(), ActivationStrips(self.nodes)
        for item in (self.annotations, self.edges, self.strips, self.nodes, self.annotations.titles, self.feedback):
            self.addItem(item)
        self._project = Project()
        self._facts: Mapping[str, LayerShapes] = {}
        self._messages: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._selected: frozenset[str] = frozenset()
        self.tint = Tint()
        self.times: Mapping[str, int] = {}
        """Measured nanoseconds of layers, by id."""
        self.health: Mapping[str, HealthBadge] = {}
        self.stages: Mapping[str, int] = {}
        """Pipeline stages by layer, from 0. Like `health` empty where they are not shown."""
        self.frozen: Mapping[str, str] = {}
        """Why layers do not learn, in words by id."""
        self._stale: list[QRectF] = []
        self._dragged: dict[str, Position] = {}
        self._router = Router(self.nodes, self.edges)
        self._routing: IdleWork[Connection] = IdleWork(self._route, self._end_routing, self)
        """The connections of a large network that was just shown: they take most of the time to show it."""
        self._routed: dict[Port, None] = {}
        """The ports whose labels are placed once no connection waits."""
        self.labels = SizeLabels(self.edges, self.nodes.index.is_free, self)
        self.labels.placed.connect(self._stale.extend)
        self.labels.placed.connect(lambda _: self._repaint())
        editor.project_changed.connect(self.show_project)
        editor.analysis_changed.connect(self.show_check_result)
        editor.selection_changed.connect(self.show_selection)
        theme.changed.connect(self.dress)
        self._facts = editor.analysis.shapes
        self._messages = complaints_of(editor.check_result_here)
        self.show_project(editor.here)
        self.show_check_result(editor.check_result_here)
        self.show_selection(editor.selection)

    @property
    def flow(self) -> Flow:
        """Return the direction in which the network flows."""
        return self._project.layout.flow

    # Drawing differences

    def show_project(self, project: Project) -> None:
        """Draw another value of the project."""
        before, self._project = self._project, project
        change = difference(before.network, project.network)
        if len(change.added) >= _MANY:  # each of them is dressed once
            self._facts = self.editor.analysis.shapes
            self._messages = complaints_of(self.editor.check_result_here)
        if len(change.added) < _MANY or not gc.isenabled():
            self._show_change(before, project, change)
            return
        gc.disable()  # everything that is made now stays: to look for garbage among it takes as long as to make it
        try:
            self._show_change(before, project, change)
        finally:
            gc.enable()

    def _show_change(self, before: Project, project: Project, change: Difference) -> None:
        self._router.forget_lanes()
        if before.network is not project.network or before.weights != project.weights:
            was, self.frozen = self.frozen, frozen_layers(self.editor.project, self.editor.scope)
            for id in (was.keys() ^ self.frozen.keys()) & self.nodes.nodes.keys() & project.network.layers.keys():
                self._dress_node(id)
        self.annotations.show_layout(project.layout)
        places = moved(before.layout, project.layout) & self.nodes.nodes.keys()
        for connection in change.disconnected:
            self._drop_edge(connection)
        for id in change.removed:
            self._drop_node(id)
        added = [id for id in project.network.layers if id in change.added] if change.added else []
        for id in added:
            self._put_node(project.network.layers[id])
        news = self._router.look_for_tags(before.network, project.network)
        reshaped = {id for id in change.changed if not self.nodes.nodes[id].fits(project.network.layers[id].type)}
        has_turned = before.layout.flow != project.layout.flow
        for id in change.changed.union(*(project.network.borrowers.get(id, ()) for id in change.changed)):
            self._dress_node(id)
        displaced = (places | change.added) - change.removed
        near = self._place({id: project.layout.at(id) for id in displaced})
        is_new = len(displaced) > _FEW or has_turned
        near |= self._turn(displaced | change.changed, (*change.connected, *change.disconnected), is_new)
        if is_new:
            self._refresh_edges(project.network.connections)
        else:
            attached = self._attached(displaced | reshaped)
            names = (c for id in change.changed for c in project.network.outgoing[id] if c in self._router.tags)
            self._refresh_edges({**near, **dict.fromkeys((*change.connected, *attached, *news, *names))})
        if displaced or change.removed:
            self.nodes.measure()
        self._repaint()

    def _turn(self, ids: Collection[str], connections: Iterable[Connection], is_new: bool) -> dict[Connection, None]:
        """Update headings, with `is_new` of all layers; return the connections of those that turned."""
        near: Iterable[str] = self.nodes.nodes
        if not is_new:
            near = {*ids, *(end.layer for c in (*self._attached(ids), *connections) for end in (c.source, c.target))}
        turned = self.nodes.turn(near, self._project.network, self.flow)
        for id in turned:
            self._dress_node(id)
        return self._attached(turned)

    def show_check_result(self, result: CheckResult) -> None:
        """Draw new sizes, counts and problems."""
        before, self._facts = self._facts, result.analysis.shapes
        complaints = complaints_of(result)
        self._messages, old = complaints, self._messages
        ports: dict[Port, None] = {}
        for id in self.nodes.nodes:
            was, now = before.get(id), self._facts.get(id)
            if was is not now or old.get(id) != complaints.get(id):
                self._dress_node(id)
                if was is None or now is None or was.outputs != now.outputs:
                    ports.update(dict.fromkeys(line.source for line in self._project.network.outgoing[id]))
        self._place_labels(ports)
        self.show_tint(self.tint.kind)
        self._repaint()

    def show_tint(self, kind: Kind) -> None:
        """Tint the layers by a figure, or not at all. A new heaviest layer changes the tint of all."""
        tint = tint_by(kind, self._facts, self._project.training.mini_batch_size, self.times)
        if tint != self.tint:
            self.tint = tint
            for id in self.nodes.nodes:
                self._dress_node(id)
            self._repaint()
            self.tint_changed.emit(tint)

    def show_times(self, times: Mapping[str, int]) -> None:
        """Take the measured nanoseconds of layers by id, and tint by them if that is the figure that is shown."""
        self.times = times
        self.show_tint(self.tint.kind)

    def show_activations(self, images: Mapping[str, Sequence[QImage]]) -> None:
        """Show pictures of activations beside the layers, by id; an empty mapping removes them."""
        self.strips.show_images(images)
        self.update()

    def show_health(self, health: Mapping[str, HealthBadge]) -> None:
        """Show the health of layers in training; layers without one are plain."""
        was, self.health = self.health, health
        for id in self.nodes.nodes.keys() & (was.keys() | health.keys()):
            self._dress_node(id)
        self._repaint()
        self.health_changed.emit()

    def show_stages(self, stages: Mapping[str, int]) -> None:
        """Draw layers in their pipeline stages; without stages in the usual colours."""
        was, self.stages = self.stages, stages
        for id in self.nodes.nodes.keys() & (was.keys() | stages.keys()):
            if was.get(id) != stages.get(id):
                self._dress_node(id)
        self._repaint()

    def show_selection(self, selection: frozenset[str]) -> None:
        """Draw the selection of layers and connections."""
        changed, self._selected = self._selected ^ selection, selection
        for id in changed & self.nodes.nodes.keys():
            node = self.nodes.nodes[id]
            node.show(replace(node.content, is_selected=id in selection))
            self._stale.append(self.nodes.rect(id))
        if changed:
            self.nodes.forget_overview()
        lines = self.editor.selected_connections
        for connection in lines ^ self.edges.selected:
            if connection in self.edges.edges:
                self._stale.append(self.edges.edges[connection].bounds)
        self.edges.selected = lines
        self.annotations.select(self.editor.selected_marks)
        self._repaint()

    def dress(self) -> None:
        """Draw everything in the current colours."""
        pictures.forget()
        self.nodes.forget_pictures()
        self.update()

    def drag(self, positions: Mapping[str, Position]) -> None:
        """Draw layers at other positions while they are dragged; the project is unchanged."""
        was = self.nodes.index.positions
        self._router.forget_lanes()
        positions = {id: at for id, at in positions.items() if id in was}
        steps = {(x - was[id][0], y - was[id][1]) for id, (x, y) in positions.items()}
        for id in positions:
            self._dragged.setdefault(id, was[id])
        self._place(positions, look_around=False)
        self.nodes.stretch(positions)
        attached = self._attached(positions)
        if len(steps) == 1 and len(positions) > 1:
            (step,) = steps
            inner = [c for c in attached if c.source.layer in positions and c.target.layer in positions]
            for connection in inner:
                del attached[connection]
                self._shift_edge(connection, step)
        self._refresh_edges(attached)
        self._repaint()

    def drag_annotations(self, layout: Layout) -> None:
        """Draw the frames and comments of another layout; the project is unchanged."""
        self.annotations.show_layout(layout)

    def settle(self) -> None:
        """Draw everything as in the project, after a drag; connections are routed around layers anew."""
        ids = [id for id in self._dragged if id in self.nodes.nodes]
        if len(ids) > _FEW:
            self._refresh_edges(self._project.network.connections)
        else:
            old_rects = [geometry.node_rect(self._dragged[id]) for id in ids]
            rects = old_rects + [self.nodes.rect(id) for id in ids]
            lines = {line: None for rect in rects for line in self.edges.crossing(rect)}
            self._refresh_edges({**lines, **self._attached(ids)})
        self._dragged.clear()
        self.nodes.measure()
        self._repaint()

    def hide_connection(self, connection: Connection) -> None:
        """Hide a connection whose end is being moved."""
        self._drop_edge(connection)
        self._repaint()

    def redraw_connection(self, connection: Connection) -> None:
        """Show a connection that was hidden."""
        self._refresh_edges([connection])
        self._repaint()

    def show_feedback(self, feedback: Feedback) -> None:
        """Draw the feedback of a gesture."""
        self.feedback.show_feedback(replace(feedback, flow=self.flow))

    def show_target(self, connection: Connection | None) -> None:
        """Draw the connection that is the drop target."""
        for target in (connection, self.edges.target):
            if target in self.edges.edges and target is not None:
                self._stale.append(self.edges.edges[target].bounds)
        self.edges.target = connection
        self._repaint()

    # Layers

    def _put_node(self, layer: Layer) -> None:
        content = self._content(layer)
        messages = self._messages.get(layer.id, ("", ()))[1]
        ports = layer.type.input_ports(), layer.type.output_ports()
        self.nodes.nodes[layer.id] = Node(layer.id, content, *ports, messages)
        self.nodes.index.put(layer.id, self._project.layout.at(layer.id))
        self._spoil(layer.id)

    def _drop_node(self, id: str) -> None:
        self._stale.append(self.nodes.rect(id))
        self.nodes.index.drop(id)
        del self.nodes.nodes[id]
        self.nodes.forget_overview()

    def _dress_node(self, id: str) -> None:
        layer = self._project.network.layers[id]
        node = self.nodes.nodes[id]
        node.inputs, node.outputs = layer.type.input_ports(), layer.type.output_ports()
        node.messages = self._messages.get(id, ("", ()))[1]
        if node.show(self._content(layer)):
            self.nodes.forget_overview()
            self._spoil(id)

    def _spoil(self, id: str) -> None:
        """Let a layer be painted again; of many layers, all is painted."""
        if len(self._stale) <= _FEW:
            self._stale.append(self.nodes.rect(id))

    def _content(self, layer: Layer) -> Content:
        content = content_of(
            self._project.network,
            layer,
            self._facts.get(layer.id),
            self.tint,
            severity=self._messages.get(layer.id, ("", ()))[0],
            stage=self.stages.get(layer.id),
            health=self.health.get(layer.id),
            flow=self.nodes.heading(layer.id),
            is_frozen=layer.id in self.frozen,
        )
        return replace(content, is_selected=True) if layer.id in self._selected else content

    def _place(self, positions: Mapping[str, Position], *, look_around: bool = True) -> dict[Connection, None]:
        """Move layers. Connections that passed their old positions, or cross the new ones, may need new routes."""
        near: dict[Connection, None] = {}
        look_around = look_around and len(positions) <= _FEW
        for id, at in positions.items():
            if look_around:
                for _ in range(2):
                    rect = self.nodes.rect(id)
                    self._stale.append(rect)
                    near.update(dict.fromkeys(self.edges.crossing(rect)))
                    self.nodes.index.put(id, at)
            else:
                self._spoil(id)
                self.nodes.index.put(id, at)
                self._spoil(id)
        return near

    # Connections

    def _attached(self, ids: Collection[str]) -> dict[Connection, None]:
        network = self._project.network
        attached: dict[Connection, None] = {}
        for id in ids:
            attached.update(dict.fromkeys(network.outgoing.get(id, ())))
            for name, source in network.incoming.get(id, {}).items():
                attached[Connection(source, Port(id, name))] = None
        return attached

    def _refresh_edges(self, connections: Iterable[Connection]) -> None:
        """Route connections anew, many of them while the window is idle."""
        connections = sorted(connections, key=self.nodes.index.span)
        for connection in connections:
            self.edges.room.drop_curve(connection)  # its old lane is free
        if len(connections) > _MANY:
            self._routing.add(connections)
            return
        for connection in connections:
            self._routing.drop(connection)
            self._route(connection)
        self._end_routing()

    def _route(self, connection: Connection) -> None:
        layers = self._project.network.layers
        if connection.source.layer not in layers or connection.target.layer not in layers:
            return
        old, edge = self.edges.edges.get(connection), self._router.edge(connection, self._project.network)
        self.edges.put(edge)
        if len(self._stale) <= _FEW:  # of more, all is painted
            self._stale += [item.bounds for item in (old, edge) if item]
        self._routed[connection.source] = None
        self._routed |= {port: None for port in self.edges.room.labels_on(connection) if isinstance(port, Port)}

    def _end_routing(self) -> None:
        """Place the labels of routed connections, unless others wait: labels are placed beside all curves."""
        if not self._routing:
            ports, self._routed = self._routed, {}
            self._place_labels(ports)
        self._repaint()

    def _place_labels(self, ports: Mapping[Port, None]) -> None:
        self._stale += self.labels.place(ports, self._project.network, self._facts, self.flow)

    def finish(self) -> None:
        """Draw now what would be drawn when the window is idle, such as for a picture."""
        self._routing.work()
        self.labels.place_waiting()

    def _drop_edge(self, connection: Connection) -> None:
        self._routing.drop(connection)
        if connection in self.edges.edges:
            self._stale.append(self.edges.edges[connection].bounds)
            self.edges.drop(connection)
            self._routed[connection.source] = None

    def _shift_edge(self, connection: Connection, step: Position) -> None:
        old = self.edges.edges.get(connection)
        if old is None or connection in self._routing:
            self._refresh_edges([connection])
            return
        shifted = old.moved(step)
        self._stale += [old.bounds, shifted.bounds]
        self.edges.put(shifted)

    def _repaint(self) -> None:
        if len(self._stale) > _FEW or self.strips.images:  # pictures beside a layer move with it
            self.update()
        else:
            for rect in self._stale:
                self.update(rect)
        self._stale.clear()

    # What is where

    def content_box(self) -> QRectF:
        """Return the box around all layers, frames and comments."""
        return self.nodes.index.bounds().united(self.annotations.content_box())

    def node_at(self, at: QPointF) -> str | None:
        """Return the layer at a point."""
        return self.nodes.index.at(at.x(), at.y())

    def nodes_in(self, area: QRectF) -> frozenset[str]:
        """Return the layers that touch an area."""
        return frozenset(self.nodes.index.inside(area))

    def port_at_layer(self, port: Port, is_input: bool) -> PortHit:
        """Return the position of a port of a layer."""
        return self.nodes.port_hit(port, is_input)

    def port_at(self, at: QPointF, tolerance: float) -> PortHit | None:
        """Return the nearest port within a distance, or None."""
        return self.nodes.port_at(at, tolerance)
