"""Hosts that data may be fetched from: allowed once per project and host, and kept in the user's configuration."""

import json
import os
from pathlib import Path

import pytest

from netwright.engine.core.errors import HOST_NOT_ALLOWED, UserError
from netwright.engine.core.folders import config_folder
from netwright.engine.project import data_hosts
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import (
    MOST_FILES,
    VARIABLE,
    admit,
    allow,
    allowed,
    grant_all,
    granted,
    granting,
    hosts_of,
    keep_for,
    look_up,
    read_hosts,
    refuse_contact,
    say,
    say_typed,
    written,
)

TABLE = DataOptions(source="table", path="https://a.example/train.csv")
SHARDS = DataOptions(source="shards", path="s3://bucket/{0..2999}.tar", validation_path="https://b.example/v.tar")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that knows of no project, and was told nothing."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(data_hosts, "_said", {})
    monkeypatch.setattr(data_hosts, "_subject", None)


def test_hosts_are_counted_without_asking_them() -> None:
    assert hosts_of(TABLE) == {"a.example": 1}
    assert hosts_of(SHARDS) == {"s3://bucket": 3000, "b.example": 1}
    assert hosts_of(DataOptions(source="table", path="memory://x/a.csv")) == {}
    assert hosts_of(DataOptions(source="table", path="train.csv")) == {}


def test_nothing_is_contacted_before_it_is_allowed(tmp_path: Path) -> None:
    project = tmp_path / "a.netwright"
    look_up(project)
    for refuse in (lambda: admit(TABLE), lambda: refuse_contact(TABLE.path)):
        with pytest.raises(UserError, match=r"The data is at a\.example, and nothing is fetched") as refused:
            refuse()
        assert refused.value.code == HOST_NOT_ALLOWED
        assert refused.value.data == {"hosts": {"a.example": 1}, "path": str(project)}
        assert refused.value.hint == f'Add --allow-host a.example, or set {VARIABLE}="a.example".'
    allow(project, {"a.example": 1})
    with pytest.raises(UserError):
        admit(TABLE)  # it was not looked up since
    look_up(project)
    admit(TABLE)
    refuse_contact("http://a.example/other.csv", MOST_FILES)
    with pytest.raises(UserError):
        refuse_contact("http://a.example:8080/train.csv")
    assert allowed(tmp_path / "b.netwright") == {}, "another project in the folder"


def test_many_files_are_asked_about_with_their_number(tmp_path: Path) -> None:
    say({"s3://bucket": MOST_FILES})
    with pytest.raises(UserError, match=r"at s3://bucket \(3,000 files\)") as refused:
        admit(SHARDS)
    assert "--allow-host s3://bucket=3000" in refused.value.hint
    say(refused.value.data["hosts"])
    admit(SHARDS)


def test_what_is_said_is_stored_for_the_project_that_needs_it(tmp_path: Path) -> None:
    project, run = tmp_path / "a.netwright", tmp_path / "run"
    look_up(project)
    say_typed(TABLE.path)
    say_typed("train.csv")
    say({"other.example": MOST_FILES})
    admit(TABLE)
    assert allowed(project) == {"a.example": MOST_FILES}
    keep_for(run, TABLE)
    assert allowed(run / "trials" / "1") == {"a.example": MOST_FILES}, "what lies in the folder of a run"
    file = config_folder() / "hosts.json"
    assert file.stat().st_mode & 0o77 == 0
    assert list(json.loads(file.read_text())["allowed"]) == [str(project), str(run)]


def test_what_is_granted_for_a_request_ends_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "ci.example")
    allow(tmp_path, {"c.example": 1})
    with granting({"a.example": 1}):
        look_up(tmp_path)
        assert granted() == {"ci.example": MOST_FILES, "a.example": 1, "c.example": MOST_FILES}
    assert os.environ[VARIABLE] == "ci.example"
    with pytest.raises(UserError) as refused:
        admit(TABLE)
    assert "path" not in refused.value.data


def test_a_worker_reads_what_its_run_needs() -> None:
    grant_all(SHARDS)
    refuse_contact(SHARDS.path, 100_000)


def test_hosts_are_read_as_they_are_written() -> None:
    hosts = {"a.example": MOST_FILES, "s3://bucket": 5000, "[::1]:81": 7}
    assert read_hosts(written(hosts)) == hosts
    assert read_hosts("https://A.example/x/y.csv,\tb.example:443") == {"a.example": MOST_FILES, "b.example": MOST_FILES}
    assert read_hosts("a b/c =5 http://[::1 \0 *") == {"a": MOST_FILES, "b": MOST_FILES}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"allowed": 7}', '{"allowed": {"/": 7, "/a": {"b": "c"}}}'])
def test_a_damaged_list_allows_nothing(text: str, tmp_path: Path) -> None:
    config_folder().mkdir(parents=True)
    (config_folder() / "hosts.json").write_text(text)
    assert allowed(Path("/a/b")) == {}
    allow(tmp_path, {"a.example": 1})
    assert allowed(tmp_path) == {"a.example": MOST_FILES}


def test_a_list_that_cannot_be_written_stops_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(UserError, match="list of allowed hosts cannot be written"):
        allow(tmp_path, {"a.example": 1})
    look_up(tmp_path)
    say_typed(TABLE.path)
    admit(TABLE)


def test_the_list_stays_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(data_hosts, "MOST_ENTRIES", 2)
    for name in ("a", "b", "a", "c"):
        allow(tmp_path / name, {"a.example": 1})
    assert [bool(allowed(tmp_path / name)) for name in "abc"] == [True, False, True]
