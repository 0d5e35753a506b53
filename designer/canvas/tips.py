"""What the canvas says about what lies under the pointer, where the picture does not say all of it."""

from PySide6.QtCore import QPointF

from designer.scene import pictures
from designer.scene.scene import Scene


def text_at(scene: Scene, at: QPointF, reach: float) -> str:
    """The tooltip for a point."""
    port = scene.port_at(at, reach)
    if port is not None:
        layer = scene.editor.network.layers[port.port.layer]
        kind = "Input" if port.is_input else "Output"
        return f"{kind} '{port.port.name}' of {layer.name}"
    id = scene.node_at(at)
    if id is not None:
        node = scene.nodes.nodes[id]
        name = [f"{node.content.name}\n{node.content.detail}"] if pictures.is_elided(node.content) else []
        health = [f"In training: {scene.health[id].words}"] if id in scene.health else []
        stage = [f"Stage {scene.stages[id] + 1}"] if id in scene.stages else []
        return "\n".join([*name, *stage, *node.messages, *health])
    connection = scene.connection_at(at, reach)
    if connection is None:
        return ""
    layers = scene.editor.network.layers
    type = scene.editor.analysis.type_at(connection.source)
    way = f"{layers[connection.source.layer].name} → {layers[connection.target.layer].name}"
    return f"{way}\n{type}" if type else way
