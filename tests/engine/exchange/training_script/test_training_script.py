"""The training script beside an exported network gives the losses of the run, on one process and on two."""

import contextlib
import csv
import io
import os
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import ROOT
from netwright.engine.exchange.export import export
from netwright.engine.exchange.training_script.model_section import schedule_function
from netwright.engine.exchange.training_script.recipe import recipe_of
from netwright.engine.exchange.training_script.write import training_job
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.weights_file import write_weights_file
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.schedules import rate_at
from netwright.engine.project.training import TrainingOptions
from netwright.engine.project.weights import WeightsOptions
from netwright.engine.training.builder import TrainerBuilder
from tests import warm
from tests.builders import add, chain, layer
from tests.runs import train

FIRST = 12
"""Steps that are compared: rounding grows from step to step."""
STRICT = ["--strict", "--allow-untyped-calls", "--no-warn-return-any"]
"""mypy without what torch's own annotations lack."""


def table(folder: Path, *, classes: bool = False) -> Project:
    """Return a project of 90 rows with numbers, a text, and a number or a class to predict."""
    rng = np.random.default_rng(0)
    lines = ["area,side,age,price,kind"]
    for number in range(90):
        area, age = rng.uniform(30, 90), rng.integers(0, 60)
        side = ("north", "west", "east")[number % 3]
        lines.append(f"{area:.2f},{side},{age},{area * 0.03 - age * 0.01:.4f},{'old' if age > 30 else 'new'}")
    (folder / "houses.csv").write_text("\n".join(lines) + "\n")
    response = {"response": "kind", "left_out": "price"} if classes else {"response": "price", "left_out": "kind"}
    data = DataOptions(source="table", path="houses.csv", task="classes" if classes else "numbers", **response)
    outputs = (
        [layer("fully_connected", outputs=2), layer("softmax")] if classes else [layer("fully_connected", outputs=1)]
    )
    network = chain(layer("feature_input", channels=5), layer("fully_connected", outputs=8), layer("tanh"), *outputs)
    return Project(network, data=data)


def pictures(folder: Path) -> Project:
    """Return a project of images in two folders, with batch normalisation and dropout."""
    for number, name in enumerate(("cat", "dog")):
        (folder / "pictures" / name).mkdir(parents=True)
        for place in range(14):
            values = np.random.default_rng(20 * number + place).integers(0, 256, (9, 12, 3), np.uint8)
            Image.fromarray(values).save(folder / "pictures" / name / f"{place}.png")
    network = chain(
        layer("image_input", channels=3, size=6),
        layer("conv2d", filters=4),
        layer("batch_norm"),
        layer("relu"),
        layer("dropout", probability=0.3),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    return Project(network, data=DataOptions(source="images", path="pictures", image_size=6))


def arrays(folder: Path) -> Project:
    """Return a project of images with a class per pixel, some of which do not count."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(24, 1, 6, 6)).astype(np.float32), rng.integers(0, 3, (24, 6, 6))
    y[::5, :2] = -1
    np.savez(folder / "maps.npz", x=x, y=y)
    network = chain(layer("image_input", channels=1, size=6), layer("conv2d", filters=3), layer("softmax"))
    return Project(network, data=DataOptions(source="arrays", path="maps.npz"))


def vectors(folder: Path) -> Project:
    """Return a project of vectors with the name of one of two classes each, told by one output."""
    x = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    np.savez(folder / "vectors.npz", x=x, y=np.where(x[:, 0] > 0, "up", "down"))
    network = chain(layer("feature_input", channels=5), layer("fully_connected", outputs=1), layer("sigmoid"))
    return Project(network, data=DataOptions(source="arrays", path="vectors.npz"))


def scaled(folder: Path) -> Project:
    """Return the project of the table with responses that a layer at the end gives their units."""
    project = table(folder)
    last = project.network.layers[project.network.output_ports[0].layer]
    network, _ = add(project.network, layer("inverse_norm"), last)
    return replace(project, network=network)


def losses_of(project: Project, folder: Path, steps: int = FIRST) -> list[float]:
    """Return the losses of the first steps as a run computes them."""
    builder = TrainerBuilder(training_job(project, folder))
    batches = builder.batches()
    step = builder.train_step(batches)
    torch.manual_seed(project.training.seed * 1_000_003 + 1)
    found: list[float] = []
    for epoch in range(1, builder.length.epochs + 1):
        found += [float(step(batch, len(found) + place).loss) for place, batch in enumerate(batches.of_epoch(epoch))]
    return found[:steps]


def exported(project: Project, folder: Path) -> Path:
    """Export the project with its script; return the script."""
    save(project, folder / "project.netwright")
    export(folder / "project.netwright", "pytorch", folder / "net.py", with_training=True)
    return folder / "train_net.py"


def run(script: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Run the script in this process; return the losses that it writes."""
    monkeypatch.syspath_prepend(script.parent)
    monkeypatch.delitem(sys.modules, "net", raising=False)
    monkeypatch.setattr(sys, "argv", [str(script)])
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(script), run_name="__main__")
    monkeypatch.delitem(sys.modules, "net", raising=False)
    return written(script.parent / "net.losses.csv")


