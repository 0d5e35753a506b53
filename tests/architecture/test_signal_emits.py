"""PySide6 6.12 loses references to True and None; Python 3.11 then aborts after some 570 signals. Never again."""

import os
import subprocess
import sys

CODE = """
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QCheckBox

class Sender(QObject):
    sent = Signal()
    told = Signal(bool)

application = QApplication([])
sender, box, received = Sender(), QCheckBox(), []
sender.told.connect(box.setEnabled)
sender.sent.connect(lambda: received.append(1))
for number in range(100_000):
    sender.sent.emit()
    sender.told.emit(number % 2 == 0)
    box.setVisible(False)
    box.setChecked(number % 2 == 0)
print(len(received), box.isEnabled())
box.deleteLater()
application.processEvents()
"""


def test_100_000_emits_survive() -> None:
    """In a process of its own: what goes wrong here takes the process with it."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["100000", "False"]
