"""Names of classes, columns, layers and files with bidirectional controls: the Test page shows them as commands do."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PySide6.QtWidgets import QWidget

from netwright.app.analysis.groups_card import GroupsCard
from netwright.app.analysis.inside_page import InsidePage
from netwright.app.analysis.predict_page import PredictPage
from netwright.app.analysis.scores_page import ScoresPage
from netwright.app.dialogs.transfer_learning import TransferDialog
from netwright.app.exchange.export_dialog import ExportDialog
from netwright.designer.markup import visible
from netwright.engine.network.network import Network
from netwright.engine.project.file import save
from netwright.engine.project.preparation import ColumnPreparation, InputPreparation, Preparation, TargetPreparation
from netwright.engine.project.project import Project
from tests.app.analysis.test_scores_page import CLASSES, result
from tests.app.fake_server import FakeServer
from tests.app.test_hostile_text import BIDI, shown_texts
from tests.builders import classifier

NAME = "a\u202egpj.\u2066x\u2069"


def check_visible(page: QWidget) -> None:
    """No widget shows a control, and one at least shows the name."""
    texts = [text for widget in (page, *page.findChildren(QWidget)) for _, text in shown_texts(widget)]
    assert not [text for text in texts if set(BIDI) & set(text)]
    assert any(visible(NAME) in text for text in texts)


def shell_of(server: FakeServer, base: Path) -> Any:
    return SimpleNamespace(
        server=server, documents=SimpleNamespace(base=base), hint=str, show_error=print, dialog_parent=None
    )


def test_scores_groups_and_curves(server: FakeServer, qtbot) -> None:
    page = ScoresPage(shell_of(server, Path("/")))
    qtbot.addWidget(page)
    page.set_run(Path("/runs/2"))
    page.button.click()
    rows = [{**row, "class": f"{NAME} {row['class']}"} for row in CLASSES["per_class"]]
    names = [row["class"] for row in rows]
    points = [[0.9, 1, 0], [0.4, 1, 1]]
    curves = [
        {"class": name, "auc": 0.5, "average_precision": 0.5, "points": points, "positives": 1, "negatives": 1}
        for name in names
    ]
    target = {**CLASSES, "name": NAME, "classes": names, "per_class": rows, "curves": curves}
    answer = {**result(target, {f"recall {NAME}": 0.5}), "data": NAME, "groupings": [NAME], "notes": [NAME]}
    server.answer("evaluate", answer)
    check_visible(page)
    row = {"group": NAME, "samples": 4, "metrics": {"accuracy": 0.75}, "intervals": {"accuracy": [0.5, 1.0]}}
    groups = page.findChildren(GroupsCard)
    for card in groups:
        card.by.setCurrentIndex(1)
        card.by.activated.emit(1)
        target = {"name": NAME, "whole": {"accuracy": 0.75}, "groups": [row]}
        server.answer("evaluate", {"groups": {"by": NAME, "note": NAME, "targets": [target]}})
    assert groups
    check_visible(page)


def test_the_look_inside(server: FakeServer, qtbot, tmp_path: Path) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    save(Project(hostile_network()), folder / "project.netwright")
    record = {
        "version": 1,
        "kind": "images",
        "inputs": [{"name": "image", "reads": "image", "axes": ["C", "H", "W"], "sizes": [1, 4, 4]}],
        "targets": [{"name": NAME, "task": "classes", "axes": ["C"], "sizes": [2], "classes": [NAME, "dog"]}],
    }
    (folder / "preparation.json").write_text(json.dumps(record))
    page = InsidePage(shell_of(server, tmp_path))
    qtbot.addWidget(page)
    page.set_run(folder)
    check_visible(page)


def test_a_prediction(server: FakeServer, qtbot) -> None:
    page = PredictPage(shell_of(server, Path("/")))
    qtbot.addWidget(page)
    page.show()
    page.set_run(Path("/runs") / NAME)
    columns = (
        ColumnPreparation(name=NAME, kind="category", categories=(NAME, "b")),
        ColumnPreparation(name=f"{NAME} 2"),
    )
    given = InputPreparation(name=NAME, reads="columns", axes=("C",), sizes=(3,), columns=columns)
    target = TargetPreparation(name=NAME, task="classes", axes=("C",), sizes=(2,), classes=(NAME, "b"))
    record = Preparation(kind="table", inputs=(given,), targets=(target,))
    server.answer("predictor", {"preparation": record.write(), "assumed": []})
    qtbot.waitUntil(lambda: any(request.do == "predict" for request in server.waiting))
    top = [{"class": NAME, "probability": 0.9}, {"class": "b", "probability": 0.1}]
    output = {"name": NAME, "class": NAME, "top": top}
    server.answer(
        "predict",
        {"predictions": [{"sample": NAME, "outputs": [output, output], "warnings": [NAME]}], "count": 1, "failed": 0},
    )
    check_visible(page)
    page.shutdown()


def test_dialogs_on_networks(server: FakeServer, qtbot, tmp_path: Path) -> None:
    project = Project(hostile_network())
    project = project.with_section("weights", project.weights.replace(file=f"{NAME}.safetensors"))
    transfer = TransferDialog(project, tmp_path, server, None, run=(NAME, tmp_path / NAME))
    export = ExportDialog(project, tmp_path, None, tmp_path / "net.onnx")
    for dialog in (transfer, export):
        qtbot.addWidget(dialog)
        dialog.show()
        texts = [text for widget in (dialog, *dialog.findChildren(QWidget)) for _, text in shown_texts(widget)]
        assert not [text for text in texts if set(BIDI) & set(text)]
    assert visible(NAME) in transfer.freeze.itemText(1)


def hostile_network() -> Network:
    network = classifier()
    for layer in network.layers.values():
        network = network.with_layer(layer.renamed(f"{NAME} {layer.name}"))
    return network
