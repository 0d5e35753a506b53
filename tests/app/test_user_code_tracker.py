"""Code of the user's in the window: read as text, asked about, measured elsewhere, and never run here."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QInputDialog, QLineEdit
from pytestqt.qtbot import QtBot

from netwright.app.data.data_tab import DataTab
from netwright.app.processes import EngineServer, OnError, OnResult, _ignore_progress
from netwright.app.window import MainWindow
from netwright.designer.panels.problems_panel import link_text
from netwright.engine.layers.custom_layers import Custom, Function
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.user_code import registry, trust
from tests.app.fake_server import FakeServer
from tests.app.main_windows import MakeWindow
from tests.builders import chain, layer

CODE = """
from pathlib import Path
import torch
from torch import nn

Path(__file__).with_name("ran").write_text("yes")

class Twice(nn.Module):
    def __init__(self, factor: float = 2.0):
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, self.factor * x], 1)

class Other(nn.Module):
    def __init__(self, width: int = 3): ...
    def forward(self, x): ...
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    registry.forget()
    yield
    registry.forget()


class MeasuringServer(FakeServer):
    """Lets an engine process measure; for all else it stands in."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = EngineServer()

    def request(
        self,
        do: str,
        given: dict[str, Any],
        on_result: OnResult,
        on_error: OnError,
        on_progress: OnResult = _ignore_progress,
    ) -> int:
        id = super().request(do, given, on_result, on_error, on_progress)
        if do == "measure":
            self.engine.request(do, given, partial(self.answer, do), partial(self.refuse, do))
        return id


@pytest.fixture
def server(qtbot: QtBot) -> Iterator[FakeServer]:
    server = MeasuringServer()
    yield server
    server.engine.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A saved project with a layer of code, beside its file."""
    (tmp_path / "own.py").write_text(CODE)
    network = chain(layer("feature_input", channels=4), Custom(file="own.py", class_name="Twice"), layer("relu"))
    save(Project(network), tmp_path / "mine.netwright")
    return tmp_path / "mine.netwright"


