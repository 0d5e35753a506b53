"""The pages about a run and the page of experiments in another language: nothing they show is untranslated, or cut."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.analysis.answers_page import AnswersPage
from netwright.app.analysis.curves_card import CurvesCard
from netwright.app.analysis.errors_panel import ErrorsPanel
from netwright.app.analysis.forecast_plot import ForecastPlot
from netwright.app.analysis.groups_card import GroupsCard
from netwright.app.analysis.inside_page import METHODS, InsidePage
from netwright.app.analysis.plots import PredictionPlot, ReliabilityPlot
from netwright.app.analysis.predict_page import PredictPage
from netwright.app.analysis.prune_dialog import PruneDialog
from netwright.app.analysis.robustness_page import RobustnessPage, StrengthPlot
from netwright.app.analysis.scores_page import ScoresPage
from netwright.app.data.answer_tiles import tip_of
from netwright.app.experiments.definition_panel import parameters_offered
from netwright.app.experiments.experiment_menu import BudgetDialog
from netwright.app.experiments.plots.panel import PLOTS, PlotsPanel
from netwright.app.experiments.search_page import SearchPage
from netwright.app.experiments.trial_texts import progress_text, state_words, sweep_title
from netwright.app.experiments.tune_dialog import show_tune
from netwright.app.window import MainWindow
from netwright.designer import language
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.trial_log import Trial
from tests.app.analysis.test_answers_page import RESULT as ANSWERS
from tests.app.analysis.test_inside_page import SAMPLE
from tests.app.analysis.test_inside_page import answer as explain
from tests.app.analysis.test_predict_page import DIGITS, NUMBER, ROWS, TEXTS, TOP, load
from tests.app.analysis.test_prune_dialog import row
from tests.app.analysis.test_robustness_page import RESULT as ROBUSTNESS
from tests.app.analysis.test_scores_page import CLASSES, NUMBERS, SAMPLES, result
from tests.app.experiments.test_tune_dialog import result as tuned
from tests.app.fake_server import FakeServer
from tests.app.untranslated import faults as untranslated_faults
from tests.app.untranslated import shown, without
from tests.builders import classifier
from tests.designer.test_language import texts_of, untranslated
from tests.trials import ACCURACY, OPTIONS, RATE, SOLVER, sample_trials, written

RUN, OTHER = Path("/r_2"), Path("/r_1")
NAMES = ("softmax", "price", "cat", "dog", "pets", "features", "facing", "floor", "built", "east", "south", "heating")
DATA = (*NAMES, "AUROC", "FGSM", "PGD", "IoU", "RMSE", "ImageNet", "Export...", "Cancel")
"""Names in the results, words that are the same in each language, and those of Qt and pyqtgraph."""


@pytest.fixture(autouse=True)
def _pseudo(qapp: QApplication) -> Iterator[None]:
    language.use(qapp, "pseudo")
    yield
    language.use(qapp, "en")


def faults(widget: QWidget, *names: str) -> list[str]:
    """Return what is not translated or cut off, beside the names in the results."""
    return untranslated_faults(widget, *DATA, *names, has_cells=True)


@pytest.fixture
def shell(server: FakeServer, tmp_path: Path) -> Any:
    return SimpleNamespace(server=server, documents=SimpleNamespace(base=tmp_path), hint=str, show_error=print)


def test_scores_of_classes_are_translated(shell: Any, server: FakeServer, qtbot: QtBot) -> None:
    page = ScoresPage(shell)
    qtbot.addWidget(page)
    page.resize(1400, 900)
    page.set_run(RUN)
    assert faults(page) == []
    points = [[0.9, 1, 0], [0.6, 2, 0], [0.3, 2, 1], [0.1, 3, 1]]
    curve = {"class": "cat", "auc": 0.67, "average_precision": 0.9, "positives": 3, "negatives": 1, "points": points}
    stored = {"thresholds": {"cat": 0.6}, "temperature": 1.5}
    after = {**CLASSES["calibration"], "expected_error": 0.01}
    calibrated = [{"output": "softmax", "temperature": 1.4, "before": CLASSES["calibration"], "after": after}]
    target = {**CLASSES, "curves": [curve], "stored": stored, "per": "step"}
    answer = {**result(target, {"accuracy": 0.75}), "calibrated": calibrated, "cached": True, "groupings": ["a_1"]}
    page.evaluate()
    server.answer("evaluate", answer)
    server.answer("samples", {**SAMPLES, "total": 9})
    (groups,) = page.findChildren(GroupsCard)
    rows = [{"group": "b_1", "samples": 3, "metrics": {"accuracy": 0.5}, "intervals": {"accuracy": [0.2, 0.8]}}]
    groups.show_groups(
        {"note": "", "targets": [{"name": "softmax", "whole": {"accuracy": 0.75}, "groups": rows}]}, "softmax"
    )
    assert faults(page) == []
    (card,) = page.findChildren(CurvesCard)
    for kind in (0, 1):
        card.kinds.setCurrentIndex(kind)
        assert untranslated([str(card.plot.readout(0.5)[1])]) == []
    (reliability, *_) = page.findChildren(ReliabilityPlot)
    assert untranslated([str(reliability.readout(0.85)[1])]) == []


def test_scores_of_numbers_are_translated(shell: Any, server: FakeServer, qtbot: QtBot) -> None:
    page = ScoresPage(shell)
    qtbot.addWidget(page)
    page.resize(1400, 900)
    page.set_run(RUN)
    page.evaluate()
    server.answer("evaluate", result(NUMBERS, {"rmse": 1.5}))
    sample = {"place": 0, "index": 2, "label": [5.0], "prediction": [3.0], "loss": 2.0}
    server.answer("samples", {"total": 1, "rows": [sample], "columns": ["x_1"], "cells": [["4"]]})
    assert faults(page) == []
    (plot,) = page.findChildren(PredictionPlot)
    assert untranslated([str(plot.readout(2.9)[1])]) == []
    texts = tip_of({"index": 3, "label": "a_1", "prediction": "a_2", "confidence": 0.5, "loss": 1.0}, {"wrong": 1})
    assert untranslated(texts.splitlines()) == []


def test_answers_of_two_runs_are_translated(shell: Any, server: FakeServer, qtbot: QtBot) -> None:
    page = AnswersPage(shell)
    qtbot.addWidget(page)
    page.resize(1200, 900)
    assert faults(page) == []
    page.set_pair(("R_2", RUN), ("R_1", OTHER))
    page.arrive()
    server.answer("evaluate", ANSWERS)
    assert faults(page, ANSWERS["targets"][0]["conclusion"]) == []


EXPLANATIONS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"method": "gradcam", "target": "dog", "is_signed": False, "layer": "conv_1"}, {"heat": np.eye(2)}),
    (
        {"method": "permutation", "features": [{"name": "a_1", "value": 2.0, "std": 0.1}]}
        | {"measured": "RMSE", "samples": 9, "repeats": 10},
        {},
    ),
    (
        {"method": "partial_dependence", "outputs": ["y_1"], "is_share": False}
        | {"columns": [{"name": "a_1", "labels": [], "spread": 1}, {"name": "a_2", "labels": ["u", "v"], "spread": 2}]},
        {f"{name}_{n}": np.ones((2, 1)) for name in ("mean", "low", "high") for n in (0, 1)}
        | {"grid_0": np.array([0.0, 1.0]), "grid_1": np.arange(2.0)},
    ),
    (
        {"method": "activations", "layer": "c_1", "channels": 3, "zeros": 0.5, "receptive_field": None}
        | {"histogram": {"low": 0.0, "high": 1.0, "counts": [1, 2]}, "dead_channels": 2},
        {"maps": np.ones((3, 2, 2))},
    ),
    (
        {"method": "attention", "layers": [{"name": "a_1", "heads": 2, "steps": [3, 3]}]},
        {"attention_0": np.ones((2, 3, 3))},
    ),
    (
        {"method": "max_activation", "names": ["cat"]},
        {"maps": np.zeros((1, 2, 2), np.uint8), "reached": np.ones(1)},
    ),
    (
        {"method": "integrated_gradients", "target": "y_1", "features": [{"name": "a_1", "value": -1.0}]}
        | {"baseline": "m_1"},
        {},
    ),
)


@pytest.mark.parametrize(("facts", "arrays"), EXPLANATIONS)
def test_explanations_are_translated(
    shell: Any, server: FakeServer, qtbot: QtBot, tmp_path: Path, facts: dict[str, Any], arrays: dict[str, Any]
) -> None:
    page = InsidePage(shell)
    qtbot.addWidget(page)
    page.resize(1200, 900)
    page.show()
    page.set_run(tmp_path)
    page.button.click()
    title = METHODS[facts["method"]][0]
    explain(page, server, {"title": title, "sample": SAMPLE, **facts}, **arrays)
    assert page.cards
    assert faults(page, str(tmp_path)) == []


@pytest.mark.parametrize("given", [DIGITS, ROWS, TEXTS])
def test_predictions_are_translated(shell: Any, server: FakeServer, qtbot: QtBot, given: Any) -> None:
    page = PredictPage(shell)
    qtbot.addWidget(page)
    page.resize(1300, 900)
    assert faults(page) == []
    load(page, server, given, NUMBER)
    assert faults(page) == []
    answers = [
        {"sample": f"s_{number}", "outputs": [{"name": "y_1", "class": "7", "top": TOP}], "csv": ""}
        for number in (1, 2)
    ]
    page.predict_files(["/s_1"])
    server.answer("predict", {"predictions": answers, "count": 5, "failed": 1, "warned": 2})
    assert faults(page) == []
    page.shutdown()


def test_a_forecast_is_translated(qtbot: QtBot) -> None:
    plot = ForecastPlot("x_1", [1.0, 2.0, 3.0], [4.0, 5.0], [4.5], season=2, group="g_1")
    qtbot.addWidget(plot)
    assert faults(plot) == []
    texts = [plot.heading, *(str(plot.readout(place)[1]) for place in (-1.0, 1.0, 2.0))]
    assert untranslated(texts) == []


def test_robustness_is_translated(shell: Any, server: FakeServer, qtbot: QtBot) -> None:
    page = RobustnessPage(shell)
    qtbot.addWidget(page)
    page.resize(1200, 900)
    assert faults(page) == []
    page.set_run(RUN)
    page.measure()
    server.answer("robustness", {**ROBUSTNESS, "cached": True})
    assert faults(page) == []
    for plot in page.findChildren(StrengthPlot):
        assert untranslated([without(str(plot.readout(1.0)[1]), DATA)]) == []


def test_errors_beside_a_run_are_translated(shell: Any, server: FakeServer, qtbot: QtBot) -> None:
    panel = ErrorsPanel(shell)
    qtbot.addWidget(panel)
    panel.resize(400, 800)
    panel.set_run(RUN)
    panel._soon.timeout.emit()
    server.answer("evaluate", result(CLASSES, {"accuracy": 0.75}))
    server.answer("samples", SAMPLES)
    assert faults(panel) == []


def test_pruning_is_translated(window: MainWindow, server: FakeServer, tmp_path: Path) -> None:
    dialog = PruneDialog(window, RunFolder(tmp_path), print)
    dialog.way.setCurrentIndex(1)
    dialog.show()
    server.answer("prune", {"split": "test", "rows": [row(0.0, 0.97), row(0.5, 0.9)], "notes": []})
    assert faults(dialog, tmp_path.name) == []
    dialog.close()


# ---- experiments ----


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> SearchPage:
    window.editor.edit_network("Add layers", lambda network: classifier())
    page = SearchPage(window)
    qtbot.addWidget(page)
    page.resize(1900, 1000)
    return page


def test_a_definition_is_translated(page: SearchPage, window: MainWindow) -> None:
    panel = page.definition
    page.show()
    assert faults(page) == []
    options = OPTIONS.replace(strategy="grid", folds=3)
    window.editor.edit("d", lambda project: project.with_section("experiment", options))
    assert untranslated(texts_of(panel)) == []
    options = options.replace(parameters=[f"{RATE}=log 0.001..0.1", f"{SOLVER}=adam"])  # with room for its values
    window.editor.edit("d", lambda project: project.with_section("experiment", options))
    panel.set_run_times([1.0, 2.0])
    panel.show_copied("d_1")
    assert faults(page) == []
    panel.as_text.click()
    assert faults(page) == []
    actions = panel.ready_menu.actions()
    assert untranslated(action.text() for action in actions) == []
    assert untranslated(text for text, _ in parameters_offered(window.editor.project)) == []
    panel.vary("training.momentum")
    panel.start_from("seeds")
    stack = window.editor.stack
    assert untranslated(stack.text(number) for number in range(1, stack.count()) if stack.text(number) != "d") == []


def test_trials_are_translated(page: SearchPage, tmp_path: Path) -> None:
    page.show_experiment(written(tmp_path, sample_trials(), (ACCURACY, "parameters")).path)
    page.show()
    page.table.select(5)
    page.commands.update()
    names = (str(tmp_path), "its loss is not finite", "fc_1 outputs", page.details.differences.text())
    assert faults(page, *names) == []
    menus = [page.commands.menu, page.more.menu(), page.trials.group_button.menu(), page.trials.columns_button.menu()]
    for menu in menus:
        menu.aboutToShow.emit()
        texts = [text for action in menu.actions() for text in (action.text(), action.toolTip())]
        assert untranslated(without(text, names) for text in texts) == []
    page.trials.table.group_by(("state", "option:training.solver"))
    assert faults(page, *names) == []


def test_each_plot_of_trials_is_translated(page: SearchPage, tmp_path: Path, qtbot: QtBot) -> None:
    page.show_experiment(written(tmp_path, sample_trials(), (ACCURACY, "parameters")).path)
    page.show()
    for plot in PLOTS:
        page.plots.choose(plot.key)
        chart = page.plots.current
        assert chart is not None
        texts = [chart.empty, chart.note, *(axis.name for axis in chart.axes())]
        texts += [str(chart.readout(5)), chart.whole.accessibleName()]
        assert untranslated(texts) == [], plot.key
        assert untranslated(without(text, DATA) for text in shown(chart, has_cells=True)) == []


def test_plots_without_trials_say_why_in_the_language(qtbot: QtBot, server: FakeServer) -> None:
    panel = PlotsPanel(QWidget(), "p_1", server)
    qtbot.addWidget(panel)
    panel.show()
    for plot in PLOTS:
        panel.choose(plot.key)
        assert panel.current is not None
        assert panel.current.empty.startswith("["), plot.key


@pytest.mark.parametrize("state", ["running", "finished", "stopped", "failed", "lost"])
def test_the_progress_of_an_experiment_is_translated(state: str) -> None:
    trials = [Trial(1, {}, "failed"), Trial(2, {}, "running"), Trial(3, {}, "pruned")]
    assert untranslated([progress_text(state, "", trials, 9), progress_text(state, "r_1", trials[:1], 0)]) == []
    assert untranslated(state_words(word)[0] for word in ("pruned", "refused", "interrupted")) == []


def test_titles_of_sweeps_are_translated() -> None:
    more = OPTIONS.replace(parameters=[*(p.show() for p in OPTIONS.parameters), "training.momentum=0.1,0.2"])
    definitions = (OPTIONS, more, ExperimentOptions(folds=3), ExperimentOptions(repeats=2))
    assert untranslated(map(sweep_title, definitions)) == []


def test_dialogs_of_experiments_are_translated(window: MainWindow, server: FakeServer, qtbot: QtBot) -> None:
    budget = BudgetDialog(OPTIONS.replace(strategy="grid"), is_alive=True)
    qtbot.addWidget(budget)
    assert faults(budget) == []
    dialog = show_tune(window)
    server.answer("tune", tuned("planned", "", {}))
    assert faults(dialog, RATE, SOLVER) == []
    dialog.close()
