"""Save the picture of the network: PNG, SVG or PDF."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from app.shell import Shell
from designer.scene.picture_file import FORMATS, save_picture
from designer.scene.scene import Scene
from engine.core.errors import UserError

FILTERS = {".png": "PNG picture (*.png)", ".svg": "SVG drawing (*.svg)", ".pdf": "PDF document (*.pdf)"}


def ask_and_save(shell: Shell, scene: Scene) -> None:
    """Ask for a file, draw the whole network into it, and report where it is."""
    stem = Path(shell.documents.title).stem
    start = str(shell.documents.folder / f"{stem}{FORMATS[0]}")
    filters = ";;".join(FILTERS.values())
    name, chosen = QFileDialog.getSaveFileName(shell.dialog_parent, "Save picture", start, filters)
    if not name:
        return
    path = with_ending(Path(name), chosen)
    try:
        save_picture(scene, path, stem)
    except UserError as error:
        shell.show_error("The picture cannot be saved", str(error))
        return
    shell.hint(f"Saved {path.name}.")


def with_ending(path: Path, chosen: str) -> Path:
    """The file with the ending of the chosen kind, where it was typed without one that we know."""
    if path.suffix.lower() in FORMATS:
        return path
    ending = next((ending for ending, words in FILTERS.items() if words == chosen), FORMATS[0])
    return path.with_name(path.name + ending)
