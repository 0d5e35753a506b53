"""The dialog of the doctor: what is asked of the engine, its findings, and cures that are undo steps."""

from typing import Any

from PySide6.QtWidgets import QFrame, QLabel, QPushButton

from netwright.app.doctor.doctor_dialog import DoctorDialog, SeverityMark
from netwright.app.window import MainWindow
from tests.app.fake_server import FakeServer


def finding(**values: Any) -> dict[str, Any]:
    return {
        "kind": "learn-rate",
        "severity": "warning",
        "title": "Too high",
        "evidence": "Seen.",
        "effect": 90,
    } | values


def result(*findings: dict[str, Any]) -> dict[str, Any]:
    return {"subject": "", "findings": list(findings), "passed": ["all is read"], "seconds": 3.2, "output": None}


def test_a_cure_is_one_undo_step(window: MainWindow, server: FakeServer) -> None:
    dialog = DoctorDialog(window)
    dialog.show()
    assert server.waiting[-1].given["project"].endswith("untitled.netwright")
    assert not dialog.again.isEnabled()
    cure = {"label": "Learn rate 0.02", "settings": ["training.initial_learn_rate=0.02"]}
    server.answer("doctor", result(finding(cure=cure), finding(severity="note", title="Small", evidence="")))
    assert len(dialog.findChildren(SeverityMark)) == 2
    button = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Learn rate 0.02")
    button.click()
    assert window.editor.project.training.initial_learn_rate == 0.02
    assert not button.isEnabled()
    window.editor.stack.undo()
    assert window.editor.project.training.initial_learn_rate != 0.02
    dialog.compare.click()
    assert server.waiting[-1].given["compares"]
    dialog.close()
    assert server.cancelled == ["doctor"]


def test_the_likeliest_cause_of_what_a_run_shows_is_marked(window: MainWindow, server: FakeServer) -> None:
    window.training.monitor.facts.why_clicked.emit("overfits")
    (dialog,) = (widget for widget in window.findChildren(DoctorDialog))
    server.answer("doctor", result(finding(), finding(kind="validation", title="Small", effect=80)))
    chosen = [card for card in dialog.findChildren(QFrame) if card.property("selected")]
    assert [card.accessibleName() for card in chosen] == ["warning: Small"]
    dialog.again.click()
    server.answer("doctor", result(finding()))
    assert dialog.state.text().endswith("None of the checks explains what the run has shown.")
    dialog.close()


def test_a_refusal_is_shown_and_can_be_asked_again(window: MainWindow, server: FakeServer) -> None:
    dialog = DoctorDialog(window)
    server.refuse("doctor", "The table cannot be read.")
    assert dialog.state.text() == "The table cannot be read."
    dialog.again.click()
    comparison = {"metric": "accuracy", "higher_is_better": True, "without": 0.1, "with_cure": 0.9}
    comparison |= {"difference": 0.8, "interval": 0.1, "runs": 3, "samples": 900}
    server.answer("doctor", result(finding(comparison=comparison)))
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert any(text.startswith("Tried: helps: validation accuracy 10.0 % without, 90.0 % with it") for text in texts)
    dialog.close()
