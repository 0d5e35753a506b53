"""What is learned from images in folders inside folders, with a table of classes, and with target images."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from netwright.engine.network.network import Network
from netwright.engine.project.data import DataOptions
from netwright.engine.project.project import Project
from netwright.engine.project.sources.guess import guesses, with_guess
from tests.builders import chain, layer
from tests.runs import train


def write(path: Path, level: float, random: np.random.Generator) -> None:
    """Write a noisy grey image around this level."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.clip(random.normal(level, 20, (6, 6)), 0, 255).astype(np.uint8)).save(path)


def classifier() -> Network:
    return chain(layer("image_input", channels=1, size=[6, 6]), layer("fully_connected", outputs=2), layer("softmax"))


def trained(network: Network, folder: Path, run: Path, **training: object) -> dict[str, float]:
    """Train on a folder, as a drop of it sets the data; return the metrics of the test."""
    project = Project(network)
    project = replace(
        project,
        data=with_guess(DataOptions(), guesses(folder)[0], folder),
        environment=project.environment.replace(target="cpu", threads=1),
        training=project.training.replace(
            **{"solver": "adam", "initial_learn_rate": 0.05, "max_epochs": 12, "mini_batch_size": 16, **training}
        ),
    )
    done = train(project, run)
    assert done.result["state"] == "finished", done.result
    result: dict[str, float] = done.result["test"]
    return result


def test_classes_of_folders_inside_folders(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for number in range(80):
        kind = ("dark", "light")[number % 2]
        write(
            tmp_path / "img" / kind / ("old" if number % 4 < 2 else "new/er") / f"{number}.png",
            80 + 90 * (number % 2),
            random,
        )
    assert trained(classifier(), tmp_path / "img", tmp_path / "run")["accuracy"] == 1.0


def test_classes_of_a_table(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = ["name,kind"]
    for number in range(80):
        write(tmp_path / "img" / f"{number:03d}.png", 80 + 90 * (number % 2), random)
        lines.append(f"{number:03d}.png,{('dark', 'light')[number % 2]}")
    (tmp_path / "img" / "classes.csv").write_text("\n".join(lines))
    assert trained(classifier(), tmp_path / "img", tmp_path / "run")["accuracy"] == 1.0


def test_images_from_images(tmp_path: Path) -> None:
    """Brightness inverted: a convolution of one weight and a bias can do it exactly."""
    random = np.random.default_rng(0)
    for number in range(60):
        path = tmp_path / "img" / "input" / f"{number}.png"
        write(path, 255 * random.random(), random)
        inverted = 255 - np.asarray(Image.open(path))
        (tmp_path / "img" / "target").mkdir(exist_ok=True)
        Image.fromarray(inverted).save(tmp_path / "img" / "target" / f"{number}.png")
    network = chain(layer("image_input", channels=1, size=[6, 6]), layer("conv2d", filters=1, kernel=1))
    assert trained(network, tmp_path / "img", tmp_path / "run", max_epochs=25)["rmse"] < 0.05
