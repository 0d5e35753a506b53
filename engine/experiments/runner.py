"""Runner of an experiment: starts the runs of its trials, each in a process forked from this one, and records how they
end.

This process has torch, the compiler's modules and the data of the project in memory, and computes nothing itself: a
trial begins at once, and shares the samples with the others. The runs are ordinary ones, with a coordinator each. They
outlive a runner that is killed; the next runner of the experiment takes them over.
"""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import flush_folder
from netwright.engine.core.platform import ended_process
from netwright.engine.core.process import readable
from netwright.engine.experiments.active_run import ActiveRun, RunPlan, TrialAtWork, ended_run, start_run
from netwright.engine.experiments.begin import origin_of, refuse_if_none_fits
from netwright.engine.experiments.definition import (
    change_options,
    first_run,
    look_at_functions,
    read_data,
    read_facts,
    runs_of,
)
from netwright.engine.experiments.functions import initialized
from netwright.engine.experiments.places import Places, places_of
from netwright.engine.experiments.record import BROKEN_DISK, ExperimentRecord, not_written, note_state, outcome_of
from netwright.engine.experiments.strategies import Strategy, may_have_more, next_values, strategy_for
from netwright.engine.experiments.trial_pruning import Decision, Watch
from netwright.engine.launch.local_launcher import preload
from netwright.engine.launch.notification import announce
from netwright.engine.launch.prepare import versions
from netwright.engine.placement.shares import Slot
from netwright.engine.project.data_hosts import look_up
from netwright.engine.project.experiment import Objective, Target
from netwright.engine.project.file import load
from netwright.engine.project.parameters import MOST_TRIALS
from netwright.engine.project.project import Project
from netwright.engine.project.trials import num_trials
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, hold
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.machine_shares import RUNNER, MachineShare
from netwright.engine.runs.trial_log import COUNTED, FAILED, STARTS_AGAIN, Trial, TrialRun, trials_from

LOOK_S = 0.25
"""Time between two looks at requests, and at runs that another process has started."""
CURVES_S = 0.1
"""The same where curves decide about trials."""
GOES_ON = ("stopped", "lost")
"""States of runs that go on with their experiment."""
Tell = Callable[[Trial], None]


