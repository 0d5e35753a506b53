"""The check of image files: what it finds, and that the process prints it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from netwright.engine.core.process import module_command, module_environment
from netwright.engine.data.loading.image_check import findings
from netwright.engine.project.data import DataOptions

OPTIONS = DataOptions(source="images", path="pets", bad_samples="fatal")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes with four images of 6 × 4 each; one is damaged, one larger, one has colours."""
    for name in ("cat", "dog"):
        (tmp_path / "pets" / name).mkdir(parents=True)
        for index in range(4):
            Image.new("L", (6, 4), index).save(tmp_path / "pets" / name / f"{index}.png")
    whole = (tmp_path / "pets" / "cat" / "2.png").read_bytes()
    (tmp_path / "pets" / "cat" / "2.png").write_bytes(whole[: len(whole) // 2])
    Image.new("L", (30, 50)).save(tmp_path / "pets" / "dog" / "0.png")
    Image.new("RGB", (6, 4), (200, 10, 10)).save(tmp_path / "pets" / "dog" / "3.png")
    return tmp_path


def found(options: DataOptions, base: Path) -> dict[str, Any]:
    *_, last = findings(options, base, pause_s=0.0)
    return last


def test_damaged_resized_and_converted_files_are_named(folder: Path) -> None:
    result = found(OPTIONS, folder)
    assert (result["checked"], result["total"], result["done"]) == (8, 8, True)
    assert [name for name, _ in result["damaged"]] == ["cat/2.png"]
    assert "damaged" in result["damaged"][0][1]
    assert result["resized"] == [["dog/0.png", "30 × 50"]]
    assert result["converted"] == [["dog/3.png", "rgb"]]
    assert result["counts"] == {"damaged": 1, "resized": 1, "converted": 1}
    assert sum(result["sizes"]["widths"]["counts"]) == result["total"] - 1
    assert (result["first"], result["size"], result["channels"]) == ("cat/0.png", "6 × 4", "grey")


def test_what_the_options_ask_for_is_no_finding(folder: Path) -> None:
    result = found(OPTIONS.replace(image_size=8, channels="rgb"), folder)
    assert (result["resized"], result["size"], result["channels"]) == ([], "8 × 8", "rgb")
    assert result["counts"]["converted"] == 6, "the whole images without colours"
    result = found(OPTIONS.replace(excluded_files=("cat/2.png", "dog/0.png")), folder)
    assert result["counts"] == {"damaged": 0, "resized": 0, "converted": 1}
    assert result["total"] == 6


def test_most_images_decide(folder: Path) -> None:
    (folder / "pets" / "cat" / "0.png").write_bytes(b"no image")
    result = found(OPTIONS, folder)
    assert [name for name, _ in result["damaged"]] == ["cat/0.png", "cat/2.png"]
    assert (result["first"], result["counts"]["resized"]) == ("cat/1.png", 1)


def test_masks_are_checked_with_their_images(folder: Path) -> None:
    (folder / "masks").mkdir()
    for index in range(4):
        Image.new("L", (6, 4), index).save(folder / "masks" / f"{index}.png")
    (folder / "masks" / "3.png").write_bytes(b"no image")
    result = found(OPTIONS.replace(path="pets/cat", masks="masks"), folder)
    assert [name for name, _ in result["damaged"]] == ["2.png", "3.png"]
    assert result["damaged"][1][1].startswith("its mask 3.png: ")


def test_the_process_prints_its_findings(folder: Path) -> None:
    options = json.dumps(OPTIONS.write())
    command = module_command("netwright.engine.data.loading.image_check", options, str(folder))
    done = subprocess.run(command, env=module_environment(), capture_output=True, text=True, check=True)
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["done"], last["counts"]["damaged"]) == (True, 1)
    command = module_command("netwright.engine.data.loading.image_check", options, str(folder / "pets"))
    done = subprocess.run(command, env=module_environment(), capture_output=True, text=True, check=False)
    assert "There is no file or folder" in json.loads(done.stdout.splitlines()[-1])["error"]