class Answers:
    """Stands in for the dialog: gives an answer, and keeps what was asked."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.asked: list[tuple[list[str], list[Path]]] = []

    def __call__(self, _parent: object, names: Sequence[str], folders: Sequence[Path]) -> bool:
        self.asked.append((list(names), list(folders)))
        return self.answer


def sizes(window: MainWindow) -> list[str]:
    return [facts.output.short() for facts in window.editor.analysis.shapes.values()]


def test_a_strangers_project_is_shown_and_asked_about_once_and_nothing_runs(
    qtbot: QtBot, window: MainWindow, project: Path
) -> None:
    window.user_code.ask_to_trust = answers = Answers(False)
    window.open_path(project)
    qtbot.waitUntil(lambda: bool(answers.asked))
    assert answers.asked == [(["own.py"], [project.parent])]
    assert sizes(window) == ["4"]
    (problem,) = (p for p in window.editor.problems if p.name == "custom_1")
    assert (problem.severity, "not trusted" in problem.message) == ("warning", True)
    window.user_code.measure()
    assert len(answers.asked) == 1
    window.training.start()  # there is no data yet: nothing starts, and nothing is asked
    assert not (project.parent / "ran").exists()


def test_the_problem_of_code_that_may_not_run_leads_to_the_question(
    qtbot: QtBot, window: MainWindow, project: Path
) -> None:
    window.user_code.ask_to_trust = answers = Answers(False)
    window.open_path(project)
    qtbot.waitUntil(lambda: bool(answers.asked))
    (problem,) = (p for p in window.editor.problems if p.name == "custom_1")
    assert link_text(problem) == "Trust the code…"
    answers.answer = True
    with qtbot.waitSignal(window.user_code.measured, timeout=60_000):
        window.design.problems.fix(problem)
    assert len(answers.asked) == 2
    assert "Trust the code…" not in [link_text(p) for p in window.editor.problems]
    assert sizes(window) == ["4", "8", "8"]


def test_data_from_code_that_may_not_run_lead_to_the_question(
    qtbot: QtBot, window: MainWindow, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text("def dataset(): ...")
    save(Project(chain(layer("feature_input", channels=4))), tmp_path / "mine.netwright")
    window.user_code.ask_to_trust = answers = Answers(False)
    window.open_path(tmp_path / "mine.netwright")
    window.show_tab("data")
    data = window.editor.project.data.replace(source="python", path="own.py")
    window.editor.apply("Choose data", window.editor.project.with_section("data", data))
    qtbot.waitUntil(lambda: bool(answers.asked))
    qtbot.waitUntil(lambda: any(request.do == "facts" for request in server.asked))
    server.refuse("facts", trust.refusal(["own.py"], tmp_path))
    page = window.tabs.page("data")
    assert isinstance(page, DataTab)
    assert (page.way_out.text(), "--trust" in page.message.text()) == ("Trust the code…", False)
    (problem,) = (p for p in window.editor.problems if p.field == "data" and p.severity == "error")
    assert link_text(problem) == "Trust the code…"
    answers.answer = True
    asked = len(server.asked)
    page.way_out.click()
    assert len(answers.asked) == 2
    assert [request.do for request in server.asked[asked:]] == ["facts"], "the data are read again"


def test_once_it_is_trusted_the_sizes_are_measured_and_a_changed_file_is_measured_again(
    qtbot: QtBot, window: MainWindow, project: Path
) -> None:
    window.user_code.ask_to_trust = Answers(True)
    with qtbot.waitSignal(window.user_code.measured, timeout=60_000):
        window.open_path(project)
        qtbot.waitUntil(lambda: any("are being measured: own.py" in p.message for p in window.editor.problems))
    assert sizes(window) == ["4", "8", "8"]
    assert trust.trusted_folders() == (project.parent,)
    assert (project.parent / "ran").exists()
    file = project.parent / "own.py"
    file.write_text(CODE.replace("factor * x]", "factor * x, x]"))
    with qtbot.waitSignal(window.user_code.measured, timeout=60_000):
        window.user_code.refresh()
    assert sizes(window) == ["4", "12", "12"]


def test_hooks_are_code_that_is_asked_about_when_they_are_chosen(
    qtbot: QtBot, window: MainWindow, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "hooks.py").write_text("def on_step(run): ...")
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))
    save(Project(network), tmp_path / "mine.netwright")
    window.user_code.ask_to_trust = answers = Answers(False)
    window.open_path(tmp_path / "mine.netwright")
    options = window.editor.project.training.replace(hooks_file="hooks.py")
    window.editor.apply("Change training options", window.editor.project.with_section("training", options))
    qtbot.waitUntil(lambda: bool(answers.asked))
    assert answers.asked == [(["hooks.py"], [tmp_path])]
    data = window.editor.project.data.replace(source="digits")
    window.editor.apply("Choose data", window.editor.project.with_section("data", data))
    window.training.start()
    assert not [request for request in server.asked if request.do == "train"]
    window.editor.apply("", window.editor.project.with_section("training", options.replace(hooks_file="gone.py")))
    assert [p.field for p in window.editor.check_result.errors] == ["training.hooks_file"]


def test_training_waits_for_trust(qtbot: QtBot, window: MainWindow, server: FakeServer, project: Path) -> None:
    window.user_code.ask_to_trust = answers = Answers(False)
    window.open_path(project)
    qtbot.waitUntil(lambda: bool(answers.asked))
    data = window.editor.project.data.replace(source="digits")
    window.editor.apply("Choose data", window.editor.project.with_section("data", data))
    window.training.start()
    assert len(answers.asked) == 2
    assert not window.training.is_running


def test_adding_a_custom_layer_asks_for_the_file_and_the_class(
    window: MainWindow, project: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.user_code.ask_to_trust = Answers(False)
    window.open_path(project)
    offered: list[list[str]] = []

    def choose(_parent: object, _title: str, _label: str, items: list[str], *_: object) -> tuple[str, bool]:
        offered.append(list(items))
        return "Other", True

    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(project.parent / "own.py"), ""))
    monkeypatch.setattr(QInputDialog, "getItem", choose)
    id = window.editor.add_layer("custom", (0.0, 0.0))
    assert id is not None
    qtbot.waitUntil(lambda: bool(offered))
    type = window.editor.network.layers[id].type
    assert isinstance(type, Custom)
    assert (offered, type.file, type.class_name) == ([["Twice", "Other"]], "own.py", "Other")
    form = window.design.properties.form
    assert form is not None
    assert {"file", "class_name", "width"} <= set(form.rows)
    assert form.rows["width"].label.text() == "width"

    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    count = len(window.editor.network)
    window.editor.add_layer("custom", (0.0, 200.0))
    qtbot.waitUntil(lambda: len(window.editor.network) == count)


def test_a_layer_that_its_file_has_left_behind_has_an_edit_that_brings_it_up_to_date(
    window: MainWindow, project: Path, qtbot: QtBot
) -> None:
    window.user_code.ask_to_trust = Answers(False)
    window.open_path(project)
    id = window.editor.network.layer("custom_1").id
    window.user_code.choose_name(id, "own.py")
    window.editor.set_fields({id}, {"factor": 3.0})
    (project.parent / "own.py").write_text(CODE.replace("factor: float = 2.0", "gain: float = 2.0"))
    window.user_code.refresh()
    (problem,) = (p for p in window.editor.problems if p.name == "custom_1")
    assert "no longer takes factor" in problem.message
    assert problem.fix is not None
    window.editor.edit(problem.fix.label, problem.fix.edit)
    assert "gain" in window.editor.network.layers[id].type.fields
    assert [p.severity for p in window.editor.problems if p.name == "custom_1"] == ["warning"]


def test_a_project_without_a_file_cannot_be_trusted(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("netwright.app.user_code_tracker.show_error", lambda _parent, _title, text: said.append(text))
    window.user_code.ask_to_trust = answers = Answers(True)
    window.editor.add_layer("function", (0.0, 0.0))
    assert not window.user_code.ask()
    assert said == ["Save the project first: trust belongs to the folder that it lies in."]
    assert not answers.asked


def test_a_path_can_be_typed_into_a_function_layer(make_window: MakeWindow, tmp_path: Path, qtbot: QtBot) -> None:
    """Nothing is asked or read on the way to it, and the field stays the one that is typed in."""
    (tmp_path / "own.py").write_text("def twice(x, factor: float = 2.0):\n    return factor * x\n")
    save(Project(chain(layer("feature_input", channels=4), layer("function"))), tmp_path / "f.netwright")
    window = make_window(FakeServer())
    assert window.open_path(tmp_path / "f.netwright")
    (id,) = (id for id, one in window.editor.network.layers.items() if one.name.startswith("function"))
    window.editor.set_selection({id})
    form = window.design.properties.form
    assert form is not None
    line = form.rows["file"].widget.focusProxy()
    assert isinstance(line, QLineEdit)
    steps = window.editor.stack.count()
    line.setFocus()
    QTest.keyClicks(line, "own.py")
    window.editor.recheck()  # as after a measurement, or when the window comes back
    assert (line.text(), line.isVisible(), window.editor.stack.count()) == ("own.py", True, steps)
    QTest.keyClick(line, Qt.Key.Key_Return)
    layer_type = window.editor.network.layers[id].type
    assert isinstance(layer_type, Function)
    assert layer_type.file == "own.py"
    qtbot.waitUntil(lambda: getattr(window.editor.network.layers[id].type, "function_name", "") == "twice")
