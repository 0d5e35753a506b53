"""The chapters about a run: watching it, its results, and taking the network away."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRect, QTimer
from PySide6.QtWidgets import QAbstractButton, QWidget

from netwright.app.runs.phases import Phase
from netwright.app.tour.steps import (
    Chapter,
    Step,
    Target,
    action_target,
    close_dialogs,
    dialog_part,
    open_dialogs,
    part_of,
    trigger,
    widget_target,
)
from netwright.app.window import MainWindow
from netwright.designer.language import noop
from netwright.engine.project.project import Project

SHORT, LONG = 3, 300
"""Epochs of the run that is made beforehand, and of the one that is watched until it is stopped."""
RUN_S, RESULT_S = 90.0, 60.0


def _short(project: Project) -> Project:
    return replace(project, training=project.training.replace(max_epochs=SHORT))


def _long(project: Project) -> Project:
    return replace(project, training=project.training.replace(max_epochs=LONG))


def _runs(window: MainWindow, *names: str) -> Any:
    """Return a part of the page Runs, by the names of attributes."""
    return part_of(window.tabs.page("runs"), *names)


def _show_runs(window: MainWindow) -> None:
    close_dialogs(window)
    window.show_tab("runs")


def _top(widget: QWidget | None, height: int = 120) -> Target | None:
    """Return the top of a large widget as a target, so that there is room beside it."""
    if widget is None or not widget.isVisible():
        return None
    return Target(widget, QRect(0, 0, widget.width(), min(height, widget.height())))


# ---- train and watch ----


def _is_training(window: MainWindow) -> bool:
    """Whether the run has begun, and has something to show."""
    training = window.training
    return training.phase is Phase.RUNNING and bool(training.monitor.facts.head.epoch.text())


def _stop_button(window: MainWindow) -> Target | None:
    """Return the button that stops the run; once it has ended, its state."""
    return widget_target(window.bar.stop) or widget_target(window.training.monitor.facts.head.status)


TRAINING = Chapter(
    key="training",
    title=noop("Train and watch"),
    tab="design",
    prepare=_long,
    steps=(
        Step(
            text=noop(
                "One press trains the network, in a process of its own: the window stays usable, and the run goes on "
                "if you close it."
            ),
            target=lambda window: widget_target(window.bar.train),
            act=trigger("run.train"),
            is_done=_is_training,
            patience_s=RUN_S,
        ),
        Step(
            text=noop(
                "The run has a name, and says how far it is and how long it takes. Its best result so far stands at "
                "the right."
            ),
            target=lambda window: _top(window.training.monitor.facts.head),
            show=_show_runs,
        ),
        Step(
            text=noop(
                "The curves grow while it trains: lines for the training samples, dots for the validation samples, "
                "which it never learns from. Where these get worse, it learns by heart."
            ),
            target=lambda window: _top(window.training.monitor.metric_card, 72),
            show=_show_runs,
        ),
        Step(
            text=noop("Stop it when it is good enough. The best weights are kept, and it can be resumed later."),
            target=_stop_button,
            show=_show_runs,
            act=trigger("run.stop"),
            is_done=lambda window: window.training.run_folder is not None and not window.training.is_running,
            patience_s=RUN_S,
        ),
        Step(
            text=noop(
                "Every run of the project is listed here, with its score. Hold Ctrl and click a second one to compare "
                "them."
            ),
            target=lambda window: _top(_runs(window, "rail"), 160),
            show=_show_runs,
        ),
    ),
)


# ---- results ----


def _segment(key: str) -> Callable[[MainWindow], Target | None]:
    """Return the target that is the button of a page about the run."""

    def find(window: MainWindow) -> Target | None:
        page = window.training.monitor.segments.pages.get(key)
        title = getattr(page, "title", "")
        buttons = window.training.monitor.segments.findChildren(QAbstractButton)
        return next((Target(b) for b in buttons if b.text() == title and b.isVisible()), None)

    return find


def _show_segment(key: str) -> Callable[[MainWindow], None]:
    """Return a function that shows a page about the run."""
    return lambda window: window.made.show_segment(key)


def _page(window: MainWindow, key: str) -> Any:
    return window.training.monitor.segments.pages.get(key)


def _is_at(key: str) -> Callable[[MainWindow], bool]:
    return lambda window: window.training.monitor.segments.current == key


def _has_scores(window: MainWindow) -> bool:
    return _is_at("scores")(window) and bool(_cards(window, "ConfusionCard"))


def _cards(window: MainWindow, kind: str) -> list[QWidget]:
    """Return the cards of the page of scores that are of a class, by its name."""
    page = _page(window, "scores")
    return [] if page is None else [w for w in page.findChildren(QWidget) if type(w).__name__ == kind]


def _card(kind: str, height: int = 96) -> Callable[[MainWindow], Target | None]:
    return lambda window: next((target for card in _cards(window, kind) if (target := _top(card, height))), None)


def _pad(window: MainWindow) -> Any:
    """Return the field that is drawn on, once the network is loaded."""
    page = _page(window, "predict")
    pads = [w for w in page.findChildren(QWidget) if type(w).__name__ == "DrawingPad"] if page is not None else []
    return pads[0] if pads else None


def _draw(window: MainWindow) -> None:
    """Draw a one."""
    pad = _pad(window)
    width, height = pad.width(), pad.height()
    pad.clear()
    pad.draw_to(QPointF(width * 0.5, height * 0.15))
    pad.draw_to(QPointF(width * 0.5, height * 0.85))


RESULTS = Chapter(
    key="results",
    title=noop("Look at the results"),
    tab="runs",
    prepare=_short,
    needs_run=True,
    steps=(
        Step(
            text=noop("How good is it on samples that it has never seen? Scores evaluates the run on the test split."),
            target=_segment("scores"),
            show=_show_runs,
            act=_show_segment("scores"),
            is_done=_has_scores,
            patience_s=RESULT_S,
            needs="scores",
        ),
        Step(
            text=noop(
                "The confusion matrix has a row for each true class and a column for each answer. What is beside the "
                "diagonal is mistaken: a click on a cell shows these samples."
            ),
            target=_card("ConfusionCard"),
            show=_show_segment("scores"),
            needs="scores",
        ),
        Step(
            text=noop("These are the samples that it gets most wrong. Often they tell that a label is wrong."),
            target=_card("SamplesCard"),
            show=_show_segment("scores"),
            needs="scores",
        ),
        Step(
            text=noop("Try it yourself: Predict asks the network about samples of your own."),
            target=_segment("predict"),
            show=_show_runs,
            act=_show_segment("predict"),
            is_done=lambda window: _is_at("predict")(window) and _pad(window) is not None,
            patience_s=RESULT_S,
            needs="predict",
        ),
        Step(
            text=noop("Draw a digit here. The answers beside it follow while you draw; files can be dropped as well."),
            target=lambda window: widget_target(_pad(window)),
            show=_show_segment("predict"),
            act=_draw,
            is_done=lambda window: _pad(window) is not None and not _pad(window).is_blank,
            prefers_below=True,
            needs="predict",
        ),
        Step(
            text=noop("Explain shows what the network looks at: the parts of a picture that decide its answer."),
            target=_segment("explain"),
            show=_show_runs,
            act=_show_segment("explain"),
            is_done=_is_at("explain"),
            needs="explain",
        ),
    ),
)


# ---- taking it away ----


def _show_export(window: MainWindow) -> None:
    """Open the dialog, unless it is open."""
    if not open_dialogs(window):
        QTimer.singleShot(0, window, lambda: trigger("file.export")(window))


def _formats(window: MainWindow) -> Target | None:
    """Return the choice of formats as a target."""
    group = dialog_part(window, "formats")
    if group is None:
        return None
    first, last = group.button(0), group.button(len(group.buttons()) - 1)
    holder = first.parentWidget()
    box = QRect(first.mapTo(holder, QPoint()), first.size()) | QRect(last.mapTo(holder, QPoint()), last.size())
    return Target(holder, box)


def _is_exported(window: MainWindow) -> bool:
    button = dialog_part(window, "copy_button")
    return button is not None and button.isVisible()


def _shows_search(window: MainWindow) -> bool:
    return window.tabs.current == "runs" and _runs(window, "pages").currentWidget() is _runs(window, "experiment")


def _help_menu(window: MainWindow) -> Target | None:
    return action_target(window, "help.about")


def _export_button(window: MainWindow) -> Target | None:
    """Return the button below the run; where that has no room, the menu."""
    return widget_target(window.training.monitor.buttons.export) or action_target(window, "file.export")


EXPORT = Chapter(
    key="export",
    title=noop("Take it away"),
    tab="runs",
    prepare=_short,
    needs_run=True,
    steps=(
        Step(
            text=noop("The trained network leaves by File > Export network, or by this button below the run."),
            target=_export_button,
            show=_show_runs,
            act=trigger("file.export"),
            is_done=lambda window: dialog_part(window, "formats") is not None,
            needs="export_network",
        ),
        Step(
            text=noop(
                "ONNX runs nearly everywhere. PyTorch is one readable file that needs no Netwright, with a training "
                "script beside it if you like."
            ),
            target=_formats,
            show=_show_export,
            needs="export_network",
        ),
        Step(
            text=noop(
                "Before the file is written, its answers are compared with those of PyTorch, and the difference is "
                "told."
            ),
            target=lambda window: widget_target(dialog_part(window, "export_button")),
            show=_show_export,
            act=lambda window: dialog_part(window, "start")(),
            is_done=_is_exported,
            patience_s=RESULT_S,
            needs="export_network",
        ),
        Step(
            text=noop(
                "Better values are found by a sweep: many runs with other learn rates, sizes or layers, side by side."
            ),
            target=lambda window: widget_target(_runs(window, "rail", "sweep")),
            show=_show_runs,
            act=lambda window: window.show_search(),
            is_done=_shows_search,
            needs="experiment",
        ),
        Step(
            text=noop(
                "Choose here what is to vary, how it is searched and for how long. The best values go back into the "
                "project."
            ),
            target=lambda window: _top(_runs(window, "experiment", "definition"), 200),
            show=lambda window: window.show_search(),
            needs="experiment",
        ),
        Step(
            text=noop(
                "That was the tour. It is always here, under Help. F1 opens the page of the manual about what has the "
                "focus."
            ),
            target=_help_menu,
            show=close_dialogs,
        ),
    ),
)
