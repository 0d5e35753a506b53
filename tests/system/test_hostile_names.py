"""Names that a stranger chose, of folders, files, classes, runs and layers of an ONNX file, go through every command:
none of their characters reaches the terminal as a command to it, and none of their lines begins a line."""

import argparse
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import termios
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.engine.cli.commands import parser
from netwright.engine.core.files import write_json
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.experiments import open_experiment
from netwright.engine.runs.queue import Queue
from tests.builders import chain, layer
from tests.runs import PATIENCE_S
from tests.warm import Process

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u2028\u2029\u180e"
HOSTILE = f"\x1b[31m\x1b]0;owned\x07\x1bPq\x1b\\\x9b2J\x8d\x85\r\x08\x7f\t{BIDI}{INVISIBLE}"
FORGED = "::error::forged"
NAME = f"h{HOSTILE}\n{FORGED}"
SHOWN = "\\u001b[31m"
"""What the first characters of `HOSTILE` are printed as."""
ALLOWED = "\n"


@dataclass(frozen=True)
class World:
    """A folder with a hostile name and what is in it."""

    folder: Path
    project: Path
    run: Path
    experiment: Path
    picture: Path
    onnx: Path
    env: dict[str, str]

    def words(self, line: str) -> list[str]:
        """The arguments of a command, in which words in capitals stand for what is here."""
        known = {
            "PROJECT": self.project,
            "RUN": self.run,
            "RUNS": self.run.parent,
            "EXPERIMENT": self.experiment,
            "PICTURE": self.picture,
            "ONNX": self.onnx,
            "NEW": self.folder / f"new {NAME}",
            "GONE": self.folder / f"gone {NAME}",
            "NAME": NAME,
            "LONG": "x\x1b[31m" * 20_000,
        }
        found = []
        for word in line.split():
            match = re.fullmatch(r"([A-Z]+)((?:_\w+)?(?:\.\w+)?)", word)
            found.append(f"{known[match[1]]}{match[2]}" if match and match[1] in known else word)
        return found

    def run_command(self, line: str) -> tuple[int, str, str]:
        """Run a command to its end; return its exit code and what it printed, without a change of line breaks."""
        files = [self.folder.parent / name for name in ("stdout", "stderr")]
        descriptors = [os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for file in files]
        with Process(
            self.words(line), cwd=self.folder, env=self.env, stdout=descriptors[0], stderr=descriptors[1]
        ) as process:
            for descriptor in descriptors:
                os.close(descriptor)
            code = process.wait(PATIENCE_S)
        out, err = (file.read_bytes().decode("utf-8") for file in files)
        return code, out, err


