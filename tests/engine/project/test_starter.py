"""First networks fit the data that they are made for, and are offered only where the project has no layers."""

from dataclasses import replace

import pytest

from netwright.engine.core.types import TensorType, features, image, sequence, tokens, volume
from netwright.engine.project.check import check
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import (
    DatasetInfo,
    Forecast,
    InputInfo,
    TargetInfo,
    classes_of,
    numbers_of,
)
from netwright.engine.project.preparation import SoundPreparation, TextPreparation
from netwright.engine.project.project import Project
from netwright.engine.project.starter import MAKE, starter
from netwright.engine.project.starter_options import Plan, with_small_shares
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


@pytest.mark.parametrize(("samples", "side"), [(500, 128), (3_000, 96), (20_000, 64)])
@pytest.mark.parametrize("per", ["sample", "pixel"])
def test_large_image_files_become_smaller_for_a_first_network(samples: int, side: int, per: str) -> None:
    targets = classes_of("a", "b") if per == "sample" else (TargetInfo("y", image(3, 3000, 4000), "numbers"),)
    facts = data((InputInfo("image", image(3, 3000, 4000)),), targets, samples - 100)
    project = Project(data=DataOptions(source="images", path="photos"))
    fix = starter(facts, project.data)
    assert fix is not None
    made = fix.edit(project)
    assert made.data.image_size == side
    assert f"Images are resized to {side} × {side} (data.image_size)." in fix.detail
    resized = [target if per == "sample" else replace(target, type=image(3, side, side)) for target in targets]
    small = replace(facts, inputs=(InputInfo("image", image(3, side, side)),), targets=tuple(resized))
    assert [problem.message for problem in check(made, small).problems] == []


def test_images_whose_size_is_chosen_or_small_keep_it() -> None:
    facts = data((InputInfo("image", image(3, 300, 300)),), classes_of("a", "b"))
    for options in (DataOptions(source="images", image_size=300), DataOptions(source="arrays"), None):
        fix = starter(facts, options)
        assert fix is not None
        project = Project(data=options or DataOptions())
        assert fix.edit(project).data.image_size == project.data.image_size
        assert "resized" not in fix.detail
    small = data((InputInfo("image", image(3, 160, 90)),), classes_of("a", "b"))
    assert "resized" not in str(starter(small, DataOptions(source="images")))


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
    assert ("lstm" in keys) is (given in ("sequence", "sequences"))


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


