import gc
from pathlib import Path

import pytest
from PySide6.QtPrintSupport import QPrintDialog, QPrintPreviewDialog
from PySide6.QtWidgets import QFileDialog, QWidget

from netwright.app.frame.window_commands import PICTURES, with_suffix_of
from netwright.app.window import MainWindow
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from tests.app.main_windows import Modal, run
from tests.builders import classifier


@pytest.mark.parametrize(
    ("typed", "chosen", "expected"),
    [
        ("net.svg", PICTURES[".png"], "net.svg"),
        ("net", PICTURES[".pdf"], "net.pdf"),
        ("net.v2", PICTURES[".svg"], "net.v2.svg"),
        ("net", "", "net.png"),
    ],
)
def test_the_ending_is_what_was_typed_or_chosen(typed: str, chosen: str, expected: str) -> None:
    assert with_suffix_of(Path(typed), chosen) == Path(expected)


def test_the_picture_is_saved_where_the_person_says(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = window.menus.actions_by_id["file.picture"]
    assert not action.isEnabled(), "there is nothing to draw yet"
    network = classifier()
    window.editor.open(Project(network, arrange(network)))
    to = tmp_path / "net"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(to), PICTURES[".svg"]))
    action.trigger()
    assert (tmp_path / "net.svg").read_text().count("fc_1") == 1
    assert window.status.hints.text() == "Saved net.svg."


def test_a_place_that_cannot_be_written_is_said_in_words(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = classifier()
    window.editor.open(Project(network, arrange(network)))
    said: list[str] = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "none" / "net.pdf"), ""))
    monkeypatch.setattr(window, "show_error", lambda title, text: said.append(text))
    window.menus.actions_by_id["file.picture"].trigger()
    assert "cannot be written" in said[0]


def test_the_network_is_printed_to_a_file_and_previewed(window: MainWindow, tmp_path: Path) -> None:
    assert not window.menus.actions_by_id["file.print"].isEnabled(), "there is nothing to print yet"
    network = classifier()
    window.editor.open(Project(network, arrange(network)))

    def look(dialog: QWidget) -> None:
        assert isinstance(dialog, QPrintPreviewDialog)
        gc.collect()  # the printer must outlive it
        assert dialog.grab().height() > 100

    def print_to_file(dialog: QWidget) -> None:
        assert isinstance(dialog, QPrintDialog)
        printer = dialog.printer()
        printer.setOutputFormat(printer.OutputFormat.PdfFormat)
        printer.setOutputFileName(str(tmp_path / "net.pdf"))
        dialog.done(1)

    with Modal(look):
        run(window, "file.preview")
    with Modal(print_to_file):
        run(window, "file.print")
    assert (tmp_path / "net.pdf").read_bytes().startswith(b"%PDF")
    assert window.status.hints.text() == "Sent to the printer."
