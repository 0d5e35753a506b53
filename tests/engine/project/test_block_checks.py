"""Blocks in the project file, in the report on a project, and in its fixes."""

import json
from dataclasses import replace
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import features, image
from netwright.engine.network import edits
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.blocks import analysis_in, network_in, with_network_in
from netwright.engine.network.layout import Comment, Frame, Layout
from netwright.engine.network.network import Network, Port
from netwright.engine.project.check import check, result_in
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project, block_paths, project_in, with_project_in
from tests.blocks import FEATURES, IMAGE, behind, conv, dense, masked, residual, row
from tests.builders import add, layer


def nested() -> Network:
    return behind(IMAGE, row(residual(repeat=2), conv(4)), dense(), names=("stage", "grow"))


def layout() -> Layout:
    frame, comment = Frame("f", (1.0, 2.0), (30.0, 40.0), "outer"), Comment("c", (5.0, 6.0), (70.0, 80.0), "a\nb")
    deep = Layout({"id1": (3.0, 4.5)}, (replace(frame, title="deep", tone="red"),), (comment,), flow="right")
    middle = Layout({"id2": (8.0, 9.0)}, (), (replace(comment, text="middle"),), {"id2": deep})
    return Layout({"id1": (0.0, 0.0)}, (frame,), (comment,), {"id2": middle})


def read(network: Any, version: tuple[int, int] = (1, 0)) -> Project:
    return loads(json.dumps({"netwright": list(version), "network": network})).project


def in_block(inner: Any, **more: Any) -> dict[str, Any]:
    return {"id": "b", "name": "stage", "type": "block", "network": inner, **more}


def network_of(*rows: Any, connections: Any = ()) -> dict[str, Any]:
    return {"layers": list(rows), "connections": list(connections)}


RELU = {"id": "r", "name": "relu", "type": "relu"}


# The file


def test_blocks_frames_and_comments_come_back_at_every_depth() -> None:
    project = Project(nested(), layout())
    text = dumps(project)
    again = loads(text).project
    assert again.network == project.network
    assert again.layout.within(["id2", "id2"]).frames == layout().within(["id2", "id2"]).frames
    assert again.layout.within(["id2"]).comments == layout().within(["id2"]).comments
    assert again.layout.within(["id2", "id2"]).flow == "right"
    assert (again.layout.frames, again.layout.comments) == (layout().frames, layout().comments)
    assert dumps(again) == text


def test_inside_a_block_too_a_layer_is_a_line() -> None:
    lines = dumps(Project(nested(), layout())).splitlines()
    assert sum('"name": "conv"' in line for line in lines) == 2
    assert all(line.count('"type": ') <= 1 for line in lines)


