"""The chapters about a network, its data and its training options."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QRect, QTimer
from PySide6.QtWidgets import QPushButton

from netwright.app.tour.steps import (
    Chapter,
    Step,
    Target,
    action_target,
    dialog_part,
    open_dialogs,
    part_of,
    trigger,
    widget_target,
)
from netwright.app.window import MainWindow
from netwright.designer.language import noop
from netwright.engine.network.edits import connect, disconnect
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Connection, Network, Port
from netwright.engine.project.project import Project

INPUT, FIRST, RELU, SKIP, ADD = "d01", "d02", "d13", "d08", "d09"
"""Layers of the digits example."""
MISSING = Connection(Port(SKIP, "out"), Port(ADD, "in2"))
"""The connection that the user makes."""


def layers_target(*ids: str) -> Callable[[MainWindow], Target | None]:
    """Return the target that is some layers of the canvas."""

    def find(window: MainWindow) -> Target | None:
        canvas = window.design.canvas
        if not set(ids) <= set(window.editor.network.layers):
            return None
        box = canvas.mapFromScene(canvas.layers_box(ids)).boundingRect()
        return Target(canvas.viewport(), box)

    return find


def _show_layers(*ids: str) -> Callable[[MainWindow], None]:
    def show(window: MainWindow) -> None:
        window.show_tab("design")
        canvas = window.design.canvas
        canvas.look(1.0, canvas.layers_box(ids).center())

    return show


# ---- a network on the canvas ----


def _without_skip(project: Project) -> Project:
    return replace(project, network=disconnect(project.network, [MISSING]))


def _connect(window: MainWindow) -> None:
    window.editor.edit_network("Connect", lambda network: connect(network, MISSING.source, MISSING.target))


def _added(window: MainWindow) -> str:
    """Return the id of the dropout layer; empty where there is none."""
    layers = window.editor.network.layers
    return next((id for id, layer in layers.items() if layer.type.key == "dropout"), "")


def _add(window: MainWindow) -> None:
    window.editor.set_selection({RELU})
    window.design.palette.add("dropout")
    window.design.canvas.reveal(_added(window))


def _select_added(window: MainWindow) -> None:
    window.show_tab("design")
    window.design.docks[1].show()
    if id := _added(window):
        window.editor.set_selection({id})


def _set_probability(window: MainWindow) -> None:
    window.editor.set_fields([_added(window)], {"probability": 0.25})


def _has_probability(window: MainWindow) -> bool:
    id = _added(window)
    return bool(id) and bool(window.editor.network.layers[id].type.changed())


def _show_library(window: MainWindow) -> None:
    window.show_tab("design")
    window.design.docks[0].show()


def _show_problems(window: MainWindow) -> None:
    window.show_problems()
    window.design.bottom.unfold()


NETWORK = Chapter(
    key="network",
    title=noop("A network on the canvas"),
    tab="design",
    prepare=_without_skip,
    steps=(
        Step(
            text=noop(
                "This network reads handwritten digits. Each box is a layer, and the data flows along the lines, "
                "from this input to the answer at the end."
            ),
            target=layers_target(INPUT),
            show=_show_layers(INPUT),
        ),
        Step(
            text=noop(
                "Each connection shows the size of what flows through it, such as 16 channels of 8 × 8 pixels. "
                "Sizes follow by themselves when you change a layer."
            ),
            target=layers_target(INPUT, FIRST),
            show=_show_layers(INPUT, FIRST),
        ),
        Step(
            text=noop(
                "What is wrong stands here in plain words, with a remedy where there is one. One layer lacks an input: "
                "a click on the line leads to it."
            ),
            target=lambda window: widget_target(window.design.problems),
            show=_show_problems,
        ),
        Step(
            text=noop(
                "Connect layers by dragging from the output of ‘skip’, at its bottom, to the open input of ‘add’."
            ),
            target=layers_target(SKIP, ADD),
            show=_show_layers(SKIP, ADD),
            act=_connect,
            is_done=lambda window: MISSING in window.editor.network.connections,
        ),
        Step(
            text=noop(
                "Add a layer: select the one that it is to follow, then search here for ‘dropout’ and press Enter. "
                "The names of PyTorch, Keras and MATLAB work."
            ),
            target=lambda window: widget_target(window.design.palette.search),
            show=_show_library,
            act=_add,
            is_done=lambda window: bool(_added(window)),
        ),
        Step(
            text=noop(
                "The fields of the selected layer are here. Change the probability of the dropout layer to 0.25."
            ),
            target=lambda window: widget_target(window.design.properties.form),
            show=_select_added,
            act=_set_probability,
            is_done=_has_probability,
        ),
        Step(
            text=noop("Every step can be undone and redone, as far back as you like. So try things out."),
            target=lambda window: action_target(window, "edit.undo"),
        ),
    ),
)


# ---- data ----


def _without_network(project: Project) -> Project:
    return replace(project, network=Network({}), layout=Layout(), data=project.data.replace(source="none"))


def _data(window: MainWindow, *names: str) -> Any:
    """Return a part of the Data tab, by the names of attributes."""
    return part_of(window.tabs.page("data"), *names)


def _show_data(window: MainWindow) -> None:
    window.show_tab("data")


def _digits_button(window: MainWindow) -> Target | None:
    """Return the last way to choose data, which is the digits example; once it is chosen, its name."""
    buttons = _data(window, "empty").findChildren(QPushButton)
    return widget_target(buttons[-1]) or widget_target(_data(window, "header", "title"))


def _choose_digits(window: MainWindow) -> None:
    _data(window, "empty").source_chosen.emit("digits")


def _has_samples(window: MainWindow) -> bool:
    tab = window.tabs.page("data")
    return bool(part_of(tab, "pages").currentWidget() is part_of(tab, "preview"))


def _first_samples(window: MainWindow) -> Target | None:
    tiles = _data(window, "preview", "tiles")
    return Target(tiles, QRect(0, 0, min(tiles.width(), 200), min(tiles.height(), 80))) if tiles is not None else None


def _show_proposal(window: MainWindow) -> None:
    window.show_tab("data")
    _data(window, "header", "settings").setChecked(False)


def _proposal(window: MainWindow) -> Target | None:
    """Return the button that makes the proposed network; once it is made, its first layer."""
    if window.tabs.current == "data":
        return widget_target(_data(window, "proposal", "make"))
    order = window.editor.network.order
    return layers_target(order[0])(window) if order else None


DATA = Chapter(
    key="data",
    title=noop("Data"),
    tab="data",
    prepare=_without_network,
    steps=(
        Step(
            text=noop(
                "Drop a file or a folder of yours anywhere in the window, or choose one here: pictures, tables, "
                "series, texts or sounds. For now, take the digits that come with Netwright."
            ),
            target=_digits_button,
            show=_show_data,
            act=_choose_digits,
            is_done=_has_samples,
            patience_s=60.0,
        ),
        Step(
            text=noop("Look at the samples first: are they what you expect, and do the names below them fit?"),
            target=_first_samples,
            show=_show_data,
        ),
        Step(
            text=noop(
                "This sentence says how the data is read. Its words are buttons: click the split to keep more or fewer "
                "samples for validation and test."
            ),
            target=lambda window: widget_target(_data(window, "recipe")),
            show=_show_data,
        ),
        Step(
            text=noop("The sentence has what matters most. Every other option of the data is behind ‘All settings’."),
            target=lambda window: widget_target(_data(window, "header", "settings")),
            show=_show_data,
            act=lambda window: _data(window, "header", "settings").setChecked(True),
            is_done=lambda window: bool(_data(window, "header", "settings").isChecked()),
        ),
        Step(
            text=noop("From the data, Netwright proposes a network that fits it. Make it, and change it as you like."),
            target=_proposal,
            show=_show_proposal,
            act=lambda window: _data(window, "proposal").make_wanted.emit(),
            is_done=lambda window: bool(window.editor.network.layers),
        ),
    ),
)


# ---- training options ----

EPOCHS = 5


def _show_options(window: MainWindow) -> None:
    """Open the dialog, unless it is open."""
    if not open_dialogs(window):
        QTimer.singleShot(0, window, lambda: trigger("run.options")(window))


def _row(name: str) -> Callable[[MainWindow], Target | None]:
    """Return the target that is the field of an option."""

    def find(window: MainWindow) -> Target | None:
        row = (dialog_part(window, "training_form", "rows") or {}).get(name)
        return widget_target(row.widget) if row is not None else None

    return find


def _set_epochs(window: MainWindow) -> None:
    dialog_part(window, "training_form").set_value("max_epochs", EPOCHS)


def _has_epochs(window: MainWindow) -> bool:
    options = dialog_part(window, "training")
    return bool(options is not None and options.max_epochs == EPOCHS)


def _ok_button(window: MainWindow) -> Target | None:
    """Return the button OK; once the dialog is closed, the one that opens it."""
    return widget_target(dialog_part(window, "buttons", "ok") or window.bar.options)


OPTIONS = Chapter(
    key="options",
    title=noop("Training options"),
    tab="design",
    steps=(
        Step(
            text=noop("How the network is trained is set in the training options."),
            target=lambda window: widget_target(window.bar.options),
            act=trigger("run.options"),
            is_done=lambda window: dialog_part(window, "training_form") is not None,
        ),
        Step(
            text=noop(
                "First, where it trains: on the processor, on a graphics card, on several, or on a cluster. "
                "‘Auto’ takes what is fastest here."
            ),
            target=lambda window: widget_target(dialog_part(window, "cards")),
            show=_show_options,
        ),
        Step(
            text=noop(
                "The defaults suit most networks. An epoch is one pass through the training data: set the most to 5."
            ),
            target=_row("max_epochs"),
            show=_show_options,
            act=_set_epochs,
            is_done=_has_epochs,
        ),
        Step(
            text=noop(
                "Find any option by typing a word of it here. The names of PyTorch and of MATLAB’s trainingOptions "
                "work, too."
            ),
            target=lambda window: widget_target(dialog_part(window, "search")),
            show=_show_options,
        ),
        Step(
            text=noop("OK keeps the options in the project. They hold for the next run."),
            target=_ok_button,
            act=lambda window: dialog_part(window, "buttons", "ok").click(),
            is_done=lambda window: not open_dialogs(window),
        ),
    ),
)
