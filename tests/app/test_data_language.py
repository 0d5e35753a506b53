"""The Data page, the start page, and the dialogs of files, clusters and the installation in another language: nothing
that they show is untranslated, or cut off."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from netwright.app.cluster.cluster_jobs_dialog import ClusterJobsDialog
from netwright.app.cluster.clusters_dialog import ClustersDialog
from netwright.app.data.data_charts import ColumnCharts
from netwright.app.data.data_checks import DataChecks
from netwright.app.data.data_header import summary_of
from netwright.app.data.data_recipe import SENTENCES, Recipe
from netwright.app.data.dataset_tracker import UNITS, progress_text
from netwright.app.data.empty_page import EmptyPage
from netwright.app.data.file_check import FileCheck
from netwright.app.data.findings_strip import FindingsLine
from netwright.app.data.message_page import FetchPage
from netwright.app.data.preview_panel import Preview
from netwright.app.data.proposal import ProposalCard
from netwright.app.exchange.export_dialog import ExportDialog
from netwright.app.exchange.export_parts import agreement, measured_on
from netwright.app.exchange.import_dialog import ImportDialog
from netwright.app.exchange.import_report_dialog import ImportReport
from netwright.app.installation import setup_dialog
from netwright.app.installation.engine_environment import Bundle, Environment
from netwright.app.processes import DisposableProcess
from netwright.app.start_page.running import RunningList, progress_in_words
from netwright.app.start_page.running_program import RunningRun
from netwright.app.window import MainWindow
from netwright.designer import language
from netwright.engine.cluster.profile_file import save_profile
from netwright.engine.core.types import features, image, sequence
from netwright.engine.network.analysis import analyse
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.project import Project
from netwright.engine.project.starter import starter
from netwright.engine.project.training import TrainingOptions
from tests.app.cluster.test_clusters_dialog import HPC, job
from tests.app.data.test_data_checks import LEAK, TABLE, answer
from tests.app.data.test_dataset_tracker import facts
from tests.app.data.test_file_check import findings
from tests.app.exchange.test_export_dialog import NET
from tests.app.fake_server import FakeServer
from tests.app.frame.test_import_commands import report
from tests.app.untranslated import faults, shown, without
from tests.clusters import hide_local_ray
from tests.designer.test_language import untranslated

CODE = ("PyTorch", "torch.export", "height=", "width=", "num_classes=", ".onnx", ".netwright")
"""Parts of the dialogs of files that are no text."""
PICTURES = DatasetInfo((InputInfo("image", image(3, 48, 64)),), {"training": 70}, classes_of("a", "b"))


@pytest.fixture(autouse=True)
def _pseudo(qapp: QApplication) -> Iterator[None]:
    language.use(qapp, "pseudo")
    yield
    language.use(qapp, "en")


# ---- the Data page ----


@pytest.mark.parametrize("key", SENTENCES)
def test_the_recipe_is_translated_as_a_whole(qtbot: QtBot, key: str) -> None:
    source, _, kind = key.partition(", ")
    values = {"source": source or "python", "path": "x_1"}
    values |= {"tokens": {"text_goal": "next-token"}}.get(kind, {kind: "x_2"} if kind else {})
    options = DataOptions(**values)
    recipe = Recipe()
    qtbot.addWidget(recipe)
    recipe.resize(900, 60)
    recipe.show_options(options, None, TrainingOptions())
    assert recipe.buttons
    assert untranslated([recipe.text]) == []
    for button in recipe.buttons.values():
        assert untranslated([button.text(), button.accessibleName()]) == []
        assert button.toolTip().startswith("[")
        if (menu := button.menu()) is not None:
            menu.aboutToShow.emit()
            assert untranslated(action.text() for action in menu.actions()) == []


def test_the_parts_of_the_data_page_are_translated(qtbot: QtBot, tmp_path: Path) -> None:
    Image.new("L", (8, 8), 200).save(tmp_path / "p_1.png")
    picture = {"file": str(tmp_path / "p_1.png"), "label": "a_1", "split": "test", "number": 7, "name": "p_1.png"}
    columns = [
        {"name": "x_1", "role": "input", "kind": "text, 2 different, 3 missing", "low": None, "histogram": None},
        {"name": "x_2", "role": "response", "kind": "number, known in advance", "low": None, "histogram": None},
    ]
    classes = [{"name": "a_1", "training": 5, "validation": 1, "test": 1}]
    preview = Preview()
    fetch, line, proposal = FetchPage(), FindingsLine(), ProposalCard()
    fetch.show_hosts({"h_1": 1})
    fix = starter(PICTURES)
    assert fix is not None
    proposal.show_project(Project(), fix, analyse(Project().network))
    proposal_of_none = ProposalCard()
    proposal_of_none.show_project(Project(), None, analyse(Project().network))
    network = fix.edit(Project())
    proposal_of_all = ProposalCard()
    proposal_of_all.show_project(network, None, analyse(network.network))
    for widget in (EmptyPage(), fetch, line, proposal_of_none, proposal_of_all, preview):
        qtbot.addWidget(widget)
        widget.resize(1100, 700)
    qtbot.addWidget(proposal)
    preview.show_answer({"pictures": [picture], "classes": classes, "columns": columns, "rows": [["1", "2"]]}, PICTURES)
    assert preview.bar is not None
    preview.bar.show_state(TrainingOptions(rand_rotation=(-9, 9)), "", 3)
    for widget in (fetch, line, proposal_of_none, proposal_of_all, preview):
        assert faults(widget, "p_1.png") == []
    assert untranslated(shown(proposal)) == []


def test_the_columns_are_described_in_the_language(qtbot: QtBot) -> None:
    counted = {"counts": [3, 4], "names": ["p_1", "p_2"], "different": 5, "others": 2, "missing": 3, "sampled": 9}
    columns: list[dict[str, Any]] = [
        {"name": "x_1", "role": "left out", "kind": "text", "low": None, "histogram": counted},
        {"name": "x_2", "role": "input", "kind": "number", "low": 0.5, "mean": 1.0, "high": 2.0, "histogram": None},
    ]
    charts = ColumnCharts(columns)
    qtbot.addWidget(charts)
    assert untranslated([charts.accessibleName(), *charts.accessibleDescription().split(", ")]) == []


@pytest.mark.parametrize(
    "target", [classes_of("a", "b")[0], numbers_of(2)[0], TargetInfo("y", sequence(9, 3), "labels")]
)
@pytest.mark.parametrize("source", ["images", "table", "series", "sequences", "text", "audio", "python"])
def test_the_sizes_of_the_data_are_translated(source: str, target: TargetInfo) -> None:
    inputs = (InputInfo("x", features(4)), InputInfo("x", image(1, 8, 8)), InputInfo("x", image(3, 8, 8)))
    info = DatasetInfo(inputs, {"training": 7}, (target,), held_bytes=2**20)
    assert untranslated([summary_of(DataOptions(source=source), info)]) == []
    several = DatasetInfo(inputs, {"training": 1}, (target, target))
    assert untranslated([summary_of(DataOptions(source=source), several)]) == []


def test_findings_are_translated_around_the_words_of_the_engine(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, server: FakeServer, window: MainWindow
) -> None:
    monkeypatch.setattr(DisposableProcess, "start", lambda self, command, hosts: None)
    files = FileCheck()
    qtbot.addWidget(files)
    files.resize(900, 1200)
    files.show_data(DataOptions(source="images", path="x_1", excluded_files=("p_9.png",)), Path("/x_1"))
    many = [[f"p_{number}.png", "8 × 8"] for number in range(9)]
    files.process.said.emit(findings(damaged=many, resized=many, converted=many))
    assert faults(files, ".png") == []
    items = files.items()
    assert untranslated(without(text, [".png"]) for item in items for text in (item.title, item.detail, item.tip)) == []
    assert untranslated(label for item in items for label, _ in item.actions) == []
    checks = DataChecks(server, window.documents, window)
    checks.show_data(TABLE, Path("/x_1"), DatasetInfo.read(facts(7)))
    assert untranslated(shown(checks)) == []
    cures: list[dict[str, Any]] = [{"label": label, "options": {}} for label in ("Drop rows", "Leave all 5 out")]
    server.answer("check_data", {**answer({**LEAK, "fixes": cures}), "checked": 3})
    assert untranslated([checks.lead, checks.state.text()]) == []
    ((drop, _), (leave, _)) = checks.items()[0].actions
    assert untranslated([drop, leave]) == []
    assert "5" in leave


def test_progress_has_words_in_the_language() -> None:
    texts = [progress_text({"done": 1, "total": total, "unit": unit}) for total in (0, 7) for unit in UNITS]
    assert untranslated(texts) == []


# ---- the start page ----


def test_the_start_page_is_translated(qtbot: QtBot, window: MainWindow) -> None:
    window.show_start()
    qtbot.waitUntil(lambda: window.start_page.is_drawn, timeout=60_000)
    assert [text for text in faults(window.start_page) if "arXiv" not in text and "Made for" not in text] == []


def test_what_is_under_way_is_translated(qtbot: QtBot) -> None:
    run = RunningRun("/r_1", "r_1", "p_1", "", "1", 0.5, 3, 9, 60.0)
    trials = RunningRun("/r_2", "r_2", "p_1", "/p_1", "1", 0.5, 3, 9, is_experiment=True)
    rows = RunningList()
    qtbot.addWidget(rows)
    rows.resize(1200, 200)
    rows.show_runs([run, trials])
    assert faults(rows) == []
    others = [
        RunningRun("/r_1", "r_1", "p_1", "", "1", 0.0, count, 0, is_paused=paused)
        for count in (0, 4)
        for paused in (True, False)
    ]
    assert untranslated(map(progress_in_words, others)) == []


# ---- dialogs ----


def test_the_dialogs_of_files_are_translated(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    monkeypatch.setattr(ExportDialog, "server", server, raising=False)
    source = tmp_path / "x_1.py"
    source.write_text("import torch\n\n\nclass X_1(torch.nn.Module):\n    pass\n", encoding="utf-8")
    kept = {"operator": "Op_1", "count": 2, "lifted": 0, "folded": 1, "removed": 1, "opaque": 2, "layers": {}}
    output = {"name": "y_1", "difference": 1.0, "spread": 2.0, "agrees": True, "layer": "fc_1"}
    values = report(tmp_path / "x_1.onnx", tmp_path / "x_1.netwright", outputs=[output], operators=[kept], warnings=[])
    export = ExportDialog(Project(NET, data=DataOptions(source="digits")), tmp_path, None, tmp_path / "x_1.onnx")
    export.takes.setText("")  # sentences of the engine
    dialogs = (export, ImportDialog(server, source, tmp_path / "x_1.netwright"), ImportReport({**values, "notes": []}))
    for dialog in dialogs:
        qtbot.addWidget(dialog)
        texts = [text for text in faults(dialog, str(tmp_path), *CODE) if text != "Cancel"]  # of all requests
        assert texts == []
    compared = {"largest_difference": 1e-6, "samples": 9, "samples_kind": "real", "precision": "float32"}
    measured = [{"threads": 2, "split": split, "samples": 9} for split in ("test", "")]
    assert untranslated([agreement(compared, "[x]"), *(measured_on([row]) for row in measured)]) == []


def test_the_dialogs_of_clusters_are_translated(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    hide_local_ray(tmp_path, monkeypatch)
    save_profile(HPC)
    profiles = ClustersDialog(validation=lambda name: ["true"])
    qtbot.addWidget(profiles)
    profiles.validate()
    assert faults(profiles, "hpc") == []
    job(tmp_path / "r_1", "1", "running", lost="x_1")
    job(tmp_path / "r_2", "2", "starting", reason="x_1")
    jobs = ClusterJobsDialog(window, lambda _: None)
    qtbot.addWidget(jobs)
    assert faults(jobs, str(tmp_path), "hpc") == []


def test_the_setup_is_translated(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_dialog, "NvidiaDriver", lambda: pytest.fail("the driver is not asked"))
    monkeypatch.setattr(setup_dialog, "fitting_build", lambda: ("cpu", "x_1"))
    for build in ("cpu", "cuda"):
        (tmp_path / f"torch-{build}.txt").touch()
    sizes = {"engine": 1, "cpu": 2, "cuda": 30}
    dialog = setup_dialog.SetupDialog(Environment(Bundle(tmp_path, "2.1", sizes, sizes), tmp_path / "e_1"))
    qtbot.addWidget(dialog)
    dialog._show_stopped(language.translation(setup_dialog.STOPPED))
    assert untranslated(without(text, [str(tmp_path)]) for text in shown(dialog)) == []
