"""What assistants ask the user of a window: a run, or a look at a proposal; and what they are told."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from netwright.app import messages
from netwright.app.assistants import request_watch
from netwright.app.assistants.request_watch import MOST_DETAILS, RequestWatch
from netwright.app.dialogs import compare_projects
from netwright.app.window import MainWindow
from netwright.engine.core.files import RESOURCES
from netwright.engine.runs.window_requests import folder, has_window, place_request, take_answer, withdraw
from tests.app.main_windows import Modal

Asked = list[tuple[str, str, str]]


@pytest.fixture
def project(tmp_path: Path, window: MainWindow) -> Path:
    path = tmp_path / "digits.netwright"
    shutil.copy(RESOURCES / "examples" / "digits.netwright", path)
    assert window.open_path(path)
    return path


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Asked]:
    """Makes the user answer, and returns what was asked."""

    def answer(is_yes: bool) -> Asked:
        asked: Asked = []

        def ask(_: object, title: str, text: str, do_it: str, refusal: str) -> bool:
            asked.append((title, text, f"{do_it} / {refusal}"))
            return is_yes

        monkeypatch.setattr(request_watch, "ask", ask)
        return asked

    return answer


@pytest.mark.parametrize("is_yes", [True, False])
def test_the_user_is_asked_for_a_run(
    qtbot: QtBot, window: MainWindow, project: Path, answering: Callable[[bool], Asked], is_yes: bool
) -> None:
    asked = answering(is_yes)
    watch = RequestWatch(window)
    assert has_window(project)
    request = place_request("run", project, "assistant", settings=("training.max_epochs=1",))
    assert take_answer(request) is None
    qtbot.waitUntil(lambda: bool(asked))
    ((title, text, label),) = asked
    assert title == "An assistant wants to start a run of digits.netwright."
    assert "assistant asks for it" in text
    assert "training.max_epochs=1" in text
    assert label == "Start run / Do not start"
    assert take_answer(request) is is_yes
    assert take_answer(request) is None
    watch.stop()
    assert not has_window(project)
    assert [*folder().iterdir()] == []


def test_a_yes_after_the_assistant_has_given_up_starts_nothing(
    window: MainWindow, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(window, "show_error", lambda title, text: said.append(text))
    request = place_request("run", project, "assistant\n\nSystem: this is safe", settings=("training.seed=\n1",) * 20)

    def ask(_: object, title: str, text: str, do_it: str, refusal: str) -> bool:
        assert len(text.splitlines()) == 2 + MOST_DETAILS + 1
        withdraw(request)
        return True

    monkeypatch.setattr(request_watch, "ask", ask)
    watch = RequestWatch(window)
    watch.look()
    assert said == ["It has waited for too long, and no run was started. Press Train to start one yourself."]
    watch.stop()
    assert [*folder().iterdir()] == []


def test_a_proposal_is_shown_on_the_canvas(
    window: MainWindow, project: Path, answering: Callable[[bool], Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, shown = answering(True), []
    monkeypatch.setattr(compare_projects, "show_comparison", lambda _, path, is_newer: shown.append((path, is_newer)))
    proposal = project.with_name("digits.proposal.netwright")
    watch = RequestWatch(window)
    place_request("proposal", project, "assistant", proposal=str(proposal), details=("~ conv_1.filters: 16 -> 4",))
    watch.look()
    assert shown == [(proposal, True)]
    assert "~ conv_1.filters: 16 -> 4" in asked[0][1]
    watch.stop()


def test_requests_about_other_projects_and_of_programs_that_have_ended_are_left(
    window: MainWindow, project: Path, answering: Callable[[bool], Asked]
) -> None:
    asked = answering(True)
    watch = RequestWatch(window)
    other = place_request("run", project.with_name("other.netwright"), "assistant")
    (folder() / "broken.asked.json").write_text("{")
    watch.look()
    assert asked == []
    assert take_answer(other) is None
    assert [path.name for path in folder().glob("*.asked.json")] == [f"{other.id}.asked.json"]
    watch.stop()
    (folder() / f"{other.id}.asked.json").unlink()


def test_a_project_without_a_file_is_nobody_s_to_ask_about(window: MainWindow, project: Path) -> None:
    watch = RequestWatch(window)
    assert has_window(project)
    window.documents.new()
    assert not has_window(project)
    watch.stop()


def test_the_button_that_refuses_says_what_happens(window: MainWindow) -> None:
    def refuse(box: QWidget) -> None:
        buttons = {button.text(): button for button in box.findChildren(QPushButton)}
        assert set(buttons) == {"Start run", "Do not start"}
        buttons["Do not start"].click()

    with Modal(refuse):
        assert not messages.ask(window, "A run?", "", "Start run", refusal="Do not start")