def test_what_a_newer_version_wrote_is_kept_at_every_depth() -> None:
    deep = network_of({**RELU, "glow": 1, "fields": {"shine": True}}) | {"deep": [1]}
    middle = network_of(in_block(deep, colour="red")) | {
        "middle": {"a": 2},
        "frames": [{"id": "f", "at": [0, 0], "size": [9, 9], "title": "", "tone": "grey", "lit": 3}],
    }
    data = network_of(in_block(middle, weight=4)) | {"outer": 5}
    project = read(data, (1, 9))
    again = json.loads(dumps(project))["network"]
    assert again["outer"] == 5
    (block,) = again["layers"]
    assert (block["weight"], block["network"]["middle"]) == (4, {"a": 2})
    assert block["network"]["frames"][0]["lit"] == 3
    (inner,) = block["network"]["layers"]
    assert (inner["colour"], inner["network"]["deep"]) == ("red", [1])
    (relu,) = inner["network"]["layers"]
    assert (relu["glow"], relu["fields"]) == (1, {"shine": True})
    assert dumps(loads(dumps(project)).project) == dumps(project)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (network_of(in_block(network_of({**RELU, "typ": 1}))), "network.layers[0] (stage).network.layers[0].typ"),
        (
            network_of(in_block(network_of() | {"layer": []})),
            "(stage).network.layer: there is no such",
        ),
        (network_of(in_block(network_of(RELU, RELU))), "(stage).network.layers[1].id"),
        (network_of(in_block([])), "network.layers[0] (stage).network: expected an object"),
        (network_of(in_block(network_of(RELU, connections=[["relu", "reluu"]]))), "(stage).network.connections[0]"),
        (network_of(in_block(network_of({**RELU, "fields": {"a": 1}}))), "(stage).network.layers[0] (relu).fields.a"),
        (network_of({**RELU, "network": {}}), "network.layers[0].network: there is no such key"),
        (network_of({**RELU, "id": "a/b"}), "expected an id without /"),
        (network_of(in_block(network_of() | {"frames": [{"id": "f"}]})), "(stage).network.frames[0]"),
        (network_of(in_block(network_of() | {"comments": 3})), "(stage).network.comments"),
        (network_of(in_block(network_of() | {"flow": "up"})), "(stage).network.flow: expected down or right"),
        (network_of(in_block(network_of(), fields={"repeat": 0})), "repeat"),
        (network_of(in_block(network_of(), bypassed=True)), "network.layers[0].bypassed"),
        (network_of(in_block(network_of(), at=[0])), "network.layers[0].at"),
    ],
)
def test_what_is_wrong_in_a_block_is_told_with_its_path(data: Any, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read(data)
    assert said in str(refused.value)


def test_connections_inside_lead_to_ports_by_name() -> None:
    text = dumps(Project(behind(FEATURES, masked())))
    assert ', "block_1:mask"]' in text
    assert loads(text).project.network == behind(FEATURES, masked())


def copies(inner: dict[str, Any], repeat: int, id: str = "b", name: str = "stage") -> dict[str, Any]:
    return {**in_block(inner, fields={"repeat": repeat}), "id": id, "name": name}


def deep(levels: int, repeat: int) -> dict[str, Any]:
    network = network_of(RELU)
    for _ in range(levels):
        network = network_of(copies(network, repeat))
    return network


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (deep(9, 1), "at most 8 deep"),
        (deep(8, 1000), "a network has at most 20,000"),
        (network_of(*[copies(network_of(RELU), 1000, f"b{n}", f"stage_{n}") for n in range(5000)]), "20,000"),
        (network_of(*[copies(deep(7, 4), 1, f"b{n}", f"stage_{n}") for n in range(2)]), "all copies of all blocks"),
    ],
    ids=["deep", "repeated", "wide", "deep and wide"],
)
def test_a_small_file_of_a_huge_network_is_refused(data: Any, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read(data)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 10_000


def test_a_block_without_a_network_passes_its_input_on() -> None:
    (block,) = read(network_of({"id": "b", "name": "stage", "type": "block"})).network.layers.values()
    assert block.type == Block()


# Problems and fixes


def mismatched() -> Network:
    """A sum of 4 and 8 channels, two blocks deep."""
    inner = residual(4)
    network, wider = add(inner.network, conv(8), inner.network.layer("conv"), name="wider")
    network = edits.connect(network, Port(wider.id, "out"), Port("id4", "in2"))
    network = edits.remove_layers(network, ["id3"])
    return behind(IMAGE, row(inner.with_network(network)), names=("stage",))


def test_a_channel_mismatch_inside_is_fixed_from_outside() -> None:
    project = Project(mismatched())
    (problem,) = check(project).errors
    assert (problem.name, problem.path) == ("stage/block_1/add", ("id2", "id2", "id4"))
    assert problem.fix is not None
    assert problem.fix.label == "Set filters of wider to 4"
    fixed = problem.fix.edit(project)
    assert not check(fixed).errors
    assert network_in(fixed.network, ["id2", "id2"]).layer("wider").type.write()["filters"] == 4


def test_a_mismatch_in_a_later_copy_has_no_fix_that_does_not_solve_it() -> None:
    """The first copy joins 4 and 4 channels, the second 6 and 4."""
    network, x = add(Network.empty(), BlockInput(), name="x")
    network, main = add(network, conv(4), x, name="conv")
    network, total = add(network, layer("addition"), x, main, name="add")
    network, more = add(network, conv(2), total, name="more")
    network, joined = add(network, layer("concatenation"), total, more, name="join")
    network, _ = add(network, BlockOutput(), joined, name="y")
    project = Project(behind(IMAGE, Block(network, repeat=2), names=("stage",)))
    (problem,) = check(project).errors
    assert problem.name == "stage/add"
    assert "copy 2 of 2" in problem.message
    assert problem.fix is None or not check(problem.fix.edit(project)).errors


def test_a_missing_flatten_inside_and_advice_are_told_with_paths() -> None:
    inner = row(conv(3), layer("batch_norm"), layer("softmax"), layer("softmax"))
    found = check(Project(behind(IMAGE, row(inner), layer("relu"), names=("stage",)), layout()))
    names = {problem.name for problem in found.problems if problem.layer}
    assert all(name.startswith("stage/block_1/") for name in names)
    for problem in found.problems:
        if problem.fix is not None:
            problem.fix.edit(Project(behind(IMAGE, row(inner), layer("relu"), names=("stage",)), layout()))


def test_a_report_on_the_inside_tells_names_there() -> None:
    result = check(Project(mismatched()))
    (at_block,) = [p for p in result_in(result, ["id2"]).problems if p.severity == "error"]
    assert (at_block.layer, at_block.name) == ("id2", "block_1")
    assert at_block.message.startswith("Inside, add: ")
    (there,) = [p for p in result_in(result, ["id2", "id2"]).problems if p.severity == "error"]
    assert (there.layer, there.name) == ("id4", "add")
    assert set(result_in(result, ["id2", "id2"]).analysis.shapes) == {"id1", "id2", "id6"}
    assert not result_in(check(Project(nested())), ["id3"]).errors


def test_wrong_outputs_of_a_block_at_the_end_are_fixed_inside() -> None:
    head = row(layer("fully_connected", outputs=9), layer("softmax"))
    project = Project(behind(FEATURES, row(head), names=("stage",)))
    facts = DatasetInfo((InputInfo("x", features(4)),), {"training": 200}, classes_of("a", "b", "c"))
    (problem,) = [p for p in check(project, facts).errors if "outputs; the data has 3" in p.message]
    assert (problem.name, problem.field) == ("stage/block_1/fc_1", "outputs")
    assert problem.fix is not None
    assert not check(problem.fix.edit(project), facts).errors


def test_a_project_inside_a_block_and_back() -> None:
    project = Project(nested(), layout())
    inner = project_in(project, ["id2", "id2"])
    assert inner.network is network_in(project.network, ["id2", "id2"])
    assert inner.layout.flow == "right"
    moved = replace(inner, layout=inner.layout.moved({"id1": (7.0, 7.0)}))
    changed = with_project_in(project, ["id2", "id2"], moved)
    assert changed.layout.within(["id2", "id2"]).at("id1") == (7.0, 7.0)
    assert changed.network == project.network
    assert [*block_paths(nested())] == [("id2",), ("id2", "id2"), ("id3",)]
    with pytest.raises(UserError):
        project_in(project, ["id2", "gone"])


def test_sizes_inside_are_those_of_the_first_copy() -> None:
    result = check(Project(nested()))
    assert analysis_in(result.analysis, ["id3"]).shapes["id3"].output == image(6, 6, 6)
    assert analysis_in(result.analysis, ["id9"]).shapes == {}
    same = with_network_in(nested(), [], nested())
    assert same == nested()
