"""Warnings about networks that can be built but hardly learn: each is given, each fix removes it, and good networks
are left alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.types import TensorType, features, image
from netwright.engine.network import edits
from netwright.engine.network.network import Layer, Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.check import check
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from tests.builders import add, chain, layer

EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"


def facts(type: TensorType, classes: int = 3, training: int = 200) -> DatasetInfo:
    samples = {"training": training, "validation": 20, "test": 20}
    names = (f"class {i}" for i in range(classes))
    return DatasetInfo((InputInfo("input", type),), samples, classes_of(*names))


def project(network: Network, **options: Any) -> Project:
    made = Project(network)
    made = made.with_section("data", made.data.replace(source="digits"))
    return made.with_section("training", made.training.replace(**options))


def problems(made: Project, data: DatasetInfo | None = None) -> list[Problem]:
    return [p for p in check(made, data).problems if p.severity != "note"]


def only(made: Project, data: DatasetInfo | None = None) -> Problem:
    (problem,) = problems(made, data)
    return problem


def fixed(made: Project, data: DatasetInfo | None = None) -> Project:
    """The project after the fix of its only problem, which is then gone."""
    problem = only(made, data)
    assert problem.fix is not None
    after = problem.fix.edit(made)
    assert problems(after, data) == []
    return after


def names(network: Network) -> list[str]:
    return [network.layers[id].name for id in network.order]


# ---- what is good is left alone ----


def residual_block(network: Network, x: Layer, filters: int, *, project_skip: bool) -> tuple[Network, Layer]:
    network, a = add(network, layer("conv2d", filters=filters), x)
    network, b = add(network, layer("batch_norm"), a)
    network, c = add(network, layer("relu"), b)
    network, d = add(network, layer("conv2d", filters=filters), c)
    network, e = add(network, layer("batch_norm"), d)
    skip = x
    if project_skip:
        network, f = add(network, layer("conv2d", filters=filters, kernel=1), x)
        network, skip = add(network, layer("batch_norm"), f)
    network, g = add(network, layer("addition"), e, skip)
    return add(network, layer("relu"), g)


def resnet() -> Network:
    network, x = add(Network.empty(), layer("image_input", channels=3, size=16))
    network, x = add(network, layer("conv2d", filters=8), x)
    for filters, skip in ((8, False), (16, True), (16, False)):
        network, x = residual_block(network, x, filters, project_skip=skip)
    network, x = add(network, layer("global_average_pool"), x)
    network, x = add(network, layer("fully_connected", outputs=3), x)
    return add(network, layer("softmax"), x)[0]


def unet() -> Network:
    network, x = add(Network.empty(), layer("image_input", channels=1, size=16))
    network, high = add(network, layer("conv2d", filters=8), x)
    network, x = add(network, layer("relu"), high)
    network, x = add(network, layer("max_pool2d"), x)
    network, x = add(network, layer("conv2d", filters=16), x)
    network, x = add(network, layer("relu"), x)
    network, x = add(network, layer("transposed_conv2d", filters=8, stride=2), x)
    network, x = add(network, layer("concatenation"), high, x)
    network, x = add(network, layer("conv2d", filters=8), x)
    network, x = add(network, layer("relu"), x)
    return add(network, layer("conv2d", filters=2, kernel=1), x)[0]


def lstm() -> Network:
    return chain(
        layer("sequence_input", channels=4),
        layer("lstm", hidden_units=16),
        layer("dropout"),
        layer("lstm", hidden_units=16, output_mode="last"),
        layer("fully_connected", outputs=3),
        layer("softmax"),
    )


def autoencoder() -> Network:
    """The bottleneck is linear on purpose."""
    widths = (16, 4, 16)
    types = [layer("fully_connected", outputs=width) for width in widths]
    return chain(layer("feature_input", channels=32), types[0], layer("relu"), types[1], types[2], layer("relu"))


@pytest.mark.parametrize("network", [resnet(), unet(), lstm(), autoencoder()], ids=["resnet", "unet", "lstm", "auto"])
def test_usual_networks_are_left_alone(network: Network) -> None:
    assert problems(project(network)) == []


@pytest.mark.parametrize("name", ["digits", "heating", "power", "waves"])
def test_the_examples_are_left_alone(name: str) -> None:
    made = load(EXAMPLES / f"{name}.netwright").project
    assert problems(made) == []


# ---- channels that do not match ----


def two_ways(join: str, first: int, second: int, **values: Any) -> Network:
    network, x = add(Network.empty(), layer("image_input", channels=1, size=8))
    network, a = add(network, layer("conv2d", filters=first), x)
    network, a = add(network, layer("batch_norm"), a)
    network, b = add(network, layer("conv2d", filters=second), x)
    return add(network, layer(join, **values), a, b)[0]


@pytest.mark.parametrize("join", ["addition", "multiplication"])
def test_a_channel_mismatch_is_solved_where_the_channels_are_decided(join: str) -> None:
    made = project(two_ways(join, 8, 12))
    problem = only(made)
    assert (problem.name, problem.field) == (f"{join}_1", "in2")
    assert problem.fix is not None
    assert problem.fix.label == "Set filters of conv_2 to 8"
    after = fixed(made).network
    assert [after.layer(f"conv_{i}").type.write()["filters"] for i in (1, 2)] == [8, 8]


def test_a_concatenation_along_the_height_needs_equal_channels_too() -> None:
    assert problems(project(two_ways("concatenation", 8, 12))) == []
    fixed(project(two_ways("concatenation", 8, 12, axis="H")))


def test_where_the_second_input_cannot_change_the_first_does() -> None:
    network, x = add(Network.empty(), layer("image_input", channels=3, size=8))
    network, a = add(network, layer("conv2d", filters=8), x)
    made = project(add(network, layer("addition"), a, x)[0])
    problem = only(made)
    assert problem.fix is not None
    assert problem.fix.label == "Set filters of conv_1 to 3"
    fixed(made)


def test_several_inputs_are_brought_together_at_once() -> None:
    network, x = add(Network.empty(), layer("image_input", channels=1, size=8))
    network, a = add(network, layer("conv2d", filters=4), x)
    network, b = add(network, layer("conv2d", filters=5), x)
    network, c = add(network, layer("conv2d", filters=6), x)
    made = project(add(network, layer("addition", inputs=3), a, b, c)[0])
    problem = only(made)
    assert problem.fix is not None
    assert problem.fix.label == "Set 2 layers to 4"
    fixed(made)


def test_a_mismatch_of_places_has_no_such_fix() -> None:
    network, x = add(Network.empty(), layer("image_input", channels=1, size=8))
    network, a = add(network, layer("conv2d", filters=4, stride=2), x)
    network, b = add(network, layer("conv2d", filters=5), x)
    assert only(project(add(network, layer("addition"), a, b)[0])).fix is None


def test_a_layer_that_feeds_both_sides_cannot_be_the_way_out() -> None:
    """Its change would change the other side too, or break what stands elsewhere."""
    network, x = add(Network.empty(), layer("feature_input", channels=4))
    network, y = add(network, layer("feature_input", channels=5))
    assert only(project(add(network, layer("addition"), x, y)[0])).fix is None


# ---- several networks, outputs, idle inputs ----


def pair() -> Network:
    network = chain(layer("feature_input", channels=4), layer("fully_connected", outputs=3), layer("softmax"))
    network, x = add(network, layer("feature_input", channels=2))
    return add(network, layer("fully_connected", outputs=5), x)[0]


def test_two_networks_in_one_project() -> None:
    problem = only(project(pair()))
    assert (problem.severity, problem.name) == ("warning", "feature_input_2")
    assert problem.message == (
        "2 networks stand here without a connection between them: 'feature_input_1' to 'softmax_1' (3 layers), "
        "'feature_input_2' to 'fc_2' (2 layers). A project trains one: connect them, or keep one of them."
    )
    assert names(fixed(project(pair())).network) == ["feature_input_1", "fc_1", "softmax_1"]


def test_two_networks_keep_a_project_with_data_from_training() -> None:
    found = problems(project(pair()), facts(features(4)))
    assert [p.severity for p in found if p.message.startswith("2 networks")] == ["error"]
    assert not any(p.message.startswith("Training needs one output") for p in found)


def test_two_inputs_that_meet_are_one_network() -> None:
    network, x = add(Network.empty(), layer("feature_input", channels=4))
    network, y = add(network, layer("feature_input", channels=4))
    network, z = add(network, layer("addition"), x, y)
    assert problems(project(add(network, layer("fully_connected"), z)[0])) == []


def test_a_layer_that_leads_nowhere() -> None:
    network = chain(layer("image_input", channels=1, size=8), layer("conv2d"), layer("relu"), layer("fully_connected"))
    conv = network.layer("conv_1")
    network, side = add(network, layer("batch_norm"), conv)
    network, _ = add(network, layer("tanh"), side)
    problem = only(project(network))
    assert (problem.severity, problem.name) == ("warning", "tanh_1")
    assert problem.message == (
        "Training needs one output for each target of the data; 2 have no outgoing connection: fc_1, tanh_1. "
        "Connect tanh_1, or remove it."
    )
    assert names(fixed(project(network)).network) == ["image_1", "conv_1", "relu_1", "fc_1"]


def test_an_idle_input_can_be_removed() -> None:
    network, _ = add(chain(layer("feature_input", channels=4), layer("fully_connected")), layer("feature_input"))
    problem = only(project(network))
    assert (problem.severity, problem.name) == ("warning", "feature_input_2")
    assert names(fixed(project(network)).network) == ["feature_input_1", "fc_1"]


# ---- softmax ----


def after_the_input(*keys: str) -> Network:
    types = {"fc": layer("fully_connected", outputs=3)}
    wide = layer("fully_connected", outputs=3)
    return chain(layer("feature_input", channels=4), wide, *(types.get(key) or layer(key) for key in keys))


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (("softmax", "softmax"), "'softmax_1' and 'softmax_2' follow each other"),
        (("softmax", "dropout", "log_softmax"), "'softmax_1' and 'log_softmax_1' follow each other"),
        (("softmax", "fc", "softmax"), "Softmax in the middle: 'fc_2' gets probabilities"),
        (("softmax", "relu"), "Layers follow 'softmax_1'"),
        (("softmax", "dropout"), "Layers follow 'softmax_1'"),
    ],
)
def test_a_softmax_that_is_not_last(keys: tuple[str, ...], says: str) -> None:
    found = problems(project(after_the_input(*keys)))
    problem = next(p for p in found if says in p.message)
    assert (problem.severity, problem.name) == ("warning", "softmax_1")
    assert problem.fix is not None
    after = problem.fix.edit(project(after_the_input(*keys)))
    assert not any("oftmax" in p.message for p in problems(after))
    assert "softmax_1" not in names(after.network)
    assert len(after.network.connections) == len(after.network) - 1


def test_with_another_loss_what_follows_a_softmax_is_nobodys_business() -> None:
    assert problems(project(after_the_input("softmax", "relu"), loss="mse")) == []


def test_attention_by_hand_is_left_alone() -> None:
    network, x = add(Network.empty(), layer("feature_input", channels=4))
    network, a = add(network, layer("fully_connected", outputs=4), x)
    network, a = add(network, layer("softmax"), a)
    network, a = add(network, layer("multiplication"), a, x)
    assert problems(project(add(network, layer("fully_connected"), a)[0])) == []


# ---- linear layers ----


def test_two_linear_layers_in_a_row() -> None:
    made = project(after_the_input("dropout", "fc"))
    problem = only(made)
    assert (problem.severity, problem.name) == ("warning", "fc_2")
    assert "'fc_1' and 'fc_2' follow each other without an activation" in problem.message
    assert names(fixed(made).network) == ["feature_input_1", "fc_1", "relu_1", "dropout_1", "fc_2"]


@pytest.mark.parametrize("between", ["relu", "batch_norm"])
def test_linear_layers_with_something_between_them_are_left_alone(between: str) -> None:
    assert problems(project(after_the_input(between, "fc"))) == []


def test_the_inserted_layer_gets_room() -> None:
    made = project(after_the_input("fc"))
    places = {id: (0.0, 60.0 * index) for index, id in enumerate(made.network.order)}
    made = Project(made.network, made.layout.moved(places))
    network, layout = (after := fixed(made)).network, after.layout
    assert [layout.at(id)[1] for id in network.order] == [0.0, 60.0, 120.0, 180.0]


def test_a_huge_fully_connected_layer() -> None:
    network = chain(layer("image_input", channels=64, size=64), layer("fully_connected", outputs=1000))
    made = project(network)
    problem = only(made)
    assert (problem.severity, problem.name, problem.field) == ("warning", "fc_1", "outputs")
    assert problem.message.startswith("262.1 million weights: 262,144 inputs times 1,000 outputs")
    assert names(fixed(made).network) == ["image_1", "global_average_pool_1", "fc_1"]
    below = chain(layer("feature_input", channels=50_000), layer("fully_connected", outputs=1000))
    assert problems(project(below)) == []


# ---- batch normalisation ----


def normalised() -> Network:
    return chain(
        layer("feature_input", channels=4),
        layer("fully_connected", outputs=3),
        layer("batch_norm"),
        layer("relu"),
        layer("fully_connected", outputs=3),
    )


def test_batch_normalisation_over_one_sample() -> None:
    made = project(normalised(), mini_batch_size=1)
    problem = only(made)
    assert (problem.severity, problem.name) == ("warning", "bn_1")
    assert fixed(made).training.mini_batch_size == 16
    assert fixed(made, facts(features(4), training=5)).training.mini_batch_size == 5


def test_a_last_batch_of_one_sample() -> None:
    data = facts(features(4), training=201)
    made = project(normalised(), mini_batch_size=100)
    assert "The last mini-batch of an epoch holds one sample" in only(made, data).message
    assert fixed(made, data).training.last_batch == "discard"
    assert problems(project(normalised(), mini_batch_size=99), data) == []


def test_an_image_has_many_places_to_normalise_over() -> None:
    network = chain(
        layer("image_input", channels=1, size=8),
        layer("conv2d"),
        layer("batch_norm"),
        layer("fully_connected", outputs=3),
    )
    data = facts(image(1, 8, 8), training=201)
    assert problems(project(network, mini_batch_size=100), data) == []


def test_workers_join_their_statistics_so_their_shares_may_hold_one_sample() -> None:
    made = project(normalised(), mini_batch_size=8)
    made = made.with_section("environment", made.environment.replace(target="multi-cpu", num_workers=8))
    assert problems(made, facts(features(4))) == []


# ---- bypassed layers, broken chains ----


def bypassed(network: Network, name: str) -> Network:
    return network.with_layer(replace(network.layer(name), bypassed=True))


def test_a_bypassed_layer_is_not_there() -> None:
    assert problems(project(bypassed(after_the_input("softmax", "softmax"), "softmax_1"))) == []
    found = only(project(bypassed(after_the_input("relu", "fc"), "relu_1")))
    assert "'fc_1' and 'fc_2' follow each other without an activation" in found.message
    made = project(bypassed(after_the_input("batch_norm"), "bn_1"), mini_batch_size=1)
    assert problems(made) == []


def test_a_mismatch_behind_a_bypassed_layer_is_solved_too() -> None:
    made = project(bypassed(two_ways("addition", 8, 12), "bn_1"))
    fixed(made)


def test_no_warning_about_layers_behind_an_error() -> None:
    network = after_the_input("softmax", "softmax")
    cut = edits.disconnect(network, network.outgoing[network.layer("feature_input_1").id])
    assert [p.name for p in problems(project(cut)) if p.severity == "error"] == ["fc_1"]
    assert not any("follow each other" in p.message for p in problems(project(cut)))
