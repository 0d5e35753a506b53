"""What a window gets beside predictions, forecasts from a table of time steps, and files of which one is bad."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.analysis.operations.predict import OPERATION, Prediction, PredictRequest, PredictResult
from netwright.engine.analysis.operations.predict import rows as table_rows
from netwright.engine.analysis.predict_request import SampleLook
from netwright.engine.analysis.predictions import predict
from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.source import Array, Arrays
from netwright.engine.project.preparation import ColumnPreparation, InputPreparation, Preparation, TargetPreparation


@dataclass
class Known:
    """A predictor that answers with the same outputs for each sample, and keeps its inputs."""

    record: Preparation
    answers: list[Array]
    assumed: tuple[str, ...] = ()
    given: Arrays = ()
    season: int = 0
    longest: int = 0
    num_devices: int = 1

    def pool(self, count: int) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(count)

    def cached(self, most: int) -> None:
        """Have none."""

    def outputs(self, inputs: Arrays) -> list[Array]:
        self.given = inputs
        return [np.stack([answer] * len(inputs[0])) for answer in self.answers]

    def target_picture(self, sample: Path, shape: tuple[int, ...]) -> Array | None:
        return None


def columns(*names: str) -> tuple[ColumnPreparation, ...]:
    return tuple(ColumnPreparation(name=name) for name in names)


@pytest.fixture
def forecaster() -> Known:
    """Three steps of load and heat, and two steps of heat ahead, give two steps of load."""
    history = InputPreparation(name="history", axes=("T", "C"), sizes=(3, 2), columns=columns("load", "heat"))
    future = InputPreparation(name="future", axes=("T", "C"), sizes=(2, 1), columns=columns("heat"))
    target = TargetPreparation(name="fc", source="load", task="numbers", axes=("C",), sizes=(2,))
    record = Preparation(kind="series", inputs=(history, future), targets=(target,))
    return Known(record, [np.array([7.0, 8.0])])


@pytest.fixture
def segmenter() -> Known:
    """Pictures of two by two pixels, of three classes."""
    given = InputPreparation(name="image", axes=("C", "H", "W"), sizes=(1, 2, 2), span=(0.0, 1.0))
    target = TargetPreparation(
        name="mask", task="classes", axes=("C", "H", "W"), sizes=(3, 2, 2), classes=("sky", "sea", "land")
    )
    scores = np.zeros((3, 2, 2))
    scores[[0, 1, 2, 2], [0, 0, 1, 1], [0, 1, 0, 1]] = 1.0
    return Known(Preparation(kind="arrays", inputs=(given,), targets=(target,)), [scores])


def test_the_newest_rows_of_a_table_are_forecast_from(forecaster: Known, tmp_path: Path) -> None:
    rows = [f"{step},{10 + step},{step + 1 if step < 5 else ''}" for step in range(7)]
    table = tmp_path / "load.csv"
    table.write_text("\n".join(["hour,heat,load", *rows]))
    look = SampleLook(forecaster, tmp_path / "look", 5)
    (answer,) = predict(forecaster, [table], look=look)
    assert answer["sample"] == f"{table}:7", "the first line that is predicted"
    assert answer["outputs"] == [{"name": "load", "value": [7.0, 8.0]}]
    history, future = forecaster.given
    assert history.tolist() == [[[3, 12], [4, 13], [5, 14]]]
    assert future.tolist() == [[[15], [16]]]
    assert answer["series"] == {"names": ["load", "heat"], "values": [[3, 4, 5], [12, 13, 14]]}
    assert "truth" not in answer, "the file does not have it"
    table.write_text(table.read_text().replace("15,\n6,16,", "15,6\n6,16,9"))
    (answer,) = predict(forecaster, [table], look=look)
    assert answer["truth"] == [6.0, 9.0]


def test_each_series_of_a_table_has_a_forecast_of_its_own(forecaster: Known, tmp_path: Path) -> None:
    forecaster.record = replace(forecaster.record, group_column="site")
    rows = [f"{site},{10 * step + site},{step if step < 4 else ''}" for step in range(6) for site in (2, 1)]
    table = tmp_path / "load.csv"
    table.write_text("\n".join(["site,heat,load", *rows, "3,1,1"]))
    look = SampleLook(forecaster, tmp_path / "look", 5)
    second, first, short = predict(forecaster, [table], look=look)
    assert [one["group"] for one in (second, first, short)] == ["2", "1", "3"]
    assert (second["sample"], first["sample"]) == (f"{table}:10", f"{table}:11")
    assert second["series"]["values"] == [[1, 2, 3], [12, 22, 32]]
    assert first["series"]["values"] == [[1, 2, 3], [11, 21, 31]]
    assert short["error"].endswith(
        'load.csv: the series "3" has 1 row. Expected at least 5 time steps, of which the last 2 are to be predicted.'
    )
    table.write_text("\n".join(row.partition(",")[2] for row in ("site,heat,load", *rows[::2])))
    (alone,) = predict(forecaster, [table])
    assert "group" not in alone, "a table without the column is one series"


def test_series_are_named_in_what_the_command_prints(forecaster: Known, tmp_path: Path) -> None:
    record = replace(forecaster.record, group_column="site")
    answer: Prediction = {"sample": "load.csv:10", "group": "north", "outputs": [{"name": "load", "value": [7.0, 8.0]}]}
    result = PredictResult(path="runs/first", predictions=[answer], record=record, assumed=())
    request = PredictRequest(model=Path("runs/first"), files=(Path("load.csv"),))
    assert list(OPERATION.text(request, result)) == ["load.csv:10 (north): 7 8"]
    head, row = table_rows(result)
    assert head[:2] == ["sample", "series"]
    assert row[:2] == ["load.csv:10", "north"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("heat,load\n1,2\n", "has 1 row. Expected at least 5 time steps, of which the last 2 are to be predicted"),
        ("heat,lod\n" + "1,2\n" * 6, 'has no column "load". Did you mean'),
        ("heat,load\n" + "1,\n" * 6, "expected a finite number, there is no value"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_words(forecaster: Known, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "load.csv").write_text(text)
    (tmp_path / "good.csv").write_text("heat,load\n" + "1,2\n" * 5)
    answer, _ = predict(forecaster, [tmp_path / "load.csv", tmp_path / "good.csv"])
    assert said in answer["error"]


def test_a_file_that_is_alone_and_does_not_fit_is_an_error(forecaster: Known, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        list(predict(forecaster, [tmp_path / "none.csv"]))


def test_one_of_several_files_is_told_to_be_bad(forecaster: Known, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("heat\n1\n")
    (tmp_path / "good.csv").write_text("heat,load\n" + "1,2\n" * 5)
    names = ("bad.csv", "none.csv", "good.csv")
    bad, none, good = predict(forecaster, [tmp_path / name for name in names])
    assert "has no column" in bad["error"]
    assert "No such file" in none["error"]
    assert good["outputs"][0]["value"] == [7.0, 8.0]


def test_pictures_are_shown_as_the_network_gets_them_with_their_masks(segmenter: Known, tmp_path: Path) -> None:
    for name in "ab":
        Image.fromarray(np.array([[0, 255], [51, 102]], np.uint8)).save(tmp_path / f"{name}.png")
    look = SampleLook(segmenter, tmp_path / "look", 1)
    first, second = predict(segmenter, [tmp_path / "a.png", tmp_path / "b.png"], look=look)
    assert np.asarray(Image.open(first["picture"])).tolist() == [[0, 255], [51, 102]]
    assert np.asarray(Image.open(first["outputs"][0]["mask"])).tolist() == [[0, 1], [2, 2]]
    assert first["outputs"][0]["shares"] == {"sky": 0.25, "sea": 0.25, "land": 0.5}
    assert "picture" not in second, "one sample was to be shown"
