"""`runs`, `note` and `tag` on the command line."""

import json
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.folders import data_folder
from netwright.engine.runs.create import create
from netwright.engine.runs.folder import open_run, update_info
from netwright.engine.runs.info import RunInfo
from tests.json_schema import checked_output


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for number, state in enumerate(("finished", "failed", "finished"), start=1):
        info = RunInfo.read({"name": "digits", "created": float(number), "environment": {"resolved": "cpu"}})
        run = create(tmp_path / f"run_{number}", f'{{"training": {{"max_epochs": {number}}}}}', info)
        update_info(run, state=state)
        run.result.write_text(json.dumps({"epochs": number, "seconds": 65, "test": {"loss": 1 / number}}))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    assert main([str(word) for word in words]) == code
    found = capsys.readouterr()
    return found.err if code else found.out


def test_a_list_with_changes_filtered_and_sorted(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "runs", runs).splitlines()
    assert [line.split()[0] for line in lines] == ["run", "run_3", "run_2", "run_1"]
    assert lines[1].endswith("cpu               3  1 m 5 s  loss 0.333  max_epochs: 2 → 3")
    found = checked_output(said(capsys, "runs", runs, "--filter", "state:finished", "--sort", "loss", "--json"))
    assert [Path(run["run_dir"]).name for run in found["runs"]] == ["run_3", "run_1"]
    assert found["runs"][0]["changes"] == [{"option": "training.max_epochs", "before": "2", "after": "3"}]
    table = said(capsys, "runs", runs, "--csv", "--sort", "run").splitlines()
    assert [line.partition(",")[0] for line in table] == ["run", "run_1", "run_2", "run_3"]
    assert said(capsys, "runs", runs, "--filter", "nothing") == (
        f"There are no runs in {runs} that fit 'nothing'; there are 3 in all.\n"
    )
    assert "--sort size: no run has that." in said(capsys, "runs", runs, "--sort", "size", code=2)


