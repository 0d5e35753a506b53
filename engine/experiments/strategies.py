"""How the values of the next trial are chosen: grid, random, Sobol, a table, or optuna. And what trials tell."""

import contextlib
import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.extras import import_extra
from netwright.engine.core.files import refuse_destination, write_atomically
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.progress import notice
from netwright.engine.experiments.functions import ByFunction
from netwright.engine.experiments.operations.experiment_export import TrialExportRequest, TrialExportResult
from netwright.engine.experiments.operations.experiment_importance import ImportanceRequest, ImportanceResult
from netwright.engine.project.experiment import NEEDS_OPTUNA, ExperimentOptions, Objective, rows_in
from netwright.engine.project.file import load
from netwright.engine.project.parameters import Parameter, lists_of
from netwright.engine.project.project import Project
from netwright.engine.project.trials import applies, fulfils, is_whole, key_of, own_values
from netwright.engine.runs.experiments import open_experiment
from netwright.engine.runs.trial_log import PRUNED, Trial, damage_text
from netwright.engine.runs.trial_marks import marks_and_damage
from netwright.engine.runs.trial_rows import described_experiment, trials_csv

MOST_TRIES = 1000
"""Values in a row that may violate the constraints, or repeat an earlier trial of a grid, before the search ends."""
EXTRA = "experiments"
SQLITE = (".db", ".sqlite", ".sqlite3")
TREES, FEW_TRIALS = 64, 200
"""Trees of the forest behind importances, and trials up to which it has so many: with 1,000 they take 20 s."""


class Strategy(Protocol):
    """Chooses values of trials and learns what they have reached."""

    def values_of(self, number: int) -> dict[str, Any] | None:
        """Return the values of the trial of this number, from 1; None where there is none. Raises `UserError`."""

    def began(self, trial: Trial) -> None:
        """Take note of a trial that has begun, also in an earlier process."""

    def ended(self, trial: Trial) -> None:
        """Take note of a trial that has ended."""


class Listed:
    """Trials that depend on nothing but the definition: a grid, a table, random values and Sobol points."""

    def __init__(self, project: Project) -> None:
        options = project.experiment
        self._rest = _CHOOSERS[options.strategy](project)
        self._known = [dict(own_values(project))] if options.baseline and not options.is_listed else []

    def values_of(self, number: int) -> dict[str, Any] | None:
        """Return the values of the trial of this number, from 1; None where there is none. Raises `UserError`."""
        while len(self._known) < number:
            values = next(self._rest, None)
            if values is None:
                return None
            self._known.append(values)
        return self._known[number - 1]

    def began(self, trial: Trial) -> None:
        """Take no note: trials do not depend on each other."""

    def ended(self, trial: Trial) -> None:
        """Take no note: trials do not depend on each other."""


def strategy_for(
    project: Project,
    objectives: Sequence[Objective],
    journal: Path,
    base: Path,
    frozen: Mapping[str, Path] | None = None,
) -> Strategy:
    """Return the strategy of an experiment; `base` is the folder that files of code lie relative to, `frozen` are
    copies of them. Raises `UserError` where it needs optuna, which is not installed."""
    if project.experiment.strategy == "function":
        return ByFunction(project, base, frozen)
    if project.experiment.strategy not in NEEDS_OPTUNA:
        return Listed(project)
    refuse_without_optuna(project.experiment.strategy)
    return ByOptuna(project, objectives, journal)


def refuse_without_optuna(strategy: str) -> None:
    """Import optuna. Raises `UserError` where it is not installed."""
    import_extra("optuna", EXTRA, f"Trials by {strategy}", "Or use grid, random or sobol.")


def next_values(strategy: Strategy, options: ExperimentOptions, number: int) -> dict[str, Any] | None:
    """Return the values of the trial of this number; None where the experiment has no more. Raises `UserError`."""
    return strategy.values_of(number) if options.is_listed or number <= options.trials else None


def may_have_more(strategy: Strategy, options: ExperimentOptions, number: int) -> bool:
    """Return whether there may be a trial of this number, without asking optuna or a user's function for it."""
    return strategy.values_of(number) is not None if options.is_listed else number <= options.trials


# ---- without optuna ----


