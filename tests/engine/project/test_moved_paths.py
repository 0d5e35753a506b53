from dataclasses import replace

from netwright.engine.project.data import DataOptions
from netwright.engine.project.moved_paths import moved_paths, with_paths
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.project.weights import WeightsOptions


def on_hosts(path: str) -> str | None:
    """The name that hosts give a path."""
    return path.replace("/data/", "/shared/") if path.startswith("/data/") else None


def test_absolute_paths_get_the_names_that_hosts_give_them() -> None:
    project = Project(
        data=DataOptions(source="images", path="/data/pets", validation_path="beside", test_path="/elsewhere"),
        weights=WeightsOptions(file="/data/a.safetensors"),
        training=TrainingOptions(distil_from="/data/runs/1"),
    )
    found = moved_paths(project, on_hosts)
    assert found == {
        "/data/pets": "/shared/pets",
        "/data/a.safetensors": "/shared/a.safetensors",
        "/data/runs/1": "/shared/runs/1",
    }
    moved = with_paths(project, found)
    assert (moved.data.path, moved.data.validation_path, moved.data.test_path) == (
        "/shared/pets",
        "beside",
        "/elsewhere",
    )
    assert (moved.weights.file, moved.training.distil_from) == ("/shared/a.safetensors", "/shared/runs/1")


def test_names_that_stay_change_nothing() -> None:
    project = Project(data=DataOptions(source="images", path="s3://bucket/pets"))
    assert moved_paths(project, on_hosts) == {}
    same = replace(project, data=project.data.replace(path="/data/pets"))
    assert moved_paths(same, lambda path: path) == {}
    assert with_paths(project, {}) is project
