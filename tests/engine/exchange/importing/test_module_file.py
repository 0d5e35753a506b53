"""A module of a Python file is built and exported in a process of its own, and only where it is trusted."""

import json
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.exchange.importing.module_file import Example, import_module, read_arguments, read_example
from netwright.engine.user_code import trust
from netwright.engine.user_code.registry import module_names

SOURCE = """
import sys
from torch import nn

print("this is no JSON")


class Net(nn.Module):
    def __init__(self, width, depth=1):
        super().__init__()
        if width < 1:
            raise ValueError("width is to be positive")
        self.hidden = nn.Linear(3, width)
        self.layers = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth)])

    def forward(self, x):
        return self.layers(self.hidden(x))
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "models.py"
    path.write_text(SOURCE)
    return path


def test_the_command_imports_a_class(
    source: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(trust.GRANTS, raising=False)
    target = source.with_name("net.netwright")
    command = ["import", f"{source}:Net", "-o", str(target), "--input", "3", "--args", "4, depth=2", "--json"]
    assert main(command) == 2
    assert "is not trusted" in capfd.readouterr().out
    assert not target.exists()
    monkeypatch.setenv(trust.GRANTS, "[]")
    assert main([*command, "--trust"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert report["agrees"]
    assert report["parameters"] == 3 * 4 + 4 + 2 * (4 * 4 + 4)
    assert report["source"] == str(source)
    assert report["notes"][-1].startswith("The module was run: torch.export's program gives the same numbers")
    assert target.is_file()


@pytest.mark.parametrize(
    ("name", "arguments", "examples", "words"),
    [
        ("Nte", "4", ["3"], "models.py has no class 'Nte'"),
        ("Net", "", ["3"], "Net cannot be built: TypeError"),
        ("Net", "0", ["3"], "models.py, line 12: Net cannot be built: ValueError: width is to be positive"),
        ("Net", "4", ["5"], "models.py, line 17: it fails on inputs of these sizes: RuntimeError"),
        ("sys", "", ["3"], "sys cannot be built"),
        ("Net", "4", [], "sizes of the inputs"),
        ("Net", "open('x')", ["3"], "expected plain values"),
    ],
)
def test_errors_name_the_line(
    name: str, arguments: str, examples: list[str], words: str, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(trust.GRANTS, json.dumps([str(source.parent.resolve())]))
    inputs = [read_example(text) for text in examples]
    with pytest.raises(UserError, match=words):
        import_module(source, name, source.with_name("net.netwright"), inputs, arguments)


def test_what_is_typed() -> None:
    assert read_example("3x224x224") == Example((3, 224, 224))
    assert read_example("128:int64") == Example((128,), "int64")
    assert read_arguments("18, num_classes=10, sizes=(1, 2)") == ([18], {"num_classes": 10, "sizes": (1, 2)})
    for text in ("", "3x", "0", "3:text", "-1"):
        with pytest.raises(UserError, match="expected the sizes"):
            read_example(text)


def test_classes_are_found_without_running(source: Path) -> None:
    assert module_names(source) == ("Net",)
