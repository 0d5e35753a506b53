"""How values of trials are chosen, with and without optuna."""

import itertools
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.experiments.strategies import importances, strategy_for, write_study
from netwright.engine.project.experiment import ExperimentOptions, Objective
from netwright.engine.project.project import Project
from netwright.engine.runs.trial_log import Trial, TrialRun
from tests.builders import chain, layer

LOSS = Objective("validation.loss")
RATE, EPOCHS = "training.initial_learn_rate", "training.max_epochs"


def project(**options: Any) -> Project:
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=10))
    return Project(network, experiment=ExperimentOptions(**options))


def first(count: int, tmp_path: Path, **options: Any) -> list[dict[str, Any] | None]:
    strategy = strategy_for(project(**options), [LOSS], tmp_path / "journal.log", tmp_path)
    return [strategy.values_of(number) for number in range(1, count + 1)]


def ended(number: int, values: dict[str, Any], loss: float) -> Trial:
    return Trial(number, values, "finished", (TrialRun(str(number), "finished", {"validation.loss": loss}),))


def test_a_grid_has_every_combination(tmp_path: Path) -> None:
    found = first(7, tmp_path, parameters=["training.solver=sgdm,adam", f"{EPOCHS}=1..5:3"])
    pairs = [(values["training.solver"], values[EPOCHS]) for values in found[:6] if values]
    assert pairs == list(itertools.product(["sgdm", "adam"], [1, 3, 5]))
    assert found[6] is None


def test_conditions_and_constraints_leave_combinations_out(tmp_path: Path) -> None:
    momentum = {"path": "training.momentum", "values": [0.5, 0.9], "when": "training.solver == 'sgdm'"}
    found = first(4, tmp_path, parameters=["training.solver=sgdm,adam", momentum])
    assert found == [
        {"training.solver": "sgdm", "training.momentum": 0.5},
        {"training.solver": "sgdm", "training.momentum": 0.9},
        {"training.solver": "adam"},
        None,
    ]
    limited = first(3, tmp_path, parameters=[f"{EPOCHS}=1,2,3"], constraints=[f"{EPOCHS} != 2"])
    assert limited == [{EPOCHS: 1}, {EPOCHS: 3}, None]


@pytest.mark.parametrize("strategy", ["random", "sobol", "tpe"])
def test_choices_repeat_with_their_seed_and_stay_in_their_ranges(strategy: str, tmp_path: Path) -> None:
    options = {"parameters": [f"{RATE}=log 0.001..0.1", f"{EPOCHS}=2..9", "training.solver=sgdm,adam"], "trials": 8}
    one, again = (first(8, tmp_path, strategy=strategy, seed=3, **options) for _ in range(2))
    other = first(8, tmp_path, strategy=strategy, seed=4, **options)
    assert one == again
    assert one != other
    for values in one:
        assert values is not None
        assert 0.001 <= values[RATE] <= 0.1
        assert values[EPOCHS] in range(2, 10)
    assert len({str(values) for values in one}) == 8


def test_a_sobol_sequence_covers_the_range(tmp_path: Path) -> None:
    found = first(16, tmp_path, strategy="sobol", parameters=["training.momentum=0..1"])
    counts = [0] * 4
    for values in found:
        assert values is not None
        counts[min(3, int(values["training.momentum"] * 4))] += 1
    assert counts == [4, 4, 4, 4]


