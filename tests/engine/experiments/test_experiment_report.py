"""The report of an experiment: one file with what varied, the best trials, plots, importances and all trials."""

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT
from netwright.engine.experiments.experiment_report import ExperimentReport, pair_chart, progress_chart
from netwright.engine.runs.trial_axes import axes_of
from netwright.engine.runs.trial_log import Trial, TrialRun
from tests.app.history.sample_runs import log_curves, made
from tests.trials import ACCURACY, OPTIONS, RATE, SOLVER, sample_trials, written


class Page(HTMLParser):
    """The headings, the cells and the attributes that lead elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.cells: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["h2"]:
            self.headings.append(data.strip())
        if self.open[-1:] == ["td"]:
            self.cells.append(data)


def test_it_has_all_parts_and_leads_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path, sample_trials())
    log_curves(made(folder.path, "5", 1), epochs=3, steps_per_epoch=4, seconds=2)
    to = tmp_path / "report.html"
    assert main(["experiment", "report", str(tmp_path / "net.netwright"), "-o", str(to), "--json"]) == EXIT_DONE
    told = json.loads(capsys.readouterr().out)
    assert (told["trials"], told["missing"], told["bytes"]) == (10, "", to.stat().st_size)
    text = to.read_text()
    page = Page(text)
    assert page.links == []
    assert [heading for heading in page.headings if heading] == [
        "Experiment",
        "What varies",
        "Best trials",
        "Plots",
        "Importance of the parameters",
        "Trials",
        "Options of the project",
        "Versions",
    ]
    assert text.count("<svg") == 5, "progress, three values, curves"
    assert "Accuracy over the iterations" in text
    assert "95.0 %" in page.cells
    assert "failed: its loss is not finite" in page.cells
    assert main(["experiment", "report", str(folder.path), "-o", str(tmp_path / "report.pdf")]) == EXIT_INPUT


def test_without_optuna_it_is_written_and_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    report = ExperimentReport(written(tmp_path, sample_trials()))
    assert "netwright[experiments]" in report.html()
    assert "netwright[experiments]" in report.missing


def test_several_objectives_have_a_front_and_repeats_a_spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    runs = tuple(TrialRun(f"11_{n}", "finished", {ACCURACY: 0.9 + n / 100, "parameters": 50.0}) for n in (1, 2))
    repeated = Trial(11, {RATE: 0.02, SOLVER: "<b>"}, "finished", runs)
    text = ExperimentReport(written(tmp_path, (*sample_trials(), repeated), (ACCURACY, "parameters"))).html()
    assert "Pareto front" in text
    assert "91.5 % ± 0.7 %" in text
    assert "<td>&lt;b&gt;</td>" in text, "values are text, not markup"


def test_an_experiment_without_trials_is_told_as_such(tmp_path: Path) -> None:
    text = ExperimentReport(written(tmp_path, ())).html()
    assert text.count("No trial has ended with a score.") == 2


def test_charts_follow_the_direction_of_the_objective() -> None:
    rate, solver, _, accuracy = axes_of(sample_trials(), OPTIONS, [ACCURACY])
    best, trials = progress_chart(accuracy).marks
    assert list(best.y) == sorted(best.y)
    assert list(trials.x) == list(range(1, 9))
    loss = replace(accuracy, name="validation.loss")
    assert list(progress_chart(loss).marks[0].y) == [min(trials.y[: n + 1]) for n in range(8)]
    chart = pair_chart(solver, accuracy, ())
    assert re.findall(r">(SGD with momentum|Adam)<", chart.svg()) == ["SGD with momentum", "Adam"]
    points, line, front = pair_chart(rate, accuracy, [2, 5]).marks
    assert (len(points.x), list(front.x)) == (6, list(line.x))
