"""A first network in one undo step, on data that is divided as `new` divides it."""

import pytest
from PySide6.QtCore import QObject

from netwright.designer.editor import Editor
from netwright.designer.first_network import FirstNetwork
from netwright.engine.core.types import image
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.project import Project
from tests.engine.project.test_starter import INPUTS, data

TEXT, FEATURES = INPUTS["text"], INPUTS["features"]


def editor_of(info: DatasetInfo, source: str) -> Editor:
    project = Project()
    editor = Editor(project.with_section("data", project.data.replace(source=source)))
    editor.set_dataset_info(info)
    return editor


def made_by(editor: Editor) -> tuple[FirstNetwork, list[int]]:
    first, made = FirstNetwork(editor, QObject(editor)), list[int]()
    first.made.connect(lambda: made.append(len(editor.network.layers)))
    return first, made


def test_texts_are_divided_first_and_the_network_follows_from_what_trains_then(qapp) -> None:
    before, after = (data((TEXT,), classes_of("a", "b"), samples) for samples in (700, 800))
    editor = editor_of(before, "text")
    first, made = made_by(editor)
    first.make()
    assert not made
    assert editor.project.data.test_share == editor.project.data.validation_share == 0.1
    first.make()  # once more, while the data is read
    assert not editor.network.layers
    editor.set_dataset_info(after)
    assert made == [len(editor.network.layers)]
    assert made[0] > 3
    editor.stack.undo()
    assert not editor.network.layers
    assert editor.project.data.test_share == 0.15


def test_large_images_are_resized_first(qapp) -> None:
    large, small = (
        data((InputInfo("image", image(3, *sizes)),), classes_of("a", "b"), 700) for sizes in ((794, 948), (128, 128))
    )
    editor = editor_of(large, "images")
    first, made = made_by(editor)
    first.make()
    assert not made
    assert (editor.project.data.image_size, editor.project.data.test_share) == (128, 0.1)
    editor.set_dataset_info(small)
    assert made
    assert [problem.field for problem in editor.check_result.problems] == ["data.path"]
    editor.stack.undo()
    assert editor.project.data.image_size == 0


@pytest.mark.parametrize(
    ("info", "source"),
    [(data((FEATURES,), classes_of("a", "b"), 700), "table"), (data((TEXT,), classes_of("a", "b"), 20_000), "text")],
)
def test_else_it_is_made_at_once(qapp, info: DatasetInfo, source: str) -> None:
    editor = editor_of(info, source)
    first, made = made_by(editor)
    first.make()
    assert made == [len(editor.network.layers)]
    assert editor.project.data.test_share == (0.1 if source == "table" else 0.15)


def test_data_that_cannot_be_read_or_is_changed_meanwhile_ends_it(qapp) -> None:
    info = data((TEXT,), classes_of("a", "b"), 700)
    for change in ("unknown", "other"):
        editor = editor_of(info, "text")
        first, made = made_by(editor)
        first.make()
        if change == "unknown":
            editor.set_dataset_info(None, "The file is gone.")
        else:
            editor.apply("Choose data", editor.project.with_section("data", Project().data.replace(source="table")))
        editor.set_dataset_info(data((TEXT,), classes_of("a", "b"), 800))
        assert not made
        assert not editor.network.layers
