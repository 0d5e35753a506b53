"""Documents of the window: opening, saving, recovery, and what is asked before work is lost."""

from pathlib import Path

import pytest

from netwright.app import main, messages
from netwright.app.documents import EXAMPLES
from netwright.app.frame import document_commands
from netwright.app.window import MainWindow
from netwright.engine.core.folders import state_folder
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from tests.app.fake_server import FakeServer
from tests.app.main_windows import answer, choose_file, entries, run
from tests.builders import classifier

DIGITS = EXAMPLES / "digits.netwright"


def test_open_edit_save(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "net.netwright"
    save(load(DIGITS).project, path)
    window.open_path(path)
    assert window.windowTitle() == "net.netwright — Netwright"
    window.editor.add_layer("relu")
    assert window.windowTitle() == "net.netwright • — Netwright"
    assert window.menuBar().cornerWidget() is None, "the name is in the title, and once is enough"
    run(window, "file.save")
    assert window.windowTitle() == "net.netwright — Netwright"
    assert load(path).project == window.documents.identified(window.editor.project)
    run(window, "edit.undo")
    assert "•" in window.windowTitle()
    run(window, "edit.redo")
    assert "•" not in window.windowTitle()


def test_saving_an_example_asks_where(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = DIGITS.read_bytes()
    window.open_path(DIGITS)
    choose_file(monkeypatch, tmp_path / "mine")
    run(window, "file.save")
    assert load(tmp_path / "mine.netwright").project.network == window.editor.network
    assert window.documents.title == "mine.netwright"
    assert DIGITS.read_bytes() == before


def test_a_save_that_fails_says_why_and_keeps_the_star(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, errors: list[tuple[str, str]]
) -> None:
    window.editor.add_layer("relu")
    choose_file(monkeypatch, tmp_path / "none" / "x.netwright")
    assert window.files.save() is False
    ((title, text),) = errors
    assert title == "The project cannot be saved"
    assert "cannot be written" in text
    assert window.editor.is_modified


@pytest.mark.parametrize("content", ['{"netwright": [1, 0', '{"netwright": [9, 0]}', "\x00\x01", ""])
def test_a_broken_file_says_why_and_keeps_the_open_document(
    window: MainWindow, tmp_path: Path, errors: list[tuple[str, str]], content: str
) -> None:
    window.open_path(DIGITS)
    before = window.editor.project
    (tmp_path / "bad.netwright").write_text(content)
    window.open_path(tmp_path / "bad.netwright")
    ((title, text),) = errors
    assert title == "The project cannot be opened"
    assert "bad.netwright" in text
    assert "Traceback" not in text
    assert window.editor.project is before
    assert window.documents.title == "digits"


def test_recent_files_and_examples_can_be_opened_from_their_menus(window: MainWindow, tmp_path: Path) -> None:
    window.menus.recent.aboutToShow.emit()
    assert entries(window.menus.recent) == ["No project was opened yet"]
    path = tmp_path / "net.netwright"
    save(load(DIGITS).project, path)
    window.open_path(path)
    window.menus.examples.aboutToShow.emit()
    names = entries(window.menus.examples)
    assert names == sorted(path.stem for path in EXAMPLES.glob("*.netwright"))
    window.menus.examples.actions()[names.index("heating")].trigger()
    assert window.documents.title == "heating"
    window.menus.recent.aboutToShow.emit()
    assert entries(window.menus.recent) == ["net"]
    window.menus.recent.actions()[0].trigger()
    assert window.documents.path == path


def test_a_new_project_is_empty_and_untitled(window: MainWindow) -> None:
    window.open_path(DIGITS)
    run(window, "file.blank")
    assert window.windowTitle() == "untitled — Netwright"
    assert len(window.editor.network) == 0


def test_opening_the_same_project_again_knows_its_data(qtbot, window: MainWindow, server: FakeServer) -> None:
    facts = {
        "inputs": [{"name": "image", "axes": ["C", "H", "W"], "sizes": [1, 8, 8], "kind": "real"}],
        "samples": {"training": 10, "validation": 1, "test": 1},
        "targets": [
            {"name": "y", "axes": ["C"], "sizes": [2], "kind": "real", "task": "classes", "classes": ["a", "b"]},
        ],
        "notes": [],
    }
    window.open_path(DIGITS)
    server.answer("facts", facts)
    assert window.editor.dataset_info is not None
    window.open_path(DIGITS)
    assert window.editor.dataset_info is not None
    assert server.count("facts") == 1


def test_closing_with_unsaved_work_asks(window: MainWindow, asked: list[str]) -> None:
    window.open_path(DIGITS)
    window.editor.add_layer("relu")
    assert window.close() is False
    assert asked == ["digits"]
    assert window.isVisible()


def test_unsaved_work_can_be_given_up(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window.editor.add_layer("relu")
    answer(monkeypatch, "discard")
    assert window.close() is True


def test_unsaved_work_can_be_saved_on_the_way_out(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    window.editor.add_layer("relu")
    answer(monkeypatch, "save")
    choose_file(monkeypatch, "")
    assert window.close() is False, "the file dialog was cancelled"
    choose_file(monkeypatch, tmp_path / "out.netwright")
    assert window.close() is True
    assert len(load(tmp_path / "out.netwright").project.network) == 1


def test_nothing_to_save_nothing_to_ask(window: MainWindow, asked: list[str]) -> None:
    window.open_path(DIGITS)
    assert window.close() is True
    assert asked == []


@pytest.mark.parametrize("way", ["new", "open"])
def test_leaving_a_document_asks_too(
    window: MainWindow, asked: list[str], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    choose_file(monkeypatch, DIGITS)
    window.editor.add_layer("relu")
    getattr(window.files, way)()
    assert len(asked) == 1
    assert len(window.editor.network) == 1


def test_a_blank_project_is_shown_in_design(window: MainWindow) -> None:
    window.open_path(DIGITS)
    window.show_tab("runs")
    run(window, "file.blank")
    assert window.tabs.current == "design"


def test_recovered_work_is_unsaved_and_can_be_recovered_again(window: MainWindow, tmp_path: Path) -> None:
    assert not window.files.recover()
    assert not window.editor.is_modified
    folder = state_folder() / "recovery"
    folder.mkdir(parents=True)
    save(Project(classifier()), folder / "999999999_x.netwright")
    assert window.files.recover()
    assert window.editor.is_modified
    (again,) = folder.glob("*.netwright")
    assert load(again).project.network == classifier(), "the window may crash once more"


def test_what_another_program_wrote_is_not_replaced_unasked(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two windows with one project, too."""
    path, said, answers = tmp_path / "net.netwright", list[str](), [False, True]

    def ask(parent: object, title: str, *words: str) -> bool:
        said.append(title)
        return answers.pop(0)

    monkeypatch.setattr(messages, "ask", ask)
    save(Project(classifier()), path)
    window.open_path(path)
    window.editor.edit_network("x", lambda _: classifier(classes=7))
    run(window, "file.save")
    other = path.read_text().replace('"outputs": 7', '"outputs": 9')
    path.write_text(other)
    window.editor.edit_network("x", lambda _: classifier(classes=8))
    run(window, "file.save")
    assert said == ["net.netwright was changed by another program."]
    assert path.read_text() == other
    assert window.editor.is_modified
    run(window, "file.save")
    assert load(path).project.network == classifier(classes=8)
    window.editor.edit_network("x", lambda _: classifier())
    path.unlink()
    run(window, "file.save")
    assert len(said) == 2
    assert path.exists()


def test_another_window_is_a_program_of_its_own(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, errors: list[tuple[str, str]]
) -> None:
    started = []
    monkeypatch.setattr(document_commands, "start_detached_module", lambda *words: started.append(words))
    run(window, "file.window")
    ((log, *words),) = started
    assert log.parent.is_dir()
    assert words == [main.__name__, "--start-page"]
    assert main.parser().parse_args(words[1:]).start_page

    def fail(*words: object) -> None:
        raise OSError("no memory")

    monkeypatch.setattr(document_commands, "start_detached_module", fail)
    run(window, "file.window")
    assert errors == [("No window can be opened", "no memory")]
