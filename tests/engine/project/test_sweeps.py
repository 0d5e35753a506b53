"""Values that vary: what is offered around the present value, and where it is kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network import blocks, edits
from netwright.engine.project.file import save
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.sweeps import (
    can_vary,
    comparing_networks,
    following_names,
    layer_path,
    parameter_offered,
    varied_paths,
    with_parameter,
    without_parameter,
)
from netwright.engine.project.trials import definition_problems
from tests.builders import chain, layer
from tests.engine.project.test_trials import HERE


@pytest.fixture
def project() -> Project:
    return Project(chain(layer("image_input", size=8), layer("conv2d", filters=8), layer("relu")))


@pytest.mark.parametrize(
    ("setting", "offered"),
    [
        ("training.momentum=0.9", "training.momentum=0.8,0.9,0.95"),
        ("training.momentum=1", "training.momentum=0.5,0.75,1.0"),
        ("training.momentum=0.5", "training.momentum=0.25..0.75"),
        ("training.initial_learn_rate=0.01", "training.initial_learn_rate=log 0.001..0.1"),
        ("training.initial_learn_rate=500", "training.initial_learn_rate=log 50..1000"),
        ("training.label_smoothing=0", "training.label_smoothing=0..0.5"),
        ("training.l2_regularization=0", "training.l2_regularization=0.0,0.1,0.2,0.5"),
        ("training.gradient_threshold=Inf", "training.gradient_threshold=0.5,1.0,5.0,Infinity"),
        ("training.mini_batch_size=100", "training.mini_batch_size=50,100,200"),
        ("training.mini_batch_size=1", "training.mini_batch_size=1,2,3"),
        ("training.seed=7", "training.seed=7,8,9,10,11"),
        ("training.nesterov=true", "training.nesterov=false,true"),
        ("training.shuffle=once", "training.shuffle=once,every-epoch,never"),
        ("data.validation_share=0.2", "data.validation_share=0.1..0.3"),
    ],
)
def test_values_are_offered_around_the_present_one(project: Project, setting: str, offered: str) -> None:
    path = setting.partition("=")[0]
    assert parameter_offered(set_option(project, setting), path).show() == offered


def test_fields_of_layers_vary_within_their_limits(project: Project) -> None:
    assert parameter_offered(project, "network.conv_1.filters").values == (4, 8, 16)
    assert parameter_offered(project, "network.conv_1.kernel").values == ((1, 1), (3, 3), (5, 5))
    assert parameter_offered(project, "network.conv_1.stride").values == ((1, 1), (2, 2))
    with pytest.raises(UserError, match="not offered"):
        parameter_offered(project, "network.conv_1.padding")


def test_every_value_that_is_offered_fits_the_project(project: Project) -> None:
    for section in ("training", "data"):
        for name, field in project.section(section).fields.items():
            if can_vary(field):
                changed = with_parameter(project, f"{section}.{name}").experiment.replace(strategy="random")
                problems: list[Any] = list(definition_problems(replace(project, experiment=changed), HERE))
                assert not problems, name


def test_a_value_varies_once_and_can_vary_no_more(project: Project) -> None:
    path = "training.momentum"
    varied = with_parameter(with_parameter(project, path), path)
    assert varied_paths(varied) == {path}
    assert without_parameter(varied, path) == project


def test_the_path_of_a_layer_in_a_block_has_the_names_of_the_blocks(project: Project) -> None:
    ids = [project.network.layer(name).id for name in ("conv_1", "relu_1")]
    network, layout, _ = blocks.group(project.network, project.layout, ids, "stage")
    project = replace(project, network=network, layout=layout)
    scope = (network.layer("stage").id,)
    path = layer_path(project, scope, "conv_1", "filters")
    assert path == "network.stage/conv_1.filters"
    assert parameter_offered(project, path).values == (4, 8, 16)


def test_architectures_are_compared_by_their_project_files(project: Project, tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(project, tmp_path / f"{name}.netwright")
    files = [str(tmp_path / f"{name}.netwright") for name in ("a", "b")]
    varied = comparing_networks(with_parameter(project, "training.momentum"), files, tmp_path)
    assert [parameter.show() for parameter in varied.experiment.parameters] == [
        "network=a.netwright,b.netwright",
        "training.momentum=0.8,0.9,0.95",
    ]
    assert not list(definition_problems(varied, tmp_path))
    with pytest.raises(UserError, match=r"none\.netwright"):
        comparing_networks(project, [str(tmp_path / "none.netwright")], tmp_path)


def test_paths_follow_layers_and_blocks_that_are_renamed(project: Project) -> None:
    _, second, *rest = project.network.layers.values()
    path, other = f"network.{second.name}.filters", f"network.{second.name}_b.filters"
    options = project.experiment.replace(
        parameters=[{"path": path, "values": [8, 16], "when": f"{path} > 4"}, f"{other}=1,2"],
        constraints=[f"{path} <= training.mini_batch_size"],
        table=[{path: 8}, {other: 9}],
    )
    project = project.with_section("experiment", options)
    inside = layer_path(project, (), "wide", "filters")
    renamed = replace(project, network=edits.rename(project.network, second.id, "wide"))
    found = following_names(project, renamed).experiment
    assert [p.path for p in found.parameters] == [inside, other]
    assert found.parameters[0].when == f"{inside} > 4"
    assert found.constraints == (f"{inside} <= training.mini_batch_size",)
    assert found.table == (((inside, 8),), ((other, 9),))
    removed = replace(project, network=edits.remove_layers(project.network, [second.id]))
    assert following_names(project, removed) is removed

    grouped, layout, block = blocks.group(renamed.network, renamed.layout, [second.id, rest[0].id], "stage")
    within = replace(renamed, network=grouped, layout=layout)
    within = within.with_section("experiment", options.replace(parameters=["network.stage/wide.filters=1,2"]))
    again = replace(within, network=edits.rename(within.network, block, "body"))
    assert [p.path for p in following_names(within, again).experiment.parameters] == ["network.body/wide.filters"]
