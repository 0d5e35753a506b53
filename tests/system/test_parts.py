"""Without the folders of a part: its commands and pages are gone, and what is left is whole."""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from netwright.engine.cli.commands import commands
from netwright.engine.core import part_registry as registry
from netwright.engine.core.errors import UserError
from netwright.engine.core.part_registry import Part, entries, imported, parts, read_part
from tests import warm

ROOT = Path(__file__).parents[2]
WHOLE_ROOMS = ("netwright", "designer", "resources")
ROOMS_WITH_PARTS = ("app", "engine")
# In a fork of the warm process, which has torch, but imports Netwright anew from the copy.
COMMANDS = """
import json, os, sys
for name in [name for name in sys.modules if name.partition(".")[0] == "netwright"]:
    del sys.modules[name]
sys.path.insert(0, os.getcwd())
import netwright.engine.core.part_registry as registry
from netwright.engine.cli.main import main
print(registry.__file__)
for words in json.loads(sys.argv[1]):
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    print("exit code", code, *words, file=sys.stderr)
sys.exit(code)
"""
# In a fork, of a process that has the libraries of the window, for each copy of the program that is named.
WINDOWS = """
import os, sys
import pyqtgraph
from PySide6.QtWidgets import QApplication, QPushButton
for rest in sys.argv[1:]:
    if not (pid := os.fork()):
        sys.path.insert(0, rest)
        os.chdir(rest)
        break
    status = os.waitpid(pid, 0)[1]
    print("exit code", os.waitstatus_to_exitcode(status), flush=True)
else:
    sys.exit()
from netwright.app.processes import EngineServer
from netwright.app.window import MainWindow
from netwright.designer import theme
app = QApplication([])
theme.apply(app, "light")
server = EngineServer(command=[sys.executable, "-c", "import sys; sys.stdin.read()"])  # it answers nothing
window = MainWindow("light", start_engine=False, server=server)
window.show()
names = [button.text() for button in window.bar.findChildren(QPushButton) if button.isCheckable()]
from netwright.app.frame.window_bars import TABS
for key in (*dict(TABS), "start"):
    window.show_tab(key)
    app.processEvents()
menus = [action.text() for menu in window.menuBar().actions() for action in menu.menu().actions()]
titles = [b.text() for b in window.training.monitor.findChildren(QPushButton) if b.isCheckable()]
print(names, menus, titles, sys.modules["netwright"].__file__, flush=True)
window.close()
window.shutdown()
"""


@pytest.fixture(params=[part.name for part in parts()])
def part(request: pytest.FixtureRequest) -> Part:
    return next(part for part in parts() if part.name == request.param)


@pytest.fixture
def rest(part: Part, tmp_path: Path) -> Path:
    return without(part, tmp_path)


def without(part: Part, folder: Path) -> Path:
    """The program without the folders of the part: links to all others, so that nothing is compiled again."""
    for room in WHOLE_ROOMS:
        (folder / room).symlink_to(ROOT / room)
    for room in ROOMS_WITH_PARTS:
        (folder / room).mkdir()
        for path in (ROOT / room).iterdir():
            if path.name not in (part.name, "__pycache__"):
                (folder / room / path.name).symlink_to(path)
    return folder


def environment(rest: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(rest), "QT_QPA_PLATFORM": "offscreen"}


