"""Folders of images: every kind of picture that people have, and every way in which a folder can be wrong."""

import io
import os
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.sources import image_file
from netwright.engine.data.sources.image_file import read
from netwright.engine.data.sources.image_reading import bad_pictures
from netwright.engine.data.sources.images_reader import Images
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DamageWarning, DatasetInfo
from netwright.engine.project.project import Project, set_option

LENIENT = DataOptions(source="images", path="pets", validation_share=0.0, test_share=0.0)
OPTIONS = LENIENT.replace(bad_samples="fatal")


def put(folder: Path, name: str, picture: Image.Image, **how: Any) -> None:
    path = folder / "pets" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, **how)


def plain(value: Any = 100, *, mode: str = "L", size: tuple[int, int] = (6, 4)) -> Image.Image:
    return Image.new(mode, size, value)


def two_classes(folder: Path, **kinds: Any) -> None:
    for name in ("cat", "dog"):
        for index in range(3):
            put(folder, f"{name}/{index}.png", plain(10 * index + 5, **kinds))


def one(
    folder: Path, picture: Image.Image, options: DataOptions = OPTIONS, name: str = "a.png", **how: Any
) -> np.ndarray:
    """The picture as it is read, as the first of its data set."""
    put(folder, f"a/{name}", picture, **how)
    put(folder, "b/b.png", plain(0, size=picture.size))
    images = load(options, folder).split("training").inputs[0]
    return np.asarray(images[0])


def refused(folder: Path, options: DataOptions = OPTIONS) -> str:
    with pytest.raises(UserError) as error:
        load(options, folder)
    return str(error.value)


def test_classes_are_the_subfolders_in_order(tmp_path):
    two_classes(tmp_path)
    put(tmp_path, "Ape/x.png", plain())
    found = facts(OPTIONS, tmp_path)
    assert found.classes == ("Ape", "cat", "dog")
    assert found.inputs[0].type.sizes == (1, 4, 6)
    assert found.samples["training"] == 7
    assert found.notes == ()
    part = load(OPTIONS, tmp_path).split("training")
    assert part.targets[0].tolist() == [0, 1, 1, 1, 2, 2, 2]
    assert part.inputs[0].shape == (7, 1, 4, 6)
    assert part.inputs[0][:, 0, 0, 0].tolist() == [100, 5, 15, 25, 5, 15, 25]


def test_other_sizes_are_resized(tmp_path):
    two_classes(tmp_path)
    put(tmp_path, "dog/9.png", plain(77, size=(30, 50)))
    assert load(OPTIONS, tmp_path).split("training").inputs[0][-1].tolist() == [[[77.0] * 6] * 4]
    resized = OPTIONS.replace(image_size=9)
    assert facts(resized, tmp_path).inputs[0].type.sizes == (1, 9, 9)
    assert load(resized, tmp_path).split("training").inputs[0].shape == (7, 1, 9, 9)


def test_resizing_is_bilinear(tmp_path):
    ramp = Image.fromarray(np.tile(np.array([0, 100], np.uint8), (2, 1)))
    image = one(tmp_path, ramp, OPTIONS.replace(image_size=4))
    assert image[0, 0].tolist() == [0, 25, 75, 100]


def test_colour_is_channels_first(tmp_path):
    assert one(tmp_path, plain((10, 20, 30), mode="RGB"))[:, 0, 0].tolist() == [10, 20, 30]


@pytest.mark.parametrize(("channels", "wanted"), [("grey", [round(0.299 * 200 + 0.587 * 100)]), ("rgb", [200, 100, 0])])
def test_channels_as_asked(tmp_path, channels, wanted):
    picture = plain((200, 100, 0), mode="RGB")
    assert one(tmp_path, picture, OPTIONS.replace(channels=channels))[:, 0, 0].tolist() == wanted


def test_transparent_pictures_are_laid_on_white(tmp_path):
    assert one(tmp_path, plain((10, 20, 30, 0), mode="RGBA"))[:, 0, 0].tolist() == [255, 255, 255]
    assert one(tmp_path, plain((10, 20, 30, 255), mode="RGBA"))[:, 0, 0].tolist() == [10, 20, 30]
    assert one(tmp_path, plain((10, 0), mode="LA"))[:, 0, 0].tolist() == [255]


