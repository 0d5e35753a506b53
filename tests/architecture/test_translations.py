"""The translations of the window are complete, and agree with the code. `scripts/make_translations.py` makes them."""

import ast
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.designer.language import MESSAGE
from netwright.engine.core.files import ROOT
from scripts import make_translations as translations

PATH = translations.TRANSLATIONS / translations.TS
FUNCTIONS = {"tr", "noop"}


@pytest.fixture(scope="module")
def messages() -> list[tuple[str, list[str]]]:
    """The texts, each with its translations: one per plural form."""
    pairs = []
    for message in ElementTree.parse(PATH).getroot().iter("message"):
        element = message.find("translation")
        assert element is not None
        forms = [form.text or "" for form in element.iter("numerusform")] or [element.text or ""]
        pairs.append((message.findtext("source", ""), forms))
    return pairs


def test_files_agree_with_the_code(tmp_path: Path) -> None:
    """In a process of its own: other tests declare records of theirs."""
    program = "import sys, pathlib, scripts.make_translations as t; t.generate(*map(pathlib.Path, sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", program, str(PATH), str(tmp_path)], cwd=ROOT, check=True)
    for name in (translations.TS, translations.QM):
        committed = (translations.TRANSLATIONS / name).read_bytes()
        assert (tmp_path / name).read_bytes() == committed, f"run python -m scripts.make_translations: {name} is old"


def test_everything_is_translated(messages: list[tuple[str, list[str]]]) -> None:
    assert translations.unfinished(PATH) == []
    assert [text for text, forms in messages if not all(forms)] == []
    assert len(messages) > 7000


def test_translations_have_the_placeholders_of_the_text(messages: list[tuple[str, list[str]]]) -> None:
    """A sentence of the engine may leave out one: `{is}` in `{count} {is} named {name}`. It invents none."""
    of_engine = set(translations.texts(PATH, MESSAGE))
    wrong = [
        (text, form)
        for text, forms in messages
        for form in forms
        if _placeholders(text) != _placeholders(form)
        and not (text in of_engine and set(_placeholders(form)) < set(_placeholders(text)))
    ]
    assert wrong == []


def _placeholders(text: str) -> list[str]:
    """Return what a translation must keep: placeholders, the count, the shortcut behind a tab."""
    return sorted(re.findall(r"\{[A-Za-z_]\w*(?:[:!][^}]*)?\}|%n|\t.*", text))


def test_han_and_latin_stand_apart(messages: list[tuple[str, list[str]]]) -> None:
    """As in the toolboxes of MathWorks: `LSTM 层`. Placeholders for names in Chinese have no space."""
    touching = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]")
    assert [form for _, forms in messages for form in forms if touching.search(form)] == []


def test_arguments_are_literals() -> None:
    """lupdate finds nothing else, and says nothing of it."""
    files = [file for name in ("app", "designer") for file in (ROOT / name).rglob("*.py")]
    assert [where for file in files for where in _not_literal(file.read_text(encoding="utf-8"), file)] == []


def test_a_computed_argument_is_found() -> None:
    source = 'tr(f"{n} layers")\ntr(name)\ntr("Layers")\nnoop("a" "b")\nself.tr("x" + y)\ntr("{n}", note)\nf"{tr(1)}"\n'
    assert list(_not_literal(source, ROOT / "app/x.py")) == [f"app/x.py:{line}" for line in (1, 2, 6, 7)]


def _not_literal(source: str, file: Path) -> Iterator[str]:
    nodes = list(ast.walk(ast.parse(source)))
    templates = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    inside = {id(node) for template in templates for node in ast.walk(template)}
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        is_extracted = isinstance(call.func, ast.Name) and call.func.id in FUNCTIONS
        is_literal = all(isinstance(part, ast.Constant) for part in call.args[:2])
        if is_extracted and (id(call) in inside or not is_literal):
            yield f"{file.relative_to(ROOT)}:{call.lineno}"
