"""The dialog of the roofline: points where the numbers say, a click that leads to the layer, files that it writes."""

from pathlib import Path
from typing import Any

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtWidgets import QFileDialog

from netwright.app.frame.roofline import RooflineDialog
from netwright.app.window import MainWindow
from netwright.engine.project.file import loads
from tests.app.fake_server import FakeServer
from tests.builders import chain, layer

NETWORK = chain(layer("feature_input", channels=4), layer("fully_connected", outputs=3), layer("relu"))
DEVICE = {"device": {"name": "cpu", "batch": 64, "threads": 2, "peak_flops": 1e9, "peak_bytes": 1e8}}


def cost(path: str, flops: int, moved: int) -> dict[str, Any]:
    times = {"forward_s": 1e-3, "backward_s": 1e-3, "roof": 0.4}
    return {
        "layer": {"path": path, "name": "fc", "type": "Fully connected", "flops": flops, "moved_bytes": moved, **times}
    }


@pytest.fixture
def dialog(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> RooflineDialog:
    window.editor.edit_network("Make", lambda _: NETWORK)
    monkeypatch.setattr(window.layer_times, "start", lambda: None)
    dialog = RooflineDialog(window, window.layer_times)
    dialog.show()
    return dialog


def test_a_layer_lies_at_its_intensity_and_leads_to_the_canvas(window: MainWindow, dialog: RooflineDialog) -> None:
    fc, relu = list(window.editor.network.layers)[1:]
    for line in (DEVICE, cost(fc, 200_000, 10_000), cost(relu, 0, 500)):
        window.layer_times.process.said.emit(line)
    plot = dialog.plot
    assert [one["path"] for one in plot.costs] == [fc], "a layer without FLOPs has no place"
    x, y = plot._points.getData()
    assert (10 ** x[0], 10 ** y[0]) == pytest.approx((20.0, 2e8))
    roof_x, roof_y = plot._roof.getData()
    assert 10 ** roof_x[1] == pytest.approx(10.0), "the bend"
    assert np.diff(roof_y)[1] == pytest.approx(0.0)
    assert "40 % of what the device allows" in plot.readout(15.0)[1]
    plot.layer_clicked.emit(fc)
    assert window.editor.selection == {fc}
    spot = plot.view.mapViewToScene(pg.Point(x[0], y[0]))
    assert plot.layer_at(spot.x() + 3, spot.y()) == fc
    assert plot.layer_at(spot.x() + 300, spot.y()) == ""
    dialog.close()


def test_the_trace_and_the_plot_are_saved(
    window: MainWindow, server: FakeServer, dialog: RooflineDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fc = list(window.editor.network.layers)[1]
    for line in (DEVICE, cost(fc, 200_000, 10_000)):
        window.layer_times.process.said.emit(line)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a"), ""))
    for kind in ("csv", "svg", "png"):
        dialog.export(kind, "")
        assert (tmp_path / f"a.{kind}").stat().st_size > 50
    dialog.save_trace()
    (request,) = (request for request in server.asked if request.do == "profile")
    assert request.given["trace"] == str(tmp_path / "a.json")
    assert loads(request.given["text"]).project.network == window.editor.network
    server.answer("profile", {"trace": request.given["trace"]})
    assert "Wrote a.json" in window.status.hints.text()
    dialog.save_trace()
    dialog.close()
    assert server.cancelled == ["profile"]
