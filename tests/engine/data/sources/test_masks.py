"""Images with masks of the same names: which pixel is of which class, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import load
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED

OPTIONS = DataOptions(source="images", path="images", masks="masks", validation_share=0, test_share=0)
VALUES = np.array([[0, 0, 7, 7, 7], [0, 255, 7, 7, 9], [0, 0, 0, 9, 9]], np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("images", "masks"):
        (tmp_path / name).mkdir()
    for index in range(4):
        Image.new("RGB", (5, 3), (index, 0, 0)).save(tmp_path / "images" / f"{index}.png")
        mask = Image.fromarray(np.roll(VALUES, index, axis=0))
        if index % 2:  # grey levels, and places in a palette
            mask = mask.convert("P")
            mask.putdata(np.roll(VALUES, index, axis=0).reshape(-1).tolist())
            mask.putpalette([200, 10, 10, 10, 200, 10] * 128)
        mask.save(tmp_path / "masks" / f"{index}.png")
    return tmp_path


def test_values_of_masks_are_the_classes_of_pixels(folder: Path) -> None:
    data = load(OPTIONS.replace(ignored_value=255), folder)
    (target,) = data.facts.targets
    assert (target.name, target.task, target.per) == ("mask", "classes", "pixel")
    assert (target.classes, target.short()) == (("0", "7", "9"), "3 × 3 × 5")
    (masks,) = data.split("training").targets
    expected = np.select([VALUES == 7, VALUES == 9, VALUES == 255], [1, 2, IGNORED], 0)
    for index in range(4):
        assert masks[index].tolist() == np.roll(expected, index, axis=0).tolist()
    assert data.split("training").inputs[0][3, :, 0, 0].tolist() == [3, 0, 0]
    assert "6.7 % of the pixels of the masks do not count." in data.facts.notes


def test_masks_are_turned_as_their_images_are(folder: Path) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    for name in ("images", "masks"):
        for file in sorted((folder / name).iterdir()):
            with Image.open(file) as picture:
                picture.load()
            picture.save(file, exif=turned)
    (masks,) = load(OPTIONS.replace(ignored_value=255), folder).split("training").targets
    expected = np.select([VALUES == 7, VALUES == 9, VALUES == 255], [1, 2, IGNORED], 0)
    assert masks[0].tolist() == np.rot90(expected, -1).tolist()


def test_a_smaller_size_mixes_no_classes(folder: Path) -> None:
    data = load(OPTIONS.replace(image_size=2), folder)
    assert data.facts.targets[0].short() == f"{len(data.facts.classes)} × 2 × 2"
    assert set(data.facts.classes) <= {"0", "7", "9", "255"}


def test_what_does_not_match_is_named(folder: Path) -> None:
    (folder / "masks" / "spare.png").write_bytes((folder / "masks" / "2.png").read_bytes())
    assert "Masks without an image, left out: spare.png." in load(OPTIONS, folder).facts.notes
    Image.new("CMYK", (5, 3)).save(folder / "masks" / "2.tif")
    (folder / "masks" / "2.png").unlink()
    with pytest.raises(UserError, match=r"2\.tif: it has colours of the kind CMYK; a mask is grey, has a palette"):
        load(OPTIONS, folder)
    (folder / "masks" / "2.tif").unlink()
    (warning,) = load(OPTIONS, folder).facts.warnings
    assert warning == f"1 image has no mask in {folder / 'masks'}: 2.png. It is left out."
    for name in (folder / "masks").iterdir():
        name.unlink()
    with pytest.raises(UserError, match=r"4 of 4 images have no mask in .*masks: 0\.png"):
        load(OPTIONS, folder)
    with pytest.raises(UserError, match="There is no file or folder"):
        load(OPTIONS.replace(masks="nowhere"), folder)


def test_an_image_is_left_out_with_its_mask(folder: Path) -> None:
    (folder / "masks" / "1.png").write_bytes(b"no image")
    data = load(OPTIONS.replace(excluded_files=("1.png",)), folder)
    assert data.facts.samples["training"] == 3
    assert "Left out as you chose: 1 file." in data.facts.notes
    with pytest.raises(UserError, match=r"1\.png: it is not a picture"):
        load(OPTIONS.replace(bad_samples="fatal"), folder)
    whole = load(OPTIONS, folder).facts
    assert whole.samples["training"] == 3
    assert whole.warnings[0].startswith("1 image file is left out because of damage: 1.png (it is not a picture")


def test_colours_of_masks_are_classes_and_their_names_may_end_in_mask(folder: Path) -> None:
    colours = np.zeros((*VALUES.shape, 3), np.uint8)
    colours[VALUES == 7], colours[VALUES == 9] = (0, 0, 255), (128, 64, 0)
    for index in range(4):
        (folder / "masks" / f"{index}.png").unlink()
        kind = "RGBA" if index % 2 else "RGB"
        Image.fromarray(np.roll(colours, index, axis=0)).convert(kind).save(folder / "masks" / f"{index}_mask.png")
    data = load(OPTIONS.replace(ignored_value=255), folder)  # pure blue is 0x0000ff, and no ignored value
    assert data.facts.targets[0].classes == ("#000000", "#0000ff", "#804000")
    (masks,) = data.split("training").targets
    for index in range(4):
        expected = np.select([VALUES == 7, VALUES == 9], [1, 2], 0)
        assert masks[index].tolist() == np.roll(expected, index, axis=0).tolist()
    assert not data.facts.notes
