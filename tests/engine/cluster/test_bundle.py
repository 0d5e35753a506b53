from pathlib import Path

import pytest

from netwright.engine.cluster import bundle as module
from netwright.engine.cluster.bundle import bundle, job_script
from netwright.engine.cluster.profile_file import profiles_in
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import UserError
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.project.weights import WeightsOptions

PROFILE = ClusterProfile(name="hpc", kind="slurm", workers=4, cores_per_worker=2, python="/opt/python")


def data_of(options: DataOptions, base: Path, profile: ClusterProfile = PROFILE) -> tuple[str, list[str]]:
    packed = bundle(Project(data=options), base, {}, profile)
    text = packed.files["project/project.netwright"]
    assert isinstance(text, bytes)
    return text.decode(), sorted(packed.files)


def test_data_beside_the_project_keeps_its_name_and_other_data_gets_one(tmp_path: Path) -> None:
    base = tmp_path / "nets"
    (base / "data").mkdir(parents=True)
    (base / "data" / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    text, names = data_of(DataOptions(source="table", path="data/a.csv", validation_path="../b.csv"), base)
    assert names == ["project/data/a.csv", "project/files/1/b.csv", "project/project.netwright"]
    assert '"path": "data/a.csv"' in text
    assert '"validation_path": "files/1/b.csv"' in text


def test_mapped_data_and_addresses_are_not_copied(tmp_path: Path) -> None:
    mapped = PROFILE.replace(path_map={str(tmp_path): "/shared"})
    text, names = data_of(DataOptions(source="images", path="pets"), tmp_path, mapped)
    assert '"path": "/shared/pets"' in text
    assert names == ["project/project.netwright"]
    packed = bundle(Project(weights=WeightsOptions(file="https://host/a.safetensors")), tmp_path, {}, PROFILE)
    assert len(packed.files) == 1


def test_the_sounds_that_a_table_names_are_copied_with_it(tmp_path: Path) -> None:
    table = tmp_path / "elsewhere" / "sounds.csv"
    for name in ("a.wav", "more/b.wav"):
        (table.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (table.parent / name).write_bytes(b"RIFF")
    table.write_text("file;label\na.wav;x\nmore/b.wav;y\na.wav;x\n", encoding="utf-8")
    options = DataOptions(source="audio", path=str(table))
    base = tmp_path / "nets"
    text, names = data_of(options, base)
    assert '"path": "files/0/sounds.csv"' in text
    assert names[:3] == [f"project/files/0/{name}" for name in ("a.wav", "more/b.wav", "sounds.csv")]
    (table.parent / "a.wav").unlink()
    with pytest.raises(UserError, match=r"a\.wav cannot be copied to the cluster: No such file"):
        data_of(options, base)
    table.write_text("file,label\n/data/a.wav,x\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"names /data/a\.wav, which lies outside of its folder(.|\n)*path_map="):
        data_of(options, base)


def test_the_run_of_a_teacher_is_copied_without_its_checkpoints(tmp_path: Path) -> None:
    for name in ("best/weights.safetensors", "checkpoints/1/state", "run.json"):
        (tmp_path / "teacher" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "teacher" / name).write_bytes(b"{}")
    project = Project(training=TrainingOptions(distil_from="teacher"))
    packed = bundle(project, tmp_path, {}, PROFILE)
    assert sorted(packed.files)[:2] == ["project/files/0/teacher/best", "project/files/0/teacher/run.json"]
    text = packed.files["project/project.netwright"]
    assert isinstance(text, bytes)
    assert '"distil_from": "files/0/teacher"' in text.decode()
    mapped = bundle(project, tmp_path, {}, PROFILE.replace(path_map={str(tmp_path): "/shared"}))
    assert len(mapped.files) == 1


def test_a_pattern_takes_the_files_that_it_matches(tmp_path: Path) -> None:
    for name in ("a_1.csv", "a_2.csv", "b.csv"):
        (tmp_path / name).write_text("x\n1\n", encoding="utf-8")
    text, names = data_of(DataOptions(source="table", path="a_*.csv"), tmp_path)
    assert names[:2] == ["project/files/0/a_1.csv", "project/files/0/a_2.csv"]
    assert '"path": "files/0/a_*.csv"' in text
    with pytest.raises(UserError, match=r"No file matches .*c_\*\.csv"):
        data_of(DataOptions(source="table", path="c_*.csv"), tmp_path)


def test_what_cannot_be_copied_is_refused_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"missing\.csv cannot be copied to the cluster: No such file"):
        data_of(DataOptions(source="table", path="missing.csv"), tmp_path)
    monkeypatch.setattr(module, "MOST_COPIED_BYTES", 10)
    (tmp_path / "large.csv").write_text("x,y\n" * 10, encoding="utf-8")
    with pytest.raises(UserError, match="path_map="):
        data_of(DataOptions(source="table", path="large.csv"), tmp_path)
    with pytest.raises(UserError, match="outside of its folder"):
        bundle(Project(), tmp_path, {"../own.py": b""}, PROFILE)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, {"target": "multi-cpu", "num_workers": 4, "threads": 2}),
        ({"workers": 1}, {"target": "cpu", "threads": 2}),
        ({"workers": 1, "gpus_per_worker": 1}, {"target": "gpu"}),
        ({"gpus_per_worker": 1}, {"target": "multi-gpu"}),
    ],
)
def test_the_first_host_trains_with_the_workers_of_the_profile(
    values: dict[str, int], expected: dict[str, object]
) -> None:
    project = Project(environment=EnvironmentOptions(target="parallel", cluster="hpc", strategy="fully-sharded"))
    options = module.environment_of(project, PROFILE.replace(**values))
    assert options == EnvironmentOptions(strategy="fully-sharded", **expected)