class Runner:
    """Runner of one experiment. `tell` is called with a trial whenever its state or its runs have changed."""

    def __init__(self, folder: ExperimentFolder, tell: Tell = lambda trial: None) -> None:
        self._folder, self._tell = ExperimentFolder(folder.path.absolute()), tell  # runs start in another folder
        self._active: dict[str, ActiveRun] = {}
        self._at_work: dict[int, TrialAtWork] = {}
        self._trials: dict[int, Trial] = {}
        self._unflushed: list[Path] = []
        self._restarts: dict[str, int] = {}
        """Restarts of runs whose coordinator was killed, by name."""
        self._is_stopping = self._is_finishing = False
        self._failure: UserError | None = None
        self._reason, self._waits, self._lock = "", "", -1

    def run(self) -> ExperimentInfo:
        """Run the experiment to its end and return its record. Ctrl-C stops it, as `stop` does; a second one leaves the
        runs to themselves. Raises `UserError`, and `RunError` where another process is at work on it, and where its
        folder cannot be written."""
        self._lock = hold(self._folder)
        share = MachineShare(RUNNER, str(self._folder.path)).__enter__()
        try:
            info = self._folder.read_info()
            started = time.monotonic()
            try:
                self._open(info)
            except UserError as error:
                note_state(self._folder, "failed", str(error))
                raise
            state, reason = "failed", ""
            try:
                note_state(self._folder, "running", "")
                try:
                    self._work(started, info.seconds)
                except KeyboardInterrupt:
                    self.stop()
                    self._work(started, info.seconds)
                if self._failure is not None:
                    raise self._failure
                state, reason = "stopped", self._reason
                if not self._is_stopping:
                    state, reason = outcome_of(self._trials.values(), self._reason, is_full=self._record.is_full)
            except UserError as error:
                reason = str(error)
                raise
            except OSError as error:
                if error.errno not in BROKEN_DISK:
                    raise
                reason = str(broken := not_written(self._folder, error))
                raise broken from error
            finally:
                self._places.close()
                self._record.close()
                seconds = round(info.seconds + time.monotonic() - started, 3)
                note_state(self._folder, state, reason, seconds=seconds, waits="")
            return self._folder.read_info()
        finally:
            share.close()
            os.close(self._lock)
            announce(self._folder.log, "experiment", str(self._folder.path.absolute()))

    def stop(self, reason: str = "stopped on request") -> None:
        """Start no more runs and ask those under way to stop; `run` then returns. What has begun goes on when the
        experiment is run again."""
        if not self._is_stopping:
            self._is_stopping, self._reason = True, reason
            for run in self._active.values():
                with contextlib.suppress(UserError):
                    run.folder.request("stop")

    def _open(self, info: ExperimentInfo) -> None:
        """Read definition and trials, and what every trial needs into memory."""
        look_up(self._folder.path)
        self._project = load(self._folder.project).project
        self._base = Path(info.base or self._folder.path)
        self._path = Path(info.project_path) if info.project_path else None
        self._frozen = look_at_functions(self._folder, self._project, self._base)
        self._objectives = [Objective.read(name) for name in info.objectives]
        self._target = Target.read(self._project.experiment.target) if self._project.experiment.target else None
        of = self._project, self._objectives, self._folder.journal, self._base, self._frozen
        self._strategy: Strategy = strategy_for(*of)
        self._watch = Watch(self._project.experiment, self._objectives[0], self._project.training.max_epochs)
        self._trials = trials_from(self._folder.lines())[0]
        if self._trials and self._has_work():  # else `begin` has looked
            read_facts(self._project, self._base)
            refuse_if_none_fits(self._project, origin_of(self._path, self._base))
        self._record = ExperimentRecord(self._folder)
        self._places: Places = places_of(self._project, self._folder)
        if self._has_work() or not all(trial.is_over for trial in self._trials.values()):
            preload()  # so that each run starts at once in its forked process
            versions()
            with contextlib.suppress(UserError):  # each trial says what is wrong with its data
                read_data(self._project, self._base)
        for trial in self._trials.values():
            at_work = self._begin(trial)
            if trial.is_over:
                self._watch.read(trial.number, is_over=True)
                self._forget(trial)
            else:
                self._take_over(at_work)

    def _begin(self, trial: Trial) -> TrialAtWork:
        """Take note of a trial that begins, or that an earlier runner has begun."""
        self._strategy.began(trial)
        self._watch.begin(trial, self._folder_of(first_run(self._project, trial.number)))
        at_work = self._at_work[trial.number] = TrialAtWork(trial)
        return at_work

    def _take_over(self, at_work: TrialAtWork) -> None:
        """Go on with a trial that an earlier runner has begun."""
        trial = at_work.trial
        projects = self._projects_of(trial)
        ended = {run.name for run in trial.runs}
        for name, project in projects.items():
            folder = self._folder_of(name)
            if name in ended:
                continue
            if folder.info.is_file() and folder.is_alive():
                slot = self._places.slot_of(load(folder.project).project.environment)
                self._active[name] = ActiveRun(trial.number, name, folder, slot)
            elif folder.info.is_file() and folder.state() not in GOES_ON:
                self._judge_or_record(at_work, ended_run(name, folder, self._objectives))
            else:
                at_work.waiting[name] = project
        self._end_if_over(trial.number)

    def _projects_of(self, trial: Trial) -> dict[str, Project]:
        """Return the projects of the runs of a trial; none, and the trial has ended, where its values do not fit."""
        try:
            return runs_of(self._project, trial, self._base)
        except UserError as error:
            self._end(trial, "refused", str(error))
            return {}

    # ---- the loop ----

    def _work(self, started: float, seconds_before: float) -> None:
        """Start and record runs until nothing is left to do."""
        while True:
            self._obey()
            self._attend_places()
            self._collect()
            self._look_at_curves()
            limit_s = self._project.experiment.max_hours * 3600
            if limit_s and seconds_before + time.monotonic() - started > limit_s and not self._is_finishing:
                self._is_finishing, self._reason = True, "the time of the experiment is over"
            while not (self._is_stopping or self._record.is_full) and self._start_next():
                pass
            while self._unflushed:  # while the next runs train
                flush_folder(self._unflushed.pop())
            if not self._active and (self._is_stopping or self._record.is_full or not self._has_work()):
                return
            self._wait()

    def _obey(self) -> None:
        for request in self._folder.take_requests():
            match request.get("do"):
                case "stop":
                    self.stop()
                case "finish":
                    self._is_finishing, self._reason = True, "no more trials were asked for"
                case "set":
                    self._change_options(request)
                case "again":
                    self._begin_again(request.get("trials"))
                case "stop_trial":
                    self._stop_trial(request.get("trial"))

    def _change_options(self, request: Mapping[str, Any]) -> None:
        """Change budget and parallelism of the experiment: `trials`, `max_hours`, `at_once`."""
        changes = {name: request[name] for name in ("trials", "max_hours", "at_once") if name in request}
        with contextlib.suppress(UserError):
            change_options(self._folder, changes)
            self._project = load(self._folder.project).project
            self._is_finishing, self._reason = False, ""  # what was asked for last counts
            self._places.change(self._project)

    def _stop_trial(self, number: Any) -> None:
        """Stop one trial: no more of its runs are started, and the experiment goes on with the others."""
        if (at_work := self._at_work.get(number)) is None:
            return
        at_work.waiting.clear()
        active = [run for run in self._active.values() if run.trial == number]
        try:
            for run in active:
                run.folder.request("stop")
        except UserError:  # its folder is being made: at the next look
            self._folder.request("stop_trial", trial=number)
        if not active:
            self._end(at_work.trial, "stopped", "stopped on request")

    def _begin_again(self, numbers: Any) -> None:
        """Train trials again: those with these numbers, or all that have failed. Their folders are kept beside."""
        states, trials = STARTS_AGAIN if numbers else FAILED, self._trials.values()
        for trial in [t for t in trials if t.state in states and (not numbers or t.number in numbers)]:
            self._record.begin_again(trial)
            trial = self._trials[trial.number] = replace(trial, state="running", runs=(), reason="")
            self._begin(trial).waiting = self._projects_of(trial)

    def _has_work(self) -> bool:
        is_waiting, options = any(at_work.waiting for at_work in self._at_work.values()), self._project.experiment
        more = not self._is_finishing and may_have_more(self._strategy, options, self._number_of_next)
        return is_waiting or more

    @property
    def _number_of_next(self) -> int:
        return max(self._trials, default=0) + 1

    def _start_next(self) -> bool:
        """Start the next run of a trial that has begun, else begin a trial where there is a place for one.

        A run without a place waits, and so do those behind it: one over several devices is not passed by small ones.
        Return False where nothing can be started.
        """
        for at_work in self._at_work.values():
            if at_work.waiting:
                name, project = next(iter(at_work.waiting.items()))
                slot = self._places.find(project.environment, self._active)
                if slot is None:
                    return False
                del at_work.waiting[name]
                self._start_run(at_work.trial, name, project, slot)
                return True
        if self._is_finishing or self._places.find(None, self._active) is None:
            return False
        values = self._values_of_next()
        return values is not None and self._begin_next(values)

    def _begin_next(self, values: Mapping[str, Any]) -> bool:
        """Begin a trial, whose runs wait for a place; return True."""
        reason = ""
        try:
            values = initialized(self._project, self._base, values, self._frozen)
        except UserError as error:
            reason = str(error)
        trial = Trial(self._number_of_next, values, started=time.time())
        self._record.append(trial.number, values=values)  # before the run: it belongs to a trial from its first moment
        self._trials[trial.number] = trial
        at_work = self._begin(trial)
        self._tell(trial)
        if reason:
            self._end(trial, "refused", reason)
        else:
            at_work.waiting = self._projects_of(trial)
        return True

    def _values_of_next(self) -> dict[str, Any] | None:
        """Return the values of the next trial. Where there are none, no other trial begins."""
        try:
            values = next_values(self._strategy, self._project.experiment, self._number_of_next)
        except UserError as error:  # raised once the runs under way have ended
            self._failure, values = error, None
        if self._failure or (values is None and self._project.experiment.strategy == "function"):
            self._is_finishing = True
        return values

    def _wait(self) -> None:
        """Wait until a run ends, at most until the next look."""
        news = [*self._places.descriptors[:1], *(pipe for run in self._active.values() for pipe in run.news)]
        readable(news, CURVES_S if self._watch.is_on else LOOK_S)

    def _attend_places(self) -> None:
        """Let the places follow how many runs are left, and note what the experiment waits for."""
        num_left = len(self._active) + sum(len(at_work.waiting) for at_work in self._at_work.values())
        if not (self._is_finishing or self._is_stopping):
            total = num_trials(self._project) or MOST_TRIALS
            num_left += max(0, total - len(self._trials)) * self._project.experiment.runs_per_trial
        self._places.attend(self._active, num_left)
        if self._places.waits != self._waits:
            self._waits = self._places.waits
            self._folder.update_info(waits=self._waits)

    # ---- runs ----

    def _folder_of(self, name: str) -> RunFolder:
        return RunFolder(self._folder.run_path(name))

    def _start_run(self, trial: Trial, name: str, project: Project, slot: Slot) -> None:
        """Start a run in its place."""
        project = replace(project, environment=self._places.environment_in(project.environment, slot))
        plan = RunPlan(trial.number, name, self._folder_of(name), project, self._path, self._base)
        self._active[name] = start_run(plan, slot)

    def _collect(self) -> None:
        """Record the runs that have ended."""
        for run in list(self._active.values()):
            is_running = ended_process(run.pid, otherwise=0) is None if run.pid else run.folder.is_alive()
            if is_running:
                continue
            del self._active[run.name]
            self._ended(run)
            self._unflushed.append(run.folder.path)
            run.close()

    def _ended(self, run: ActiveRun) -> None:
        early, trial, at_work = run.early_end(run.said()), self._trials[run.trial], self._at_work[run.trial]
        state = run.folder.state() if run.folder.info.is_file() else "lost"
        if at_work.decision is not None:
            self._record_pruned(at_work, run.name)
        elif early is not None:
            self._end_run(run.trial, early)
        elif state == "stopped" and self._is_stopping:
            return  # it goes on with the experiment
        elif state == "lost" and not self._was_tried_again(run):
            at_work.waiting[run.name] = self._projects_of(trial)[run.name]
            return  # its coordinator was killed: from its last checkpoint
        else:
            ended = ended_run(run.name, run.folder, self._objectives)
            self._judge_or_record(at_work, replace(ended, host=run.slot.host))
        self._end_if_over(run.trial)

    def _was_tried_again(self, run: ActiveRun) -> bool:
        """Return whether a run whose coordinator was killed has used up its restarts."""
        self._restarts[run.name] = self._restarts.get(run.name, 0) + 1
        return self._restarts[run.name] > self._project.run.max_restarts

    def _end_run(self, number: int, run: TrialRun) -> None:
        """Note the end of a run, in the log of trials and in its trial."""
        self._record.append_run(number, run)
        trial = self._trials[number]
        others = tuple(other for other in trial.runs if other.name != run.name)
        trial = self._trials[number] = replace(trial, runs=(*others, run))
        self._at_work[number].trial = trial
        if run.state not in COUNTED:  # the other runs of the trial would tell nothing
            self._at_work[number].waiting.clear()

    def _end_if_over(self, number: int) -> None:
        """End a trial all of whose runs have ended."""
        at_work = self._at_work.get(number)
        if at_work is None or at_work.is_left or any(run.trial == number for run in self._active.values()):
            return
        if (outcome := at_work.outcome()) is not None:
            self._end(at_work.trial, *outcome)

    def _end(self, trial: Trial, state: str, reason: str) -> None:
        trial = self._trials[trial.number] = replace(trial, state=state, reason=reason, ended=time.time())
        self._record.append(trial.number, state=state, reason=reason)
        self._forget(trial)
        self._tell(trial)
        if self._target is not None and state == "finished" and self._target.is_reached(trial.scores):
            self._is_finishing = True
            self._reason = f"trial {trial.number} reached {self._project.experiment.target}"

    def _forget(self, trial: Trial) -> None:
        """Take note of a trial that has ended."""
        del self._at_work[trial.number]
        self._strategy.ended(trial)
        self._watch.end(trial.number)

    # ---- pruning ----

    def _judge_or_record(self, at_work: TrialAtWork, run: TrialRun) -> None:
        """Record a run that has ended; where its trial is judged by it, once all its epochs are judged."""
        if self._watch.is_on and run.name == first_run(self._project, at_work.trial.number):
            self._watch.read(at_work.trial.number, is_over=True)
            at_work.unjudged = run
        else:
            self._end_run(at_work.trial.number, run)

    def _look_at_curves(self) -> None:
        """End the trials that fall behind."""
        for decision in self._watch.judge():
            if decision.trial in self._at_work:
                self._prune(self._at_work[decision.trial], decision)
        for number, at_work in list(self._at_work.items()):
            if at_work.unjudged is not None and self._watch.is_judged(number):
                self._end_run(number, at_work.unjudged)
                at_work.unjudged = None
                self._end_if_over(number)

    def _prune(self, at_work: TrialAtWork, decision: Decision) -> None:
        """Ask the runs of a trial to stop; where there are none, the trial has ended."""
        at_work.decision, number = decision, at_work.trial.number
        at_work.waiting.clear()
        active = [run for run in self._active.values() if run.trial == number]
        for run in active:
            with contextlib.suppress(UserError):
                run.folder.request("stop")
        if first_run(self._project, number) not in self._active:
            at_work.unjudged = None
            self._record_pruned(at_work, first_run(self._project, number))
            self._end_if_over(number)

    def _record_pruned(self, at_work: TrialAtWork, name: str) -> None:
        """Record a run of a trial that was pruned, and again those that have ended before."""
        number, decision = at_work.trial.number, at_work.decision
        assert decision is not None
        for run in (ended_run(name, self._folder_of(name), ()), *at_work.trial.runs):
            self._end_run(number, decision.applied(run, is_first=run.name == first_run(self._project, number)))