def written(path: Path) -> list[float]:
    with path.open() as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


SETS: dict[str, tuple[Any, dict[str, Any]]] = {
    "regression": (table, {"solver": "adam", "schedule": "cosine", "shuffle": "every-epoch", "mini_batch_size": 16}),
    "clipped": (
        table,
        {
            "solver": "rmsprop",
            "loss": "huber",
            "schedule": "piecewise",
            "learn_rate_drop_period": 1,
            "warmup_iterations": 3,
            "gradient_threshold": 0.5,
            "last_batch": "discard",
            "mini_batch_size": 16,
        },
    ),
    "balanced": (
        lambda folder: table(folder, classes=True),
        {
            "solver": "adamw",
            "class_weighting": "balanced",
            "label_smoothing": 0.1,
            "validation_patience": 3,
            "validation_frequency": 2,
            "objective_metric": "metric",
            "mini_batch_size": 16,
        },
    ),
    "images": (
        pictures,
        {"initial_learn_rate": 0.05, "nesterov": True, "mini_batch_size": 8, "validation_frequency": 3},
    ),
    "two classes": (vectors, {"mini_batch_size": 8, "gradient_threshold": 0.1, "schedule": "one-cycle"}),
    "dice": (arrays, {"mini_batch_size": 5, "loss": "dice-cross-entropy", "class_weighting": "balanced"}),
    "normalised": (scaled, {"mini_batch_size": 16, "normalize_targets": True, "loss": "mae"}),
    "generalized": (arrays, {"solver": "adam", "loss": "generalized-dice", "mini_batch_size": 8}),
    "maps": (arrays, {"solver": "nadam", "loss": "focal", "mini_batch_size": 6, "l2_regularization": 0.0}),
}


@pytest.mark.parametrize("name", SETS)
def test_the_script_gives_the_losses_of_the_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, chosen = SETS[name]
    project = make(tmp_path)
    project = replace(project, training=project.training.replace(max_epochs=4, **chosen))
    script = exported(project, tmp_path)
    received, expected = run(script, monkeypatch), losses_of(project, tmp_path)
    assert len(received) >= min(len(expected), 6)  # patience may end it
    np.testing.assert_allclose(received[:FIRST], expected[: len(received)], rtol=2e-5)
    assert (tmp_path / "net.trained.safetensors").is_file()
    files = sorted(path.name for path in tmp_path.glob("net.*") if path.suffix in (".npz", ".json"))
    assert files == ["net.data.npz" if make is arrays else "net.split.json" if make is pictures else "net.split.npz"]
    assert "netwright" not in script.read_text().lower().replace("netwright, to rounding", "")


def test_the_script_starts_from_the_weights_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = table(tmp_path)
    torch.manual_seed(5)
    other = build(project.network, analyse(project.network)).state_dict()
    write_weights_file(tmp_path / "start.safetensors", other, prefixes(project.network, analyse(project.network)))
    first = project.network.by_name["fc_1"]
    start = WeightsOptions(file="start.safetensors", freeze_up_to=first.id)
    training = project.training.replace(max_epochs=2, mini_batch_size=16)
    project = replace(project.with_section("weights", start), training=training)
    script = exported(project, tmp_path)
    np.testing.assert_allclose(run(script, monkeypatch), losses_of(project, tmp_path), rtol=2e-5)
    trained = load_file(tmp_path / "net.trained.safetensors")
    assert torch.equal(trained["fc_1.weight"], other["fc_1.weight"])
    assert not torch.equal(trained["fc_2.weight"], other["fc_2.weight"])
    assert 'FROZEN = ("fc_1",)' in script.read_text()


