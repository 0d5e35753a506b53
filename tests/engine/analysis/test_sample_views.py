"""Single samples to look at: which ones, in which order, and what is shown of classes, pixels, forecasts and rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.cli.request_handlers import answer
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.runs import train


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that tells pixels apart: bright ones from dark ones."""
    folder = tmp_path_factory.mktemp("views")
    images = np.random.default_rng(0).random((40, 1, 6, 6)).astype(np.float32)
    np.savez(folder / "a.npz", x=images, y=(images[:, 0] > 0.5).astype(np.int64))
    network = chain(layer("image_input", channels=1, size=(6, 6)), layer("conv2d", filters=2, kernel=(1, 1)))
    project = Project(network)
    train(
        replace(
            project,
            data=project.data.replace(source="arrays", path=str(folder / "a.npz")),
            training=project.training.replace(max_epochs=1),
            environment=project.environment.replace(target="cpu", threads=1),
        ),
        folder / "run",
    )
    return folder / "run"


def asked(do: str, **values: object) -> dict:
    found = answer({"id": 1, "do": do, "with": values})
    assert "result" in found, found
    return dict(found["result"])


def test_pixels_are_shown_with_what_is_wrong(run: Path, tmp_path: Path) -> None:
    whole = asked("evaluate", model=str(run), split="training")
    found = asked("samples", path=str(run), split="training", output=0, count=3, list="worst", folder=str(tmp_path))
    assert found["total"] == whole["samples"]
    assert [row["index"] for row in found["rows"]] == [row["index"] for row in whole["targets"][0]["worst"][:3]]
    for shown, row in zip(found["pictures"], found["rows"], strict=True):
        truth = np.load(run.parent / "a.npz")["y"][row["index"]]
        mask, said, wrong = (np.asarray(Image.open(shown[name])) for name in ("mask", "said", "wrong"))
        assert (mask == truth).all(), "the picture belongs to its row"
        assert ((wrong == 0) == (said != mask)).all()
        for place, value in enumerate(shown["iou"].values()):
            both = ((mask == place) & (said == place)).sum() / ((mask == place) | (said == place)).sum()
            assert value == pytest.approx(both)
