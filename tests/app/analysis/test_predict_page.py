"""The page of predictions: what is asked of the engine, what answers look like, and what goes wrong in words."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QLineEdit

from netwright.app.analysis.forecast_plot import ForecastPlot
from netwright.app.analysis.predict_page import FIRST, NO_NETWORK, PredictPage
from netwright.app.analysis.prediction_answers import Legend, PictureView
from netwright.app.analysis.prediction_inputs import DrawingInput, RowInput, TextInput, usual_values
from netwright.app.analysis.prediction_table import AnswersModel
from netwright.app.processes import PendingRequest
from netwright.app.window import MainWindow
from netwright.designer import theme
from netwright.engine.project.preparation import (
    ColumnPreparation,
    InputPreparation,
    Normalization,
    Preparation,
    TargetPreparation,
    TextPreparation,
)
from tests.app.clipping import SMALL, settle
from tests.app.fake_server import FakeServer

RUN = Path("/runs/2")
DIGITS = InputPreparation(name="image", axes=("C", "H", "W"), sizes=(1, 8, 8), span=(0.0, 16.0))
DIGIT = TargetPreparation(name="digit", task="classes", axes=("C",), sizes=(3,), classes=("6", "7", "8"))
ROWS = InputPreparation(
    name="features",
    reads="columns",
    axes=("C",),
    sizes=(4,),
    columns=(
        ColumnPreparation(name="floor"),
        ColumnPreparation(name="facing", kind="category", categories=("east", "south")),
        ColumnPreparation(name="built", kind="date", parts=("year",)),
    ),
    normalization=Normalization(method="zscore", shift=(120.0, 0.3, 0.7, 1990.0), scale=(0.05, 1.0, 1.0, 0.1)),
)
TEXTS = InputPreparation(
    name="text",
    reads="text",
    axes=("T",),
    sizes=(None,),
    dtype="int64",
    text=TextPreparation(tokens="byte", vocabulary=256),
)
NUMBER = TargetPreparation(name="heating", task="numbers", axes=("C",), sizes=(1,), columns=("heating",))
TOP = [{"class": "7", "probability": 0.9}, {"class": "8", "probability": 0.1}]


def of_class(sample: str, **more: Any) -> dict[str, Any]:
    return {"sample": sample, "outputs": [{"name": "digit", "class": "7", "top": TOP}], **more}


@pytest.fixture
def page(server: FakeServer, qtbot) -> Iterator[PredictPage]:
    said: list[str] = []
    shell: Any = SimpleNamespace(server=server, documents=SimpleNamespace(base=Path("/")), hint=said.append)
    shell.show_error = lambda title, reason: said.append(f"{title}: {reason}")
    page = PredictPage(shell)
    page.said = said  # type: ignore[attr-defined]
    qtbot.addWidget(page)
    page.resize(960, 700)
    page.show()
    yield page
    page.shutdown()


def load(page: PredictPage, server: FakeServer, given: InputPreparation, target: TargetPreparation = DIGIT) -> None:
    """Choose a run whose network takes this."""
    page.set_run(RUN)
    record = Preparation(kind="x", inputs=(given,), targets=(target,))
    server.answer("predictor", {"preparation": record.write(), "assumed": []})


def pending(server: FakeServer, qtbot) -> PendingRequest:
    """The prediction that is asked for, once it is."""
    qtbot.waitUntil(lambda: any(request.do == "predict" for request in server.waiting))
    return next(request for request in server.waiting if request.do == "predict")


def test_in_a_low_window_the_pad_is_smaller_and_covers_nothing(window: MainWindow, server: FakeServer, qtbot) -> None:
    window.resize(*SMALL)
    window.show_tab("runs")
    segments = window.tabs.page("runs").monitor.segments  # type: ignore[attr-defined]  # the page of runs
    segments.choose("predict")
    page = segments.pages["predict"]
    page.use_network(Path("/digits.onnx"))
    record = Preparation(kind="x", inputs=(DIGITS,), targets=(DIGIT,))
    assumed = ["Pixels lie between 0 and 255, and the classes are those of the file, by number."]
    server.answer("predictor", {"preparation": record.write(), "assumed": assumed})
    settle(window)
    pad, pen = page.sample.pad, page.sample.pen
    assert pad.height() < pad.image.height(), "there is no room for all of it"
    assert pad.geometry().bottom() < pen.geometry().top()
    assert page.sample.rect().contains(page.sample.childrenRect())
    QTest.mouseClick(pad, Qt.MouseButton.LeftButton, pos=pad.rect().center())
    middle = pad.image.height() // 2
    assert pad.image.pixelColor(middle, middle).value() == 255, "what is drawn is where it is seen"


def test_what_is_drawn_is_predicted_as_the_network_gets_it(page: PredictPage, server: FakeServer, qtbot) -> None:
    load(page, server, DIGITS)
    assert page.panel.hint.text() == FIRST
    assert isinstance(page.sample, DrawingInput)
    pad = page.sample.pad
    QTest.mousePress(pad, Qt.MouseButton.LeftButton, pos=QPoint(100, 40))
    QTest.mouseMove(pad, QPoint(180, 40))
    QTest.mouseRelease(pad, Qt.MouseButton.LeftButton, pos=QPoint(180, 40))
    asked = pending(server, qtbot)
    drawn = QImage(asked.given["files"][0])
    assert (drawn.width(), drawn.pixelColor(100, 40).value(), drawn.pixelColor(20, 250).value()) == (280, 255, 0)
    server.answer("predict", {"predictions": [of_class("drawing.png")], "count": 1, "failed": 0})
    rows = page.panel.view.bars[0].rows
    assert [(row.cells, row.is_strong) for row in rows] == [(("7", "90.0 %"), True), (("8", "10.0 %"), False)]
    assert page.state.text().startswith("Answered in ")
    bars = page.panel.view.bars[0]
    page.sample.invert_button.click()
    assert QImage(pending(server, qtbot).given["files"][0]).pixelColor(20, 250).value() == 255
    server.answer("predict", {"predictions": [of_class("drawing.png")], "count": 1, "failed": 0})
    assert page.panel.view.bars[0] is bars, "nothing flickers while one draws"
    page.sample.clear_button.click()
    qtbot.waitUntil(lambda: page.panel.hint.text() == FIRST and page.panel.pages.currentIndex() == 0)


def test_changes_while_a_request_is_under_way_are_asked_once_with_the_newest(
    page: PredictPage, server: FakeServer, qtbot
) -> None:
    load(page, server, TEXTS)
    assert isinstance(page.sample, TextInput)
    page.sample.box.setPlainText("a")
    assert pending(server, qtbot).given["samples"] == ["a"]
    page.sample.box.setPlainText("ab")
    page.sample.box.setPlainText("abc")
    assert server.count("predict") == 1
    server.answer("predict", {"predictions": [of_class("1")], "count": 1, "failed": 0})
    assert pending(server, qtbot).given["samples"] == ["abc"]
    assert server.count("predict") == 2


def test_a_row_begins_with_usual_values_and_says_what_is_wrong(page: PredictPage, server: FakeServer, qtbot) -> None:
    load(page, server, ROWS, NUMBER)
    assert isinstance(page.sample, RowInput)
    row = {"floor": "120", "facing": "south", "built": "2024-01-31"}
    assert pending(server, qtbot).given["samples"] == [row]
    answer = {"sample": "1", "outputs": [{"name": "heating", "value": 1234.5678}]}
    server.answer("predict", {"predictions": [answer], "count": 1, "failed": 0})
    page.panel.copy()
    assert QGuiApplication.clipboard().text() == "1\t1,234.57"
    floor, facing = page.sample.fields["floor"], page.sample.fields["facing"]
    assert isinstance(floor, QLineEdit)
    assert isinstance(facing, QComboBox)
    QTest.keyClicks(floor, "x")
    facing.setCurrentIndex(0)
    assert pending(server, qtbot).given["samples"] == [{**row, "floor": "120x", "facing": "east"}]
    assert floor.property("invalid") is True
    server.refuse("predict", "Column 'floor', row 1: expected a finite number.")
    assert page.panel.hint.text() == "Column 'floor', row 1: expected a finite number."
    page.sample.reset_button.click()
    assert pending(server, qtbot).given["samples"] == [row]


def test_a_value_that_the_network_does_not_know_is_said_beside_the_answer(
    page: PredictPage, server: FakeServer, qtbot
) -> None:
    load(page, server, ROWS, NUMBER)
    said = "Column 'facing' holds \"up\", which the network does not know: all its inputs are 0."
    plain = {"sample": "1", "outputs": [{"name": "heating", "value": 1234.5}]}
    pending(server, qtbot)
    server.answer("predict", {"predictions": [{**plain, "warnings": [said]}], "count": 1, "failed": 0})
    assert said in [label.text() for label in page.panel.view.findChildren(QLabel)]
    page.panel.copy()
    quoted = said.replace('"', '""')
    assert QGuiApplication.clipboard().text() == f'1\t1,234.5\t"{quoted}"'
    assert isinstance(page.sample, RowInput)
    QTest.keyClicks(page.sample.fields["floor"], "1")
    pending(server, qtbot)
    server.answer("predict", {"predictions": [plain], "count": 1, "failed": 0})
    assert not any(label.text() == said and label.isVisible() for label in page.panel.view.findChildren(QLabel))
    page.predict_files(["/new/a.csv"])
    found = [plain, {**plain, "sample": "2", "warnings": [said]}]
    server.answer("predict", {"predictions": found, "count": 2, "failed": 0, "warned": 1})
    assert page.panel.note.text() == "2 samples, 1 with values that the network does not know"
    model = page.panel.table.model()
    assert "does not know" in model.index(1, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert model.index(1, 1).data(Qt.ItemDataRole.ForegroundRole) == theme.current().warning
    assert model.index(0, 1).data(Qt.ItemDataRole.ForegroundRole) is None


def test_usual_values_follow_from_the_normalisation() -> None:
    floor, facing, built = ROWS.columns
    assert usual_values(ROWS, floor, 0) == ("120", "mostly 80 to 160")
    assert usual_values(ROWS, facing, 1) == ("south", "")
    assert usual_values(ROWS, built, 3) == ("2024-01-31", "")
    bare = InputPreparation(name="f", reads="columns", axes=("C",), sizes=(1,), columns=(floor,))
    assert usual_values(bare, floor, 0) == ("", "")
    ranged = Normalization(method="rescale-zero-one", shift=(2.0,), scale=(0.5,))
    given = InputPreparation(name="f", axes=("C",), sizes=(1,), columns=(floor,), normalization=ranged)
    assert usual_values(given, floor, 0) == ("3", "2 to 4")


def test_ranges_are_those_of_the_data_and_counts_are_whole() -> None:
    """The normalisation of a column with 1 to 7 rooms would say 0.131 to 8.19."""
    rooms = ColumnPreparation(name="rooms", span=(1.0, 3.5, 7.0), numbers="whole")
    price = ColumnPreparation(name="price", span=(30_693.0, 250_000.5, 1_347_330.0))
    scaled = Normalization(method="zscore", shift=(4.16, 2.5e5), scale=(0.496, 1e-5))
    given = InputPreparation(
        name="f", reads="columns", axes=("C",), sizes=(2,), columns=(rooms, price), normalization=scaled
    )
    assert usual_values(given, rooms, 0) == ("4", "1 to 7")
    assert usual_values(given, price, 1) == ("250000", "30,693 to 1,347,330")


def test_several_files_are_a_table_with_pictures_errors_and_export(
    page: PredictPage, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(page, server, DIGITS)
    image = QImage(8, 8, QImage.Format.Format_Grayscale8)
    image.fill(QColor("white"))
    image.save(str(tmp_path / "shown.png"))
    page.predict_files(["/new/a.png", "/new"])
    server.tell("predict", 12300, 0, "samples")
    assert page.state.text() == "12,300 samples…"
    assert not page.cancel_button.isHidden()
    found = [
        of_class("/new/a.png", picture=str(tmp_path / "shown.png")),
        {"sample": "/new/b.png", "error": "no picture"},
    ]
    server.answer("predict", {"predictions": found, "count": 5000, "failed": 1})
    assert page.cancel_button.isHidden()
    assert page.panel.note.text() == "5,000 samples, 1 not used, the first 2 are listed"
    model = page.panel.table.model()
    assert isinstance(model, AnswersModel)
    cells = [[model.index(row, column).data() for column in range(3)] for row in range(2)]
    assert cells == [["a.png", "7", "90.0 %"], ["b.png", "no picture", ""]]
    assert not model.index(0, 0).data(Qt.ItemDataRole.DecorationRole).isNull()
    page.panel.table.selectRow(1)
    assert page.panel.view.answer == found[1]
    for name, form, written in (
        ("out.csv", "", "out.csv"),
        ("new", "Table (*.parquet)", "new.parquet"),
        ("f", "", "f"),
    ):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, name=name, form=form: (f"/to/{name}", form))
        page.panel.save_action.trigger()
        (request,) = (request for request in server.waiting if request.do == "predict")
        assert request.given["output"] == f"/to/{written}"
        assert request.given["files"] == ["/new/a.png", "/new"]
        assert not request.given.get("folder")
        if name == "f":
            server.refuse("predict", "/to/f is not empty.")
        else:
            server.answer("predict", {"path": "run", "output": f"/to/{written}", "count": 5000})
    assert page.said[-3:] == [  # type: ignore[attr-defined]
        *("Saved out.csv.", "Saved new.parquet.", "The answers cannot be saved: /to/f is not empty.")
    ]
    page.panel.copy()
    assert QGuiApplication.clipboard().text() == "/new/a.png\t7\t7 90.0 %\t8 10.0 %\n/new/b.png\tno picture"


def test_a_picture_made_of_a_picture_stands_beside_it_and_its_target(
    page: PredictPage, server: FakeServer, tmp_path: Path
) -> None:
    load(page, server, DIGITS, TargetPreparation(name="y", task="numbers", axes=("C", "H", "W"), sizes=(1, 8, 8)))
    files = {}
    for name, colour in (("picture", "black"), ("answer", "grey"), ("target", "white")):
        image = QImage(8, 8, QImage.Format.Format_Grayscale8)
        image.fill(QColor(colour))
        files[name] = str(tmp_path / f"{name}.png")
        image.save(files[name])
    output = {"name": "y", "value": {"lowest": 0.25, "mean": 0.5, "highest": 0.75}, "answer": files["answer"]}
    for targets, names in (({"target": files["target"]}, ["Sample", "Answer", "Target"]), ({}, ["Sample", "Answer"])):
        page.predict_files(["/new/a.png"])
        answer = {"sample": "/new/a.png", "picture": files["picture"], "outputs": [{**output, **targets}]}
        server.answer("predict", {"predictions": [answer], "count": 1, "failed": 0})
        views = [view for view in page.panel.view.findChildren(PictureView) if view.isVisible()]
        assert [view.accessibleName() for view in views] == names
        assert [view.grab().toImage().pixelColor(99, 99).lightness() for view in views] == [0, 128, 255][: len(names)]
    page.panel.copy()
    assert QGuiApplication.clipboard().text() == "/new/a.png\tlowest 0.25, mean 0.5, highest 0.75"


def test_files_can_be_cancelled_and_another_run_forgets_them(page: PredictPage, server: FakeServer) -> None:
    load(page, server, DIGITS)
    page.predict_files(["/new"])
    page.cancel_button.click()
    assert server.cancelled == ["predict"]
    assert page.panel.hint.text() == "Cancelled."
    page.set_run(Path("/runs/3"))
    assert page.record is None
    server.refuse("predictor", "The run has no weights yet.")
    assert page.message.text() == "The run has no weights yet."
    page.set_run(None)
    assert page.message.text() == NO_NETWORK


def test_pixels_and_forecasts_have_pictures_of_their_own(
    page: PredictPage, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(page, server, DIGITS)
    mask = QImage(8, 8, QImage.Format.Format_Grayscale8)
    mask.fill(1)
    mask.save(str(tmp_path / "mask.png"))
    shares = {"sky": 0.0, "sea": 1.0}
    output = {"name": "mask", "shares": shares, "mask": str(tmp_path / "mask.png")}
    page.panel.show_answers({"predictions": [{"sample": "a.png", "outputs": [output]}]})
    assert page.findChildren(Legend)[-1].rows == [(1, "sea", 1.0)]
    series = {"names": ["load", "heat"], "values": [[1.0, 2.0, 3.0], [9.0, 9.0, 9.0]]}
    ahead = {"name": "load", "value": [4.0, 5.0]}
    page.panel.show_answers({"predictions": [{"sample": "a.csv:4", "outputs": [ahead], "series": series}]})
    plot = page.findChildren(ForecastPlot)[-1]
    assert "step +2, forecast<br>load 5" in str(plot.readout(1.9)[1])
    known = {"sample": "a.csv:4", "outputs": [ahead], "series": series, "truth": [4.5, 6.0]}
    page.panel.show_answers({"predictions": [known]})
    plot = page.findChildren(ForecastPlot)[-1]
    assert "load 5<br>true 6<br>last value 3" in str(plot.readout(2.0)[1])
    assert "step +0, before<br>load 3" in str(plot.readout(0.2)[1])
    for kind in ("png", "svg"):
        name = tmp_path / f"a.{kind}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, name=name: (str(name), ""))
        next(action for action in page.panel.export_button.menu().actions() if kind.upper() in action.text()).trigger()
    assert QImage(str(tmp_path / "a.png")).width() == 2 * page.panel.view.width()
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


def test_each_series_has_a_forecast_that_names_it(page: PredictPage, server: FakeServer) -> None:
    load(page, server, TEXTS, NUMBER)
    ahead = {"name": "load", "value": [4.0, 5.0]}
    series = {"names": ["load"], "values": [[1.0, 2.0, 3.0]]}
    north = {"sample": "a.csv:4", "group": "north", "outputs": [ahead], "series": series}
    south = {"sample": "a.csv:7", "group": "south", "outputs": [ahead], "series": series}
    short = {"sample": "a.csv:9", "group": "west", "error": 'a.csv: the series "west" has 1 row.'}
    page.panel.show_answers({"predictions": [north, south, short], "count": 3, "failed": 1})
    model = page.panel.table.model()
    assert isinstance(model, AnswersModel)
    assert [model.text(answer, 0) for answer in model.answers] == ["north", "south", "west"]
    assert page.panel.note.text() == "3 series, 1 not used"
    assert page.findChildren(ForecastPlot)[-1].heading.startswith("load of north, next 2 steps")
    page.panel.table.selectRow(1)
    assert page.findChildren(ForecastPlot)[-1].heading.startswith("load of south, next 2 steps")
    page.panel.copy()
    assert "a.csv:7, south" in QGuiApplication.clipboard().text()


def test_an_onnx_file_takes_the_place_of_the_run(page: PredictPage, server: FakeServer) -> None:
    load(page, server, DIGITS)
    page.take(["/nets/elsewhere.onnx"])
    asked = next(request for request in server.waiting if request.do == "predictor")
    assert asked.given["path"] == str(Path("/nets/elsewhere.onnx"))
    record = Preparation(kind="onnx", inputs=(DIGITS,), targets=(DIGIT,))
    server.answer("predictor", {"preparation": record.write(), "assumed": ["Pixels are from 0 to 1."]})
    assert page.assumed.text() == "Assumed, since the file does not say: Pixels are from 0 to 1."
    page.options.pixels.setCurrentText("ImageNet")
    page.options.pixels.activated.emit(3)
    asked = next(request for request in server.waiting if request.do == "predictor")
    assert asked.given["pixels"] == "ImageNet"
    assert "weights" not in asked.given
    page.run_button.click()
    assert next(r for r in server.waiting if r.do == "predictor").given["path"] == str(RUN)


def test_pictures_files_and_tables_are_pasted(page: PredictPage, server: FakeServer, qtbot) -> None:
    load(page, server, DIGITS)
    image = QImage(4, 4, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    QGuiApplication.clipboard().setImage(image)
    page.paste()
    assert QImage(pending(server, qtbot).given["files"][0]).pixelColor(1, 1) == QColor("red")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/new/a.png")])
    QGuiApplication.clipboard().setMimeData(data)
    page.paste()
    assert pending(server, qtbot).given["files"] == ["/new/a.png"]
    QGuiApplication.clipboard().setText("hello")
    page.paste()
    assert page.panel.hint.text().startswith("There is nothing on the clipboard that the network takes.")
    load(page, server, ROWS, NUMBER)
    QGuiApplication.clipboard().setText("floor,facing\n1,east\n")
    page.paste()
    assert Path(pending(server, qtbot).given["files"][0]).read_text() == "floor,facing\n1,east\n"


def test_the_page_is_there_without_a_run(window: MainWindow) -> None:
    window.show_tab("runs")
    segments = window.training.monitor.segments
    segments.choose("predict")
    page = segments.stack.currentWidget()
    assert isinstance(page, PredictPage)
    assert page.message.text() == NO_NETWORK
