from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.window import MainWindow
from tests.app.fake_server import FakeServer
from tests.app.windows import MakeWindow, shown_windows

QT_PATIENCE_MS = 60_000


@pytest.fixture(autouse=True)
def _patient_thumbnails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no disk that does not answer."""
    monkeypatch.setattr("app.start_page.thumbnails.PATIENCE_MS", QT_PATIENCE_MS)


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
