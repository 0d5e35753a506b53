"""What the pages in `docs/` and the README say of the program is there: links, options, commands, keys; and what the
pages for developers say of the code: files, modules, processes."""

import argparse
import ast
import json
import re
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from netwright.app.frame.actions import ACTIONS
from netwright.engine.cli.commands import parser
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.training import TrainingOptions
from scripts.code_facts import Facts
from scripts.make_architecture import drawing, room_of, rooms, rounded, width
from tests.architecture.test_repository import ROOT
from tests.docs_blocks import CHINESE, PAGES, blocks, commands

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
CATALOGUE = ROOT / "resources" / "translations" / "netwright_zh_CN.ts"
CODE = re.compile(r"`[^`\n]+`")
NAMED = re.compile(r"“([^”]+)”|(?<!\*)\*([^*`\n]+)\*(?!\*)")
"""Names of parts of the window in a Chinese page."""
COMMAND = re.compile(r"netwright-engine ([a-z-]+)")
KEY = re.compile(r"\*\*((?:(?:Ctrl|Shift|Alt)\+)+\w+|F\d+)\*\*")
PAIR = re.compile(r"`(?:\w*[A-Z]\w*)` is `(\w+)`")
DEVELOPER_PAGES = ("CONTRIBUTING.md", "docs/architecture.md")
MODULE = re.compile(r"(?<![\w.])(netwright(?:\.[A-Za-z_]\w*)+)(?::([\w.]*\w))?")
"""A module, and what a colon says that it defines."""
FOLDERS = ("app", "benchmarks", "designer", "docs", "engine", "netwright", "resources", "scripts", "tests")
PATH = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/[\w./<>*-]*|[\w-]+\.(?:py|toml|md|svg))(?![\w/])")
PLACEHOLDER = re.compile(r"<\w+>")


def named_paths(text: str) -> list[str]:
    """The files and folders of the repository that a page names between backticks or in a block of code."""
    code = re.findall(r"`([^`\n]+)`|^ {4}(.+)$", text, re.MULTILINE)
    return [path for words in code for path in PATH.findall("".join(words))]


def matches(path: str) -> bool:
    """Whether there is such a file or folder; `<name>` in it stands for any name."""
    return any(ROOT.glob(PLACEHOLDER.sub("*", path)))


def defines(module: str, name: str) -> bool:
    """Whether there is a module of ours that defines a function, class, method or constant; '' for the module alone."""
    path = ROOT.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.is_file():
        return False
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for part in filter(None, name.split(".")):
        inside = [node for node in body if part in defined_names(node)]
        if not inside:
            return False
        body = getattr(inside[-1], "body", [])
    return True


