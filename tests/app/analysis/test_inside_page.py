"""The page Look inside: what is asked of the engine, what answers look like, and what goes wrong in words."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from netwright.app.analysis.inside_cards import DependencePlot
from netwright.app.analysis.inside_page import CANCELLED, InsidePage
from netwright.app.analysis.inside_views import HeatView, ScatterView
from netwright.app.data.tiles import Tiles
from netwright.app.plots.bar_rows import BarRows
from netwright.app.plots.card import FigureCard
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from tests.app.fake_server import FakeServer
from tests.builders import chain, layer

SAMPLE = {
    "place": 3,
    "split": "test",
    "label": "cat",
    "outputs": [{"name": "y", "top": [{"class": "dog", "probability": 0.9}, {"class": "cat", "probability": 0.1}]}],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run on images of two classes, as far as the page reads it."""
    network = chain(
        layer("image_input", channels=1, size=4),
        layer("conv2d", filters=2),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    folder = tmp_path / "run"
    folder.mkdir()
    save(Project(network), folder / "project.netwright")
    record = {
        "version": 1,
        "kind": "images",
        "inputs": [{"name": "image", "reads": "image", "axes": ["C", "H", "W"], "sizes": [1, 4, 4]}],
        "targets": [{"name": "y", "task": "classes", "axes": ["C"], "sizes": [2], "classes": ["cat", "dog"]}],
    }
    (folder / "preparation.json").write_text(json.dumps(record))
    return folder


@pytest.fixture
def page(qtbot: QtBot, run: Path, server: FakeServer, tmp_path: Path) -> InsidePage:
    """The page by itself: the Test tab only tells it the run."""
    shell: Any = SimpleNamespace(server=server, documents=SimpleNamespace(base=tmp_path), hint=str, show_error=print)
    page = InsidePage(shell)
    qtbot.addWidget(page)
    page.show()
    page.set_run(run)
    return page


def answer(page: InsidePage, server: FakeServer, told: dict[str, Any], **arrays: Any) -> None:
    assert page.run is not None
    file = page.run / "a.npz"
    np.savez(file, **arrays)
    shapes = {name: list(np.shape(value)) for name, value in arrays.items()}
    server.answer("explain", {"title": "T", "arrays": shapes, "file": str(file), "notes": [], **told})


def question_of(server: FakeServer) -> dict[str, Any]:
    return {name: value for name, value in server.asked[-1].given.items() if name not in ("model", "folder")}


def choose(page: InsidePage, method: str) -> None:
    page.method.setCurrentIndex(page.method.findData(method))
    page.method.activated.emit(page.method.currentIndex())


def test_what_is_offered_follows_from_the_run(page: InsidePage) -> None:
    assert page.method.currentData() == "gradcam"
    assert page.message.text() == CANCELLED
    assert [page.layer.itemText(at) for at in range(page.layer.count())] == ["Automatic layer", "conv_1"]
    assert [page.target.itemData(at) for at in range(page.target.count())] == ["", "cat", "dog"]
    choose(page, "permutation")
    assert not page.layer.isVisibleTo(page)
    assert not page.place.isVisibleTo(page)


def test_a_question_names_sample_layer_and_class(page: InsidePage, server: FakeServer, run: Path) -> None:
    page.place.setValue(4)
    page.layer.setCurrentIndex(1)
    page.target.setCurrentIndex(2)
    page.button.click()
    asked = server.asked[-1]
    assert (asked.do, asked.given["model"]) == ("explain", str(run))
    question = {"method": "gradcam", "split": "test", "sample": "3", "layer": "conv_1", "class_name": "dog"}
    assert question_of(server) == question
    asked.on_progress({"done": 5, "total": 20, "unit": "steps"})
    assert page.state.text() == "Looking: 25 % (5 of 20 steps)"
    page.button.click()
    assert server.cancelled == ["explain"]


def test_a_heat_map_lies_over_its_sample(page: InsidePage, server: FakeServer) -> None:
    page.button.click()
    heat = np.array([[0.0, 1.0], [2.0, 4.0]])
    told = {"method": "gradcam", "target": "dog", "is_signed": False, "layer": "conv_1", "sample": SAMPLE}
    answer(page, server, told, heat=heat, picture=np.zeros((2, 2), np.uint8))
    (card,) = page.cards
    assert isinstance(card, FigureCard)
    view = card.content
    assert isinstance(view, HeatView)
    assert view.span == (0.0, 4.0)
    assert view.words(QPointF(2, 12)) == "row 0, column 0: 0"
    assert page.state.text() == "Sample 4 of the test split, labelled cat. Answer: dog (90.0 %), cat (10.0 %)."
    page.later.click()
    page._soon.timeout.emit()
    assert server.asked[-1].given["sample"] == "1"  # another sample is shown at once


@pytest.mark.parametrize(
    ("told", "arrays", "kind", "count"),
    [
        (
            {"method": "permutation", "features": [{"name": "a", "value": 2.0, "std": 0.1}], "measured": "RMSE"}
            | {"samples": 9, "repeats": 10},
            {},
            BarRows,
            1,
        ),
        (
            {"method": "partial_dependence", "outputs": ["y"], "is_share": False}
            | {"columns": [{"name": "a", "labels": [], "spread": 1}, {"name": "b", "labels": ["u", "v"], "spread": 2}]},
            {f"{name}_{n}": np.ones((2, 1)) for name in ("mean", "low", "high") for n in (0, 1)}
            | {"grid_0": np.array([0.0, 1.0]), "grid_1": np.arange(2.0)},
            BarRows,
            2,
        ),
        (
            {"method": "activations", "layer": "c", "channels": 3, "zeros": 0.5, "receptive_field": None}
            | {"histogram": {"low": 0.0, "high": 1.0, "counts": [1, 2]}},
            {"maps": np.ones((3, 2, 2))},
            Tiles,
            2,
        ),
        (
            {"method": "attention", "layers": [{"name": "a", "heads": 2, "steps": [3, 3]}]},
            {"attention_0": np.ones((2, 3, 3))},
            Tiles,
            1,
        ),
        (
            {"method": "max_activation", "names": ["cat"]},
            {"maps": np.zeros((1, 2, 2), np.uint8), "reached": np.ones(1)},
            Tiles,
            1,
        ),
        (
            {"method": "integrated_gradients", "target": "y", "features": [{"name": "a", "value": -1.0}]},
            {},
            BarRows,
            1,
        ),
    ],
)
def test_each_method_has_its_cards(page, server: FakeServer, told, arrays, kind, count: int) -> None:
    page.button.click()
    answer(page, server, told, **arrays)
    assert len(page.cards) == count
    assert isinstance(page.cards[0].content, kind)
    assert not page.grab().isNull()
    if told["method"] == "partial_dependence":
        assert isinstance(page.cards[1].content, DependencePlot)


def test_a_click_on_a_point_shows_its_sample(page: InsidePage, server: FakeServer) -> None:
    choose(page, "embedding")
    page.button.click()
    told: dict[str, Any] = {
        "method": "embedding",
        "classes": ["cat", "dog"],
        "texts": ["cat", "dog", "dog"],
        "layer": "c",
    }
    told |= {"samples": 3, "of": 3, "reduction": "pca", "explained": [0.5, 0.25]}
    points = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    labels = {"labels": np.array([0, 1, 1]), "predictions": np.array([0, 1, 0])}
    answer(page, server, told, points=points, places=np.array([0, 4, 9]), **labels)
    (card,) = page.cards
    assert isinstance(card, FigureCard)
    view = card.content
    assert isinstance(view, ScatterView)
    view.resize(600, 440)
    x, y = view.places()[2]
    assert view.words(QPointF(x, y)) == "sample 10: dog; answer cat"
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(x, y).toPoint())
    assert question_of(server) == {"method": "sample", "split": "test", "sample": "9"}
    answer(page, server, {"method": "sample", "sample": SAMPLE}, picture=np.zeros((4, 4), np.uint8))
    assert len(page.cards) == 2
    assert page.place.value() == 10


