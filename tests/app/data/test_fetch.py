"""A project whose data is at a stranger's address: the Data tab asks before anything is contacted."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from netwright.app.data.data_tab import DataTab
from netwright.app.window import MainWindow
from netwright.engine.operations.started_runs import TrainRequest
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import MOST_FILES, allowed, written
from netwright.engine.project.file import dumps, save
from netwright.engine.project.project import Project
from netwright.engine.project.sources.urls import host_of
from netwright.engine.runs.queue import Queue
from tests.app.data.test_data_tab import choose, tab_of
from tests.app.data.test_dataset_tracker import facts
from tests.app.fake_server import FakeServer
from tests.app.main_windows import Modal, shown_windows
from tests.builders import chain, layer
from tests.engine.data.sources.shard_files import Server, serving

HOST = "data.example.org"
LONG = f"{'a' * 63}.{'b-' * 31}b.{'c' * 63}.example.org"
NETWORK = chain(layer("feature_input", channels=1), layer("fully_connected", outputs=2), layer("softmax"))
ROWS = "x,y\n" + "".join(f"{number},{'ab'[number % 2]}\n" for number in range(40))


def refuse(server: FakeServer, *hosts: str, files: int = 1) -> None:
    data = {"hosts": dict.fromkeys(hosts, files)}
    server.refuse("facts", "not allowed", code="host_not_allowed", data=data)


@pytest.fixture
def tab(window: MainWindow) -> DataTab:
    return tab_of(window)


def is_asked(tab: DataTab) -> bool:
    return tab.pages.currentWidget() is tab.fetch_page


def title(tab: DataTab) -> str:
    return tab.fetch_page.title.text().replace("\u200b", "")


def test_the_host_is_named_and_read_from_once_that_is_wanted(
    qtbot: Any, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    window.editor.apply("Network", replace(window.editor.project, network=NETWORK))
    choose(window, source="table", path=f"https://{HOST}/train.csv")
    assert is_asked(tab)
    assert server.count("facts") == 0, "that needs no engine"
    assert title(tab) == f"The data is at {HOST}"
    assert not window.editor.check_result.errors, "it is no problem of the project"
    window.training.start()
    assert server.count("train") == 0
    assert f"The data is at {HOST}. Fetch it first." in window.status.hints.text()
    qtbot.mouseClick(tab.fetch_page.button, Qt.MouseButton.LeftButton)
    assert next(asked for asked in server.asked if asked.do == "facts").given["hosts"] == {HOST: 1}
    server.answer("facts", facts(7))
    assert not is_asked(tab)
    assert server.asked[-1].do == "preview"
    assert server.asked[-1].given["hosts"] == {HOST: 1}


def test_other_data_takes_the_question_away(window: MainWindow, server: FakeServer, tab: DataTab) -> None:
    choose(window, source="table", path=f"https://{HOST}/train.csv")
    assert is_asked(tab)
    choose(window, source="digits")
    assert not is_asked(tab)
    choose(window, source="table", path=f"https://{HOST}/other.csv", validation_path="https://b.example/v.csv")
    assert title(tab) == f"The data is at {HOST} and b.example"


def test_the_number_of_files_that_the_engine_counts_is_asked_about(
    qtbot: Any, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    """Of a folder, which is listed once its host is allowed."""
    choose(window, source="images", path="s3://bucket/pets")
    assert "files" not in tab.fetch_page.text.text()
    qtbot.mouseClick(tab.fetch_page.button, Qt.MouseButton.LeftButton)
    refuse(server, "s3://bucket", files=3000)
    assert is_asked(tab)
    assert tab.fetch_page.text.text().startswith("3,000 files are asked for there.")
    qtbot.mouseClick(tab.fetch_page.button, Qt.MouseButton.LeftButton)
    assert server.asked[-1].given["hosts"] == {"s3://bucket": 3000}


@pytest.mark.parametrize("host", [LONG, "s3://" + "a" * 63, "[2001:db8::1]:8080"])
@pytest.mark.parametrize("width", [1200, 900])
def test_no_part_of_a_host_is_cut(
    host: str, width: int, qtbot: Any, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    window.resize(width, 700)
    choose(window, source="table", path=f"{host if '://' in host else f'https://{host}'}/train.csv")
    assert title(tab) == f"The data is at {host}"
    label = tab.fetch_page.title
    qtbot.waitUntil(label.isVisible)
    area = label.fontMetrics().boundingRect(
        label.contentsRect(), Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignHCenter, label.text()
    )
    assert label.contentsRect().contains(area)

    def is_inside() -> bool:
        inside = label.mapTo(tab.fetch_page, label.rect().topLeft())
        return tab.fetch_page.rect().contains(label.rect().translated(inside))

    qtbot.waitUntil(is_inside)


def test_the_answer_is_kept_for_the_file_of_the_project(
    qtbot: Any, window: MainWindow, server: FakeServer, tab: DataTab, tmp_path: Path
) -> None:
    """One without a file takes it along into its first."""
    choose(window, source="table", path=f"https://{HOST}/train.csv")
    qtbot.mouseClick(tab.fetch_page.button, Qt.MouseButton.LeftButton)
    window.documents.save(tmp_path / "mine.netwright")
    assert allowed(tmp_path / "mine.netwright") == {HOST: MOST_FILES}
    window.documents.open(tmp_path / "mine.netwright")
    assert window.documents.hosts == {HOST: MOST_FILES}
    window.documents.new()
    assert window.documents.hosts == {}


def test_a_hostile_host_is_named_in_plain_letters(window: MainWindow, tab: DataTab) -> None:
    choose(window, source="table", path="http://\u0430pple.com/train.csv")  # a Cyrillic letter
    assert title(tab) == "The data is at xn--pple-43d.com"
    choose(window, source="table", path="http://good.org\\@<b>evil</b>.org/train.csv")
    assert tab.pages.currentWidget() is tab.message_page


@pytest.mark.parametrize("path", ["http://[::1", "http://a b/c.csv", "ftp://h/a.csv", "s3://", "http://me:key@h/a.csv"])
def test_what_is_no_url_of_ours_is_said_and_not_asked_for(
    path: str, window: MainWindow, server: FakeServer, tab: DataTab
) -> None:
    choose(window, source="table", path=path)
    assert tab.pages.currentWidget() is tab.message_page
    assert tab.message.property("role") == "error"
    assert "key" not in tab.message.text()
    assert server.count("facts") == 0


# ---- with the engine and a server ----


@pytest.fixture
def their_server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "train.csv").write_text(ROWS)
    with serving(tmp_path / "files", is_allowed=False) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, their_server: Server) -> Path:
    path = tmp_path / "theirs.netwright"
    made = Project(NETWORK, data=DataOptions(source="table", path=f"{their_server.url}/train.csv"))
    save(made.with_section("training", made.training.replace(max_epochs=1)), path)
    return path


def test_a_stranger_s_project_is_opened_trained_and_judged(qtbot: Any, project: Path, their_server: Server) -> None:
    host = host_of(their_server.url)
    with shown_windows(qtbot) as make:
        window = make()
        window.files.open_path(project)
        tab = tab_of(window)
        qtbot.waitUntil(lambda: is_asked(tab))
        for key in ("design", "runs", "data"):
            window.show_tab(key)
        assert their_server.requests == []
        assert title(tab) == f"The data is at {host}"
        qtbot.mouseClick(tab.fetch_page.button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: tab.pages.currentWidget() is tab.preview)
        assert allowed(project) == {host: MOST_FILES}
        window.training.start()
        qtbot.waitUntil(lambda: window.training.run_folder is not None and not window.training.is_running)
        folder = window.training.run_folder
        assert folder is not None
        assert folder.state() == "finished"
        assert allowed(folder.path) == {host: MOST_FILES}

        brought = folder.path.rename(project.with_name("brought"))
        before, answers = len(their_server.requests), list[Any]()

        def press(text: str) -> Any:
            def work(box: QWidget) -> None:
                assert isinstance(box, QMessageBox)
                assert host in box.text().replace("\u200b", "")
                next(button for button in box.findChildren(QPushButton) if button.text() == text).click()

            return work

        def evaluate() -> None:
            window.server.request("evaluate", {"model": str(brought)}, answers.append, answers.append)
            qtbot.waitUntil(lambda: bool(answers))

        with Modal(press("Cancel")):
            evaluate()
        assert "nothing is fetched from there" in answers.pop()
        assert len(their_server.requests) == before
        with Modal(press("Fetch")):
            evaluate()
        assert answers.pop()["samples"] > 0
        assert allowed(brought) == {host: MOST_FILES}


def test_what_is_queued_keeps_what_was_allowed(window: MainWindow, tmp_path: Path) -> None:
    """A project without a file, too, which its process could not look up."""
    window.documents.allow_hosts({HOST: MOST_FILES})
    request = TrainRequest(project=dumps(window.editor.project))
    window.training.queue_follower._add("mine", request, False, written(window.documents.hosts), begins=False)
    assert [entry.hosts for entry in Queue().entries()] == [HOST]
