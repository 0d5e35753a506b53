"""Make the pictures of the documentation, `docs/pictures/`, from the real window, in both themes.

.venv/bin/python scripts/make_pictures.py [NAME...]

Without names, all. A picture carries a digest of its recipe here, so that a test can name those whose recipe has
changed. It needs no display: QT_QPA_PLATFORM=offscreen, as `make pictures` sets it.
"""

import hashlib
import inspect
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from PySide6.QtCore import QBuffer, QElapsedTimer, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QLabel

from netwright.app.window import MainWindow

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SIZE = (1280, 800)
TRAINED = ("digits", "power", "shapes")
NETWORKS = ("angles", "codes", "heating", "orders", "recipes", "reports", "sounds", "stations", "waves")
"""Examples of which a page shows a run, and of which it shows the network."""
REST_MS, PATIENCE_MS = 1000, 240_000
"""A window that looks the same for so long is at rest; how long that may take."""
HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


def start(window: MainWindow, work: Path) -> None:
    """Show examples and templates."""
    window.show_start()


def data(window: MainWindow, work: Path) -> None:
    """Show the samples of the digits, and what was found in them."""
    window.open_path(work / "digits.netwright")
    window.show_tab("data")


def design(window: MainWindow, work: Path) -> None:
    """Show the network of the digits with a convolution selected."""
    window.open_path(work / "digits.netwright")
    window.show_tab("design")
    layers = window.editor.network.layers
    window.editor.set_selection({next(key for key, layer in layers.items() if layer.name == "conv_2")})


def runs(window: MainWindow, work: Path) -> None:
    """Show the curves of a run of the digits."""
    _show_run(window, work, "digits", "")


def scores(window: MainWindow, work: Path) -> None:
    """Show the scores of a run of the digits."""
    _show_run(window, work, "digits", "scores")


def answers(window: MainWindow, work: Path) -> None:
    """Show the answers of a run of the shapes while it learned."""
    _show_run(window, work, "shapes", "answers")


def segmentation(window: MainWindow, work: Path) -> None:
    """Show pictures, true and predicted masks of the shapes."""
    _show_run(window, work, "shapes", "scores")


def forecast(window: MainWindow, work: Path) -> None:
    """Show forecasts over what followed, of the power demand."""
    _show_run(window, work, "power", "scores")


def _show_run(window: MainWindow, work: Path, name: str, segment: str) -> None:
    window.open_path(work / f"{name}.netwright")
    window.show_tab("runs")
    page = window.tabs.page("runs")
    page.show_run(work / "runs" / name, segment)  # type: ignore[attr-defined]


def show_network(window: MainWindow, work: Path, name: str) -> None:
    """Show the network of an example."""
    window.open_path(work / f"{name}.netwright")
    window.show_tab("design")


PICTURES: Mapping[str, Callable[[MainWindow, Path], None]] = {
    recipe.__name__: recipe for recipe in (start, data, design, runs, scores, answers, segmentation, forecast)
} | {name: partial(show_network, name=name) for name in NETWORKS}


def recipe_digest(name: str) -> str:
    """Return the digest of what makes a picture: its recipe, what recipes share, and the size."""
    recipe = show_network if name in NETWORKS else PICTURES[name]
    text = inspect.getsource(recipe) + inspect.getsource(_show_run) + repr(SIZE)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def path_of(name: str, theme: str) -> Path:
    """Return the file of a picture."""
    return FOLDER / f"{name}-{theme}.png"


def pause(duration_ms: int) -> None:
    """Let the window work."""
    loop = QEventLoop()
    QTimer.singleShot(duration_ms, loop.quit)
    loop.exec()


def is_busy(window: MainWindow) -> bool:
    """Return whether the window says that something is under way, as by 'Evaluating…', or draws its cards."""
    says = (label.text() for label in window.findChildren(QLabel) if label.isVisible())
    is_start = window.tabs.current == "start"
    return any(text.strip().endswith("…") for text in says) or (is_start and not window.start_page.is_drawn)


def picture_of(window: MainWindow) -> bytes:
    """Return a window that has come to rest, as PNG."""
    clock = QElapsedTimer()
    clock.start()
    before = b""
    while clock.elapsed() < PATIENCE_MS:
        pause(REST_MS)
        if is_busy(window):
            continue
        buffer = QBuffer()
        window.grab().save(buffer, "PNG")
        now = bytes(buffer.data().data())
        if now == before:
            return now
        before = now
    raise SystemExit("The window does not come to rest.")


def write(name: str, theme: str, png: bytes) -> None:
    """Write a picture in 256 colours, with the digest of its recipe."""
    notes = PngInfo()
    notes.add_text("recipe", recipe_digest(name))
    image = Image.open(BytesIO(png)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    FOLDER.mkdir(exist_ok=True)
    image.save(path_of(name, theme), optimize=True, pnginfo=notes)
    print(f"wrote {path_of(name, theme).relative_to(ROOT)}", flush=True)


def prepare(work: Path) -> None:
    """Copy the examples, and train those of which a run is shown."""
    for name in (*TRAINED, *NETWORKS):
        training = [("train", f"{name}.netwright", "--run-dir", f"runs/{name}")] if name in TRAINED else []
        for words in (("new", name), *training):
            subprocess.run([sys.executable, "-m", "netwright.engine", *words], cwd=work, check=True)


def main(names: list[str]) -> None:
    """Make the named pictures in both themes."""
    application = QApplication(sys.argv[:1])
    application.setApplicationName("Netwright")
    application.setOrganizationName("Netwright")
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        work = Path(folder, "networks")
        work.mkdir()
        os.environ |= dict.fromkeys(HOMES, folder)
        prepare(work)
        window = MainWindow("light", tab="start")
        window.resize(*SIZE)
        window.show()
        for name in names or PICTURES:
            PICTURES[name](window, work)
            for theme in THEMES:
                window.theme.choose(theme)
                write(name, theme, picture_of(window))
        window.close()
        window.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
