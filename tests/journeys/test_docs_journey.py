"""Every command and every Python program of README and `docs/` runs as it is printed, page after page, in a folder that
has what the pages speak of: projects, runs, pictures, tables."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import EXIT_DONE, EXIT_REQUIREMENT, EXIT_STOPPED
from tests import warm
from tests.docs_blocks import PAGES, PROGRAM, ROOT, blocks, commands
from tests.journeys import journey_files
from tests.system.test_examples import expanded

pytestmark = [pytest.mark.journey, pytest.mark.timeout(600)]
PATIENCE_S = 300
NOT_HERE = (
    *("weights fetch", "notify --webhook", "new resnet18", "transfer resnet18", "=s3://", "=https://"),
    *("--profile ", "cluster validate", "cluster default", "cluster import", "runs/2026-11-22_23-10-05_digits"),
    *("devices --test", "train gpt_small", "endpoint runs/houses"),
    *("train airbench94", "evaluate runs/airbench94"),
)
"""Commands that need a network or a cluster, or take long or do not end and have a test of their own; `test_docs.py`
parses them."""
PROGRAMS_ELSEWHERE = ("api.md", "endpoint.md")
"""Pages whose Python runs in `test_api.py` and `test_endpoint.py`."""
ACCURACY, RMSE = 0.03, 0.07
"""Accepted differences of the results that `docs/gallery.md` states, of which an RMSE is divided by. Where an answer
per sample is counted, the interval of the accuracy counts too: 36 sounds cannot tell 83 % from 89 %."""
PROJECTS = sorted((ROOT / "docs" / "gallery").glob("*.md"))
ALSO = {"compare": EXIT_REQUIREMENT, "follow": EXIT_STOPPED}
"""Other exit codes: projects differ, a run was stopped."""
MODULE = """
from torch import nn


class Net(nn.Sequential):
    def __init__(self, width: int, num_classes: int):
        super().__init__(nn.Conv2d(3, width, 3, 8), nn.ReLU(), nn.Flatten(), nn.Linear(784 * width, num_classes))
"""


SHELL_SIGNS = frozenset("|&;<>$`~\\{")
"""What only a shell understands."""


def engine(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command, in a shell where it needs one; else in a process that has torch imported."""
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": binaries, "HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    if not SHELL_SIGNS & set(line):
        return warm.run(expanded(line, folder), cwd=folder, env=environment, timeout=PATIENCE_S)
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


