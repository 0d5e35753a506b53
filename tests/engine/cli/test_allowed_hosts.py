"""Projects whose data is at a stranger's address: nothing is contacted before the user says so, and then it is
remembered."""

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import HOST_NOT_ALLOWED
from netwright.engine.project import data_hosts
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import MOST_FILES, VARIABLE, allowed
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.sources.urls import host_of
from netwright.engine.runs.queue import Queue
from tests import warm
from tests.builders import chain, layer
from tests.engine.data.sources.shard_files import Server, serving, write_shards
from tests.runs import ROOT

ROWS = "x,y\n" + "".join(f"{number},{'ab'[number % 2]}\n" for number in range(40))

EXCHANGE, EXPERIMENTS = pytest.mark.part("exchange"), pytest.mark.part("experiments")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that a project names, in a process that was told nothing."""
    monkeypatch.setattr(data_hosts, "_said", {})
    monkeypatch.setattr(data_hosts, "_subject", None)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "train.csv").write_text(ROWS)
    with serving(tmp_path / "files", is_allowed=False) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: Server) -> Path:
    network = chain(layer("feature_input", channels=1), layer("fully_connected", outputs=2), layer("softmax"))
    made = Project(network, data=DataOptions(source="table", path=f"{server.url}/train.csv"))
    path = tmp_path / "theirs.netwright"
    save(replace(made, training=made.training.replace(max_epochs=1)), path)
    return path


def error_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(capsys.readouterr().out)["error"]
    return error


@pytest.mark.parametrize(
    "words",
    [
        ["check", "P"],
        ["check", "P", "--fit"],
        ["check", "P", "--format", "sarif"],
        ["draw", "P", "-o", "P.svg"],
        ["compare", "P", "P"],
        pytest.param(
            ["export", "P", "--format", "pytorch", "-o", "net.py"], marks=pytest.mark.part("exchange"), id="export"
        ),
        pytest.param(["experiment", "list", "P"], marks=EXPERIMENTS, id="experiment list"),
        ["runs", "P"],
        ["weights", "list"],
    ],
    ids=" ".join,
)
def test_looking_contacts_nobody(
    words: list[str], project: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    main([word.replace("P", str(project)) if word in ("P", "P.svg") else word for word in words])
    assert server.requests == []


@pytest.mark.parametrize(
    "words",
    [
        ["data", "inspect", "P"],
        ["data", "check", "P"],
        ["train", "P"],
        ["train", "P", "--require", "accuracy>=0"],
        ["train", "P", "--detach"],
        pytest.param(
            ["experiment", "run", "P", "--vary", "training.max_epochs=1,2"],
            marks=pytest.mark.part("experiments"),
            id="experiment run",
        ),
        ["queue", "add", "P"],
        ["largest-batch", "P"],
    ],
    ids=" ".join,
)
def test_reading_needs_the_word_of_the_user(
    words: list[str], project: Path, server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    assert main([str(project) if word == "P" else word for word in words] + ["--json"]) == 2
    error, host = error_of(capsys), host_of(server.url)
    assert error["code"] == HOST_NOT_ALLOWED
    assert error["data"] == {"hosts": {host: 1}, "path": str(project)}
    assert error["hint"] == f'Add --allow-host {host}, or set {VARIABLE}="{host}".'
    assert server.requests == []
    assert not (project.parent / "runs").exists()


def test_what_is_allowed_is_remembered_for_the_project(
    project: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = host_of(server.url)
    assert main(["data", "inspect", str(project), "--allow-host", server.url]) == 0
    assert host not in project.read_text().replace(load(project).project.data.path, "")
    assert allowed(project) == {host: MOST_FILES}
    forget(monkeypatch)
    assert main(["data", "inspect", str(project)]) == 0
    other = project.with_name("other.netwright")
    other.write_bytes(project.read_bytes())
    forget(monkeypatch)
    assert main(["data", "inspect", str(other)]) == 2
    monkeypatch.setenv(VARIABLE, f"elsewhere.example {host}")
    assert main(["data", "inspect", str(other)]) == 0
    assert allowed(other) == {}, "what the environment allows is not remembered"


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another process, which was told nothing."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr(data_hosts, "_said", {})
    monkeypatch.setattr(data_hosts, "_subject", None)


@pytest.mark.parametrize("host", ["", "http://[::1", "a..b", "{a,b}.org"])
def test_what_is_no_host_is_said(host: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "inspect", str(project), "--allow-host", host]) == 2
    assert "this is no host. Expected one such as example.org" in capsys.readouterr().err


def test_a_url_that_is_typed_counts(
    project: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url, mine = f"{server.url}/train.csv", tmp_path / "mine.netwright"
    assert main(["data", "inspect", url]) == 0
    forget(monkeypatch)
    save(Project(load(project).project.network), mine)
    assert main(["data", "inspect", str(mine), "--set", "data.source=table", "--set", f"data.path={url}"]) == 0
    assert allowed(mine) == {host_of(url): MOST_FILES}
    forget(monkeypatch)
    assert main(["new", "--data", url]) == 0
    assert allowed(tmp_path / "train.netwright") == {host_of(url): MOST_FILES}
    (tmp_path / "net").mkdir()
    forget(monkeypatch)
    assert main(["new", "digits", "net", "--data", url]) == 0
    assert allowed(tmp_path / "net" / "digits.netwright") == {host_of(url): MOST_FILES}


def trained(*words: str) -> "subprocess.CompletedProcess[str]":
    """A command that trains, from a process that has not computed: torch's threads do not survive a fork."""
    return warm.run(words, timeout=120)


