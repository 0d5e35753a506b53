"""The language of the window, and that all texts of the designer are translated."""

import re
from collections.abc import Iterable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QPointF, QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QMenu, QTabWidget, QWidget

from netwright.designer import language
from netwright.designer.canvas import context_menus
from netwright.designer.canvas.find_bar import FindBar
from netwright.designer.canvas.view import CanvasView
from netwright.designer.editor import Editor
from netwright.designer.forms.form import Form
from netwright.designer.forms.line_editors import as_typed, parsed
from netwright.designer.language import noop, tr, translation
from netwright.designer.panels.analysis_table import AnalysisTable
from netwright.designer.panels.library_panel import LibraryPanel
from netwright.designer.panels.problems_panel import ProblemsPanel
from netwright.designer.panels.properties import Properties
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from tests.builders import classifier


@pytest.fixture
def use(qapp: QApplication) -> Iterator[object]:
    """Install a language for the time of a test."""
    yield lambda name: language.use(qapp, name)
    language.use(qapp, "en")


def test_english_has_its_plurals() -> None:
    assert [tr("%n layer(s)", "", n) for n in (0, 1, 2, 1500)] == ["0 layers", "1 layer", "2 layers", "1,500 layers"]
    assert tr("%n batch(es)", "", 1) == "1 batch"
    assert tr("Nothing (s) counted") == "Nothing (s) counted"


def test_chinese(use) -> None:
    use("zh_CN")
    assert language.current() == "zh_CN"
    assert tr("%n layer(s)", "", 1500) == "1,500 个层"
    assert tr("Rename to {name}", name="a") == "重命名为 a"
    assert language.layer_label("Fold") == "折叠层"
    assert (translation(noop("Fold")), translation("Attention")) == ("折", "注意力")
    assert translation("no such text") == "no such text"
    assert translation("") == ""
    assert language.in_sentence("Learn rate schedule") == "学习率调度"
    assert language.with_english("2-D convolution", language.LAYER) == "二维卷积层 · 2-D convolution"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "取消", "buttons of Qt's dialogs"


def test_lists_of_words(use) -> None:
    assert language.listed(["a", "b", "c"]) == "a, b and c"
    use("zh_CN")
    assert language.listed(["训练", "验证", "测试"]) == "训练、验证和测试"
    assert language.listed(["Run 1", "Run 2"]) == "Run 1 和 Run 2"


def test_values_stand_apart_from_chinese(use) -> None:
    assert language.with_values("{what}的运行", {"what": "RMSE"}) == "RMSE的运行"
    use("zh_CN")
    assert language.with_values("按{what}排序", {"what": "RMSE"}) == "按 RMSE 排序"
    assert (
        language.with_values("{share}的{what!s}，{n:,}个", {"share": "95 %", "what": "样本", "n": 2000})
        == "95 % 的样本，2,000 个"
    )
    assert language.with_values("停止 {name} 的运行", {"name": "数字"}) == "停止数字的运行"
    assert language.with_values("停止 {name} 的运行", {"name": "a 数字"}) == "停止 a 数字的运行"
    assert language.with_values("{what}：“{name}”", {"what": "层", "name": "fc_1"}) == "层：“fc_1”"


def test_sentences_stand_beside_each_other(use) -> None:
    assert language.sentences(("One.", "", "Two.")) == "One. Two."
    assert language.sentences(("一。", "", "二。", "Three.", "四。")) == "一。二。Three. 四。"


def test_several_choices_are_typed_in_the_language(use) -> None:
    field = TrainingOptions.fields["metrics"]
    use("zh_CN")
    assert as_typed(field, ("accuracy", "recall")) == "准确度, 召回率"
    assert parsed(field, "准确度，召回率") == parsed(field, "Accuracy, recall") == ("accuracy", "recall")


