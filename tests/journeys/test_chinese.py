"""One's own data in a window in Chinese: every word that is seen on the way is Chinese, but for names.

The data has Chinese names, so that what is in Latin letters is of the window or of the engine.
"""

import csv
import math
import random
import re
import shutil
import sys
import wave
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from netwright.app.dialogs.grouped_area import GroupedArea
from netwright.designer import language
from netwright.engine.core.platform import cpu_model
from tests.journeys.conftest import Visit
from tests.journeys.journey_files import shape_pictures
from tests.journeys.person import Person
from tests.runs import ROOT

HAN = re.compile("[\u4e00-\u9fff]")
WORD = re.compile(r"[A-Za-z]{2,}")
NAMES = frozenset(
    WORD.findall(
        "Adam adamw AdamW Alt AUROC auto CAM Cam CNN cosine cpu CPU csv CSV Ctrl CUDA Del Enter Esc Excel export "
        "facing FGSM float FLOP FLOPs GFLOP GiB gloo GPT GPU gpu Grad HTML Hutter Hz int JSON Keras kFLOPs kHz KiB "
        "logits LSTM MAE McNemar MFLOP MFLOPs MiB MPS multi NARX Net Netwright onnx ONNX parallel Parquet PGD PNG "
        "pt px Python PyTorch ReLU RMS RMSE ROC ROCm Runtime set SHAP SVG top "
        "Shift Softmax Tab TCN TFLOP torch untitled wav west XPU zscore " + cpu_model()
    )
)
"""Names of products, layers, measures, keys, units and the processor, which are the same in Chinese."""
NO_WORDS = re.compile(
    r"(?:^|(?<=[ ：]))[/~]\w[^，。）\n]*|\b\w+_\d+(?:/\w+)*\b|\btraining\.\w+"  # paths, layers, options
    r"|[\w.]+\.(?:csv|wav|onnx|netwright)\b"  # files
    r"|· [A-Z][\w -]+$|accuracy > 98|\b[A-Z]\b"  # the English name beside the Chinese one, the example of a query
)
THREE_WORDS = re.compile(r"(?<![\w./-])[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}(?![\w./=-])")
DIALOGS = (
    *(("Network", "Transfer learning…"), ("Network", "Make smaller…"), ("Run", "Training options…")),
    *(("Run", "Devices…"), ("Run", "Jobs on clusters…"), ("Edit", "Preferences…"), ("File", "Export network…")),
    *(("Help", "Search commands…"), ("Help", "Keyboard shortcuts")),
)
BESIDE = (("Run", "Tune for me…"), ("Run", "Doctor…"), ("View", "Roofline…"))
"""Dialogs beside which the window goes on."""


def english(texts: Iterable[str]) -> list[str]:
    """Return the texts with a word that is none of the names."""
    return sorted({text for text in texts if set(WORD.findall(NO_WORDS.sub(" ", text))) - NAMES})


def hint_lines(texts: Iterable[str]) -> list[str]:
    """Return the lines of hints. Below a Chinese line, the help of an option has names in MATLAB and torch, which are
    left out."""
    texts = [text for text in texts if not re.search(r"^[/~]", text)]
    return [line for text in texts for line in text.split("\n") if HAN.search(line) or not HAN.search(text)]


def sentences(texts: Iterable[str]) -> list[str]:
    """Return the texts with three English words in a row, which no name has. Titles of papers have a year."""
    texts = {text for text in texts if not re.search(r"\b(19|20)\d\d\b", text)}
    return sorted(text for text in texts if THREE_WORDS.search(NO_WORDS.sub(" ", text)))


def table(path: Path) -> None:
    """Write passengers, with gaps and a name each."""
    rng, rows = random.Random(8), [["姓名", "舱位", "性别", "年龄", "票价", "幸存"]]
    for number in range(400):
        cabin, sex, age = rng.randrange(1, 4), rng.choice("男女"), rng.randrange(1, 80)
        score = 2.2 * (sex == "女") - 0.9 * (cabin - 2) - 0.02 * (age - 30) + rng.gauss(-0.9, 1)
        gap = "" if rng.random() < 0.1 else f"{age}"
        fare = f"{rng.gammavariate(2, 40 / cabin):.2f}"
        rows.append([f"乘客{number}", f"{cabin}", sex, gap, fare, "是" if score > 0 else "否"])
    _write(path, rows)


