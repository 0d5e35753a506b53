"""Searches better values of a project within a budget of time: an experiment that begins with the project as it is, and
one that trains the best trial beside it in pairs of equal seeds."""

import contextlib
import importlib.util
import math
import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import RunError, UserError, plural
from netwright.engine.core.files import refuse_destination
from netwright.engine.core.part_registry import entry
from netwright.engine.core.progress import notice, report
from netwright.engine.core.text import format_duration
from netwright.engine.experiments.begin import begin
from netwright.engine.experiments.definition import read_facts
from netwright.engine.experiments.operations.tune import (
    Confirmation,
    TuneRequest,
    TuneResult,
    Varied,
    confirmation_text,
)
from netwright.engine.experiments.tune_space import space_of, without
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.project.data_hosts import admit
from netwright.engine.project.experiment import ExperimentOptions, Objective
from netwright.engine.project.file import save
from netwright.engine.project.options.metric_options import AT_MOST_ONE, format_score
from netwright.engine.project.parameters import MOST_TRIALS, Parameter
from netwright.engine.project.project import Project
from netwright.engine.project.trials import objectives_of, value_at, with_options
from netwright.engine.runs.experiments import ExperimentFolder, start_runner
from netwright.engine.runs.folder import origin
from netwright.engine.runs.trial_log import Trial, failures_of, half_interval
from netwright.engine.runs.trial_rows import best_trial
from netwright.engine.training.state import UNIT_S

LOOK_S = 0.25
START_S = 5.0
"""Time that a runner takes to begin."""
LONGEST_RUN = 1 / 16
"""Share of the budget that a run may take: longer ones are stopped, those of the project as it is too."""
LONGEST_TEST, TEST_S = 0.1, 10.0
"""Share of the budget that the range test of the learn rate takes, and its limit in seconds."""
LEAST_PAIRS, MOST_PAIRS = 3, 10
CONFIRMATION = 0.3
"""Share of the budget for the confirmation, unless the fewest pairs take longer."""
MARGIN = 1.2
"""Factor of the time that the confirmation is expected to take."""
KEPT = ("at_once", "gpus_per_trial", "trials_per_gpu", "gpus", "cores", "memory_per_trial")
"""Options of the project's experiment that say what of the machine trials take."""


def tune(request: TuneRequest) -> TuneResult:
    """Return the better values for a project that were confirmed, if any. Raises `UserError`."""
    began = time.monotonic()
    project, notices = read_project(request.project, request.settings, request.text)
    notice(*notices)
    if request.output is not None:
        refuse_destination(request.output)
    source = origin(request.project)
    look_at_code(project, source.code_base, source.code, trusted=request.trusted)
    path = request.project.resolve() if request.project.is_file() else None
    tuning = Tuning.of(project, path, source.base, request, began)
    result = tuning.planned() if request.plan else tuning.tuned()
    if request.output is None:
        return result
    save(with_options(project, result.values, source.base), request.output)
    return replace(result, output=str(request.output.absolute()))


