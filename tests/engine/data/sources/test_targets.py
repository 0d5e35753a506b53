"""What an array of targets asks for: by its numbers, its shape, and what it stands beside."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED, DatasetInfo, TargetInfo

OPTIONS = DataOptions(source="arrays", path="d.npz", validation_share=0, test_share=0)
IMAGES, STEPS = np.zeros((6, 1, 4, 5), np.float32), np.zeros((6, 7, 2), np.float32)
LENGTHS = np.array([7, 3, 5, 7, 1, 2])
WHOLE = np.arange(6)


def read(folder: Path, options: DataOptions = OPTIONS, **arrays: Any) -> tuple[DatasetInfo, LoadedData]:
    np.savez(folder / "d.npz", **arrays)
    data = load(options, folder)
    assert DatasetInfo.read(data.facts.write()) == data.facts
    assert data.facts.targets == facts(options, folder).targets
    return data.facts, data


def described(target: TargetInfo) -> tuple[str, str, str, tuple[str, ...]]:
    return target.task, target.per, target.short(), target.classes


def of(shape: tuple[int, ...], count: int = 3) -> np.ndarray:
    """Whole numbers in turn."""
    return np.arange(np.prod(shape)).reshape(shape) % count


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"x": IMAGES, "y": of((6, 4, 5))}, ("classes", "pixel", "3 × 4 × 5", ("0", "1", "2"))),
        ({"x": IMAGES, "y": of((6, 4, 5), 2) > 0}, ("classes", "pixel", "2 × 4 × 5", ("False", "True"))),
        ({"x": IMAGES, "y": np.ones((6, 4, 5))}, ("numbers", "pixel", "1 × 4 × 5", ())),
        ({"x": IMAGES, "y": np.ones((6, 2, 4, 5))}, ("numbers", "pixel", "2 × 4 × 5", ())),
        ({"x": IMAGES, "y": np.ones((6, 2, 4, 5), bool)}, ("labels", "pixel", "2 × 4 × 5", ("0", "1"))),
        ({"x": IMAGES, "y": np.ones((6, 3), bool)}, ("labels", "sample", "3", ("0", "1", "2"))),
        ({"x": IMAGES[:, :, None], "y": of((6, 1, 4, 5))}, ("classes", "voxel", "3 × 1 × 4 × 5", ("0", "1", "2"))),
        ({"x": STEPS, "y": of((6, 7))}, ("classes", "step", "7 × 3", ("0", "1", "2"))),
        ({"x": STEPS, "y": of((6, 7), 2) > 0}, ("classes", "step", "7 × 2", ("False", "True"))),
        ({"x": STEPS, "y": np.ones((6, 7, 4))}, ("numbers", "step", "7 × 4", ())),
        ({"x": STEPS, "y": np.ones((6, 7, 4), bool)}, ("labels", "step", "7 × 4", ("0", "1", "2", "3"))),
        ({"x": STEPS, "y": np.ones((6, 4), int)}, ("numbers", "sample", "4", ())),
        (
            {"x": STEPS, "x_lengths": LENGTHS, "y": of((6, 7))},
            ("classes", "step", "1 to 7 × 3", ("0", "1", "2")),
        ),
        (
            {"x": STEPS, "x_lengths": LENGTHS, "y": of((6, 4)), "y_lengths": np.array([4, 1, 2, 1, 1, 1])},
            ("transcripts", "sample", "T × 4", ("0", "1", "2")),
        ),
    ],
)
def test_what_arrays_ask_for(tmp_path: Path, arrays: dict[str, Any], expected: tuple[object, ...]) -> None:
    found, data = read(tmp_path, **arrays)
    (target,) = found.targets
    assert described(target) == expected
    assert data.split("training").targets[0].shape[0] == 6
    assert [given.name for given in found.inputs] == ["x"]


def test_the_ends_of_target_sequences_do_not_count(tmp_path: Path) -> None:
    _, data = read(tmp_path, x=STEPS, x_lengths=LENGTHS, y=of((6, 7)))
    (classes,) = data.split("training").targets
    assert [(row != IGNORED).sum() for row in classes] == LENGTHS.tolist()
    assert classes[1, :3].tolist() == [1, 2, 0]
    strange = np.ones((6, 7, 2))
    strange[4, 1:] = np.inf  # behind its end, where nobody looks
    _, data = read(tmp_path, x=STEPS, x_lengths=LENGTHS, y=strange)
    (numbers,) = data.split("training").targets
    assert [np.isfinite(row).all(1).sum() for row in numbers] == LENGTHS.tolist()


def test_ignored_values_do_not_count_and_are_no_class(tmp_path: Path) -> None:
    y = of((6, 4, 5))
    y[0, 0, :] = 255
    found, data = read(tmp_path, OPTIONS.replace(ignored_value=255), x=IMAGES, y=y)
    assert found.classes == ("0", "1", "2")
    assert (data.split("training").targets[0] == IGNORED).sum() == 5
    assert "4.2 % of the pixels of 'y' do not count." in found.notes


def test_several_targets_by_name(tmp_path: Path) -> None:
    found, data = read(tmp_path, x=IMAGES, y_mask=of((6, 4, 5)), y_kind=WHOLE % 2, y_size=np.ones((6, 2)))
    assert [(t.name, t.task, t.per) for t in found.targets] == [
        ("mask", "classes", "pixel"),
        ("kind", "classes", "sample"),
        ("size", "numbers", "sample"),
    ]
    assert [t.shape for t in data.split("training").targets] == [(6, 4, 5), (6,), (6, 2)]
    named, _ = read(tmp_path, OPTIONS.replace(response="b, a"), x=IMAGES, a=WHOLE % 2, b=np.ones(6))
    assert [t.name for t in named.targets] == ["b", "a"]


def test_the_task_decides_where_both_can_be_meant(tmp_path: Path) -> None:
    said = {task: OPTIONS.replace(task=task) for task in ("labels", "transcripts", "classes")}
    assert described(read(tmp_path, said["labels"], x=IMAGES, y=of((6, 3), 2))[0].targets[0])[:2] == (
        "labels",
        "sample",
    )
    y = of((6, 4))
    y[1, 2:] = -1
    found, data = read(tmp_path, said["transcripts"], x=STEPS, y=y)
    assert found.targets[0].lengths == (2, 4)
    assert data.split("training").targets[0][1].tolist() == [1, 2, IGNORED, IGNORED]
    maps = of((6, 4, 5)).astype(float)
    assert described(read(tmp_path, said["classes"], x=IMAGES, y=maps)[0].targets[0])[1] == "pixel"


@pytest.mark.parametrize(
    ("task", "arrays", "message"),
    [
        ("labels", {"x": IMAGES, "y": WHOLE % 2}, "has one value per sample; labels are N K"),
        ("labels", {"x": IMAGES, "y": of((6, 3))}, "holds 2; labels are 0 or 1"),
        ("transcripts", {"x": IMAGES, "y": WHOLE}, "transcripts are N L, classes in order"),
        ("classes", {"x": IMAGES, "y": np.full((6, 4, 5), 0.5)}, "holds fractions"),
        ("auto", {"x": IMAGES, "y": np.zeros((6, 4, 5), int)}, "has one class only, '0'"),
        ("auto", {"x": STEPS, "y": of((6, 7)), "y_lengths": LENGTHS + 1}, "expected 1 to 7 steps, received 8"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, task: str, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as refused:
        read(tmp_path, OPTIONS.replace(task=task), **arrays)
    assert message in str(refused.value)


@pytest.mark.parametrize("kind", ["float32", "int64", "bool"])
def test_a_1_in_one_column_per_sample_is_a_class(tmp_path: Path, kind: str) -> None:
    """As Keras' `to_categorical` writes classes."""
    one_hot: np.ndarray[Any, Any] = np.eye(3)[[2, 0, 1, 2, 0, 0]].astype(kind)
    found, data = read(tmp_path, x=IMAGES, y=one_hot)
    assert described(found.targets[0]) == ("classes", "sample", "3", ("0", "1", "2"))
    assert data.targets[0].tolist() == [2, 0, 1, 2, 0, 0]
    assert any("'y' has a 1 in one column per sample" in note for note in found.notes)
    found, _ = read(tmp_path, OPTIONS.replace(task="labels"), x=IMAGES, y=one_hot)
    assert found.targets[0].task == "labels"
    one_hot[0] = 1
    found, _ = read(tmp_path, x=IMAGES, y=one_hot)
    assert found.targets[0].task == ("labels" if kind == "bool" else "numbers")
