import json
import socket
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli.main import main
from netwright.engine.cluster.profile_file import find_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import running_ray
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT
from tests.clusters import hide_local_ray


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    hide_local_ray(tmp_path, monkeypatch)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["cluster", *words, "--json"]) == EXIT_DONE
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_profile_is_added_changed_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "add", "lab", "--set", "kind=slurm", "--set", "workers=4")["profile"]["workers"] == 4
    told(capsys, "add", "pc", "--set", "kind=ssh", "--set", "address=anna@node1; node2")
    assert [one["is_default"] for one in told(capsys, "default", "lab")["profiles"]] == [True, False]
    changed = told(capsys, "edit", "lab", "--rename", "hpc", "--set", "gpus_per_worker=1")
    assert changed["is_default"]
    assert find_profile("") == ClusterProfile(name="hpc", kind="slurm", workers=4, gpus_per_worker=1)
    assert main(["cluster", "list"]) == EXIT_DONE
    rows = capsys.readouterr().out.splitlines()
    assert rows[1].split("  ")[0] == "hpc (default)"
    assert "4 workers, 1 core, 1 GPU each" in rows[1]
    assert [one["name"] for one in told(capsys, "remove", "hpc")["profiles"]] == ["pc"]


def test_a_profile_goes_to_another_user_as_a_file(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "add", "lab", "--set", "address=head:6379", "--set", "token_file=/secrets/token")
    file = settings / "lab.toml"
    assert "token" not in told(capsys, "export", "lab", "-o", str(file))["text"]
    assert main(["cluster", "import", str(file)]) == EXIT_INPUT
    assert "Add --replace" in capsys.readouterr().err
    told(capsys, "remove", "lab")
    assert told(capsys, "import", str(file))["profiles"] == ["lab"]
    assert find_profile("lab") == ClusterProfile(name="lab", address="head:6379")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add", "a b", "--set", "kind=slurm"), "a name of at most 60 letters"),
        (("add", "lab", "--set", "kind=slrm"), "Did you mean 'slurm'?"),
        (("add", "lab", "--set", "addres=x"), "no field 'addres'. Did you mean 'address'?"),
        (("add", "lab", "--set", "workers"), "expected field=value"),
        (("add", "lab", "--set", "name=x"), "Use --rename."),
        (("add", "lab"), "lab.address: Ray needs host:port"),
        (("edit", "lab"), "There is no cluster profile 'lab'"),
        (("export", "lab"), "There is no cluster profile 'lab'"),
        (("import", "missing.toml"), "missing.toml cannot be read"),
    ],
)
def test_mistakes_are_refused_in_words(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", *words]) == EXIT_INPUT
    assert message in capsys.readouterr().err


def test_a_ray_of_this_machine_is_offered_while_it_answers(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (settings / "ray").mkdir()
    note = settings / "ray" / "ray_current_cluster"
    assert running_ray() is None
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        note.write_text(address, encoding="utf-8")
        assert told(capsys, "list")["local_ray"] == address
        assert main(["cluster", "list"]) == EXIT_DONE
        assert f"Ray runs on this machine at {address}" in capsys.readouterr().out
        told(capsys, "add", "local-ray", "--set", "address=auto")
        assert told(capsys, "list")["local_ray"] is None
        told(capsys, "remove", "local-ray")
    assert running_ray() is None, "it is gone and has left its file"
