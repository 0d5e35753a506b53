"""What the pages in `docs/` and the README say of the program is there: links, options, commands, keys."""

import argparse
import ast
import json
import re
import shlex

import pytest

from netwright.app.frame.actions import ACTIONS
from netwright.engine.cli.commands import parser
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.training import TrainingOptions
from scripts.make_architecture import drawing
from tests.architecture.test_repository import ROOT
from tests.docs_blocks import PAGES, blocks, commands

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
COMMAND = re.compile(r"netwright-engine ([a-z-]+)")
KEY = re.compile(r"\*\*((?:(?:Ctrl|Shift|Alt)\+)+\w+|F\d+)\*\*")
PAIR = re.compile(r"`(?:\w*[A-Z]\w*)` is `(\w+)`")


@pytest.fixture(params=PAGES, ids=lambda page: page.name)
def page(request: pytest.FixtureRequest) -> str:
    return str(request.param.relative_to(ROOT))


def anchors(text: str) -> set[str]:
    """Those that a page of Markdown has for its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    prose = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in LINK.findall(prose):
        if "://" in target:
            continue
        found = path.parent / target if target else path
        assert found.exists(), f"{page}: {target}"
        assert not anchor or anchor in anchors(found.read_text(encoding="utf-8")), f"{page}: {target}#{anchor}"


def test_commands_and_keys_are_those_of_the_program(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    (commands,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    assert set(COMMAND.findall(text)) <= set(commands.choices)
    assert set(KEY.findall(text)) <= {key for action in ACTIONS for key in (action.shortcut, *action.also)}


def test_commands_in_blocks_are_taken_by_the_program(page: str) -> None:
    """`make journeys` runs them, too (tests/journeys/test_docs.py)."""
    for line in commands(ROOT / page):
        words = shlex.split(line.partition(" > ")[0])
        arguments, unknown = parser(words[0]).parse_known_args(words)
        assert unknown == [], f"{page}: {line}"
        for setting in getattr(arguments, "settings", []) if words[0] in ("train", "check", "resume") else []:
            set_option(Project(), setting)


def test_programs_in_blocks_can_be_read(page: str) -> None:
    for block in blocks(ROOT / page):
        if block.language == "python":
            ast.parse(block.text, f"{page}:{block.line}")
        elif block.language == "json":
            json.loads(block.text)


def test_blocks_are_seen() -> None:
    pages = {page.name: len(commands(page)) for page in PAGES}
    assert pages["command-line.md"] > 20
    assert sum(pages.values()) > 80


def test_options_beside_their_names_in_matlab_are_options() -> None:
    text = (ROOT / "docs" / "from-matlab.md").read_text(encoding="utf-8")
    named = set(PAIR.findall(text)) | set(re.findall(r"`(\w+) = \w+`", text)) | {"worker_load"}
    assert len(named) > 3
    assert named <= {*TrainingOptions.fields, *EnvironmentOptions.fields}


def test_the_picture_of_the_rooms_is_what_the_contract_says() -> None:
    assert (ROOT / "docs" / "rooms.svg").read_text(encoding="utf-8") == drawing()


def test_the_walks_name_functions_that_there_are() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    steps = re.findall(r"`netwright\.((?:app|designer|engine)[\w.]+):([\w.]+)`", text)
    assert len(steps) > 20
    for module, name in steps:
        body = ast.parse(ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")).body
        for part in name.split("."):
            found = next((n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == part), None)
            assert found is not None, f"{module}:{name}"
            body = found.body
