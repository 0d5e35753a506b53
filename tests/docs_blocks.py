"""The code blocks of README and `docs/`, and the commands in them, as a reader copies them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    (*ROOT.glob("docs/*.md"), *ROOT.glob("docs/gallery/*.md"), ROOT / "README.md"), key=lambda page: page.name
)
CHINESE = sorted(ROOT.glob("docs/zh/*.md"))
"""Translations of pages, whose blocks are the same."""
PROGRAM = "netwright-engine "
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^\n|\A)((?: {4}.*\n(?:\n(?= {4}))*)+)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, if it says one, its text and the line where it begins."""

    language: str
    text: str
    line: int

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands of Netwright in it, whole, without prompts and comments."""
        text = "\n".join(texts(yaml.safe_load(self.text))) if self.language == "yaml" else self.text
        lines = re.sub(r"\\\n *", "", text).splitlines()
        bare = (line.strip().removeprefix("$ ") for line in lines)
        found = (re.split(r" +# ", line)[0].strip() for line in bare if line.startswith(PROGRAM))
        return tuple(line.removeprefix(PROGRAM).strip() for line in found)


def texts(recipe: object) -> Iterator[str]:
    """Yield the texts in a recipe of YAML, in order."""
    if isinstance(recipe, str):
        yield recipe
    elif isinstance(recipe, dict | list):
        for value in recipe.values() if isinstance(recipe, dict) else recipe:
            yield from texts(value)


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page of Markdown, fenced and indented."""
    text = page.read_text(encoding="utf-8")
    found = [(match.start(), match[1], match[2]) for match in _FENCED.finditer(text)]
    without = _FENCED.sub(lambda match: re.sub(r"[^\n]", "", match[0]), text)
    at = dict(enumerate(without.splitlines(), 1))
    for start, language, inside in found:
        yield Block(language, inside, text[:start].count("\n") + 1)
    for match in _INDENTED.finditer(without):
        line = without[: match.start(1)].count("\n") + 1
        if match[1].strip() and not re.match(r"\s*([-*]|\d+\.) ", at.get(line - 2, "")):
            yield Block("", re.sub(r"^ {4}", "", match[1], flags=re.MULTILINE), line)


def commands(page: Path) -> list[str]:
    """Return all commands of a page, in order."""
    return [line for block in sorted(blocks(page), key=lambda block: block.line) for line in block.commands]
