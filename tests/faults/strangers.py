"""Files from a stranger of every kind that is opened, each of which names an address; and all that looks at them.

python -m tests.faults.strangers FOLDER
"""

import csv
import json
import shutil
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from onnx import TensorProto, helper
from torch import nn

from netwright.engine.cli.main import main as command
from netwright.engine.cli.request_handlers import answer
from netwright.engine.core.fields import FilePath
from netwright.engine.core.records import Record
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import dumps, load, save
from netwright.engine.project.project import SECTIONS, Project
from netwright.engine.project.sources.source_catalog import SOURCES
from netwright.engine.runs.experiments import ExperimentInfo, create_experiment
from tests.builders import chain, layer

ADDRESS = "http://192.0.2.1"
"""It leads nowhere (RFC 5737)."""
GOLDEN = Path(__file__).parents[1] / "golden"
NETWORK = chain(layer("feature_input", channels=1), layer("fully_connected", outputs=2), layer("softmax"))


def with_addresses(record: Record, **values: Any) -> Record:
    """The record with an address in each option of a file that takes one."""
    named: dict[str, Any] = {
        name: f"{ADDRESS}/{name}.csv" for name, field in record.fields.items() if isinstance(field, FilePath)
    }
    record = record.replace(**values)
    return record.replace(**{name: value for name, value in named.items() if record.is_visible(name)})


def projects() -> Iterator[tuple[str, Project]]:
    """One per source, and one with thousands of shards."""
    for source in SOURCES:
        project = Project(NETWORK)
        for name, record in SECTIONS.items():
            changed = with_addresses(project.section(name), **({"source": source} if record is DataOptions else {}))
            project = project.with_section(name, changed)
        if "constants" in SECTIONS:
            project = project.with_section("constants", SECTIONS["constants"](file=f"{ADDRESS}/c.safetensors"))
        yield source, project
    yield "many", Project(NETWORK, data=DataOptions(source="shards", path=f"{ADDRESS}/{{0000..4999}}.tar"))
    yield "guessed", Project(NETWORK, data=DataOptions(path=f"{ADDRESS}/train.csv"))


def networks(folder: Path) -> Iterator[Path]:
    """Networks of other programs, with an address where they name files."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [3, 3], bytes(36), raw=True)
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=f"{ADDRESS}/weights.bin")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "net", ends[:1], ends[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"url": f"{ADDRESS}/model"})
    (folder / "net.onnx").write_bytes(model.SerializeToString())
    yield folder / "net.onnx"
    program = torch.export.export(nn.Linear(3, 2).eval(), (torch.ones(2, 3),))
    torch.export.save(program, folder / "net.pt2", extra_files={"url": f"{ADDRESS}/x"})
    yield folder / "net.pt2"
    with zipfile.ZipFile(GOLDEN / "keras" / "words.keras") as old, zipfile.ZipFile(folder / "net.keras", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b'"vocabulary": null', f'"vocabulary": "{ADDRESS}/v.txt"'.encode()))
    yield folder / "net.keras"
    torch.save({"url": f"{ADDRESS}/x", "weight": torch.ones(2)}, folder / "net.pth")
    yield folder / "net.pth"


def tables(folder: Path) -> Iterator[Path]:
    """Data with addresses for contents, and for the names of files."""
    for name, suffix in (("numbers", "csv"), ("images", "png"), ("sounds", "wav"), ("shards", "tar")):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(
                [["file", "label"], *([f"{ADDRESS}/{i}.{suffix}", "ab"[i % 2]] for i in range(9))]
            )
        yield folder / f"{name}.csv"
    held = [{"bytes": None, "path": f"{ADDRESS}/{number}.png"} for number in range(9)]
    pq.write_table(pa.table({"image": held, "label": list(range(9))}), folder / "images.parquet")
    yield folder / "images.parquet"
    with h5py.File(folder / "linked.h5", "w") as file:
        file["x"] = h5py.ExternalLink(f"{ADDRESS}/x.h5", "/x")
        file["y"] = list(range(9))
    yield folder / "linked.h5"


def run_of(folder: Path, project: Project) -> Path:
    """A finished run, whose record is a stranger's too."""
    run = shutil.copytree(GOLDEN / "runs" / "2_finished", folder / "run")
    theirs = replace(load(run / "project.netwright").project, data=project.data)
    (run / "project.netwright").write_text(dumps(theirs))
    record = {"profile": "lab", "kind": "ssh", "host": "192.0.2.1", "folder": "/job", "job": "7"}
    (run / "cluster.json").write_text(json.dumps(record))
    return run