LINES = {
    "new": ["new digits NEW.netwright", "new NAME", "new NEW.netwright --data PICTURE"],
    "templates": ["templates"],
    "data inspect": ["data inspect PROJECT", "data inspect GONE.netwright"],
    "data check": ["data check PROJECT", "data check PROJECT --labels"],
    "import": ["import ONNX -o NEW_onnx.netwright", "import GONE.onnx -o NEW_onnx.netwright"],
    "check": ["check PROJECT PROJECT", "check PROJECT --format github", "check PROJECT --set data.path=NAME"],
    "options": ["options learn_rate", "options NAME"],
    "weights match": ["weights match PROJECT --from RUN"],
    "weights list": ["weights list"],
    "weights fetch": ["weights fetch NAME"],
    "transfer": ["transfer RUN -o NEW_transfer.netwright --outputs 5"],
    "compare": ["compare PROJECT RUN", "compare PROJECT GONE.netwright"],
    "draw": ["draw PROJECT -o NEW.svg"],
    "measure": ["measure PROJECT"],
    "doctor": ["doctor PROJECT --quick"],
    "tune": ["tune PROJECT --plan"],
    "advise": ["advise GONE.netwright"],
    "largest-batch": ["largest-batch GONE.netwright"],
    "profile": ["profile PROJECT"],
    "train": ["train PROJECT --run-dir NEW_run", "train GONE.netwright", "train PROJECT --set NAME=1"],
    "resume": ["resume RUN", "resume RUN --set training.max_epochs=2"],
    "experiment run": ["experiment run PROJECT", "experiment run PROJECT --vary NAME=1,2"],
    "experiment status": ["experiment status EXPERIMENT", "experiment status GONE"],
    "experiment best": ["experiment best EXPERIMENT -o NEW_best.netwright"],
    "experiment again": ["experiment again EXPERIMENT --trial 1", "experiment again EXPERIMENT"],
    "experiment stop": ["experiment stop EXPERIMENT"],
    "experiment report": ["experiment report EXPERIMENT -o NEW.html"],
    "experiment importance": ["experiment importance EXPERIMENT --objective NAME"],
    "experiment export": ["experiment export EXPERIMENT", "experiment export EXPERIMENT -o NEW.csv"],
    "experiment append": ["experiment append EXPERIMENT --trials 2", "experiment append GONE --trials 2"],
    "experiment list": ["experiment list PROJECT"],
    "queue add": ["queue add GONE.netwright"],
    "queue list": ["queue list"],
    "queue run": ["queue run"],
    "queue start": ["queue start 99"],
    "queue move": ["queue move 99"],
    "queue show": ["queue show 99"],
    "queue stop": ["queue stop 99"],
    "queue remove": ["queue remove 99"],
    "devices": ["devices"],
    "cluster list": ["cluster list"],
    "cluster add": ["cluster add NAME --set kind=slurm", "cluster add lab --set address=NAME"],
    "cluster edit": ["cluster edit NAME --set kind=slurm"],
    "cluster default": ["cluster default NAME"],
    "cluster validate": ["cluster add lab --set kind=slurm", "cluster validate NAME"],
    "cluster install": ["cluster add lab --set kind=slurm", "cluster install NAME"],
    "cluster remove": ["cluster remove NAME"],
    "cluster import": ["cluster import GONE.toml", "cluster import PICTURE"],
    "cluster export": ["cluster export NAME"],
    "jobs": ["jobs"],
    "fetch": ["fetch RUN"],
    "follow": ["follow RUN", "follow GONE"],
    "stop": ["stop RUN"],
    "pause": ["pause RUN"],
    "checkpoint": ["checkpoint RUN"],
    "validate": ["validate RUN"],
    "set": ["set RUN --epochs 5"],
    "watch": ["watch RUN --layers on"],
    "runs": ["runs RUNS", "runs PROJECT", "runs RUNS --csv", "runs RUNS --filter NAME", "runs RUNS --sort NAME"],
    "show": ["show RUN", "show GONE"],
    "note": ["note RUN"],
    "tag": ["tag RUN NAME", "tag RUN"],
    "delete": ["delete GONE"],
    "curves": ["curves RUN -o NEW.csv"],
    "models list": ["models list NAME", "models list --registry NAME"],
    "models register": ["models register RUN NAME", "models register GONE digits"],
    "models promote": ["models promote NAME"],
    "models show": ["models show RUN", "models show GONE"],
    "models compare": ["models compare NAME NAME"],
    "export": ["export RUN --format onnx -o NEW.onnx", "export RUN --format pytorch -o NEW.py"],
    "report": ["report RUN -o NEW_run.html"],
    "evaluate": ["evaluate RUN", "evaluate RUN --split NAME"],
    "predict": [
        *("predict RUN PICTURE", "predict RUN PICTURE GONE.png", "predict RUN PICTURE --csv"),
        *("predict RUN PICTURE -o NEW_answers.parquet", "predict RUN PICTURE -o NEW_answers.npz"),
    ],
    "generate": ["generate NAME NAME"],
    "explain": ["explain RUN --method gradcam --sample 1", "explain RUN --method NAME"],
    "prune": ["prune RUN --amount 0.5 -o NEW_pruned.netwright"],
    "compress": ["compress RUN --size NAME", "compress RUN --pick 1 -o NEW_small.netwright"],
    "robustness": ["robustness RUN"],
    "endpoint": ["endpoint NAME", "endpoint GONE.onnx --port 0", "endpoint ONNX --container NEW/Containerfile"],
    "notify": ["notify --webhook NAME"],
    "help": ["help", "help NAME"],
    "completion": ["completion bash"],
    "schema": ["schema NAME"],
    "docs": ["docs NAME"],
    "mcp": ["mcp NAME"],
    "serve": ["serve"],
}
"""Lines for every command."""
ANY = ["NAME", "check LONG", "LONG"]
QUIET = (
    *("templates", "weights list", "devices", "completion", "serve", "notify", "cluster list"),
    *(
        "measure",
        "tune",
        "profile",
        "robustness",
        "queue run",
        "queue start",
        "queue move",
        "queue show",
        "queue stop",
        "queue remove",
    ),
)
"""Commands that print nothing of what they are given."""
TABLES = ("runs RUNS --csv", "experiment export EXPERIMENT", "predict RUN PICTURE --csv")
"""Lines that print CSV, whose cells are exact but for control characters, also with their line breaks."""


