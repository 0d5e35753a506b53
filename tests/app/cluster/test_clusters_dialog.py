"""The dialogs of cluster profiles and of jobs on clusters."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog

from netwright.app.cluster import cluster_jobs_dialog, clusters_dialog
from netwright.app.cluster.cluster_jobs_dialog import ClusterJobsDialog
from netwright.app.cluster.clusters_dialog import ClusterPicker, ClustersDialog
from netwright.app.dialogs.environment_cards import CardText, card_texts
from netwright.app.window import MainWindow
from netwright.engine.cluster.job_control import remote_of
from netwright.engine.cluster.profile_file import load_profiles, read_profiles, save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.validation import STAGES
from netwright.engine.core.files import write_json
from netwright.engine.core.folders import state_folder
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.runs.folder import RunFolder, write_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.remote import RemoteRun, write_remote
from tests.app.fake_server import FakeServer
from tests.clusters import hide_local_ray

HPC = ClusterProfile(name="hpc", kind="slurm", workers=4)


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    hide_local_ray(tmp_path, monkeypatch)


def says(*reports: dict[str, Any], then: str = "") -> list[str]:
    """A command that prints these."""
    lines = "".join(f"print({json.dumps(json.dumps(report))}, flush=True)\n" for report in reports)
    return [sys.executable, "-c", lines + then]


def result(stage: str, state: str, detail: str, hint: str = "") -> dict[str, Any]:
    title = STAGES[stage].title
    return {"result": {"stage": stage, "title": title, "state": state, "detail": detail, "hint": hint, "seconds": 0.1}}


def test_a_profile_is_saved_once_it_is_valid_and_under_its_new_name(qtbot) -> None:
    dialog = ClustersDialog()
    qtbot.addWidget(dialog)
    assert not dialog.validate_button.isEnabled()
    assert dialog.state.text().startswith("A profile says where a cluster is")
    dialog.add()
    assert dialog.state.text().startswith("Not saved yet. Address: ray needs host:port".replace("ray", "Ray"))
    assert load_profiles() == ()
    assert dialog.form is not None
    dialog.form.set_value("kind", "slurm")
    dialog.form.set_value("workers", 8)
    assert load_profiles() == (ClusterProfile(name="cluster_1", kind="slurm", workers=8),)
    dialog.form.set_value("name", "lab")
    assert [profile.name for profile in load_profiles()] == ["lab"]
    dialog.make_default()
    assert read_profiles().default == "lab"
    item = dialog.profiles.item(0)
    assert item is not None
    assert [item.text(), dialog.validate_button.isEnabled()] == ["lab  (default)", True]


def test_profiles_are_chosen_removed_and_go_to_files(qtbot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_profile(HPC)
    save_profile(ClusterProfile(name="pc", kind="ssh", address="node1"))
    dialog = ClustersDialog()
    qtbot.addWidget(dialog)
    assert dialog.form is not None
    assert dialog.form.record == HPC
    dialog.profiles.setCurrentRow(1)
    assert dialog.form.record.changed()["address"] == "node1"
    file = str(tmp_path / "pc.toml")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (file, ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (file, ""))
    dialog.export_file()
    dialog.import_file()
    assert "'pc' already" in dialog.state.text()
    monkeypatch.setattr(clusters_dialog, "ask", lambda *_: True)
    dialog.remove()
    assert [profile.name for profile in load_profiles()] == ["hpc"]
    dialog.import_file()
    assert [profile.name for profile in load_profiles()] == ["hpc", "pc"]


def test_stages_are_shown_as_they_end(qtbot) -> None:
    save_profile(HPC)
    reports = [result("reach", "passed", "2 nodes"), result("versions", "failed", "node1 has no torch.", "Install it.")]
    reports += [result("task", "skipped", "not tried"), {"profile": "hpc", "passed": False, "stages": []}]
    dialog = ClustersDialog(validation=lambda name: says(*reports))
    qtbot.addWidget(dialog)
    dialog.validate()
    assert dialog.validate_button.text() == "Stop"
    qtbot.waitUntil(lambda: not dialog.trial.is_running, timeout=60_000)
    shown = [label.text() for labels in dialog.labels.values() for label in labels]
    assert shown[:3] == ["✓", "Reach the cluster", "2 nodes"]
    assert shown[3:6] == ["✕", "Compare versions", "node1 has no torch. Install it."]
    assert [shown[6], shown[9]] == ["–", "…"]
    assert dialog.state.text() == "'hpc' did not pass."
    assert dialog.validate_button.text() == "Validate"


def test_a_validation_can_be_stopped(qtbot) -> None:
    save_profile(HPC)
    dialog = ClustersDialog(
        validation=lambda name: says(result("reach", "passed", "x"), then="import time; time.sleep(600)")
    )
    qtbot.addWidget(dialog)
    dialog.validate()
    qtbot.waitUntil(lambda: dialog.state.text() == "Compare versions…", timeout=60_000)
    dialog.validate()
    assert not dialog.trial.is_running
    assert dialog.state.text() == "Stopped. The results so far are shown."


def test_a_profile_is_chosen_from_a_menu(qtbot) -> None:
    save_profile(HPC)
    picker = ClusterPicker()
    qtbot.addWidget(picker)
    picker.fill()
    assert [action.text() for action in picker.choices.actions()] == ["hpc", "", "Edit profiles…"]
    with qtbot.waitSignal(picker.chosen) as chosen:
        picker.choices.actions()[0].trigger()
    assert chosen.args == ["hpc"]


def job(folder: Path, number: str, state: str, **values: Any) -> RunFolder:
    """A run on a cluster as a folder here, and in the list of jobs."""
    run = RunFolder(folder)
    run.control.mkdir(parents=True)
    write_info(run, RunInfo(name="net", state=state))
    submitted = time.time() + int(number)
    remote = RemoteRun(profile="hpc", kind="slurm", host="login", folder="/there", job=number, submitted=submitted)
    write_remote(folder, RemoteRun(**{**vars(remote), **values}))
    (state_folder() / "jobs").mkdir(parents=True, exist_ok=True)
    write_json(state_folder() / "jobs" / f"{number}.json", {"run_dir": str(folder)})
    return run


def test_jobs_are_listed_shown_stopped_fetched_and_deleted(
    window: MainWindow, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_jobs_dialog, "ask", lambda *_: True)
    first = job(tmp_path / "a", "1", "finished", job_state="ended")
    job(tmp_path / "b", "2", "running", job_state="running", lost="no connection since 12:00")
    waits = job(tmp_path / "c", "3", "starting", reason="Resources")
    shown: list[RunFolder] = []
    dialog = ClusterJobsDialog(window, shown.append)
    states = [item.text() for row in range(3) if (item := dialog.table.item(row, 1)) is not None]
    assert states == ["waits: Resources", "running, not connected", "finished"]
    server.answer("jobs", {})

    assert dialog.detail.text().startswith("Slurm says: Resources.\nFiles: ")
    dialog.table.selectRow(1)
    assert dialog.detail.text().startswith("No connection since 12:00\nFiles: ")
    dialog.table.selectRow(0)
    dialog.stop_selected()
    server.answer("jobs", {})
    assert [json.loads(file.read_text(encoding="utf-8"))["do"] for file in waits.control.iterdir()] == ["stop"]
    dialog.table.selectRow(2)
    assert not dialog.stop_button.isEnabled()
    dialog.fetch_selected()
    assert server.asked[-1].given == {"folder": str(first.path)}
    server.refuse("fetch", "login does not answer.")
    assert dialog.state.text() == "login does not answer."
    dialog.delete_selected()
    assert server.asked[-1].given == {"delete": str(first.path)}
    (first.path / "cluster.json").unlink()
    server.answer("jobs", {})
    assert (dialog.table.rowCount(), dialog.state.text()) == (2, "Deleted.")
    dialog.table.selectRow(1)
    dialog.show_selected()
    assert [remote_of(folder).job for folder in shown] == ["2"]
    assert server.cancelled == []


def test_a_cluster_is_not_said_to_be_missing_while_the_devices_are_looked_for() -> None:
    assert card_texts(EnvironmentOptions(), None, 128)["parallel"].is_refused
    save_profile(HPC)
    assert card_texts(EnvironmentOptions(), None, 128)["parallel"] == CardText("detecting devices…")
