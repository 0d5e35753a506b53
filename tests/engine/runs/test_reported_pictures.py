"""Pictures that hooks have reported are read, also from a stranger's folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.runs.reported_pictures import FILE, FOLDER, MOST_STEPS, ReportedPicture, read_pictures

ENTRY = {"iteration": 5, "epoch": 1, "file": "0-5.png"}


def write(run: Path, content: Any) -> None:
    (run / FOLDER).mkdir()
    (run / FOLDER / FILE).write_text(json.dumps(content))


def test_pictures_come_back_by_name(tmp_path: Path) -> None:
    write(tmp_path, {"pictures": {"filters": [ENTRY]}})
    assert read_pictures(tmp_path) == {"filters": [ReportedPicture(5, 1, str(tmp_path / FOLDER / "0-5.png"))]}


@pytest.mark.parametrize(
    "content",
    [
        {"pictures": 3},
        {"pictures": {"filters": 3}},
        {"pictures": {"filters": [3]}},
        *({"pictures": {"filters": [{**ENTRY, "file": file}]}} for file in ("/etc/passwd", "../../a.png", "", 3, None)),
        {"pictures": {"filters": [{**ENTRY, "iteration": 1.5}]}},
        {"pictures": {"filters": [{**ENTRY, "epoch": -1}]}},
    ],
)
def test_what_cannot_be_shown_is_left_out(content: Any, tmp_path: Path) -> None:
    assert read_pictures(tmp_path) == {}
    write(tmp_path, content)
    assert read_pictures(tmp_path) == {}


def test_a_strangers_file_has_no_more_than_ours(tmp_path: Path) -> None:
    write(tmp_path, {"pictures": {f"{n}" * 100: [{**ENTRY, "iteration": i} for i in range(99)] for n in range(10, 50)}})
    pictures = read_pictures(tmp_path)
    assert max(map(len, pictures)) == 64
    assert len(pictures) == 16
    assert {len(those) for those in pictures.values()} == {MOST_STEPS}
