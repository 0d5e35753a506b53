"""The report of an experiment as one HTML file: what varied, the best trials, plots, importances and all trials."""

import math
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.files import not_written, write_atomically
from netwright.engine.core.text import format_bytes, format_duration, format_percent
from netwright.engine.core.version import VERSION
from netwright.engine.drawing.charts import BLUE, GREEN, Axis, Chart, Marks, extremes
from netwright.engine.drawing.report_page import Content, Html, element, facts, figure, page, table
from netwright.engine.experiments.operations.experiment_report import ExperimentReportRequest, ExperimentReportResult
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import load
from netwright.engine.project.parameters import value_text
from netwright.engine.runs.curve_files import read_curves
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.run_options import in_order, options_in, shown
from netwright.engine.runs.trial_axes import TrialAxis, axes_of
from netwright.engine.runs.trial_log import COUNTED, Trial, damage_text
from netwright.engine.runs.trial_rows import best_trial, pareto_front, ranked

MOST_BEST = 10
MOST_TRIALS = 1000
"""Trials in the last table, the first ones."""
MOST_SLICES = 12
MOST_CURVES = 20
"""Trials whose learning curves are drawn, the best first."""
MOST_POINTS = 600


def write_experiment_report(request: ExperimentReportRequest) -> ExperimentReportResult:
    """Write the report of an experiment, of a project file its newest one. Raises `UserError`."""
    to, folder = request.destination, open_experiment(request.experiment)
    report = ExperimentReport(folder)
    content = report.html().encode()
    try:
        write_atomically(to, content)
    except OSError as error:
        raise not_written(to, error) from None
    return ExperimentReportResult(
        path=str(to.absolute()),
        experiment_dir=str(folder.path.absolute()),
        bytes=len(content),
        trials=len(report.trials),
        missing=report.missing,
        damage=report.damage,
    )


