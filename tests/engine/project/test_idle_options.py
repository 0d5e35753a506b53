"""What is asked for by name and plays no part is said, with what it goes with."""

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.relevance import idle_settings, refuse_without_unit


@pytest.mark.parametrize(("settings", "said"), [
    (
        ["environment.target=multi-cpu", "environment.strategy=fully-sharded", "environment.gradient_compression=fp16"],
        ["environment.gradient_compression=fp16 has no effect: it goes with environment.strategy=auto or "
         "data-parallel."],
    ),
    (
        ["environment.target=cpu", "environment.strategy=pipeline"],
        ["environment.strategy=pipeline has no effect: it goes with environment.target=multi-cpu, multi-gpu or "
         "parallel."],
    ),
    (
        ["environment.target=cpu", "environment.cpu_offload=true"],
        ["environment.cpu_offload=true has no effect with the other options as they are."],
    ),
    (["training.solver=adam", "training.momentum=0.5"], [
        "training.momentum=0.5 has no effect: it goes with training.solver=sgdm."
    ]),
    (["environment.target=multi-cpu", "environment.worker_load=by-hand", "environment.worker_weights=3, 1"], []),
    (["environment.threads=1", "environment.strategy=local-sgd", "training.momentum=0.5"], []),
    (["training.solver=adam", "training.momentum=0.9"], []),
])  # fmt: skip
def test_what_has_no_effect_is_said(settings: list[str], said: list[str]) -> None:
    """A default value is not worth a word; `auto` obeys more than its form shows."""
    project = Project()
    for setting in settings:
        project = set_option(project, setting)
    assert list(idle_settings(project, settings)) == said


@pytest.mark.parametrize(("settings", "is_refused"), [
    (["training.checkpoint_frequency=60"], True),
    (["training.checkpoint_frequency=5", "training.checkpoint_unit=auto"], True),
    (["training.checkpoint_frequency=5", "training.checkpoint_unit=epochs"], False),
    (["training.checkpoint_unit=auto"], False),
])  # fmt: skip
def test_an_interval_of_checkpoints_without_a_unit_is_refused(settings: list[str], is_refused: bool) -> None:
    project = Project()
    for setting in settings:
        project = set_option(project, setting)
    if not is_refused:
        refuse_without_unit(project, settings)
        return
    with pytest.raises(UserError, match=r"the interval has no unit.*checkpoint_unit=epochs, iterations or seconds"):
        refuse_without_unit(project, settings)