def write_data(folder: Path) -> None:
    """What the pages for tasks begin with."""
    journey_files.passenger_table(folder / "passengers.csv", rows=400)
    journey_files.power_series(folder / "towns.csv", series=2, hours=800)
    journey_files.labelled_texts(folder / "topics.csv", per_class=60)
    journey_files.masked_pictures(folder / "parts", count=40, size=32)
    journey_files.sounds(folder / "sounds", per_class=20)
    (folder / "sounds" / "steady" / "broken.wav").unlink()
    (folder / "lines.txt").write_text("Storm and rain today.\nThe coach said the team lost.\n")
    shutil.copy(folder / "houses.csv", folder / "val.csv")
    shutil.copy(ROOT / "tests" / "golden" / "keras" / "first.keras", folder / "model.keras")
    for name in ("noisy", "clean"):
        shutil.copytree(folder / "parts" / "images", folder / name)
    (folder / "photos").mkdir()
    with (folder / "classes.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("file", "class"))
        for path in sorted((folder / "own").rglob("*.png")):
            name = f"{path.parent.name}-{path.name}"
            shutil.copy(path, folder / "photos" / name)
            rows.writerow((name, f"digit {path.parent.name}"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, with runs of one epoch."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "home" / ".local/share/bash-completion/completions").mkdir(parents=True)
    for name in ("pictures", "new_samples", "own"):
        write_pictures(folder / name, "0", "1", "2")
    write_pictures(folder / "pets", "cat", "dog")
    (folder / "models.py").write_text(MODULE)
    shutil.copy(folder / "pictures" / "1" / "0.png", folder / "digit.png")
    with (folder / "houses.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("area", "facing", "price"))
        rows.writerows((n % 90 + 20, ("north", "south", "west")[n % 3], 3 * (n % 90) + n % 3) for n in range(300))
    write_data(folder)
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
        "new --data parts",
        "train parts.netwright --set training.max_epochs=1 --run-dir runs/parts",
        "new recipes",
        "train recipes.netwright --set training.max_epochs=1 --run-dir runs/recipes",
    ):
        need(line, folder)
    shutil.copytree(folder / "runs" / "second", folder / "runs" / "large")
    for name in ("small", "network"):
        shutil.copy(folder / "digits.netwright", folder / f"{name}.netwright")
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


def programs(page: Path) -> str:
    """The Python of a page as one program with the lines of the page."""
    lines = [""] * len(page.read_text(encoding="utf-8").splitlines())
    for block in blocks(page):
        if block.language == "python" and page.name not in PROGRAMS_ELSEWHERE:
            text = block.text.splitlines()
            lines[block.line : block.line + len(text)] = text
    return "\n".join(lines) if any(lines) else ""


def run_program(page: Path, folder: Path) -> list[str]:
    """Run the Python of a page, if it has any, and return what went wrong."""
    if not (program := programs(page)):
        return []
    (folder / "program.py").write_text(program)
    environment = {**os.environ, "HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "program.py"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    return [done.stderr] if done.returncode else []


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in PROJECTS and (commands(page) or programs(page))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_a_page_runs_as_printed(page: Path, world: Path, tmp_path: Path) -> None:
    """What a page makes itself is not there when it begins. Its programs run after its commands, as one."""
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
    failed += run_program(page, folder)
    assert not failed, "\n".join(failed)


def stated(name: str) -> tuple[str, float]:
    """The metric that the gallery states of a project, and its value as `result.json` has it."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| \[`{name}`\].*?\| (accuracy|RMSE) ([\d.,]+)( %)?", page, re.MULTILINE)
    assert row is not None, name
    figure = float(row[2].replace(",", ""))
    return row[1].lower(), figure / 100 if row[3] else figure


def interval(name: str, folder: Path) -> tuple[float, float]:
    """The 95 % interval of a run's accuracy on the test set, empty for answers that are not one per sample."""
    done = engine(f"evaluate runs/{name} --json", folder)
    (target,) = json.loads(done.stdout)["targets"]
    low, high = target["accuracy_interval"] if target.get("per") == "sample" else (1.0, 0.0)
    return low, high


@pytest.mark.parametrize("page", PROJECTS, ids=lambda page: page.stem)
def test_a_project_reaches_what_the_gallery_states(page: Path, tmp_path: Path) -> None:
    """Its commands run as its page prints them, from an empty folder: one training, an evaluation, answers, an
    export."""
    lines = commands(page)
    more = ["generate"] if page.stem == "recipes" else []
    assert [line.split()[0] for line in lines] == ["new", "train", "evaluate", "predict", "export", *more]
    write_pictures(tmp_path, "0")
    shutil.copy(tmp_path / "0" / "0.png", tmp_path / "digit.png")
    (tmp_path / "new.txt").write_text("The pump drips water.\nThe pump no longer drips water. The mixer rattles.\n")
    for line in lines:
        need(line, tmp_path)
    assert run_program(page, tmp_path) == []
    (metric, figure), name = stated(page.stem), page.stem
    test = json.loads((tmp_path / "runs" / name / "result.json").read_text())["test"]
    allowed = ACCURACY if metric == "accuracy" else RMSE * figure
    low, high = test[metric] - allowed, test[metric] + allowed
    if metric == "accuracy" and not low <= figure <= high:
        low, high = interval(name, tmp_path)
    assert low <= figure <= high, f"{metric} {test[metric]}, {low} to {high}"
    assert (tmp_path / f"{name}.onnx").stat().st_size > 1000
