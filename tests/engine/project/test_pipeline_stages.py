"""The stages of a pipeline as the project keeps them: seen, changed, kept through edits, refused in words."""

from dataclasses import replace

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network import blocks, edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network, Port
from netwright.engine.project import stage_edits
from netwright.engine.project.check import check, describe
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from tests.builders import chain, layer

TWO = EnvironmentOptions(target="multi-cpu", num_workers=2, strategy="pipeline")


def six() -> Network:
    """in, fc_1, relu_1, fc_2, relu_2, fc_3: id1 to id6."""
    types = [layer("feature_input", channels=8)]
    for outputs in (8, 8, 4):
        types += [layer("fully_connected", outputs=outputs), layer("relu")]
    return chain(*types[:-1])


def project(stages: str = "", network: Network | None = None) -> Project:
    return Project(network=network or six(), environment=TWO.replace(stages=stages))


def seen(given: Project, workers: int = 2) -> list[int]:
    shown = stage_edits.shown_stages(given, analyse(given.network), workers).stages
    assert shown is not None
    return [shown.of[id] + 1 for id in given.network.order]


def put(given: Project, ids: set[str], stage: int) -> Project:
    return stage_edits.put(given, analyse(given.network), ids, stage - 1, 2)


def test_a_layer_takes_along_what_would_lead_backwards() -> None:
    assert seen(project()) == [1, 1, 1, 2, 2, 2]
    later = put(project(), {"id6"}, 3)
    assert seen(later) == [1, 1, 1, 2, 2, 3]
    assert later.environment.stages == "fc_2: 2, fc_3: 3"
    assert seen(put(later, {"id2"}, 3)) == [1, 3, 3, 3, 3, 3]
    assert seen(put(later, {"id5"}, 1)) == [1, 1, 1, 1, 1, 3]
    # Nothing written would mean: whatever is best.
    assert put(later, {"id6"}, 1).environment.stages == "feature_input_1: 1"


def test_balanced_by_what_there_is_to_do_or_by_what_is_held() -> None:
    """Much to do in the first convolution, most weights in the last layer."""
    network = chain(
        layer("image_input", size=32, channels=8),
        layer("conv2d", filters=8, kernel=3, padding="same"),
        layer("conv2d", filters=8, kernel=3, padding="same"),
        layer("max_pool2d", kernel=8, stride=8),
        layer("fully_connected", outputs=256),
        layer("fully_connected", outputs=1024),
    )
    given = project(network=network)
    analysis = analyse(network)
    work = stage_edits.balanced(given, analysis, 2)
    memory = stage_edits.balanced(given, analysis, 2, "memory")
    assert work.environment.stages == "conv_2: 2"
    assert memory.environment.stages == "pool_1: 2"
    assert stage_edits.cleared(memory).environment.stages == ""
    with pytest.raises(UserError, match="5 stages need as many layers whose weights learn; the network has 4"):
        stage_edits.balanced(given, analysis, 5)


def test_layers_stay_in_their_stages_whatever_is_edited() -> None:
    before = project("fc_2: 2, fc_3: 3")

    def after(network: Network) -> Project:
        return stage_edits.with_stages_kept(before, replace(before, network=network))

    assert after(edits.rename(six(), "id4", "second")).environment.stages == "second: 2, fc_3: 3"
    assert after(edits.remove_and_heal(six(), {"id4"})).environment.stages == "relu_2: 2, fc_3: 3"
    more, added = edits.add_layer(edits.disconnect(six(), [six().outgoing["id3"][0]]), layer("tanh"))
    more = edits.connect(
        edits.connect(more, Port("id3", "out"), Port(added.id, "in")), Port(added.id, "out"), Port("id4", "in")
    )
    assert after(more).environment.stages == "fc_2: 2, fc_3: 3"
    grouped, layout, block = blocks.group(six(), Layout(), {"id4", "id5"})
    inside = after(grouped)
    assert inside.environment.stages == "block_1: 2, fc_3: 3"
    freed, _, _ = blocks.ungroup(grouped, layout, block)
    again = stage_edits.with_stages_kept(inside, replace(inside, network=freed))
    assert again.environment.stages == "fc_2: 2, fc_3: 3"


def test_what_cannot_be_read_or_is_not_about_this_network_is_left_alone() -> None:
    for text, kept in (("fc_2 = 2", "fc_2 = 2"), ("gone: 2, fc_3: 2", "fc_3: 2, gone: 2"), ("", "")):
        before = project(text)
        after = stage_edits.with_stages_kept(before, replace(before, network=edits.rename(six(), "id2", "first")))
        assert after.environment.stages == kept
    before = project("fc_3: 2")
    other = replace(before, network=edits.rename(six(), "id6", "end"), environment=TWO.replace(stages="end: 2"))
    assert stage_edits.with_stages_kept(before, other) is other


def test_problems_name_the_layer_and_can_be_mended() -> None:
    given = project("fc_2: 2, fc_3: 1")
    (problem,) = check(given).errors
    assert describe(problem).startswith("fc_3, environment.stages: fc_3 is in stage 1 and takes what relu_2 of stage 2")
    assert problem.layer == "id6"
    assert problem.fix is not None
    assert problem.fix.label == "Put fc_3 into stage 2"
    assert not check(problem.fix.edit(given)).errors
    (problem,) = check(project("fc_2: 2, fc_3: 3")).errors
    assert "put into 3 stages, and there are 2 workers. Give each worker one stage." in problem.message
    assert problem.fix is not None
    assert not check(problem.fix.edit(given)).errors
    messages = [problem.message for problem in check(project("relu_1: 2, fc_2: 4")).errors]
    assert messages == [
        "stage 2 has no layer whose weights learn. Move one into it, or use fewer stages.",
        "stage 3 of 4 has no layer. Number the stages without gaps.",
    ]
    (problem,) = check(project("block_1/fc: 2")).errors
    assert "block_1/fc is inside a block, and a block is in one stage as a whole: name block_1" in problem.message
    alone = project("fc_2: 2, fc_3: 1")
    assert not check(replace(alone, environment=TWO.replace(target="cpu", stages="fc_2: 9"))).errors


def test_the_pipeline_is_chosen_on_several_workers() -> None:
    chosen = stage_edits.with_pipeline(Project()).environment
    assert (chosen.target, chosen.strategy) == ("multi-cpu", "pipeline")
    gpus = EnvironmentOptions(target="multi-gpu")
    assert stage_edits.with_pipeline(Project(environment=gpus)).environment.target == "multi-gpu"
