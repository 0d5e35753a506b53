"""Every command of README and `docs/` runs as it is printed, page after page, in a folder that has what the pages speak
of: projects, runs, pictures, tables."""

import csv
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import EXIT_DONE, EXIT_REQUIREMENT, EXIT_STOPPED
from tests.docs_blocks import PAGES, PROGRAM, ROOT, blocks, commands

pytestmark = [pytest.mark.journey, pytest.mark.timeout(1800)]
PATIENCE_S = 300
ELSEWHERE = {
    "ci.md": "a repository with a server that builds it",
    "clusters.md": "a cluster, but for its profiles",
    "data.md": "data of every kind, which the tests of the sources make",
}
"""Pages whose commands need what this machine lacks; `tests/architecture/test_docs.py` parses them."""
NOT_HERE = ("weights fetch", "notify --webhook", "devices --test", "new resnet18", "transfer resnet18", "--profile lab")
"""Commands that need a network or a cluster, or take long and have a test of their own."""
ALSO = {"compare": EXIT_REQUIREMENT, "follow": EXIT_STOPPED}
"""Other exit codes: projects differ, a run was stopped."""
MODULE = """
from torch import nn


class Net(nn.Sequential):
    def __init__(self, width: int, num_classes: int):
        super().__init__(nn.Conv2d(3, width, 3, 8), nn.ReLU(), nn.Flatten(), nn.Linear(784 * width, num_classes))
"""


def engine(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell, as a reader does."""
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": binaries, "HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    words = ["bash", "-c", f"{PROGRAM}{line}"]
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


def need(line: str, folder: Path) -> None:
    done = engine(line, folder)
    assert done.returncode == EXIT_DONE, f"{line}\n{done.stdout}{done.stderr}"


def write_pictures(folder: Path, *names: str) -> None:
    """Pictures of a digit per class."""
    with np.load(ROOT / "resources" / "data" / "digits.npz", allow_pickle=False) as file:
        images, labels = file["images"], file["labels"]
    for digit, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        for number, image in enumerate(images[labels == digit][:30]):
            Image.fromarray((image * 15.9).astype(np.uint8)).save(folder / name / f"{number}.png")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, with runs of one epoch."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "home" / ".local/share/bash-completion/completions").mkdir(parents=True)
    for name in ("pictures", "new_samples"):
        write_pictures(folder / name, "0", "1", "2")
    write_pictures(folder / "pets", "cat", "dog")
    (folder / "models.py").write_text(MODULE)
    shutil.copy(folder / "pictures" / "1" / "0.png", folder / "digit.png")
    with (folder / "houses.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("area", "facing", "price"))
        rows.writerows((n % 90 + 20, ("north", "south", "west")[n % 3], 3 * (n % 90) + n % 3) for n in range(300))
    for line in (
        "new digits",
        "new --data houses.csv",
        "train digits.netwright --set training.max_epochs=1 --run-dir runs/first",
        "train digits.netwright --set training.max_epochs=1 --set training.seed=1 --run-dir runs/second",
        "train houses.netwright --set training.max_epochs=1 --run-dir runs/houses",
        "export runs/first -o digits.onnx",
        "export runs/first -o network.onnx",
        "export runs/first -o network.py",
        "transfer runs/first -o other.netwright --outputs 4",
        "new digits networks",
        "new --data pets",
        "train pets.netwright --set training.max_epochs=1 --run-dir runs/pets",
    ):
        need(line, folder)
    shutil.copytree(folder / "runs" / "second", folder / "runs" / "large")
    shutil.copy(folder / "digits.netwright", folder / "small.netwright")
    shutil.copy(ROOT / "resources" / "data" / "power.csv", folder / "newest.csv")
    return folder


def targets(line: str) -> set[str]:
    """The files and folders that a command makes."""
    words = line.split()
    after = dict(pairwise(words))
    made = {after[flag] for flag in ("-o", "--run-dir") if flag in after}
    if words[0] == "new":
        name = Path(after["--data"]).stem if "--data" in after else words[1]
        made |= {f"{name}.netwright", f"{name}.npz", f"{name}.csv"} - {after.get("--data", "")}
    return made | {str(Path(name).with_suffix(".weights.safetensors")) for name in made if name.endswith(".netwright")}


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in ELSEWHERE and commands(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_commands_of_a_page_run_as_printed(page: Path, world: Path, tmp_path: Path) -> None:
    """What a page makes itself is not there when it begins."""
    folder = tmp_path / "copy"
    shutil.copytree(world, folder)
    lines = [line for line in commands(page) if not any(words in line for words in NOT_HERE)]
    seen: set[str] = set()
    failed = []
    for line in lines:
        for target in targets(line) - seen:
            remove(folder / target)
        seen |= targets(line)
        done = engine(line, folder)
        if done.returncode not in (EXIT_DONE, ALSO.get(line.split()[0], EXIT_DONE)):
            failed.append(f"{PROGRAM}{line}\n  {done.returncode}: {done.stderr[-500:]}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("name", ["custom-layers.md", "hooks.md"])
def test_the_programs_of_a_page_run_one_after_the_other(name: str) -> None:
    names: dict[str, object] = {}
    programs = [block for block in blocks(ROOT / "docs" / name) if block.language == "python"]
    for block in programs:
        exec(compile(block.text, f"{name}:{block.line}", "exec"), names)
    assert len(programs) > 1
