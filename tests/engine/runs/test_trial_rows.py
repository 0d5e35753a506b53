import math

from netwright.engine.runs.notes import Notes
from netwright.engine.runs.query import matching, unknown_name
from netwright.engine.runs.trial_log import STATES, Trial, TrialRun, trials_from
from netwright.engine.runs.trial_marks import TrialMarks
from netwright.engine.runs.trial_rows import (
    TrialRow,
    best_trial,
    columns_of,
    difference,
    grouped,
    ordered,
    ranked,
    rows_csv,
)
from tests.trials import trial

ACCURACY, LOSS, MOMENTUM = "validation.accuracy", "validation.loss", "option:training.momentum"


def row(number: int, solver: str, momentum: float, accuracy: float | None, **marks: object) -> TrialRow:
    scores = {} if accuracy is None else {ACCURACY: accuracy, LOSS: 1 - accuracy}
    state = "failed" if accuracy is None else "finished"
    values = {"training.solver": solver, "training.momentum": momentum, "network.conv_1.filters": 8 * number}
    runs = (TrialRun(str(number), state, scores, 2.0 * number),)
    trial = Trial(number, values, state, runs, 10.0, 20.0, "out of memory" if accuracy is None else "")
    return TrialRow(trial, TrialMarks(**marks), {"training.max_epochs": 7})  # type: ignore[arg-type]


ROWS = [
    row(1, "adam", 0.5, 0.7, notes=Notes("try longer", ("paper",))),
    row(2, "sgdm", 0.9, 0.9),
    row(3, "adam", 0.8, None),
    row(4, "adam", 0.1, 0.8),
]


def numbers(rows: list[TrialRow]) -> list[int]:
    return [one.trial.number for one in rows]


def test_the_filter_language_of_runs_finds_trials() -> None:
    found = {
        "": [1, 2, 3, 4],
        "accuracy>=0.8": [2, 4],
        "validation.loss<0.25 training.solver=adam": [4],
        "state:failed": [3],
        "memory": [3],
        "tag:paper": [1],
        "training.momentum>0.7": [2, 3],
        "network.conv_1.filters>=24": [3, 4],
        "training.max_epochs=7 seconds<3": [1],
    }
    assert {text: numbers(matching(ROWS, text)) for text in found} == found
    assert unknown_name(ROWS, "accurracy>0.5", noun="trial").message == "no trial has 'accurracy'"  # type: ignore[union-attr]
    assert unknown_name(ROWS, "state:pruned", states=STATES) is None
    assert unknown_name(ROWS, "network.conv_1.filters>9") is None


def test_rows_are_sorted_with_those_without_a_value_last() -> None:
    assert numbers(ordered(ROWS, ACCURACY, is_down=True)) == [2, 4, 1, 3]
    assert numbers(ordered(ROWS, ACCURACY, is_down=False)) == [1, 4, 2, 3]
    assert numbers(ordered(ROWS, "option:training.solver", is_down=True)) == [2, 1, 3, 4]
    assert numbers(ordered(ROWS, "note", is_down=False)) == [1, 2, 3, 4]
    assert numbers(ordered(ROWS, "option:training.max_epochs", is_down=False)) == [1, 2, 3, 4]


def test_groups_have_mean_and_best() -> None:
    adam, sgdm = grouped(ROWS, ["option:training.solver"])
    assert (adam.value, numbers(list(adam.rows)), sgdm.value) == ("adam", [1, 3, 4], "sgdm")
    assert math.isclose(adam.mean(ACCURACY) or 0, 0.75)
    assert adam.best(ACCURACY) == 0.8
    assert math.isclose(adam.best(LOSS) or 0, 0.2)
    assert grouped(ROWS[2:3], ["state"])[0].mean(ACCURACY) is None
    parts = grouped(ROWS, ["option:training.solver", "state"])[0].parts
    assert [(part.key, part.level, len(part.rows)) for part in parts] == [
        (("adam", "failed"), 1, 1),
        (("adam", "finished"), 1, 2),
    ]


def test_columns_differences_and_csv() -> None:
    columns = columns_of(ROWS[0].trial.values, ROWS[0].scores, [ACCURACY])
    assert columns[:8] == [
        *("trial", "state", "curve", "option:training.solver", MOMENTUM, "option:network.conv_1.filters"),
        *(ACCURACY, "seconds"),
    ]
    assert columns[8] == LOSS
    assert "host" not in columns
    assert "host" in columns_of((), (), [ACCURACY], has_hosts=True)
    assert math.isclose(difference(ROWS[1], ROWS[0], ACCURACY) or 0, 0.2)
    assert difference(ROWS[2], ROWS[0], ACCURACY) is difference(ROWS[1], ROWS[0], MOMENTUM) is None
    text = rows_csv(ROWS[:1], ["trial", "curve", MOMENTUM, ACCURACY, "tags", "reason"])
    assert text == f"trial,training.momentum,{ACCURACY},tags,reason\n1,0.5,0.7,paper,\n"


def test_the_hosts_of_a_trial_survive_its_log() -> None:
    lines = [
        b'{"trial": 1, "time": 1.0, "values": {}}',
        b'{"trial": 1, "time": 2.0, "run": "1_1", "state": "finished", "host": "node2"}',
        b'{"trial": 1, "time": 3.0, "run": "1_2", "state": "finished", "host": "node1"}',
        b'{"trial": 2, "time": 3.0, "values": {}}',
        b'{"trial": 2, "time": 4.0, "run": "2", "state": "finished"}',
    ]
    one, other = trials_from(lines)[0].values()
    assert (one.hosts, other.hosts) == (("node2", "node1"), ())
    assert one.write()["hosts"] == ["node2", "node1"]
    assert "hosts" not in other.write()
    assert [TrialRow(trial).value("host") for trial in (one, other)] == ["node2, node1", None]


def test_equal_trials_are_ranked_by_their_loss() -> None:
    same = [trial(n, {}, accuracy=0.9, loss=loss) for n, loss in enumerate((0.3, math.nan, 0.1, 0.2), 1)]
    better = trial(9, {}, accuracy=0.95, loss=5.0)
    assert [each.number for each in ranked([*same, better], ACCURACY)] == [9, 3, 4, 1, 2]
    assert [each.number for each in ranked(same, LOSS)] == [3, 4, 1]
    best = best_trial(same, [ACCURACY])
    assert best is not None
    assert best.number == 3
