"""The look at data: JSON in the promised shape, pictures in the given folder."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.data.loading.load import facts
from netwright.engine.data.loading.preview import Selection
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import SPLITS
from tests.engine.data.sources.test_audio_reader import write as write_sound

KEYS = {"kind", "classes", "counted", "pictures", "columns", "rows", "series", "lengths", "notes", "loading"}


def look(options: DataOptions, folder: Path, count: int = 8) -> dict[str, Any]:
    """The preview, after a way through JSON."""
    found: dict[str, Any] = json.loads(json.dumps(preview(options, folder, folder / ".look", count), allow_nan=False))
    assert set(found) == KEYS
    sums = {split: sum(row[split] for row in found["classes"]) for split in SPLITS}
    known = facts(options, folder)
    if known.targets[0].per == "sample" and known.task != "labels":
        assert sums == (known.samples if known.task == "classes" else dict.fromkeys(SPLITS, 0))
    return found


def arrays(folder: Path, **given: Any) -> DataOptions:
    np.savez(folder / "d.npz", **given)
    return DataOptions(source="arrays", path="d.npz")


def test_digits_are_pictures_from_black_to_white(tmp_path):
    found = look(DataOptions(source="digits"), tmp_path, 40)
    assert found["kind"] == "pictures"
    assert len(found["pictures"]) == 40
    assert {picture["label"] for picture in found["pictures"]} == set("0123456789")
    assert {picture["split"] for picture in found["pictures"]} == set(SPLITS)
    assert [row["name"] for row in found["classes"]] == list("0123456789")
    extremes = []
    for picture in found["pictures"]:
        assert Path(picture["file"]).parent == tmp_path / ".look"
        with Image.open(picture["file"]) as file:
            assert (file.size, file.mode) == ((8, 8), "L")
            extremes.append(file.getextrema())
    assert np.array(extremes).max() == 255
    assert np.array(extremes).min() == 0


def test_of_a_folder_of_images_only_the_chosen_are_read(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        for index in range(10):
            Image.new("RGB", (400, 300), (0, 200, 0)).save(tmp_path / name / f"{index}.png")
    (tmp_path / "cat" / "5.png").write_bytes(b"damaged")
    found = look(DataOptions(source="images", path="."), tmp_path, 2)
    assert [picture["label"] for picture in found["pictures"]] == ["cat", "dog"]
    with Image.open(found["pictures"][0]["file"]) as file:
        assert file.size == (160, 120)
        assert file.getpixel((5, 5)) == (0, 200, 0)


def test_sounds_have_their_waves_also_those_of_a_test_folder(tmp_path):
    for place, size in (("words/yes", 0.5), ("words/no", 0.25), ("test/yes", 0.75), ("test/no", 0.125)):
        write_sound(tmp_path / place / "0.wav", size * np.sin(np.arange(4000)))
    options = DataOptions(source="audio", path="words", validation_share=0, test_share=0, test_path="test")
    found = look(options, tmp_path)
    waves = {(one["split"], one["label"]): one["wave"] for one in found["pictures"]}
    peaks = {key: round(max(high for _, high in wave), 2) for key, wave in waves.items()}
    assert peaks == {
        ("training", "yes"): 0.5,
        ("training", "no"): 0.25,
        ("test", "yes"): 0.75,
        ("test", "no"): pytest.approx(0.125, abs=0.01),
    }
    assert {len(wave) for wave in waves.values()} == {160}


def test_a_table_shows_its_own_columns(tmp_path):
    (tmp_path / "t.csv").write_text("a,colour,y\n" + "".join(f"{i},{'rb'[i % 2]},{i}.5\n" for i in range(40)))
    found = look(DataOptions(source="table", path="t.csv"), tmp_path)
    assert found["kind"] == "table"
    a, colour, y = found["columns"]
    assert sum(a.pop("histogram")["counts"]) == 40
    assert a == {"name": "a", "role": "input", "kind": "number", "low": 0.0, "mean": 19.5, "high": 39.0}
    assert colour["kind"] == "text, 2 different"
    assert (colour["histogram"]["names"], colour["histogram"]["counts"]) == (["r", "b"], [20, 20])
    assert (y["role"], y["low"], y["mean"], y["high"]) == ("response", 0.5, 20.0, 39.5)
    assert len(found["rows"]) == 20
    assert found["rows"][:2] == [[0.0, "r", 0.5], [1.0, "b", 1.5]]
    assert "encoded" in found["notes"][0]


def test_sequences_are_series_cut_to_size(tmp_path):
    options = arrays(tmp_path, x=np.arange(10 * 500 * 9.0).reshape(10, 500, 9), y=np.array(["a", "b"] * 5))
    found = look(options, tmp_path, 4)
    assert found["kind"] == "series"
    assert [series["label"] for series in found["series"]] == ["a", "a", "b", "b"]
    values = found["series"][0]["values"]
    assert (len(values), len(values[0])) == (6, 200)
    assert values[0][0] == 0.0
    assert values[1][-1] == 499 * 9 + 1
    assert [column["role"] for column in found["columns"]] == ["input", "response"]
    many = np.repeat(np.arange(3), 20)
    found = look(arrays(tmp_path, x=np.zeros((60, 4, 1)), y=many), tmp_path, 40)
    assert len(found["series"]) == 24
    assert {series["label"] for series in found["series"]} == {"0", "1", "2"}


def test_the_padding_of_sequences_is_not_shown(tmp_path):
    x = np.ones((4, 9, 2), np.float32)
    options = arrays(tmp_path, x=x, x_lengths=np.array([3, 9, 1, 5]), y=np.array(["a", "b"] * 2))
    found = look(options, tmp_path, 4)
    assert sorted(len(series["values"][0]) for series in found["series"]) == [1, 3, 5, 9]
    assert found["lengths"] == {"low": 0.5, "high": 9.5, "counts": [1, 0, 1, 0, 1, 0, 0, 0, 1], "missing": 0}
    assert [column["role"] for column in found["columns"]] == ["input", "lengths", "response"]
    assert facts(options, tmp_path).inputs[0].short() == "1 to 9 × 2"


@pytest.mark.parametrize(
    ("shape", "mode", "size"),
    [((6, 3, 5, 4), "RGB", (4, 5)), ((6, 2, 5, 4), "L", (4, 5)), ((6, 1, 9, 5, 4), "L", (4, 5))],
)
def test_arrays_of_images_and_volumes_are_pictures(tmp_path, shape, mode, size):
    options = arrays(tmp_path, x=np.random.default_rng(0).standard_normal(shape), y=np.linspace(0, 1, 6))
    found = look(options, tmp_path)
    assert found["pictures"][0]["label"] == "0"
    with Image.open(found["pictures"][-1]["file"]) as file:
        assert (file.mode, file.size) == (mode, size)


def test_features_and_tokens_are_rows(tmp_path):
    x = np.arange(30 * 60.0).reshape(30, 60)
    found = look(arrays(tmp_path, x=x, y=np.arange(30) % 2), tmp_path)
    assert found["kind"] == "table"
    assert (len(found["columns"]), len(found["rows"]), len(found["rows"][0])) == (51, 20, 51)
    assert sum(found["columns"][0].pop("histogram")["counts"]) == 30
    assert found["columns"][0] == {
        "name": "x[0]",
        "role": "input",
        "kind": "number",
        "low": 0.0,
        "mean": 870.0,
        "high": 1740.0,
    }
    assert found["rows"][1][-1] == "1"
    assert "The first 50 of 60 columns are shown." in found["notes"]
    tokens = look(arrays(tmp_path, x=x.astype(int) % 7, y=np.arange(30) % 2), tmp_path)
    assert tokens["rows"][0][:3] == [0.0, 1.0, 2.0]


def test_a_single_constant_picture(tmp_path):
    found = look(arrays(tmp_path, x=np.zeros((2, 1, 2, 2)), y=np.array([0, 1])), tmp_path, 1)
    assert len(found["pictures"]) == 1


def test_masks_are_pictures_of_class_numbers_and_pixels_are_counted(tmp_path):
    y = np.zeros((10, 4, 6), int)
    y[:, :2], y[:, 3, 0] = 7, 255
    np.savez(tmp_path / "d.npz", x=np.ones((10, 1, 4, 6)), y=y)
    found = look(DataOptions(source="arrays", path="d.npz", ignored_value=255), tmp_path)
    with Image.open(found["pictures"][0]["mask"]) as file:
        assert np.asarray(file).tolist() == [[1] * 6, [1] * 6, [0] * 6, [255, 0, 0, 0, 0, 0]]
    assert found["counted"] == "pixels"
    assert {row["name"]: sum(row[split] for split in SPLITS) for row in found["classes"]} == {"0": 110, "7": 120}
    assert found["pictures"][0]["label"] == "0, 7"


def test_steps_have_classes_and_labels_are_counted(tmp_path):
    lengths, y = np.array([2, 5] * 5), np.tile([0, 0, 1, 2, 1], (10, 1))
    found = look(arrays(tmp_path, x=np.ones((10, 5, 1)), x_lengths=lengths, y=y), tmp_path)
    assert sorted({tuple(one["steps"]) for one in found["series"]}) == [(0, 0), (0, 0, 1, 2, 1)]
    assert sum(row[split] for row in found["classes"] for split in SPLITS) == lengths.sum()
    labels = np.tile([True, False, True], (10, 1))
    found = look(arrays(tmp_path, x=np.ones((10, 2)), y=labels), tmp_path)
    assert {row["name"]: sum(row[split] for split in SPLITS) for row in found["classes"]} == {"0": 10, "1": 0, "2": 10}
    assert found["rows"][0][-1] == "0, 2"


def test_of_much_data_some_samples_are_read_and_it_says_how_a_run_loads_it(tmp_path, monkeypatch):
    drawn = np.random.default_rng(0)
    np.savez(tmp_path / "some.npz", x=drawn.normal(size=(50, 3)).astype(np.float32), y=np.arange(50) % 2)
    options = DataOptions(source="arrays", path="some.npz")
    whole = look(options, tmp_path)
    assert whole["loading"].startswith("Held in memory while training: 1.2 KiB; ")
    monkeypatch.setattr("netwright.engine.data.loading.preview_data.KEPT_BYTES", 100)
    monkeypatch.setattr("netwright.engine.data.loading.preview.MOST_COUNTED", 10)
    monkeypatch.setattr("netwright.engine.data.loading.preview_data.free_memory", lambda: 2000)
    found = look(options, tmp_path)
    assert found["loading"] == "Streamed while training: held in memory it takes 1.2 KiB; 2.0 KiB are free."
    assert "Low, mean and high are those of 10 of 50 samples." in found["notes"]
    assert len(found["rows"]) == 10
    monkeypatch.setattr("netwright.engine.data.loading.preview.MOST_COUNTED", 50)
    assert look(options, tmp_path)["columns"] == whole["columns"]


def test_samples_of_one_split_and_class_and_other_draws_of_them(tmp_path):
    options = arrays(tmp_path, x=np.arange(400 * 3.0).reshape(400, 3, 1), y=np.array(["a", "b"] * 200))
    folder, count = tmp_path / "out", 8

    def numbers_of(**values):
        shown = preview(options, tmp_path, folder, count, selection=Selection(**values))["series"]
        assert {one["split"] for one in shown} == {"test"}
        return {one["number"] for one in shown}, {one["label"] for one in shown}

    first, labels = numbers_of(split="test")
    assert (len(first), labels) == (8, {"a", "b"})
    assert numbers_of(split="test", class_name="b")[1] == {"b"}
    draws = [numbers_of(split="test", draw=draw)[0] for draw in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]