def test_two_processes_share_the_batches_of_a_run(tmp_path: Path) -> None:
    project = table(tmp_path)
    training = project.training.replace(max_epochs=2, mini_batch_size=16, solver="adam", validation_frequency=4)
    project = replace(project, training=training)
    script = exported(project, tmp_path)
    code = f"import sys, runpy; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = [{str(script)!r}]\n"
    code += f"runpy.run_path({str(script)!r}, run_name='__main__')"
    with open(os.devnull, "w") as nothing:
        port = 29_500 + os.getpid() % 2000
        common = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        both = [
            warm.Process([], code=code, env={**common, "RANK": str(rank)}, stdout=nothing.fileno()) for rank in (0, 1)
        ]
        codes = [one.wait() for one in both]
        for one in both:
            one.close()
    assert codes == [0, 0]
    np.testing.assert_allclose(written(tmp_path / "net.losses.csv"), losses_of(project, tmp_path), rtol=1e-5)


def test_data_that_does_not_fit_the_network_is_refused_in_words(tmp_path: Path) -> None:
    project = arrays(tmp_path)
    np.savez(tmp_path / "maps.npz", x=np.zeros((24, 3, 6, 6), np.float32), y=np.arange(24 * 36).reshape(24, 6, 6) % 3)
    with pytest.raises(UserError, match="image_1: The layer takes an image of 1 × 6 × 6"):
        exported(project, tmp_path)
    assert not list(tmp_path.glob("*net.py"))


