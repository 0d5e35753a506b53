"""Which class was taken for which: written, read, and the figures of each class."""

import json
from pathlib import Path

import pytest
from sklearn import metrics as oracle

from netwright.engine.runs.confusion import FILE, Confusion, read_confusions, write_confusions

COUNTS = [[5, 1, 0, 0], [2, 7, 0, 1], [0, 0, 0, 0], [0, 3, 0, 9]]
CLASSES = ("a", "b", "ü", "d")


def test_the_figures_of_each_class_are_scikit_learns() -> None:
    pairs = [(truth, said) for truth, row in enumerate(COUNTS) for said, n in enumerate(row) for _ in range(n)]
    truth, said = zip(*pairs, strict=True)
    table = Confusion(CLASSES, tuple(map(tuple, COUNTS)))
    expected = oracle.precision_recall_fscore_support(truth, said, labels=range(4), zero_division=0)
    for found, column in zip((table.precision, table.recall, table.f_score, table.of_class), expected, strict=True):
        assert found == pytest.approx(column.tolist())
    assert table.taken_for == (7, 11, 0, 10)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_confusions(tmp_path, CLASSES, {"validation": COUNTS, "test": ()})
    assert read_confusions(tmp_path) == {"validation": Confusion(CLASSES, tuple(map(tuple, COUNTS)))}
    per_class = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["parts"]["validation"]["per_class"]
    assert per_class["samples"] == [6, 10, 0, 12]
    assert per_class["recall"][0] == pytest.approx(5 / 6)


def test_without_classes_there_is_no_file(tmp_path: Path) -> None:
    write_confusions(tmp_path, (), {"validation": (), "test": ()})
    assert not (tmp_path / FILE).exists()
    assert read_confusions(tmp_path) == {}


@pytest.mark.parametrize("damage", [
    "", "[]", "{", '{"classes": 3, "parts": {}}', '{"classes": ["a"], "parts": {"test": 1}}',
    '{"classes": ["a"], "parts": {"test": {"confusion": [[1, 2]]}}}',
    '{"classes": ["a"], "parts": {"test": {"confusion": [[-1]]}}}',
    '{"classes": ["a"], "parts": {"test": {"confusion": [[1.5]]}}}',
    '{"classes": [], "parts": {"test": {"confusion": []}}}',
])  # fmt: skip
def test_what_is_damaged_counts_as_not_there(tmp_path: Path, damage: str) -> None:
    (tmp_path / FILE).write_text(damage)
    assert read_confusions(tmp_path) == {}
