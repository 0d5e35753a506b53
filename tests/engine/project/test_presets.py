import json
import math
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.project.presets import BUILT_IN, NOTES, Presets, difference, with_built_in
from netwright.engine.project.training import TrainingOptions
from tests.engine.project.test_assignments import ODD


@pytest.fixture
def presets(tmp_path: Path) -> Presets:
    return Presets(tmp_path / "new" / "presets.json")


def test_what_is_saved_is_there_in_another_window(presets: Presets) -> None:
    assert presets.read() == {}
    mine = TrainingOptions(solver="adam", max_epochs=7)
    presets.save(" mine ", mine)
    presets.save("Again", TrainingOptions())
    assert list(Presets(presets.file).read().items()) == [("Again", TrainingOptions()), ("mine", mine)]
    presets.save("mine", mine.replace(max_epochs=8))
    assert presets.read()["mine"].max_epochs == 8
    presets.delete("mine")
    assert list(presets.read()) == ["Again"]


def test_lists_chains_and_files_are_saved_too(presets: Presets) -> None:
    presets.save("odd", ODD)
    assert Presets(presets.file).read() == {"odd": ODD}


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\nb", "Fast"])
def test_a_name_that_cannot_be(presets: Presets, name: str) -> None:
    with pytest.raises(UserError, match="name"):
        presets.save(name, TrainingOptions())
    assert presets.read() == {}


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"presets": []}', '{"presets": {"a": 1}}', '{"presets": {"a": {"solver": "x"}}}'),
        *("[" * 100_000, '{"presets": {"": {}}}', f'{{"presets": {{"{"x" * 61}": {{}}}}}}'),
        json.dumps({"presets": {"a\nb": {}}}),
        json.dumps({"presets": {str(number): {} for number in range(201)}}),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_left_alone(presets: Presets, text: str) -> None:
    presets.file.parent.mkdir()
    presets.file.write_text(text, encoding="utf-8")
    for act in (presets.read, lambda: presets.save("mine", TrainingOptions()), lambda: presets.delete("mine")):
        with pytest.raises(UserError, match=r"presets\.json"):
            act()
    assert presets.file.read_text("utf-8") == text


def test_those_that_everybody_has_go_together() -> None:
    assert set(BUILT_IN) == set(NOTES)
    for name in BUILT_IN:
        assert with_built_in(name, TrainingOptions()).problems() == []


def test_a_built_in_preset_keeps_what_it_does_not_set() -> None:
    mine = TrainingOptions(seed=3, mini_batch_size=64, max_epochs=5)
    fast = with_built_in("Fast", mine)
    assert (fast.seed, fast.mini_batch_size, fast.solver, fast.max_epochs) == (3, 64, "adamw", 10)
    assert difference(mine, fast) == [
        "Solver adamw (was sgdm)",
        "Initial learn rate 0.003 (was 0.01)",
        "Learn rate schedule one-cycle (was none)",
        "Max epochs 10 (was 5)",
        "Shuffle every-epoch (was once)",
    ]


def test_what_the_previous_preset_set_gives_way_unless_it_was_changed_since() -> None:
    accurate = with_built_in("Accurate", TrainingOptions(seed=3)).replace(validation_patience=7)
    fast = with_built_in("Fast", accurate, previous="Accurate")
    assert (fast.objective_metric, fast.gradient_threshold) == ("loss", math.inf), "these were the preset's"
    assert (fast.validation_patience, fast.seed) == (7, 3), "these are the user's"


def test_as_in_matlab_are_matlabs_defaults() -> None:
    """Of trainingOptions("sgdm")."""
    options = with_built_in("As in MATLAB", TrainingOptions(solver="adam"))
    assert (options.solver, options.initial_learn_rate, options.momentum, options.schedule) == (
        "sgdm",
        0.01,
        0.9,
        "none",
    )
    assert (options.max_epochs, options.mini_batch_size, options.shuffle, options.last_batch) == (
        *(30, 128, "once"),
        "discard",
    )
    assert (options.l2_regularization, options.gradient_threshold_method) == (1e-4, "l2norm")
    assert (options.validation_frequency, options.output_network, options.objective_metric) == (50, "auto", "loss")
    assert (options.sequence_length, options.sequence_padding, options.sequence_padding_value) == ("longest", "seen", 0)
    assert (options.loss, options.precision, options.weight_averaging) == ("auto", "fp32", "none")
