"""Tune for me: what is varied, better values as one undo step, and what is said where nothing is better."""

from typing import Any

from netwright.app.experiments.tune_dialog import TuneDialog, show_tune
from netwright.app.window import MainWindow
from tests.app.fake_server import FakeServer

RATE, SOLVER = "training.initial_learn_rate", "training.solver"
PLAN = [
    {"path": RATE, "before": 0.01, "values": f"{RATE}=log 0.001..0.1"},
    {"path": SOLVER, "before": "sgdm", "values": f"{SOLVER}=sgdm,adam"},
]


def result(conclusion: str, reason: str, values: dict[str, Any]) -> dict[str, Any]:
    return {"conclusion": conclusion, "reason": reason, "varied": PLAN, "values": values}


def planned(window: MainWindow, server: FakeServer) -> TuneDialog:
    dialog = show_tune(window)
    assert server.waiting[-1].given["plan"]
    assert not dialog.go.isEnabled()
    server.answer("tune", result("planned", "", {}))
    return dialog


def test_better_values_are_one_undo_step(window: MainWindow, server: FakeServer) -> None:
    dialog = planned(window, server)
    before = window.editor.project.training
    assert [box.text() for box in dialog.boxes.values()] == [
        "Initial learn rate: 0.001 to 0.1, log; now 0.01",
        "Solver: SGD with momentum, Adam; now SGD with momentum",
    ]
    dialog.boxes[SOLVER].setChecked(False)
    dialog.minutes.setValue(3)
    dialog.go.click()
    asked = server.waiting[-1].given
    assert (asked["minutes"], asked["keeps"], asked.get("plan", False)) == (3.0, [SOLVER], False)
    assert asked["project"].endswith("untitled.netwright")
    server.tell("tune", 20, 180, "seconds, searching: 4 trials")
    assert "4 trials" in dialog.state.text()
    words = "Better: validation accuracy 96.1 % → 97.4 % ± 0.6 %, 3 pairs."
    server.answer("tune", result("improved", words, {RATE: 0.03, "training.l2_regularization": 0.001}))
    assert words in dialog.state.text()
    assert "Applied: Initial learn rate 0.03, L2 regularisation 0.001." in dialog.state.text()
    after = window.editor.project.training
    assert (after.initial_learn_rate, after.l2_regularization) == (0.03, 0.001)
    window.editor.stack.undo()
    assert window.editor.project.training == before
    dialog.close()


def test_nothing_better_changes_nothing_and_cancel_ends_the_search(window: MainWindow, server: FakeServer) -> None:
    dialog = planned(window, server)
    before = window.editor.project
    dialog.go.click()
    server.answer("tune", result("unchanged", "Nothing is changed: no trial was better.", {}))
    assert dialog.state.text().startswith("Nothing is changed")
    assert window.editor.project is before
    dialog.go.click()
    dialog.cancel.click()
    assert server.cancelled == ["tune"]
    assert dialog.state.text().startswith("Cancelled")
    for box in dialog.boxes.values():
        box.setChecked(False)
    assert not dialog.go.isEnabled()
    dialog.close()


def test_a_refusal_is_shown(window: MainWindow, server: FakeServer) -> None:
    dialog = show_tune(window)
    server.refuse("tune", "The project has no validation samples.")
    assert dialog.state.text() == "The project has no validation samples."
    assert not dialog.go.isEnabled()
    dialog.close()
