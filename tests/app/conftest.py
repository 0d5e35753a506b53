from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from netwright.app import messages
from netwright.app.window import MainWindow
from tests.app.fake_server import FakeServer
from tests.app.main_windows import MakeWindow, fork_programs, shown_windows

QT_PATIENCE_MS = 60_000
WITH_FRESH_PROGRAMS = (
    *("test_processes.py", "test_run_history.py", "test_running.py", "test_thumbnails.py"),
    "test_tour_launcher.py",  # a fork, which ends at once, leaves the temporary files of Qt behind
)
"""Tests of programs themselves, which start as they do for users."""


@pytest.fixture(autouse=True)
def _patient_thumbnails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no disk that does not answer."""
    monkeypatch.setattr("netwright.app.start_page.thumbnails.PATIENCE_MS", QT_PATIENCE_MS)


@pytest.fixture(autouse=True)
def _forked_programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.name not in WITH_FRESH_PROGRAMS:
        fork_programs(monkeypatch)


@pytest.fixture
def server(qtbot: QtBot) -> FakeServer:
    return FakeServer()


@pytest.fixture
def make_window(qtbot: QtBot) -> Iterator[MakeWindow]:
    with shown_windows(qtbot) as make:
        yield make


@pytest.fixture
def window(make_window: MakeWindow, server: FakeServer) -> MainWindow:
    return make_window(server)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Titles of documents that the window asked about; the answer is always to stay."""
    titles: list[str] = []

    def ask(parent: object, title: str) -> str:
        titles.append(title)
        return "cancel"

    monkeypatch.setattr(messages, "ask_to_save", ask)
    return titles


@pytest.fixture
def errors(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    said: list[tuple[str, str]] = []
    monkeypatch.setattr(messages, "show_error", lambda parent, title, text: said.append((title, text)))
    return said