def test_a_run_whose_engine_is_gone_says_how_to_go_on(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = runs / "run_2"
    update_info(open_run(run), state="running")
    assert main(["follow", str(run)]) == 3
    assert capsys.readouterr().out.endswith("It has saved no checkpoint to go on from: train again.\n")
    assert "no checkpoint to go on from" in said(capsys, "export", run, "--format=onnx", "-ox", code=2)
    for ended in (run, runs / "run_1"):
        (ended / "checkpoints" / "000000010").mkdir(parents=True)
    assert main(["follow", str(run)]) == 3
    assert capsys.readouterr().out.endswith(f"netwright-engine resume {run} goes on from its last checkpoint.\n")
    assert "`netwright-engine resume` goes on from" in said(capsys, "export", run, "--format=onnx", "-ox", code=2)
    assert said(capsys, "pause", runs / "run_1", code=2).endswith(
        "finished. `netwright-engine resume` goes on from its last checkpoint.\n"
    )


def test_a_table_of_curves_is_named_where_it_cannot_be_written(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = runs / "none" / "c.csv"
    assert f"{target} cannot be written: No such file" in said(capsys, "curves", runs / "run_1", "-o", target, code=2)


def test_notes_and_tags(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = runs / "run_1"
    assert said(capsys, "note", run) == ""
    assert said(capsys, "note", run, "for the talk") == ""
    assert said(capsys, "note", run) == "for the talk\n"
    assert said(capsys, "tag", run, "paper", "best") == "best\npaper\n"
    assert said(capsys, "tag", run, "best", "--remove") == "paper\n"
    header, line = said(capsys, "runs", runs, "--filter", "talk tag:paper").splitlines()
    assert (header.split()[7:], line.split()[-1]) == (["tags", "changes"], "paper")
    assert "is not a run" in said(capsys, "tag", runs, "x", code=2)
    assert "is no tag" in said(capsys, "tag", run, "a,b", code=2)


def test_a_run_of_a_stranger_has_no_say_over_the_terminal(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    update_info(open_run(runs / "run_1"), state="\x1b]0;owned\x07" + "x" * 10_000)
    lines = said(capsys, "runs", runs).splitlines()
    assert all(line.isprintable() and len(line) < 500 for line in lines)


def test_the_folder_of_one_run_says_what_it_is(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = runs / "run_1"
    assert f"{run} is the folder of one run. `netwright-engine show`" in said(capsys, "runs", run, code=2)


def test_a_filter_that_can_match_nothing_is_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Did you mean 'accuracy'?" in said(capsys, "runs", runs, "--filter", "acuracy>0.9", code=2)
    assert "there is no state 'bogus'" in said(capsys, "runs", runs, "--filter", "state:bogus", code=2)


def test_one_run_is_described(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "run_2" / "checkpoints" / "000000010").mkdir(parents=True)
    said(capsys, "note", runs / "run_2", "for the talk")
    lines = [line.split(None, 1) for line in said(capsys, "show", runs / "run_2").splitlines()]
    assert [line[0] for line in lines] == [
        *("run", "state", "project", "created", "environment", "trained", "test", "option", "note", "next")
    ]
    assert dict(lines)["option"] == "training.max_epochs = 2"
    assert dict(lines)["trained"] == "2 epochs, 1 m 5 s"
    assert dict(lines)["next"] == f"netwright-engine resume {runs / 'run_2'}"
    found = checked_output(said(capsys, "show", runs / "run_3", "--json"))
    assert (found["run_dir"], found["state"]) == (str(runs / "run_3"), "finished")
    assert "is not a run" in said(capsys, "show", runs, code=2)


def test_a_project_has_the_runs_beside_it_and_those_elsewhere_that_carry_its_identity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "digits.netwright"
    path.write_text('{"netwright": [1, 0], "id": "11111111-digits"}')
    own = data_folder() / "runs"

    def made(folder: Path, created: float, project_path: str | None = None, project_id: str = "") -> None:
        info = RunInfo(name="digits", created=created, project_path=project_path, project_id=project_id)
        update_info(create(folder, "{}", info), state="finished")

    made(tmp_path / "runs" / "beside", 1.0, str(path))
    made(tmp_path / "runs" / "of_another", 2.0, str(tmp_path / "two.netwright"), "22222222-two")
    made(own / "before_it_was_saved", 3.0, project_id="11111111-digits")
    made(own / "unsaved_other", 4.0, project_id="22222222-two")
    (tmp_path / "runs" / "damaged").mkdir()
    (tmp_path / "runs" / "damaged" / "run.json").write_text("{")
    found = checked_output(said(capsys, "runs", path, "--json"))["runs"]
    assert {Path(run["run_dir"]).name for run in found} == {"beside", "before_it_was_saved", "damaged"}
    assert "There are no runs of" in said(capsys, "runs", path.rename(tmp_path / "b.netwright"), "--filter", "no")


@pytest.mark.parametrize("content", ["", '{"epochs": 3, "loss', '{"epochs": 3, "sha256": "0"}', "[" * 100_000])
def test_damaged_files_of_a_run_are_told_and_not_replaced(
    runs: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = open_run(runs / "run_1")
    run.result.write_text(content)
    assert main(["runs", str(runs)]) == 0
    assert capsys.readouterr().err == f"note: {run.result} cannot be read; its numbers are those of events.jsonl\n"
    assert f"damaged      {run.result} cannot be read" in said(capsys, "show", run.path)
    found = checked_output(said(capsys, "runs", runs, "--json"))
    assert [one["damaged"] for one in found["runs"]] == [[], [], ["result.json"]]
    notes = run.path / "notes.json"
    notes.write_text(content)
    assert "notes.json is damaged: note and tags in it cannot be read" in said(capsys, "note", run.path, "x", code=2)
    assert "notes.json is damaged" in said(capsys, "tag", run.path, "x", code=2)
    assert main(["note", str(run.path)]) == 0
    assert "notes.json cannot be read" in capsys.readouterr().err
    assert (run.result.read_text(), notes.read_text()) == (content, content)
