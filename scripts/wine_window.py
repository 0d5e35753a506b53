"""Open the window with a project, train it there, save a picture, and close the window; exit with 0 where all that
happened. For `scripts/wine.sh`; runs on every system.

python scripts/wine_window.py PROJECT PICTURE
"""

import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from netwright.app.window import MainWindow

PATIENCE_MS = 400_000
ENDS = ("finished", "failed", "stopped", "lost")


def main(project: Path, picture: Path) -> int:
    """Return 0 where the run has finished."""
    application = QApplication(sys.argv[:1])
    window = MainWindow("light")
    window.open_path(project)
    window.show()
    window.server.ready.connect(lambda: print("engine ready", flush=True))
    window.server.failed.connect(lambda text: print(text, flush=True))
    window.training.start()
    states: list[str] = []

    def look() -> None:
        folder = window.training.run_folder
        state = folder.state() if folder is not None and folder.info.is_file() else ""
        if state and state not in states:
            states.append(state)
            print(state, flush=True)
        if state in ENDS:
            timer.stop()
            QTimer.singleShot(1000, leave)

    def leave() -> None:
        window.grab().save(str(picture))
        window.close()
        application.quit()

    timer = QTimer(interval=100)
    timer.timeout.connect(look)
    timer.start()
    QTimer.singleShot(PATIENCE_MS, application.quit)
    application.exec()
    window.shutdown()
    return 0 if states[-1:] == ["finished"] else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
