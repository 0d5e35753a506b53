"""The site that `make docs` has built in `build/docs`: all pages, full-text search, nothing from another host."""

import json
import re

import pytest

from tests.architecture.test_repository import ROOT
from tests.docs_blocks import CHINESE

pytestmark = pytest.mark.site
SITE = ROOT / "build" / "docs"
LOADED = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc(?:set)?=\"(.*?)\"|<link\b[^>]*\bhref=\"(.*?)\"")
ELSEWHERE = re.compile(r"^(?:https?:)?//")


def test_every_page_is_there_and_found_by_its_words() -> None:
    paths = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "docs").rglob("*.md")]
    pages = {"CONTRIBUTING", *map(str, paths)}
    index = (SITE / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    assert set(found["docnames"]) == pages
    assert all((SITE / f"{page}.html").is_file() for page in pages)
    assert "docs/README.html" in (SITE / "index.html").read_text(encoding="utf-8")
    named = found["terms"]["webhook"]
    assert "docs/runs" in [found["docnames"][number] for number in (named if isinstance(named, list) else [named])]


def test_a_page_loads_nothing_from_another_host() -> None:
    loaded = {
        "".join(match): str(page.relative_to(SITE))
        for page in SITE.rglob("*.html")
        for match in LOADED.findall(page.read_text(encoding="utf-8"))
    }
    assert any("furo.css" in address for address in loaded)
    assert {address: page for address, page in loaded.items() if ELSEWHERE.match(address)} == {}
    styles = "".join(path.read_text(encoding="utf-8") for path in SITE.rglob("*.css"))
    assert "prefers-color-scheme:dark" in styles.replace(" ", "")
    assert re.findall(r"url\([\"']?https?:[^)]*|@import[^;]*", styles) == []


def test_the_chinese_pages_are_in_the_contents() -> None:
    text = (SITE / "docs" / "README.html").read_text(encoding="utf-8")
    assert re.search(r'class="toctree-l1.*?href="zh/README.html">', text)
    text = (SITE / "docs" / "zh" / "README.html").read_text(encoding="utf-8")
    assert all(f'href="{path.stem}.html"' in text for path in CHINESE if path.stem != "README")


@pytest.mark.parametrize("page", ["first-network", "zh/first-network"])
def test_a_picture_is_shown_in_the_theme_of_the_reader(page: str) -> None:
    text = (SITE / "docs" / f"{page}.html").read_text(encoding="utf-8")
    shown = {(name, theme) for theme, name in re.findall(r'class="only-(light|dark)" src="[^"]*/([\w-]+)\.png"', text)}
    names = {name.rpartition("-")[0] for name, _ in shown}
    assert names
    assert shown == {(f"{name}-{theme}", theme) for name in names for theme in ("light", "dark")}
