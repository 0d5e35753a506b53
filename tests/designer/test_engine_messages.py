"""Sentences of the engine in Chinese: each template is recognised with its values, and nothing else is."""

import re
import time
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from netwright.designer import language
from netwright.designer.engine_messages import (
    FEW_LETTERS,
    Catalogue,
    duration_text,
    message_text,
    part_text,
    title_text,
)
from netwright.engine.core.errors import FieldError, UserError, plural
from netwright.engine.project.training import TrainingOptions
from scripts.make_translations import TRANSLATIONS, TS, texts
from scripts.message_templates import templates_in

HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    language.use(qapp, "zh_CN")
    yield
    language.use(qapp, "en")


@pytest.fixture(scope="module")
def templates() -> list[str]:
    """Those of the .ts file, which another test compares with the code: to read them from that takes seconds."""
    return texts(TRANSLATIONS / TS, language.MESSAGE)


def test_titles_of_runs_are_translated_but_for_names(chinese) -> None:
    assert title_text("Trial 3 · adam, 0.01") == "试验 3 · adam, 0.01"
    assert title_text("Trial run of Monday") == "Trial run of Monday"


def test_every_template_is_recognised_with_its_values(chinese, templates: list[str]) -> None:
    """Values are numbers; a plural is filled both ways. Parts of sentences that are very short are known within them
    alone."""
    wrong = []
    assert len(templates) > 3000
    for template in templates:
        has_chinese = HAN.search(language.translation(template, language.MESSAGE))
        names = dict.fromkeys(re.findall(r"\{(\w+)\}", template))
        values = {name: str(71 + number) for number, name in enumerate(names)}
        for suffix in ("", r"\1"):
            text = re.sub(r"\((e?s)\)", suffix, template).format(**values)
            if has_chinese and message_text(text) == text and sum(map(str.isalpha, text)) > FEW_LETTERS:
                wrong.append(text)
    assert wrong == []


def test_values_come_back(chinese) -> None:
    text = "/tmp/a. b/c.npz has the array 'x' and nothing. Name another folder."
    assert message_text(text) == "/tmp/a. b/c.npz has the array 'x' and nothing. 请指定其他文件夹。"
    error = UserError("There is no file /data/a. b/net.netwright.")
    assert message_text(error) == "没有文件 /data/a. b/net.netwright。"
    assert message_text("'conv_1' already feeds 'Remove it.': the network would have a cycle.") == (
        "“conv_1”已送入“Remove it.”：网络会出现环。"
    ), "a name in quotes is none of ours"
    text = "The project has no data yet. Choose a data source before training."
    assert message_text(text) == "工程尚无数据。请在训练前选择数据源。", "and not a part of a sentence in two"
    assert message_text("A run has at most 20 tags, received 22.") == "一个运行最多 20 个标记，收到 22。"


def test_the_reason_in_an_error_is_translated(chinese) -> None:
    text = "The checkpoint of iteration 1,500 cannot be written to /x: No space left on device."
    assert message_text(text) == "无法将第 1,500 次迭代的检查点写入 /x：设备上没有剩余空间。"
    assert message_text("all 10 epochs completed") == "已完成全部 10 轮"
    assert message_text("time limit of 2 hours reached") == "已达到 2 小时的时间限制"


def test_a_sentence_behind_a_place_or_a_reason_is_one_of_its_own(chinese) -> None:
    assert message_text("skip, in: The input is not connected.") == "skip, in：输入未连接。"
    text = "x.onnx cannot be read as ONNX: a reason of others. Export it again, or copy it again from where it came."
    assert message_text(text).endswith("请重新导出，或从原处重新复制。")


def test_the_error_of_an_option_is_translated(chinese) -> None:
    with pytest.raises(FieldError) as refused:
        TrainingOptions.fields["momentum"].check(3)
    assert message_text(refused.value).startswith("momentum：应为")
    assert "received" not in message_text(refused.value)


def test_several_lines_and_reasons(chinese) -> None:
    text = "There is no file a.\nstopped on request; pause was requested"
    assert message_text(text) == "没有文件 a。\n已按请求停止；已请求暂停"


def test_what_is_not_known_stays(chinese) -> None:
    for text in ("", "Loss", "Some  words that nobody wrote. And more.", "/a/b: c", "训练结束。", "1.5", "x\ny"):
        assert message_text(text) in (text, language.translation(text))
    long = "There is no file a. " * 400
    assert message_text(long) == long


def test_english_stays_as_it_is() -> None:
    assert message_text("There is no file a.") == "There is no file a."
    assert duration_text(276) == "4 m 36 s"


def test_sentences_of_a_library_stay(chinese) -> None:
    text = "a.wav (it is damaged (Error in WAV file. No 'data' chunk marker.))"
    assert message_text(text) == "a.wav (它已损坏 (Error in WAV file. No 'data' chunk marker.))"


def test_lists_of_known_words(chinese) -> None:
    text = "Column 'd' holds dates such as 2024-01-31: encoded as year, month, day of week (data.dates)."
    assert message_text(text) == "列“d”含有 2024-01-31 形式的日期：编码为年、月、星期 (data.dates)。"
    assert (part_text("row 12"), message_text("row 12")) == ("第 12 行", "row 12")


def test_durations(chinese) -> None:
    texts = [duration_text(seconds) for seconds in (0.84, 42, 276, 3720, float("inf"))]
    assert message_text("4 m 36 s") == texts[2]
    assert texts == ["0.8 秒", "42 秒", "4 分 36 秒", "1 小时 2 分", "?"]


def test_a_look_takes_time_in_proportion_to_the_text() -> None:
    """Many placeholders and no match: what would take a pattern of `.*` ages."""
    source = " and ".join(f"{{v{n}}}" for n in range(20)) + " end here."
    catalogue = Catalogue([(source, source)])
    start = time.process_time()
    assert "end there" in catalogue.text("word and " * 400 + "end there.")
    assert time.process_time() - start < 5


def test_the_translation_that_leaves_least_in_english_is_taken() -> None:
    pairs = [("{a} is a longer sentence than {b}", "甲{a}{b}"), ("{a} is a longer {b}", "乙{a}{b}")]
    catalogue = Catalogue([*pairs, ("sentence than words", "丙")])
    assert catalogue.text("7 is a longer sentence than words") == "乙7丙"


def test_templates_of_a_module() -> None:
    source = """
WAY_OUT = "Expected one."
def refuse(path, n, is_new):
    kind = "file" if is_new else "folder"
    why = f"it has {n:,} bytes"
    if n:
        raise UserError(f"{path} is no {kind}: {why}. {WAY_OUT}", hint="Choose " f"another{'s' if n > 1 else ''}.")
    raise UserError(f"{plural(n + 1, 'layer')} of {error.strerror or error}, with {{braces}}." + _more(n))
def _more(n):
    return f" Use {n} of them."
print("Not shown at all")
raise SystemExit("Nor is this here")
"""
    assert set(templates_in(source)) == {
        *("Choose another(s).", "Expected one.", "Use {n} of them.", "it has {n} bytes"),
        *("{path} is no file: {why}.", "{path} is no folder: {why}.", "{n} layer(s) of {value}, with {{braces}}."),
    }


def test_plurals_are_those_of_the_engine(chinese) -> None:
    assert [message_text(plural(n, "sample")) for n in (1, 2500)] == ["1 个样本", "2,500 个样本"]
