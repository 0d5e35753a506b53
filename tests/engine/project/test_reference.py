"""The page in `docs/` is what the declarations say, and says all of it."""

from engine.project.environment import EnvironmentOptions
from engine.project.reference import COMMAND, PATH, text
from engine.project.training import TrainingOptions


def test_the_page_is_what_the_options_declare() -> None:
    shipped = PATH.read_text(encoding="utf-8") if PATH.is_file() else ""
    assert shipped == text(), f"options have changed: run `{COMMAND}` and commit the page"


def test_every_option_has_a_line() -> None:
    for name in (*TrainingOptions.fields, *EnvironmentOptions.fields):
        assert text().count(f"\n| `{name}` |") == 1