def test_nothing_of_the_process_group_outlives_the_script(tmp_path: Path) -> None:
    """Its threads would end Python with 'terminate called', some of the time."""
    project = table(tmp_path)
    script = exported(replace(project, training=project.training.replace(max_epochs=1)), tmp_path)
    code = f"import psutil, runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['train_net.py']\n"
    code += f"runpy.run_path({str(script)!r}, run_name='__main__'); print(psutil.Process().num_threads())"
    port = str(29_500 + (os.getpid() + 999) % 2000)
    common = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code]
    first, second = (
        subprocess.Popen(command, env={**common, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
        for rank in (0, 1)
    )
    counts = [process.communicate()[0].split()[-1] for process in (first, second)]
    assert counts == ["1", "1"]


def test_what_a_script_cannot_carry_over_is_refused_in_words_and_nothing_is_written(tmp_path: Path) -> None:
    project = pictures(tmp_path)
    for chosen, words in (
        ({"rand_x_reflection": 0.5}, r"augmentation \(rand_x_reflection\)"),
        ({"weight_averaging": "ema"}, "weight_averaging=ema"),
        ({"solver": "lbfgs", "convention": "matlab"}, "solver=lbfgs"),
        ({"loss": "dice"}, "loss dice of softmax_1, which has one target per sample"),
        ({"precision": "bf16"}, "precision=bf16"),
        ({"gradient_accumulation": 2}, "gradient_accumulation=2 with batch normalisation"),
    ):
        with pytest.raises(UserError, match=words) as refused:
            exported(replace(project, training=project.training.replace(**chosen)), tmp_path)
        assert "without the training script" in refused.value.hint
        assert not list(tmp_path.glob("*.py"))
    save(project, tmp_path / "project.netwright")
    for to, words in (("2-net.py", "no name of a module"), ("net.onnx", "beside a PyTorch file only")):
        format = "onnx" if to.endswith("onnx") else "pytorch"
        with pytest.raises(UserError, match=words):
            export(tmp_path / "project.netwright", format, tmp_path / to, with_training=True)
    (tmp_path / "net.initial.safetensors").write_text("mine")
    with pytest.raises(UserError, match=r"overwrite the file .*net.initial.safetensors"):
        export(tmp_path / "project.netwright", "pytorch", tmp_path / "net.py", with_training=True)
    assert not list(tmp_path.glob("*.py"))


def test_options_that_change_no_loss_are_left_out_and_named(tmp_path: Path) -> None:
    project = table(tmp_path)
    training = project.training.replace(gradient_accumulation=4, metrics=("auto", "mae"), target_metric="loss")
    save(replace(project, training=training), tmp_path / "project.netwright")
    done = export(tmp_path / "project.netwright", "pytorch", tmp_path / "net.py", with_training=True)
    said = " ".join(done.notes)
    for words in ("gradient_accumulation (4 pieces", "target_metric", "the metrics mae", "train_net.py; it reads"):
        assert words in said
    assert "the metrics mae" in (tmp_path / "train_net.py").read_text()


SCHEDULES: tuple[dict[str, Any], ...] = (
    {"schedule": "piecewise", "learn_rate_drop_period": 2},
    {"schedule": "warmup", "warmup_iterations": 5},
    {"schedule": "cosine", "warmup_iterations": 4, "lowest_rate_factor": 0.1},
    {"schedule": "cosine", "restart_period": 2},
    {"schedule": "cosine", "restart_period": 1, "restart_period_factor": 2},
    {"schedule": "cyclical"},
    {"schedule": "exponential"},
    {"schedule": "polynomial", "polynomial_power": 2.0},
    {"schedule": "polynomial"},
    {"schedule": "one-cycle", "warmup_iterations": 3},
    {"schedule": "one-cycle", "one_cycle_rise": 0.0},
)


def test_every_schedule_is_printed_as_it_is_computed(tmp_path: Path) -> None:
    project = table(tmp_path)
    for chosen in SCHEDULES:
        training = project.training.replace(mini_batch_size=16, max_epochs=6, **chosen)
        recipe = recipe_of(training_job(replace(project, training=training), tmp_path))
        names: dict[str, Any] = {}
        exec("import math\n" + "\n".join(schedule_function(recipe)), names)
        total = recipe.length.total_steps
        wanted = [rate_at(training, step, recipe.length.steps_per_epoch, total) for step in range(total)]
        received = [training.initial_learn_rate * names["learn_rate_factor"](step) for step in range(total)]
        np.testing.assert_allclose(received, wanted, rtol=1e-9, atol=1e-15, err_msg=str(chosen))


def checked(folder: Path) -> None:
    """Check all Python files of a folder with ruff and mypy."""
    files = sorted(str(path) for path in folder.glob("*.py"))
    width = ["--isolated", "--line-length", "120"]
    for command in (
        ["ruff", "format", "--check", *width],
        ["ruff", "check", "--select", "E,F,I,UP,B,SIM,C4,N,PTH,W", *width],
        ["mypy", *STRICT, "--cache-dir", str(folder / "cache")],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command, *files], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parity
def test_scripts_are_formatted_and_typed(name: str, tmp_path: Path) -> None:
    make, chosen = SETS[name]
    project = make(tmp_path)
    exported(replace(project, training=TrainingOptions(max_epochs=4, **chosen)), tmp_path)
    checked(tmp_path)


@pytest.mark.parity
def test_the_examples_train_as_their_runs_do(tmp_path: Path) -> None:
    from netwright.engine.project.file import load

    for name in ("digits", "heating"):
        example = load(ROOT / "resources" / "examples" / f"{name}.netwright").project
        path = str(ROOT / "resources" / "data" / "heating.csv") if example.data.path else ""
        project = replace(
            example,
            data=example.data.replace(path=path),
            training=example.training.replace(max_epochs=3),
            environment=example.environment.replace(target="cpu"),
        )
        done = train(project, tmp_path / name)
        export(tmp_path / name, "pytorch", tmp_path / f"{name}_net.py", with_training=True)
        command = [sys.executable, "-I", f"train_{name}_net.py"]
        code = f"import sys, runpy; sys.path.insert(0, '.'); runpy.run_path('{command[2]}', run_name='__main__')"
        subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, check=True)
        np.testing.assert_allclose(written(tmp_path / f"{name}_net.losses.csv"), done.losses, rtol=1e-4)
    for workers in (2, 3):
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(workers)]
        subprocess.run([*torchrun, "train_heating_net.py", "--losses", "several.csv"], cwd=tmp_path, check=True)
        np.testing.assert_allclose(written(tmp_path / "several.csv"), done.losses, rtol=1e-5)
    checked(tmp_path)


def test_networks_without_data_have_no_script(tmp_path: Path) -> None:
    project = Project(chain(layer("feature_input", channels=2), layer("fully_connected")))
    with pytest.raises(UserError, match="reads the data of the project, which has none"):
        exported(project, tmp_path)
    assert isinstance(project.network, Network)
