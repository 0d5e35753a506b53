"""What `tune` varies: ranges by the project, its samples and a range test."""

from dataclasses import replace

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.experiments.tune_space import BATCH, L2, RATE, SOLVER, space_of, without
from netwright.engine.project.parameters import Parameter
from netwright.engine.project.project import Project
from tests.builders import chain, layer


def project(**training: object) -> Project:
    network = chain(
        layer("image_input", size=8), layer("dropout", probability=0.7), layer("fully_connected", outputs=10)
    )
    plain = Project(network)
    return replace(plain, training=plain.training.replace(**training))


def by_path(*parameters: Parameter) -> dict[str, Parameter]:
    return {parameter.path: parameter for parameter in parameters}


def test_ranges_are_around_the_project_and_hold_its_values() -> None:
    space = by_path(*space_of(project(initial_learn_rate=0.01, mini_batch_size=64), 1000, None))
    assert (space[RATE].low, space[RATE].high, space[RATE].is_log) == (0.0003, 0.3, True)
    assert space[SOLVER].values == ("sgdm", "adam")
    assert space[BATCH].values == (16, 32, 64)  # 128 would leave fewer than 8 steps per epoch
    assert space[L2].is_log
    assert space["network.dropout_1.probability"].high == 0.7


def test_a_learn_rate_that_is_far_off_is_replaced_by_that_of_a_range_test() -> None:
    near = by_path(*space_of(project(initial_learn_rate=0.5), 1000, (0.03, 4.0)))[RATE]
    assert (near.low, near.high) == (0.001, 0.5)
    far = by_path(*space_of(project(initial_learn_rate=500.0), 1000, (0.03, 0.4)))[RATE]
    assert (far.low, far.high) == (0.001, 0.2)


def test_few_samples_leave_the_mini_batch_and_a_full_batch_has_none() -> None:
    assert BATCH not in by_path(*space_of(project(mini_batch_size=128), 20, None))
    whole = by_path(*space_of(project(solver="lbfgs"), 1000, None))
    assert whole[SOLVER].values == ("lbfgs", "adam", "sgdm")
    assert whole[BATCH].when == whole[RATE].when == "training.solver != 'lbfgs'"


def test_options_that_stay_are_left_out_and_wrong_ones_refused() -> None:
    space = space_of(project(), 1000, None)
    assert {SOLVER, L2}.isdisjoint(by_path(*without(space, [SOLVER, L2])))
    with pytest.raises(UserError, match=r"training\.momentum.*is not varied"):
        without(space, ["training.momentum"])
    with pytest.raises(UserError, match="Nothing is left to vary"):
        without(space, [parameter.path for parameter in space])
