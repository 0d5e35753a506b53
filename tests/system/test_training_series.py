"""Time series and sequences train end to end, and a forecast stands beside those that need no network."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.cli.schema_command import document
from netwright.engine.layers.base import LayerType
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load as load_project
from netwright.engine.project.project import Project
from tests import warm
from tests.builders import chain, layer
from tests.json_schema import violations
from tests.runs import train

EXAMPLES = Path(__file__).parents[2] / "resources" / "examples"
ADAM = {"solver": "adam", "initial_learn_rate": 0.01, "mini_batch_size": 32, "metrics": ("rmse", "mae")}


def run(folder: Path, data: DataOptions, *types: LayerType, **options: Any) -> dict[str, Any]:
    """Train a chain of layers on data in this folder."""
    project = Project(chain(*types))
    project = replace(
        project,
        data=data.replace(path=str(folder / data.path)),
        environment=project.environment.replace(**{"target": "cpu", "threads": 1, **options.pop("environment", {})}),
        training=project.training.replace(**{**ADAM, **options}),
    )
    return train(project, folder / "run").result


def series(folder: Path, *, count: int = 400) -> DataOptions:
    """A noisy daily season of two sites, whose times have a gap."""
    random = np.random.default_rng(0)
    lines = [
        f"{hour + 50 * (hour > 200)},{site},{np.sin(2 * np.pi * hour / 24) + site + random.normal(0, 0.1):.4f}"
        for site in (0, 1)
        for hour in range(count)
    ]
    (folder / "s.csv").write_text("\n".join(["hour,site,load", *lines]) + "\n")
    return DataOptions(source="series", path="s.csv", time_column="hour", group_column="site", lags=24, horizon=6)


NETWORK = (
    layer("sequence_input", channels=1, length=24),
    layer("flatten"),
    layer("fully_connected", outputs=16),
    layer("tanh"),
    layer("fully_connected", outputs=6),
    layer("inverse_norm", numbers="fitted"),
)


def rising(folder: Path) -> None:
    """Months of a large number that rises, with a season."""
    random = np.random.default_rng(1)
    month = np.arange(360)
    values = 4000 + 60 * month + 900 * np.sin(2 * np.pi * month / 12) + random.normal(0, 60, 360)
    lines = [f"{1990 + place // 12}-{1 + place % 12:02},{value:.1f}" for place, value in enumerate(values)]
    (folder / "rising.csv").write_text("\n".join(["month,sold", *lines]) + "\n")


def test_a_made_forecast_of_what_rises_is_better_than_repeating_it(tmp_path: Path) -> None:
    rising(tmp_path)
    made = warm.run(["new", "--data", "rising.csv", "--set", "data.horizon=6"], cwd=tmp_path, timeout=100)
    assert made.returncode == 0, made.stderr
    trained = warm.run(["train", "rising.netwright", "--run-dir", "run", "--json"], cwd=tmp_path, timeout=100)
    assert trained.returncode == 0, trained.stderr
    told = json.loads(trained.stdout)["baselines"]
    assert told["season"] == 12
    network = json.loads(trained.stdout)["test"]["rmse"]
    assert network < 0.8 * told["test"]["season of 12"]["rmse"]
    linear = told["test"]["linear model"]["rmse"]
    assert told["network"]["test"]["skill"] == pytest.approx(1 - network / linear)


@pytest.mark.parametrize("name", ["narx", "lstm_forecaster", "tcn_forecaster"])
def test_a_template_for_forecasts_does_not_diverge(name: str, tmp_path: Path) -> None:
    rising(tmp_path)
    fitted = (["new", name, "--data", "rising.csv"], ["check", f"{name}.netwright", "--fit"])
    for words in fitted:
        assert warm.run(list(words), cwd=tmp_path, timeout=100).returncode in (0, 2)
    train = ["train", f"{name}.netwright", "--json", "--set", "training.max_epochs=3"]
    trained = warm.run(train, cwd=tmp_path, timeout=100)
    assert trained.returncode == 0, trained.stderr
    assert json.loads(trained.stdout)["validation"]["loss"] < 100


def test_the_example_learns_more_than_repeating_a_season(tmp_path: Path) -> None:
    project = load_project(EXAMPLES / "power.netwright").project
    project = replace(
        project,
        data=project.data.replace(path=str(EXAMPLES / project.data.path)),
        environment=project.environment.replace(target="cpu", threads=1),
        training=project.training.replace(max_epochs=8),
    )
    done = train(project, tmp_path / "run")
    told = done.result["baselines"]
    assert told["season"] in (24, 168)
    season = told["test"][f"season of {told['season']}"]
    assert done.result["test"]["rmse"] < season["rmse"] < told["test"]["last value"]["rmse"]
    assert told["network"]["test"]["skill"] > -0.1
    assert told["network"]["test"]["mase"] < season["mase"]
    written = json.loads(done.folder.result.read_text())
    assert list(violations(written, document("result"))) == []
    export = warm.run(["export", "run", "--format", "onnx", "-o", "power.onnx"], cwd=tmp_path, timeout=100)
    assert export.returncode == 0, export.stderr
    assert "history: 3 columns in this order (demand_mw, temperature, workday)" in export.stdout
    ended = json.loads(done.folder.events.read_text().splitlines()[-1])
    assert ended["result"]["baselines"] == told


def test_series_by_group_train_the_same_on_two_workers(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = run(tmp_path / "one", series(tmp_path / "one"), *NETWORK, max_epochs=6, normalize_targets=True)
    environment = {"target": "multi-cpu", "num_workers": 2}
    two = run(
        tmp_path / "two",
        series(tmp_path / "two"),
        *NETWORK,
        max_epochs=6,
        normalize_targets=True,
        environment=environment,
    )
    assert one["test"]["rmse"] < one["baselines"]["test"]["last value"]["rmse"]
    assert two["test"]["rmse"] == pytest.approx(one["test"]["rmse"], rel=1e-4)
    assert two["baselines"]["test"] == one["baselines"]["test"]
    done = warm.run(["predict", "run", "s.csv", "--json"], cwd=tmp_path / "one", timeout=100)
    assert done.returncode == 0, done.stderr
    predictions = json.loads(done.stdout)["predictions"]
    assert [answer["group"] for answer in predictions] == ["0", "1"]
    means = [np.mean(answer["outputs"][0]["value"]) for answer in predictions]
    assert means[1] - means[0] == pytest.approx(1, abs=0.3), "each forecast is that of its own site"


@pytest.mark.parametrize("loading", ["memory", "stream"])
def test_sequences_of_class_folders_train(tmp_path: Path, loading: str) -> None:
    random = np.random.default_rng(1)
    for number in range(80):
        place = tmp_path / "data" / ("up" if number % 2 else "down")
        place.mkdir(parents=True, exist_ok=True)
        slope = 0.3 if number % 2 else -0.3
        values = slope * np.arange(random.integers(4, 12)) + random.normal(0, 0.2)
        (place / f"{number}.csv").write_text("x,y\n" + "".join(f"{v:.4f},{random.normal():.4f}\n" for v in values))
    types = (
        layer("sequence_input", channels=2),
        layer("lstm", hidden_units=8, output_mode="last"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    data = DataOptions(source="sequences", path="data", loading=loading)
    result = run(tmp_path, data, *types, max_epochs=25, metrics=("auto",))
    assert result["test"]["accuracy"] >= 0.9
    assert list(result["baselines"]["test"]) == ["most frequent class"]
