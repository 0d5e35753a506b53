import json
from pathlib import Path

from netwright.engine.runs.events import Points, Progress, Resumed, Started
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.trial_log import Trial, TrialRun, trials_from
from netwright.engine.runs.trial_reader import CURVE_POINTS, TrialsReader, read_curve, read_live
from netwright.engine.runs.trial_rows import pareto_front


def test_the_log_is_read_in_parts_and_then_what_is_appended(tmp_path: Path) -> None:
    folder = ExperimentFolder(tmp_path)
    lines = []
    for number in range(1, 40):
        lines.append({"trial": number, "time": number, "values": {"training.momentum": 0.1}})
        lines.append({"trial": number, "run": str(number), "state": "finished", "scores": {"validation.loss": 0.5}})
        lines.append({"trial": number, "state": "finished"})
    content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    folder.trials.write_bytes(content[:-5])
    reader = TrialsReader(folder)
    parts = 0
    while reader.read(500):
        parts += 1
    assert parts > 10
    assert reader.trials[39].state == "running"
    folder.trials.write_bytes(content)
    assert reader.is_behind
    assert reader.read()
    assert not reader.read()
    assert (reader.trials, 0) == trials_from(folder.lines())
    folder.trials.write_bytes(content[:100])
    reader.read()
    assert list(reader.trials) == [1]


def run_with(tmp_path: Path, *events: object) -> Path:
    (tmp_path / "run").mkdir()
    log = EventLog(RunFolder(tmp_path / "run"))
    for event in events:
        log.append(event)  # type: ignore[arg-type]
    log.close()
    return tmp_path / "run"


def test_a_curve_has_few_points_and_nothing_that_was_superseded(tmp_path: Path) -> None:
    points = [
        Points(split="validation", first_step=step, steps_apart=1, values={"loss": [float(step)], "accuracy": [0.5]})
        for step in range(1, 101)
    ]
    run = run_with(tmp_path, *points, Resumed(iteration=96, after=96, reason=""), points[-1])
    curve = read_curve(run, "validation.loss")
    assert len(curve) == CURVE_POINTS
    assert curve == sorted(curve)
    assert curve[0] == 1.5
    assert curve[-1] > 97
    assert read_curve(run, "test.loss") == []


def test_progress_of_a_run(tmp_path: Path) -> None:
    started = Started(
        environment={}, hardware="", epochs=2, iterations=200, steps_per_epoch=100, metric="", samples={}, parameters=1
    )
    progress = Progress(
        epoch=1, iteration=50, elapsed_s=3.0, remaining_s=9.0, rate=0.1, samples_per_second=1.0, memory_bytes=1
    )
    many = [Points(split="training", first_step=1, steps_apart=1, values={"loss": [0.1] * 100})] * 200
    live = read_live(run_with(tmp_path, started, *many, progress))
    assert (live.share, live.elapsed_s, live.remaining_s) == (0.25, 3.0, 9.0)


def test_a_front_of_many_trials_has_all_that_no_other_beats() -> None:
    scores = [(0.9, 5.0), (0.8, 3.0), (0.9, 4.0), (0.7, 3.0), (0.9, 4.0), (0.2, 1.0)]
    trials = [
        Trial(n, {}, "finished", (TrialRun(str(n), "finished", {"validation.accuracy": a, "seconds": s}),))
        for n, (a, s) in enumerate(scores, 1)
    ]
    assert [t.number for t in pareto_front(trials, ["validation.accuracy", "seconds"])] == [2, 3, 5, 6]