def series(path: Path) -> None:
    """Write the hourly loads of three towns, one below the other."""
    rng, rows = random.Random(3), [["城镇", "时间", "负荷"]]
    for town, hour in ((town, hour) for town in range(3) for hour in range(300)):
        load = (300 + 150 * town) * (1 + 0.25 * math.sin(2 * math.pi * hour / 24)) + rng.gauss(0, 6)
        time = (datetime(2024, 1, 1) + timedelta(hours=hour)).isoformat(sep=" ")
        rows.append([f"城镇{town}", time, f"{load:.1f}"])
    _write(path, rows)


def texts(path: Path) -> None:
    """Write sentences without spaces, as Chinese is written, on two topics."""
    rng = random.Random(4)
    words = {"天气": "下雨 晴天 多云 大雪 寒冷 气温", "体育": "进球 球队 比赛 教练 胜利 失败"}
    rows = [
        [
            "".join(rng.choice(f"{own} 今天 他们 非常 大家 已经 可以".split()) for _ in range(rng.randrange(8, 16))),
            topic,
        ]
        for topic, own in words.items()
        for _ in range(150)
    ]
    rng.shuffle(rows)
    _write(path, [["正文", "主题"], *rows])


def sounds(folder: Path) -> None:
    """Write tones and noises, a folder each."""
    rng, seconds = np.random.default_rng(5), np.arange(3200) / 8000
    for name in ("噪声", "音调"):
        (folder / name).mkdir(parents=True)
        for number in range(40):
            tone = np.sin(2 * np.pi * rng.uniform(200, 900) * seconds)
            samples = tone if name == "音调" else rng.standard_normal(len(seconds)) * 0.4
            with wave.open(str(folder / name / f"{number:02}.wav"), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(8000)
                file.writeframes((samples * 9000).clip(-32_768, 32_767).astype("<i2").tobytes())


def _write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def person(visit: Visit, qapp: QApplication) -> Iterator[Person]:
    """Somebody at a window in Chinese."""
    language.use(qapp, "zh_CN")
    yield visit()
    language.use(qapp, language.ENGLISH)


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
@pytest.mark.parametrize(
    ("make", "name"), [(table, "乘客.csv"), (series, "负荷.csv"), (texts, "文章.csv"), (sounds, "声音")]
)
def test_own_data_is_learned_in_chinese(person: Person, place: Path, make: Callable[[Path], None], name: str) -> None:
    make(place / name)
    person.drop(place / name)
    person.wait_to_see("^创建网络$")
    person.wait_to_see("^已检查 ")
    person.click("Review all")
    person.look("data")
    person.make_network()
    person.train_to_the_end(epochs=2)
    for page, known in (
        ("Answers", "验证样本的预测结果"),
        ("Scores", "^测试集的 [0-9]+ 个样本"),
        ("Predict", "^文件…"),
        ("Explain", "^重新显示$"),
        ("Options", "^未列出的选项"),
    ):
        person.click(page)
        person.wait_to_see(known)
        person.look(page)
    with person.dialog(lambda: person.export(place / "out.onnx")):
        person.click("Export…")
    _only_chinese(person)


def _only_chinese(person: Person, hints: Iterable[str] = ()) -> None:
    texts = person.watch.texts
    found = [f"{text} ({texts[text]})" for text in english(texts)] + english(hint_lines(hints))
    assert not found, "\n".join(found)


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
def test_runs_are_compared_and_varied_and_refused_in_chinese(person: Person, place: Path) -> None:
    table(place / "乘客.csv")
    person.drop(place / "乘客.csv")
    person.make_network()
    person.train_to_the_end(epochs=2)
    person.train(epochs=3)
    person.wait_to_see("^2 个运行")
    person.wait_to_see("^3 轮，")
    person.click_row("^运行 1$")
    person.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    person.wait_to_see("^运行 2 · .*和运行 1 · ")
    person.look("compared")
    person.click("Answers")
    person.wait_to_see("McNemar")
    person.look("answers compared")
    person.run_sweep({"Initial learn rate": "0.001, 0.02"})
    person.wait_to_see("^已完成，")
    person.look("swept")
    person.click_row("^运行 2$")
    (place / "乘客.csv").unlink()
    person.train()
    person.wait_to_see("^没有文件或文件夹 ")
    person.look("refused")
    _only_chinese(person, person.watch.hints)


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
def test_own_pictures_are_learned_in_chinese(person: Person, place: Path) -> None:
    shape_pictures(place / "shapes")
    person.look("start")
    person.drop(place / "shapes")
    person.wait_to_see("603")
    person.look("data")
    person.make_network("^35 ")
    person.train_to_the_end()
    person.evaluate("^60 个中有 [0-9]+ 个正确")
    person.predict_file(place / "shapes" / "ring" / "large.png", r"^(circle|cross|ring|square|triangle)[：:] ?\d")
    person.explain("Grad-CAM")
    person.tab("Design")
    person.look("design")
    assert sentences(person.watch.texts) == []


def _leave_after_all_pages(person: Person) -> None:
    """Look at each page of the dialog in front, and leave it."""
    area = person.front.findChild(GroupedArea)
    for row in range(1 if area is None else area.groups.count()):
        if area is not None:
            area.groups.setCurrentRow(row)
        person.look(f"{person.front.windowTitle()} {row}")
    person.press(Qt.Key.Key_Escape)


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
def test_dialogs_and_all_tooltips_are_chinese(person: Person, place: Path) -> None:
    person.open_example("Handwritten digits")
    person.save_as(place / "数字.netwright")
    person.train_to_the_end(epochs=2)
    for path in DIALOGS:
        with person.dialog(lambda: _leave_after_all_pages(person)):
            person.menu(*path)
    person.tab("Design")
    for path in BESIDE:
        person.menu(*path)
        person.look(path[-1])
        person.press(Qt.Key.Key_Escape)
    for name in ("Table of layers", "Undo history", "Outline"):
        person.menu("View", name)
        person.look(name)
    for action in person.window.findChildren(QAction):
        person.watch.hints |= {action.text(), action.toolTip()}
    assert sentences(hint_lines([*person.watch.texts, *person.watch.hints])) == []


@pytest.mark.journey
@pytest.mark.timeout(600)
@pytest.mark.parametrize("machine", ["usual"], indirect=True)
@pytest.mark.usefixtures("reachable")
def test_files_of_others_and_clusters_are_told_of_in_chinese(person: Person, place: Path) -> None:
    def refused() -> None:
        person.click("Import")
        person.wait_to_see("^无法将损坏.onnx 读作 ONNX")
        person.look("refused")
        person.press(Qt.Key.Key_Escape)

    def profile(python: str, outcome: str) -> None:
        person.type_into("Python", python)
        person.click("Validate")
        person.wait_to_see(outcome)
        person.look("validated")

    def clusters() -> None:
        person.click("Add")
        for kind in ("Ray", "SSH"):
            person.choose("Kind", kind)
            person.look(kind)
        for name, text in (("Name", "this_machine"), ("Address", "localhost"), ("Workers", "2")):
            person.type_into(name, text)
        profile("/no/python", "未通过。$")
        profile(sys.executable, "通过了所有阶段。$")
        person.click("Close")

    (place / "损坏.onnx").write_bytes(b"no network" * 99)
    shutil.copy(ROOT / "tests" / "golden" / "keras" / "photos.keras", place / "照片.keras")
    with person.choose_file(place / "损坏.onnx", refused):
        person.menu("File", "Import…")
    reports = (lambda: person.click_and_wait("Import"), lambda: _leave_after_all_pages(person))
    with person.choose_file(place / "照片.keras", *reports):
        person.menu("File", "Import…")
    person.look("imported")
    with person.dialog(clusters):
        person.menu("Run", "Clusters…")
    assert sentences(hint_lines([*person.watch.texts, *person.watch.hints])) == []
