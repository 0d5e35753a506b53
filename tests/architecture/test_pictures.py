"""The pictures of the documentation are those that `make pictures` makes, and all are shown."""

import re

from PIL import Image

from scripts.make_pictures import FOLDER, PICTURES, SIZE, THEMES, path_of, recipe_digest
from tests.docs_blocks import PAGES, ROOT


def test_each_picture_is_that_of_its_recipe() -> None:
    """Where a recipe has changed: `.venv/bin/python scripts/make_pictures.py NAME`."""
    assert {path_of(name, theme) for name in PICTURES for theme in THEMES} == set(FOLDER.iterdir())
    changed = []
    for path in FOLDER.iterdir():
        with Image.open(path) as image:
            assert image.size == SIZE
            if image.info.get("recipe") != recipe_digest(path.stem.split("-")[0]):
                changed.append(path.stem)
    assert changed == []


def test_each_picture_is_shown_and_there_are_no_others() -> None:
    """A page names the light one; the site and the README show the dark one in dark."""
    shown = {name for page in PAGES for name in re.findall(r"pictures/(\w+)-light\.png", page.read_text("utf-8"))}
    assert shown == set(PICTURES)
    assert [path.name for path in (ROOT / "docs").iterdir() if path.suffix in (".png", ".jpg", ".gif")] == []