@pytest.mark.parametrize("strategy", ["random", "tpe"])
def test_constraints_that_nothing_fulfils_end_in_words(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.engine.experiments.strategies.MOST_TRIES", 20)
    with pytest.raises(UserError, match=r"None of 20 choices fulfils the 1 constraint"):
        first(1, tmp_path, strategy=strategy, parameters=[f"{EPOCHS}=1..9"], constraints=[f"{EPOCHS} > 9"])


def test_tpe_learns_and_goes_on_after_its_process_was_killed(tmp_path: Path) -> None:
    """The undisturbed search, and one whose strategy is made anew from the trials after each trial."""
    defined = project(strategy="tpe", parameters=[f"{RATE}=0..1"], trials=30)

    def loss(values: dict[str, Any]) -> float:
        return float((values[RATE] - 0.7) ** 2)

    def search(is_disturbed: bool) -> list[Trial]:
        trials: list[Trial] = []
        strategy = strategy_for(defined, [LOSS], tmp_path / "journal.log", tmp_path)
        for number in range(1, 26):
            if is_disturbed and number % 8 == 0:
                strategy = strategy_for(defined, [LOSS], tmp_path / "journal.log", tmp_path)
                for known in trials:
                    strategy.began(replace(known, state="running", runs=()))
                    strategy.ended(known)
            values = strategy.values_of(number)
            assert values is not None
            strategy.began(Trial(number, values))
            trials.append(ended(number, values, loss(values)))
            strategy.ended(trials[-1])
        return trials

    undisturbed = search(False)
    assert undisturbed == search(True)
    late = [trial.scores["validation.loss"] for trial in undisturbed[15:]]
    early = [trial.scores["validation.loss"] for trial in undisturbed[:10]]
    assert sum(late) / len(late) < sum(early) / len(early) / 3


def test_a_pruned_trial_counts_in_the_study_as_far_as_it_was_trained(tmp_path: Path) -> None:
    defined = project(parameters=[f"{RATE}=0..1"], strategy="tpe")
    strategy = strategy_for(defined, [LOSS], tmp_path / "journal.log", tmp_path)
    trial = Trial(1, {RATE: 0.9})
    strategy.began(trial)
    run = TrialRun("1", "pruned", {"validation.loss": 9.0}, epoch=3)
    strategy.ended(replace(trial, state="pruned", runs=(run,)))
    optuna: Any = import_module("optuna")
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "journal.log"))
    (known,) = optuna.load_study(study_name=tmp_path.name, storage=optuna.storages.JournalStorage(backend)).get_trials()
    assert (known.state.name, known.intermediate_values) == ("PRUNED", {3: 9.0})


def test_importances_and_a_study_for_optuna(tmp_path: Path) -> None:
    defined = project(parameters=["training.momentum=0..1", "training.solver=sgdm,adam"], strategy="random")
    trials = []
    for number in range(1, 25):
        values = {"training.momentum": number / 25, "training.solver": ("sgdm", "adam")[number % 2]}
        trials.append(ended(number, values, (number / 25 - 0.3) ** 2))
    found = importances(defined, trials, "validation.loss")
    assert found["training.momentum"] > 0.9
    assert sum(found.values()) == pytest.approx(1.0)
    with pytest.raises(UserError, match="at least 4 finished trials; there are 2"):
        importances(defined, trials[:2], "validation.loss")
    write_study(defined, trials, ["validation.loss"], tmp_path / "study.log")
    optuna: Any = import_module("optuna")
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "study.log"))
    study = optuna.load_study(study_name="study", storage=optuna.storages.JournalStorage(backend))
    assert len(study.trials) == 24
    best = pytest.approx(min(trial.scores["validation.loss"] for trial in trials))
    assert study.best_value == best
    database = tmp_path / "study.db"
    write_study(defined, trials, ["validation.loss"], database)
    storage = optuna.storages.RDBStorage(f"sqlite:///{database}")
    assert optuna.load_study(study_name="study", storage=storage).best_value == best
    storage.remove_session()
    storage.engine.dispose()
    with pytest.raises(UserError, match="exists already"):
        write_study(defined, trials, ["validation.loss"], database)


def test_without_optuna_the_command_that_installs_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UserError, match=r'pip install "netwright\[experiments\]".*Or use grid, random or sobol'):
        first(1, tmp_path, strategy="tpe", parameters=[f"{RATE}=0..1"])
    assert first(1, tmp_path, parameters=[f"{EPOCHS}=1,2"]) == [{EPOCHS: 1}]


@pytest.mark.parametrize("strategy", ["random", "sobol", "tpe"])
def test_the_first_trial_can_be_the_project(strategy: str, tmp_path: Path) -> None:
    momentum = {"path": "training.momentum", "low": 0.1, "high": 0.99, "when": "training.solver == 'adam'"}
    varied = [f"{RATE}=log 0.5..1", "training.solver=sgdm,adam", momentum]
    options = {"parameters": varied, "strategy": strategy, "trials": 4, "baseline": True}
    strategy_of = strategy_for(project(**options), [LOSS], tmp_path / "journal.log", tmp_path)
    own = {RATE: 0.01, "training.solver": "sgdm"}  # the learn rate is out of the range
    assert strategy_of.values_of(1) == own
    strategy_of.began(Trial(1, own))
    strategy_of.ended(ended(1, own, 0.5))
    second = strategy_of.values_of(2)
    assert second is not None
    assert second[RATE] >= 0.5