class ExperimentReport:
    """The parts of the report of one experiment. `missing` says why it has no importances."""

    def __init__(self, folder: ExperimentFolder) -> None:
        self.folder, self.missing = folder, ""
        self.trials, damaged = folder.read_log()
        self.damage = damage_text(folder.trials, damaged)
        self._info = folder.read_info()
        self._project = load(folder.project).project
        self._options: ExperimentOptions = self._project.experiment
        self._objectives = self._info.objectives
        self._axes = axes_of(self.trials, self._options, self._objectives)
        self._front = pareto_front(self.trials, self._objectives) if len(self._objectives) > 1 else []
        self._best = best_trial(self.trials, self._objectives) if self._objectives else None

    @property
    def _values(self) -> list[TrialAxis]:
        return [axis for axis in self._axes if not axis.is_score]

    @property
    def _scores(self) -> list[TrialAxis]:
        return [axis for axis in self._axes if axis.is_score]

    def html(self) -> str:
        """Return the text of the file."""
        created = time.strftime("%Y-%m-%d %H:%M", time.localtime(self._info.created))
        varied = ", ".join(axis.label for axis in self._values)
        title = f"Experiment {self._info.name}"
        parts: list[Content] = [
            element("h1", title),
            element("p", " · ".join(filter(None, (created, self._options.strategy, varied))), class_="muted"),
            self._numbers(),
            element("h2", "Experiment"),
            facts(dict(self._facts())),
            element("h2", "What varies"),
            self._parameters(),
            element("h2", "Pareto front" if self._front else "Best trials"),
            *self._best_trials(),
            element("h2", "Plots"),
            *self._plots(),
            element("h2", "Importance of the parameters"),
            *self._importance(),
            element("h2", "Trials"),
            *self._all_trials(),
            element("h2", "Options of the project"),
            *self._project_options(),
            element("h2", "Versions"),
            facts(dict(self._versions())),
        ]
        return page(title, parts)

    def _numbers(self) -> Html | None:
        """Return the scores of the best trial as the main numbers."""
        if self._best is None:
            return None
        boxes = [
            element(
                "div",
                element("b", axis.said(self._best.scores[axis.name])),
                element("span", axis.label),
                class_="score",
            )
            for axis in self._scores
            if axis.name in self._best.scores
        ]
        number = element("div", element("b", str(self._best.number)), element("span", "best trial"), class_="score")
        return element("div", *boxes, number, class_="scores")

    def _facts(self) -> Iterator[tuple[str, Content]]:
        options, trials = self._options, self.trials
        state = self.folder.state()
        yield "State", f"{state}: {self._info.reason}" if self._info.reason else state
        yield "Project", self._info.project_path or self._info.name
        over = sum(trial.is_over for trial in trials)
        yield "Trials", f"{over:,} of {plural(len(trials), 'trial')} ended"
        failed = sum(trial.is_over and trial.state not in COUNTED for trial in trials)
        yield "Failed", f"{failed:,}" if failed else ""
        yield "Compared", ", ".join(self._objectives)
        runs = [f"{options.repeats} seeds"] if options.repeats > 1 else []
        runs += [f"{options.folds} folds"] if options.folds else []
        yield "Runs per trial", " × ".join(runs)
        yield "Pruning", options.pruning if options.pruning != "none" else ""
        yield "Constraints", "; ".join(options.constraints)
        yield "Duration", format_duration(self._info.seconds) if self._info.seconds else ""
        yield "Time of all runs", format_duration(sum(trial.seconds for trial in trials))

    def _parameters(self) -> Html:
        rows: list[Sequence[Content]] = []
        for parameter in self._options.parameters:
            _, _, values = parameter.show().partition("=")
            rows.append((element("code", parameter.path), values, element("code", parameter.when)))
        return table(("Value", "Values", "Where"), rows)

    # ---- trials ----

    def _head(self) -> list[str]:
        return ["Trial", *(axis.label for axis in self._axes), "Time", "State"]

    def _row(self, trial: Trial) -> list[Content]:
        values: list[Content] = [
            value_text(trial.values[axis.name]) if axis.name in trial.values else "" for axis in self._values
        ]
        scores: list[Content] = [self._score(axis, trial) for axis in self._scores]
        reason = f": {trial.reason}" if trial.reason and trial.state != "finished" else ""
        return [str(trial.number), *values, *scores, format_duration(trial.seconds), trial.state + reason]

    def _score(self, axis: TrialAxis, trial: Trial) -> str:
        if axis.name not in trial.scores:
            return ""
        spread = trial.spread(axis.name)
        return axis.said(trial.scores[axis.name]) + (f" ± {axis.said(spread[0])}" if spread is not None else "")

    def _table(self, trials: Sequence[Trial], caption: str = "") -> Html:
        head = self._head()
        numbers = [place for place, axis in enumerate(self._axes, 1) if not axis.categories]
        rows = [self._row(trial) for trial in trials]
        return element("div", table(head, rows, (0, *numbers, len(head) - 2), caption), class_="whole")

    def _best_trials(self) -> Iterator[Html]:
        best = self._front or (ranked(self.trials, self._objectives[0])[:MOST_BEST] if self._objectives else [])
        if not best:
            yield element("p", "No trial has ended with a score.", class_="muted")
            return
        yield self._table(best, "No other trial is better in every objective" if self._front else "The best first")
        if self._options.runs_per_trial > 1:
            yield element("p", "± is the standard deviation over the runs of a trial.", class_="muted")

    def _all_trials(self) -> Iterator[Html]:
        yield self._table(self.trials[:MOST_TRIALS])
        if len(self.trials) > MOST_TRIALS:
            yield element("p", f"And {len(self.trials) - MOST_TRIALS:,} more trials.", class_="muted")

    # ---- plots ----

    def _plots(self) -> Iterator[Html]:
        scores = [axis for axis in self._scores if axis.places]
        if not scores:
            yield element("p", "No trial has ended with a score.", class_="muted")
            return
        charts = [progress_chart(scores[0])]
        charts += [pair_chart(axis, scores[0], ()) for axis in self._values[:MOST_SLICES]]
        if len(scores) > 1:
            charts.append(pair_chart(scores[1], scores[0], [trial.number for trial in self._front]))
        curves = list(self._curves(scores[0]))
        charts += curves
        yield element("div", *(figure(chart.svg()) for chart in charts), class_="figures")
        note = f" Of the curves, those of the best {MOST_CURVES} trials are drawn." if curves else ""
        note = note if len(self.trials) > MOST_CURVES else ""
        yield element("p", f"Green: the best trial, the best so far and the Pareto front.{note}", class_="muted")

    def _curves(self, score: TrialAxis) -> Iterator[Chart]:
        """Yield the curves of the best trials, the mean over the runs of each where there are several."""
        split, _, name = score.name.partition(".")
        marks = []
        for place, trial in enumerate(ranked(self.trials, score.name)[:MOST_CURVES]):
            runs = [RunFolder(self.folder.run_path(run.name)) for run in trial.runs]
            curves = [
                c for run in runs if run.path.is_dir() for c in read_curves(run) if (c.split, c.name) == (split, name)
            ]
            if curves:
                steps, values = _mean([(list(curve.steps), list(curve.values)) for curve in curves])
                colour = GREEN if place == 0 else BLUE
                marks.append(Marks(*extremes(steps, values, MOST_POINTS), colour=colour, is_faint=place > 2))
        if marks:
            y = Axis(score.label, is_percent=score.is_percent)
            yield Chart(f"{score.label} over the iterations", marks[::-1], Axis("iteration", 0.0), y)

    # ---- importance ----

    def _importance(self) -> Iterator[Html]:
        from netwright.engine.experiments.strategies import importances

        for score in self._scores:
            try:
                shares = importances(self._project, self.trials, score.name)
            except UserError as error:
                self.missing = str(error)
                yield element("p", str(error), class_="muted")
                return
            rows = [(element("code", path), format_percent(share, 1)) for path, share in shares.items()]
            yield table(("Parameter", "Share"), rows, numbers=(1,), caption=score.label)
        text = "The share of the differences between trials that each parameter explains: functional ANOVA (Hutter "
        yield element("p", f"{text}et al., 2014).", class_="muted")

    # ---- the project ----

    def _project_options(self) -> Iterator[Html]:
        varied = {axis.name for axis in self._values}
        changed = {
            path: value
            for path, value in options_in(self._project_json()).items()
            if path not in varied and not path.startswith("experiment.")
        }
        rows = [(element("code", path), shown(changed, path), shown({}, path)) for path in in_order(changed)]
        if rows:
            yield table(("Option", "Value", "Default"), rows)
        else:
            yield element("p", "All options that do not vary have their defaults.", class_="muted")

    def _project_json(self) -> dict[str, Any]:
        return {name: dict(self._project.section(name).write()) for name in ("training", "data", "environment")}

    def _versions(self) -> Iterator[tuple[str, Content]]:
        yield from self._info.versions.items()
        yield "Report written by", f"netwright {VERSION}, {time.strftime('%Y-%m-%d %H:%M')}"
        size = self.folder.trials.stat().st_size if self.folder.trials.exists() else 0
        yield "Log of the trials", "; ".join(filter(None, (format_bytes(size), self.damage)))
        yield "Folder", element("code", str(self.folder.path.absolute()))


