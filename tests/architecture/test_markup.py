"""No text from outside reaches rich text: one module makes it, and every other label, message and tooltip is plain."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from netwright.designer import stylesheet
from tests.architecture.test_repository import ROOT

THE_MODULE = ROOT / "designer" / "markup.py"
THE_MANUAL = ROOT / "app" / "manual_window.py"
"""Shows the pages of docs/, which come with the program, as Markdown."""
SOURCES = [
    path
    for room in ("app", "designer")
    for path in sorted((ROOT / room).rglob("*.py"))
    if path not in (THE_MODULE, THE_MANUAL)
]
FORBIDDEN = {
    # what decides how text is read
    "setTextFormat", "RichText", "AutoText", "MarkdownText",
    # what reads HTML or Markdown, loads files by URL, or opens links
    "setHtml", "appendHtml", "insertHtml", "toHtml", "setMarkdown", "insertMarkdown", "setDefaultStyleSheet",
    "setOpenExternalLinks", "setWhatsThis", "QWhatsThis", "QTextEdit", "QTextBrowser", "QTextDocument", "QErrorMessage",
    "QTextDocumentFragment", "QGraphicsTextItem", "QStaticText",
    # what pyqtgraph reads as HTML
    "LabelItem", "TextItem", "InfLineLabel", "setLabel", "setLabels", "addLegend", "LegendItem",
}  # fmt: skip

EXACT = {"elidedText", "QAbstractTableModel", "QAbstractListModel", "QTableWidgetItem"}
"""What shows texts with their bidirectional controls: `netwright.designer.markup` and `netwright.designer.items` have
what escapes them."""
MAY_BE_EXACT = {
    ROOT / "designer" / "items.py",
    ROOT / "app" / "dialogs" / "weights_table.py",  # names in it are edited; its delegate escapes them
}


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def faults(source: str) -> Iterator[str]:
    """What a module may not do, with its lines."""
    for node in ast.walk(ast.parse(source)):
        name = getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
        if name in FORBIDDEN:
            yield f"{getattr(node, 'lineno', 0)}: {name}"
        if isinstance(node, ast.Call) and called(node) == "Markup" and node.args:
            yield f"{node.lineno}: Markup made elsewhere"
        if isinstance(node, ast.Call) and called(node) == "filled":
            template = node.args[0]
            parts = [template.body, template.orelse] if isinstance(template, ast.IfExp) else [template]
            if not all(isinstance(part, ast.Constant) or _is_translated(part) for part in parts):
                yield f"{node.lineno}: a template that is no literal"
        if isinstance(node, ast.Constant) and node.value == "markup":
            yield f"{node.lineno}: the property that makes a label rich"


def _is_translated(template: ast.expr) -> bool:
    """Whether a template is a translation of a literal, which has its placeholders and no others."""
    return isinstance(template, ast.Call) and called(template) == "tr" and len(template.args) == 1


def found(paths: list[Path]) -> list[str]:
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
    return [f"{name}:{fault}" for name, text in texts.items() for fault in faults(text)]


def test_only_one_module_makes_rich_text() -> None:
    assert found(SOURCES) == []


def test_names_are_shown_without_bidirectional_controls() -> None:
    exact = re.compile(rf"\b({'|'.join(EXACT)})\b")
    paths = [path for path in SOURCES if path not in MAY_BE_EXACT]
    assert [str(path) for path in paths if exact.search(path.read_text(encoding="utf-8"))] == []


def test_what_the_test_looks_for_is_found() -> None:
    bad = 'label.setTextFormat(Qt.TextFormat.RichText)\nview.setHtml(name)\nMarkup(name)\nfilled(f"<b>{name}</b>")\n'
    assert sorted(fault.split(":")[0] for fault in faults(bad)) == ["1", "1", "2", "3", "4"]
    assert list(faults('markup.filled("<b>{}</b>", name)\nmarkup.show(label, text)\n')) == []
    assert list(faults("from PySide6.QtWidgets import QTextBrowser")) == ["1: QTextBrowser"]


def test_the_style_sheet_makes_text_plain() -> None:
    """Labels of Qt's own boxes and dialogs and tooltips included: what is set when a widget is made says nothing of
    those."""
    assert "QLabel, QToolTip { qproperty-textFormat: PlainText; }" in stylesheet.SHEET.template