def test_palettes_and_cmyk_become_rgb(tmp_path):
    palette = plain((0, 0, 255), mode="RGB").convert("P", palette=Image.Palette.ADAPTIVE)
    assert palette.mode == "P"
    assert one(tmp_path, palette)[:, 0, 0].tolist() == [0, 0, 255]
    cmyk = one(tmp_path, plain((255, 0, 0, 0), mode="CMYK"), name="Z.tif")
    assert cmyk.shape[0] == 3


def test_cmyk_alone(tmp_path):
    assert one(tmp_path, plain((255, 0, 0, 0), mode="CMYK"), name="a.tif")[:, 0, 0].tolist() == [0, 255, 255]


def test_black_and_white_bits(tmp_path):
    assert one(tmp_path, plain(1, mode="1"))[:, 0, 0].tolist() == [255]


def test_sixteen_bits_become_0_to_255_with_fractions(tmp_path):
    values = np.array([[0, 257, 32896, 65535, 100]], np.uint16)
    image = one(tmp_path, Image.fromarray(values))
    np.testing.assert_allclose(image[0, 0], [0, 1, 128, 255, 100 / 257], rtol=1e-6)


def test_sixteen_bits_among_eight_are_rounded(tmp_path):
    two_classes(tmp_path)
    put(tmp_path, "dog/9.png", Image.fromarray(np.full((4, 6), 25800, np.uint16)))
    assert load(OPTIONS, tmp_path).split("training").inputs[0][-1, 0, 0, 0] == 100