def _grid(project: Project) -> Iterator[dict[str, Any]]:
    """Yield every combination, the last parameter changing fastest; where conditions drop values, each one once."""
    options = project.experiment
    points = [parameter.points(is_whole=is_whole(project, parameter.path)) for parameter in options.parameters]
    keys: set[str] = set()
    for combination in itertools.product(*points):
        values: dict[str, Any] = {}
        for parameter, value in zip(options.parameters, combination, strict=True):
            if applies(project, parameter, values):
                values[parameter.path] = value
        if (key := key_of(values)) not in keys and fulfils(project, options, values):
            keys.add(key)
            yield values


def _table(project: Project) -> Iterator[dict[str, Any]]:
    return (dict(row) for row in rows_in(project.experiment))


def _random(project: Project) -> Iterator[dict[str, Any]]:
    generator = random.Random(project.experiment.seed)
    count = len(project.experiment.parameters)
    return _from_shares(project, ([generator.random() for _ in range(count)] for _ in itertools.count()))


def _sobol(project: Project) -> Iterator[dict[str, Any]]:
    """Yield the points of a scrambled Sobol sequence (Owen, 1998)."""
    from torch.quasirandom import SobolEngine

    count = len(project.experiment.parameters)
    if not count:
        return _random(project)
    engine: Any = SobolEngine(count, scramble=True, seed=project.experiment.seed)  # type: ignore[no-untyped-call]
    return _from_shares(project, (engine.draw(1)[0].tolist() for _ in itertools.count()))


def _from_shares(project: Project, points: Iterator[Sequence[float]]) -> Iterator[dict[str, Any]]:
    """Yield the values at points of the unit cube that fulfil the constraints. Raises `UserError` where none do."""
    options, tries = project.experiment, 0
    whole = [is_whole(project, parameter.path) for parameter in options.parameters]
    for point in points:
        values: dict[str, Any] = {}
        for parameter, share, rounds in zip(options.parameters, point, whole, strict=True):
            if applies(project, parameter, values):
                values[parameter.path] = parameter.at(share, is_whole=rounds)
        if fulfils(project, options, values):
            tries = 0
            yield values
        elif (tries := tries + 1) >= MOST_TRIES:
            raise _none_fulfils(options)


def _none_fulfils(options: ExperimentOptions) -> UserError:
    return UserError(
        f"None of {MOST_TRIES:,} choices fulfils the {plural(len(options.constraints), 'constraint')} of the "
        f"experiment: {'; '.join(options.constraints)}.",
        hint="Loosen them, or widen the ranges.",
    )


_CHOOSERS = {"grid": _grid, "table": _table, "random": _random, "sobol": _sobol}


# ---- with optuna ----


