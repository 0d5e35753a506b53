"""An exported file says what its inputs take, and comes with code that feeds it."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.exchange.export import Exported, export
from netwright.engine.exchange.pytorch_export import demo_batch
from netwright.engine.layers.base import LayerType
from netwright.engine.lowering import weights_folder
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder, write_info
from netwright.engine.runs.info import RunInfo
from tests import warm
from tests.builders import chain, layer

TABLE = "area,side,price\n30,west,1.5\n90,east,2.5\n60,west,3.5\n45,east,2.25\n75,west,1.25\n"


def project(data: DataOptions, entry: LayerType, outputs: int, folder: Path, *, softmax: bool = True) -> Path:
    """Save a project with a small network for this data; return its file."""
    network = chain(entry, layer("fully_connected", outputs=outputs), *([layer("softmax")] if softmax else []))
    folder.mkdir(parents=True, exist_ok=True)
    save(Project(network, data=data), folder / "net.netwright")
    return folder / "net.netwright"


def pictures(folder: Path) -> Path:
    for number, name in enumerate(("cat", "dog")):
        (folder / "pictures" / name).mkdir(parents=True)
        for place in range(5):
            values = np.random.default_rng(10 * number + place).integers(0, 256, (9, 12, 3), np.uint8)
            Image.fromarray(values).save(folder / "pictures" / name / f"{place}.png")
    data = DataOptions(source="images", path="pictures", image_size=6)
    return project(data, layer("image_input", channels=3, size=6), 2, folder)


def table(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "houses.csv").write_text(TABLE)
    data = DataOptions(source="table", path="houses.csv", response="price", task="numbers")
    return project(data, layer("feature_input", channels=3), 1, folder, softmax=False)


def sequences(folder: Path, *, size: int = 2) -> Path:
    folder.mkdir(exist_ok=True)
    x = np.random.default_rng(0).normal(3.0, 1.0, (12, 7, size)).astype(np.float32)
    lengths = np.array([7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6])
    np.savez(folder / "waves.npz", x=x, x_lengths=lengths, y=np.array(["up", "down"] * 6))
    network = chain(
        layer("sequence_input", channels=size),
        layer("gru", hidden_units=4, output_mode="last"),
        layer("fully_connected", outputs=2),
    )
    save(Project(network, data=DataOptions(source="arrays", path="waves.npz")), folder / "net.netwright")
    return folder / "net.netwright"


def ran(done: Exported, folder: Path, *, is_fresh: bool = False) -> str:
    """Run the code that comes with an export, in a process of its own, and return what it prints."""
    if is_fresh:
        command = [sys.executable, "-I", "-c", done.code]
        process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    else:
        process = warm.run([], code=done.code, cwd=folder)
    assert process.returncode == 0, f"{process.stderr}\n{done.code}"
    return process.stdout


def said(path: Path) -> dict[str, str]:
    return {entry.key: entry.value for entry in onnx.load(path).metadata_props}


def test_an_onnx_file_tells_the_range_of_its_pixels(tmp_path: Path) -> None:
    done = export(pictures(tmp_path), "onnx", tmp_path / "net.onnx")
    (given,) = onnx.load(done.path).graph.input
    text = "pixels 0 to 255, float32, N × 3 × 6 × 6 (batch, channel, height, width)"
    assert given.doc_string.split("\n")[0] == text
    assert "not divided by 255; RGB" in given.doc_string
    (described,) = json.loads(said(done.path)["inputs"])
    assert (described["low"], described["high"], described["dtype"]) == (0, 255, "float32")
    assert described["shape"] == ["N", 3, 6, 6]
    assert described["name"] == given.name
    assert described["text"] == text
    assert [input.write() for input in done.inputs] == [described]
    assert done.classes == ("cat", "dog")


@pytest.mark.parametrize("format", ["onnx", "pytorch"])
def test_the_code_reads_a_picture_as_training_does(format: str, tmp_path: Path) -> None:
    suffix = {"onnx": "onnx", "pytorch": "py"}[format]
    done = export(pictures(tmp_path), format, tmp_path / f"my net's.{suffix}")
    lines = ran(done, tmp_path, is_fresh=True).splitlines()
    assert {line.partition(":")[0] for line in lines} == {"cat", "dog"}
    names: dict[str, object] = {}
    exec(done.code, names)
    scores, values = names["scores"], names["x"]
    assert isinstance(scores, np.ndarray)
    assert isinstance(values, np.ndarray)
    assert scores.sum() == pytest.approx(1.0, abs=1e-5)
    assert (values.shape, values.dtype) == ((1, 3, 6, 6), np.float32)
    assert values.max() > 100.0
    from netwright.engine.data.sources.image_file import read

    folder = next(line.split('"')[1] for line in done.code.splitlines() if line.startswith("picture = Image"))
    np.testing.assert_array_equal(values[0], read(Path(folder), "rgb", 6, 6))


@pytest.mark.parametrize("format", ["onnx", "pytorch"])
def test_the_code_feeds_a_row_by_the_names_of_its_columns(format: str, tmp_path: Path) -> None:
    suffix = {"onnx": "onnx", "pytorch": "py"}[format]
    done = export(table(tmp_path), format, tmp_path / f"houses.{suffix}")
    assert '"side=west": ' in done.code
    assert "# In the data its price is " in done.code
    assert ran(done, tmp_path).startswith("price: ")


@pytest.mark.parametrize(("format", "size"), [("onnx", 2), ("pytorch", 300)])
def test_the_code_feeds_a_sequence_without_its_padding(format: str, size: int, tmp_path: Path) -> None:
    suffix = {"onnx": "onnx", "pytorch": "py"}[format]
    done = export(sequences(tmp_path, size=size), format, tmp_path / f"waves.{suffix}")
    assert {line.partition(":")[0] for line in ran(done, tmp_path).splitlines()} == {"up", "down"}
    assert ("np.load(" in done.code) == (size == 300)
    assert "numbers" in done.inputs[0].short()
    assert "the data has 4 to 7 steps" in " ".join(done.inputs[0].lines())


def test_the_columns_of_a_table_stand_in_the_file_with_their_ranges(tmp_path: Path) -> None:
    done = export(table(tmp_path), "pytorch", tmp_path / "houses.py")
    text = done.path.read_text()
    assert "3 columns in this order (area, side=east, side=west), float32, N × 3 (batch, channel)" in text
    assert "    area: " in text
    ranges = done.inputs[0].range
    assert ranges is not None
    assert 30.0 <= ranges.low[0] < ranges.high[0] <= 90.0


def test_the_demonstration_feeds_the_range_of_the_data(tmp_path: Path) -> None:
    for make, expected in (
        (pictures, "torch.randint(0, 256, (4, 3, 6, 6)).to(torch.float32)"),
        (sequences, "torch.empty(4, 4, 2).uniform_("),
        (table, "torch.tensor([["),
    ):
        folder = tmp_path / make.__name__
        folder.mkdir()
        done = export(make(folder), "pytorch", folder / "net.py")
        text = done.path.read_text()
        assert expected in text
        assert "torch.rand(" not in text
        batch = eval(demo_batch(done.inputs[0], 4, 16), {"torch": torch})
        ranges = done.inputs[0].range
        assert ranges is not None
        assert batch.dtype == torch.float32
        assert ranges.bounds[0] - 1e-3 <= batch.min() <= batch.max() <= ranges.bounds[1] + 1e-3


def test_a_name_from_a_file_ends_no_comment_and_no_docstring(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text('"a""""""\\","x # \'{ = y",y\n1,2,3.5\n4,5,6.5\n7,8,9\n')
    data = DataOptions(source="table", path="odd.csv", task="numbers")
    done = export(
        project(data, layer("feature_input", channels=2), 1, tmp_path, softmax=False), "pytorch", tmp_path / "odd.py"
    )
    compile(done.path.read_text(), "odd.py", "exec")
    assert ran(done, tmp_path).startswith("y: ")


def run_of(path: Path, folder: Path, *, facts: bool = True) -> RunFolder:
    """Make the folder of a finished run of a project, with weights that are all 1 (best) and all 2 (last)."""
    from netwright.engine.data.loading.load import facts as facts_of
    from netwright.engine.project.file import load

    loaded = load(path).project
    run = RunFolder(folder)
    folder.mkdir()
    save(loaded, run.project)
    module = build(loaded.network, analyse(loaded.network))
    dataset = {"dataset": facts_of(loaded.data, path.parent).write()} if facts else {}
    for name, value in (("best", 1.0), ("last", 2.0)):
        state = {key: torch.full_like(tensor, value) for key, tensor in module.state_dict().items()}
        weights_folder.save(state, folder / name, dataset)
    write_info(run, RunInfo(state="finished", base=str(path.parent), name="net", kept="best"))
    return run


def test_best_and_last_weights_can_be_chosen(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    run = run_of(table(tmp_path), tmp_path / "run")
    for chosen, value in (("", 1.0), ("best", 1.0), ("last", 2.0)):
        done = export(run.path, "pytorch", tmp_path / "net.py", weights_kept=chosen, replaces=True)
        state = load_file(done.path.with_suffix(".safetensors"))
        assert all((tensor == value).all() for tensor in state.values())
    with pytest.raises(UserError, match="is a project, which has no best weights"):
        export(run.project, "pytorch", tmp_path / "net.py", weights_kept="best")
    for part in run.best.iterdir():
        part.unlink()
    run.best.rmdir()
    with pytest.raises(UserError, match="has no best weights"):
        export(run.path, "pytorch", tmp_path / "net.py", weights_kept="best", replaces=True)


def test_a_run_whose_data_is_gone_still_tells_what_it_takes(tmp_path: Path) -> None:
    run = run_of(table(tmp_path), tmp_path / "run")
    (tmp_path / "houses.csv").unlink()
    done = export(run.path, "onnx", tmp_path / "net.onnx")
    assert done.inputs[0].columns == ("area", "side=east", "side=west")
    assert (
        "mean ± 2 standard deviations of the training data" in json.loads(said(done.path)["inputs"])[0]["range_basis"]
    )
    assert "random" in done.code
    assert ran(done, tmp_path).startswith("price: ")
