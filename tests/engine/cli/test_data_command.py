"""`data inspect` and `data check`: of a project, a file and a folder, in words and as JSON."""

import json
from pathlib import Path

import pytest
from PIL import Image

from netwright.engine.cli.main import main
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.sources.urls import without_file_scheme


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    path.write_text("a,b,y\n" + "".join(f"{i},{i * i % 17},{'x' if i % 3 else 'z'}\n" for i in range(60)))
    return path


def test_a_file_is_described_with_the_reason_for_its_kind(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "inspect", str(table)]) == 0
    out = capsys.readouterr().out
    assert "source: table" in out
    assert "taken as that because: The first line names 3 columns" in out
    assert "samples: 60 (training 42, validation 9, test 9)" in out
    assert "target y: 2 classes" in out


def test_a_file_url_is_the_path_that_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a file manager copies it."""
    path = tmp_path / "a table.csv"
    path.write_text("a,y\n" + "".join(f"{i},{'x' if i % 3 else 'z'}\n" for i in range(60)))
    assert main(["data", "inspect", path.as_uri()]) == 0
    assert "samples: 60" in capsys.readouterr().out
    assert main(["new", "digits", str(tmp_path), "--data", path.as_uri()]) == 0
    assert load(tmp_path / "digits.netwright").project.data.path == "a table.csv"
    assert without_file_scheme("file:///C:/a%20b.csv") == "C:/a b.csv"
    assert without_file_scheme("https://host/a.csv") == "https://host/a.csv"


def test_a_project_as_json_with_another_value(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table.with_name("p.netwright")
    save(Project(data=DataOptions(source="table", path="small.csv")), path)
    assert main(["data", "inspect", str(path), "--json", "--set", "data.response=b"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["command"] == "data inspect"
    assert told["facts"]["targets"][0]["name"] == "b"
    assert told["data"]["response"] == "b"
    assert [column["name"] for column in told["columns"]] == ["a", "b", "y"]


def test_a_check_says_what_it_found_and_exits_2_for_errors(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", str(table)]) == 0
    assert "ok: Every sample can be read." in capsys.readouterr().out
    with table.open("a") as file:
        file.write("3,,x\n")
    strict = ["--set", "data.missing_values=refuse"]
    assert main(["data", "check", str(table), *strict, "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["error"]["code"] == "invalid_data"
    (finding,) = told["findings"]
    assert finding["fixes"][0]["options"] == {"missing_values": "leave-out"}
    assert main(["data", "check", str(table), "--set", "data.missing_values=leave-out"]) == 0
    assert main(["data", "check", str(table)]) == 0


def test_a_check_warns_of_files_left_out_as_inspect_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("cat", "dog"):
        folder = tmp_path / "pets" / name
        folder.mkdir(parents=True)
        for index in range(10):
            Image.new("RGB", (16, 16), (index * 20, 80, 90)).save(folder / f"{index}.png")
        (folder / "cut.png").write_bytes((folder / "1.png").read_bytes()[:40])
    said, written = {}, {}
    for way in ("inspect", "check"):
        assert main(["data", way, str(tmp_path / "pets")]) == 0
        said[way] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
        assert main(["data", way, str(tmp_path / "pets"), "--json"]) == 0
        written[way] = json.loads(capsys.readouterr().out)
    (warning,) = said["inspect"]
    assert all(text in warning for text in ("2 of ", "cat/cut.png", "dog/cut.png"))
    assert warning in said["check"]
    assert (
        written["check"]["warnings"] == written["inspect"]["facts"]["warnings"] == [warning.removeprefix("warning: ")]
    )


def test_what_is_no_data_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1")
    assert main(["data", "inspect", str(tmp_path / "a.bin")]) == 2
    assert "nothing that Netwright reads as data" in capsys.readouterr().err
    save(Project(), tmp_path / "p.netwright")
    assert main(["data", "check", str(tmp_path / "p.netwright")]) == 2
    assert "has no data yet" in capsys.readouterr().err


def test_a_source_that_is_named_is_not_guessed(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "inspect", str(table), "--set", "data.source=text"]) == 2
    assert "has no column with texts" in capsys.readouterr().err
    assert main(["data", "inspect", str(table.with_name("none.csv")), "--set", "data.source=table"]) == 2
    assert "There is no file or folder" in capsys.readouterr().err


def test_a_url_is_one_of_shards_and_its_password_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "inspect", "https://me:geheim@host.invalid/x.tar", "--json"]) == 2
    said = capsys.readouterr()
    assert "https://host.invalid/x.tar is given with a user or password" in said.err
    assert "geheim" not in said.err + said.out


def test_a_file_of_zero_bytes_is_named_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "zeros.csv").open("wb") as file:
        file.truncate(2**31)
    assert main(["data", "inspect", str(tmp_path / "zeros.csv")]) == 2
    assert "the file begins with zero bytes only" in capsys.readouterr().err
    assert main(["data", "inspect", str(tmp_path / "zeros.csv"), "--set", "data.source=table"]) == 2
    assert "zeros.csv is no text: it holds zero bytes." in capsys.readouterr().err
