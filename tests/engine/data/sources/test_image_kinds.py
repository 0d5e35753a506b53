"""Images in folders inside folders, with a table of classes, and with target images."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.image_check import findings
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources.guess import guesses, with_guess


def picture(path: Path, value: int | tuple[int, ...] = 0, size: int = 6) -> None:
    """Write an image of one value, grey, or colour where three are given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((size, size, 3) if isinstance(value, tuple) else (size, size), value, np.uint8)).save(path)


def options_of(path: Path) -> DataOptions:
    """What a drop of this folder sets."""
    guess = guesses(path)[0]
    assert guess.source == "images"
    return with_guess(DataOptions(), guess, path)


def all_of(options: DataOptions, **more: Any) -> tuple[list[int], list[Any]]:
    """The first pixel of each sample, and its target."""
    data = load(options.replace(validation_share=0, test_share=0), Path("/"), **more).split("training")
    return [int(x[0, 0, 0]) for x in data.inputs[0][:]], data.targets[0].tolist()


# ---- folders inside folders ----


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    for number, name in enumerate(("cat/1.png", "cat/old/2.png", "dog/3.png", "dog/old/very/4.png", "dog/5.png")):
        picture(tmp_path / name, number)
    (tmp_path / "dog" / "old" / "notes.txt").write_text("no picture")
    return tmp_path


def test_inner_folders_are_left_out_unless_they_are_asked_for(nested: Path) -> None:
    found = facts(DataOptions(source="images", path=str(nested)), nested)
    assert sum(found.samples.values()) == 3
    assert "Left out: cat/old, dog/old (2 entries are not image files)." in found.notes


def test_the_first_level_is_the_class_as_guessed(nested: Path) -> None:
    options = options_of(nested)
    assert options.inner_folders == "class"
    found = facts(options, nested)
    assert found.classes == ("cat", "dog")
    assert "Left out: dog/old/notes.txt (1 entry is not an image file)." in found.notes
    assert all_of(options) == ([0, 1, 2, 4, 3], [0, 0, 1, 1, 1])
    assert all_of(options, is_streamed=True) == ([0, 1, 2, 4, 3], [0, 0, 1, 1, 1])
    assert list(findings(options, nested))[-1]["total"] == 5


def test_the_path_is_the_class(nested: Path) -> None:
    options = options_of(nested).replace(inner_folders="path")
    assert facts(options, nested).classes == ("cat", "cat/old", "dog", "dog/old/very")
    assert all_of(options.replace(excluded_files=["dog/3.png"])) == ([0, 1, 4, 3], [0, 1, 2, 3])


def test_a_change_in_an_inner_folder_is_noticed(nested: Path) -> None:
    options = options_of(nested)
    before = facts(options, nested).samples
    picture(nested / "cat" / "old" / "9.png", 9)
    assert sum(facts(options, nested).samples.values()) == sum(before.values()) + 1


def test_a_link_to_an_outer_folder_is_no_loop(nested: Path) -> None:
    (nested / "cat" / "old" / "up").symlink_to(nested)
    assert sum(facts(options_of(nested), nested).samples.values()) == 5


# ---- classes by a table ----


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    for number in range(4):
        picture(tmp_path / f"{number}.png", number)
    picture(tmp_path / "more" / "4.png", 4)
    (tmp_path / "classes.csv").write_text("file;label\n3.png;dog\n0.png;cat\n1.png;cat\nmore/4.png;dog\n2.png;dog\n")
    return tmp_path


def test_classes_come_from_a_table_in_its_order(labelled: Path) -> None:
    options = options_of(labelled)
    assert options.labels == str(labelled / "classes.csv")
    assert facts(options, labelled).classes == ("cat", "dog")
    assert all_of(options) == ([3, 0, 1, 4, 2], [1, 0, 0, 1, 1])
    assert all_of(options, is_streamed=True) == ([3, 0, 1, 4, 2], [1, 0, 0, 1, 1])
    assert list(findings(options, labelled))[-1]["total"] == 5


def test_columns_have_any_names_and_files_no_suffix(labelled: Path) -> None:
    (labelled / "classes.csv").write_text("id,place,kind\n" + "".join(f"{n},here,{n % 2}\n" for n in range(5)))
    options = options_of(labelled)
    note = "The targets are kind of the table, and not place (data.label_column)."
    assert note in facts(options, labelled).notes
    assert facts(options, labelled).classes == ("0", "1")
    assert all_of(options.replace(label_column="kind")) == ([0, 1, 2, 3, 4], [0, 1, 0, 1, 0])
    with pytest.raises(UserError, match=r"no column \"kinds\" for classes\. Did you mean 'kind'\?"):
        facts(options.replace(label_column="kinds"), labelled)