def test_a_refusal_calls_methods_as_they_are_offered(page: InsidePage, server: FakeServer) -> None:
    page.button.click()
    server.refuse("explain", "Grad-CAM is for images. Use permutation or integrated_gradients.")
    assert page.message.text() == "Grad-CAM is for images. Use Column importance or Integrated gradients."
    assert page.button.text() == "Show again"


def test_pictures_are_saved_and_copied(
    page: InsidePage, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.button.click()
    answer(page, server, {"method": "gradcam", "target": "dog", "is_signed": False}, heat=np.eye(3))
    (card,) = page.cards
    assert isinstance(card, FigureCard)
    menu = card.findChild(QMenu)
    assert menu is not None
    actions = {action.text(): action for action in menu.actions()}
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        name = tmp_path / f"a.{kind}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, name=name: (str(name), ""))
        actions[f"Save as {kind.upper()}…"].trigger()
        assert name.read_bytes().startswith(start)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a.csv"), ""))
    actions["Save values as CSV…"].trigger()
    assert server.asked[-1].given["output"] == str(tmp_path / "a.csv")
    server.answer("explain", {})


def test_a_sample_of_the_scores_is_explained(page: InsidePage, server: FakeServer) -> None:
    choose(page, "permutation")
    page.show_sample("test", 4)
    assert question_of(server) == {"method": "gradcam", "split": "test", "sample": "4"}
    choose(page, "occlusion")
    page.show_sample("test", 5)
    assert question_of(server) == {"method": "occlusion", "split": "test", "sample": "5"}
