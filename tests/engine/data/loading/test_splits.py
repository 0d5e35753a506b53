"""Splits of real data: by a column, folders, groups, order, folds, and from data of their own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.data.loading.data_places import record
from netwright.engine.data.loading.image_check import findings
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.project.data import DataOptions

TABLE = DataOptions(source="table", path="a.csv")
ARRAYS = DataOptions(source="arrays", path="a.npz")
PETS = DataOptions(source="images", path="pets")


def write_table(path: Path, columns: dict[str, list[Any]]) -> None:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))


def pets(folder: Path, names: list[str], size: tuple[int, int] = (6, 5)) -> None:
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", size, number * 10).save(path)


def numbers(options: DataOptions, folder: Path, **how: Any) -> dict[str, list[int]]:
    return {name: part.tolist() for name, part in load(options, folder, **how).numbers.items()}


def table_with_splits(folder: Path) -> None:
    names = ["train"] * 6 + ["val"] * 2 + ["test"] * 2
    write_table(folder / "a.csv", {"x": [*range(10)], "z": [*"ababababab"], "split": names, "y": [*"pqpqpqpqpq"]})


def test_a_column_of_a_table_divides_and_is_no_input(tmp_path):
    table_with_splits(tmp_path)
    options = TABLE.replace(split="column", split_column="split")
    assert numbers(options, tmp_path) == {"training": [*range(6)], "validation": [6, 7], "test": [8, 9]}
    found = facts(options, tmp_path)
    assert found.inputs[0].columns == ("x", "z=a", "z=b")
    roles = {column["name"]: column["role"] for column in preview(options, tmp_path, tmp_path / "p", 4)["columns"]}
    assert roles == {"x": "input", "z": "input", "split": "split", "y": "response"}


def test_the_response_is_the_last_column_that_does_not_divide(tmp_path):
    write_table(tmp_path / "a.csv", {"x": [1, 2, 3, 4], "y": [*"abab"], "part": ["train", "test"] * 2})
    options = TABLE.replace(split="column", split_column="part", validation_share=0)
    assert facts(options, tmp_path).targets[0].name == "y"


def test_an_array_divides(tmp_path):
    names = np.array(["train"] * 5 + ["test"] * 3)
    np.savez(tmp_path / "a.npz", x=np.ones((8, 2), np.float32), y=np.arange(8.0), split=names)
    options = ARRAYS.replace(split="column", split_column="split", validation_share=0)
    found = facts(options, tmp_path)
    assert [given.name for given in found.inputs] == ["x"]
    assert found.samples == {"training": 5, "validation": 0, "test": 3}


@pytest.mark.parametrize("options", [TABLE, ARRAYS])
def test_a_column_that_is_missing_is_named(tmp_path, options):
    table_with_splits(tmp_path)
    np.savez(tmp_path / "a.npz", x=np.ones((8, 2)), y=np.arange(8.0))
    with pytest.raises(UserError, match=r'has no (column|array) "spilt" to divide the data by \(data\.split_column\)'):
        facts(options.replace(split="column", split_column="spilt"), tmp_path)


def test_rows_are_divided_by_date_with_a_gap(tmp_path):
    days = [f"2024-{1 + i % 12:02}-01" for i in range(12)][::-1]
    write_table(tmp_path / "a.csv", {"x": [*range(12)], "day": days, "y": [i * 0.5 for i in range(12)]})
    options = TABLE.replace(split="ordered", split_column="day", split_gap=1, validation_share=0.25, test_share=0.25)
    assert numbers(options, tmp_path) == {
        "training": [8, 9, 10, 11],
        "validation": [4, 5, 6],
        "test": [0, 1, 2],
    }
    assert "In the gaps between the splits, and in none of them: 2 samples." in facts(options, tmp_path).notes
    as_stored = TABLE.replace(split="ordered", left_out="day", validation_share=0.25, test_share=0.25)
    assert numbers(as_stored, tmp_path)["test"] == [9, 10, 11]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_images_of_a_patient_are_in_one_split(tmp_path, is_streamed):
    pets(tmp_path / "pets", [f"{c}/p{i % 6}_{i}.png" for c in ("cat", "dog") for i in range(18)])
    options = PETS.replace(split="grouped", group_pattern="{group}_*", validation_share=0.2, test_share=0.2)
    found = numbers(options, tmp_path, is_streamed=is_streamed)
    names = sorted(str(path.relative_to(tmp_path / "pets")) for path in (tmp_path / "pets").glob("*/*"))
    held = [{names[number].partition("/")[2].partition("_")[0] for number in part} for part in found.values()]
    assert all(held)
    assert sum(map(len, held)) == 6


def test_folds_share_no_validation_sample(tmp_path):
    options = DataOptions(source="digits", split="k-fold", folds=4, test_share=0.1)
    folds = [numbers(options.replace(fold=fold), tmp_path) for fold in range(1, 5)]
    assert sorted(sum((fold["validation"] for fold in folds), folds[0]["test"])) == list(range(1797))


@pytest.mark.parametrize("is_streamed", [False, True])
def test_folders_name_the_splits_of_images(tmp_path, is_streamed):
    pets(tmp_path / "pets/train", ["cat/1.png", "cat/2.png", "dog/1.png", "cow/1.png"])
    pets(tmp_path / "pets/val", ["cat/3.png", "dog/3.png"], size=(9, 7))
    pets(tmp_path / "pets/test", ["cow/9.png", "dog/9.png", "dog/8.png"])
    data = load(PETS.replace(split="folders"), tmp_path, is_streamed=is_streamed)
    assert data.facts.samples == {"training": 4, "validation": 2, "test": 3}
    assert data.facts.classes == ("cat", "cow", "dog")
    assert data.split("validation").targets[0].tolist() == [0, 2]
    assert data.split("test").targets[0].tolist() == [1, 2, 2]
    images = data.split("test").inputs[0][:]
    assert images.shape == (3, 1, 5, 6)
    assert images[:, 0, 0, 0].tolist() == [0, 20, 10]


def test_the_check_of_files_knows_the_folders_of_splits(tmp_path):
    pets(tmp_path / "pets/train", ["cat/1.png", "cat/2.png", "dog/1.png"])
    pets(tmp_path / "pets/test", ["cat/1.png", "dog/1.png"])
    (tmp_path / "pets/test/cat/2.png").write_text("no picture")
    options = PETS.replace(split="folders", validation_share=0, bad_samples="fatal")
    *_, last = findings(options, tmp_path)
    assert (last["total"], [name for name, _ in last["damaged"]]) == (6, ["test/cat/2.png"])
    options = options.replace(excluded_files=("test/cat/2.png", "train/cat/1.png"))
    *_, last = findings(options, tmp_path)
    assert (last["total"], last["damaged"]) == (4, [])
    assert facts(options, tmp_path).samples == {"training": 2, "validation": 0, "test": 2}


def test_folders_name_the_splits_of_images_and_masks(tmp_path):
    for split, count in (("train", 4), ("test", 2)):
        pets(tmp_path / "pets" / split, [f"{i}.png" for i in range(count)])
        pets(tmp_path / "masks" / split, [f"{i}.png" for i in range(count)])
        mask = Image.new("L", (6, 5), 1)
        mask.putpixel((0, 0), 0)
        mask.save(tmp_path / "masks" / split / "0.png")
        Image.new("L", (6, 5), 0).save(tmp_path / "masks" / split / "1.png")
    for split in ("train", "test"):
        for path in (tmp_path / "masks" / split).iterdir():
            if path.name not in ("0.png", "1.png"):
                Image.new("L", (6, 5), 1).save(path)
    options = PETS.replace(split="folders", masks="masks", validation_share=0.25)
    assert facts(options, tmp_path).samples == {"training": 3, "validation": 1, "test": 2}


def test_arrays_named_after_the_splits(tmp_path):
    def arrays(count: int) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(count * 2, dtype=np.float32).reshape(count, 2), np.arange(count) % 2

    (x, y), (a, b) = arrays(6), arrays(4)
    np.savez(tmp_path / "a.npz", x_train=x, y_train=y, x_test=a + 100, y_test=b)
    for is_streamed in (False, True):
        data = load(ARRAYS.replace(split="folders", validation_share=0), tmp_path, is_streamed=is_streamed)
        assert data.facts.samples == {"training": 6, "validation": 0, "test": 4}
        assert [given.name for given in data.facts.inputs] == ["x"]
        assert data.split("test").inputs[0][:].min() == 100
        assert data.split("training").inputs[0][:].max() == 11


def test_missing_folders_are_said_with_what_there_is(tmp_path):
    pets(tmp_path / "pets", ["cat/1.png", "train/1.png"])
    with pytest.raises(UserError, match=r"named train, val and test; found train\. Expected train and one or both"):
        facts(PETS.replace(split="folders"), tmp_path)
    pets(tmp_path / "pets", ["val/1.png", "validation/1.png"])
    with pytest.raises(UserError, match=r"two folders of validation data, val and validation"):
        facts(PETS.replace(split="folders"), tmp_path)


def test_validation_rows_of_another_file_are_encoded_as_the_training_rows(tmp_path):
    write_table(tmp_path / "a.csv", {"x": [*range(8)], "z": [*"abababab"], "y": [*"pqrpqrpq"]})
    write_table(tmp_path / "v.csv", {"z": [*"cab"], "x": [50, 60, 70], "y": [*"rrp"], "more": [1, 2, 3]})
    options = TABLE.replace(validation_path="v.csv", test_share=0.25, response="y")
    data = load(options, tmp_path)
    assert data.facts.samples == {"training": 6, "validation": 3, "test": 2}
    validation = data.split("validation")
    assert data.facts.inputs[0].columns == ("x", "z=a", "z=b")
    assert validation.inputs[0].tolist() == [[50, 0, 0], [60, 1, 0], [70, 0, 1]]
    assert validation.targets[0].tolist() == [2, 2, 0]


def test_what_differs_in_validation_data_is_named(tmp_path):
    write_table(tmp_path / "a.csv", {"x": [*range(8)], "z": [*"abababab"], "y": [*"pqrpqrpq"]})
    options = TABLE.replace(validation_path="v.csv")
    write_table(tmp_path / "v.csv", {"x": [1, 2], "y": [*"pq"]})
    with pytest.raises(UserError, match=r'The validation data .*v\.csv lacks what the training data has: "z"\.'):
        facts(options, tmp_path)
    write_table(tmp_path / "v.csv", {"x": [*"kl"], "z": [*"ab"], "y": [*"pq"]})
    with pytest.raises(UserError, match=r'v\.csv differs from the training data: "x" holds text instead of number\.'):
        facts(options, tmp_path)
    write_table(tmp_path / "v.csv", {"x": [1, 2], "z": [*"ab"], "y": [*"pk"]})
    with pytest.raises(
        UserError, match=r"""has classes of 'y' that the training data lacks: "k"\. .*"p", "q", "r"\."""
    ):
        facts(options, tmp_path)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_test_sequences_may_be_longer(tmp_path, is_streamed):
    def save(name: str, count: int, steps: int, lengths: list[int]) -> None:
        x = np.ones((count, steps, 2), np.float32)
        y = np.tile(np.arange(steps) % 2, (count, 1))
        np.savez(tmp_path / name, x=x, x_lengths=lengths, y=y)

    save("a.npz", 4, 3, [3, 2, 3, 3])
    save("t.npz", 2, 5, [5, 4])
    options = ARRAYS.replace(test_path="t.npz", validation_share=0)
    data = load(options, tmp_path, is_streamed=is_streamed)
    assert data.facts.inputs[0].lengths == (2, 5)
    test = data.split("test")
    assert test.inputs[0][:].shape == (2, 5, 2)
    assert test.targets[0][1].tolist() == [0, 1, 0, 1, -100]
    assert data.lengths[0] is not None
    assert data.lengths[0].tolist() == [3, 2, 3, 3, 5, 4]
    training = data.split("training")
    assert training.inputs[0][:][:, 3:].max() == 0
    assert set(training.targets[0][:, 3:].ravel().tolist()) == {-100}


def test_arrays_of_other_sizes_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones((4, 3), np.float32), y=np.arange(4.0))
    np.savez(tmp_path / "t.npz", x=np.ones((4, 2), np.float32), y=np.arange(4.0))
    with pytest.raises(UserError, match=r't\.npz differs from the training data: "x" is 2 instead of 3\.'):
        facts(ARRAYS.replace(test_path="t.npz"), tmp_path)


def test_a_preview_shows_samples_of_all_parts(tmp_path):
    pets(tmp_path / "pets/train", [f"{c}/{i}.png" for c in ("cat", "dog") for i in range(4)])
    pets(tmp_path / "pets/test", [f"{c}/{i}.png" for c in ("cat", "dog") for i in range(2)])
    look = preview(PETS.replace(split="folders", validation_share=0), tmp_path, tmp_path / "p", 12)
    assert sorted(picture["split"] for picture in look["pictures"]) == ["test"] * 4 + ["training"] * 8


def test_the_record_of_a_run_names_all_paths(tmp_path):
    write_table(tmp_path / "a.csv", {"x": [*range(8)], "y": [*"pqpqpqpq"]})
    write_table(tmp_path / "v.csv", {"x": [1, 2], "y": [*"pq"]})
    found = record(TABLE.replace(validation_path="v.csv"), tmp_path, {})
    assert [place.option for place in found.places] == ["path", "validation_path"]
    assert found.samples == {"training": 7, "validation": 2, "test": 1}


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (DataOptions(source="digits", split="column"), "split"),
        (DataOptions(source="digits", split="grouped"), "split"),
        (TABLE.replace(split="folders"), "split"),
        (TABLE.replace(split="grouped"), "split_column"),
        (TABLE.replace(split="column", split_column="y", response="y"), "split_column"),
        (PETS.replace(split="grouped"), "group_pattern"),
        (TABLE.replace(split="k-fold", fold=6), "fold"),
    ],
)
def test_splits_that_cannot_be_are_refused_at_their_option(tmp_path, options, path):
    with pytest.raises(FieldErrors) as refused:
        facts(options, tmp_path)
    assert [error.path for error in refused.value.errors] == [path]


def test_the_record_of_a_run_names_files_without_a_suffix(tmp_path):
    (tmp_path / "mnist").mkdir()
    for name, shape, values in (("images-idx3", (4, 2, 2), range(16)), ("labels-idx1", (4,), [0, 1, 0, 1])):
        sizes = b"".join(size.to_bytes(4, "big") for size in shape)
        content = bytes([0, 0, 8, len(shape)]) + sizes + bytes(values)
        (tmp_path / "mnist" / f"train-{name}-ubyte").write_bytes(content)
    found = record(ARRAYS.replace(path="mnist", validation_share=0, test_share=0), tmp_path, {})
    assert list(found.places[0].listing or {}) == ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"]
