"""The canvas: processor milliseconds of what a person waits for, over networks of 1,000, 3,000 and 5,000 layers.

A frame is the whole viewport of 1920 x 1080, painted into a picture. "edit" is a changed field until sizes, problems
and the frame are there; "drag" is one step of the pointer with one layer in hand, and its part of the frame; "select
all" dresses every layer. The networks are residual chains and transformers, arranged; `wide` is a sheet of 60 columns,
so that as many layers as possible are in sight.

    QT_QPA_PLATFORM=offscreen OMP_NUM_THREADS=1 python -m benchmarks.canvas [LAYERS ...]
"""

import statistics
import sys
import time
from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication

from netwright.app.dialogs.compare_projects import CompareDialog
from netwright.designer import theme
from netwright.designer.canvas.view import CanvasView
from netwright.designer.editor import Editor
from netwright.designer.scene.scene import Scene
from netwright.engine.layers.base import LayerType
from netwright.engine.network import edits, sugiyama
from netwright.engine.network.arrangement import _graph, _parts, arrange, outline
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Connection, Layer, Network, Port
from netwright.engine.project.project import Project

ROUNDS = 7
SIZE = (1920, 1080)
PARTS = ("ln", "q", "k", "v", "qk", "masked", "soft", "mixed", "out", "r1", "ln2", "up", "act", "down", "r2")
Link = tuple[str, str, str]


def network(layers: list[tuple[str, LayerType]], links: list[Link]) -> Network:
    """A network from names and links, without the checks of an edit."""
    connections = (Connection(Port(a, "out"), Port(b, port)) for a, b, port in links)
    return Network({id: Layer(id, id, type) for id, type in layers}, tuple(connections))


def residual(count: int) -> Network:
    """Blocks of a fully connected layer and four activations, with a way around each."""
    dense, relu, add = layer_type("fully_connected")(outputs=8), layer_type("relu")(), layer_type("addition")()
    layers: list[tuple[str, LayerType]] = [("x", layer_type("feature_input")(channels=8))]
    links: list[Link] = []
    last = "x"
    while len(layers) < count:
        before = last
        for step in range(5):
            id = f"b{len(layers)}"
            layers.append((id, relu if step else dense))
            links.append((last, id, "in"))
            last = id
        id = f"a{len(layers)}"
        layers.append((id, add))
        links += [(last, id, "in1"), (before, id, "in2")]
        last = id
    return network(layers, links)


def transformer(count: int) -> Network:
    """Blocks of attention with one mask for all of them, and a feed-forward part."""
    plain, two = layer_type("relu")(), layer_type("multiplication")()
    source = layer_type("feature_input")()
    layers: list[tuple[str, LayerType]] = [("x", source), ("mask", source)]
    links: list[Link] = []
    last, block = "x", 0
    while len(layers) < count:
        ids = {name: f"{name}_{block}" for name in PARTS}
        joins = ("qk", "masked", "mixed", "r1", "r2")
        layers += [(id, two if name in joins else plain) for name, id in ids.items()]
        chains = [("ln", "q"), ("ln", "k"), ("ln", "v"), ("masked", "soft"), ("mixed", "out"), ("r1", "ln2")]
        chains += [("ln2", "up"), ("up", "act"), ("act", "down")]
        pairs = [("q", "k", "qk"), ("soft", "v", "mixed"), ("down", "r1", "r2")]
        links += [(ids[a], ids[b], "in") for a, b in chains] + [(last, ids["ln"], "in")]
        links += [link for a, b, c in pairs for link in ((ids[a], ids[c], "in1"), (ids[b], ids[c], "in2"))]
        links += [(ids["qk"], ids["masked"], "in1"), ("mask", ids["masked"], "in2")]
        links += [(ids["out"], ids["r1"], "in1"), (last, ids["r1"], "in2")]
        last, block = ids["r2"], block + 1
    return network(layers, links)