class ByOptuna:
    """Trials that optuna chooses. Its study is rebuilt from the log of trials, so that an experiment goes on
    after its runner was killed; each choice has a seed of its own, so that it does not depend on when that was."""

    def __init__(self, project: Project, objectives: Sequence[Objective], journal: Path) -> None:
        self._optuna = optuna = _quiet_optuna("An experiment")
        self._project, self._objectives = project, tuple(objectives)
        self._trials: dict[int, Any] = {}
        self._asked: dict[int, Any] = {}
        with contextlib.suppress(FileNotFoundError):
            journal.unlink()
        storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(journal)))
        directions = ["minimize" if objective.is_low_better else "maximize" for objective in objectives]
        self._study = optuna.create_study(
            storage=storage,
            study_name=journal.parent.name,
            directions=directions,
            pruner=optuna.pruners.NopPruner(),  # trials are judged by netwright.engine.experiments.trial_pruning
        )

    def _sampler(self, number: int) -> Any:
        options, samplers = self._project.experiment, self._optuna.samplers
        seed = (options.seed * 1_000_003 + number) % 2**32
        match options.strategy:
            case "tpe":
                return samplers.TPESampler(seed=seed, constant_liar=True)
            case "gp":
                import_extra("scipy", "matlab", "Gaussian processes")
                return samplers.GPSampler(seed=seed)
            case "nsga2":
                return samplers.NSGAIISampler(seed=seed)
        return samplers.RandomSampler(seed=seed)

    def values_of(self, number: int) -> dict[str, Any] | None:
        """Return the values of the trial of this number, from 1; None where there is none. Raises `UserError`."""
        if number == 1 and self._project.experiment.baseline:
            return dict(own_values(self._project))
        for attempt in range(MOST_TRIES):
            self._study.sampler = self._sampler(number + attempt * 7919)
            optuna_trial = self._study.ask()
            values = self._suggested(optuna_trial)
            if fulfils(self._project, self._project.experiment, values):
                self._asked[number] = optuna_trial
                return values
            self._study.tell(optuna_trial, state=self._optuna.trial.TrialState.FAIL)
        raise _none_fulfils(self._project.experiment)

    def _suggested(self, optuna_trial: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for parameter in self._project.experiment.parameters:
            if not applies(self._project, parameter, values):
                continue
            values[parameter.path] = self._suggest(optuna_trial, parameter)
        return values

    def _suggest(self, optuna_trial: Any, parameter: Parameter) -> Any:
        distribution = distribution_of(self._project, parameter)
        if parameter.values:
            return _tuple(json.loads(optuna_trial.suggest_categorical(parameter.path, distribution.choices)))
        suggest = optuna_trial.suggest_int if isinstance(distribution.low, int) else optuna_trial.suggest_float
        return suggest(parameter.path, distribution.low, distribution.high, log=parameter.is_log)

    def began(self, trial: Trial) -> None:
        """Take note of a trial that has begun, also in an earlier process."""
        if trial.number in self._asked:
            self._trials[trial.number] = self._asked.pop(trial.number)
            return
        params, distributions = _params_of(self._project, trial)
        self._study.enqueue_trial(params, user_attrs={"trial": trial.number})
        self._trials[trial.number] = self._study.ask(fixed_distributions=distributions)

    def ended(self, trial: Trial) -> None:
        """Take note of a trial that has ended."""
        states = self._optuna.trial.TrialState
        at_work = self._trials.pop(trial.number, None)
        if at_work is None:
            return
        scores = [trial.scores.get(objective.name) for objective in self._objectives]
        if trial.state == PRUNED and trial.runs and None not in scores:  # optuna takes the last value reported
            at_work.report(scores[0], max(run.epoch for run in trial.runs))
            self._study.tell(at_work, state=states.PRUNED)
        elif trial.state != "finished" or None in scores:
            self._study.tell(at_work, state=states.FAIL)
        else:
            self._study.tell(at_work, values=scores)


def _quiet_optuna(purpose: str) -> Any:
    optuna = import_extra("optuna", EXTRA, purpose)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def distribution_of(project: Project, parameter: Parameter) -> Any:
    """Return optuna's distribution of a parameter; values of a list are its categories, as JSON."""
    from optuna import distributions

    if parameter.values:
        return distributions.CategoricalDistribution([_category(value) for value in parameter.values])
    if is_whole(project, parameter.path):
        low, high = parameter.at(0.0, is_whole=True), parameter.at(1.0, is_whole=True)
        return distributions.IntDistribution(low, high, log=parameter.is_log)
    return distributions.FloatDistribution(float(parameter.low), float(parameter.high), log=parameter.is_log)


def _params_of(project: Project, trial: Trial) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of a trial as optuna has them, and their distributions; without values that an initialization
    function has put outside of what varies."""
    params, distributions = {}, {}
    for parameter in project.experiment.parameters:
        value = trial.values.get(parameter.path)
        if parameter.values:
            fits = value in parameter.values
        else:
            fits = isinstance(value, (int, float)) and parameter.low <= value <= parameter.high
        if fits:
            params[parameter.path] = _category(value) if parameter.values else value
            distributions[parameter.path] = distribution_of(project, parameter)
    return params, distributions


def _category(value: Any) -> str:
    return json.dumps(lists_of({"": value})[""])


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


def study_of(project: Project, trials: Sequence[Trial], objectives: Sequence[str]) -> Any:
    """Return an optuna study, in memory, of the trials that have finished. Raises `UserError` without optuna."""
    optuna = _quiet_optuna("A study")
    directions = ["minimize" if Objective(name).is_low_better else "maximize" for name in objectives]
    study = optuna.create_study(directions=directions)
    for trial in trials:
        if trial.state != "finished" or any(name not in trial.scores for name in objectives):
            continue
        params, distributions = _params_of(project, trial)
        study.add_trial(
            optuna.trial.create_trial(
                params=params,
                distributions=distributions,
                values=[trial.scores[name] for name in objectives],
                user_attrs={"trial": trial.number},
            )
        )
    return study


def write_study(project: Project, trials: Sequence[Trial], objectives: Sequence[str], path: Path) -> None:
    """Write the trials that have finished as a study of optuna into a new file: an SQLite database for the suffixes
    `SQLITE`, else a journal. Raises `UserError`."""
    if path.exists():
        raise UserError(f"{path} exists already.", hint="Name another file.")
    refuse_destination(path)
    study = study_of(project, trials, objectives)
    optuna = _quiet_optuna("A study")
    directions = [direction.name.lower() for direction in study.directions]
    try:
        if path.suffix.lower() in SQLITE:
            storage = optuna.storages.RDBStorage(f"sqlite:///{path.absolute()}")
        else:
            storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))
        written = optuna.create_study(storage=storage, study_name=path.stem, directions=directions)
        written.add_trials(study.trials)
        if path.suffix.lower() in SQLITE:
            storage.remove_session()
            storage.engine.dispose()
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from None


def export_trials(request: TrialExportRequest) -> TrialExportResult:
    """Write the trials, or return them as text where no file is named. Raises `UserError`."""
    folder, to = open_experiment(request.experiment), request.output
    trials, damaged = folder.read_log()
    faults = [damage_text(folder.trials, damaged)]
    text = ""
    if request.format == "optuna":
        assert to is not None
        write_study(load(folder.project).project, trials, folder.read_info().objectives, to)
    else:
        marks, damage = marks_and_damage(folder)
        faults.append(damage)
        if request.format == "csv":
            text = trials_csv(trials, marks)
        else:
            text = json.dumps(to_json(dict(described_experiment(folder, trials, marks))), indent=1, allow_nan=False)
            text += "\n"
        if to is not None:
            try:
                write_atomically(to, text.encode())
            except OSError as error:
                raise UserError(f"{to} cannot be written: {error.strerror}.") from None
    notice(*filter(None, faults))
    return TrialExportResult(files=[str(to)] if to is not None else [], text="" if to is not None else text)


def importances(project: Project, trials: Sequence[Trial], objective: str) -> Mapping[str, float]:
    """Return the importance of each parameter for an objective, as shares of 1, by functional ANOVA (Hutter et al.,
    2014) over the trials that have finished. Raises `UserError` without optuna, or with too few trials."""
    study = study_of(project, trials, [objective])
    if len(study.trials) < 4:
        raise UserError(f"Importances need at least 4 finished trials; there are {len(study.trials)}.")
    import_extra("sklearn", EXTRA, "Importances of parameters")
    import optuna

    trees = TREES if len(study.trials) <= FEW_TRIALS else TREES // 4
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=trees, seed=0)
    try:
        shares = optuna.importance.get_param_importances(study, evaluator=evaluator)
    except (ValueError, RuntimeError) as error:  # no parameter that all trials have, or no difference between them
        raise UserError(f"The trials do not tell how important their parameters are: {error}") from None
    return {path: float(share) for path, share in shares.items()}


def importance(request: ImportanceRequest) -> ImportanceResult:
    """Return the importance of each parameter of an experiment, the largest first. Raises `UserError`."""
    folder = open_experiment(request.experiment)
    trials, damaged = folder.read_log()
    objective = request.objective or folder.read_info().objectives[0]
    finished = [trial for trial in trials if trial.state == "finished"]
    known = dict.fromkeys(name for trial in finished for name in trial.scores)
    if finished and objective not in known:
        hint = did_you_mean(objective, known) or f"There are: {', '.join(sorted(known))}."
        raise UserError(f"No trial of {folder.path} has {objective}.", hint=hint)
    return ImportanceResult(
        experiment_dir=str(folder.path.absolute()),
        objective=objective,
        trials=sum(objective in trial.scores for trial in finished),
        importance=importances(load(folder.project).project, trials, objective),
        damage=damage_text(folder.trials, damaged),
    )
