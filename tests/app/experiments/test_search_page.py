"""The page of experiments: what varies is defined, an experiment is begun, its trials are shown and used."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from netwright.app.experiments import search_page, trial_commands
from netwright.app.experiments.search_page import SearchPage
from netwright.app.experiments.trial_texts import progress_text
from netwright.app.window import MainWindow
from netwright.engine.network.network import Network
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps
from netwright.engine.project.parameters import Parameter
from netwright.engine.project.project import Project
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, create_experiment
from netwright.engine.runs.trial_log import Trial, TrialLog
from tests.builders import classifier

MOMENTUM = "training.momentum"


@pytest.fixture
def asked(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The requests to the engine: what, its values, and what waits for the answer."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(window.server, "request", lambda *request: found.append(request))
    return found


@pytest.fixture
def page(window: MainWindow, asked: list[Any], monkeypatch: pytest.MonkeyPatch, qtbot) -> SearchPage:
    monkeypatch.setattr(trial_commands, "start_runner", lambda folder: None)
    window.editor.edit_network("Add layers", lambda network: classifier())
    page = SearchPage(window)
    qtbot.addWidget(page)  # else it stays below the pointer of later tests
    page.resize(1200, 800)
    return page


@pytest.fixture
def folder(tmp_path: Path) -> ExperimentFolder:
    info = ExperimentInfo(name="net", base=str(tmp_path), objectives=("validation.accuracy",))
    project = Project(Network.empty(), experiment=ExperimentOptions(parameters=["training.momentum=0.1,0.5,0.9"]))
    (tmp_path / "net.netwright").write_text("{}")
    folder = create_experiment(tmp_path / "net.netwright", "net", dumps(project), info)
    log = TrialLog(folder.trials)
    for number, (momentum, accuracy) in enumerate(((0.1, 0.7), (0.5, 0.9), (0.9, 0.8)), 1):
        log.append(number, values={MOMENTUM: momentum})
        log.append(number, run=str(number), state="finished", scores={"validation.accuracy": accuracy}, seconds=1.0)
        log.append(number, state="finished")
    log.append(4, values={MOMENTUM: 0.3})
    log.close()
    return folder


def rows(page: SearchPage) -> list[list[str]]:
    model = page.trials.model
    shown = [column for column in model.columns if column != "curve"]
    return [[model.text_of(row, column) for column in shown] for row in model.rows]


def test_an_option_or_field_is_added_to_what_varies(page: SearchPage, window: MainWindow) -> None:
    page.definition.vary(MOMENTUM)
    page.definition.vary("network.fc_1.outputs")
    page.definition.vary(MOMENTUM)
    parameters = window.editor.project.experiment.parameters
    assert parameters == (Parameter(MOMENTUM, (0.8, 0.9, 0.95)), Parameter("network.fc_1.outputs", (4, 8, 16)))
    window.editor.undo()
    assert window.editor.project.experiment.parameters == parameters[:1]


def test_a_ready_definition_is_shown_in_the_form(page: SearchPage, window: MainWindow) -> None:
    page.show()
    page.definition.start_from("seeds")
    assert window.editor.project.experiment.repeats == 5
    assert page.definition.form.record == window.editor.project.experiment


def test_run_asks_the_engine_and_a_refusal_is_said(
    page: SearchPage, window: MainWindow, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(type(window), "show_error", lambda self, title, text: said.append(text))
    page.definition.show_project()
    assert not page.definition.run_button.isEnabled()
    assert page.definition.reason.text() == "Nothing varies yet. Add a parameter, or repeats."
    page.definition.vary(MOMENTUM)
    page.definition.show_project()
    assert (page.definition.run_button.text(), page.definition.reason.text()) == ("Run 3 trials", "")
    page.definition.run_button.click()
    ((what, values, _, on_error, _),) = asked
    assert (what, values["base"]) == ("experiment begin", str(window.documents.base))
    assert not page.definition.run_button.isEnabled()
    on_error("nothing varies.")
    assert said == ["nothing varies."]
    assert page.definition.run_button.isEnabled()


def test_trials_are_shown_and_the_best_is_marked(page: SearchPage, folder: ExperimentFolder) -> None:
    page.show_experiment(folder.path)
    assert [row[:4] for row in rows(page)] == [
        ["1", "✓ Finished", "0.1", "70.0 %"],
        ["2 ★", "✓ Finished", "0.5", "90.0 %"],
        ["3", "✓ Finished", "0.9", "80.0 %"],
        ["4", "◌ Interrupted", "0.3", "–"],
    ]
    assert page.state.text() == "Interrupted, 3 of 3 done"
    assert not page.resume_button.isHidden()
    assert page.plot_card.title == "Accuracy"
    assert page.plot.paths == [MOMENTUM]
    assert page.stop_button.isHidden()
    page.table.sortByColumn(page.trials.model.columns.index("validation.accuracy"), Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in rows(page)] == ["1", "3", "2 ★", "4"], "a trial without a score comes last"


def test_damaged_lines_of_the_log_are_told(page: SearchPage, folder: ExperimentFolder) -> None:
    with open(folder.trials, "ab") as file:
        file.write(b'{"trial":1e400,"values":{}}\n')
    page.show_experiment(folder.path)
    assert page.state.text().endswith(
        f"1 line of {folder.trials} cannot be read: what they told of their trials is not shown"
    )


def test_values_of_the_best_or_the_selected_trial_are_used(
    page: SearchPage, window: MainWindow, folder: ExperimentFolder
) -> None:
    page.show_experiment(folder.path)
    page.use_button.click()
    assert window.editor.project.training.momentum == 0.5
    page.table.select(3)
    assert page.use_button.text() == "Apply trial 3"
    page.use_button.click()
    assert window.editor.project.training.momentum == 0.9
    window.editor.undo()
    assert window.editor.project.training.momentum == 0.5


def test_an_experiment_without_an_objective_is_said_to_be_damaged(page: SearchPage, folder: ExperimentFolder) -> None:
    folder.update_info(objectives=())
    page.show_experiment(folder.path)
    assert page.state.text() == f"{folder.info} is damaged: it names no objective."
    assert page.pages.currentIndex() == 0


def test_a_trial_that_ends_meanwhile_is_seen(page: SearchPage, folder: ExperimentFolder) -> None:
    page.show_experiment(folder.path)
    log = TrialLog(folder.trials)
    log.append(4, run="4", state="finished", scores={"validation.accuracy": 0.95})
    log.append(4, state="finished")
    log.close()
    page.trials.watcher._not_before = 0.0
    page.trials.watcher.look()
    assert rows(page)[3] == ["4 ★", "✓ Finished", "0.3", "95.0 %", *rows(page)[3][4:]]


def test_without_a_score_there_are_no_best_values(page: SearchPage, folder: ExperimentFolder) -> None:
    text = folder.trials.read_text()
    folder.trials.write_text(text.replace("finished", "failed").replace('"validation.accuracy"', '"validation.loss"'))
    page.show_experiment(folder.path)
    assert not page.use_button.isEnabled()
    page.table.select(1)
    assert page.use_button.isEnabled()
    page.show_experiment(None)
    folder.trials.write_text(text)
    page.show_experiment(folder.path)
    assert page.use_button.isEnabled()


def test_without_an_experiment_it_says_what_to_do_first(page: SearchPage, asked: list[Any]) -> None:
    page.show_experiment(None)
    assert page.pages.currentIndex() == 0
    assert page.empty.title.text() == "Nothing varies yet"
    assert not page.definition.isHidden()
    page.definition.vary(MOMENTUM)
    page.definition.vary("network.fc_1.outputs")
    assert page.empty.title.text() == "3 × 3 = 9 trials"


@pytest.mark.parametrize(
    ("state", "reason", "states", "total", "said"),
    [
        ("running", "", "finished finished failed running", 40, "1 running, 3 of 40 done, 1 failed"),
        ("running", "", "running", 0, "1 running, 0 done"),
        ("finished", "", "finished pruned", 2, "Finished, 2 done"),
        ("finished", "the time is over", "finished", 9, "Finished, 1 done: the time is over"),
        ("finished", "", "failed refused", 2, "Finished, no trial has succeeded: too large"),
        ("stopped", "stopped on request", "finished", 2, "Stopped, 1 of 2 done"),
    ],
)
def test_the_state_of_an_experiment_counts_what_runs_and_what_is_done(
    state: str, reason: str, states: str, total: int, said: str
) -> None:
    trials = [Trial(n, {}, one, reason="too large" * (one == "failed")) for n, one in enumerate(states.split(), 1)]
    assert progress_text(state, reason, trials, total) == said


def test_the_page_is_reached_from_the_menu(window: MainWindow) -> None:
    window.show_search()
    page: Any = window.tabs.page("runs")
    assert isinstance(page.pages.currentWidget(), SearchPage)
    assert page.experiment.title.text() == "New sweep"
    assert page.experiment.definition.isVisible()


def test_a_field_of_a_layer_or_of_the_data_leads_to_the_values_that_vary(window: MainWindow) -> None:
    window.design.sweep_requested.emit("network.none.filters")
    assert window.tabs.current == "design", "a layer that is gone is refused"
    window.tabs.page("data").form.sweep_requested.emit("validation_share")  # type: ignore[attr-defined]
    assert window.tabs.current == "runs"
    assert [p.path for p in window.editor.project.experiment.parameters] == ["data.validation_share"]
    window.design.sweep_ended.emit("data.validation_share")
    assert not window.editor.project.experiment.parameters


def type_values(page: SearchPage, path: str, text: str) -> None:
    line = page.definition.parameters.rows[path].line
    line.setText(text)
    line.editingFinished.emit()


def test_values_that_vary_are_edited_and_removed_in_rows(page: SearchPage, window: MainWindow) -> None:
    page.show()
    page.definition.vary(MOMENTUM)
    page.definition.vary("network.fc_1.outputs")
    row = page.definition.parameters.rows[MOMENTUM]
    assert (row.line.text(), row.scale.currentText(), row.number.text()) == ("0.8, 0.9, 0.95", "List", "3")
    for refused in ("0.9 to 0.5", "0.5, 7", "fast"):
        type_values(page, MOMENTUM, refused)
        assert not row.error.isHidden(), refused
        assert window.editor.project.experiment.parameters[0].values == (0.8, 0.9, 0.95)
    type_values(page, MOMENTUM, "0.5 to 0.9")
    assert window.editor.project.experiment.parameters[0] == Parameter(MOMENTUM, (), 0.5, 0.9)
    assert row.error.isHidden()
    assert row.points.text() == "0.5 · 0.6 · 0.7 · 0.8 · 0.9"
    row.count.setValue(3)
    assert window.editor.project.experiment.parameters[0] == Parameter(MOMENTUM, (), 0.5, 0.9, steps=3)
    assert page.definition.counted.text() == "3 × 3 = 9 trials"
    page.definition.parameters.remove(MOMENTUM)
    assert list(page.definition.parameters.rows) == ["network.fc_1.outputs"]
    window.editor.undo()
    assert page.definition.parameters.rows[MOMENTUM].line.text() == "0.5 to 0.9"


def test_the_scale_turns_values_into_a_range_and_back(page: SearchPage, window: MainWindow) -> None:
    page.show()
    page.definition.vary("training.mini_batch_size")
    row = page.definition.parameters.rows["training.mini_batch_size"]
    type_values(page, row.parameter.path, "32, 128, 512")
    for scale, told in (("Log", "32 to 512"), ("Linear", "32 to 512"), ("List", "32, 272, 512")):
        row.scale.setCurrentText(scale)
        row.scale.activated.emit(row.scale.currentIndex())
        (parameter,) = window.editor.project.experiment.parameters
        assert (row.line.text(), row.scale.currentText()) == (told, scale)
        assert (parameter.is_range, parameter.is_log) == (scale != "List", scale == "Log")
        assert len(parameter.points(is_whole=True)) == 3
    assert row.number.text() == "3"


def test_choices_are_ticked_by_their_words(page: SearchPage, window: MainWindow) -> None:
    page.show()
    page.definition.vary("training.shuffle")
    row = page.definition.parameters.rows["training.shuffle"]
    assert row.values.currentWidget() is row.choices
    assert not row.scale.isEnabled()
    row._open()
    first, *_ = row.menu.actions()
    first.setChecked(False)
    row.menu.hide()
    (parameter,) = window.editor.project.experiment.parameters
    field = type(window.editor.project.training).shuffle
    assert parameter.values == field.options[1:]
    assert row.choices.text() == "2 of 3"
    assert row.choices.toolTip() == ", ".join(map(field.word, parameter.values))


def test_what_varies_is_found_by_its_label(page: SearchPage, window: MainWindow, qtbot: QtBot) -> None:
    page.show()
    search = page.definition.search

    def varied() -> list[str]:
        return [parameter.path for parameter in window.editor.project.experiment.parameters]

    for typed, path in (("momentum", MOMENTUM), ("fc_1: outputs", "network.fc_1.outputs")):
        search.setText(typed)
        search.returnPressed.emit()
        qtbot.waitUntil(lambda path=path: path in varied())  # type: ignore[misc]
        assert search.text() == ""
    search.setText("no such thing")
    search.returnPressed.emit()
    QApplication.processEvents()
    assert len(window.editor.project.experiment.parameters) == 2
    search.completer().setCompletionPrefix("batch")
    assert search.completer().completionModel().rowCount() > 0


def test_the_text_of_the_definition_is_behind_a_link(page: SearchPage, window: MainWindow) -> None:
    page.show()
    definition = page.definition
    assert definition.text.isHidden()
    definition.as_text.click()
    assert definition.parameters.isHidden()
    definition.text.setPlainText(f"{MOMENTUM}=0.5..0.9:3\ntraining.initial_learn_rate=log 0.001..0.1")
    definition.text.left.emit()
    assert [p.path for p in window.editor.project.experiment.parameters] == [MOMENTUM, "training.initial_learn_rate"]
    definition.text.setPlainText(f"{MOMENTUM}=0.9..0.5")
    definition.text.left.emit()
    assert "low should be below high" in definition.text_error.text()
    assert len(window.editor.project.experiment.parameters) == 2
    definition.as_text.click()
    assert (definition.text.isHidden(), definition.text_error.isHidden()) == (True, True)


def test_the_time_of_trials_is_estimated_by_runs(page: SearchPage, window: MainWindow) -> None:
    page.show()
    page.definition.vary(MOMENTUM)
    assert page.definition.counted.text() == "3 trials"
    page.set_run_times([10.0, 40.0, 20.0])
    assert page.definition.counted.text() == "3 trials, about 1 m 0 s"
    assert page.definition.schedule.text() == "If one at a time; runs took 10 s to 40 s"
    page.definition.form.set_value("repeats", 2)
    page.definition.form.set_value("at_once", 2)
    assert page.definition.counted.text() == "3 trials, 2 runs each, about 1 m 0 s"
    assert page.definition.schedule.text().startswith("2 at once")


def test_a_sweep_is_folded_to_a_line_and_a_copy_is_edited(
    page: SearchPage, window: MainWindow, folder: ExperimentFolder
) -> None:
    page.show()
    page.show_experiment(folder.path)
    assert page.definition.isHidden()
    assert "Momentum</b> 0.1, 0.5, 0.9 · 3 trials" in page.line.label.text()
    page.line.copy.click()
    assert not page.definition.isHidden()
    assert page.definition.copied.text() == "A copy of Momentum"
    assert window.editor.project.experiment.parameters == (Parameter(MOMENTUM, (0.1, 0.5, 0.9)),)
    page.definition.close_button.click()
    assert page.definition.isHidden()
    page.show_experiment(None)
    assert page.line.isHidden()
    assert page.definition.close_button.isHidden()


def test_brushes_of_a_plot_filter_the_table(page: SearchPage, folder: ExperimentFolder) -> None:
    page.show_experiment(folder.path)
    page.plots.filtered.emit({2, 3})
    assert [row.trial.number for row in page.trials.model.trial_rows] == [2, 3]
    assert page.trials.count.text() == "2 of 4 trials"
    page.plots.filtered.emit(None)
    assert len(page.trials.model.trial_rows) == 4


def test_many_trials_are_shown_in_turns(
    page: SearchPage, folder: ExperimentFolder, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(search_page, "MANY", 2)
    page.show_experiment(folder.path)
    assert page.table.model().rowCount() == 0, "the table waits for its turn"
    qtbot.waitUntil(lambda: page.table.model().rowCount() == 4 and page.use_button.isEnabled())
    page.table.selectAll()
    page.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    assert [row.trial.number for row in page.table.selected] == [4, 3, 2, 1]
    assert page.table.selectionModel().selection().size() == 1, "one range, however many rows"