class Looks:
    """Requests to the engine and commands, counted; what is wrong with a file is said in words."""

    def __init__(self) -> None:
        self.count = 0

    def ask(self, do: str, **values: Any) -> None:
        """Send a request, which may fail but for no defect of ours."""
        self.count += 1
        said = answer({"id": self.count, "do": do, "with": values})
        assert not said.get("error", {}).get("defect"), (do, values, said)

    def run(self, *words: object) -> None:
        """Run a command, which may fail but not with a traceback."""
        self.count += 1
        assert command(list(map(str, words))) in (0, 2, 3, 4, 5), words


def look(folder: Path) -> int:
    """Look at everything, and return how often."""
    looks = Looks()
    for name, project in projects():
        path = folder / f"{name}.netwright"
        save(project, path)
        look_at_project(looks, folder, path, project)
    for path in networks(folder):
        looks.ask("guess", path=str(path))
        looks.ask("import", file=str(path), output=str(path.with_suffix(".netwright")), force=True)
        looks.ask("predictor", path=str(path))
        looks.run("weights", "match", folder / "table.netwright", "--from", path)
    for path in tables(folder):
        looks.ask("guess", path=str(path))
        looks.run("data", "inspect", path)
        looks.run("data", "check", path)
    project = load(folder / "table.netwright").project
    look_at_run(looks, folder, run_of(folder, project))
    info = ExperimentInfo(name="theirs", base=str(folder), objectives=("validation.loss",), state="stopped")
    experiment = create_experiment(folder / "table.netwright", "theirs", dumps(project), info)
    for way in ("status", "best"):
        looks.run("experiment", way, experiment.path)
    for way in ("report", "export"):
        looks.run("experiment", way, experiment.path, "-o", folder / f"{way}.html")
    return looks.count


def look_at_project(looks: Looks, folder: Path, path: Path, project: Project) -> None:
    """Look at a project and its data, and train it."""
    data, base = project.data.write(), str(folder)
    looks.ask("facts", data=data, base=base)
    looks.ask("check_data", data=data, base=base)
    for do in ("preview", "first_samples"):
        looks.ask(do, data=data, base=base, folder=str(folder / "pictures"), count=3)
    looks.ask("weights match", project=base, text=dumps(project), base=base)
    looks.ask("experiment begin", project=dumps(project), base=base, project_path=str(path))
    looks.ask("train", project=dumps(project), project_path=str(path), data=data, base=base)
    for words in (["check"], ["check", "--fit"], ["draw", "-o", folder / "net.svg"], ["runs"]):
        looks.run(*words[:1], path, *words[1:])
    looks.run("compare", path, folder / "table.netwright")
    looks.run("export", path, "--format", "pytorch", "-o", folder / "net.py", "--force")


def look_at_run(looks: Looks, folder: Path, theirs: Path) -> None:
    """Look at a run, and at the weights in it."""
    looks.ask("predictor", path=str(theirs))
    for do in ("data_changes", "resume"):
        looks.ask(do, run_dir=str(theirs))
    looks.ask("evaluate", model=str(theirs))
    looks.ask("evaluate", model=str(theirs), against=str(theirs))
    looks.ask("explain", model=str(theirs), method="sample", folder=str(folder / "pictures"))
    for words in (
        ["show"],
        ["follow"],
        ["report", "-o", folder / "r.html"],
        ["curves", "-o", folder / "c.csv"],
        ["stop"],
    ):
        looks.run(*words[:1], theirs, *words[1:])
    for inner in ("best", "last", "checkpoints"):
        looks.ask("guess", path=str(theirs / inner))
        looks.run("weights", "match", folder / "table.netwright", "--from", theirs / inner)


if __name__ == "__main__":
    print(json.dumps({"looks": look(Path(sys.argv[1]))}))
