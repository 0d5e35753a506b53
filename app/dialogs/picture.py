"""Save the picture of the network: PNG, SVG or PDF."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from designer.scene.picture_file import FORMATS, save_picture
from engine.core.errors import UserError

if TYPE_CHECKING:
    from app.window import MainWindow

FILTERS = {".png": "PNG picture (*.png)", ".svg": "SVG drawing (*.svg)", ".pdf": "PDF document (*.pdf)"}


def ask_and_save(window: "MainWindow") -> None:
    """Ask for a file, draw the whole network into it, and say where it is."""
    stem = Path(window.documents.title).stem
    start = str(window.documents.folder / f"{stem}{FORMATS[0]}")
    name, chosen = QFileDialog.getSaveFileName(window, "Save picture", start, ";;".join(FILTERS.values()))
    if not name:
        return
    to = with_ending(Path(name), chosen)
    try:
        save_picture(window.canvas.network_scene, to, stem)
    except UserError as error:
        window.show_error("The picture cannot be saved", str(error))
        return
    window.hint(f"Saved {to.name}.")


def with_ending(path: Path, chosen: str) -> Path:
    """The file with the ending of the chosen kind, where it was typed without one that we know."""
    if path.suffix.lower() in FORMATS:
        return path
    ending = next((ending for ending, words in FILTERS.items() if words == chosen), FORMATS[0])
    return path.with_name(path.name + ending)
