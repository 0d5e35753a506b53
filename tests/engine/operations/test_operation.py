"""What holds for every operation: help on each field, a function that does the work, and the faces that show it."""

import argparse
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_type_hints

import pytest

from netwright.engine import api
from netwright.engine.cli.commands import OPERATION, commands, parser
from netwright.engine.cli.operation_command import add_argument, add_stream
from netwright.engine.cli.operation_command import run as run_command
from netwright.engine.cli.outputs.output_table import outputs
from netwright.engine.cli.outputs.run_outputs import QueueEntry
from netwright.engine.core.dataclass_json import JsonShapeError
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import ROOT
from netwright.engine.core.json_schema import schema_of
from netwright.engine.core.part_registry import imported
from netwright.engine.core.version import SCHEMA_VERSION
from netwright.engine.operations.operation import (
    Argument,
    Operation,
    Request,
    Result,
    Stream,
    module_name,
    operation,
    operations,
)

ALL = [pytest.param(declared, id=declared.name) for declared in operations()]
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def command_of(name: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = parser(name.split(" ")[0])
    for word in name.split(" "):
        (choices,) = (a.choices for a in command._actions if isinstance(a, argparse._SubParsersAction))
        command = choices[word]
    return command


@pytest.mark.parametrize("declared", ALL)
def test_each_field_has_help_and_the_function_takes_the_request(declared: Operation[Any, Any]) -> None:
    for parameter in declared.parameters():
        assert len(parameter.argument.help) > 5, parameter.name
        assert not parameter.argument.help.endswith("."), parameter.name
    hints = get_type_hints(imported(declared.function) if isinstance(declared.function, str) else declared.function)
    gives, (takes,) = hints.pop("return"), hints.values()
    assert takes is declared.request
    if "command" in declared.faces:
        assert set(declared.results) == (set(gives.__args__) if isinstance(gives, UnionType) else {gives})
    assert operation(declared.name) is declared
    assert declared.description.partition("\n")[0].endswith(".")


@pytest.mark.parametrize("declared", ALL)
def test_each_face_that_is_declared_shows_it(declared: Operation[Any, Any]) -> None:
    if "command" in declared.faces:
        flags = {flag for action in command_of(declared.name)._actions for flag in action.option_strings}
        shown = [parameter for parameter in declared.parameters() if "command" in parameter.argument.faces]
        wanted = {flag for parameter in shown if not parameter.argument.record for flag in parameter.flags}
        assert wanted <= flags
        *_, newest = results = outputs()[declared.name]
        assert results == (*declared.results, *([newest] if declared.may_wait else ()))
        assert ("--detach" in flags) == declared.may_wait == (newest is QueueEntry)
        assert f"| `{declared.name}` |" in PAGE
        assert " " in declared.name or commands()[declared.name].module.endswith(OPERATION)
    module = module_name(declared.name)
    if "window" in declared.faces:
        room, _, last = declared.request.__module__.rpartition(".")
        named = re.compile(rf"{room}\.{last} import|{room} import [\w, ]*\b{last}\b")
        assert any(named.search(path.read_text(encoding="utf-8")) for path in (ROOT / "app").rglob("*.py"))
    if "api" in declared.faces:
        assert module in api.__all__
        assert re.search(rf"\b{module}\(", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class WeighRequest(Request):
    """A thing to weigh."""

    path: Annotated[Path, Argument("the thing", metavar="THING")]
    units: Annotated[tuple[str, ...], Argument("units", flags=("--unit",))] = ()
    digits: Annotated[int, Argument("digits")] = 3
    is_wet: Annotated[bool, Argument("weigh it wet")] = False
    more: Annotated[Mapping[str, str], Argument("other values", faces=("window",))] = field(default_factory=dict)

    def check(self) -> None:
        if self.digits < 1:
            raise UserError("Expected at least 1 digit.")


@dataclass(frozen=True, kw_only=True)
class WeighAllRequest(Request):
    """Things to weigh."""

    things: Annotated[tuple[str, ...], Argument("things", reads_input=True)]


@dataclass(frozen=True, kw_only=True)
class WeighResult(Result):
    """What it weighs."""

    weight: float
    note: str | None = None


def weigh(request: WeighRequest) -> WeighResult:
    return WeighResult(weight=len(str(request.path)), note="wet" if request.is_wet else None)


WEIGH: Operation[WeighRequest, WeighResult] = Operation(
    name="weigh",
    request=WeighRequest,
    results=(WeighResult,),
    function=f"{__name__}:weigh",
    description="Weigh a thing.",
)


def test_a_request_is_read_from_json_and_refused_with_its_place() -> None:
    request = WEIGH.read({"path": "a.txt", "units": ["g"], "more": {"b": "c"}})
    assert request == WeighRequest(path=Path("a.txt"), units=("g",), more={"b": "c"})
    for values, message in (
        ({}, "path is missing|'path' is missing"),
        ({"path": "a\0b"}, "path: expected a path"),
        ({"path": "a", "digits": True}, "digits: expected a whole number"),
        ({"path": "a", "is_wet": 1}, "is_wet: expected true or false"),
        ({"path": "a", "units": "g"}, "units: expected a list"),
        ({"path": "a", "wet": True}, "there is no field"),
    ):
        with pytest.raises(JsonShapeError, match=message.replace("'", "[\"']")):
            WEIGH.read(values)


def test_the_json_of_a_result_leaves_out_what_its_schema_does_not_require() -> None:
    schema = schema_of(WeighResult)
    assert (schema["required"], list(schema["properties"])) == (["weight"], ["weight", "note"])
    assert schema["properties"]["note"] == {"type": "string"}
    assert WEIGH.write(WeighResult(weight=2.0)) == {"weight": 2.0}
    assert WEIGH.write(WeighResult(weight=2.0, note="wet")) == {"weight": 2.0, "note": "wet"}


def test_a_parser_follows_from_the_fields() -> None:
    command = argparse.ArgumentParser()
    for parameter in list(WEIGH.parameters())[:4]:
        add_argument(command, parameter)
    arguments = command.parse_args(["a", "--unit", "g", "--unit", "kg", "--digits", "2", "--is-wet"])
    assert vars(arguments) == {"path": Path("a"), "units": ["g", "kg"], "digits": 2, "is_wet": True}


@dataclass(kw_only=True)
class WeightsResult(Result):
    """What things weigh, one by one."""

    unwritten = ("heaviest",)

    weights: Iterable[float]
    sum: float | None = None
    heaviest: float = 0.0

    def summed(self, weights: Iterable[float]) -> Iterator[float]:
        for weight in weights:
            if weight < 0:
                raise UserError("A thing weighs something.")
            self.sum = (self.sum or 0.0) + weight
            self.heaviest = max(self.heaviest, weight)
            yield weight


def weigh_all(request: WeighAllRequest) -> WeightsResult:
    result = WeightsResult(weights=())
    result.weights = result.summed(map(float, request.things))
    return result


WEIGH_ALL: Operation[WeighAllRequest, WeightsResult] = Operation(
    name="weigh all",
    request=WeighAllRequest,
    results=(WeightsResult,),
    function=f"{__name__}:weigh_all",
    description="Weigh things.",
    text=lambda _, result: map(str, result.weights),
    stream=Stream("weights", lambda result: ([name] for name in chain(["weight"], result.weights))),
    remarks=lambda result: [f"the heaviest: {result.heaviest}"],
)


def test_items_are_printed_as_they_come_and_what_follows_from_them_after(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(*words: str) -> str:
        arguments = command.parse_args(words)
        assert run_command(WEIGH_ALL, argparse.Namespace(command="weigh", way="all", **vars(arguments))) == 0
        out, err = capsys.readouterr()
        assert err == "the heaviest: 2.0\n"
        return out

    command = argparse.ArgumentParser()
    for parameter in WEIGH_ALL.parameters():
        add_argument(command, parameter)
    add_stream(command)
    assert printed("1", "2") == "1.0\n2.0\n"
    assert printed("1", "2", "--csv") == "weight\n1.0\n2.0\n"
    whole = {"schema_version": SCHEMA_VERSION, "command": "weigh all", "weights": [1.0, 2.0], "sum": 3.0}
    assert json.loads(printed("1", "2", "--json")) == whole
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n1\n"))
    assert printed("0", "-") == "0.0\n2.0\n1.0\n"
    with pytest.raises(UserError, match="weighs something"):
        printed("1", "-5", "--json")
    cut = json.loads(capsys.readouterr().out)
    assert (cut["weights"], cut["sum"], cut["error"]["message"]) == ([1.0], 1.0, "A thing weighs something.")
    assert WEIGH_ALL.answer({"things": ["1", "2"]}) == {"weights": [1.0, 2.0], "sum": 3.0}
    assert set(schema_of(WeightsResult)["properties"]) == {"weights", "sum"}


def test_what_does_not_go_together_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.engine.operations.operation.importlib.import_module", pytest.fail)
    with pytest.raises(UserError, match="at least 1 digit"):
        WEIGH.run(WeighRequest(path=Path("a"), digits=0))


def test_a_field_without_an_argument_is_a_defect() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Bare(Request):
        path: Path

    bare: Operation[Any, Any] = Operation(
        name="bare", request=Bare, results=(WeighResult,), function="", description=""
    )
    with pytest.raises(TypeError, match=r"Bare\.path has no Argument"):
        list(bare.parameters())
    assert [one.name for one in fields(Bare)] == ["path"]
