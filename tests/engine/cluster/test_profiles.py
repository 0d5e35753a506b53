import threading
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cluster.profile_file import (
    Profiles,
    exported,
    find_profile,
    load_profiles,
    profiles_in,
    read_profiles,
    remove_profile,
    save_profile,
    set_default,
    write_profile,
)
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import UserError
from netwright.engine.project.layer_reference import COMMAND
from scripts.make_reference import CLUSTERS, clusters_text

LAB = ClusterProfile(name="lab", kind="ray", address="head:6379", token_file="/secrets/token")
SLURM = ClusterProfile(
    name="hpc",
    kind="slurm",
    workers=4,
    storage="/shared/anna",
    path_map='/work/d"ata=/shared/data',
    sbatch_options="--exclusive; --constraint=a100",
    memory=1.5,
    conda="ünïcode \x7f",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings" / "clusters.toml"


def test_saved_profiles_are_read_by_another_program_and_are_private(file: Path) -> None:
    assert read_profiles(file).by_name == {}
    save_profile(SLURM, file=file)
    save_profile(LAB, file=file)
    assert load_profiles(file) == (SLURM, LAB)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)  # an editor, or a copy from elsewhere
    save_profile(SLURM.replace(workers=8), replacing="hpc", file=file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert find_profile("hpc", file).workers == 8


def test_the_default_follows_a_new_name_and_goes_with_its_profile(file: Path) -> None:
    save_profile(LAB, file=file)
    assert find_profile("", file) == LAB
    save_profile(SLURM, file=file)
    with pytest.raises(UserError, match=r"none is the default.*hpc, lab"):
        find_profile("", file)
    set_default("lab", file)
    save_profile(LAB.replace(name="lab2"), replacing="lab", file=file)
    assert find_profile("", file).name == "lab2"
    remove_profile("lab2", file)
    assert read_profiles(file) == Profiles("", {"hpc": SLURM})


def test_names_that_are_taken_or_unknown_are_refused(file: Path) -> None:
    with pytest.raises(UserError, match=r"there is none yet\. Add one: .*cluster add"):
        find_profile("lab", file)
    save_profile(LAB, file=file)
    with pytest.raises(UserError, match="'lab' already"):
        save_profile(LAB, file=file)
    for change in (remove_profile, set_default, find_profile):
        with pytest.raises(UserError, match=r"no cluster profile 'lap'.*Did you mean 'lab'"):
            change("lap", file)
    with pytest.raises(UserError, match="no cluster profile 'hpc'"):
        save_profile(SLURM, replacing="hpc", file=file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[profiles.lab]\naddres = 'x'", r"profiles\.lab\.addres: there is no such field.*'address'"),
        ("[profiles.lab]\nkind = 'rey'", r"profiles\.lab\.kind: expected one of ray, slurm, ssh"),
        ("[profiles.lab]\nworkers = 0\ncores_per_worker = 'x'", r"workers: expected(.|\n)*cores_per_worker: expected"),
        ("[profiles.'a b']\nkind = 'ray'", "a name of at most 60 letters"),
        ("[profiles.lab]\nname = 'other'", "the name of a profile is that of its table"),
        ("profile = 3", r"profile: there is no such key.*Did you mean 'profiles'"),
        ("profiles = 3", r"expected tables, such as \[profiles\.lab\]"),
        ("default = 'lab'", 'there is no profile "lab"'),
        ("[profiles", "is not a file of cluster profiles"),
        ("\udcff", "is not a file of cluster profiles"),
    ],
)
def test_a_file_with_mistakes_is_refused_in_words(file: Path, text: str, message: str) -> None:
    file.parent.mkdir()
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=message) as refused:
        read_profiles(file)
    assert str(file) in str(refused.value)
    with pytest.raises(UserError):
        save_profile(LAB, file=file)
    assert file.read_bytes() == text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": ""}, "needs a name"),
        ({"address": ""}, r"lab\.address: Ray needs host:port"),
        ({"kind": "ssh", "address": " "}, "ssh needs a host"),
        ({"kind": "ray", "address": "auto", "coordinator": "cluster"}, "name a folder that all of its nodes see"),
        ({"kind": "slurm", "address": "a; b"}, "slurm has one address, received 2"),
        ({"kind": "ssh", "address": "node1; -oProxyCommand=x"}, "'-oProxyCommand=x' is no host"),
        ({"address": "anna:secret@head:6379"}, "is no host"),
        ({"environment": "conda"}, "conda: is empty"),
        ({"environment": "container", "container": "x.sif"}, "container: expected a path from the root"),
        ({"storage": "runs"}, "storage: expected a path from the root"),
        ({"path_map": "data=/shared"}, "paths from the root on both sides"),
        ({"interface": "eth0; rm"}, "no name of an interface"),
        ({"kind": "slurm", "address": "", "sbatch_options": "x"}, "does not begin with -"),
    ],
)
def test_fields_that_cannot_be_are_refused_before_anything_is_saved(
    file: Path, values: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        save_profile(LAB.replace(**values), file=file)
    assert not file.exists()


def test_an_exported_profile_has_no_path_of_a_secret(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    write_profile(file, exported(LAB))
    assert "token" not in file.read_text()
    assert profiles_in(file) == (LAB.replace(token_file=""),)
    file.write_text("")
    with pytest.raises(UserError, match=r"lab\.toml has no cluster profile"):
        profiles_in(file)
    file.write_text("[profiles.lab]")
    with pytest.raises(UserError, match="Ray needs"):
        profiles_in(file)


def test_changes_of_several_programs_are_all_kept(file: Path) -> None:
    threads = [
        threading.Thread(target=save_profile, args=(LAB.replace(name=f"lab{i}"),), kwargs={"file": file})
        for i in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read_profiles(file).by_name) == [f"lab{i}" for i in range(6)]


def test_a_path_is_mapped_by_its_longest_match() -> None:
    mapped = LAB.replace(path_map="/data=/shared/data;/data/images=/fast")
    assert mapped.remote_path("/data/images/cat.png") == "/fast/cat.png"
    assert mapped.remote_path("/data/table.csv") == "/shared/data/table.csv"
    assert mapped.remote_path("/database") is None


@pytest.mark.parametrize(
    ("values", "takes"),
    [
        ({"kind": "ray", "address": "auto"}, False),
        ({"kind": "ray", "address": "auto", "coordinator": "cluster", "storage": "/shared"}, True),
        ({"kind": "ssh", "address": "a"}, True),
        ({"kind": "ssh", "address": "a; b"}, False),
        ({"kind": "slurm", "nodes": 2}, True),
    ],
)
def test_a_profile_takes_jobs_where_their_coordinator_is_there(values: dict[str, Any], takes: bool) -> None:
    assert ClusterProfile(name="lab", **values).takes_jobs == takes


def test_the_page_has_the_fields_of_a_profile() -> None:
    page = CLUSTERS.read_text(encoding="utf-8")
    assert clusters_text(page) == page, f"fields have changed: run `{COMMAND}` and commit the page"
    assert all(page.count(f"\n| `{name}` |") == 1 for name in ClusterProfile.fields)
