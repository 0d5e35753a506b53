"""The network noted at the end of exported source is read back from a file that nobody edited."""

from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network.layout import Comment, Layout
from netwright.engine.project.data import DataOptions
from netwright.engine.project.project import Project
from netwright.engine.project.source_note import joined, noted_project, with_note
from tests.builders import chain, classifier, layer

CODE = '"""A network."""\n\nprint("a")\n'


def written(folder: Path, text: str, newline: str = "\n") -> Path:
    path = folder / "net.py"
    path.write_text(text, encoding="utf-8", newline=newline)
    return path


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_network_and_layout_come_back(newline: str, tmp_path: Path) -> None:
    network = classifier()
    layout = Layout({id: (40.0 * place, 2.5) for place, id in enumerate(network.layers)})
    project = Project(network, layout, data=DataOptions(source="table", path="private/patients.csv"))
    text = with_note(CODE, project)
    assert text.startswith(CODE)
    assert max(map(len, text.splitlines())) <= 120
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert "patients" not in text
    back = noted_project(written(tmp_path, text, newline))
    assert back is not None
    assert (back.network, back.layout) == (network, layout)


def test_texts_with_spaces_and_backslashes_come_back(tmp_path: Path) -> None:
    comment = Comment("1", (0.0, 0.0), (100.0, 100.0), "a " * 300 + "\\ é \\\\ b")
    back = noted_project(written(tmp_path, with_note(CODE, Project(classifier(), Layout(comments=(comment,))))))
    assert back is not None
    assert back.layout.comments == (comment,)


@pytest.mark.parametrize(
    ("old", "new"),
    [('print("a")', 'print("b")'), ("fully_connected", "relu"), ("# sha256 ", "# sha256 0"), ("\n\n# Net", "\n# Net")],
)
def test_an_edit_is_noticed(old: str, new: str, tmp_path: Path) -> None:
    text = with_note(CODE, Project(classifier()))
    assert old in text
    assert noted_project(written(tmp_path, text.replace(old, new))) is None


def test_other_source_has_no_note(tmp_path: Path) -> None:
    assert noted_project(written(tmp_path, CODE)) is None
    assert with_note(CODE, Project(chain(layer("feature_input"), layer("function", expression="x1 * 2")))) == CODE


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        noted_project(tmp_path / "missing.py")
    (tmp_path / "net.py").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="is not UTF-8 text"):
        noted_project(tmp_path / "net.py")
    with pytest.raises(UserError, match="newer version"):
        noted_project(written(tmp_path, joined(CODE, {"netwright": [99, 0]})))
