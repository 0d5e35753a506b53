"""`docs`: every page by its name, and an index for assistants that is that of the documentation."""

import re
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import DOCS
from netwright.engine.operations import docs
from netwright.engine.operations.docs import DocsRequest, llms_text, pages

LINK = re.compile(r"^- \[([^\]]+)\]\(([^)]+)\): .+$", re.MULTILINE)


def test_the_index_for_assistants_is_that_of_the_documentation() -> None:
    text = docs.INDEX.read_text(encoding="utf-8")
    assert text == llms_text(), "pages have changed: run `python scripts/make_reference.py` and commit what it writes"
    links = [(DOCS / target).resolve() for _, target in LINK.findall(text)]
    assert [path for path in links if not path.is_file()] == []
    assert {path.name for path in links} >= {path.name for path in DOCS.glob("*.md")} - {"README.md"}


def test_the_index_has_the_form_of_llms_txt() -> None:
    """A title, a quotation, prose, then sections with lists of links alone: https://llmstxt.org."""
    title, quotation, rest = docs.INDEX.read_text(encoding="utf-8").split("\n\n", 2)
    assert title == "# Netwright"
    assert quotation.startswith("> ")
    assert "\n" not in quotation
    prose, *sections = re.split(r"^## .+\n\n", rest, flags=re.MULTILINE)
    assert not re.search(r"^[#-]", prose, re.MULTILINE)
    assert len(sections) > 3
    assert all(LINK.fullmatch(line) for section in sections for line in section.strip().splitlines())


def test_every_page_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for page in pages():
        assert main(["docs", page["name"]]) == 0
        assert capsys.readouterr().out.rstrip("\n") == Path(page["path"]).read_text(encoding="utf-8").rstrip("\n")
    assert main(["docs", "layers.md"]) == 0
    assert capsys.readouterr().out.startswith("# Layer types")


def test_without_a_name_the_pages_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert {row.split()[0] for row in rows} >= {"skill", "llms.txt", "project.schema.json", "layers", "command-line"}


def test_a_page_that_is_not_there_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "layer"]) == 2
    assert "There is no page 'layer'. Did you mean 'layers'?" in capsys.readouterr().err


def test_an_installation_without_its_pages_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "CONTENTS", tmp_path / "README.md")
    with pytest.raises(UserError, match=r"cannot be read: No such file or directory\. Install Netwright again"):
        docs.docs(DocsRequest())
