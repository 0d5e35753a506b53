"""What layers of the user's code do is found out in a process of its own, once, and never before it is trusted."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence
from netwright.engine.user_code import measurement, registry, trust
from netwright.engine.user_code.registry import Failed, Measured, Question

CODE = """
import os
from pathlib import Path
import torch
from torch import nn

Path(__file__).with_name("ran").write_text("yes")

class Swish(nn.Module):
    def __init__(self, channels: int, beta: float = 1.0):
        super().__init__()
        self.mix = nn.Conv2d(channels, 2 * channels, 1)
        print("a print is not an answer")

    def forward(self, x):
        return self.mix(x) * torch.sigmoid(x).repeat(1, 2, 1, 1)

class Split(nn.Module):
    def forward(self, x) -> tuple[torch.Tensor, torch.Tensor]:
        return x[:, ::2], x.mean(1)

class Wrong(nn.Module):
    def forward(self, x):
        raise ValueError("not today")

class Crash(nn.Module):
    def forward(self, x):
        os._exit(7)

class Greedy(nn.Module):
    def forward(self, x):
        return x + torch.zeros(2**34)[0]

class Endless(nn.Module):
    def forward(self, x):
        while True:
            pass
"""


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    yield
    registry.forget()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code.py").write_text(CODE)
    registry.look(["code.py"], tmp_path)
    return tmp_path


def question(name: str, *inputs: TensorType, **values: object) -> Question:
    code = registry.file("code.py")
    assert code is not None
    return Question(code.sha256, "class", name, registry.values_text(values), inputs, "auto", "code.py")


def test_nothing_runs_before_it_is_trusted(folder: Path):
    asked = question("Swish", image(2, 5, 5), channels=2)
    with pytest.raises(UserError, match="not trusted"):
        measurement.ask([asked])
    assert not (folder / "ran").exists()
    assert registry.answer(asked) is None


def test_sizes_weights_and_work_are_measured_and_remembered(folder: Path):
    trust.grant(folder)
    swish = question("Swish", image(2, 5, 5), channels=2)
    split = question("Split", sequence(Symbol("T"), 4))
    wrong, crash, after = question("Wrong", features(3)), question("Crash", features(3)), question("Split", features(4))
    add = Question(registry.hash_of("x1 + x2"), "expression", "x1 + x2", "{}", (features(4), features(4)), "auto")
    measurement.ask([swish, split, add, wrong, crash, after])
    found = registry.answer(swish)
    assert found == Measured((image(4, 5, 5),), {"mix.weight": (4, 2, 1, 1), "mix.bias": (4,)}, 2 * 4 * 2 * 25)
    assert registry.answer(split) == Measured((sequence(Symbol("T'"), 4), features(4)), {}, 0)
    assert registry.answer(add) == Measured((features(4),), {}, 0)
    line = CODE.splitlines().index('        raise ValueError("not today")') + 1
    assert registry.answer(wrong) == Failed(f"code.py, line {line}: ValueError: not today")
    assert registry.answer(crash) == Failed("code.py: it ended the process with code 7: a print is not an answer.")
    failed = registry.answer(after)
    assert isinstance(failed, Failed)
    assert "the first axis of what comes out must be the batch" in failed.message
    registry.forget()
    assert registry.answer(swish) == found
    assert registry.answer(wrong) is None


def test_memory_and_time_have_limits(folder: Path):
    trust.grant(folder)
    greedy, endless = question("Greedy", features(3)), question("Endless", features(3))
    measurement.ask([greedy])
    measurement.ask([endless], patience_s=3)
    for asked, words in ((greedy, "memory"), (endless, "no answer within 3 seconds")):
        found = registry.answer(asked)
        assert isinstance(found, Failed)
        assert words in found.message


def test_a_file_that_changed_is_another_file(folder: Path):
    before = registry.file("code.py")
    assert not registry.look(["code.py"], folder)
    (folder / "code.py").write_text(CODE + "\n# changed\n")
    assert registry.look(["code.py"], folder)
    after = registry.file("code.py")
    assert before is not None
    assert after is not None
    assert before.sha256 != after.sha256


@pytest.mark.parametrize("text", ["[", "{}", "[1]", '[{"question": 1, "answer": 2}]'])
def test_a_damaged_cache_is_an_empty_one(folder: Path, text: str):
    asked = question("Split", features(4))
    path = registry._cache(asked.sha256)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert registry.answer(asked) is None
    registry.learn({asked: Measured((features(4),), {}, 0)})
    assert len(json.loads(path.read_text())) == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [("absent.py", "There is no file"), ("bad.py", "not UTF-8"), (".", "is not a file")],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, name: str, words: str):
    (tmp_path / "bad.py").write_bytes(b"\xff\xfe\x80")
    registry.look([name], tmp_path)
    code = registry.file(name)
    assert code is not None
    assert words in code.error
