from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.network import edits
from netwright.engine.network.blocks import network_in, with_network_in
from netwright.engine.network.catalog import Placeholder
from netwright.engine.network.layout import Comment, Frame, Layout
from netwright.engine.network.network import Connection, Layer, Network, Port
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import SECTIONS, Project
from netwright.engine.project.project_differences import compare, matched
from tests.blocks import FEATURES, IMAGE, behind, crossed, residual, row
from tests.builders import add, chain, classifier, layer
from tests.engine.project.generated import projects

MIRRORED = {"added": "removed", "removed": "added", "connected": "disconnected", "disconnected": "connected"}


def base() -> Project:
    return Project(classifier())


def told(before: Project, after: Project, **options: bool) -> list[str]:
    return [str(difference) for difference in compare(before, after, **options).differences]


def changed_network(change) -> Project:
    project = base()
    return replace(project, network=change(project.network))


def with_other_ids(project: Project) -> Project:
    """The same project as another hand would have made it."""
    ids = {id: f"other{number}" for number, id in enumerate(project.network.layers)}
    layers = {ids[id]: Layer(ids[id], one.name, one.type) for id, one in project.network.layers.items()}
    lines = tuple(
        Connection(Port(ids[c.source.layer], c.source.name), Port(ids[c.target.layer], c.target.name))
        for c in project.network.connections
    )
    layout = replace(
        project.layout,
        positions={ids[id]: at for id, at in project.layout.positions.items()},
        inside={ids[id]: inner for id, inner in project.layout.inside.items()},
    )
    return replace(project, network=Network(layers, lines), layout=layout)


def test_equal_projects_have_no_differences() -> None:
    found = compare(base(), base(), with_layout=True)
    assert not found
    assert found.differences == ()
    assert found.counts() == {}
    assert found.partners == {id: id for id in base().network.layers}


def test_an_added_layer_with_its_values() -> None:
    after = changed_network(lambda n: edits.add_layer(n, layer("dropout", probability=0.3), id="new")[0])
    assert told(base(), after) == ["+ layer dropout_1 (dropout: probability 0.3)"]
    (difference,) = compare(base(), after).differences
    assert (difference.kind, difference.old, difference.new) == ("added", "", "new")


def test_a_removed_layer_takes_its_connections() -> None:
    after = changed_network(lambda n: edits.remove_layers(n, ["id3"]))
    assert told(base(), after) == [
        "- layer relu_1 (relu)",
        "- connection fc_1 -> relu_1",
        "- connection relu_1 -> fc_2",
    ]


def test_changed_fields_one_by_one() -> None:
    before = Project(chain(layer("image_input"), layer("conv2d", filters=8)))
    after = replace(before, network=edits.set_fields(before.network, "id2", {"filters": 16, "kernel": 5}))
    assert told(before, after) == ["~ conv_1.filters: 8 -> 16", "~ conv_1.kernel: 3 × 3 -> 5 × 5"]
    assert {(d.old, d.new) for d in compare(before, after).differences} == {("id2", "id2")}


def test_a_renamed_layer_is_the_same_layer() -> None:
    after = changed_network(lambda n: edits.rename(n, "id2", "hidden"))
    assert told(base(), after) == ["~ layer fc_1 is now hidden"]


def test_a_renamed_and_changed_layer_goes_by_its_new_name() -> None:
    after = changed_network(lambda n: edits.rename(edits.set_fields(n, "id2", {"outputs": 9}), "id2", "hidden"))
    assert told(base(), after) == ["~ layer fc_1 is now hidden", "~ hidden.outputs: 8 -> 9"]


def test_a_layer_of_another_type() -> None:
    after = changed_network(lambda n: n.with_layer(Layer("id3", "relu_1", layer("leaky_relu", scale=0.2))))
    assert told(base(), after) == ["~ relu_1: relu -> leaky_relu: scale 0.2"]
    assert compare(base(), after).counts() == {"retyped": 1}


def test_a_bypassed_layer() -> None:
    after = changed_network(lambda n: edits.set_bypassed(n, ["id3"], True))
    assert told(base(), after) == ["~ relu_1.bypassed: false -> true"]