def sheet(value: Network) -> Layout:
    """Rows of 60, so that a window is full of layers."""
    return Layout({id: (n % 60 * 208.0, n // 60 * 60.0) for n, id in enumerate(value.layers)})


def milliseconds(act: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """The median processor time of an act; it is told the number of the round."""
    taken = []
    for number in range(rounds):
        begin = time.process_time()
        act(number)
        taken.append((time.process_time() - begin) * 1000)
    return statistics.median(taken)


def measure(app: QApplication, name: str, value: Network, layout: Layout) -> list[str]:
    """One row of the table."""
    begin = time.process_time()
    editor = Editor(Project(value, layout))
    view = CanvasView(editor)
    view.resize(*SIZE)
    view.show()
    view.fit()
    app.processEvents()
    build = (time.process_time() - begin) * 1000
    view.network_scene.finish()
    middle = list(value.layers)[len(value.layers) // 2]
    figures = (build, *frames(app, view, layout.at(middle)), *acts(app, editor, view, middle))
    view.close()
    return [name, f"{len(value):,}", *(f"{figure:.1f}" for figure in figures)]


def frames(app: QApplication, view: CanvasView, centre: tuple[float, float]) -> tuple[float, ...]:
    """Milliseconds of a frame of all, at 36 %, of a step of the zoom, at 100 %, and of a step of the view."""
    picture = QPixmap(view.size())

    def frame(_: int = 0) -> None:
        view.viewport().render(picture)

    def zoom_step(number: int) -> None:
        view.zoom_around(QPoint(900, 500), 1.05 if number % 2 else 1 / 1.05)
        frame()

    def pan(number: int) -> None:
        view.scroll_by(QPoint(0, 30 if number % 2 else -30))
        app.processEvents()

    fit = milliseconds(frame)
    view._set_zoom(0.36)
    view.look_at(QPointF(*centre))
    frame()
    zoomed = milliseconds(zoom_step)
    far = milliseconds(frame)
    view._set_zoom(1.0)
    view.look_at(QPointF(*centre))
    frame()
    return fit, far, zoomed, milliseconds(frame), milliseconds(pan)


def acts(app: QApplication, editor: Editor, view: CanvasView, middle: str) -> tuple[float, ...]:
    """Milliseconds of an edit, of a step of the pointer with the middle layer in hand, and of selecting all layers."""
    layers = editor.network.layers
    editable = next(id for id in reversed(list(layers)) if "outputs" in layers[id].type.fields or id == middle)

    def edit(number: int) -> None:
        if editable == middle:
            editor.rename(middle, f"renamed_{number}")
        else:
            editor.set_fields([editable], {"bias": bool(number % 2)})
        app.processEvents()

    x, y = editor.project.layout.at(middle)

    def drag(number: int) -> None:
        view.network_scene.drag({middle: (x + 8 * number, y)})
        app.processEvents()

    def select(number: int) -> None:
        editor.set_selection(layers if number % 2 else ())
        app.processEvents()

    edited = milliseconds(edit)
    dragged = milliseconds(drag)
    view.network_scene.settle()
    return edited, dragged, milliseconds(select)


def drawn(name: str, value: Network, layout: Layout) -> list[str]:
    """A row of processor time, which other work on the machine disturbs less: one scene until it is shown, its labels,
    which follow while the window is idle, and two scenes to compare."""
    project = Project(value, layout)
    other = Project(edits.rename(value, next(reversed(list(value.layers))), "renamed"), layout)
    scenes, labels, dialogs = [], [], []
    for _ in range(3):
        editor = Editor(project)
        begin = time.process_time()
        scene = Scene(editor)
        scenes.append((time.process_time() - begin) * 1000)
        begin = time.process_time()
        scene.finish()
        labels.append((time.process_time() - begin) * 1000)
        begin = time.process_time()
        CompareDialog(project, other, ("before", "after")).show()
        dialogs.append((time.process_time() - begin) * 1000)
    return [name, f"{len(value):,}", *(f"{min(times):.0f}" for times in (scenes, labels, dialogs))]


def arranged(name: str, value: Network) -> tuple[Layout, list[str]]:
    """A layout, and a row that says what it took and how many connections cross."""
    assert len(value.outgoing) == len(value.order)  # both are remembered by the value, and not what is measured
    begin = time.perf_counter()
    layout = arrange(value)
    taken = time.perf_counter() - begin
    shape = outline(value, layout)
    graph = _graph(_parts(shape)[0], shape)
    sugiyama.ordered(graph)
    return layout, [name, f"{len(value):,}", f"{taken:.3f} s", f"{sugiyama.crossings(graph, graph.rows):,}"]


def table(heads: tuple[str, ...], lines: list[list[str]]) -> str:
    """Lines as a table of Markdown."""
    body = [" | ".join(line) for line in [list(heads), ["---"] * len(heads), *lines]]
    return "\n".join(f"| {line} |" for line in body)


def main() -> None:
    """Measure and print."""
    app = QApplication(sys.argv[:1])
    theme.apply(app, "dark")
    sizes = [int(word) for word in sys.argv[1:]] or [1000, 3000, 5000]
    rows, layouts, networks = [], [], []
    for count in sizes:
        for name, make in (("residual", residual), ("transformer", transformer)):
            value = make(count)
            layout, line = arranged(name, value)
            layouts.append(line)
            rows.append(measure(app, name, value, layout))
            networks.append((name, value, layout))
        value = residual(count)
        rows.append(measure(app, "wide", value, sheet(value)))
    scenes = [drawn(*each) for each in networks]  # last: what their windows still have to do takes from other figures
    heads = (
        "network",
        "layers",
        "build",
        "fit",
        "at 36 %",
        "zoom step",
        "at 100 %",
        "pan",
        "edit",
        "drag",
        "select all",
    )
    print("ms of processor time:\n" + table(heads, rows))
    print("\nof that:\n" + table(("network", "layers", "scene", "labels", "compare dialog"), scenes))
    print("\narrangement:\n" + table(("network", "layers", "time", "crossings"), layouts))


if __name__ == "__main__":
    main()