def test_a_job_of_slurm_asks_for_all_of_its_workers() -> None:
    profile = PROFILE.replace(
        partition="gpu", memory=1.5, time_limit=30, gpus_per_worker=1, sbatch_options="--exclusive", interface="ib0"
    )
    hosts = "a.example s3://b=5000"
    lines = job_script(profile, "/shared/my jobs/7", has_code=True, hosts=hosts).decode().splitlines()
    assert "export NETWRIGHT_ALLOWED_HOSTS='a.example s3://b=5000'" in lines, "what the user has allowed here"
    options = {line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")}
    assert options >= {"--cpus-per-task=8", "--gres=gpu:4", "--mem=6000M", "--time=30", "--partition=gpu"}
    assert options >= {"--exclusive", "--requeue", '--output="/shared/my jobs/7/output-%j.txt"'}
    assert lines[-1] == 'exec /opt/python -m netwright.engine "$@" --json'
    assert "export GLOO_SOCKET_IFNAME=ib0" in lines
    assert any(line.startswith('command -v /opt/python > /dev/null || { echo \'{"error":') for line in lines)
    assert "    set -- resume '/shared/my jobs/7/run' --trust" in lines
    assert "#SBATCH" not in job_script(PROFILE.replace(kind="ssh", address="a"), "/x", has_code=False).decode()


def test_a_job_on_several_nodes_has_a_task_on_each_and_starts_agents_from_there(tmp_path: Path) -> None:
    profile = PROFILE.replace(nodes=2, memory=1.0, gpus_per_worker=1, address="login", path_map={"/a": "/b"})
    lines = job_script(profile, "/shared/7", has_code=False).decode().splitlines()
    options = {line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")}
    assert options >= {"--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=4", "--gres=gpu:2", "--mem=2000M"}
    assert "export NETWRIGHT_PROFILES=/shared/7/clusters.toml" in lines
    environment = EnvironmentOptions(target="parallel", num_workers=3, min_workers=2)
    packed = bundle(Project(environment=environment), tmp_path, {}, profile)
    text = packed.files["clusters.toml"]
    assert isinstance(text, bytes)
    (tmp_path / "clusters.toml").write_bytes(text)
    (there,) = profiles_in(tmp_path / "clusters.toml")
    assert there == profile.replace(address="", path_map=())
    expected = EnvironmentOptions(target="parallel", cluster="hpc", min_workers=2)
    assert module.environment_of(Project(environment=environment), profile) == expected


def test_the_python_of_a_profile_is_a_command_of_the_shell() -> None:
    for values, words in (
        ({"environment": "conda", "conda": "my nets"}, "conda run --no-capture-output --name 'my nets' python"),
        ({"environment": "container", "container": "/a.sif"}, "apptainer exec /a.sif python3"),
        ({"environment": "wheel"}, '"$HOME"/.local/share/netwright/environment/bin/python'),
    ):
        assert module.python_words(PROFILE.replace(**values)) == words


def test_a_job_of_ray_has_a_profile_whose_coordinator_is_where_the_job_is(tmp_path: Path) -> None:
    values = {"coordinator": "cluster", "storage": "/shared", "path_map": {"/a": "/b"}, "token_file": "/home/me/token"}
    profile = ClusterProfile(name="ray", kind="ray", address="10.0.0.1:6379", workers=4, **values)
    asked = EnvironmentOptions(target="parallel", cluster="other", num_workers=3, min_workers=2)
    packed = bundle(Project(environment=asked), tmp_path, {}, profile)
    text = packed.files["clusters.toml"]
    assert isinstance(text, bytes)
    assert "token" not in text.decode()
    (tmp_path / "clusters.toml").write_bytes(text)
    (there,) = profiles_in(tmp_path / "clusters.toml")
    assert (there.address, there.coordinator, there.path_map, there.workers) == ("10.0.0.1:6379", "here", (), 4)
    options = module.environment_of(Project(environment=asked), profile)
    assert (options.target, options.cluster, options.num_workers, options.min_workers) == ("parallel", "ray", 3, 2)
