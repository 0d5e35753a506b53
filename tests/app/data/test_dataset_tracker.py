"""What is known about the data follows the choice of data, and late answers of an older choice change nothing."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from netwright.app.data.dataset_tracker import progress_text
from netwright.app.documents import EXAMPLES
from netwright.app.window import MainWindow
from netwright.designer.panels.problems_panel import link_text
from tests.app.fake_server import FakeServer


def facts(samples: int) -> dict[str, Any]:
    return {
        "inputs": [{"name": "x", "axes": ["C"], "sizes": [4], "kind": "real"}],
        "samples": {"training": samples, "validation": 0, "test": 0},
        "targets": [{"name": "y", "axes": ["C"], "sizes": [1], "kind": "real", "task": "numbers", "classes": []}],
        "notes": [],
    }


def choose(window: MainWindow, **values: object) -> None:
    project = window.editor.project
    window.editor.apply("Choose data", replace(project, data=project.data.replace(**values)))
    window.dataset.refresh()


def is_current(window: MainWindow) -> bool:
    return window.dataset.is_current


def known(window: MainWindow) -> int | None:
    return window.editor.dataset_info.samples["training"] if window.editor.dataset_info else None


def test_an_answer_reaches_the_editor(window: MainWindow, server: FakeServer) -> None:
    choose(window, source="digits")
    assert not is_current(window)
    server.answer("facts", facts(7))
    assert is_current(window)
    assert known(window) == 7


def test_a_newer_choice_cancels_the_older_one(window: MainWindow, server: FakeServer) -> None:
    choose(window, source="digits")
    choose(window, split_seed=3)
    assert server.cancelled == ["facts, if it waits"], "what is read is of use to the newer one"
    choose(window, source="table", path="a.csv")
    assert server.cancelled[1:] == ["facts"]
    assert known(window) is None
    assert not is_current(window)
    server.answer("facts", facts(8))
    assert known(window) == 8


def test_reading_can_be_cancelled_and_is_not_begun_again_by_itself(
    qtbot, window: MainWindow, server: FakeServer
) -> None:
    choose(window, source="table", path="a.csv")
    with qtbot.waitSignal(window.dataset.progressed) as told:
        server.tell("facts", 45, 180, "rows")
    assert told.args == ["25 % (45 of 180 rows)"]
    window.dataset.cancel()
    assert server.cancelled == ["facts"]
    assert window.dataset.error == "Reading the data was cancelled."
    app = QGuiApplication.instance()
    assert isinstance(app, QGuiApplication)
    app.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert server.count("facts") == 1
    window.dataset.refresh(again=True)
    server.answer("facts", facts(7))
    assert known(window) == 7
    window.dataset.cancel()
    assert known(window) == 7, "there was nothing to cancel"


def test_progress_in_bytes_and_of_unknown_length() -> None:
    assert progress_text({"done": 2**20, "total": 2**30, "unit": "bytes"}) == "0 % (1.0 MiB of 1.0 GiB)"
    assert progress_text({"done": 1234, "total": 0, "unit": "files"}) == "1,234 files"


def test_facts_of_another_choice_are_not_current_even_before_the_engine_is_asked(
    qtbot, window: MainWindow, server: FakeServer
) -> None:
    choose(window, source="digits")
    server.answer("facts", facts(7))
    project = window.editor.project
    window.editor.apply("x", replace(project, data=project.data.replace(split_seed=9)))
    assert not is_current(window)
    window.editor.undo()
    assert is_current(window)
    window.editor.redo()
    qtbot.waitUntil(lambda: server.count("facts") == 2)


def test_an_error_is_told_and_goes_with_the_next_choice(window: MainWindow, server: FakeServer) -> None:
    choose(window, source="table", path="none.csv")
    server.refuse("facts", "There is no file none.csv.")
    assert window.status.hints.text() == "There is no file none.csv."
    assert known(window) is None
    choose(window, source="none")
    assert window.dataset.error == ""
    assert server.count("facts") == 1, "no data, nothing to ask"


def test_the_same_choice_is_asked_once_unless_read_again(window: MainWindow, server: FakeServer) -> None:
    choose(window, source="digits")
    window.dataset.refresh()
    server.answer("facts", facts(1))
    window.dataset.refresh()
    assert server.count("facts") == 1
    window.dataset.refresh(again=True)
    assert server.count("facts") == 2


def test_a_combination_that_cannot_be_meant_is_not_asked(window: MainWindow, server: FakeServer) -> None:
    choose(window, source="digits", validation_share=0.9, test_share=0.9)
    assert server.count("facts") == 0


def test_refused_data_is_a_problem_with_a_way_out_until_it_can_be_read(
    qtbot, window: MainWindow, server: FakeServer
) -> None:
    choose(window, source="table", path="gone.csv")
    server.refuse("facts", "There is no file gone.csv. Choose another one.")
    (problem,) = [problem for problem in window.editor.problems if problem.field == "data"]
    assert problem.severity == "error"
    assert problem.message == "There is no file gone.csv. Choose another one."
    assert link_text(problem) == "Choose data…"
    window.design.problems.fix(problem)
    assert window.tabs.current == "data"
    asked = server.count("facts")
    app = QGuiApplication.instance()
    assert isinstance(app, QGuiApplication)
    app.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert server.count("facts") == asked + 1, "the file may be there now"
    server.answer("facts", facts(7))
    assert not [problem for problem in window.editor.problems if problem.field == "data"]


def test_whether_refused_data_can_be_trained_with_is_the_engines_to_say(window: MainWindow, server: FakeServer) -> None:
    window.open_path(EXAMPLES / "digits.netwright")
    server.refuse("facts", "The digits are gone.")
    assert window.editor.check_result.errors
    window.training.start()
    assert server.count("train") == 1