def commands_of(rest: Path, *lines: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run commands of the copy one after the other; standard output begins with where they come from, and the exit code
    is that of the last."""
    return warm.run([json.dumps(lines)], code=COMMANDS, cwd=rest, env=environment(rest))


def test_the_command_line_trains_and_has_no_command_of_it(rest: Path, part: Part) -> None:
    lines = [
        ["help"],
        ["new", "digits"],
        ["check", "digits.netwright"],
        ["train", "digits.netwright", "--set", "training.max_epochs=1", "--run-dir", "run"],
        ["show", "run"],
        ["schema", "train"],
    ]
    done = commands_of(rest, *([name] for name in part.commands), *lines)
    assert Path(done.stdout.partition("\n")[0]).is_relative_to(rest), done.stderr
    for name in part.commands:
        assert f"\n  {name} " not in done.stdout
        assert f"exit code 2 {name}\n" in done.stderr
    assert done.stderr.count("There is no command") == len(part.commands)
    for words in lines:
        assert f"exit code 0 {' '.join(words)}\n" in done.stderr, done.stderr


@pytest.mark.part("cluster")
@pytest.mark.parametrize("part", ["cluster"], indirect=True)
def test_clusters_are_refused_in_words_without_their_part(rest: Path) -> None:
    def engine(*words: str) -> subprocess.CompletedProcess[str]:
        return commands_of(rest, [*words])

    assert engine("new", "digits").returncode == 0
    digits, two = "digits.netwright", ("--set", "training.max_epochs=1", "--workers", "2", "--run-dir", "two")
    for words, code, text in (
        (["train", digits, "--environment", "parallel"], 5, "has no clusters part"),
        (["train", digits, "--profile", "lab"], 2, "goes with the execution environment parallel"),
        (["advise", digits, "--set", "environment.target=parallel"], 5, "has no clusters part"),
        (["train", digits, "--environment", "multi-cpu", *two], 0, ""),
    ):
        done = engine(*words)
        assert (done.returncode, text in done.stderr) == (code, True), done.stderr
    environments = json.loads(engine("devices", "--json").stdout.partition("\n")[2])["environments"]
    assert environments["parallel"] == "this installation has no clusters part"
    copy = rest / "copy"
    shutil.copytree(rest / "two", copy)
    info = json.loads((copy / "run.json").read_text()) | {"state": "running"}
    (copy / "run.json").write_text(json.dumps({key: value for key, value in info.items() if key != "sha256"}))
    record = {"profile": "lab", "kind": "ssh", "host": "lab", "folder": "/jobs/1", "job": "7", "job_state": "running"}
    (copy / "cluster.json").write_text(json.dumps(record))
    for words in (["follow", "copy"], ["stop", "copy"], ["resume", "copy"]):
        done = engine(*words)
        assert (done.returncode, "has no clusters part" in done.stderr) == (5, True), done.stderr


def test_the_window_opens_without_the_pages_of_a_part(tmp_path: Path) -> None:
    for part in parts():
        (tmp_path / part.name).mkdir()
    copies = [str(without(part, tmp_path / part.name)) for part in parts()]
    command = [sys.executable, "-c", WINDOWS, *copies]
    # Of this process it would find the checkout beside the copy.
    shown = {name: value for name, value in environment(tmp_path).items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=shown, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    said = done.stdout.split("exit code 0\n")[:-1]
    assert len(said) == len(copies), done.stdout
    for part, copy, words in zip(parts(), copies, said, strict=True):
        assert f"{copy}/netwright/__init__.py" in words
        assert ("New sweep" in words) == (part.name != "experiments")
        assert ("Robustness" in words) == (part.name != "analysis")


def test_every_manifest_names_what_there_is(part: Part) -> None:
    assert part.title
    for point, table in part.points.items():
        for name, target in table.items():
            assert imported(target) is not None, (point, name)
            assert entries(point)[name] == target
    for name, command in part.commands.items():
        assert commands()[name] == command


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("no json", "Expecting value"),
        ('{"commands": {}}', "'title'"),
        ('{"title": "Mine", "operatons": {}}', "unknown keys operatons"),
        ('{"title": "Mine", "pages": {"mine": "mine"}}', "'mine' names 'mine', expected module:name"),
        ('{"title": "Mine", "commands": {"mine": {"module": "mine"}}}', "missing 2 required"),
    ],
)
def test_a_damaged_manifest_is_named_with_its_fault(tmp_path: Path, content: str, fault: str) -> None:
    manifest = tmp_path / "part.json"
    manifest.write_text(content)
    with pytest.raises(UserError, match=r"part\.json: this part cannot be read") as refusal:
        read_part(manifest)
    assert fault in str(refusal.value)


def test_another_distribution_adds_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from netwright.engine.cli.main import main

    package = tmp_path / "greeter"
    package.mkdir()
    (package / "__init__.py").touch()
    text = 'def register(commands):\n    commands.add_parser("greet", description="Greet.").set_defaults(run=greet)\n'
    (package / "commands.py").write_text(f'{text}def greet(arguments):\n    print("Hello!")\n    return 0\n')
    about = {"module": "greeter.commands", "group": "greetings", "help": "greet"}
    (package / "part.json").write_text(json.dumps({"title": "Greetings", "commands": {"greet": about}}))
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("greetings", "greeter", registry.GROUP)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == registry.GROUP else [])
    for remembered in (registry.installed_parts, commands):
        remembered.cache_clear()
    try:
        assert main(["greet"]) == 0
        assert capsys.readouterr().out == "Hello!\n"
    finally:
        for remembered in (registry.installed_parts, commands):
            remembered.cache_clear()
