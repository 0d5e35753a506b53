"""The menu beside a run's buttons, and the Run menu, say of a request what its row in the table says."""

from pytestqt.qtbot import QtBot

from netwright.app.frame.actions import ACTIONS
from netwright.app.runs.run_buttons import RequestMenuButton
from netwright.engine.runs.requests import BY_NAME, REQUESTS


def test_the_menu_offers_each_request_that_has_no_button(qtbot: QtBot) -> None:
    button = RequestMenuButton()
    qtbot.addWidget(button)
    assert [action.text() for action in button.menu().actions() if not action.isSeparator()] == [
        "Pause and free memory",
        "Save a checkpoint",
        "Validate now",
        "Change rate or epochs…",
        "Watch the gradient norm",
        "Watch layers",
    ]
    for slot, values in (("pause.release", {"release": 1}), ("validate", {}), ("watch.layers", {"layers": 1})):
        with qtbot.waitSignal(button.requested) as asked:
            button.actions_by_slot[slot].trigger()
        assert asked.args == [slot.partition(".")[0], values]


def test_the_run_menu_uses_the_same_labels() -> None:
    labels = {action.id: action.text for action in ACTIONS}
    for id, name in (("run.pause", "pause"), ("run.resume", "resume"), ("run.checkpoint", "checkpoint")):
        assert labels[id] == BY_NAME[name].label
    assert labels["run.validate"] == BY_NAME["validate"].label
    assert labels["run.change"] == BY_NAME["set"].label
    assert labels["run.release"] == BY_NAME["pause"].fields[0].label


def test_what_users_may_ask_has_a_label() -> None:
    for row in REQUESTS:
        if row.asked_by == "user":
            assert row.label or all(field.label for field in row.fields), row.name