@pytest.mark.parametrize("samples", [150, 1_000, 20_000])
def test_a_run_has_enough_steps_whatever_the_number_of_samples(samples: int) -> None:
    training = made_for(data((INPUTS["features"],), classes_of("a", "b"), samples)).training
    steps = -(-samples // training.mini_batch_size) * training.max_epochs
    assert 1_500 <= steps <= 4_200
    assert (training.solver, training.schedule, training.shuffle) == ("adamw", "cosine", "every-epoch")
    assert 20 <= training.max_epochs // training.validation_frequency <= 80
    assert training.validation_patience


def test_weights_decay_less_where_there_are_more_samples() -> None:
    decays = [
        made_for(data((INPUTS["features"],), numbers_of(1), samples)).training.l2_regularization
        for samples in (150, 1_000, 20_000)
    ]
    assert decays == sorted(decays, reverse=True)
    assert decays[0] > 4 * decays[-1]


@pytest.mark.parametrize(
    ("info", "samples"),
    [
        (InputInfo("x", features(30)), 20_000),
        (InputInfo("x", image(3, 48, 48)), 5_000),
        (InputInfo("x", image(3, 224, 224)), 5_000),
        (InputInfo("x", tokens(512).opened(), lengths=(3, 512), text=replace(TEXT, vocabulary=10_000)), 5_000),
    ],
    ids=["rows", "small images", "large images", "texts"],
)
def test_the_time_is_said_before_and_is_under_two_minutes(info: InputInfo, samples: int) -> None:
    facts = data((info,), classes_of("a", "b"), samples)
    fix = starter(facts)
    assert fix is not None
    made = fix.edit(Project())
    plan = Plan.of(facts, made.network)
    assert plan.seconds <= 120
    assert made.training.max_epochs >= 3
    assert plan.spoken() in fix.detail
    assert f"up to {made.training.max_epochs} epochs" in fix.detail


def test_images_are_moved_but_not_mirrored_since_digits_would_become_others() -> None:
    training = made_for(data((INPUTS["image"],), classes_of("6", "9"))).training
    assert training.rand_rotation == (-10.0, 10.0)
    assert training.rand_x_translation[1] > 0
    assert not training.rand_x_reflection
    assert not made_for(data((INPUTS["text"],), classes_of("a", "b"))).training.augments


def test_what_a_move_would_change_is_not_moved() -> None:
    """A place or an angle is another one in a picture that was moved; in a spectrogram height is the pitch."""
    assert not made_for(data((INPUTS["image"],), numbers_of(2))).training.augments
    sound = SoundPreparation(rate=8000, channels=1, length=8000, features="mel", layout="image", bands=64)
    spectrogram = InputInfo("x", image(1, 64, 50), sound=sound)
    assert not made_for(data((spectrogram,), classes_of("a", "b"))).training.augments


def test_what_the_user_has_set_stays() -> None:
    training = Project().training.replace(mini_batch_size=32, max_epochs=7, solver="rmsprop")
    fix = starter(data((INPUTS["image"],), classes_of("a", "b")))
    assert fix is not None
    made = fix.edit(Project().with_section("training", training)).training
    assert (made.mini_batch_size, made.max_epochs, made.solver) == (32, 7, "rmsprop")
    assert not made.is_changed("initial_learn_rate")
    assert not made.is_changed("l2_regularization")


def forecast(period: int = 0, lags: int = 24, samples: int = 5000, horizon: int = 3) -> DatasetInfo:
    inputs = (InputInfo("history", sequence(lags, 3)), InputInfo("future", sequence(horizon, 2)))
    facts = data(inputs, numbers_of(2 * horizon), samples)
    return replace(facts, forecast=Forecast(("a", "b"), lags, horizon, period=period))


@pytest.mark.parametrize(
    ("facts", "lags"),
    [
        (forecast(), 24),
        (forecast(period=24), 168),
        (forecast(period=24, samples=1_500), 48),
        (forecast(period=168), 24),
        (forecast(period=168, samples=10_000), 336),
        (forecast(period=24, lags=30), 30),
    ],
)
def test_a_forecast_sees_its_season(facts: DatasetInfo, lags: int) -> None:
    fix = starter(facts)
    assert fix is not None
    made = fix.edit(Project().with_section("data", Project().data.replace(source="series")))
    assert made.data.lags == lags
    assert made.training.normalize_targets
    assert made.network.layers["l01"].type.output()["T"] == lags


@pytest.mark.parametrize(("samples", "share"), [(4_000, 0.1), (20_000, 0.15)])
def test_a_small_file_keeps_more_to_train_on(samples: int, share: float) -> None:
    facts = data((INPUTS["features"],), numbers_of(1), samples)
    options = Project().data.replace(source="table")
    assert with_small_shares(options, facts).validation_share == share
    assert with_small_shares(options, facts).test_share == share
    assert with_small_shares(options.replace(test_share=0.3), facts).validation_share == 0.15


def test_the_split_stays_where_the_sizes_of_the_network_follow_from_it() -> None:
    options = Project().data.replace(source="text")
    fix = starter(data((INPUTS["text"],), classes_of("a", "b"), 400))
    assert fix is not None
    assert fix.edit(Project().with_section("data", options)).data == options


def test_it_is_offered_where_the_project_has_no_layers() -> None:
    facts = data((INPUTS["image"],), classes_of("a", "b"))
    found = check(Project(), facts)
    assert found.starter is not None
    assert found.starter.label == MAKE
    assert found.on_canvas().starter is not None
    assert check(Project()).starter is None
    assert check(replace(Project(), network=chain(layer("image_input"))), facts).starter is None
