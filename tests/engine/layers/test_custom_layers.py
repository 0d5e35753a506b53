"""Layers of the user's code: fields from its text, sizes that were measured, and warnings until then."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.core.errors import FieldErrors, ShapeError, UnknownSizesError
from netwright.engine.core.types import TensorType, features, image
from netwright.engine.layers.base import Call, LayerType
from netwright.engine.layers.custom_layers import Custom, Function
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.catalog import catalog
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from netwright.engine.project.network_json import read_network, write_network
from netwright.engine.user_code import registry, trust
from netwright.engine.user_code.registry import Failed, Measured
from tests.builders import add, chain, layer

TEXT = """
from torch import nn

class Gate(nn.Module):
    def __init__(self, width: int, output: float = 1.0, _hidden: bool = False, mode: Literal["a", "b"] = "a"): ...
    def forward(self, x, y): ...

class Plain(nn.Module):
    def forward(self, x): ...

def blend(x, amount: float = 0.5): ...
"""


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    (tmp_path / "gate.py").write_text(TEXT)
    registry.look(["gate.py"], tmp_path)
    yield
    registry.forget()


def made(name: str, type: type[Custom] | type[Function] = Custom) -> Custom | Function:
    code = registry.file("gate.py")
    assert code is not None
    return type.of("gate.py", next(one for one in code.signatures if one.name == name))


def refusal(type: LayerType, *x: TensorType) -> str:
    with pytest.raises(ShapeError) as caught:
        type.output(*x)
    return str(caught.value)


def test_the_fields_of_the_class_are_fields_of_the_layer():
    gate = made("Gate").replace(width=4, output_=0.5)
    assert (gate.key, gate.short_value(), gate.input_ports(), gate.output_ports()) == (
        "custom",
        "Gate",
        ("in1", "in2"),
        ("out",),
    )
    assert [name for name in gate.fields if name not in Custom.fields] == ["width", "output_", "value_hidden", "mode"]
    assert [gate.fields[name].label for name in ("output_", "value_hidden")] == ["output", "_hidden"]
    assert gate.handed() == {"width": 4, "output": 0.5}
    assert type(gate) is type(made("Gate"))
    assert gate == made("Gate").replace(width=4, output_=0.5)
    assert catalog()["custom"] is Custom
    with pytest.raises(FieldErrors, match="mode: expected one of a, b"):
        gate.replace(mode="c")


def test_it_is_the_same_in_the_project_file_without_the_file_of_the_code():
    network = chain(layer("feature_input", channels=4), made("Plain"), Function(expression="x1 * 2"))
    gate = made("Gate").replace(width=4, mode="b", layout="features")
    blend = made("blend", Function).replace(amount=0.25)
    registry.forget()
    for type in (*[one.type for one in network.layers.values()], gate, blend):
        written = json.loads(json.dumps(type.write()))
        assert catalog()[type.key].read(written, "fields") == type
    assert read_network(write_network(network, Layout()))[0] == network
    assert gate.write()["values"] == {"width": 4, "mode": "b"}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"values": {"width": 1}}, "fields.values.width: there is no such field in the signature"),
        ({"values": []}, "fields.values: expected an object"),
        ({"signature": {}}, "fields.signature: expected a list"),
        ({"signature": [["a", "module", 1]]}, r"fields.signature\[0\]: expected"),
        ({"signature": [["a", "int", 1]], "values": {"a": "x"}}, "fields.a: expected a whole number"),
        ({"width": 3}, "fields.width: there is no such field. What the code takes stands in 'values', and what it is"),
        ({"clas_name": "A"}, "fields.clas_name: there is no such field. Did you mean 'class_name'?"),
        ({"signature": [["a", "int", 1]], "a": 3}, "fields.a: it belongs into the object 'values'"),
        ({"nothing": 1}, "fields.nothing: there is no such field"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_path(fields: dict[str, object], words: str):
    with pytest.raises(FieldErrors, match=words):
        Custom.read(fields, "fields")


def test_sizes_are_unknown_until_they_are_measured_and_only_a_warning():
    type = made("Plain")
    network = chain(layer("image_input", channels=1, size=6), type, layer("relu"))
    analysis = analyse(network)
    assert [(p.severity, p.name) for p in analysis.problems] == [("warning", "custom_1")]
    assert "its folder is not trusted" in analysis.problems[0].message
    assert not analysis.has_errors
    assert len(analysis.shapes) == 1
    registry.learn({type.question((image(1, 6, 6),)): Measured((image(2, 3, 3),), {"w": (2, 5)}, 7)})
    analysis = analyse(network)
    assert not analysis.problems
    assert (analysis.parameters, analysis.flops) == (10, 7)
    assert [facts.output for facts in analysis.shapes.values()] == [image(1, 6, 6), image(2, 3, 3), image(2, 3, 3)]


def test_what_can_be_told_without_running_anything_is_an_error(tmp_path: Path):
    x = features(4)
    assert refusal(Custom(), x) == "Choose the Python file that holds the code."
    assert "has no class that is an nn.Module named \"Gat\". Did you mean 'Gate'?" in refusal(
        Custom(file="gate.py", class_name="Gat"), x
    )
    assert "takes 2 tensors, the layer has 1 input" in refusal(Custom(file="gate.py", class_name="Gate"), x)
    with pytest.raises(UnknownSizesError, match=r"Nothing is known yet about the file other\.py"):
        Custom(file="other.py", class_name="Other").output(x)
    assert refusal(Function(expression="x1 +"), x).startswith("This is not a Python expression")
    assert "It does not use x2" in refusal(Function(num_inputs=2), x, x)
    type = made("Plain")
    registry.learn({type.question((x,)): Measured((x, x), {}, 0)})
    assert "2 tensors came out, the layer has 1 output. Set the outputs to 2." in refusal(type, x)
    registry.learn({type.question((x,)): Failed("gate.py, line 3: it broke")})
    assert refusal(type, x) == "gate.py, line 3: it broke."


def test_a_file_that_changed_asks_for_its_fields_to_be_read_again(tmp_path: Path):
    gate = made("Gate").replace(width=4, output_=0.5)
    (tmp_path / "gate.py").write_text(TEXT.replace("output: float = 1.0", "gain: float = 2.0"))
    registry.look(["gate.py"], tmp_path)
    assert "no longer takes output" in refusal(gate, features(4), features(4))
    again = gate.with_signature(gate.current())
    assert again.handed() == {"width": 4}
    with pytest.raises(UnknownSizesError):
        again.output(features(4), features(4))


def test_calls_name_the_code_and_what_it_is_given():
    registry.forget()
    gate = Custom(file="gate.py", class_name="Gate")
    assert gate.lower() == Call("code:gate.py:Gate")
    assert Function(expression="x1 * 2").lower() == Call("expression:1:x1 * 2", "function")
    assert Function(file="a/b.py", function_name="f").lower() == Call("code:a/b.py:f", "function")


@pytest.mark.parametrize(
    ("type", "field", "message"),
    [
        (layer("function", expression="x1 +"), "expression", "expression"),
        (layer("function", expression="x1 + x2"), "expression", "x2"),
        (layer("function", file="gate.py", function_name="blned"), "function_name", "blned"),
        (layer("custom"), "file", "Choose the Python file"),
        (layer("custom", file="gate.py", class_name="Gaet"), "class_name", "Gaet"),
    ],
)
def test_what_is_wrong_with_the_code_is_told_before_anything_is_connected(
    type: LayerType, field: str, message: str
) -> None:
    alone, _ = edits.add_layer(Network.empty(), type)
    first, second = analyse(alone).problems[:2]
    assert first.message == "The input is not connected. Connect a layer to it."
    assert (second.severity, second.field) == ("error", field)
    assert message in second.message
    open_end, relu = edits.add_layer(Network.empty(), layer("relu"))
    behind = analyse(add(open_end, type, relu)[0]).problems
    assert second.message in [problem.message for problem in behind], "and behind a layer with unknown sizes"


def test_good_code_that_is_not_connected_has_no_other_problem() -> None:
    for type in (layer("function", expression="x1 * 2"), made("Plain"), made("blend", Function)):
        first, *others = analyse(edits.add_layer(Network.empty(), type)[0]).problems
        assert first.message == "The input is not connected. Connect a layer to it."
        assert not [problem for problem in others if problem.layer]


def test_what_other_code_has_left_is_not_kept() -> None:
    blend = made("blend", Function).replace(amount=0.75)
    function = blend.replace(expression="x1 * 3")
    assert "expression" not in function.write()
    assert function.write()["values"] == {"amount": 0.75}
    assert function == blend
    assert blend.replace(file="", expression="x1 * 3").write() == {"expression": "x1 * 3"}
    assert made("Gate").write()["num_inputs"] == 2, "which its form does not show, but its ports follow"
