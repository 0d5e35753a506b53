"""What the text of a file says, without running it."""

import contextlib

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import Choice, Float, Int
from netwright.engine.core.list_fields import Ints
from netwright.engine.user_code.signature import Parameter, Signature, pick, read_signatures

TEXT = """
import os
raise SystemExit("this must not run")

class Gate(nn.Module):
    def __init__(self, channels: int, *, rate: float = 0.5, mode: Literal["soft", "hard"] = "soft",
                 size: tuple[int, int] = (3, 5), bias: "bool" = True, name: str = "", act=torch.relu, steps=4,
                 low: float = 1, odd: int = "x") -> None:
        ...

    def forward(self, x, gate: torch.Tensor, scale=None) -> tuple[torch.Tensor, torch.Tensor]:
        ...

class Special(Gate):
    def forward(self, x: Tensor) -> Tensor: ...

class Plain:
    pass

class NoForward(torch.nn.Module):
    pass

class Needs(nn.Module):
    def __init__(self, inner: nn.Module): ...
    def forward(self, x): ...

def blend(x, y: torch.Tensor, amount: float = 0.5): ...
def _private(x): ...
"""


def signature(name: str) -> Signature:
    return next(one for one in read_signatures(TEXT, "gate.py") if one.name == name)


def test_fields_come_from_annotations_and_defaults():
    gate = signature("Gate")
    assert gate.parameters[0] == Parameter("channels", "int", 1, is_required=True)
    by_name = {p.name: p for p in gate.parameters}
    assert list(by_name) == ["channels", "rate", "mode", "size", "bias", "name", "steps", "low"]
    assert by_name["mode"] == Parameter("mode", "choice", "soft", ("soft", "hard"))
    assert by_name["size"] == Parameter("size", "ints", (3, 5))
    assert by_name["low"] == Parameter("low", "float", 1.0)
    kinds = {name: type(p.field()) for name, p in by_name.items()}
    assert (kinds["channels"], kinds["rate"], kinds["mode"], kinds["size"]) == (Int, Float, Choice, Ints)


def test_tensors_of_forward_are_inputs_and_a_tuple_gives_several_outputs():
    assert (signature("Gate").num_inputs, signature("Gate").num_outputs) == (2, 2)
    special = signature("Special")
    assert (special.num_inputs, special.num_outputs) == (1, 1)
    assert [p.name for p in special.parameters][:2] == ["channels", "rate"]


def test_a_function_takes_its_tensors_first():
    blend = signature("blend")
    assert (blend.kind, blend.num_inputs, [p.name for p in blend.parameters]) == ("function", 2, ["amount"])


def test_only_modules_and_public_functions_are_offered():
    names = [one.name for one in read_signatures(TEXT, "gate.py")]
    assert names == ["Gate", "Special", "NoForward", "Needs", "blend"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NoForward", r"gate\.py, line \d+: NoForward has no method 'forward'"),
        ("Needs", r"gate\.py, line \d+: Needs: parameter 'inner' is a nn\.Module and no default"),
        (
            "Gat",
            r"gate\.py has no class that is an nn\.Module named \"Gat\"\. Did you mean 'Gate'\? It has Gate, Special",
        ),
    ],
)
def test_what_cannot_be_a_layer_is_refused_in_words(name: str, words: str):
    with pytest.raises(UserError, match=words):
        pick(read_signatures(TEXT, "gate.py"), name, "class", "gate.py")


def test_an_error_of_syntax_names_the_line():
    with pytest.raises(UserError, match=r"bad\.py, line 2: this is not valid Python"):
        read_signatures("x = 1\ndef (\n", "bad.py")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "-" * 100_000 + "1",
        f"class A(nn{'.a' * 3000}): ...",
        f"class A(nn.Module):\n def forward(self, x: {'a[' * 150}0{']' * 150}): ...",
        f"def f(x: torch.Tensor, y: int = {'+'.join('1' * 3000)}): ...",
    ],
)
def test_a_hostile_text_is_read_or_refused_in_words(text: str):
    with contextlib.suppress(UserError):
        assert isinstance(read_signatures(text, "deep.py"), tuple)


@pytest.mark.parametrize("parameter", signature("Gate").parameters, ids=lambda p: p.name)
def test_a_parameter_is_the_same_after_writing_and_reading(parameter: Parameter):
    assert Parameter.read(parameter.write()) == parameter


@pytest.mark.parametrize(
    "data", [None, [], ["a b", "int", 1], ["a", "module", 1], ["a", "int", "x"], ["a", "choice", "x", ["y"]], [1, 2, 3]]
)
def test_a_damaged_parameter_is_refused(data: object):
    with pytest.raises(ValueError, match=r"^(?!.*Traceback)"):
        Parameter.read(data)


@pytest.mark.parametrize(
    ("parameters", "inputs", "told"),
    [("x, lengths=None", 1, True), ("x, y, *, lengths=None", 2, True), ("x, lengths", 2, False), ("x", 1, False)],
)
def test_lengths_are_asked_for_by_a_parameter_that_may_be_left_out(parameters: str, inputs: int, told: bool):
    text = f"class A(nn.Module):\n    def forward(self, {parameters}): ...\ndef f({parameters}): ..."
    for found in read_signatures(text, "a.py"):
        assert (found.num_inputs, found.takes_lengths, found.parameters) == (inputs, told, ())