def defined_names(node: ast.stmt) -> set[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def programs() -> set[str]:
    """The modules of ours that run in processes of their own: packages with a `__main__`, what hosts of a cluster are
    sent, and all that have `main(arguments)` but for the two that these packages call."""
    paths = [path for room in ("app", "designer", "engine") for path in (ROOT / room).rglob("*.py")]
    found = {
        ".".join(("netwright", *path.relative_to(ROOT).with_suffix("").parts)) for path in paths if is_program(path)
    }
    return {name.removesuffix(".__main__") for name in found} - {"netwright.app.main", "netwright.engine.cli.main"}


def is_program(path: Path) -> bool:
    source = path.read_text(encoding="utf-8")
    if path.name == "__main__.py" or '\nif __name__ == "__main__":' in source:
        return not path.match("core/child.py")
    return re.search(r"^def main\(arguments\b", source, re.MULTILINE) is not None


@pytest.fixture(params=[*PAGES, *CHINESE], ids=lambda page: str(page.relative_to(ROOT)))
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


def test_the_index_has_each_page_once() -> None:
    """The site that `make docs` builds takes its table of contents from there."""
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[.*?\]\((.*?)\) \|", text, re.MULTILINE)
    pages = [str(path.relative_to(ROOT / "docs")) for path in PAGES if path.name != "README.md"]
    assert sorted(rows) == sorted([*pages, "zh/README.md", "../CONTRIBUTING.md"])


def test_the_chinese_index_has_each_chinese_page_once_and_leads_to_the_english_one() -> None:
    text = (ROOT / "docs" / "zh" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[.*?\]\((.*?)\) \|", text, re.MULTILINE)
    assert sorted(rows) == sorted({path.name for path in CHINESE} - {"README.md"})
    assert "](../README.md)" in text


@pytest.mark.parametrize("path", [path for path in CHINESE if path.name != "README.md"], ids=lambda path: path.name)
def test_chinese_pages_have_the_blocks_code_and_pictures_of_the_english_ones(path: Path) -> None:
    """So the commands that `make journeys` runs are those of both."""
    english = ROOT / "docs" / path.name
    assert [(b.language, b.text) for b in blocks(path)] == [(b.language, b.text) for b in blocks(english)]
    texts = [page.read_text(encoding="utf-8") for page in (english, path)]
    code, links, keys = ([sorted(pattern.findall(text)) for text in texts] for pattern in (CODE, LINK, KEY))
    assert code[1] == code[0]
    assert keys[1] == keys[0]
    targets = [sorted(target.rpartition("/")[2] for target, _ in found) for found in links]
    assert targets[1] == targets[0]
    depths = [re.findall("^#+ ", text, re.MULTILINE) for text in texts]
    assert depths[1] == depths[0]


@pytest.mark.parametrize("path", CHINESE, ids=lambda path: path.name)
def test_chinese_pages_name_the_parts_of_the_window_as_it_does(path: Path) -> None:
    forms = ElementTree.parse(CATALOGUE).getroot().iter("translation")
    shown = {re.sub(r"\(&\w\)|…", "", text) for form in forms for text in form.itertext()}
    named = {"".join(match) for match in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert {name for name in named if not name.isascii()} <= shown


def test_commands_and_keys_are_those_of_the_program(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    (commands,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    assert set(COMMAND.findall(text)) <= set(commands.choices)
    assert set(KEY.findall(text)) <= {key for action in ACTIONS for key in (action.shortcut, *action.also)}


def test_commands_in_blocks_are_taken_by_the_program(page: str) -> None:
    """`make journeys` runs them, too (tests/journeys/test_docs_journey.py)."""
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


def test_the_recipes_for_servers_are_those_of_github_and_gitlab() -> None:
    page = ROOT / "docs" / "ci.md"
    github, gitlab = (yaml.safe_load(block.text) for block in blocks(page) if block.language == "yaml")
    steps = github["jobs"]["train"]["steps"]
    assert all(set(step) & {"run", "uses"} for step in steps)
    assert all(isinstance(line, str) for line in gitlab["train"]["script"])
    assert gitlab["train"]["artifacts"]["reports"]["junit"] == "outcome.xml"
    for words in (" ".join(step.get("run", "") for step in steps), " ".join(gitlab["train"]["script"])):
        assert {"train", "export"} <= set(COMMAND.findall(words))


def test_every_example_has_a_page_and_a_row_in_the_gallery() -> None:
    """`make journeys` holds the results there (tests/journeys/test_docs_journey.py)."""
    names = {path.stem for path in (ROOT / "resources" / "examples").glob("*.netwright")}
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert {path.stem for path in (ROOT / "docs" / "gallery").glob("*.md")} == names
    assert set(re.findall(r"^\| \[`(\w+)`\]\(gallery/\1\.md\) \|", text, re.MULTILINE)) == names


def test_the_changes_that_a_page_of_the_gallery_tries_are_options() -> None:
    for page in (ROOT / "docs" / "gallery").glob("*.md"):
        for setting in re.findall(r"`--set (\S+)`", page.read_text(encoding="utf-8")):
            set_option(Project(), setting)


def test_blocks_are_seen() -> None:
    pages = {page.name: len(commands(page)) for page in PAGES}
    assert pages["command-line.md"] > 20
    assert sum(pages.values()) > 80


def test_options_beside_their_names_in_matlab_are_options() -> None:
    text = (ROOT / "docs" / "from-matlab.md").read_text(encoding="utf-8")
    named = set(PAIR.findall(text)) | set(re.findall(r"`(\w+) = \w+`", text)) | {"worker_load"}
    assert len(named) > 3
    assert named <= {*TrainingOptions.fields, *EnvironmentOptions.fields}


def test_the_picture_of_the_rooms_is_that_of_the_code(facts: list[Facts]) -> None:
    """Sizes and arrows have steps, so few changes of the code change it; then `python scripts/make_architecture.py`."""
    assert (ROOT / "docs" / "rooms.svg").read_text(encoding="utf-8") == drawing(facts)


def test_few_lines_more_change_nothing_in_the_picture() -> None:
    assert [rounded(lines) for lines in (0, 499, 501, 1400, 1600)] == [0, 0, 1000, 1000, 2000]
    assert [width(count) for count in (9, 10, 29, 30, 500)] == [0, 1.2, 1.2, 3.0, 6.0]
    assert [room_of(f"netwright.{name}") for name in ("app.window", "engine.runs", "engine.runs.log")] == [
        "app",
        "runs",
        "runs",
    ]


@pytest.mark.parametrize("page", DEVELOPER_PAGES)
def test_files_and_modules_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(named_paths(text)) > 5
    assert [path for path in named_paths(text) if not matches(path)] == []
    assert [name for name in MODULE.findall(text) if not defines(*name)] == []
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets


def test_names_of_files_and_modules_that_do_not_exist_are_recognised() -> None:
    text = "`engine/nothing.py`, [`tests/`](x), `no.py`, `engine/layers/<family>.py`, `runs/a`, `netwright.app:Window`"
    assert named_paths(text) == ["engine/nothing.py", "tests/", "no.py", "engine/layers/<family>.py"]
    assert [matches(path) for path in named_paths(text)] == [False, True, False, True]
    assert MODULE.findall(text) == [("netwright.app", "Window")]
    assert not defines("netwright.app", "Window")
    assert not defines("netwright.app.nothing", "")
    assert defines("netwright.app", "")
    assert defines("netwright.designer.editor", "Editor.apply")
    assert defines("netwright.engine.project.sources.source_catalog", "SOURCES")


def test_every_room_is_described() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {path.removesuffix(".py").strip("/") for path in named_paths(text)}
    assert {f"engine/{room}" for room in rooms()} <= named


def test_the_walks_have_their_steps() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len([name for _, name in MODULE.findall(text) if name]) > 40


def test_the_processes_are_the_modules_that_run_as_programs() -> None:
    """Where a program comes or goes, its row in `docs/architecture.md` does, too. A row may name several."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("\n## Processes\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")]
    named = {module.removesuffix(".__main__") for row in rows for module, _ in MODULE.findall(row)}
    assert {"without a row": programs() - named, "no program": named - programs()} == {
        "without a row": set(),
        "no program": set(),
    }