def test_files_that_are_missing_unknown_or_named_twice_are_named(labelled: Path) -> None:
    options, table = options_of(labelled), labelled / "classes.csv"
    table.write_text("file,label\n0.png,cat\n1.png,dog\n7.png,dog\n")
    (warning,) = facts(options.replace(validation_share=0, test_share=0), labelled).warnings
    assert warning.startswith(f'1 of 3 files of the table {table} is not in {labelled}: "7.png". Their rows are left')
    table.write_text("file,label\n0.png,cat\n1.png,dog\n0.png,dog\n")
    with pytest.raises(UserError, match=r"names 1 file more than once: 0\.png"):
        facts(options, labelled)
    table.write_text("file,label\n0.png,cat\n1.png,dog\n")
    notes = facts(options, labelled).notes
    assert "3 images have no row in the table, left out: 2.png, 3.png, more/4.png." in notes
    table.write_text("who,label\nme,cat\nyou,dog\n")
    with pytest.raises(UserError, match=r"No column of .* names images in"):
        facts(options, labelled)
    table.write_text("")
    with pytest.raises(UserError, match="is empty"):
        facts(options, labelled)


def written(folder: Path, header: str, *columns: object) -> DataOptions:
    """Options for 300 images in a folder inside, with a table beside it."""
    rows = zip(*columns, strict=True)
    for number in range(300):
        picture(folder / "pictures" / f"{number:03}.png", number % 250)
    lines = [f"{number:03},{','.join(map(str, row))}" for number, row in enumerate(rows)]
    (folder / "labels.csv").write_text(f"image,{header}\n" + "\n".join(lines) + "\n")
    guess = guesses(folder)[0]
    assert guesses(folder / "labels.csv")[0].source == "table", "its cells have no suffix"
    assert dict(guess.options) == {"labels": str(folder / "labels.csv")}
    return with_guess(DataOptions(validation_share=0, test_share=0), guess, folder)


N = range(300)


@pytest.mark.parametrize(
    ("header", "columns", "targets", "note"),
    [
        ("age", [[n * 0.21 + 18 for n in N]], [("age", "numbers", 1)], ""),
        ("age", [[n % 60 for n in N]], [("age", "numbers", 1)], ""),
        ("age", [[n % 9 for n in N]], [("class", "classes", 9)], ""),
        ("x,y", [[n / 10 for n in N], [n / 7 for n in N]], [("x, y", "numbers", 2)], "x, y of the table (data"),
        (
            "smiling,young,hat",
            [[n % 2 for n in N], ["yes" if n % 3 else "no" for n in N], [2 * (n % 5 > 1) - 1 for n in N]],
            [("smiling, young, hat", "labels", 3)],
            "smiling, young, hat of the table (data",
        ),
        (
            "who,species,weight,split",
            [[f"w{n}" for n in N], [["cat", "dog"][n % 2] for n in N], [n / 10 for n in N], ["train", "test"] * 150],
            [("species", "classes", 2), ("weight", "numbers", 1)],
            "species, weight of the table, and not who, split (data.label_column)",
        ),
        (
            "width,height,label",
            [[n + 5 for n in N], [n % 70 for n in N], ["ab"[n % 2] for n in N]],
            [("class", "classes", 2)],
            "label of the table, and not width, height",
        ),
    ],
)
def test_what_the_columns_of_a_table_are_as_targets(
    tmp_path: Path, header: str, columns: list[list[object]], targets: list[tuple[str, str, int]], note: str
) -> None:
    options = written(tmp_path, header, *columns)
    found = facts(options, tmp_path)
    assert [(target.name, target.task, target.outputs) for target in found.targets] == targets
    assert note in " ".join(found.notes)
    assert note or not found.notes
    assert found.samples["training"] == 300