def test_help_is_translated_to_its_end(use) -> None:
    field = TrainingOptions.fields["initial_learn_rate"]
    assert language.field_help(field).replace("\n", ". ") == field.help
    use("zh_CN")
    help_text = language.field_help(field)
    assert help_text.endswith("\nMATLAB: InitialLearnRate; torch: lr (default 0.001 for sgd, 0.01 for rmsprop)")
    assert "sgdm 为 0.01" in help_text
    assert "Default" not in help_text


def test_english_after_chinese(use) -> None:
    use("zh_CN")
    use("no such language")
    assert (language.current(), tr("Layer"), language.with_english("Layer")) == ("en", "Layer", "Layer")
    assert language.in_sentence("Learn rate") == "learn rate"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Cancel"


@pytest.mark.parametrize(
    ("variable", "choice", "system", "expected"),
    [
        ("", "system", ["zh-Hans-CN", "en-US"], "zh_CN"),
        ("", "system", ["zh-Hant-TW"], "en"),
        ("", "system", ["de-DE"], "en"),
        ("", "system", ["en-GB", "zh-Hans-CN"], "en"),
        ("", "zh_CN", ["en-GB"], "zh_CN"),
        ("", "en", ["zh-Hans-CN"], "en"),
        ("en", "zh_CN", ["zh-Hans-CN"], "en"),
        ("zh_CN", "en", ["en-GB"], "zh_CN"),
    ],
)
def test_environment_before_choice_before_system(
    monkeypatch, qapp, use, variable: str, choice: str, system: list[str], expected: str
) -> None:
    class System(QLocale):
        def uiLanguages(self, *_: object) -> list[str]:
            return system

    monkeypatch.setenv(language.VARIABLE, variable)
    monkeypatch.setattr(QLocale, "system", System)
    language.set_language(choice)
    language.install(qapp)
    QSettings("Netwright", "Netwright").remove(language.SETTING)
    assert language.current() == expected


def test_a_choice_is_remembered() -> None:
    assert language.chosen() == "system"
    language.set_language("zh_CN")
    assert language.chosen() == "zh_CN"
    QSettings("Netwright", "Netwright").setValue(language.SETTING, "xx")
    assert language.chosen() == "system"
    QSettings("Netwright", "Netwright").remove(language.SETTING)
    with pytest.raises(ValueError, match="No language is named 'xx'"):
        language.set_language("xx")


def test_the_pseudo_language_keeps_what_is_no_text(use) -> None:
    use("pseudo")
    assert tr("Rename to {name}", name="fc_1") == "[Réñåmé tö fc_1~~~~~~]"
    assert tr("Add to the network\tEnter").endswith("]\tEnter")
    assert tr("%n layer(s)", "", 2).startswith("[2 låýér")
    assert translation(tr("Layer")) == tr("Layer")


TRANSLATED = re.compile(r"\[[^\[\]]*\]")
NO_TEXT = re.compile(
    r"\w+_\d+|\w*\d\w*"  # names of layers, sizes
    r"|\b(?:Ctrl|Shift|Alt|Del|Down|Up|Enter|Esc|CSV|ONNX|MATLAB|torch|FLOPs|MiB|KiB|GiB|ms)\b"
)
ENGLISH_NAME = re.compile(r"\] · [^\[\]]+")
WORD = re.compile(r"[a-z]{3}")


def texts_of(widget: QWidget) -> Iterator[str]:
    """Yield the texts that a widget and all that it holds show, also when hovered."""
    for part in (widget, *widget.findChildren(QWidget)):
        yield part.toolTip().partition("\n")[0]  # below it stands the English text
        yield part.accessibleName()
        if isinstance(part, QLabel | QAbstractButton):
            yield part.text()
        if isinstance(part, QLineEdit):
            yield part.placeholderText()
        if isinstance(part, QMenu):
            yield part.title()
        if isinstance(part, QTabWidget):
            yield from (part.tabText(number) for number in range(part.count()))
    for action in widget.findChildren(QAction):
        yield action.text().partition("\t")[0]  # without the key