def test_the_orientation_of_the_camera_is_applied(tmp_path):
    picture = Image.fromarray(np.array([[10, 20, 30]] * 2, np.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise to see it upright
    image = one(tmp_path, picture, exif=exif)
    assert image.shape == (1, 3, 2)
    assert image[0].tolist() == [[10, 10], [20, 20], [30, 30]]


@pytest.mark.parametrize("subsampling", [0, 2])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_plain_jpegs_have_the_pixels_that_pillow_gives(mode: str, subsampling: int) -> None:
    drawn = np.random.default_rng(1).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    picture = Image.fromarray(drawn).resize((37, 26)).convert(mode)
    for is_progressive, channels, (height, width) in product((False, True), ("grey", "rgb"), ((26, 37), (64, 20))):
        file = io.BytesIO()
        picture.save(file, "jpeg", quality=85, subsampling=subsampling, progressive=is_progressive)
        assert image_file._plain_jpeg(file, (128, 128)) is not None
        found = image_file.read(file, channels, height, width)
        with Image.open(file) as opened:
            wanted = image_file._numbers(opened, channels, height, width)
        np.testing.assert_array_equal(found, wanted)


def test_other_files_are_left_to_pillow(tmp_path: Path) -> None:
    picture = Image.fromarray(np.zeros((16, 16, 3), np.uint8))
    turned = Image.Exif()
    turned[0x0112] = 6
    given = {"turned": ("jpeg", {"exif": turned}), "png": ("png", {}), "large": ("jpeg", {})}
    for name, (kind, options) in given.items():
        file = io.BytesIO()
        picture.save(file, kind, **options)
        assert image_file._plain_jpeg(file, (4, 4) if name == "large" else (32, 32)) is None, name
    whole = io.BytesIO()
    picture.save(whole, "jpeg")
    (tmp_path / "half.jpg").write_bytes(whole.getvalue()[:-40])
    assert image_file._plain_jpeg(tmp_path / "half.jpg", (32, 32)) is None
    with pytest.raises(image_file.BadPictureError, match="damaged"):
        image_file.read(tmp_path / "half.jpg", "rgb", 16, 16)
    assert image_file._plain_jpeg(tmp_path, (32, 32)) is None


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_large_jpeg_decoded_at_a_part_of_its_size_looks_as_if_decoded_whole(tmp_path: Path, is_turned: bool) -> None:
    coarse = np.random.default_rng(0).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    picture = Image.fromarray(coarse).resize((480, 360), Image.Resampling.BICUBIC)
    path = tmp_path / "large.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6 if is_turned else 1
    picture.save(path, quality=90, exif=exif)
    height, width = (40, 30) if is_turned else (30, 40)
    with Image.open(path) as whole:
        upright = whole.rotate(-90, expand=True) if is_turned else whole.copy()
    expected = np.asarray(upright.resize((width, height), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
    part = read(path, "rgb", height, width)
    difference = np.abs(part.astype(int) - expected)
    assert (part.shape, difference.max() <= 2, difference.mean() < 0.5) == ((3, height, width), True, True)
    assert expected.std() > 20


def test_the_first_frame_of_several(tmp_path):
    frames = [plain(10), plain(200)]
    image = one(tmp_path, frames[0], OPTIONS.replace(channels="grey"), "a.gif", save_all=True, append_images=frames[1:])
    assert image[0, 0, 0] == 10


def test_hidden_files_are_ignored_and_strange_ones_noted(tmp_path):
    two_classes(tmp_path)
    pets = tmp_path / "pets"
    for name in (".DS_Store", "cat/.thumb.png", "cat/Thumbs.db"):
        (pets / name).write_bytes(b"x")
    (pets / "__MACOSX").mkdir()
    (pets / ".git").mkdir()
    assert facts(OPTIONS, tmp_path).notes == ()
    (pets / "cat" / "notes.txt").write_text("x")
    (pets / "labels.csv").write_text("x")
    (pets / "dog" / "more").mkdir()
    found = facts(OPTIONS, tmp_path)
    assert found.samples["training"] == 6
    assert found.notes == (
        "Left out: cat/notes.txt, dog/more (2 entries are not image files).",
        "1 file lies beside the class folders, left out.",
    )


def test_damaged_images_are_named_with_their_number(tmp_path):
    two_classes(tmp_path)
    pets = tmp_path / "pets"
    put(tmp_path, "cat/1.png", Image.fromarray(np.arange(2400, dtype=np.uint8).reshape(40, 60)))
    whole = (pets / "cat" / "1.png").read_bytes()
    (pets / "cat" / "1.png").write_bytes(whole[: len(whole) // 2])
    (pets / "cat" / "empty.png").write_bytes(b"")
    (pets / "dog" / "page.jpg").write_text("<html>not found</html>")
    (pets / "dog" / "gone.png").symlink_to(pets / "nowhere.png")
    text = refused(tmp_path)
    assert text.startswith(f"4 of 9 image files in {pets} cannot be used:\n  cat/1.png: it is damaged (")
    assert "\n  cat/empty.png: it is not a picture, or a damaged one" in text
    assert "\n  dog/page.jpg: it is not a picture, or a damaged one" in text
    assert "\n  dog/gone.png: it is missing, or a link that leads nowhere" in text
    assert text.endswith("Replace or remove what is damaged, or leave it out on the Data tab (data.excluded_files).")


def test_of_many_damaged_images_five_are_named(tmp_path):
    two_classes(tmp_path)
    for index in range(12):
        (tmp_path / "pets" / "dog" / f"bad{index:02d}.png").write_bytes(b"no")
    text = refused(tmp_path)
    assert text.startswith("12 of 18 image files")
    assert text.count("bad") == 5
    assert "and 7 more" in text
    with pytest.raises(UserError) as error:
        raise bad_pictures([("a.png", "it is empty")] * 12, 18, tmp_path)
    assert error.value.lines[-2] == "  and 7 more", "lines of their own, which the command line prints as such"


def test_images_that_are_all_damaged_are_named(tmp_path):
    two_classes(tmp_path)
    for name in (tmp_path / "pets").glob("*/*.png"):
        name.write_bytes(b"no")
    with pytest.raises(UserError, match=r"6 of 6 image files .*\n  cat/0\.png: it is not a picture"):
        facts(OPTIONS, tmp_path)


def test_numbers_without_a_scale_are_refused(tmp_path):
    two_classes(tmp_path)
    put(tmp_path, "dog/f.tif", Image.fromarray(np.zeros((4, 6), np.float32)))
    put(tmp_path, "dog/i.tif", Image.fromarray(np.zeros((4, 6), np.int32)))
    text = refused(tmp_path)
    assert "dog/f.tif: it has floating point numbers; expected 8 or 16 bits" in text
    assert "dog/i.tif: it has 32 bits a channel; expected 8 or 16 bits" in text


def test_a_picture_that_would_explode_is_refused(tmp_path, monkeypatch):
    two_classes(tmp_path)
    put(tmp_path, "dog/huge.png", plain(size=(40, 30)))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    assert "dog/huge.png: it has more than 1,000 pixels" in refused(tmp_path)


@pytest.mark.parametrize("size", ["32,48", "32x48", "9000"])
def test_two_sizes_are_refused_with_what_one_number_means(size: str) -> None:
    with pytest.raises(UserError, match="from 1 to 8,192 for both width and height, received"):
        set_option(Project(), f"data.image_size={size}")


def test_too_many_pixels_for_the_memory_are_refused_before_reading(tmp_path, monkeypatch):
    two_classes(tmp_path)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=6 * 4 * 6 * 4 - 1))
    text = refused(tmp_path)
    assert text.startswith("6 grey images of 6 × 4 need")
    assert text.endswith("Choose a smaller image size, or use fewer images.")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda pets: None, "has no classes: it is empty"),
        (lambda pets: (pets / "a.png").write_bytes(b"x"), "has no classes: it holds files (1) and no subfolder"),
        (lambda pets: plain().save(sub(pets, "cat") / "a.png"), "has one class only, 'cat'"),
        (lambda pets: [sub(pets, "cat"), sub(pets, "dog")], "has no classes: no subfolder has images, such as cat."),
    ],
)
def test_folders_without_two_classes(tmp_path, make, message):
    (tmp_path / "pets").mkdir()
    make(tmp_path / "pets")
    text = refused(tmp_path)
    assert message in text
    assert "Expected one subfolder per class" in text


def sub(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def test_a_folder_without_images_is_left_out_with_a_note(tmp_path):
    two_classes(tmp_path)
    for name in ("train/cats", "train/dogs", "drafts"):
        (tmp_path / "pets" / name).mkdir(parents=True)
    found = facts(OPTIONS, tmp_path)
    assert found.classes == ("cat", "dog")
    assert "Left out because the folders have no images: drafts, train." in found.notes


@pytest.mark.parametrize("inner", ["leave-out", "class", "path"])
def test_projects_runs_and_experiments_in_the_folder_are_no_data(tmp_path: Path, inner: str) -> None:
    two_classes(tmp_path)
    options = OPTIONS.replace(inner_folders=inner)
    stamp = Images().stamp(tmp_path / "pets")
    (tmp_path / "pets" / "pets.netwright").write_text("{}")
    for name in ("runs/2030-01-02_pets", "experiments/2030-01-02_pets/runs/1"):
        put(tmp_path, f"{name}/samples/0.png", plain())
        put(tmp_path, f"{name}/0.png", plain())
    for name in ("runs/2030-01-02_pets", "experiments/2030-01-02_pets"):
        (tmp_path / "pets" / name / "project.netwright").write_text("{}")
    classes = facts(options, tmp_path)
    assert classes.classes == ("cat", "dog")
    assert not classes.notes
    assert Images().stamp(tmp_path / "pets") == stamp, "a run that writes its files does not change the data"


def test_a_class_of_images_may_be_called_runs(tmp_path: Path) -> None:
    two_classes(tmp_path)
    put(tmp_path, "runs/0.png", plain())
    assert facts(OPTIONS, tmp_path).classes == ("cat", "dog", "runs")


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "pets").write_text("x")
    assert "is a file. Expected a folder." in refused(tmp_path)


def test_a_replaced_image_is_read_again(tmp_path):
    two_classes(tmp_path)
    assert load(OPTIONS, tmp_path).split("training").inputs[0][0, 0, 0, 0] == 5
    put(tmp_path, "cat/0.png", plain(99, size=(6, 4)))
    assert load(OPTIONS, tmp_path).split("training").inputs[0][0, 0, 0, 0] == 99


def test_a_program_in_postscript_is_no_picture(tmp_path: Path) -> None:
    """Pillow would have Ghostscript run it, whatever the name of the file says."""
    two_classes(tmp_path)
    (tmp_path / "pets/cat/1.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n")
    assert "cat/1.png: it is not a picture, or a damaged one" in refused(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    two_classes(tmp_path)
    os.mkfifo(tmp_path / "pets/cat/3.png")
    assert "cat/3.png: it is a folder, a device or a pipe" in refused(tmp_path)


def test_a_picture_that_claims_more_than_there_is_memory_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    def too_much(*_: Any, **__: Any) -> None:
        raise MemoryError

    two_classes(tmp_path)
    monkeypatch.setattr(Image, "open", too_much)
    assert "cat/0.png: it does not fit into memory, or claims so" in refused(tmp_path)


def test_images_of_sizes_that_are_all_different_get_the_median_size(tmp_path):
    for place in range(9):
        put(
            tmp_path,
            f"{'cat' if place % 2 else 'dog'}/{place}.png",
            plain(place, size=(10 + 3 * place, 40 - 2 * place)),
        )
    found = facts(OPTIONS, tmp_path)
    assert found.inputs[0].type.sizes == (1, 32, 22)
    assert "all are resized to the median one, 22 × 32 (data.image_size)." in found.notes[0]


def test_what_all_images_get_from_most_of_them_is_told(tmp_path):
    two_classes(tmp_path)
    put(tmp_path, "cat/00.png", plain((9, 8, 7), mode="RGB", size=(10, 8)))
    resized = (
        "Images differ in size, such as 10 × 8: all are resized to the most frequent one, 6 × 4 (data.image_size)."
    )
    grey = "6 of 7 images that were looked at are grey: those with colours are taken as grey. data.channels=rgb keeps"
    found = facts(OPTIONS, tmp_path)
    assert found.inputs[0].type.sizes == (1, 4, 6)
    assert (found.notes[0], found.notes[1][: len(grey)]) == (resized, grey)
    assert len(facts(OPTIONS.replace(image_size=8), tmp_path).notes) == 1
    assert facts(OPTIONS.replace(channels="rgb"), tmp_path).notes == (resized,)


def test_one_grey_picture_that_sorts_first_leaves_the_others_their_colours(tmp_path):
    for number in range(362):
        put(tmp_path, f"{('cat', 'dog')[number % 2]}/{number:03}.png", plain((number % 250, 2, 3), mode="RGB"))
    put(tmp_path, "cat/000.png", plain(size=(5, 5)))
    found = facts(LENIENT, tmp_path)
    assert found.inputs[0].type.sizes == (3, 4, 6)
    assert found.notes[1] == (
        "32 of 33 images that were looked at have colours: grey ones get three equal channels (data.channels)."
    )
    first = load(LENIENT, tmp_path).split("training").inputs[0][:2, :, 0, 0]
    assert first.tolist() == [[100, 100, 100], [2, 2, 3]]


def test_files_that_cannot_be_used_are_left_out_with_a_warning(tmp_path):
    drawn = np.random.default_rng(0)
    for number in range(200):
        pixels = Image.fromarray(drawn.integers(0, 255, (20, 30, 3), np.uint8))
        put(
            tmp_path,
            f"{('cat', 'dog')[number % 2]}/{number:03}.{('jpg', 'png', 'gif', 'bmp', 'webp')[number % 5]}",
            pixels,
        )
    cats = tmp_path / "pets" / "cat"
    for name in ("000.jpg", "002.gif", "004.webp", "006.png", "008.bmp"):
        whole = (cats / name).read_bytes()
        (cats / name).write_bytes(whole[: len(whole) // 2])
    for name, content in (("empty.png", b""), ("page.jpg", b"<html>404</html>"), ("zeros.jpg", bytes(5000))):
        (cats / name).write_bytes(content)
    for name in ("Thumbs.db", ".DS_Store", "._001.jpg", "notes.txt"):
        (cats / name).write_bytes(b"x")
    put(tmp_path, "cat/float.tif", Image.fromarray(np.zeros((4, 6), np.float32)))
    (cats / "trailer.jpg").write_bytes((cats / "010.jpg").read_bytes() + b"SEFT" + bytes(200))
    found = facts(LENIENT, tmp_path)
    assert sum(found.samples.values()) == 200 - 5 + 1
    (warning,) = found.warnings
    assert warning.startswith("9 of 205 image files are left out because of damage: cat/000.jpg (it is damaged")
    assert "cat/002.gif (i" in warning
    assert isinstance(warning, DamageWarning)
    assert (len(warning.paths), warning.paths[0]) == (9, "cat/000.jpg")
    (again,) = DatasetInfo.read(found.write()).warnings
    assert isinstance(again, DamageWarning)
    assert again.paths == warning.paths
    assert warning.endswith("and 4 more; data.bad_samples=fatal has them end a run.")
    assert "Left out: cat/notes.txt (1 entry is not an image file)." in found.notes
    for is_streamed in (False, True):
        data = load(LENIENT, tmp_path, is_streamed=is_streamed)
        assert data.split("training").inputs[0][:].shape == (196, 3, 20, 30)
    assert "9 of 205 image files" in refused(tmp_path)


def test_a_look_at_some_images_shows_the_bad_ones_black(tmp_path):
    two_classes(tmp_path)
    (tmp_path / "pets" / "cat" / "1.png").write_bytes(b"no picture")
    source, path = Images(), tmp_path / "pets"
    outline = source.outline(OPTIONS, path)
    look = source.samples(OPTIONS, path, outline, np.array([5, 1]))
    assert look.arrays[0][:, 0, 0, 0].tolist() == [25, 0]
    assert look.notes[0].startswith("Cannot be read, and is shown black: cat/1.png, it is not a picture")
    with pytest.raises(UserError, match=r"1 of 1 image file in .* cannot be used \(1 of 6 were looked at\):"):
        source.samples(OPTIONS, path, outline, np.array([1]))
    with pytest.raises(UserError, match=r"1 of 6 image files in .* cannot be used:"):
        source.samples(OPTIONS, path, outline)


def test_files_are_left_out_on_request(tmp_path: Path) -> None:
    two_classes(tmp_path)
    (tmp_path / "pets" / "cat" / "0.png").write_bytes(b"no image")
    chosen = OPTIONS.replace(excluded_files=("cat/0.png", "dog/gone.png"))
    for is_streamed in (False, True):
        data = load(chosen, tmp_path, is_streamed=is_streamed)
        assert data.facts.samples["training"] == 5
        assert data.split("training").inputs[0][:][:, 0, 0, 0].tolist() == [15, 25, 5, 15, 25]
        assert data.facts.notes == ("Left out as you chose: 1 file.",)
    assert "leave it out on the Data tab (data.excluded_files)" in refused(tmp_path)
    with pytest.raises(UserError, match="has one class only, 'dog'"):
        facts(OPTIONS.replace(excluded_files=tuple(f"cat/{n}.png" for n in range(3))), tmp_path)


def test_a_damaged_first_image_does_not_hide_the_others(tmp_path: Path) -> None:
    """The Data tab shows the data, and names the file; training does not begin."""
    two_classes(tmp_path)
    (tmp_path / "pets" / "cat" / "0.png").write_bytes(b"no image")
    assert facts(OPTIONS, tmp_path).inputs[0].type.sizes == (1, 4, 6)
    assert "cat/0.png: it is not a picture, or a damaged one" in refused(tmp_path)
    look = preview(OPTIONS, tmp_path, tmp_path / "out", 6)
    assert len(look["pictures"]) == 6
    assert any("cat/0.png" in note for note in look["notes"])


def test_classes_may_be_in_the_names(tmp_path: Path) -> None:
    for number in range(3):
        put(tmp_path, f"dog.{number}.png", plain(50 + number))
        put(tmp_path, f"cat.{number}.png", plain(number))
    put(tmp_path, "old/cat.9.png", plain(9))
    (tmp_path / "pets" / "read.me").write_text("")
    options = OPTIONS.replace(class_pattern="{class}.*")
    found = facts(options, tmp_path)
    assert (found.classes, found.samples["training"]) == (("cat", "dog"), 6)
    assert found.notes == ("Left out: read.me (1 entry is not an image file).",)
    part = load(options.replace(inner_folders="class", excluded_files=("dog.1.png",)), tmp_path).split("training")
    assert part.targets[0].tolist() == [0, 0, 0, 0, 1, 1]
    assert part.inputs[0][:, 0, 0, 0].tolist() == [0, 1, 2, 9, 50, 52]
    assert "holds no {class}, or several." in refused(tmp_path, options.replace(class_pattern="*"))
    put(tmp_path, "strange_3.png", plain())
    unlike = '1 of 7 files does not fit the pattern "{class}.*.png" of classes: strange_3.png.'
    assert unlike in refused(tmp_path, options.replace(class_pattern="{class}.*.png"))