def test_columns_of_targets_are_chosen_by_name_and_task(tmp_path: Path) -> None:
    values: list[Any] = [[n % 2 for n in N], [n % 3 for n in N], [n / 2 for n in N]]
    options = written(tmp_path, "a,b,c", *values).replace(label_column="c, a", task="numbers")
    (target,) = facts(options, tmp_path).targets
    assert (target.name, target.task, target.outputs) == ("c, a", "numbers", 2)
    read = load(options, tmp_path).split("training").targets[0]
    np.testing.assert_allclose(read, np.stack([values[2], values[0]], axis=1))
    with pytest.raises(UserError, match=r"Column 'b' of .* holds no truth values. Labels are 0 or 1, or yes or no"):
        facts(options.replace(label_column="a, b", task="labels"), tmp_path)
    with pytest.raises(UserError, match="images have classes, numbers or labels as targets"):
        facts(options.replace(task="transcripts"), tmp_path)


def test_a_table_that_names_images_is_dropped_itself(tmp_path: Path) -> None:
    for number in range(20):
        picture(tmp_path / "many" / f"{number}.png", number)
    (tmp_path / "t.csv").write_text("f;c\n" + "".join(f"many/{n}.png;{n / 4}\n" for n in range(20)).replace(".", ","))
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text().replace(",png", ".png"))
    options = options_of(tmp_path / "t.csv")
    assert (options.path, options.labels) == (str(tmp_path), str(tmp_path / "t.csv"))
    assert facts(options, tmp_path).targets[0].largest == 4.75


# ---- image to image ----


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    for number in range(6):
        picture(tmp_path / "noisy" / f"{number}.png", 40 * number)
        picture(tmp_path / "clean" / f"{number}.bmp", (40 * number, 255, 0))
    return tmp_path


def test_target_images_are_numbers_per_pixel(pairs: Path) -> None:
    options = options_of(pairs)
    assert options.path == str(pairs / "noisy")
    assert options.target_images == str(pairs / "clean")
    (target,) = facts(options, pairs).targets
    assert (target.task, target.per, target.type.sizes, target.largest) == ("numbers", "pixel", (3, 6, 6), 1.0)
    data = load(options.replace(validation_share=0, test_share=0), pairs).split("training")
    np.testing.assert_allclose(data.targets[0][:, 0, 0, 0], data.inputs[0][:, 0, 0, 0] / 255)
    stored = load(options.replace(validation_share=0, test_share=0, target_values="stored"), pairs).split("training")
    assert stored.targets[0].max() == 255
    assert list(findings(options, pairs))[-1]["total"] == 6


def test_the_preview_shows_both(pairs: Path, tmp_path: Path) -> None:
    look = preview(options_of(pairs), pairs, tmp_path / "look", 4)
    with Image.open(look["pictures"][0]["target"]) as shown:
        assert np.asarray(shown)[0, 0, 1] == 255


def test_an_image_without_a_target_and_a_damaged_target_are_named(pairs: Path) -> None:
    options = options_of(pairs)
    (pairs / "clean" / "3.bmp").write_bytes(b"BM no picture")
    strict = options.replace(bad_samples="fatal")
    with pytest.raises(UserError, match=r"1 of 6 image files in .*clean cannot be used"):
        facts(strict, pairs)
    assert list(findings(strict, pairs))[-1]["damaged"][0][1].startswith("its target image 3.bmp: ")
    assert "1 image file is left out because of damage: 3.bmp" in facts(options, pairs).warnings[0]
    (pairs / "clean" / "3.bmp").unlink()
    assert "1 image has no target image in" in facts(options, pairs).warnings[0]


def test_images_have_one_kind_of_targets(pairs: Path) -> None:
    options = options_of(pairs).replace(labels="classes.csv")
    (error,) = options.problems()
    assert (error.path, error.message.startswith("'Table of targets' and 'Folder of targets' are both set")) == (
        "target_images",
        True,
    )
    (error,) = options_of(pairs).replace(split="folders").problems()
    assert error.path == "split"


def test_a_folder_of_masks_is_guessed_by_its_name(pairs: Path) -> None:
    (pairs / "clean").rename(pairs / "masks")
    options = options_of(pairs)
    assert (options.path, options.masks) == (str(pairs / "noisy"), str(pairs / "masks"))


def test_two_classes_with_files_of_the_same_names_are_classes(pairs: Path) -> None:
    (pairs / "clean").rename(pairs / "cats")
    assert options_of(pairs).path == str(pairs)


def test_images_without_classes_say_what_is_missing(tmp_path: Path) -> None:
    picture(tmp_path / "1.png")
    (guess,) = guesses(tmp_path)
    assert guess.reason == "1 image in one folder: choose a table of their targets, or a folder of masks or targets"
