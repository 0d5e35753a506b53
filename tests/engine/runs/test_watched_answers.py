"""Answers that a run has kept are read, also from a stranger's folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.runs.watched_answers import FILE, FOLDER, read_watched

SAMPLE = {"kind": "pictures", "file": "sample-3/sample_000.png", "label": "cat", "sample": "cat/3.png"}
ANSWER = {"index": 3, "row": {"label": "cat", "prediction": "dog", "confidence": 0.7, "loss": 1.2}, "view": {}}


def write(run: Path, sample: Any = SAMPLE, answer: Any = ANSWER, **step: Any) -> None:
    (run / FOLDER).mkdir(exist_ok=True)
    entry = {"iteration": 5, "epoch": 1, "answers": [answer], **step}
    (run / FOLDER / FILE).write_text(json.dumps({"samples": {"3": sample}, "steps": [entry]}))


def test_samples_and_answers_are_put_together(tmp_path: Path) -> None:
    write(tmp_path, answer={**ANSWER, "view": {"label": "cat → dog"}})
    (step,) = read_watched(tmp_path)
    assert (step.iteration, step.epoch) == (5, 1)
    assert step.answer["rows"] == [{"index": 3, **ANSWER["row"], "sample": "cat/3.png"}]  # type: ignore[dict-item]
    (picture,) = step.answer["pictures"]
    assert picture["file"] == str(tmp_path / FOLDER / "sample-3" / "sample_000.png")
    assert picture["label"] == "cat → dog"


@pytest.mark.parametrize("path", ["/etc/passwd", "../../secret.png"])
def test_a_path_out_of_the_folder_is_not_followed(tmp_path: Path, path: str) -> None:
    write(tmp_path, sample={**SAMPLE, "file": path})
    (step,) = read_watched(tmp_path)
    assert step.answer["pictures"][0]["file"] == ""


@pytest.mark.parametrize(
    ("sample", "answer", "step"),
    [
        (7, ANSWER, {}),
        (SAMPLE, 7, {}),
        (SAMPLE, {**ANSWER, "index": "3"}, {}),
        ({**SAMPLE, "file": 7}, ANSWER, {}),
        ({"kind": "pictures"}, ANSWER, {}),
        ({**SAMPLE, "kind": "series"}, ANSWER, {}),
        ({"kind": "series", "label": "", "values": [["a"]]}, ANSWER, {}),
        (SAMPLE, {**ANSWER, "row": {"confidence": "high"}}, {}),
        (SAMPLE, {**ANSWER, "view": {"iou": [1]}}, {}),
        (SAMPLE, ANSWER, {"iteration": None}),
        (SAMPLE, ANSWER, {"answers": 3}),
        (SAMPLE, ANSWER, {"answers": []}),
    ],
)
def test_what_cannot_be_shown_is_left_out(tmp_path: Path, sample: Any, answer: Any, step: Any) -> None:
    write(tmp_path, sample, answer, **step)
    assert read_watched(tmp_path) == []


def test_a_missing_or_damaged_file_holds_nothing(tmp_path: Path) -> None:
    assert read_watched(tmp_path) == []
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / FILE).write_text("{")
    assert read_watched(tmp_path) == []
