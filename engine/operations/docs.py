"""`docs [NAME]`: the pages of the documentation, for people and for assistants.

`llms.txt` is their index in the form of https://llmstxt.org; `scripts/make_reference.py` writes it from the table of
contents of the documentation, and a test compares the two.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.files import DOCS, RESOURCES, read_file
from netwright.engine.operations.operation import Argument, Document, Line, Operation, Request, Result, Table

CONTENTS = DOCS / "README.md"
INDEX = DOCS / "llms.txt"
SKILL = RESOURCES / "skills" / "netwright" / "SKILL.md"
SCHEMA = RESOURCES / "schema" / "project.schema.json"
FOR_ASSISTANTS: Mapping[str, tuple[Path, str, str]] = {
    "skill": (SKILL, "Skill", "How to write a project, check, train, evaluate and export it; for assistants"),
    "llms.txt": (INDEX, "Index", "The list of the pages, for assistants"),
    "project.schema.json": (SCHEMA, "JSON Schema", "The JSON Schema of the project file"),
}
"""Files for assistants beside the pages: path, title and what is in it."""
LIMIT_BYTES = 2**24
_SECTION = re.compile(r"^## (.+)$|^\| \[([^\]]+)\]\(([\w/-]+\.md)\) \| (.+) \|$", re.MULTILINE)
SUMMARY = "Design neural networks as graphs of layers, train them on one worker or many, and export them."
HEAD = f"""# Netwright

> {SUMMARY}

A project is one JSON file (`*.netwright`) with the network, the data options and the training options. The window \
`netwright` edits it; the command `netwright-engine` checks, trains, evaluates and exports it without a screen, and \
prints JSON with `--json`. `netwright-engine docs NAME` prints a page of this list.

"""


@dataclass(frozen=True, kw_only=True)
class DocsRequest(Request):
    """Print a page of the documentation, or list them. Among them are the files for assistants: `skill` says how to
    write projects, `llms.txt` is the index, `project.schema.json` is the JSON Schema of the project file."""

    name: Annotated[str, Argument("a page, such as layers or skill", metavar="NAME", is_positional=True)] = ""


class Page(TypedDict):
    """A page of the documentation."""

    name: str
    title: str
    about: str
    path: str


@dataclass(frozen=True, kw_only=True)
class DocsResult(Result):
    """The pages, or the text of one."""

    pages: list[Page]
    """All pages; with a name this one."""
    text: str = ""
    """Text of the page that was named."""


def sections() -> Iterator[tuple[str, str, str, str]]:
    """Yield section, title, file and description of each page, in the order of the table of contents. Raises
    `UserError` where the installation has no documentation."""
    section = "Start"
    for match in _SECTION.finditer(_read(CONTENTS)):
        if match[1]:
            section = match[1]
        else:
            yield section, match[2], match[3], match[4]


def pages() -> list[Page]:
    """Return the pages with the files for assistants, which come first."""
    first = [
        Page(name=name, title=title, about=about, path=str(path))
        for name, (path, title, about) in FOR_ASSISTANTS.items()
    ]
    others = [
        Page(name=file.removesuffix(".md"), title=title, about=about, path=str(DOCS / file))
        for _, title, file, about in sections()
    ]
    return first + others


def docs(request: DocsRequest) -> DocsResult:
    """Return the pages, or one with its text. Raises `UserError`."""
    by_name = {page["name"]: page for page in pages()}
    if not request.name:
        return DocsResult(pages=[*by_name.values()])
    page = by_name.get(request.name) or by_name.get(request.name.removesuffix(".md"))
    if page is None:
        hint = f"{did_you_mean(request.name, by_name)} `netwright-engine docs` lists them."
        raise UserError(f"There is no page '{request.name}'.", code="not_found", hint=hint)
    return DocsResult(pages=[page], text=_read(Path(page["path"])))


def llms_text() -> str:
    """Return the text of `llms.txt`: the pages by section, with paths from the folder of the documentation."""
    parts, last = [HEAD, "## For assistants\n\n"], ""
    for path, title, about in FOR_ASSISTANTS.values():
        if path != INDEX:
            parts.append(f"- [{title}](../{path.relative_to(DOCS.parent).as_posix()}): {about}\n")
    for section, title, file, about in sections():
        if section != last:
            parts.append(f"\n## {section}\n\n")
            last = section
        parts.append(f"- [{title}]({file}): {about}\n")
    return "".join(parts)


def _read(path: Path) -> str:
    try:
        return read_file(path, LIMIT_BYTES).decode("utf-8")
    except OSError as error:
        reason = error.strerror or error
        hint = "Install Netwright again."
        raise UserError(f"{path} cannot be read: {reason}.", hint=hint) from error


def text(request: DocsRequest, result: DocsResult) -> Iterator[Line]:
    """Yield a row per page, or the page as it is."""
    if request.name:
        yield Document(result.text)
        return
    yield Table([("name", "title", "about"), *((page["name"], page["title"], page["about"]) for page in result.pages)])


OPERATION = Operation(name="docs", effect="reads", function=docs, text=text, faces=("command",))