def test_connections_name_ports_where_a_layer_has_several() -> None:
    network, first = add(Network.empty(), layer("feature_input"))
    network, second = add(network, layer("relu"), first)
    before, total = add(network, layer("addition"), first, second)
    cut = edits.disconnect(before, before.connections[-1:])
    after = edits.connect(cut, Port(first.id, "out"), Port(total.id, "in2"))
    assert told(Project(before), Project(after)) == [
        f"- connection {second.name} -> {total.name}:in2",
        f"+ connection {first.name} -> {total.name}:in2",
    ]


def test_the_order_of_the_outputs_counts() -> None:
    network, _ = add(Network.empty(), layer("feature_input"))
    before, _ = add(network, layer("feature_input"))
    after = Network({id: before.layers[id] for id in reversed(list(before.layers))})
    names = [one.name for one in before.layers.values()]
    there, back = ", ".join(names), ", ".join(reversed(names))
    expected = [f"~ order of inputs: {there} -> {back}", f"~ order of outputs: {there} -> {back}"]
    assert told(Project(before), Project(after)) == expected


def test_options_of_every_section() -> None:
    after = base()
    after = replace(after, training=after.training.replace(max_epochs=20))
    after = replace(after, environment=after.environment.replace(target="cpu"))
    after = replace(after, data=after.data.replace(source="digits"))
    assert told(base(), after) == [
        "~ data.source: none -> digits",
        f"~ training.max_epochs: {base().training.max_epochs} -> 20",
        f"~ environment.target: {base().environment.target} -> cpu",
    ]


def test_a_default_that_follows_another_option_is_told() -> None:
    after = replace(base(), training=base().training.replace(solver="adam"))
    rates = base().training.initial_learn_rate, after.training.initial_learn_rate
    assert rates[0] != rates[1]
    assert f"~ training.initial_learn_rate: {rates[0]:g} -> {rates[1]:g}" in told(base(), after)


def test_moved_layers_only_if_asked_for() -> None:
    after = replace(base(), layout=base().layout.moved({"id2": (10, 20.5)}))
    assert told(base(), after) == []
    assert told(base(), after, with_layout=True) == ["~ fc_1 moved: 0, 0 -> 10, 20.5"]


def test_what_this_version_cannot_read_is_compared_as_it_stands() -> None:
    def project(sizes: int, **more: object) -> Project:
        unknown = Layer("p", "odd", Placeholder("hologram", {"sizes": sizes, **more}, (), ()))
        return Project(
            Network({"p": unknown}), unknown={"sweep": {"rate": sizes}}, unknown_in_layers={"p": {"n": sizes}}
        )

    assert not compare(project(1), project(1))
    assert told(project(1), project(2, tilt=True)) == [
        "~ odd.sizes: 1 -> 2",
        "~ odd.tilt: nothing -> true",
        "~ odd.n: 1 -> 2",
        '~ sweep: {"rate": 1} -> {"rate": 2}',
    ]


def test_files_made_apart_are_matched_by_name_and_type() -> None:
    other = with_other_ids(base())
    assert told(base(), other, with_layout=True) == []
    assert matched(base().network, other.network) == dict(zip(base().network.layers, other.network.layers, strict=True))
    deeper = replace(other, network=edits.add_layer(other.network, layer("relu"), "late")[0])
    assert told(base(), deeper) == ["+ layer late (relu)"]


def test_ids_that_only_happen_to_be_the_same_are_not_believed() -> None:
    """Numbered ids of a script: with one more layer in front each number means another layer."""
    network = classifier()
    shifted = {f"id{n}": replace(one, id=f"id{n}") for n, one in enumerate(network.layers.values(), 2)}
    extra = {"id1": Layer("id1", "noise", layer("dropout"))}
    lines = tuple(
        Connection(Port(f"id{int(c.source.layer[2:]) + 1}", "out"), Port(f"id{int(c.target.layer[2:]) + 1}", "in"))
        for c in network.connections
    )
    assert told(Project(network), Project(Network({**extra, **shifted}, lines))) == ["+ layer noise (dropout)"]


