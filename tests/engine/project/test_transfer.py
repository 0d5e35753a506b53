from collections.abc import Callable
from dataclasses import replace

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse, frozen_parameters, is_frozen, type_at
from netwright.engine.network.network import Port
from netwright.engine.project.check import check, memory_of
from netwright.engine.project.project import Project
from netwright.engine.project.transferred_layers import (
    freeze_up_to,
    frozen_layers,
    head_of,
    layer_path,
    replace_head,
    scale_rates,
    with_freezing,
)
from tests.blocks import IMAGE, behind, conv, residual, row
from tests.builders import add, chain, classifier, layer


def with_blocks() -> Project:
    """A convolution, a residual block three times, a block with a convolution, and a head."""
    body = row(conv(4), layer("relu"), conv(4))
    types = (conv(4), residual(repeat=3), body, layer("global_average_pool"), layer("fully_connected", outputs=5))
    return Project(behind(IMAGE, *types, layer("softmax"), names=("stem", "stage", "body", "pool", "head")))


def names_frozen(project: Project, *path: str) -> set[str]:
    network = project.network
    for id in path:
        network = network.layers[id].type.network  # type: ignore[attr-defined]
    return {network.layers[id].name for id in frozen_layers(project, path)}


def test_a_layer_is_named_by_id_or_name_also_inside_blocks() -> None:
    network = with_blocks().network
    assert layer_path(network, "stem") == layer_path(network, "id2") == ("id2",)
    assert layer_path(network, "body/conv_2") == layer_path(network, "id4/id4") == ("id4", "id4")
    for text in ("stam", "stem/conv", "", "body/"):
        with pytest.raises(UserError, match="There is no layer"):
            layer_path(network, text)


def test_what_leads_to_a_layer_is_frozen_with_it_and_survives_renaming() -> None:
    project = freeze_up_to(with_blocks(), "stage")
    assert project.weights.write() == {"freeze_up_to": "id3"}
    assert names_frozen(project) == {"stem", "stage"}
    assert set(frozen_layers(project).values()) == {"Keeps its weights: frozen up to 'stage'."}
    trained = with_freezing(project).network
    analysis = analyse(trained)
    learning = {p for p, s in analysis.all_shapes() if s.parameters and not is_frozen(type_at(trained, p))}
    assert {path.split("/")[0] for path in learning} == {"id4", "id6"}
    assert memory_of(project, analysis).gradients < memory_of(with_blocks(), analysis).gradients
    assert freeze_up_to(project, "").weights.write() == {}


def test_inside_a_block_the_layers_before_it_are_frozen_too() -> None:
    project = freeze_up_to(with_blocks(), "body/conv_1")
    assert names_frozen(project) == {"stem", "stage"}
    assert names_frozen(project, "id4") == {"conv_1"}
    assert names_frozen(project, "id3") == {"conv", "bn"}
    assert frozen_layers(project, ("id3",))["id2"] == "Keeps its weights: frozen up to 'body/conv_1'."


def test_a_branch_that_does_not_lead_to_the_layer_learns() -> None:
    network, image = add(chain(), IMAGE)
    network, left = add(network, conv(4), image, name="left")
    network, right = add(network, conv(4), image, name="right")
    network, _ = add(network, layer("addition"), left, right)
    assert names_frozen(freeze_up_to(Project(network), "left")) == {"left"}


def test_freeze_of_a_layer_or_its_block_is_told_apart() -> None:
    project = with_blocks()
    block = project.network.layers["id4"]
    network = project.network.with_layer(replace(block, type=block.type.replace(frozen=True)))
    project = replace(project, network=network)
    assert frozen_layers(project) == {"id4": "Keeps its weights: Freeze is on."}
    assert set(frozen_layers(project, ("id4",)).values()) == {"Keeps its weights: Freeze is on in its block 'body'."}


def test_layers_that_cannot_be_frozen_up_to_are_said() -> None:
    with pytest.raises(UserError, match=r"'stage' is repeated: .* Name the block"):
        freeze_up_to(with_blocks(), "stage/conv")
    project = with_blocks()
    project = project.with_section("weights", project.weights.replace(freeze_up_to="gone"))
    assert with_freezing(project) is project
    (problem,) = check(project).errors
    assert (problem.field, problem.message) == ("weights.freeze_up_to", 'There is no layer "gone".')
    assert problem.fix is not None
    assert not check(problem.fix.edit(project)).errors


