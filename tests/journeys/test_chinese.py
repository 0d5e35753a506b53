"""One's own pictures in a window in Chinese: every sentence that is seen on the way is Chinese."""

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from netwright.designer import language
from netwright.designer.language import translation
from tests.journeys.conftest import Visit
from tests.journeys.journey_files import shape_pictures

ENGLISH = re.compile(r"(?<![\w./-])[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}(?![\w./=-])")
"""Three words in a row; names of the pictures have fewer."""


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
def test_own_pictures_are_learned_in_chinese(visit: Visit, place: Path, qapp: QApplication) -> None:
    shape_pictures(place / "shapes")
    language.use(qapp, "zh_CN")
    try:
        person = visit()
        person.look("start")
        person.drop(place / "shapes")
        person.wait_to_see("603")
        person.look("data")
        person.click(translation("Make a network"))
        person.wait_to_see("^35 ")
        person.train(translation("Train"))
        person.wait_to_see("✓ 已完成$", or_else="失败|无法|不能")
        person.look("trained")
        person.click(translation("Scores"))
        person.wait_to_see("^60 个中有 [0-9]+ 个正确")
        person.look("scores")
        person.click(translation("Predict"))
        with person.choose_file(place / "shapes" / "ring" / "large.png"):
            person.click(translation("Files…"))
        person.wait_to_see(r"^(circle|cross|ring|square|triangle)[：:] ?\d")
        person.click(translation("Explain"))
        person.wait_to_see("Grad-CAM")
        person.tab(translation("Design"))
        person.look("design")
        english = [text for text in person.watch.texts if ENGLISH.search(text)]
        assert english == []
    finally:
        language.use(qapp, language.ENGLISH)
