"""The state of a training on disk: all of it comes back, nothing in it is executed, what is foreign is refused."""

import math
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.runs.checkpoint_files import STATE, TENSORS, Checkpoint, write_manifest
from netwright.engine.training.checkpoints import (
    RandomStates,
    distribute,
    is_finite,
    read,
    write,
)


def test_everything_comes_back_as_it_was(tmp_path: Path) -> None:
    state: dict[str, Any] = {
        "tensors": [torch.arange(3), torch.tensor(1.5, dtype=torch.float64), torch.tensor([True])],
        "by number": {0: {"step": torch.tensor(2.0)}, 1: {}},
        "numbers": (1, 0.1 + 0.2, math.inf, -math.inf, None, True, "NaN", "ä\n"),
        "$odd": {"$tensor": "no tensor"},
        "empty": [],
    }
    write(state, tmp_path / "one", 3)
    found = read(Checkpoint(tmp_path / "one", 3))
    for one, other in zip(found["tensors"], state["tensors"], strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)
    assert found["by number"][0]["step"] == 2.0
    for key in ("numbers", "$odd", "empty"):
        assert found[key] == state[key]
    assert type(found["numbers"]) is tuple


def test_what_is_no_number_is_found() -> None:
    assert is_finite({"a": [torch.ones(2), torch.tensor([1])], "b": (3, math.nan)})
    assert not is_finite({"a": [{"b": torch.tensor([1.0, math.nan])}]})


def test_a_pickle_is_data_that_is_not_understood(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "executed",)

    write({"a": torch.ones(1)}, tmp_path / "one", 3)
    for name in (STATE, TENSORS):
        (tmp_path / "one" / name).write_bytes(pickle.dumps(Evil()))
        write_manifest(tmp_path / "one", 3)  # by somebody who knows how
        with pytest.raises(UserError, match="cannot be used"):
            read(Checkpoint(tmp_path / "one", 3))
    assert not (tmp_path / "executed").exists()


def test_a_tensor_stands_in_one_place_only(tmp_path: Path) -> None:
    """Named a million times it would take its memory as often."""
    write({"a": torch.ones(1), "b": []}, tmp_path / "one", 3)
    (tmp_path / "one" / STATE).write_text('{"a": {"$tensor": 0}, "b": [{"$tensor": 0}]}')
    write_manifest(tmp_path / "one", 3)
    with pytest.raises(UserError, match="cannot be used: '0'"):
        read(Checkpoint(tmp_path / "one", 3))


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="checkpoint of iteration 3 cannot be written"):
        write({"a": torch.ones(1)}, tmp_path / "file" / "one", 3)


class Number:
    def __init__(self) -> None:
        self.value = 0

    def state_dict(self) -> dict[str, Any]:
        return {"value": self.value}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.value = int(state["value"])


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({}, "does not fit this version"),
        ({"n": {}}, "its part 'n' is another one"),
        ({"n": {"value": 1}, "m": {}}, "m is only in one of the two"),
    ],
)
def test_a_state_of_other_pieces_is_refused(state: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        distribute(state, {"n": Number()})


class Parts:
    """A part with a value of each kind."""

    def __init__(self, **values: Any) -> None:
        own = {"step": 3, "loss": 0.5, "on": True, "name": "adam", "table": [[1.0]], "none": None}
        self.values: dict[str, Any] = {**own, "w": torch.ones(2, 3), **values}

    def state_dict(self) -> dict[str, Any]:
        return {"inner": self.values}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.values = state["inner"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"step": 3.0}, "inner.step is float, expected int"),
        ({"step": True}, "inner.step"),
        ({"loss": "0.5"}, "inner.loss"),
        ({"on": 1}, "inner.on"),
        ({"name": None}, "inner.name is None"),
        ({"table": [["x"]]}, r"inner.table\[0\]\[0\]"),
        ({"table": {}}, "inner.table"),
        ({"w": torch.ones(3, 2)}, r"inner.w is a tensor of float32 \[3, 2\], expected a tensor of float32 \[2, 3\]"),
        ({"w": torch.ones(2, 3, dtype=torch.float64)}, "inner.w is a tensor of float64"),
        ({"w": [1]}, "inner.w"),
    ],
)
def test_other_kinds_and_shapes_are_refused_when_a_checkpoint_is_read(changed: dict[str, Any], words: str) -> None:
    part = Parts()
    distribute({"part": Parts(loss=1, none=[1], table=[[2.0], [3.0]]).state_dict()}, {"part": part})
    assert part.values["none"] == [1], "what is not known yet may be anything, and a whole number is one"
    with pytest.raises(UserError, match=words):
        distribute({"part": Parts(**changed).state_dict()}, {"part": Parts()})


@pytest.mark.parametrize(
    "changed",
    [
        {"torch": "00"},
        {"torch": 5},
        {"numpy": ["MT19937", [-1] * 624, 1, 0, 0.0]},
        {"python": [3, [2**70], None]},
        {"numpy": []},
    ],
)
def test_strange_states_of_random_numbers_are_refused(changed: dict[str, Any]) -> None:
    group: Any = SimpleNamespace(rank=0, size=1)
    piece = RandomStates(group, torch.device("cpu"))
    state = piece.state_dict()
    state["workers"][0] |= changed
    with pytest.raises(UserError, match="its part 'random' is another one"):
        distribute({"random": state}, {"random": piece})