def test_a_network_that_is_frozen_as_a_whole_can_be_freed() -> None:
    project = freeze_up_to(with_blocks(), "head")
    problem = next(p for p in check(project).problems if "nothing can learn" in p.message)
    assert problem.fix is not None
    assert problem.fix.edit(project).weights.freeze_up_to == ""


def test_a_new_head_has_an_id_and_a_name_of_its_own() -> None:
    project = with_blocks()
    changed = replace_head(replace(project, layout=project.layout.moved({"id6": (7.0, 9.0)})), 2)
    fresh = changed.network.layer("head_1")
    assert fresh.type.write() == {"outputs": 2}
    assert fresh.id not in project.network.layers
    assert changed.layout.at(fresh.id) == (7.0, 9.0)
    assert [one.name for one in changed.network.layers.values()][-2:] == ["head_1", "softmax_1"]
    assert len(changed.network.connections) == len(project.network.connections)
    assert not check(changed).errors


def test_a_head_is_looked_for_behind_normalisations_and_inside_blocks() -> None:
    ending = row(conv(4), layer("batch_norm"), layer("fully_connected", outputs=6), layer("batch_norm"))
    network = behind(IMAGE, conv(4), ending, layer("relu"))
    path = head_of(network, network.output_ports[0])
    assert path == ("id3", "id4")
    changed = replace_head(Project(network), 3).network
    assert analyse(changed).shapes[changed.output_ports[0].layer].output["C"] == 3


@pytest.mark.parametrize(
    "network",
    [
        lambda: behind(IMAGE, conv(4), residual(repeat=2)),
        lambda: chain(layer("sequence_input", channels=3), layer("lstm", hidden_units=4)),
        lambda: chain(IMAGE, layer("relu")),
    ],
)
def test_a_network_without_a_head_is_refused(network: Callable[[], object]) -> None:
    with pytest.raises(UserError, match=r"no fully connected layer or convolution decides .* Put one at the end"):
        replace_head(Project(network()), 3)  # type: ignore[arg-type]


def test_a_head_without_outputs_is_refused() -> None:
    with pytest.raises(UserError, match="at least one output; received 0"):
        replace_head(Project(classifier()), 0)
    with pytest.raises(UserError, match="no output"):
        replace_head(Project(), 3)


def test_lower_rates_reach_all_layers_that_lead_there() -> None:
    project = scale_rates(with_blocks(), "body/conv_1", 0.1)
    network = project.network
    rates = {
        path: type_at(network, path).parameter_options("weight").learn_rate_factor  # type: ignore[attr-defined]
        for path, shapes in analyse(network).all_shapes()
        if shapes.parameters
    }
    slow = {path for path, rate in rates.items() if rate == 0.1}
    assert {path for path, rate in rates.items() if rate == 1.0} == {"id4/id4", "id6"}
    assert slow == rates.keys() - {"id4/id4", "id6"}
    again = scale_rates(project, "stem", 0.5).network
    assert again.layer("stem").type.write()["bias_learn_rate_factor"] == 0.5


def test_the_head_of_a_chosen_output_is_replaced() -> None:
    network = classifier()
    assert head_of(network, Port("id5", "out")) == ("id4",)
    assert frozen_parameters(network, analyse(network)) == 0


def test_layers_with_the_same_weights_are_frozen_and_slowed_together() -> None:
    network = chain(
        layer("feature_input", channels=4),
        *[layer("fully_connected", outputs=4), layer("relu"), layer("fully_connected", outputs=4)],
        layer("fully_connected", outputs=3),
    )
    shared = edits.share_weights(network, [network.layer("fc_1").id, network.layer("fc_2").id])
    project = with_freezing(freeze_up_to(Project(shared), "fc_1"))
    assert [is_frozen(project.network.layer(f"fc_{number}").type) for number in (1, 2, 3)] == [True, True, False]
    slow = scale_rates(Project(shared), "fc_1", 0.1)
    for made in (project, slow):
        assert not analyse(made.network).has_errors