def test_layers_of_one_name_and_another_type_are_two_layers_where_ids_differ() -> None:
    before, after = (Project(chain(layer(key))) for key in ("feature_input", "image_input"))
    after = replace(after, network=edits.rename(after.network, "id1", before.network.layers["id1"].name))
    assert compare(before, with_other_ids(after)).counts() == {"removed": 1, "added": 1}


@given(projects())
def test_a_project_equals_itself_as_written_and_with_other_ids(project: Project) -> None:
    assert not compare(project, project, with_layout=True)
    assert not compare(project, loads(dumps(project)).project, with_layout=True)
    assert not compare(project, with_other_ids(project), with_layout=True)


def content(project: Project) -> object:
    """What has to be the same in equal projects, by ids."""
    network = project.network
    options = [project.section(name).write() for name in SECTIONS]
    ports = [one.id for one in network.inputs], network.output_ports
    layers = {id: (one.name, one.type) for id, one in network.layers.items()}
    return layers, set(network.connections), ports, options


@given(projects(), projects(), st.booleans())
def test_no_difference_means_equal_and_a_look_from_the_other_side_mirrors(
    one: Project, other: Project, keep_network: bool
) -> None:
    if keep_network:
        other = replace(other, network=one.network, layout=one.layout)
    there, back = compare(one, other), compare(other, one)
    if {id: id for id in one.network.layers} == there.partners and len(other.network) == len(one.network):
        assert bool(there) == (content(one) != content(other))
    else:
        assert there
    assert there.counts() == {MIRRORED.get(kind, kind): count for kind, count in back.counts().items()}
    assert {new: old for old, new in there.partners.items()} == back.partners


@given(projects(), st.data())
def test_any_one_edit_is_a_difference(project: Project, data: st.DataObject) -> None:
    if not project.network.layers:
        return
    id = data.draw(st.sampled_from(sorted(project.network.layers)))
    edited = [
        edits.rename(project.network, id, "a_name_nobody_draws"),
        edits.remove_layers(project.network, [id]),
        *(edits.disconnect(project.network, [c]) for c in project.network.connections[:3]),
    ]
    for network in edited:
        assert compare(project, replace(project, network=network))


def in_blocks() -> Network:
    return behind(IMAGE, row(residual(), repeat=2), layer("relu"), names=("stage", "act"))


def changed_inside(path: tuple[str, ...], change) -> tuple[Project, Project]:
    network = in_blocks()
    return Project(network), Project(with_network_in(network, path, change(network_in(network, path))))


DEEP = ("id2", "id2")


def test_what_is_inside_blocks_is_told_with_paths() -> None:
    before, after = changed_inside(DEEP, lambda inner: edits.set_fields(inner, "id2", {"filters": 8}))
    assert told(before, after) == ["~ stage/block_1/conv.filters: 4 -> 8"]
    (difference,) = compare(before, after).differences
    assert (difference.old, difference.new) == ("id2/id2/id2", "id2/id2/id2")
    assert compare(before, after).partners["id2/id2/id2"] == "id2/id2/id2"


def test_layers_and_connections_inside_come_and_go() -> None:
    before, after = changed_inside(DEEP, lambda inner: edits.remove_layers(inner, ["id3"]))
    assert told(before, after) == [
        "- layer stage/block_1/bn (batch_norm)",
        "- connection stage/block_1/conv -> bn",
        "- connection stage/block_1/bn -> add:in2",
    ]
    assert [(d.old, d.new) for d in compare(after, before).differences] == [
        ("", "id2/id2/id3"), ("", "id2/id2/id3"), ("", "id2/id2/id4"),
    ]  # fmt: skip


def test_a_renamed_port_is_told_once_inside() -> None:
    before, after = changed_inside(("id2",), lambda inner: edits.rename(inner, "id1", "data"))
    assert told(before, after) == ["~ layer stage/x is now stage/data"]


