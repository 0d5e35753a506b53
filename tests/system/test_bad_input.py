"""Bad input, as users and CI meet it: each says what is wrong and the way out, ends with its exit code, loses nothing.

`check` is what most of it is refused by; `train` refuses the same things, before it makes a folder.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.launch.coordinator import exit_code
from netwright.engine.network.network import Network
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder
from tests import warm
from tests.builders import chain, layer

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
# The command line on a machine with two GPUs that somebody else has taken.
ON_TAKEN_GPUS = """
import sys
from dataclasses import replace
import netwright.engine.launch.prepare as placing
from netwright.engine.cli.main import main
from netwright.engine.placement.inventory import Device
asked = placing.probe
taken = tuple(
    Device(name=f"cuda:{n}", model="Made-up GPU", memory_bytes=2**34,
           refusal="only 12 MiB of its 16 GiB are free; another program uses it")
    for n in range(2)
)
placing.probe = lambda: replace(asked(), devices=taken)
sys.exit(main())
"""


def engine(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """One command to its end, from a folder of its own."""
    return warm.run(arguments, env=ENVIRONMENT, timeout=120)


def _run(program: list[str], arguments: tuple[str | Path, ...]) -> "subprocess.CompletedProcess[str]":
    command = [*program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)


def is_refused(done: "subprocess.CompletedProcess[str]", code: int, *words: str) -> None:
    """Ended with this code and these words, as a message and not as a traceback."""
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert "Traceback" not in said
    assert "defect" not in said
    for part in words:
        assert part in said


def saved(folder: Path, network: Network, **sections: Any) -> Path:
    """A project file."""
    project = Project(network)
    for name, values in sections.items():
        project = project.with_section(name, getattr(project, name).replace(**values))
    path = folder / "p.netwright"
    save(project, path)
    return path


def digits(folder: Path, **training: Any) -> Path:
    """A small network on the built-in digits."""
    network = chain(
        layer("image_input", size=8), layer("fully_connected", outputs=16), layer("fully_connected", outputs=10)
    )
    return saved(folder, network, data={"source": "digits"}, training={"max_epochs": 2, **training})


def written(text: str | bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return write


def huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(3 * 2**30)


def hostile(kind: str) -> str:
    layers = {
        "name": [{"id": "a", "name": "__import__('os').system('touch pwned')", "type": "relu"}],
        "twice": [{"id": "a", "name": "a", "type": "relu"}] * 2,
    }
    return json.dumps({"netwright": [1, 0], "network": {"layers": layers[kind], "connections": []}})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (written(""), "it is cut off, or was changed by hand"),
        (written('{"netwright": [1, 0], "network": {"lay'), "line 1, column 35"),
        (written(b"\x00\xff\xfe"), "not UTF-8 text"),
        (written("[]"), 'the key "netwright" with the format version is missing'),
        (huge, "a project file has at most 8 MiB"),
        (written("[" * 200_000), "nested deeper than 64 levels"),
        (written('{"netwright": [1, 0], "training": {"seed": ' + "9" * 5000 + "}}"), "more than 4,300 digits"),
        (written('{"netwright": [1, 0], "training": {"initial_learn_rate": NaN}}'), "NaN is not a JSON number"),
        (written('{"netwright": [2, 0]}'), "Open it with a newer version"),
        (written(hostile("name")), "cannot be a name"),
        (written(hostile("twice")), "layers[1]"),
        (lambda path: path.mkdir(), "is a folder. Choose a project file"),
        (lambda path: os.mkfifo(path), "not a file but a device or a pipe"),
        (lambda path: None, "There is no file"),
    ],
)
def test_a_project_file_that_is_none(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    path = tmp_path / "p.netwright"
    make(path)
    before = path.read_bytes() if path.is_file() and path.stat().st_size < 2**20 else None

    done = engine("check", path)

    is_refused(done, 2, words, "p.netwright")
    assert len(done.stderr) < 1000
    assert before is None or path.read_bytes() == before
    assert not Path("pwned").exists()


def test_what_train_cannot_use_makes_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "p.netwright"
    path.write_text('{"netwright": [1, 0], "netw', encoding="utf-8")

    is_refused(engine("train", path), 2, "p.netwright: not a project file")
    assert os.listdir(tmp_path) == ["p.netwright"]


def test_a_cycle_names_its_layers(tmp_path: Path) -> None:
    rows = [{"id": name, "name": name, "type": "relu"} for name in ("left", "right")]
    connections = [["left", "right"], ["right", "left"]]
    text = {"netwright": [1, 0], "network": {"layers": rows, "connections": connections}, "data": {"source": "digits"}}
    path = tmp_path / "p.netwright"
    path.write_text(json.dumps(text), encoding="utf-8")

    words = "The connections form a cycle through left, right. Cut one of them"
    is_refused(engine("check", path), 2, words)
    is_refused(engine("train", path, "--run-dir", tmp_path / "run"), 2, words)
    assert not (tmp_path / "run").exists()


TEXT_CELL = "a,b,y\n1,2,3\n1,oops,4\n" + "".join(f"{i},{i},{i}.5\n" for i in range(60))


@pytest.mark.parametrize(
    ("text", "response", "words"),
    [
        (TEXT_CELL, "y", ("Column 'b'", "line 3", 'expected a number, received "oops"', "Correct the cell")),
        ("price,size\n1,2\n", "prise", ('no column "prise"', "Did you mean 'price'?", "price, size")),
        ("a,y\n" + "1,cat\n" * 9, "y", ("Column 'y'", "one class only, 'cat'", "At least two")),
        ("a,b,y\n1,2,3\n1,2\n", "y", ("Line 3", "2 cells; the header has 3", "Correct the line")),
        (
            "a;y\n" + "".join(f"{i},5;{i}\n" for i in range(60)) + "3.7;1\n",
            "y",
            ("Column 'a'", 'written in several ways, such as "0,5" and "3.7"', "Write all of them alike"),
        ),
    ],
)
def test_a_table_that_is_wrong(tmp_path: Path, text: str, response: str, words: tuple[str, ...]) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=1))
    path = saved(tmp_path, network, data={"source": "table", "path": "t.csv", "response": response})

    is_refused(engine("check", path), 2, "t.csv", *words)


def pictures(folder: Path) -> Path:
    """Two classes of six pictures, and a project for them."""
    for number, name in enumerate(("apple", "plum")):
        (folder / "fruit" / name).mkdir(parents=True)
        for i in range(6):
            Image.new("L", (8, 8), 40 * i + 20 * number).save(folder / "fruit" / name / f"{i}.png")
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=2))
    data = {"source": "images", "path": "fruit", "validation_share": 0.0, "test_share": 0.0}
    return saved(folder, network, data=data, training={"max_epochs": 1, "mini_batch_size": 4})


def damage(fruit: Path) -> None:
    """Let three files be no pictures: other bytes, half of one, and a link that leads nowhere."""
    (fruit / "apple" / "1.png").write_bytes(b"no picture")
    whole = (fruit / "apple" / "2.png").read_bytes()
    (fruit / "apple" / "2.png").write_bytes(whole[: len(whole) // 2])
    (fruit / "plum" / "9.png").symlink_to(fruit / "nowhere.png")


def test_pictures_that_are_missing_or_corrupt_are_left_out_and_named(tmp_path: Path) -> None:
    project = pictures(tmp_path)
    damage(tmp_path / "fruit")

    done = engine("train", project, "--run-dir", tmp_path / "run", "--json")

    assert (done.returncode, json.loads(done.stdout)["state"]) == (0, "finished"), done.stderr
    (warning,) = (line for line in done.stderr.splitlines() if line.startswith("warning: "))
    assert warning.startswith("warning: 3 of 13 image files are left out because of damage: ")
    for part in ("apple/1.png (", "apple/2.png (", "plum/9.png (it is missing", "data.bad_samples=fatal"):
        assert part in warning
    assert "samples: 10 training" in done.stderr
    assert warning in engine("check", project).stdout.replace("warning: data: ", "warning: ")


def test_pictures_that_are_missing_or_corrupt_end_a_run_where_they_are_to(tmp_path: Path) -> None:
    project, run = pictures(tmp_path), tmp_path / "run"
    damage(tmp_path / "fruit")

    done = engine("train", project, "--run-dir", run, "--set", "data.bad_samples=fatal")

    words = ("3 of 13 image files", "apple/1.png", "apple/2.png", "plum/9.png: it is missing", "Replace or remove")
    is_refused(done, 2, *words)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("failed: 3 of 13 image files in ")
    assert lines[1].startswith("  apple/1.png: ")
    assert RunFolder(run).state() == "failed"


@pytest.mark.parametrize("command", ["check", "train"])
@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (("apple", "plum"), ("12 of 12 image files", "apple/0.png: it is not a picture", "Replace or remove")),
        (("apple",), ("one class only, 'plum'", "At least two")),
    ],
)
def test_pictures_of_which_too_few_are_left(
    tmp_path: Path, command: str, classes: tuple[str, ...], words: tuple[str, ...]
) -> None:
    project = pictures(tmp_path)
    for name in classes:
        for path in (tmp_path / "fruit" / name).iterdir():
            path.write_bytes(b"no picture")

    is_refused(engine(command, project), 2, *words)
    assert not (tmp_path / "runs").exists()


def test_a_folder_of_pictures_that_is_wrong(tmp_path: Path) -> None:
    project, fruit = pictures(tmp_path), tmp_path / "fruit"
    (fruit / "plum").rename(tmp_path / "plum")

    is_refused(engine("check", project), 2, "fruit", "one class only, 'apple'", "one subfolder per class")
    fruit.rename(tmp_path / "fruits")
    is_refused(engine("check", project), 2, "There is no file or folder", "Did you mean 'fruits'?")


def test_indices_beyond_the_vocabulary(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", words=np.arange(40).reshape(20, 2), y=np.arange(20) % 2)
    network = chain(
        layer("sequence_input", content="indices"),
        layer("embedding", vocabulary=39, dimension=4),
        layer("gru", hidden_units=4, output_mode="last"),
        layer("fully_connected", outputs=2),
    )
    project = saved(tmp_path, network, data={"source": "arrays", "path": "t.npz"}, training={"mini_batch_size": 4})

    done = engine("train", project, "--run-dir", tmp_path / "run")

    is_refused(done, 2, "embedding_1, vocabulary", "the index 39", "Set the vocabulary size to at least 40")


@pytest.mark.parametrize("environment", [["--environment", "cpu"], ["--environment", "multi-cpu", "--workers", "2"]])
def test_a_loss_that_is_not_finite(tmp_path: Path, environment: list[str]) -> None:
    project, run = digits(tmp_path, initial_learn_rate=1000.0, max_epochs=200), tmp_path / "run"

    done = engine("train", project, "--run-dir", run, "--json", *environment)

    is_refused(done, 3, "The loss became", "at iteration", "Use a lower initial learn rate (it is 1000 there)")
    assert json.loads(done.stdout)["state"] == "failed"
    assert json.loads(RunFolder(run).result.read_text())["state"] == "failed"
    is_refused(engine("follow", run), 3, "The loss became")


@pytest.mark.parametrize(
    ("place", "code", "words"),
    [
        ("file", 2, "A run needs a folder of its own"),
        ("full/run", 2, "is not empty"),
        ("file/run", 2, "Name a folder with --run-dir that you may write to"),
    ],
)
def test_a_place_where_no_run_can_be_made(tmp_path: Path, place: str, code: int, words: str) -> None:
    (tmp_path / "file").write_text("important")
    (tmp_path / "full" / "run").mkdir(parents=True)
    (tmp_path / "full" / "run" / "thesis.txt").write_text("important")

    done = engine("train", digits(tmp_path), "--run-dir", tmp_path / place)

    is_refused(done, code, str(tmp_path / place), words)
    assert (tmp_path / "file").read_text() == "important"
    assert os.listdir(tmp_path / "full" / "run") == ["thesis.txt"]


def test_a_disk_that_runs_full(tmp_path: Path) -> None:
    """The limit of the system on the size of a file, which every process of a run meets as an error of writing."""
    program = "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    program += "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)); "
    program += "from netwright.engine.cli.main import main; sys.exit(main())"
    project, run = digits(tmp_path, max_epochs=100_000), tmp_path / "run"
    before = project.read_bytes()

    done = _run([sys.executable, "-c", program], ("train", project, "--run-dir", run))

    is_refused(done, 3, "cannot be written", "run")
    assert project.read_bytes() == before
    assert RunFolder(run).state() in ("failed", "lost")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(
            ["--environment", "parallel"],
            ("'parallel' needs a cluster profile", "netwright-engine cluster add"),
            marks=pytest.mark.part("cluster"),
        ),
        (
            ["--environment", "multi-gpu"],
            ("'multi-gpu' is not available here", "cuda:1: only 12 MiB", "Choose one of: auto, cpu"),
        ),
        (
            ["--environment", "gpu"],
            ("cuda:0: only 12 MiB of its 16 GiB are free", "another program uses it", "Choose one of: auto"),
        ),
    ],
)
def test_an_environment_or_a_device_that_cannot_be_had(
    tmp_path: Path, arguments: list[str], words: tuple[str, ...]
) -> None:
    run = tmp_path / "run"
    done = _run([sys.executable, "-c", ON_TAKEN_GPUS], ("train", digits(tmp_path), "--run-dir", run, *arguments))

    is_refused(done, 5, *words)
    assert not run.exists()


def test_ctrl_c_before_a_command_began_is_no_defect(tmp_path: Path) -> None:
    """Also where it meets Python while it makes a class, which wraps it in an error of its own."""
    program = "import signal, sys; from netwright.engine.cli import main, operation_command as command\n"
    program += "class Late:\n def __set_name__(self, *_): signal.raise_signal(signal.SIGINT)\n"
    program += "command.run = lambda *_: type('Fields', (), {'late': Late()})\nsys.exit(main.main())"

    done = _run([sys.executable, "-c", program], ("check", digits(tmp_path)))

    assert (done.returncode, done.stderr) == (130, "netwright-engine: stopped.\n")


def test_closed_output_changes_no_exit_code(tmp_path: Path) -> None:
    command = f"{sys.executable} -m netwright.engine check {digits(tmp_path)} <&- >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, timeout=120)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_whose_end_could_not_be_written_has_not_succeeded(tmp_path: Path) -> None:
    """A disk without any room takes not even the exit code."""
    (tmp_path / "run.json").write_text(json.dumps({"state": "running", "coordinator": 1}))

    assert exit_code(RunFolder(tmp_path)) == 3
