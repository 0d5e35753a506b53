"""Proposals: a copy with its differences, valid, without new code and new places; the project stays as it is."""

import json
import shutil
from pathlib import Path

import pytest

from netwright.engine.assistants.access import Access
from netwright.engine.assistants.proposals import propose
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import RESOURCES
from netwright.engine.project.file import load


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(RESOURCES / "examples" / "digits.netwright", tmp_path)
    return tmp_path / "digits.netwright"


def changed(project: Path, **sections: object) -> str:
    """The text of the project with options in sections."""
    data = json.loads(project.read_text())
    for name, values in sections.items():
        data[name] = {**data.get(name, {}), **values}  # type: ignore[dict-item]
    return json.dumps(data)


def test_values_make_a_copy_beside_the_project(project: Path) -> None:
    before = project.read_bytes()
    access = Access.to([project])
    first = propose(access, project, "", {"training.max_epochs": 3, "network.conv_1.filters": 4})
    second = propose(access, project, changed(project, training={"solver": "adam"}), {})
    assert first.path == project.with_name("digits.proposal.netwright")
    assert first.differences == ("~ conv_1.filters: 16 -> 4", "~ training.max_epochs: 12 -> 3")
    assert second.path == project.with_name("digits.proposal-2.netwright")
    assert load(first.path).project.training.max_epochs == 3
    assert project.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("", {"training.max_epochs": -1}, "max_epochs"),
        ("", {"training.max_epochs": 12}, "changes nothing"),
        ("{", {}, "not a project file"),
        ('{"netwright": [1, 3], "network": 5}', {}, "network"),
    ],
)
def test_what_is_no_change_to_a_valid_project_is_refused(
    project: Path, text: str, values: dict[str, object], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        propose(Access.to([project]), project, text, values)
    assert [path.name for path in project.parent.iterdir()] == [project.name]


@pytest.mark.parametrize(
    "sections",
    [
        {"data": {"source": "table", "path": "/etc/passwd"}},
        {"data": {"source": "table", "path": "../others.csv"}},
        {"data": {"source": "shards", "path": "https://example.org/{0..9}.tar"}},
        {"weights": {"file": "/etc/weights.safetensors"}},
    ],
)
def test_places_outside_of_the_folders_are_refused(project: Path, sections: dict[str, object]) -> None:
    with pytest.raises(UserError) as refusal:
        propose(Access.to([project]), project, changed(project, **sections), {})
    assert refusal.value.code == "outside"
    assert [path.name for path in project.parent.iterdir()] == [project.name]


def test_code_that_the_project_does_not_have_is_refused(project: Path) -> None:
    """It would run where the folder is trusted."""
    layer = {"id": "z", "name": "mine", "type": "function", "fields": {"expression": "x0.sum()"}}
    data = json.loads(project.read_text())
    data["network"]["layers"].append(layer)
    texts = [
        json.dumps(data),
        changed(project, training={"hooks_file": "hooks.py"}),
        changed(project, data={"source": "python", "path": "loader.py"}),
    ]
    for text in texts:
        with pytest.raises(UserError, match="brings code that the project does not have"):
            propose(Access.to([project]), project, text, {})


def test_the_project_of_a_run_is_no_project_to_change(project: Path) -> None:
    (project.parent / "run.json").write_text("{}")
    with pytest.raises(UserError, match="belongs to a run"):
        propose(Access.to([project]), project, "", {"training.max_epochs": 3})
