"""The pages of runs, the history, the doctor and the dialogs in another language: nothing that they show is
untranslated, or cut off."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.dialogs.compare_projects import CompareDialog
from netwright.app.dialogs.devices_dialog import DevicesDialog
from netwright.app.dialogs.option_pages import PAGES
from netwright.app.dialogs.published_weights_dialog import PublishedDialog
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.app.dialogs.transfer_learning import TransferDialog
from netwright.app.dialogs.webhook_form import WebhookForm
from netwright.app.doctor.doctor_dialog import DoctorDialog
from netwright.app.history.rail import Rail
from netwright.app.history.run_comparison import ComparePage, rows_of
from netwright.app.plots.confusion_chart import ConfusionCard
from netwright.app.plots.histogram_plot import HistogramPlot
from netwright.app.plots.quantities import OFFERED
from netwright.app.plots.rate_plot import RatePlot
from netwright.app.runs.change_run import ChangeRun
from netwright.app.runs.monitor import Monitor
from netwright.app.runs.run_follower import Outcome
from netwright.app.runs.run_strip import RunStrip
from netwright.app.runs.segments import TrialEntry, TrialFolder
from netwright.app.window import MainWindow
from netwright.designer import language
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.options.schedule import Phase
from netwright.engine.project.project import Project
from netwright.engine.runs.confusion import Confusion
from netwright.engine.runs.events import (
    Best,
    Checkpointed,
    Ended,
    Event,
    Failed,
    Message,
    Points,
    Refused,
    Requested,
    Resumed,
    SampleSkipped,
    StateChanged,
)
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import read_summary
from tests.app.clipping import clipped, settle
from tests.app.doctor.test_doctor_dialog import finding, result
from tests.app.fake_server import FakeServer
from tests.app.history.sample_runs import log_curves, made
from tests.app.runs.test_facts_panel import STARTED, progress
from tests.builders import classifier
from tests.designer.test_language import texts_of, untranslated

DATA = re.compile(
    r"^(?:Export\.\.\.|Scroll (?:Left|Right)|Cancel)$"  # of Qt and pyqtgraph, which Qt translates or nobody sees
    r"|^https?:|ImageNet|torchvision"  # the address book of published weights
    r"|^(?:auto|cpu|gpu|multi-cpu|multi-gpu|parallel)\b"  # environments have the names of the command line
    r"|^Choose a profile…$"  # of the part for clusters
    r"|^128 samples per step|no GPU was found$|needs a cluster profile"  # sentences of the engine
    r"|Requested: |Refused: |Run \d|adam|sgdm"  # requests by their names, and names of runs
)


@pytest.fixture(autouse=True, params=["pseudo", "zh_CN"])
def _language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[None]:
    language.use(qapp, request.param)
    yield
    language.use(qapp, "en")


def left_in_english(texts: Iterable[str]) -> list[str]:
    """Return the texts that are not translated, apart from data; Chinese ones may be names in Latin letters."""
    if language.current() != "pseudo":
        return []
    return [text for text in untranslated(texts) if not DATA.search(text)]


def shown(widget: QWidget, qtbot: QtBot, size: tuple[int, int] = (1400, 900)) -> list[str]:
    """Show a widget, and return what of it is untranslated, or cut off in Chinese: the other language is too long."""
    qtbot.addWidget(widget)
    widget.resize(*size)
    widget.show()
    settle(widget)
    if language.current() != "pseudo":
        return list(clipped(widget))
    boxes = widget.findChildren(QComboBox)
    texts = [box.itemText(row) for box in boxes for row in range(box.count())]
    return left_in_english([*texts_of(widget), *texts])


def points(split: str, first: int) -> Points:
    return Points(split=split, first_step=first, steps_apart=1, values={"loss": [2.0, 1.5], "accuracy": [0.25, 0.5]})


STARTS = replace(STARTED, environment={"resolved": "CPU", "workers": 2}, hardware="2 CPU", arithmetic="")
"""Without the sentences of the engine."""
EVENTS: Sequence[Event] = (
    STARTS,
    points("training", 1),
    points("validation", 2),
    points("test", 2),
    replace(progress(2), data_share=0.2, communication_share=0.1),
    Best(iteration=2, objective="accuracy", value=0.5),
    Checkpointed(iteration=2, epoch=1, seconds=0.1),
    Requested(iteration=3, what="rate", value=0.002),
    Requested(iteration=3, what="epochs", value=40),
    Requested(iteration=3, what="watch_layers", value=1),
    Requested(iteration=3, what="watch_gradient_norm", value=1),
    Refused(iteration=4, what="validate", reason="X"),
    Resumed(iteration=4, after=4, reason="X"),
    Message(severity="warning", text="X"),
    SampleSkipped(sample="S1", reason="X"),
    StateChanged(state="running"),
    Failed(cause="X"),
)


@pytest.fixture
def monitor(qtbot: QtBot) -> Iterator[Monitor]:
    monitor = Monitor()
    yield monitor
    monitor.shutdown()


def test_a_run_that_trains(monitor: Monitor, qtbot: QtBot) -> None:
    monitor.say_first(language.tr("Train"), offers=True)
    found = shown(monitor, qtbot)
    monitor.show_run(RunFolder(Path("/r/1")))
    for event in EVENTS:
        monitor.take(event)
        found += left_in_english(texts_of(monitor.facts))
    for name in OFFERED:
        monitor.board.choose(name, True)
    monitor.board.set_confusions({"test": Confusion(("A", "B"), ((5, 1), (0, 4)))})
    monitor.show_confusion()
    monitor.board.choice.menu().aboutToShow.emit()
    found += shown(monitor, qtbot)
    monitor.log_button.click()
    messages = monitor.log.messages.toPlainText().splitlines()
    found += left_in_english(messages)
    assert len(messages) > 10
    assert found == []


def test_a_run_that_has_ended(monitor: Monitor, qtbot: QtBot) -> None:
    found = shown(monitor, qtbot)
    for state in ("finished", "stopped", "failed", "lost"):
        monitor.show_run(RunFolder(Path("/r/1")))
        for event in (*EVENTS, Ended(state="stopped", reason="X", result={})):
            monitor.take(event)
        outcome = Outcome(state, "X")
        monitor.show_outcome(outcome)
        found += [*shown(monitor, qtbot), *left_in_english([outcome.sentence()])]
    assert found == []


def test_readings_of_the_plots(monitor: Monitor, qtbot: QtBot) -> None:
    qtbot.addWidget(monitor)
    monitor.show_run(RunFolder(Path("/r/1")))
    for event in EVENTS:
        monitor.take(event)
    card = monitor.loss_card
    card.flush()
    rows = [*card.plot.readings(2), *card.plot.marks_near(4)]
    assert len(rows) > 3
    assert left_in_english(name for name, _ in rows) == []
    assert left_in_english([card.plot._where(2)[0][0], monitor.board.nothing.text()]) == []
    monitor.board.clear()
    assert left_in_english([card.plot.draw()]) == []


def test_the_strip_below_the_canvas(monitor: Monitor, qtbot: QtBot) -> None:
    qtbot.addWidget(monitor)
    strip = RunStrip()
    found = shown(strip, qtbot, (1400, 97))
    monitor.show_run(RunFolder(Path("/r/1")))
    for event in EVENTS[:-1]:
        monitor.take(event)
    strip.show_run(monitor.facts.head, monitor.board)
    strip.flush()
    found += shown(strip, qtbot, (1400, 97))
    strip.plot.go_to(1)
    found += shown(strip, qtbot, (1400, 97))
    assert found == []


def test_the_rail_and_a_comparison(tmp_path: Path, qtbot: QtBot) -> None:
    scores = {"validation": {"loss": 0.2, "accuracy": 0.9}, "epochs": 3, "seconds": 70.0}
    runs = [
        made(tmp_path, "1", 1, result=scores),
        made(tmp_path, "2", 2, result=scores, state="failed"),
        made(tmp_path, "3", 3, max_epochs=60, solver="adam", mini_batch_size=8, result=scores),
    ]
    for run in runs:
        log_curves(run, 2, 5, 10.0)
    summaries = [read_summary(run.path) for run in runs]
    folder = TrialFolder(tmp_path / "E1", "E1", "running", 1.0, 5, 2, 9, "validation.accuracy", (trial(tmp_path),))
    rail, page = Rail(QMenu()), ComparePage()
    rail.show_runs(summaries, [folder], {}, is_read=True, num_others=1)
    rail.order.menu().aboutToShow.emit()
    found = shown(rail, qtbot, (300, 700))
    for row in range(rail.model.rowCount()):
        index = rail.model.index(row, 0)
        spoken = str(rail.model.cell(index, Qt.ItemDataRole.AccessibleTextRole))
        found += left_in_english([spoken])
    page.show_runs(summaries)
    qtbot.waitUntil(lambda: page.traces.is_read)
    found += shown(page, qtbot)
    labels = [row.label for row in rows_of(summaries)]
    found += left_in_english(labels)
    assert len(labels) > 10
    page.shutdown()
    rail.shutdown()
    assert found == []


def trial(folder: Path) -> TrialEntry:
    return TrialEntry(1, folder / "T1", "0.1", "finished", {"validation.accuracy": 0.9}, is_best=True)


def test_the_doctor(window: MainWindow, server: FakeServer, qtbot: QtBot) -> None:
    dialog = DoctorDialog(window)
    cure = {"label": "X1", "settings": ["X=2"]}
    server.answer("doctor", result(finding(title="X", evidence="Y", cure=cure)) | {"passed": ["X"]})
    found = shown(dialog, qtbot, (760, 620))
    next(button for button in dialog.findChildren(QPushButton) if "X1" in button.text())
    dialog.again.click()
    found += left_in_english([dialog.state.text()])
    server.answer("doctor", result() | {"passed": []})
    found += shown(dialog, qtbot, (760, 620))
    dialog.close()
    assert found == []


PHASES = Phase("warmup", 9), Phase("cosine")


@pytest.mark.parametrize("page", PAGES)
def test_the_training_options(page: str, qtbot: QtBot) -> None:
    project = Project(classifier())
    project = project.with_section(
        "training", project.training.replace(schedule_chain=(Phase("warmup", 9), Phase("cosine")))
    )
    dialog = TrainingOptionsDialog(project, DeviceInventory(4, "2 CPU", 2**34))
    dialog.set_running(True)
    dialog.show_page(page)
    found = shown(dialog, qtbot, (1080, 820))
    menu = dialog.presets_button.menu_now()
    found += left_in_english(action.text() for action in menu.actions())
    groups = [dialog.groups.item(row).text() for row in range(dialog.groups.count())]
    assert left_in_english(groups) == []
    dialog.reject()
    assert found == []


def test_the_dialogs(window: MainWindow, server: FakeServer, tmp_path: Path, qtbot: QtBot) -> None:
    before, after = Project(classifier()), Project(classifier(4))
    comparison = CompareDialog(before, after, ("A", "B"))
    devices = DevicesDialog(inventory=DeviceInventory(2, "2 CPU", 2**34, no_devices_because="X"))
    devices._show_known()
    devices._take({"device": {"name": "C0", "model": "M1", "memory_bytes": 2**35, "cores": 3, "utilisation": 4}})
    devices._add_figure({"work": "X", "device": "C0", "unit": "X", "kind": "X", "value": 1.0, "refusal": ""})
    dialogs: dict[QWidget, tuple[int, int]] = {
        ChangeRun(window, 0.1, 10): (420, 240),
        comparison: (1180, 800),
        devices: (760, 720),
        TransferDialog(before, tmp_path, server, None, run=("R1", tmp_path)): (820, 760),
        PublishedDialog(server): (820, 500),
        WebhookForm(server): (640, 260),
        RatePlot(): (600, 200),
        ConfusionCard({"test": Confusion(("A", "B"), ((5, 1), (0, 4))), "validation": Confusion(("A",), ((1,),))}): (
            700,
            400,
        ),
        HistogramPlot({"counts": [1, 2], "low": 0, "high": 4}, language.tr("Loss"), language.tr("Loss")): (300, 200),
    }
    found = {type(dialog).__name__: shown(dialog, qtbot, size) for dialog, size in dialogs.items()}
    assert {name: texts for name, texts in found.items() if texts} == {}