@dataclass
class Tuning:
    """The search for better values of one project."""

    project: Project
    """With what varies as its experiment, and each run limited in time."""
    path: Path | None
    base: Path
    budget_s: float
    began: float
    objective: Objective
    experiments: list[ExperimentFolder] = field(default_factory=list)
    num_trials: int = 0

    @classmethod
    def of(cls, project: Project, path: Path | None, base: Path, request: TuneRequest, began: float) -> "Tuning":
        """Return the search for a project. Raises `UserError` where nothing can be learned or compared."""
        defined = project.experiment
        project = replace(project, experiment=ExperimentOptions())
        admit(project.data)
        facts = read_facts(project, base)
        if facts is None or not facts.samples.get("validation"):
            raise UserError(
                "The project has no validation samples, by which the best values are chosen.",
                hint="Give the validation a share of the data on the Data tab, or --set data.validation_share=0.2.",
            )
        own = [name for name in defined.objectives if name.startswith("validation.")]
        objective = Objective(own[0]) if own else objectives_of(project, facts)[0]
        budget_s = request.minutes * 60
        test = entry("functions", "advised_rates")
        rates = test(project, base, min(TEST_S, LONGEST_TEST * budget_s)) if test is not None else None
        space = without(space_of(project, facts.samples["training"], rates), request.keeps)
        options = _options(project, space, objective, budget_s, defined)
        training = _limited(project, LONGEST_RUN * budget_s).training
        return cls(replace(project, experiment=options, training=training), path, base, budget_s, began, objective)

    # ---- results ----

    @property
    def _metric(self) -> str:
        return self.objective.name.partition(".")[2]

    def planned(self) -> TuneResult:
        """Return the plan alone."""
        by = "A Bayesian search" if self.project.experiment.strategy == "tpe" else "A random search"
        return self._result(
            "planned",
            f"{by} of {format_duration(self.budget_s)} compares trials by validation {self._metric}; the "
            f"first is the project as it is, and a run takes at most {format_duration(LONGEST_RUN * self.budget_s)}.",
        )

    def tuned(self) -> TuneResult:
        """Return the result of search and confirmation."""
        trials = self._searched()
        best = best_trial([trial for trial in trials if trial.state == "finished"], [self.objective.name])
        if best is None:
            why = "; ".join(failures_of(trials)) or "none has ended in time"
            raise RunError(f"No trial could be trained to its end: {why}.", hint="Give it more minutes.")
        values = {path: _rounded(value) for path, value in best.values.items()}
        values = {path: value for path, value in values.items() if value != value_at(self.project, path)}
        is_perfect = self._is_perfect(trials[0])
        if is_perfect or best.number == 1 or not values:
            score = format_score(self._metric, best.scores[self.objective.name])
            why = "no network can be better" if is_perfect else "no trial was better"
            reason = f"Nothing is changed: {why} than the project (validation {self._metric} {score})."
            return self._result("unchanged", reason)
        return self.concluded(values, self._confirmed(values, trials[0], best))

    def concluded(self, values: Mapping[str, Any], trials: Sequence[Trial]) -> TuneResult:
        """Return the result of a confirmation: the values are taken where they are better by more than chance."""
        before, after = (self._scores(trials, number) for number in (1, 2))
        pairs = [(before[seed], after[seed]) for seed in before if seed in after]
        baseline = trials[0]
        if not before and len(after) >= LEAST_PAIRS and baseline.is_over and not baseline.is_broken:
            score = format_score(self._metric, statistics.fmean(after.values()))
            why = f"The project as it is cannot be trained: {baseline.reason.rstrip('.')}"
            reason = f"{why}. With these values validation {self._metric} is {score}, {plural(len(after), 'run')}."
            return self._result("improved", reason, values)
        if len(pairs) < LEAST_PAIRS:
            reason = f"Nothing is changed: {plural(len(pairs), 'pair')} of runs of the project and the best trial ended"
            return self._result("unchanged", f"{reason} well, and {LEAST_PAIRS} are needed. Give it more minutes.")
        differences = [after - before for before, after in pairs]
        old, new = (statistics.fmean(column) for column in zip(*pairs, strict=True))
        confirmation = Confirmation(old, new, new - old, half_interval(differences), len(pairs))
        words = confirmation_text(self._metric, confirmation)
        gain = -confirmation.difference if self.objective.is_low_better else confirmation.difference
        if gain > confirmation.interval:
            return self._result("improved", f"Better: {words}.", values, confirmation)
        reason = f"Nothing is changed: the best trial is not better by more than chance ({words})."
        return self._result("unchanged", reason, {}, confirmation)

    def _result(
        self,
        conclusion: str,
        reason: str,
        values: Mapping[str, Any] | None = None,
        confirmation: Confirmation | None = None,
    ) -> TuneResult:
        varied = [
            Varied(each.path, value_at(self.project, each.path), each.show())
            for each in self.project.experiment.parameters
        ]
        return TuneResult(
            conclusion=conclusion,
            reason=reason,
            metric=self._metric,
            varied=tuple(varied),
            values=values or {},
            confirmation=confirmation,
            trials=self.num_trials,
            seconds=round(self._elapsed_s, 1),
            experiment_dirs=tuple(str(folder.path.absolute()) for folder in self.experiments),
            output=None,
        )

    # ---- experiments ----

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self.began

    def _is_perfect(self, trial: Trial) -> bool:
        """Return whether no network can have a better score: more trials would only cost time."""
        score = trial.scores.get(self.objective.name, math.nan)
        return score <= 0.0 if self.objective.is_low_better else self._metric in AT_MOST_ONE and score >= 1.0

    def _searched(self) -> list[Trial]:
        """Train trials until one is perfect, or the rest of the budget is that of the confirmation."""
        started, is_ending = self._elapsed_s, False
        for folder, trials in self._trained(self.project, "searching"):
            self.num_trials = len(trials)
            needed_s = self._needed_s(trials, self._elapsed_s - started)
            is_over = needed_s is not None and self._elapsed_s + needed_s > self.budget_s
            if not is_ending and (is_over or any(t.state == "finished" and self._is_perfect(t) for t in trials)):
                folder.request("finish")
                is_ending = True
        return self.experiments[-1].read_trials()

    def _needed_s(self, trials: Sequence[Trial], searched_s: float) -> float | None:
        """Return how long one more trial and the confirmation take, by the runs so far; None before one has ended."""
        longest = max((trial.seconds for trial in trials if trial.is_over), default=None)
        if longest is None:
            return None
        confirmed_s = MARGIN * 2 * LEAST_PAIRS * longest / self._side_by_side(trials, searched_s)
        return longest + START_S + max(confirmed_s, min(2 * confirmed_s, CONFIRMATION * self.budget_s))

    def _side_by_side(self, trials: Sequence[Trial], searched_s: float) -> float:
        """Return how many runs have trained at the same time, on average."""
        return max(1.0, sum(trial.seconds for trial in trials) / max(searched_s, 1.0))

    def _confirmed(self, values: Mapping[str, Any], baseline: Trial, best: Trial) -> list[Trial]:
        """Train the project as it is and with other values, in pairs of seeds that the search has not had."""
        trials, left_s = self.experiments[-1].read_trials(), self.budget_s - self._elapsed_s - START_S
        each_s = 2 * max(baseline.seconds, best.seconds, 0.1) / self._side_by_side(trials, self._elapsed_s)
        pairs = min(MOST_PAIRS, max(LEAST_PAIRS, int(left_s / (MARGIN * each_s))))
        before = {path: value_at(self.project, path) for path in values}
        options = self.project.experiment.replace(
            parameters=(), strategy="table", table=[before, dict(values)], repeats=pairs, pruning="none", max_hours=0.0
        )
        training = self.project.training.replace(seed=self.project.training.seed + 1)
        project = replace(self.project, experiment=options, training=training)
        begun_s, is_ending = math.inf, False
        for folder, trials in self._trained(project, "confirming"):
            begun_s = min(begun_s, self._elapsed_s) if trials else begun_s
            latest_s = max(self.budget_s, begun_s + 2 * LEAST_PAIRS * LONGEST_RUN * self.budget_s)
            if not is_ending and self._elapsed_s > latest_s:
                folder.request("stop")
                is_ending = True
        return self.experiments[-1].read_trials()

    def _trained(self, project: Project, doing: str) -> Iterator[tuple[ExperimentFolder, list[Trial]]]:
        """Run an experiment in a process of its own, which ends with this one, and yield its trials while it runs."""
        folder = begin(project, self.path, base=self.base)
        self.experiments.append(folder)
        with _runner_of(folder) as process:
            while process.poll() is None:
                trials = folder.read_trials()
                yield folder, trials
                done = min(self._elapsed_s, self.budget_s)
                report(int(done), int(self.budget_s), f"seconds, {doing}: {self._best_text(trials)}")
                time.sleep(LOOK_S)
        if not folder.read_trials():
            raise RunError(f"The experiment has failed: {folder.read_info().reason or f'see {folder.log}'}")

    def _best_text(self, trials: Sequence[Trial]) -> str:
        text = plural(len(trials), "trial")
        if (best := best_trial(trials, [self.objective.name])) is not None:
            text += f", best {self._metric} {format_score(self._metric, best.scores[self.objective.name])}"
        return text

    def _scores(self, trials: Sequence[Trial], number: int) -> dict[str, float]:
        """Return the scores of the finished runs of a trial by the number of their seed."""
        runs = [run for trial in trials if trial.number == number for run in trial.runs if run.state == "finished"]
        scores = {run.name.rpartition("_")[2]: run.scores.get(self.objective.name, math.nan) for run in runs}
        return {seed: score for seed, score in scores.items() if math.isfinite(score)}


