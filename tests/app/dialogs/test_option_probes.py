"""The links that try a project, with a process that says what it is told to."""

import json
import sys
from typing import Any

from netwright.app.dialogs.option_probes import BatchFinder, EnvironmentAdvisor
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.app.plots.bar_rows import BarRow
from netwright.engine.project.project import Project

TRIED = {"tried": {"batch": 256, "refusal": ""}}
DONE = {"largest": 1024, "words": "The largest mini-batch is 1,024 samples."}


def make(qtbot, monkeypatch, code: str) -> TrainingOptionsDialog:
    monkeypatch.setattr(BatchFinder, "command", lambda self, path: [sys.executable, "-c", code, str(path)])
    dialog = TrainingOptionsDialog(Project())
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def says(*lines: dict[str, Any]) -> str:
    return "".join(f"print({json.dumps(json.dumps(line))}, flush=True)\n" for line in lines)


def test_the_number_that_is_found_is_offered(qtbot, monkeypatch) -> None:
    reads = "import sys; assert open(sys.argv[1]).read().startswith('{')\n"
    prints = "print('a library says')\nprint('[1]')\nprint('[' * 100_000)\n"
    dialog = make(qtbot, monkeypatch, reads + prints + says(TRIED, DONE))
    finder = dialog.batch_finder
    finder.button.click()
    assert finder.button.text() == "Stop"
    qtbot.waitUntil(lambda: not finder.trial.is_running, timeout=60_000)
    assert dialog.training.mini_batch_size == 128, "nothing is changed unasked"
    assert finder.use_button.text() == "Use 1,024"
    finder.use_button.click()
    assert dialog.training.mini_batch_size == 1024
    assert finder.use_button.isHidden()
    assert finder.state.text() == DONE["words"]
    assert finder.button.text() == "Find the largest mini-batch…"


def test_it_can_be_stopped_and_says_what_goes_wrong(qtbot, monkeypatch) -> None:
    dialog = make(qtbot, monkeypatch, says(TRIED) + "import time; time.sleep(600)")
    finder = dialog.batch_finder
    finder.button.click()
    qtbot.waitUntil(lambda: finder.state.text() == "256 fits…", timeout=60_000)
    process = finder.trial.process
    finder.button.click()
    assert process is not None
    assert process.poll() is not None
    assert finder.state.text() == "Stopped."
    finder.button.click()
    process = finder.trial.process
    dialog.reject()
    assert process is not None
    assert process.poll() is not None
    for code, words in ((says({"error": "The network has errors."}), "has errors"), ("", "interrupted")):
        dialog = make(qtbot, monkeypatch, code)
        finder = dialog.batch_finder
        finder.button.click()
        qtbot.waitUntil(lambda finder=finder: not finder.trial.is_running, timeout=60_000)
        assert words in finder.state.text()
        assert dialog.training.mini_batch_size == 128


def test_ways_are_listed_under_the_advice(qtbot, monkeypatch) -> None:
    way = {"name": "cpu", "workers": 1, "seconds": 0.02, "memory_bytes": 2**20, "note": "", "fits": False}
    way["step"] = "20 ms"
    best = {"target": "multi-cpu", "strategy": "fully-sharded"}
    untried = {**way, "name": "gpu", "seconds": None, "step": "not known", "fits": True}
    code = says({"way": way}, {"way": untried}, {"advice": "Use cpu.", "best": best})
    monkeypatch.setattr(EnvironmentAdvisor, "command", lambda self, path: [sys.executable, "-c", code])
    dialog = TrainingOptionsDialog(Project())
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.advisor.button.click()
    qtbot.waitUntil(lambda: not dialog.advisor.trial.is_running, timeout=60_000)
    assert dialog.advisor.state.text() == "Use cpu."
    assert dialog.advisor.table.rows == (
        BarRow(("cpu", "20 ms", "1.0 MiB", "does not fit"), ((0.02, "muted"),), is_faint=True),
        BarRow(("gpu", "not known", "1.0 MiB", "")),
    )
    assert "cpu: 20 ms, 1.0 MiB, does not fit" in dialog.advisor.table.accessibleDescription()
    assert dialog.advisor.use_button.text() == "Use multi-cpu, fully-sharded"
    dialog.advisor.use_button.click()
    assert (dialog.project().environment.target, dialog.project().environment.strategy) == (
        "multi-cpu",
        "fully-sharded",
    )
    assert dialog.cards.cards["multi-cpu"].isChecked()
    assert dialog.advisor.use_button.isHidden()


def test_a_busy_machine_is_told_beside_the_times(qtbot, monkeypatch) -> None:
    busy = "The machine is busy."
    way = {"name": "cpu", "workers": 1, "seconds": 0.476, "memory_bytes": 2**20, "note": "", "fits": True}
    way["step"] = "476 ms"
    for lines in (
        ({"busy": busy}, {"way": way}, {"advice": "Use cpu.", "best": None, "busy": busy}),
        ({"way": way}, {"advice": "Use cpu.", "best": None, "busy": busy}),
    ):
        monkeypatch.setattr(
            EnvironmentAdvisor, "command", lambda self, path, lines=lines: [sys.executable, "-c", says(*lines)]
        )
        dialog = TrainingOptionsDialog(Project())
        qtbot.addWidget(dialog)
        dialog.advisor.button.click()
        qtbot.waitUntil(lambda dialog=dialog: not dialog.advisor.trial.is_running, timeout=60_000)
        assert dialog.advisor.state.text() == "The machine is busy. Use cpu."
        assert dialog.advisor.state.property("role") == "warning"