def test_ports_in_another_order_are_told() -> None:
    block = crossed()
    layers = block.network.layers
    turned = Network({id: layers[id] for id in ("id2", "id1", "id3", "id4", "id6", "id5")}, block.network.connections)
    network = behind(FEATURES, block, names=("cross",))
    after = with_network_in(network, ["id2"], turned)
    assert told(Project(network), Project(after)) == [
        "~ order of inputs of cross: a, b -> b, a",
        "~ order of outputs of cross: first, second -> second, first",
    ]


def test_a_block_as_a_whole() -> None:
    before = Project(in_blocks())
    more = Project(edits.set_fields(before.network, "id2", {"repeat": 5}))
    assert told(before, more) == ["~ stage.repeat: 2 -> 5"]
    without = Project(edits.remove_layers(before.network, ["id2"]))
    assert told(before, without)[0] == "- layer stage (block: repeat 2, 3 layers)"


def test_frames_and_comments_are_layout() -> None:
    before = Project(in_blocks())
    frame, comment = Frame("f1", (0.0, 0.0), (90.0, 90.0), "Stem"), Comment("c1", (1.0, 2.0), (30.0, 40.0), "why")
    inner = Layout({"id1": (4.0, 4.0)}, (frame,))
    layout = Layout({}, (frame,), (comment,), {"id2": inner})
    with_frames = replace(before, layout=layout)
    assert told(before, with_frames) == []
    lines = told(before, with_frames, with_layout=True)
    assert [line.split(":")[0] for line in lines] == [
        "~ frame f1", "~ comment c1", "~ stage/frame f1", "~ stage/x moved",
    ]  # fmt: skip
    other = replace(before, layout=replace(layout, frames=(replace(frame, title="Head"),), flow="right"))
    assert told(with_frames, other, with_layout=True) == [
        '~ flow: "down" -> "right"',
        '~ frame f1.title: "Stem" -> "Head"',
    ]


def test_what_a_newer_version_wrote_inside_a_block_is_compared() -> None:
    before = Project(in_blocks(), unknown_in_layers={"id2/id2/id2": {"glow": 1}})
    after = replace(before, unknown_in_layers={"id2/id2/id2": {"glow": 2}})
    assert told(before, after) == ["~ stage/block_1/conv.glow: 1 -> 2"]


def numbered(*names: str) -> Project:
    """Layers with counted ids, as a script writes them; each name is its type with a number."""
    layers = {f"l{n}": Layer(f"l{n}", name, layer(name.rpartition("_")[0])) for n, name in enumerate(names)}
    return Project(Network(layers, ()))


def test_a_layer_that_has_another_counted_id_goes_by_its_name() -> None:
    """Two variants of an architecture: most ids mean the same layer, but not those behind what one has more."""
    start = ("image_input_1", "conv2d_1", "batch_norm_1", "relu_1", "conv2d_2", "batch_norm_2")
    short, longer = numbered(*start, "softmax_1"), numbered(*start, "relu_2", "dropout_1", "softmax_1")
    assert told(short, longer) == ["+ layer relu_2 (relu)", "+ layer dropout_1 (dropout)"]
    assert told(longer, short) == ["- layer relu_2 (relu)", "- layer dropout_1 (dropout)"]


def test_counted_ids_that_lead_astray_more_often_than_not_are_not_believed() -> None:
    """Layers of one type in a row look alike even where each id means the next one."""
    start = ("image_input_1", "relu_1", "relu_2", "relu_3", "relu_4")
    assert told(numbered(*start), numbered(start[0], "relu_0", *start[1:])) == ["+ layer relu_0 (relu)"]
    assert told(numbered("relu_1"), numbered("relu_0", "relu_1")) == ["+ layer relu_0 (relu)"]
    assert told(numbered("relu_0", "relu_1"), numbered("relu_1")) == ["- layer relu_0 (relu)"]


def test_a_layer_that_was_replaced_and_renamed_keeps_its_id() -> None:
    after = replace(base(), network=edits.replace_type(base().network, "id3", type(layer("tanh"))))
    after = replace(after, network=edits.rename(after.network, "id3", "squash"))
    name = base().network.layers["id3"].name
    assert told(base(), after) == [
        f"~ layer {name} is now squash",
        f"~ squash: {base().network.layers['id3'].type_key} -> tanh",
    ]