@contextlib.contextmanager
def _runner_of(folder: ExperimentFolder) -> Iterator["subprocess.Popen[bytes]"]:
    """Context with a runner of an experiment, which stops at the end of it, or with this process."""
    reading, writing = os.pipe()
    try:
        process = start_runner(folder, reading)
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    try:
        yield process
    finally:
        os.close(writing)
        process.wait()


def _options(
    project: Project, space: Sequence[Parameter], objective: Objective, budget_s: float, defined: ExperimentOptions
) -> ExperimentOptions:
    """Return the definition of the search."""
    return ExperimentOptions(
        parameters=[parameter.write() for parameter in space],
        strategy="tpe" if importlib.util.find_spec("optuna") is not None else "random",
        baseline=True,
        trials=MOST_TRIALS,
        objectives=(objective.name,),
        pruning="median",
        prune_from_epoch=max(1, project.training.max_epochs // 4),
        max_hours=budget_s / 3600,
        **{name: getattr(defined, name) for name in KEPT},
    )


def _limited(project: Project, seconds: float) -> Project:
    """Return the project with at most so much time for each run."""
    options = project.training
    if options.max_time * UNIT_S[options.max_time_unit] <= seconds:
        return project
    return replace(project, training=options.replace(max_time=seconds, max_time_unit="seconds"))


def _rounded(value: Any) -> Any:
    return float(f"{value:.3g}") if isinstance(value, float) else value
