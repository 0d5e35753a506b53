"""The words of `docs/glossary.md` are the ones in use: names, docstrings, messages and pages."""

import ast
import io
import re
import tokenize
from pathlib import Path

from tests.architecture.test_repository import ROOT

SOURCES = [path for room in ("app", "designer", "engine") for path in sorted((ROOT / room).rglob("*.py"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COUNTED = "samples|steps|iterations|FLOPs|bytes|seconds|batches|numbers|values|times|points|parameters|images|epochs"
UNIT = "step|sample|epoch|iteration|second|worker|device|layer|channel|batch|class|pixel|image|line|run"
PATTERNS = {
    "'per', not 'a'": rf"\b(?:{COUNTED}) an? (?:{UNIT})\b",
    "'NaN' or 'non-finite'": r"\b(?:is|are) no numbers?\b",
    "'interrupted'": r"\bbroken off\b|\bbroke off\b",
}
PHRASES = {advice: re.compile(pattern, re.IGNORECASE) for advice, pattern in PATTERNS.items()}
# In the text of a source file a phrase may go over the end of a line and of a string.
ACROSS = re.compile("|".join(PATTERNS.values()).replace(" ", r"\W+"), re.IGNORECASE)


def glossary() -> str:
    return (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def replaced() -> set[str]:
    """The words of the last column of the tables of terms."""
    rows = [line.strip("| ").split("|") for line in glossary().splitlines() if line.startswith("|")]
    return {word for row in rows if len(row) == 3 for word in re.findall(r"`(\w+)`", row[2])}


def parts(name: str) -> set[str]:
    """The words of a name in snake case or camel case."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def names(path: Path, banned: set[str]) -> set[str]:
    """The names with a banned word that a file defines or uses, or has itself."""
    text = path.read_text(encoding="utf-8")
    if not any(word in f"{path.stem} {text}".lower() for word in banned):
        return set()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = {token.string for token in tokens if token.type == tokenize.NAME} | {path.stem}
    return {name for name in found if parts(name) & banned}


def texts(path: Path) -> list[str]:
    """The docstrings, messages and comments of a source file, or the whole page; nothing of a file that has none of the
    phrases anywhere, because to parse all takes seconds."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [text]
    if not ACROSS.search(text):
        return []
    found = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    comments = [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]
    return [value for value in found if isinstance(value, str)] + comments


def test_the_glossary_names_what_it_replaced() -> None:
    assert replaced() >= {"gang", "seat", "jury", "vigil", "herald", "misfit"}
    assert parts("LostPeerError") == {"lost", "peer", "error"}
    assert parts("_is_seat") == {"is", "seat"}


def test_no_name_has_a_word_that_was_replaced() -> None:
    banned = replaced()
    found = {(str(path.relative_to(ROOT)), name) for path in SOURCES for name in names(path, banned)}
    assert sorted(found) == []


def test_sentences_are_plain_english() -> None:
    pages = [page for page in PAGES if page.name != "glossary.md"]
    lines = [
        f"{path.relative_to(ROOT)}: {match[0]}: use {advice}"
        for path in [*SOURCES, *pages]
        for text in texts(path)
        for advice, phrase in PHRASES.items()
        for match in phrase.finditer(text)
    ]
    assert lines == []


def test_names_and_phrases_are_found_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text('is_seat = 1\nclass BigGang:\n    """Takes samples."""\nx = "20 steps " "a second"\n')
    assert names(path, replaced()) == {"is_seat", "BigGang"}
    assert "20 steps a second" in texts(path)


def test_the_phrases_are_found() -> None:
    assert PHRASES["'per', not 'a'"].search("128 samples a step")
    assert PHRASES["'NaN' or 'non-finite'"].search("a loss that is no number")
    assert not PHRASES["'per', not 'a'"].search("a training step")
