"""The recipe of the data: one sentence, whose words open menus that set the options."""

from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QMenu

from netwright.app.data.data_recipe import SENTENCES, Recipe
from netwright.app.data.option_words import in_words
from netwright.designer import language
from netwright.engine.core.types import image
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.training import TrainingOptions

IMAGES = DataOptions(source="images", path="/data/pets")
INFO = DatasetInfo((InputInfo("image", image(3, 48, 64)),), {"training": 70}, classes_of("a", "b"))
COLUMNS = [{"name": "area", "role": "input"}, {"name": "price", "role": "response"}]


@pytest.fixture
def recipe(qtbot: Any) -> Recipe:
    recipe = Recipe()
    qtbot.addWidget(recipe)
    recipe.resize(900, 60)
    return recipe


def menu_of(recipe: Recipe, name: str) -> QMenu:
    menu = recipe.buttons[name].menu()
    menu.aboutToShow.emit()
    return menu


def test_images_are_told_in_words_with_their_real_size(recipe: Recipe) -> None:
    recipe.show_options(IMAGES, INFO, TrainingOptions(rand_rotation=(-9, 9)))
    assert {name: button.text() for name, button in recipe.buttons.items()} == {
        "channels": "colour",
        "image_size": "64 × 48",
        "inner_folders": "folder names",
        "split": "70 / 15 / 15 at random",
        "augmented": "rotation",
    }
    recipe.show_options(IMAGES.replace(class_pattern="{class}.*"), INFO, TrainingOptions())
    assert recipe.buttons["inner_folders"].text() == "file names"


def test_the_order_of_its_words_is_that_of_the_language(qapp: QApplication, recipe: Recipe) -> None:
    options = DataOptions(source="series", path="t.csv", horizon=24, lags=168, time_column="when")
    recipe.show_options(options, None, TrainingOptions(), COLUMNS)
    english = recipe.text
    assert english.startswith("Forecastpricefor24 stepsfrom the last168 steps, in the order of")
    assert list(recipe.buttons)[:3] == ["response", "horizon", "lags"]
    try:
        language.use(qapp, "zh_CN")
        recipe.show_options(options, None, TrainingOptions(), COLUMNS)
    finally:
        language.use(qapp, "en")
    assert recipe.text.startswith("根据最近168 步预测price在之后24 步的值，按when的顺序，")
    assert list(recipe.buttons)[:3] == ["lags", "response", "horizon"]


def test_a_word_of_a_menu_is_an_edit(recipe: Recipe) -> None:
    recipe.show_options(DataOptions(source="table", path="t.csv"), None, TrainingOptions(), COLUMNS)
    assert recipe.buttons["response"].text() == "price"
    edits: list[Any] = []
    recipe.edited.connect(lambda label, values: edits.append((label, values)))
    fields: list[str] = []
    recipe.field_wanted.connect(fields.append)
    for name, word in (("response", "area"), ("missing_values", "Fill in"), ("split", "80 / 10 / 10")):
        next(action for action in menu_of(recipe, name).actions() if action.text() == word).trigger()
    assert edits == [
        ("Change response", {"response": "area"}),
        ("Change missing values", {"missing_values": "impute"}),
        ("Change split", {"validation_share": 0.1, "test_share": 0.1}),
    ]
    menu_of(recipe, "split").actions()[-1].trigger()
    assert fields == ["split"]


def test_ways_to_divide_that_the_data_does_not_have_are_not_on_offer(recipe: Recipe) -> None:
    recipe.show_options(DataOptions(source="table", path="t.csv"), None, TrainingOptions())
    words = [action.text() for action in menu_of(recipe, "split").actions()]
    assert "At random" in words
    assert "By folders" not in words


@pytest.mark.parametrize("key", SENTENCES)
def test_every_sentence_names_options_that_its_source_has(recipe: Recipe, key: str) -> None:
    source, _, kind = key.partition(", ")
    values = {kind: "x"} if kind in ("labels", "masks", "target_images") else {}
    values |= {"text_goal": "next-token"} if kind == "tokens" else {}
    options = DataOptions(source=source or "digits", path="a.csv" if source in ("text", "table") else "a", **values)
    recipe.show_options(options, None, TrainingOptions())
    assert "split" in recipe.buttons
    for name in recipe.buttons:
        assert name == "augmented" or menu_of(recipe, name).actions()
    assert "{" not in recipe.text


def test_sentences_of_the_engine_lose_their_keys_and_folders() -> None:
    options = DataOptions(source="table", path="/work/data/houses.csv")
    text = "Column 'a' of /work/data/houses.csv: 3 gaps (data.missing_values); data.bad_samples=fatal ends, "
    assert in_words(f"{text}see data.split.", options) == (
        "Column 'a' of houses.csv: 3 gaps; “Bad samples: Stop with an error” ends, see “Split”."
    )