def test_a_run_and_what_is_made_of_it_are_not_asked_about_again(
    project: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    for words in (
        ["train", str(project), "--run-dir", str(run), "--allow-host", server.url],
        ["resume", str(run), "--set", "training.max_epochs=2"],
    ):
        assert trained(*words).returncode == 0
    forget(monkeypatch)
    assert main(["evaluate", str(run), "--fresh"]) == 0
    brought = run.rename(tmp_path / "brought")
    forget(monkeypatch)
    before = len(server.requests)
    for words in (["evaluate", str(brought), "--fresh"], ["resume", str(brought), "--set", "training.max_epochs=3"]):
        assert main(words) == 2
    assert len(server.requests) == before
    assert main(["evaluate", str(brought), "--fresh", "--allow-host", host_of(server.url)]) == 0


@pytest.mark.part("experiments")
def test_an_experiment_is_asked_about_once(
    project: Path, server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also about what varies in it."""
    vary = ["--vary", "training.seed=1,2"]
    words = ["experiment", "run", str(project), *vary, "--at-once", "1", "--json"]
    done = trained(*words, "--allow-host", server.url)
    assert done.returncode == 0, done
    folder = json.loads(done.stdout)["experiment_dir"]
    assert trained("experiment", "run", folder, "--json").returncode == 0
    assert list(allowed(Path(folder) / "1")) == [host_of(server.url)]
    forget(monkeypatch)
    theirs = load(project).project
    data = theirs.data.replace(path="digits.csv")
    values = {"path": "data.path", "values": [f"{server.url}/train.csv", "http://b.example/train.csv"]}
    experiment = theirs.experiment.replace(parameters=[values])
    save(replace(theirs, data=data, experiment=experiment), project.with_name("varied.netwright"))
    capsys.readouterr()
    monkeypatch.setenv(VARIABLE, host_of(server.url))
    assert main(["experiment", "run", str(project.with_name("varied.netwright")), "--json"]) == 2
    assert error_of(capsys)["data"]["hosts"] == {"b.example": 1}


def test_a_queued_project_keeps_what_was_allowed(project: Path, server: Server) -> None:
    assert main(["queue", "add", str(project), "--allow-host", server.url]) == 0
    [entry] = Queue().entries()
    assert entry.hosts == host_of(server.url)
    assert server.requests == []


def test_thousands_of_files_are_allowed_by_their_number(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = host_of(server.url)
    pattern = f"{server.url}/train-{{0000..1999}}.tar"
    assert main(["data", "inspect", pattern, "--json"]) == 2
    error = error_of(capsys)
    assert "(2,000 files)" in error["message"]
    assert f"--allow-host {host}=2000" in error["hint"]
    assert server.requests == []
    write_shards(tmp_path / "files")
    assert main(["data", "inspect", pattern, "--allow-host", f"{host}=2000"]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert len(server.requests) > 1


@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_user_at_a_terminal_is_asked(answer: str, project: Path, server: Server) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "netwright.engine", "data", "inspect", str(project)]
    with subprocess.Popen(words, cwd=ROOT, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"[y/N]" not in shown:
            assert select.select([ours], [], [], 100.0)[0]
            shown += os.read(ours, 4096)
        assert server.requests == []
        os.write(ours, f"{answer}\n".encode())
        assert process.stdout is not None
        said = process.stdout.read()
        assert process.wait(100.0) == (0 if answer == "y" else 2)
    os.close(ours)
    assert f"The data is at {host_of(server.url)}, and nothing is fetched".encode() in shown
    assert (b"samples: 40" in said, bool(server.requests), bool(allowed(project))) == (answer == "y",) * 3


@pytest.mark.parametrize(
    "url",
    [
        "file://[::1",
        "file:///a%00b",
        "ftp://127.0.0.1/a.csv",
        "http://[::1",
        "http://[::1/a.csv",
        "http://a b/c.csv",
        "s3://",
    ],
)
@pytest.mark.parametrize("words", [["data", "inspect"], ["data", "check"], ["new", "--data"]], ids=" ".join)
def test_a_url_that_is_none_of_ours_is_a_sentence(
    url: str, words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, url]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert "not read by ftp://" in error or "this is no " in error


@pytest.mark.parametrize("place", ["a\0b.csv", "http://h/a\0b.csv", "http://[::1", "file://[::1", "ftp://h/a.csv"])
@pytest.mark.parametrize("option", ["path", "validation_path"])
@pytest.mark.parametrize(
    "words",
    [["check"], ["data", "inspect"], ["data", "check"], ["train"], ["transfer", "-o", "new.netwright"]],
    ids=" ".join,
)
def test_a_place_in_a_project_that_is_none_is_a_sentence(
    words: list[str], option: str, place: str, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(project.parent)
    (project.parent / "train.csv").write_text(ROWS)
    data = DataOptions(source="table", path="train.csv").replace(**{option: "PLACE"})
    save(replace(load(project).project, data=data), project)
    project.write_text(project.read_text().replace("PLACE", place.replace("\0", "\\u0000")))
    code = main([*words, str(project), *(["--fit-head"] if "transfer" in words else [])])
    assert code == 2 or words == ["check"]
    assert "Traceback" not in capsys.readouterr().err
