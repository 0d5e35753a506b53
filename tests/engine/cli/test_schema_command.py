"""The JSON Schemas of outputs and of the files of a run: current, and true of real ones."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.cli.commands import parser
from netwright.engine.cli.main import main
from netwright.engine.cli.outputs.output_table import outputs
from netwright.engine.cli.schema_command import FILES, document, generated
from netwright.engine.core.files import ROOT
from netwright.engine.core.json_schema import schema_of
from tests.json_schema import checked_output, violations


def test_the_shipped_schemas_and_the_tables_of_the_docs_are_what_the_code_declares() -> None:
    for path, content in generated():
        advice = f"{path.name}: outputs have changed: run `python scripts/make_reference.py` and commit what it writes"
        assert path.read_text(encoding="utf-8") == content, advice


def test_every_command_with_json_has_a_schema() -> None:
    def names(command: argparse.ArgumentParser, name: str) -> Iterator[str]:
        for action in command._actions:
            if isinstance(action, argparse._SubParsersAction):
                for key, inner in action.choices.items():
                    yield from names(inner, f"{name} {key}".strip())
            elif "--json" in action.option_strings:
                yield name

    assert sorted(names(parser(), "")) == sorted(outputs()), "declare what a command prints in engine/cli/outputs"


def test_a_type_without_json_is_refused() -> None:
    with pytest.raises(TypeError, match="has no JSON Schema"):
        schema_of(complex)


def test_schema_prints_one_and_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    listed = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert listed == [*FILES, *outputs()]
    assert main(["schema", "queue", "list"]) == 0
    assert json.loads(capsys.readouterr().out) == document("queue list")
    assert main(["schema", "resutl"]) == 2
    assert "Did you mean 'result'?" in capsys.readouterr().err


def test_events_of_older_runs_follow_the_schema() -> None:
    schema = document("event")
    for log in (ROOT / "tests" / "golden" / "runs").glob("*/events.jsonl"):
        for line in log.read_text(encoding="utf-8").splitlines():
            assert list(violations(json.loads(line), schema)) == []


def test_what_commands_print_and_a_run_writes_follows_the_schemas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def said(*words: str, code: int = 0) -> None:
        assert main([*words, "--json"]) == code
        checked_output(capsys.readouterr().out)

    said("templates")
    said("new", "digits")
    said("new", "resnet18")
    said("options")
    said("check", "digits.netwright")
    said("check", "digits.netwright", "resnet18.netwright", "gone.netwright", code=2)
    said("check", "gone.netwright", code=2)
    said("data", "inspect", "digits.netwright")
    said("data", "check", "digits.netwright", "--labels")
    said("compare", "digits.netwright", "resnet18.netwright", code=4)
    said("draw", "digits.netwright", "-o", "digits.svg")
    said("measure", "digits.netwright")
    said("devices")
    said("queue", "add", "digits.netwright")
    said("queue", "list")
    said("queue", "move", "1")
    said("queue", "remove", "1")
    short = ["--set", "training.max_epochs=1"]
    train = ["train", "digits.netwright", *short, "--run-dir", "run", "--require", "accuracy>=0.999999", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "netwright.engine", *train], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4, done.stderr
    assert checked_output(done.stdout)["error"]["code"] == "requirement_not_met"
    said("resume", "run", code=2)
    said("follow", "run")
    said("stop", "run", code=2)
    said("pause", "run", code=2)
    said("runs", ".")
    said("show", "run")
    said("compare", "run", "run")
    said("note", "run", "a note")
    said("tag", "run", "a", "b")
    said("curves", "run", "-o", "curves.csv")
    said("export", "run", "--format", "pytorch", "-o", "net.py")
    for name, file in (("run", "run.json"), ("result", "result.json")):
        content = json.loads((tmp_path / "run" / file).read_text(encoding="utf-8"))
        assert list(violations(content, document(name, is_closed=True))) == []
    event = document("event", is_closed=True)
    for line in (tmp_path / "run" / "events.jsonl").read_text(encoding="utf-8").splitlines():
        assert list(violations(json.loads(line), event)) == []
