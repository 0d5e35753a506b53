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
from tests.architecture.test_repository import FILES, ROOT

ROOMS = ("netwright", "app", "designer", "engine", "resources")
COMMANDS = """
import json, sys
from netwright.engine.cli.main import main
for words in json.loads(sys.argv[1]):
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    print("exit code", code, *words, file=sys.stderr)
"""
WINDOW = """
import sys
from PySide6.QtWidgets import QApplication, QPushButton
from netwright.app.window import MainWindow
from netwright.designer import theme
app = QApplication([])
theme.apply(app, "light")
window = MainWindow("light")
window.show()
names = [button.text() for button in window.bar.findChildren(QPushButton) if button.isCheckable()]
from netwright.app.frame.window_bars import TABS
for key in (*dict(TABS), "start"):
    window.show_tab(key)
    app.processEvents()
menus = [action.text() for menu in window.menuBar().actions() for action in menu.menu().actions()]
titles = [b.text() for b in window.training.monitor.findChildren(QPushButton) if b.isCheckable()]
print(names, menus, titles)
window.close()
"""


@pytest.fixture(params=[part.name for part in parts()])
def part(request: pytest.FixtureRequest) -> Part:
    return next(part for part in parts() if part.name == request.param)


@pytest.fixture
def rest(part: Part, tmp_path: Path) -> Path:
    """A copy of the program without the folders of the part."""
    for path in FILES:
        name = path.relative_to(ROOT)
        if name.parts[0] in ROOMS and name.parts[:2] not in {("engine", part.name), ("app", part.name)}:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / name)
    return tmp_path


def python(rest: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run an interpreter that finds the copy in place of the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(rest), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=rest, env=environment, capture_output=True, text=True, check=False)


def test_the_command_line_trains_and_has_no_command_of_it(rest: Path, part: Part) -> None:
    done = python(rest, "-c", "import netwright.engine.core.part_registry as p; print(p.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(rest), done.stderr
    shown = python(rest, "-m", "netwright.engine", "help")
    assert shown.returncode == 0, shown.stderr
    lines = [
        ["new", "digits"],
        ["check", "digits.netwright"],
        ["train", "digits.netwright", "--set", "training.max_epochs=1", "--run-dir", "run"],
        ["show", "run"],
        ["schema", "train"],
    ]
    done = python(rest, "-c", COMMANDS, json.dumps([*([name] for name in part.commands), *lines]))
    for name in part.commands:
        assert f"\n  {name} " not in shown.stdout
        assert f"exit code 2 {name}\n" in done.stderr
    assert done.stderr.count("There is no command") == len(part.commands)
    for words in lines:
        assert f"exit code 0 {' '.join(words)}\n" in done.stderr, done.stderr


@pytest.mark.part("cluster")
@pytest.mark.parametrize("part", ["cluster"], indirect=True)
def test_clusters_are_refused_in_words_without_their_part(rest: Path) -> None:
    def engine(*words: str) -> subprocess.CompletedProcess[str]:
        return python(rest, "-m", "netwright.engine", *words)

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
    environments = json.loads(engine("devices", "--json").stdout)["environments"]
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


def test_the_window_opens_without_its_pages(rest: Path, part: Part) -> None:
    done = python(rest, "-c", WINDOW)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert ("New sweep" in done.stdout) == (part.name != "experiments")
    assert ("Robustness" in done.stdout) == (part.name != "analysis")


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