def leaves(command: argparse.ArgumentParser, name: str = "") -> Iterator[str]:
    """The names of all commands, those of groups with both words."""
    groups = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield name
    for action in groups:
        for word, inner in action.choices.items():
            yield from leaves(inner, f"{name} {word}".strip())


def draw(folder: Path) -> Path:
    """Pictures of three classes with hostile names; return one of them."""
    random = np.random.default_rng(0)
    for number in range(3):
        place = folder / f"{number}{NAME}"
        place.mkdir(parents=True)
        for picture in range(8):
            values = random.integers(80 * number, 80 * number + 80, (6, 6), np.uint8)
            Image.fromarray(values).save(place / f"{picture}{NAME}.png")
    return place / f"0{NAME}.png"


def project_of() -> Project:
    network = chain(
        layer("image_input", channels=1, size=6),
        layer("conv2d", filters=4),
        layer("relu"),
        layer("flatten"),
        layer("fully_connected", outputs=3),
        layer("softmax"),
    )
    return Project(
        network,
        data=DataOptions(source="images", path="data"),
        training=TrainingOptions(max_epochs=1, mini_batch_size=8),
        environment=EnvironmentOptions(target="cpu", threads=1),
        experiment=ExperimentOptions(parameters=["training.momentum=0.1,0.9"]),
    )


def with_hostile_names(file: Path, to: Path) -> None:
    """An ONNX file whose nodes, inputs and outputs have hostile names."""
    import onnx

    model = onnx.load(file)
    graph = model.graph
    names = {value.name: f"{value.name}{NAME}" for value in (*graph.input, *graph.output)}
    for value in (*graph.input, *graph.output):
        value.name = names[value.name]
    for node in graph.node:
        node.name = f"{node.name}{NAME}"
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    graph.name, model.producer_name = NAME, NAME
    onnx.save(model, to)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    place = tmp_path_factory.mktemp("hostile")
    folder = place / NAME
    folder.mkdir()
    env = {**os.environ, **{f"XDG_{kind}_HOME": str(place / kind) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}}
    project = folder / f"p{NAME}.netwright"
    picture = draw(folder / "data")
    save(project_of(), project)
    run = folder / "runs" / f"r{NAME}"
    found = World(folder, project, run, folder / "experiments", picture, folder / f"n{NAME}.onnx", env)
    for line in ("train PROJECT --run-dir RUN", "export RUN --format onnx -o NEW_plain.onnx", "experiment run PROJECT"):
        code, _, err = found.run_command(line)
        assert code == 0, err
    with_hostile_names(folder / f"new {NAME}_plain.onnx", found.onnx)
    write_json(run / "notes.json", {"note": f"first\nsecond {HOSTILE}", "tags": ["paper"], "run_name": ""})
    result = json.loads((run / "result.json").read_text())
    del result["sha256"]
    write_json(run / "result.json", {**result, "reason": NAME, "test": {NAME: 0.5}})
    experiment = open_experiment(project)
    with open(experiment.trials, "a") as file:
        values = {NAME: NAME}
        file.write(json.dumps({"trial": 3, "values": values}) + "\n")
        file.write(json.dumps({"trial": 3, "state": "failed", "reason": NAME}) + "\n")
    queue = Queue(place / "STATE" / "netwright" / "queue")
    queue.add("{}", NAME, reason=NAME, state="failed", run_dir=str(run))
    job = place / "STATE" / "netwright" / "jobs" / "1.json"
    job.parent.mkdir()
    write_json(job, {"run_dir": str(run), "profile": NAME, "kind": "slurm", "submitted": 1.0})
    return replace(found, experiment=experiment.path)


