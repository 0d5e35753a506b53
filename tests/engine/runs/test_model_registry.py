"""The registry of models: versions, stages, names such as digits@production, and a folder that may be damaged."""

from dataclasses import replace
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.weights import chosen
from netwright.engine.runs import model_registry
from netwright.engine.runs.model_files import ModelChoice, model_files
from netwright.engine.runs.model_registry import Registry, located
from netwright.engine.runs.register_model import register_model
from tests.builders import classifier


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.setenv(model_registry.VARIABLE, str(tmp_path / "registry"))
    return Registry()


def model(folder: Path, weights: bytes = b"weights") -> Path:
    """A project that starts from a file of weights."""
    (folder / "own.safetensors").write_bytes(weights)
    path = folder / "own.netwright"
    save(replace(Project(classifier()), weights=chosen(folder / "own.safetensors", folder)), path)
    return path


def test_a_version_is_a_copy_that_stays_as_it_is(registry: Registry, tmp_path: Path) -> None:
    first = register_model(registry, model(tmp_path), "digits", tags=("paper", "paper"), metrics={"accuracy": 0.9})
    second = register_model(registry, model(tmp_path, b"others"), "digits")
    assert [(each.title, each.stage, each.tags) for each in registry.all()] == [
        ("digits@2", "none", ()),
        ("digits@1", "none", ("paper",)),
    ]
    assert registry.version("digits@1") == first
    assert first.metrics == {"accuracy": 0.9}
    assert first.weights_sha256 != second.weights_sha256
    assert (registry.place(first) / "weights.safetensors").read_bytes() == b"weights"
    project = load(registry.model(first)).project
    assert project.weights.file == "weights.safetensors"
    assert project.weights.sha256 == first.weights_sha256
    assert sorted(path.name for path in registry.place(first).parent.iterdir()) == ["1", "2"]


def test_a_name_with_a_stage_or_a_number_is_the_model(registry: Registry, tmp_path: Path) -> None:
    versions = [register_model(registry, model(tmp_path, bytes([n])), "digits") for n in range(3)]
    registry.promote(versions[0], "production")
    assert located(Path("digits@production")) == registry.model(versions[0])
    changed = registry.promote(versions[1], "production")
    assert [(each.title, each.stage) for each in changed] == [("digits@2", "production"), ("digits@1", "archived")]
    assert model_files(Path("digits@production")).project == registry.model(versions[1])
    assert ModelChoice(Path("digits@3")).path == registry.model(versions[2])
    assert ModelChoice(registry.folder / "digits@archived").path == registry.model(versions[0])
    with pytest.raises(
        UserError, match=r'no version "staging". It has the versions 1 \(archived\), 2 \(production\), 3 \(none\)'
    ):
        located(Path("digits@staging"))
    with pytest.raises(UserError, match=r'no model "digit" in the registry .* Did you mean'):
        located(Path("digit@3"))


def test_a_folder_of_data_may_have_the_name_of_a_model(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = register_model(registry, model(tmp_path, b"1"), "pets")
    (tmp_path / "here" / "pets" / "cat").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert located(Path("pets@1")) == registry.model(version)


def test_other_names_are_paths(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("net.onnx", "me@home.onnx", "@production", "me@", "a b@3", "me@first"):
        assert located(Path(name)) == Path(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file@3").write_text("a file")
    assert located(Path("file@3")) == Path("file@3")


def test_what_cannot_be_registered_is_refused_and_leaves_nothing(registry: Registry, tmp_path: Path) -> None:
    save(Project(classifier()), tmp_path / "plain.netwright")
    with pytest.raises(UserError, match="is a project without weights"):
        register_model(registry, tmp_path / "plain.netwright", "digits")
    for name in ("", "../digits", ".digits", "a/b", "digits.", "d" * 81):
        with pytest.raises(UserError, match="cannot be named"):
            register_model(registry, model(tmp_path), name)
    with pytest.raises(UserError, match="A tag has 1 to 40 characters"):
        register_model(registry, model(tmp_path), "digits", tags=(" ",))
    assert registry.all() == []
    assert [path for path in registry.folder.rglob("*") if path.is_file()] == []


def test_a_registry_that_a_stranger_wrote_is_read_as_far_as_it_goes(registry: Registry, tmp_path: Path) -> None:
    register_model(registry, model(tmp_path), "digits")
    for number, text in (("2", "{"), ("3", '{"name": "../x", "version": 3}'), ("4", "[]"), ("x", "{}")):
        place = registry.folder / "digits" / number
        place.mkdir()
        (place / model_registry.FILE).write_text(text)
    (registry.folder / "note.txt").write_text("a file")
    assert [version.title for version in registry.all()] == ["digits@1"]
    assert register_model(registry, model(tmp_path), "digits").version == 5, "numbers are not given twice"


def test_a_model_that_started_from_a_version_names_it(registry: Registry, tmp_path: Path) -> None:
    parent = register_model(registry, model(tmp_path), "digits")
    project = replace(Project(classifier()), weights=chosen(registry.place(parent) / "weights.safetensors", tmp_path))
    save(project, tmp_path / "next.netwright")
    child = register_model(registry, tmp_path / "next.netwright", "letters")
    assert child.lineage.parent == "digits@1"
    assert child.lineage.source == "next.netwright"
