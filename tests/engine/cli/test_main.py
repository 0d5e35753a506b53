"""The command line in real processes: exit codes, what is printed where, and the contract of `check --json`."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli import main
from netwright.engine.cli.commands import HIDDEN, commands, parser
from netwright.engine.core.errors import (
    EXIT_DEFECT,
    EXIT_DONE,
    EXIT_INPUT,
    EXIT_REQUIREMENT,
    EXIT_STOPPED,
    EXIT_UNAVAILABLE,
)
from netwright.engine.core.version import VERSION
from netwright.engine.placement.cluster_part import has_clusters
from netwright.engine.project.file import save
from netwright.engine.project.project import Project, set_option
from tests.builders import chain, classifier, layer

ROOT = Path(__file__).parents[3]


def engine(*arguments: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run `netwright-engine` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "netwright.engine", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A project without errors (and without data)."""
    path = tmp_path / "good.netwright"
    save(Project(classifier()), path)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A project whose second layer does not fit."""
    path = tmp_path / "bad.netwright"
    save(Project(chain(layer("feature_input"), layer("max_pool2d"), layer("relu"))), path)
    return path


def test_check_of_a_good_project(good: Path) -> None:
    done = engine("check", good)
    assert (done.returncode, done.stderr) == (EXIT_DONE, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["layer", "type", "output", "parameters", "FLOPs", "activations"]
    assert lines[2].split() == ["fc_1", "Fully", "connected", "8", "296", "576", "4.0", "KiB"]
    assert lines[-3].split() == ["total", "323", "624", "29", "KiB"]
    assert lines[-2] == "memory: 33 KiB at batch 128 with sgdm, estimated"
    assert lines[-1].startswith("note: data.source: The project has no data yet.")


def test_check_json_is_the_contract(good: Path, bad: Path) -> None:
    done = engine("check", good, "--json")
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (EXIT_DONE, "", 1)
    found = json.loads(done.stdout)
    envelope = ["schema_version", "command", "path"]
    assert list(found) == [*envelope, "problems", "layers", "parameters", "flops", "memory_bytes"]
    assert (found["schema_version"], found["command"], found["path"]) == (1, "check", str(good))
    assert found["layers"][1] == {
        "name": "fc_1",
        "type": "fully_connected",
        "output": [8],
        "parameters": 296,
        "flops": 576,
        "activation_bytes": 128 * 8 * 4,
    }
    assert (found["parameters"], found["flops"]) == (323, 624)
    activations = sum(row["activation_bytes"] for row in found["layers"])
    assert found["memory_bytes"] == activations + 3 * 4 * 323  # weights, gradients, momentum
    assert [list(problem) for problem in found["problems"]] == [["severity", "layer", "field", "message"]]

    done = engine("check", bad, "--json")
    assert (done.returncode, done.stderr) == (EXIT_INPUT, "")
    found = json.loads(done.stdout)
    first = found["problems"][0]
    assert (first["severity"], first["layer"], first["field"]) == ("error", "pool_1", "in")
    assert [(row["name"], row["output"], row["flops"]) for row in found["layers"]][2] == ("relu_1", None, None)


def test_check_lists_the_layers_of_a_cycle_too(tmp_path: Path) -> None:
    path = tmp_path / "cycle.netwright"
    rows: list[dict[str, Any]] = [{"id": n, "name": n, "type": "relu"} for n in "ab"]
    network = {"layers": rows, "connections": [["a", "b"], ["b", "a"]]}
    path.write_text(json.dumps({"netwright": [1, 0], "network": network}))
    done = engine("check", path, "--json")
    assert done.returncode == EXIT_INPUT
    assert [row["name"] for row in json.loads(done.stdout)["layers"]] == ["a", "b"]


def test_check_says_what_comes_from_a_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "newer.netwright"
    path.write_text('{"netwright": [1, 5], "sweep": {}}')
    found = json.loads(engine("check", path, "--json").stdout)
    assert any("newer version (format 1.5)" in problem["message"] for problem in found["problems"])
    path.write_text('{"netwright": [2, 0]}')
    done = engine("check", path, "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (EXIT_INPUT, "invalid_input")
    assert "this file has format 2.0; this version of Netwright reads up to 1.x" in done.stderr


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"netwright": [1, 0], "training": {"self": 1}}', b"\xff\xfe", b"[" * 99999]
)
def test_a_broken_file_is_one_message(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.netwright"
    path.write_bytes(content)
    done = engine("check", path)
    assert (done.returncode, done.stdout) == (EXIT_INPUT, "")
    assert done.stderr.startswith(f"netwright-engine: {path}")
    assert done.stderr.count("\n") == 1


def test_all_wrong_settings_are_refused_at_once(good: Path) -> None:
    wrong = ["training.max_epochs=0", "trainig.seed=1", "data.validation_share=half", "environment.devices=--1"]
    done = engine("check", good, *(part for setting in wrong for part in ("--set", setting)))
    assert (done.returncode, done.stdout) == (EXIT_INPUT, "")
    assert [line.partition(": expected")[0] for line in done.stderr.splitlines()] == [
        "netwright-engine: training.max_epochs",
        "--set trainig.seed=1: there is no section 'trainig'. Did you mean 'training'? "
        "Sections are: data, training, environment, run, "
        "weights, constants, experiment.",
        "data.validation_share",
        "environment.devices",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["chekc"],
        ["queue", "lst"],
        ["check"],
        ["check", "/nowhere.netwright"],
        ["check", "/"],
        ["check", "x" * 300],
        ["check", "/dev/zero"],
        ["follow", "/nowhere"],
        ["follow", "x" * 300],
        ["stop", "/"],
        ["runs", "/nowhere"],
        ["train", "/nowhere.netwright", "--require", "accuracy"],
        ["train", "/nowhere.netwright", "--junit", "/nowhere/a.xml"],
    ],
)
def test_wrong_input_ends_with_two_and_no_traceback(arguments: list[str]) -> None:
    done = engine(*arguments)
    assert (done.returncode, done.stdout) == (EXIT_INPUT, "")
    assert "netwright-engine" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("line", [line for command in commands().values() for line in command.examples])
def test_examples_in_the_help_are_understood(line: str) -> None:
    words = shlex.split(line)
    arguments = parser(words[0]).parse_args(words)
    for setting in getattr(arguments, "settings", []):
        set_option(Project(), setting)
    assert len(line) + len("  netwright-engine ") <= 100


def test_help_shows_examples_line_by_line_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["check", "--help"])
    assert "\n  netwright-engine check digits.netwright\n" in capsys.readouterr().out
    assert main.main(["--help"]) == EXIT_DONE
    assert "exit codes:\n  0  " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "x", "--max_epochs", "3"], "train: there is no --max_epochs. Say --set training.max_epochs=3."),
        (["check", "x", "--mini-batch-size=7"], "Say --set training.mini_batch_size=7."),
        (["train", "x", "y"], "train: not understood: y. `netwright-engine train --help` says what it takes."),
        (["queue", "list", "--max_epochs"], "queue list: not understood: --max_epochs. `netwright-engine queue list -"),
        (["train", "RUN"], "is the folder of a run. Its project is "),
        (["check", "PROJECT", "--set", "training.max_epoch=3"], "no such option. Did you mean 'max_epochs'?\n"),
        (["check", "PROJECT", "--set", "data.zzz=3"], "`netwright-engine options data.` lists them."),
        (["train", "x", "--epochs", "5"], "train: there is no --epochs. Say --set training.max_epochs=5."),
        (["train", "x", "--lr=0.01"], "Say --set training.initial_learn_rate=0.01."),
        (["train", "x", "--batch-size", "32", "--epochs", "5"], "Say --set training.mini_batch_size=32."),
        (["train", "x", "--optimizer", "sgd"], "Say --set training.solver=sgdm."),
        (["train", "x", "--device", "cuda"], "Say --set environment.target=gpu."),
        (["resume", "x", "--gpus", "2"], "Say --set environment.target=multi-gpu."),
        (["train", "x", "--device", "mps"], "Say --set environment.target=VALUE; it takes one of auto, cpu, multi-cpu"),
        (["train", "x", "--epochs", "--json"], "Say --set training.max_epochs=VALUE; it takes a whole number from 1"),
    ],
)
def test_what_is_not_understood_says_the_way(
    good: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    run = good.parent / "run"
    run.mkdir()
    (run / "run.json").touch()
    places = {"PROJECT": str(good), "RUN": str(run)}
    assert main.main([places.get(word, word) for word in arguments]) == EXIT_INPUT
    assert words in capsys.readouterr().err


def test_a_reader_who_leaves_changes_no_exit_code(good: Path, bad: Path) -> None:
    for path, code in ((good, EXIT_DONE), (bad, EXIT_INPUT)):
        for sink in ("true", "head -1 >/dev/null"):
            command = f"{shlex.quote(sys.executable)} -m netwright.engine check {shlex.quote(str(path))}"
            line = f"{command} | {sink}; exit ${{PIPESTATUS[0]}}"
            done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (code, "")


def test_output_that_cannot_be_written_is_said(good: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "netwright.engine", "check", str(good)]
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == EXIT_INPUT
    assert done.stderr == "netwright-engine: the output could not be written: No space left on device.\n"


def test_any_encoding_of_the_terminal_will_do(good: Path) -> None:
    done = engine("check", good, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (EXIT_DONE, "")
    assert "1 \\xd7 6 \\xd7 6" in done.stdout


def run_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """The exit code of a command that ends with this error."""

    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr("netwright.engine.cli.schema_command.run", fail)
    return main.main(["schema"])


def test_what_escapes_is_a_defect_of_ours(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_with(monkeypatch, BrokenPipeError()) == EXIT_DEFECT  # of a worker, say, and none of our own output
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "this is a defect of Netwright" in said
    assert run_with(monkeypatch, KeyboardInterrupt()) == EXIT_STOPPED
    assert capsys.readouterr().err == "netwright-engine: stopped.\n"


def test_a_file_name_has_no_say_over_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "\x1b]0;owned\x07.netwright"
    path.write_text("no project")
    assert main.main(["check", str(path)]) == EXIT_INPUT
    said = capsys.readouterr().err
    assert "/\\u001b]0;owned\\u0007.netwright: not a project file" in said


def test_help_and_version() -> None:
    done = engine("--help")
    assert done.returncode == EXIT_DONE
    assert all(f"\n  {command} " in done.stdout for command in commands())
    assert "\n  serve " not in done.stdout
    assert engine("--version").stdout == f"netwright-engine {VERSION}\n"


@pytest.mark.parametrize("command", [*commands(), *HIDDEN])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main.main([command, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: netwright-engine {command}")


@pytest.mark.parametrize("words", [[], ["help"], ["-h"], ["queue"]])
def test_a_command_without_its_rest_shows_its_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(words) == EXIT_DONE
    shown = capsys.readouterr()
    assert shown.out.startswith("usage: netwright-engine")
    assert shown.err == ""
    if words != ["queue"]:
        assert [line for line in shown.out.splitlines() if re.fullmatch(r"[a-z ]+:", line)] == [
            *(
                "projects:",
                "training:",
                *(["clusters:"] if has_clusters() else []),
                "a run that trains:",
                "runs:",
                "a trained network:",
                "this program:",
            ),
            "exit codes:",
        ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chekc"], "There is no command 'chekc'. Did you mean 'check'? `netwright-engine help` lists them."),
        (["help", "trian"], "There is no command 'trian'. Did you mean 'train'?"),
        (
            ["queue", "lst"],
            "there is no 'lst'. Did you mean 'list'? It takes add, list, run, start, move, show, stop, remove.",
        ),
        (["train", "x", "--environment", "multi-gpus"], "Did you mean 'multi-gpu'?"),
        (["export", "x"], "the following arguments are required: -o/--output."),
        (["export", "x", "-o", "net.pt"], "net.pt, does not say the format: it has '.pt'. Name it with one of .onnx, "),
        (
            ["export", "x", "-o", "net"],
            "net, does not say the format: it has no suffix. Name it with one of .onnx, .py",
        ),
    ],
)
def test_what_is_mistyped_gets_a_suggestion(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(words) == EXIT_INPUT
    assert said in capsys.readouterr().err


def test_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main.main(["help", "queue", "add"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("usage: netwright-engine queue add")


def test_the_list_of_commands_imports_none_of_them() -> None:
    program = "import sys; from netwright.engine.cli import main; main.main([]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {name for name in loaded if name.startswith("netwright.engine.")} == {
        *(
            "netwright.engine.cli",
            "netwright.engine.cli.main",
            "netwright.engine.cli.commands",
            "netwright.engine.core",
            "netwright.engine.core.errors",
            "netwright.engine.core.part_registry",
        ),
        "netwright.engine.core.version",
    }
    assert not loaded & {"shtab", "rich"}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["completion", shell]) == EXIT_DONE
    script = capsys.readouterr().out
    assert all(words in script for words in ("largest-batch", "--require", "multi-cpu"))
    assert "serve" not in script
    checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True) if shell == "bash" else None
    assert checked is None or checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["check", "/nowhere.netwright"], EXIT_INPUT, "not_found"),
        (["check", "PROJECT", "--set", "training.max_epoch=3"], EXIT_INPUT, "invalid_option"),
        (["check", "PROJECT", "--set", "training.max_epochs=0"], EXIT_INPUT, "invalid_option"),
        (["check", "BAD"], EXIT_INPUT, "invalid_project"),
        (["check", "PROJECT", "--strikt"], EXIT_INPUT, "usage"),
        (["check"], EXIT_INPUT, "usage"),
        (["chekc", "PROJECT"], EXIT_INPUT, "unknown_command"),
        (["check", "/"], EXIT_INPUT, "invalid_input"),
        (["show", "/nowhere"], EXIT_INPUT, "not_found"),
        (["runs", "/nowhere"], EXIT_INPUT, "not_found"),
        (["compare", "PROJECT", "BAD"], EXIT_REQUIREMENT, "different"),
        pytest.param(
            ["train", "PROJECT", "--environment", "parallel"],
            EXIT_UNAVAILABLE,
            "no_profile",
            marks=pytest.mark.part("cluster"),
        ),
        (["train", "PROJECT", "--junit", "/nowhere/a.xml"], EXIT_INPUT, "not_found"),
        (["draw", "PROJECT", "-o", "/nowhere/a.svg"], EXIT_INPUT, "not_found"),
    ],
)
def test_json_is_written_of_errors_too(
    good: Path, bad: Path, words: list[str], code: int, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [{"PROJECT": str(good), "BAD": str(bad)}.get(word, word) for word in words]
    assert main.main([*words, "--json"]) == code
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert list(told)[:2] == ["schema_version", "command"]
    assert told["error"]["code"] == error
    assert list(told["error"]) in (["code", "message"], ["code", "message", "hint"])
    assert told["error"].get("hint", "") in told["error"]["message"]
    assert told["error"]["message"].splitlines()[0].partition(":")[0] in shown.err or error in (
        *("invalid_project", "different"),
    )


def test_a_defect_is_reported_as_json_and_junit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("netwright.engine.cli.train_command.run_train", fail)
    junit = tmp_path / "a.xml"
    assert main.main(["train", "x.netwright", "--json", "--junit", str(junit)]) == EXIT_DEFECT
    told = json.loads(capsys.readouterr().out)
    assert told["error"]["code"] == "defect"
    assert "ZeroDivisionError: oops" in told["error"]["message"]
    assert 'errors="1"' in junit.read_text(encoding="utf-8")


@pytest.mark.parametrize("rest", [["--set", "training.max_epoch=3"], ["--nonsense"], ["--environment", "moon"]])
def test_junit_is_written_of_errors_before_the_training(good: Path, tmp_path: Path, rest: list[str]) -> None:
    junit = tmp_path / "a.xml"
    assert main.main(["train", str(good), f"--junit={junit}", *rest]) == EXIT_INPUT
    text = junit.read_text(encoding="utf-8")
    assert 'errors="1"' in text
    assert rest[-1].partition("=")[0].split(".")[-1] in text