def progress_chart(score: TrialAxis) -> Chart:
    """Return the chart of an objective by the numbers of the trials, with the best so far."""
    numbers = sorted(score.places)
    values = [score.places[number] for number in numbers]
    best = list(accumulate(values, min if score.is_low_better else max))
    places = [float(number) for number in numbers]
    marks = [Marks(places, best, label="best so far", colour=GREEN), Marks(places, values, "points", "trials")]
    return Chart(f"{score.label} by trial", marks, Axis("trial", 0.0), Axis(score.label, is_percent=score.is_percent))


def pair_chart(x: TrialAxis, y: TrialAxis, front: Sequence[int]) -> Chart:
    """Return the chart of one axis of the trials over another; trials on the `front` are green and joined."""
    both = [number for number in y.places if number in x.places]
    others = [number for number in both if number not in front]
    marks = [Marks([x.places[n] for n in others], [y.places[n] for n in others], "points")]
    if front:
        points = sorted((x.places[number], y.places[number]) for number in front)
        line = [place for place, _ in points], [value for _, value in points]
        marks += [Marks(*line, colour=GREEN, is_dashed=True), Marks(*line, "points", colour=GREEN)]
    lower = Axis(x.label, is_log=x.is_log, is_percent=x.is_percent, texts=x.categories)
    return Chart(f"{y.label} over {x.label}", marks, lower, Axis(y.label, is_percent=y.is_percent))


def _mean(curves: Sequence[tuple[list[float], list[float]]]) -> tuple[list[float], list[float]]:
    """Return the mean of curves at the steps that all of them have."""
    if len(curves) == 1:
        return curves[0]
    by_step = [dict(zip(steps, values, strict=True)) for steps, values in curves]
    steps = [step for step in curves[0][0] if all(step in values for values in by_step)]
    means = [statistics.fmean(values[step] for values in by_step) for step in steps]
    return steps, [mean if math.isfinite(mean) else math.nan for mean in means]