def assert_harmless(text: str, line: str) -> None:
    """The text has no character that a terminal obeys, and none that is not seen; and no line that a name began."""
    if line in TABLES:
        assert [c for c in text if unicodedata.category(c) == "Cc" and c not in "\t\n"] == [], f"{line}: {text!r}"
        return
    assert [c for c in text if not c.isprintable() and c not in ALLOWED] == [], f"{line}: {text!r}"
    assert not [one for one in text.split("\n") if one.lstrip().startswith(FORGED)], f"{line}: {text}"


def test_every_command_has_a_line_here() -> None:
    """A new command needs lines in `LINES`."""
    assert {*leaves(parser())} == {*LINES}


@pytest.mark.parametrize("command", LINES)
def test_no_command_prints_what_a_terminal_obeys(world: World, command: str) -> None:
    printed = ""
    for line in LINES[command]:
        code, out, err = world.run_command(line)
        assert code in (0, 2, 3, 4, 5), f"{line}: {err}"
        assert_harmless(out, line)
        assert_harmless(err, line)
        printed += out + err
    assert SHOWN in printed or command in QUIET, printed


@pytest.mark.parametrize("line", ANY)
def test_no_error_prints_what_a_terminal_obeys(world: World, line: str) -> None:
    code, out, err = world.run_command(line)
    assert code == 2
    assert_harmless(out + err, line)
    assert len(err) < 20_000


def texts_in(value: object) -> str:
    """All texts of a JSON value."""
    if isinstance(value, dict):
        return "".join(f"{key}{texts_in(item)}" for key, item in value.items())
    return "".join(map(texts_in, value)) if isinstance(value, list) else str(value)


def test_json_is_exact(world: World) -> None:
    for line in ("runs RUNS --json", "show RUN --json", "note RUN --json"):
        code, out, _ = world.run_command(line)
        assert code == 0
        assert out.isascii()
        assert HOSTILE in texts_in(json.loads(out))


def test_a_name_that_is_no_text(world: World) -> None:
    """A file name of other bytes than UTF-8."""
    strange = Path(os.fsdecode(os.fsencode(world.folder) + b"/\xff\x1b[31m.netwright"))
    shutil.copy(world.project, strange)
    for line in (f"check {strange.name}", f"data inspect {strange.name}", f"runs {strange.name}"):
        code, out, err = world.run_command(line)
        assert code in (0, 2)
        assert_harmless(out + err, line)


@pytest.mark.parametrize(
    "line", ["runs RUNS", "experiment status EXPERIMENT", "evaluate RUN", "queue list", "show RUN"]
)
def test_a_terminal_gets_colours_of_ours_alone(world: World, line: str) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    with Process(world.words(line), cwd=world.folder, env={**world.env, "TERM": "xterm"}, stdout=theirs) as process:
        os.close(theirs)
        data = b""
        while True:
            try:
                part = os.read(ours, 2**16)
            except OSError:  # its other end is closed
                break
            data += part
        assert process.wait(PATIENCE_S) == 0
    os.close(ours)
    text = data.decode()
    assert "\x1b" in text or line == "show RUN"
    assert not [c for c in text if c in f"{BIDI}{INVISIBLE}\x07\x9b\x8d\x85\x08\x7f"], text
    assert "\x1b]" not in text
    # A cell that a terminal is too narrow for goes on below itself, indented; a server for CI has no terminal.
    assert not [one for one in text.split("\n") if one.startswith(FORGED)]
    assert "\\u001b" in text