def untranslated(texts: Iterable[str]) -> list[str]:
    """Return the texts with a word outside of the brackets of the pseudo-language."""
    return sorted({text for text in texts if WORD.search(NO_TEXT.sub(" ", _outside(ENGLISH_NAME.sub("]", text))))})


def _outside(text: str) -> str:
    """Return what of a text is in no brackets: translated texts may have translated parts."""
    while (rest := TRANSLATED.sub(" ", text)) != text:
        text = rest
    return text


def test_an_untranslated_text_is_found(use) -> None:
    use("pseudo")
    assert untranslated([tr("Layer"), "conv_1", "Layer 3", "[Låýér~~] and more"]) == ["Layer 3", "[Låýér~~] and more"]


@pytest.fixture
def editor(use, qtbot) -> Editor:
    use("pseudo")
    network = classifier()
    return Editor(Project(network, arrange(network)))


def test_the_properties_are_translated(editor: Editor, qtbot) -> None:
    panel = Properties(editor)
    qtbot.addWidget(panel)
    panel.show()
    found = untranslated(texts_of(panel))
    for count in (1, 2, len(editor.network.layers)):
        editor.set_selection(list(editor.network.layers)[:count])
        found += untranslated(texts_of(panel))
    assert found == []


def test_the_library_is_translated(editor: Editor, qtbot) -> None:
    panel = LibraryPanel(editor)
    qtbot.addWidget(panel)
    model = panel.model
    headings = [model.item(row) for row in range(model.rowCount())]
    rows = [heading.child(row) for heading in headings for row in range(heading.rowCount())]
    assert len(rows) > 150
    assert untranslated(texts_of(panel)) == []
    assert untranslated(item.text() for item in (*headings, *rows)) == []


def ignore() -> None:
    """Does what a menu entry does in these tests."""


def test_the_canvas_is_translated(editor: Editor, qtbot) -> None:
    view = CanvasView(editor)
    qtbot.addWidget(view)
    FindBar(view)
    view.show()
    editor.set_selection(list(editor.network.layers)[:2])
    menus = [
        view.menus.of_selection(),
        context_menus.canvas_menu(editor, view, QPointF(), ignore, ignore, ignore, ignore),
    ]
    assert untranslated(texts_of(view)) == []
    assert untranslated(text for menu in menus for text in texts_of(menu)) == []


def test_the_table_and_the_problems_are_translated(editor: Editor, qtbot) -> None:
    table, problems = AnalysisTable(editor), ProblemsPanel(editor)
    for widget in (table, problems):
        qtbot.addWidget(widget)
        widget.show()
        assert untranslated(texts_of(widget)) == []
    model, across = table.model, Qt.Orientation.Horizontal
    assert untranslated(str(model.headerData(column, across)) for column in range(model.columnCount())) == []


def test_a_form_is_translated(use, qtbot) -> None:
    use("pseudo")
    form = Form(TrainingOptions(), is_wide=True)
    qtbot.addWidget(form)
    form.show()
    labels = [row.label.text() for row in form.rows.values() if row.is_made]
    helps = [row.help.text() for row in form.rows.values() if row.is_made and row.help is not None]
    assert len(labels) > 10
    assert untranslated([*labels, *helps]) == []


def test_a_form_tells_limits_defaults_and_errors_in_chinese(use, qtbot) -> None:
    use("zh_CN")
    form = Form(TrainingOptions(), is_wide=True)
    qtbot.addWidget(form)
    form.show()
    assert "不小于 1 的整数" in form.rows["mini_batch_size"].widget.toolTip()
    shuffle = form.rows["shuffle"].widget.toolTip()
    assert "默认值：" in shuffle
    assert "once" not in shuffle
    form.set_problems({"shuffle": "choose the Python file with your function."})
    assert form.rows["shuffle"].message == "请选择含有您的函数的 Python 文件。"
