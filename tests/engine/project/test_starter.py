"""First networks fit the data that they are made for, and are offered only where the project has no layers."""

from dataclasses import replace

import pytest

from netwright.engine.core.types import TensorType, features, image, sequence, tokens, volume
from netwright.engine.project.check import check
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.preparation import TextPreparation
from netwright.engine.project.project import Project
from netwright.engine.project.starter import MAKE, starter
from tests.builders import chain, layer

TEXT = TextPreparation(tokens="byte", vocabulary=256)
INPUTS = {
    "image": InputInfo("x", image(3, 64, 48)),
    "small image": InputInfo("x", image(1, 7, 5)),
    "volume": InputInfo("x", volume(1, 16, 18, 20)),
    "features": InputInfo("x", features(7)),
    "sequence": InputInfo("x", sequence(12, 5)),
    "sequences": InputInfo("x", sequence(12, 5).opened(), lengths=(1, 12)),
    "signal": InputInfo("x", sequence(4000, 2)),
    "signals": InputInfo("x", sequence(12, 5).opened(), lengths=(20, 4000)),
    "text": InputInfo("x", tokens(30), text=TEXT),
    "long text": InputInfo("x", tokens(3000), text=TEXT),
}
PER_PLACE = {
    "pixels": (image(3, 32, 48), TargetInfo("y", image(4, 32, 48), "classes", tuple("abcd"))),
    "odd pixels": (image(1, 9, 11), TargetInfo("y", image(2, 9, 11), "labels", ("a", "b"))),
    "images": (image(1, 20, 20), TargetInfo("y", image(3, 20, 20), "numbers")),
    "voxels": (volume(1, 16, 16, 16), TargetInfo("y", volume(2, 16, 16, 16), "classes", ("a", "b"))),
    "steps": (sequence(12, 5), TargetInfo("y", sequence(12, 3), "classes", tuple("abc"))),
    "tracks": (sequence(12, 5), TargetInfo("y", sequence(12, 2), "numbers")),
    "transcripts": (sequence(90, 5), TargetInfo("y", sequence(20, 4).opened(), "transcripts", tuple("abc"), (2, 20))),
}


def data(inputs: tuple[InputInfo, ...], targets: tuple[TargetInfo, ...], samples: int = 5000) -> DatasetInfo:
    return DatasetInfo(inputs, {"training": samples, "validation": 50, "test": 50}, targets)


def made_for(facts: DatasetInfo) -> Project:
    """A project with the first network for the data, which has no problem with it."""
    fix = starter(facts)
    assert fix is not None
    made = fix.edit(Project())
    assert [problem.message for problem in check(made, facts).problems] == []
    assert set(made.layout.positions) == set(made.network.layers)
    return made


@pytest.mark.parametrize("given", INPUTS)
@pytest.mark.parametrize("targets", [classes_of("a", "b", "c"), numbers_of(2)], ids=["classes", "numbers"])
def test_one_answer_per_sample(given: str, targets: tuple[TargetInfo, ...]) -> None:
    made = made_for(data((INPUTS[given],), targets))
    keys = [one.type.key for one in made.network.layers.values()]
    assert made.training.normalize_targets is (targets[0].task == "numbers")
    assert keys[-1] == ("softmax" if targets[0].task == "classes" else "inverse_norm")
    assert ("lstm" in keys) is (given in ("sequence", "sequences", "text"))


@pytest.mark.parametrize("name", PER_PLACE)
def test_one_answer_per_step_or_pixel(name: str) -> None:
    given, target = PER_PLACE[name]
    made = made_for(data((InputInfo("x", given),), (target,)))
    keys = [one.type.key for one in made.network.layers.values()]
    assert ("concatenation" in keys) is (name in ("pixels", "images", "voxels"))


def test_several_inputs_and_targets_are_bound_by_their_names() -> None:
    inputs = (InputInfo("photo", image(3, 24, 24)), InputInfo("facts", features(4)))
    made = made_for(data(inputs, (*classes_of("a", "b", name="kind"), *numbers_of(1, "price"))))
    assert {one.name for one in made.network.layers.values()} >= {"photo", "facts", "kind", "price"}


@pytest.mark.parametrize(
    ("inputs", "target"),
    [
        ((replace(features(4), kind="complex"),), numbers_of(1)[0]),
        ((tokens(12),), classes_of("a", "b")[0]),
        ((image(1, 8, 8), image(1, 8, 8)), TargetInfo("y", image(1, 8, 8), "numbers")),
        ((image(1, 8, 8),), TargetInfo("y", image(1, 16, 16), "numbers")),
        ((features(4),), TargetInfo("y", image(1, 16, 16), "numbers")),
    ],
)
def test_no_network_is_offered_that_would_not_fit(inputs: tuple[TensorType, ...], target: TargetInfo) -> None:
    infos = tuple(InputInfo(f"x{number}", type) for number, type in enumerate(inputs))
    assert starter(data(infos, (target,))) is None


@pytest.mark.parametrize(("samples", "batch"), [(20, 8), (126, 8), (600, 64), (5000, 128)])
def test_small_data_gets_small_mini_batches(samples: int, batch: int) -> None:
    fix = starter(data((INPUTS["features"],), numbers_of(1), samples))
    assert fix is not None
    assert fix.edit(Project()).training.mini_batch_size == batch
    chosen = Project().with_section("training", Project().training.replace(mini_batch_size=32))
    assert fix.edit(chosen).training.mini_batch_size == 32


def test_it_is_offered_where_the_project_has_no_layers() -> None:
    facts = data((INPUTS["image"],), classes_of("a", "b"))
    found = check(Project(), facts)
    assert found.starter is not None
    assert found.starter.label == MAKE
    assert found.on_canvas().starter is not None
    assert check(Project()).starter is None
    assert check(replace(Project(), network=chain(layer("image_input"))), facts).starter is None
